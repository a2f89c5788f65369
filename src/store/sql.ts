import { type CallFilter, listLimit } from "./store.ts";

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
  /** Sets a file aside, so that a new one begins. A database stays as it is. */
  startAnew(): Promise<void>;
  /** Returns free space and drops what only this engine keeps. */
  cleanUp(now: number): Promise<void>;
  /** True if the row itself cannot be written: others would succeed, and a retry would fail again. */
  isRowError(error: unknown): boolean;
  close(): Promise<void>;
}

/** SQL followed by its values; false if it does not apply. */
type Condition = false | readonly [string, ...SqlValue[]];

/** The newest rows, oldest first, or the first ones after a row. */
export async function listRows(
  sql: Sql,
  { since, after, limit = listLimit }: CallFilter,
  {
    table,
    columns,
    conditions,
  }: {
    readonly table: "calls" | "audit";
    readonly columns: readonly string[];
    readonly conditions: readonly Condition[];
  },
): Promise<readonly SqlRow[]> {
  const all: readonly Condition[] = [
    since !== undefined && ["at >= ?", since],
    after !== undefined && ["seq > ?", after],
    ...conditions,
  ];
  const used = all.filter((condition) => condition !== false);
  const where = used.length === 0 ? "" : `WHERE ${used.map(([text]) => text).join(" AND ")}`;
  const order = after === undefined ? "DESC" : "ASC";
  const rows = await sql.query(
    `SELECT seq, ${columns.join(", ")} FROM ${table} ${where} ORDER BY seq ${order} LIMIT ?`,
    [...used.flatMap(([, ...values]) => values), limit],
  );
  return order === "ASC" ? rows : rows.toReversed();
}

/**
 * PostgreSQL rejects NUL, and both engines replace lone surrogates. The audit replaces them before it
 * computes a hash, so that the hash covers the text as it is stored.
 */
export function storableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, "\ufffd");
}
