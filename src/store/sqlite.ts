import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { HallError } from "../base/errors.ts";

/**
 * SQLite, wherever it comes from: Node's own where there is one (22.13 and newer), else a prebuilt addon with the same interface.
 * Only what both have and we use is named here.
 */
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
  iterate(...values: readonly SqlValue[]): IterableIterator<SqlRow>;
}

export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** How long a statement waits for another process's write. */
const busyMs = 5_000;

/**
 * Opens the file, in WAL mode so that readers and a writer do not wait for each other; makes the folder. `:memory:` for none.
 * `first` is what must be said before anything is in the file.
 */
export async function openDatabase(path: string, first = ""): Promise<Database> {
  const DatabaseSync = await loadSqlite();
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(path);
  try {
    database.exec(
      `PRAGMA busy_timeout = ${busyMs}; ${first} PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;`,
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
    // No imports: bundlers need to know neither name.
    const builtin = process.getBuiltinModule?.("node:sqlite") as
      | { DatabaseSync: DatabaseClass }
      | undefined;
    if (builtin) return builtin.DatabaseSync;
    const addon: unknown = createRequire(import.meta.url)("@photostructure/sqlite");
    return (addon as { DatabaseSync: DatabaseClass }).DatabaseSync;
  } catch (cause) {
    throw new HallError("UNAVAILABLE", `SQLite cannot be loaded on Node ${process.version}`, {
      cause,
      hint: "Use Node 22.13 or newer, which has SQLite inside, or install the package @photostructure/sqlite.",
    });
  }
}
