import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { HallError } from "../base/errors.ts";
import { tablesOf } from "./schema.ts";
import type { Sql, SqlRow, SqlValue } from "./sql.ts";

export type { SqlRow };

/** The common part of Node's built-in SQLite (22.13 and newer) and the prebuilt addon, as far as we use it. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Statement {
  run(...values: readonly SqlValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  all(...values: readonly SqlValue[]): readonly SqlRow[];
}

/** How long a statement waits for another process's write. */
const busyMs = 5_000;

/**
 * Opens the file in WAL mode, so that readers and a writer do not block each other, and creates its folder.
 * `:memory:` opens a database without a file. `pragmas` run before anything is written to the file.
 */
export async function openDatabase(path: string, pragmas = ""): Promise<Database> {
  const DatabaseSync = await loadSqlite();
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(path);
  try {
    database.exec(
      `PRAGMA busy_timeout = ${busyMs}; ${pragmas} PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;`,
    );
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

type DatabaseClass = new (path: string) => Database;

async function loadSqlite(): Promise<DatabaseClass> {
  try {
    // Neither is an import, so that bundlers leave both alone.
    const builtin = process.getBuiltinModule?.("node:sqlite") as
      | { DatabaseSync: DatabaseClass }
      | undefined;
    if (builtin) return builtin.DatabaseSync;
    const addon: unknown = createRequire(import.meta.url)("@photostructure/sqlite");
    return (addon as { DatabaseSync: DatabaseClass }).DatabaseSync;
  } catch (cause) {
    throw new HallError("UNAVAILABLE", `cannot load SQLite on Node ${process.version}`, {
      cause,
      hint: "Use Node 22.13 or newer, which includes SQLite, or install the package @photostructure/sqlite.",
    });
  }
}

/** Rows in a statement: starting and finishing one costs as much as two more rows in it. */
const rowCounts = [32, 4, 1];
/** Far more than are used, unless a client varies what is null. */
const statementsMax = 200;

/** Statements are prepared once: their texts are few. */
export class SqliteSql implements Sql {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  async query(sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return this.#prepare(sql).all(...values);
  }

  async change(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  async withRows(
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    sql: string,
  ): Promise<readonly SqlRow[]> {
    const found: SqlRow[] = [];
    for (let at = 0; at < rows.length; ) {
      const left = rows.length - at;
      const count = rowCounts.find((size) => size <= left) ?? 1;
      const some = rows.slice(at, at + count);
      const kinds = columns.map((_, i) => kindOf(some, i));
      const statement = this.#prepare(sql, kinds, count);
      const values = kinds.flatMap((kind, i) => (kind === "shared" ? [some[0]?.[i] ?? null] : []));
      for (const row of some)
        for (let i = 0; i < kinds.length; i++) if (kinds[i] === "own") values.push(row[i] ?? null);
      for (const row of statement.all(...values)) found.push(row);
      at += count;
    }
    return found;
  }

  async script(sql: string): Promise<void> {
    this.#database.exec(sql);
  }

  #prepare(sql: string, kinds: readonly ColumnKind[] = [], rowCount = 0): Statement {
    const key = `${rowCount} ${kinds.join(" ")} ${sql}`;
    let statement = this.#statements.get(key);
    if (!statement) {
      statement = this.#database.prepare(sql.replace("{rows}", () => rowsOf(kinds, rowCount)));
      if (this.#statements.size >= statementsMax) this.#statements.clear();
      this.#statements.set(key, statement);
    }
    return statement;
  }
}

/**
 * Binding a value costs as much as storing it, and rows that are written together have much in common: a column that
 * is null in all of them is not bound, and one with the same value in all of them is bound once.
 */
type ColumnKind = "null" | "shared" | "own";

function kindOf(rows: readonly (readonly SqlValue[])[], column: number): ColumnKind {
  const first = rows[0]?.[column] ?? null;
  if (!rows.every((row) => (row[column] ?? null) === first)) return "own";
  if (first === null) return "null";
  // A single row has nothing to share its values with.
  return rows.length > 1 ? "shared" : "own";
}

/** A table expression that takes the shared values first, and then the values of each row. */
function rowsOf(kinds: readonly ColumnKind[], count: number): string {
  const all = kinds.map((kind, i) => ({ kind, name: `c${i}` }));
  const own = all.filter(({ kind }) => kind === "own");
  const shared = all.filter(({ kind }) => kind === "shared").map(({ name }) => `? AS ${name}`);
  const marks = own.length === 0 ? "0" : own.map(() => "?").join(", ");
  const columns = all.map(({ kind, name }) => {
    if (kind === "null") return "NULL";
    return kind === "shared" ? name : `column${own.findIndex((other) => other.name === name) + 1}`;
  });
  const tables = [
    ...(shared.length > 0 ? [`(SELECT ${shared.join(", ")})`] : []),
    `(VALUES ${new Array(count).fill(`(${marks})`).join(", ")})`,
  ];
  // Without a condition, SQLite would read a following ON CONFLICT as that of a join.
  return `SELECT ${columns.join(", ")} FROM ${tables.join(", ")} WHERE true`;
}

/**
 * True if a file has exactly our tables, indexes and triggers. A file from elsewhere may contain triggers, views and
 * expressions, which SQLite would run when we write or read.
 */
export async function hasOurSchema(database: Database, version: number): Promise<boolean> {
  if (version === 0) return readSchema(database).length === 0;
  const model = await openDatabase(":memory:");
  try {
    model.exec(tablesOf("sqlite", version));
    return readSchema(database).join("\n") === readSchema(model).join("\n");
  } finally {
    model.close();
  }
}

function readSchema(database: Database): readonly string[] {
  return database
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    .all()
    .map(({ type, name, tbl_name, sql }) => {
      const words = String(sql ?? "").match(/\w+|[^\s\w]/g) ?? [];
      return [type, name, tbl_name, ...(type === "trigger" ? words : comparable(words))].join(" ");
    })
    .sort();
}

/** Earlier versions wrote other names for the same types, and a column that was added later is in another place. */
function comparable(words: readonly string[]): readonly string[] {
  const text = words.join(" ").toLowerCase();
  return text
    .replaceAll("bigint", "integer")
    .replaceAll("double precision", "real")
    .replaceAll("default 0", "")
    .split(/\s+/)
    .sort();
}
