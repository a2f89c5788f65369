/**
 * The SQL that both engines understand. Tables are written once against this interface; an engine only
 * adds what differs: how many rows travel in one statement, how a transaction begins, how versions are kept.
 */
export interface Sql {
  /** `?` marks a value. */
  query(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Returns how many rows were changed. */
  change(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /**
   * Runs a statement over rows. `{rows}` in it becomes a table expression with the given columns. SQLite
   * may run the statement several times, a few rows at a time, so it must not depend on seeing all of them.
   */
  withRows(
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    sql: string,
  ): Promise<readonly SqlRow[]>;
  /** Several statements without values. */
  script(sql: string): Promise<void>;
}

export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A database that holds the tables. It runs one transaction at a time, and opens on first use. */
export interface Engine {
  /**
   * Runs `work` in a transaction that excludes all other writers, in this process and in others. `onCommitted` runs
   * once the transaction is known to be durable: usually before this resolves, but if the answer to the commit
   * was lost, at the start of the next transaction, while this one rejects.
   */
  write<T>(work: (sql: Sql) => Promise<T>, onCommitted?: (result: T) => void): Promise<T>;
  /** Runs `work` on one consistent snapshot. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** The last of the calls to remove, oldest first, to come closer to the size limit. */
  findExcess(sql: Sql, bytesMax: number): Promise<number | undefined>;
  /** Returns free space and drops what only this engine keeps. */
  cleanUp(now: number): Promise<void>;
  /** True if the row itself cannot be written: others would succeed, and a retry would fail again. */
  isRowError(error: unknown): boolean;
  close(): Promise<void>;
}

/** Joins the conditions that apply: each is SQL followed by its values. */
export function where(...conditions: readonly (false | readonly [string, ...SqlValue[]])[]): {
  readonly where: string;
  readonly values: readonly SqlValue[];
} {
  const used = conditions.filter((condition) => condition !== false);
  return {
    where: used.length === 0 ? "" : `WHERE ${used.map(([text]) => text).join(" AND ")}`,
    values: used.flatMap(([, ...values]) => values),
  };
}

/**
 * PostgreSQL rejects NUL, and both engines replace lone surrogates. The audit replaces them before it
 * computes a hash, so that the hash covers the text as it is stored.
 */
export function storableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, "\ufffd");
}
