import { rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { HallError, messageOf } from "../base/errors.ts";
import { appendAudit, findSealer, sealChain } from "./audit-table.ts";
import { migrate, newestVersion } from "./schema.ts";
import { type Seal, StoreChanged } from "./seal.ts";
import type { Engine, Sql } from "./sql.ts";
import { type Database, hasOurSchema, openDatabase, SqliteSql } from "./sqlite.ts";
import {
  birthOf,
  copyReadOnly,
  identityOf,
  isCut,
  makePrivate,
  setFileAside,
  sizeOf,
} from "./sqlite-file.ts";

export interface SqliteOptions {
  readonly path: string;
  /** A damaged file is left in place. */
  readonly isReader: boolean;
  readonly seal: Seal;
  notify(message: string): void;
}

interface OpenFile {
  readonly database: Database;
  readonly sql: Sql;
  /** Identifies the file, whatever it is renamed to. */
  readonly identity: string | undefined;
  /** A folder to remove when the file is closed. */
  readonly copy?: string | undefined;
}

/** How long one statement waits for another process. The writer retries after that. */
const busyMs = 1_000;

/**
 * A SQLite file. One that is damaged or that this user did not make is renamed, never removed, and the next transaction
 * starts a new file. One that was removed or emptied is not started anew before a person accepts it.
 */
export class SqliteEngine implements Engine {
  readonly #options: SqliteOptions;
  #file: OpenFile | undefined;
  /** Of the file, when it was looked at last. */
  #bytes = 0;
  /** Why a file was renamed, until its successor has recorded it. */
  #replaced: string | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  async write<T>(work: (sql: Sql) => Promise<T>, onCommitted?: (result: T) => void): Promise<T> {
    try {
      const file = await this.#open();
      // Immediate: a transaction that reads first could not upgrade if another process wrote in between.
      const result = await transact(file, "BEGIN IMMEDIATE", async (sql) => {
        const result = await work(sql);
        this.#requireInPlace(file);
        return result;
      });
      onCommitted?.(result);
      return result;
    } catch (error) {
      if (isCorrupt(error) && !this.#options.isReader) this.#abandon();
      throw error;
    }
  }

  async read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return transact(await this.#open(), "BEGIN", work);
  }

  /** A few of the oldest calls while the pages in use exceed the limit. */
  async findExcess(sql: Sql, bytesMax: number): Promise<number | undefined> {
    const [size] = await sql.query(
      `SELECT (page_count - freelist_count) * page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    );
    if (Number(size?.bytes) <= bytesMax) return undefined;
    const [last] = await sql.query(
      "SELECT max(seq) AS seq FROM (SELECT seq FROM calls ORDER BY seq LIMIT 500)",
    );
    return last?.seq == null ? undefined : Number(last.seq);
  }

  async cleanUp(): Promise<void> {
    this.#file?.database.exec("PRAGMA incremental_vacuum");
  }

  isRowError(error: unknown): boolean {
    return !(isTransient(error) || isCorrupt(error) || error instanceof HallError);
  }

  async startAnew(): Promise<void> {
    const { path } = this.#options;
    const identity = identityOf(path);
    await this.close();
    this.#setAside("changed", identity);
    this.#replaced = undefined;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (!file) return;
    closeDatabase(file.database);
    if (file.copy !== undefined) rmSync(file.copy, { recursive: true, force: true });
  }

  /** The file is looked at every time: one that was removed would take all rows with it. */
  async #open(): Promise<OpenFile> {
    const { path, seal } = this.#options;
    const held = this.#file;
    const stats = statSync(path, { throwIfNoEntry: false });
    if (held && (held.copy !== undefined || (stats?.size && identityOf(path) === held.identity))) {
      if (stats && stats.size < this.#bytes && isCut(path, stats.size))
        throw malformed("it was cut");
      this.#bytes = stats?.size ?? 0;
      return held;
    }
    if (!stats?.size && (held || (await seal.readMark())))
      throw new StoreChanged(stats ? "was emptied" : "was removed");

    // Another file is in its place: it was moved back, or begun by another process.
    await this.close();
    const file = await this.#openOrReplace();
    this.#file = file;
    this.#bytes = 0;
    if (this.#replaced !== undefined) await this.#recordLoss(file, this.#replaced);
    this.#replaced = undefined;
    return file;
  }

  /** Rows in a file that another process has just put aside would be lost. The writer tries again. */
  #requireInPlace({ identity }: OpenFile): void {
    const { path } = this.#options;
    if (identityOf(path) !== identity)
      throw new HallError("UNAVAILABLE", `"${path}" was replaced while it was written`);
  }

  async #openOrReplace(): Promise<OpenFile> {
    const { path, isReader, seal } = this.#options;
    const identity = identityOf(path);
    try {
      return await openFile(this.#options);
    } catch (error) {
      const isForeign = error instanceof ForeignFile;
      if (isReader || !(isForeign || isCorrupt(error))) throw error;
      if (isForeign && (await seal.readMark()))
        throw new StoreChanged("was replaced by another one");
      this.#setAside(isForeign ? "foreign" : "corrupt", identity);
      return openFile(this.#options);
    }
  }

  #setAside(kind: keyof typeof asideReasons, identity: string | undefined): void {
    const { path, seal } = this.#options;
    const name = setFileAside(path, kind, identity);
    // Not before: the mark keeps other processes from writing to the file that is put aside.
    seal.forgetMark();
    if (name !== undefined) this.#replaced = `${asideReasons[kind]}: it was renamed to "${name}"`;
  }

  /** The new file starts a new audit chain; its first row says what happened to the old one. */
  async #recordLoss(file: OpenFile, what: string): Promise<void> {
    const { notify, seal } = this.#options;
    notify(`the store ${what} and a new one started`);
    const reason = `the previous file ${what}`;
    const entry = { kind: "replaced", subject: "store", caller: "guildhall", reason };
    await transact(file, "BEGIN IMMEDIATE", (sql) =>
      appendAudit(sql, [{ entry, at: Date.now() }], seal),
    );
  }

  #abandon(): void {
    const file = this.#file;
    if (!file) return;
    this.#file = undefined;
    try {
      closeDatabase(file.database);
    } catch {
      // A damaged file may not close; the end of the process closes it.
    }
    try {
      this.#setAside("corrupt", file.identity);
    } catch (error) {
      this.#options.notify(`the store is damaged and cannot be renamed: ${messageOf(error)}`);
    }
  }
}

const asideReasons = {
  corrupt: "was damaged",
  foreign: "was not made by this user",
  changed: "was not the one that was written",
};

/** A file with other tables than ours, or without this user's seal. */
class ForeignFile extends HallError {
  constructor(path: string) {
    super("UNAVAILABLE", `"${path}" was not made by this user's Guildhall`, {
      hint: "Move it away if you did not expect it there.",
    });
  }
}

async function transact<T>(
  { database, sql }: OpenFile,
  begin: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  database.exec(begin);
  try {
    const result = await work(sql);
    database.exec("COMMIT");
    return result;
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // SQLite already rolled back, for example on a full disk.
    }
    throw error;
  }
}

async function openFile({ path: given, isReader, seal }: SqliteOptions): Promise<OpenFile> {
  const copy = isReader ? copyReadOnly(given) : undefined;
  const path = copy === undefined ? given : join(copy, basename(given));
  const bornAt = copy === undefined ? birthOf(path) : Number.POSITIVE_INFINITY;
  makePrivate(path);
  const hasCrashed = sizeOf(`${path}-wal`) > 0;
  const database = await openDatabase(
    path,
    "PRAGMA trusted_schema = OFF; PRAGMA auto_vacuum = INCREMENTAL;",
  );
  try {
    database.exec(
      `PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;`,
    );
    if (hasCrashed) checkIntegrity(database, path);
    const file = { database, sql: new SqliteSql(database), identity: identityOf(path), copy };
    const sealer = await prepareTables(file, { seal, bornAt, path: given });
    if (sealer !== "us" && !isReader) throw new ForeignFile(given);
    return file;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Several processes may try at once, so everything is read again inside the transaction. Returns
 * whose key the audit has.
 */
async function prepareTables(
  file: OpenFile,
  { seal, bornAt, path }: { readonly seal: Seal; readonly bornAt: number; readonly path: string },
): Promise<"nobody" | "us" | "somebody else"> {
  const newest = newestVersion("sqlite");
  const before = await readVersion(file.sql);
  if (before <= newest && !(await hasOurSchema(file.database, before))) throw new ForeignFile(path);
  if (before === newest && (await findSealer(file.sql, seal)) === "us") return "us";

  return transact(file, "BEGIN IMMEDIATE", async (sql) => {
    const version = await readVersion(sql);
    if (version !== newest) {
      await migrate(sql, "sqlite", version);
      await sql.script(`PRAGMA user_version = ${newest}`);
    }
    // Earlier versions had no key. A store that came with a clone is younger than this user's key.
    if (version === 0 || (await seal.isBeforeKey(bornAt))) await sealChain(sql, seal);
    return findSealer(sql, seal);
  });
}

async function readVersion(sql: Sql): Promise<number> {
  const [row] = await sql.query("PRAGMA user_version");
  return Number(row?.user_version ?? 0);
}

/** The addon may keep statements open after closing, which would leave the write-ahead log behind. */
function closeDatabase(database: Database): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Another process is reading, or the disk is full: the next process to open the file recovers the log.
  }
  database.close();
}

const fullCheckBytesMax = 16 * 1024 * 1024;

/**
 * Checks a small file completely and the newest rows of a large one. Damage that this misses is found when it is
 * read or written, and handled the same way.
 */
function checkIntegrity(database: Database, path: string): void {
  if (sizeOf(path) <= fullCheckBytesMax) {
    const verdict = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (verdict !== "ok") throw malformed(String(verdict));
    return;
  }
  for (const table of ["calls", "audit"])
    database.prepare(`SELECT * FROM ${table} ORDER BY seq DESC LIMIT 100`).all();
}

function malformed(what: string): Error {
  return Object.assign(new Error(`the database is malformed: ${what}`), { errcode: corrupt });
}

const corrupt = 11;
const notADatabase = 26;

function isCorrupt(error: unknown): boolean {
  const code = resultCode(error);
  return code === corrupt || code === notADatabase;
}

/** BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN. */
const transientCodes = new Set([5, 6, 8, 10, 13, 14]);

function isTransient(error: unknown): boolean {
  const code = resultCode(error);
  if (code !== undefined) return transientCodes.has(code);
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === "number";
}

/** Errors that the addon throws without a code, because its `all()` does. */
const codesByMessage = new Map([
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", 10],
  ["database disk image is malformed", corrupt],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", notADatabase],
]);

/** SQLite's primary result code. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : codesByMessage.get(messageOf(error));
}
