import { closeSync, fchmodSync, lstatSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HallError, messageOf } from "../base/errors.ts";
import { openProjectFile } from "../base/project-files.ts";
import { appendAudit } from "./audit-table.ts";
import { migrate, newestVersion } from "./schema.ts";
import type { Engine, Sql } from "./sql.ts";
import { type Database, openDatabase, SqliteSql } from "./sqlite.ts";

export interface SqliteOptions {
  readonly path: string;
  /** A damaged file is left in place. */
  readonly isReader: boolean;
  notify(message: string): void;
}

interface OpenFile {
  readonly database: Database;
  readonly sql: Sql;
  /** Identifies the file, whatever it is renamed to. */
  readonly inode: number;
}

/** How long one statement waits for another process. The writer retries after that. */
const busyMs = 1_000;

/** A SQLite file. A damaged one is renamed, never removed, and the next transaction starts a new file. */
export class SqliteEngine implements Engine {
  readonly #options: SqliteOptions;
  #file: OpenFile | undefined;
  /** The new name of a damaged file, until its successor has recorded it. */
  #replaced: string | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  async write<T>(work: (sql: Sql) => Promise<T>, onCommitted?: (result: T) => void): Promise<T> {
    try {
      // Immediate: a transaction that reads first could not upgrade if another process wrote in between.
      const result = await transact(await this.#open(), "BEGIN IMMEDIATE", work);
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

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file) closeDatabase(file.database);
  }

  async #open(): Promise<OpenFile> {
    if (this.#file) return this.#file;
    const { path, isReader } = this.#options;
    makePrivate(path);
    const inode = inodeOf(path);
    try {
      this.#file = await openFile(path);
    } catch (error) {
      if (isReader || !isCorrupt(error)) throw error;
      this.#replaced = setFileAside(path, inode);
      this.#file = await openFile(path);
    }

    if (this.#replaced !== undefined) await this.#recordLoss(this.#file, this.#replaced);
    this.#replaced = undefined;
    return this.#file;
  }

  /** The new file starts a new audit chain; its first row says what happened to the old one. */
  async #recordLoss(file: OpenFile, name: string): Promise<void> {
    this.#options.notify(
      `the store was damaged: it was renamed to "${name}" and a new one started`,
    );
    const reason = `the previous file was damaged and renamed to "${name}"`;
    const entry = { kind: "replaced", subject: "store", caller: "guildhall", reason };
    await transact(file, "BEGIN IMMEDIATE", (sql) => appendAudit(sql, [{ entry, at: Date.now() }]));
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
      this.#replaced = setFileAside(this.#options.path, file.inode);
    } catch (error) {
      this.#options.notify(`the store is damaged and cannot be renamed: ${messageOf(error)}`);
    }
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

async function openFile(path: string): Promise<OpenFile> {
  makePrivate(path);
  const hasCrashed = sizeOf(`${path}-wal`) > 0;
  const database = await openDatabase(path, "PRAGMA auto_vacuum = INCREMENTAL;");
  try {
    database.exec(
      `PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;`,
    );
    if (hasCrashed) checkIntegrity(database, path);
    const file = { database, sql: new SqliteSql(database), inode: inodeOf(path) };
    await updateSchema(file);
    return file;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Several processes may try at once, so the version is read again inside the transaction. */
async function updateSchema(file: OpenFile): Promise<void> {
  const newest = newestVersion("sqlite");
  if ((await readVersion(file.sql)) === newest) return;
  await transact(file, "BEGIN IMMEDIATE", async (sql) => {
    await migrate(sql, "sqlite", await readVersion(sql));
    await sql.script(`PRAGMA user_version = ${newest}`);
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

/**
 * Only the owner may read the file. SQLite gives the files beside it the same mode. Throws DENIED where a
 * project brought a link or a pipe in place of one of them: SQLite would follow it.
 */
function makePrivate(path: string): void {
  const project = dirname(dirname(path));
  const file = openProjectFile(project, join(basename(dirname(path)), basename(path)));
  try {
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
  for (const suffix of ["-wal", "-shm", "-journal"]) {
    const beside = lstatSync(path + suffix, { throwIfNoEntry: false });
    if (beside && !beside.isFile())
      throw new HallError("DENIED", `"${path + suffix}" is not a regular file`);
  }
  keepOutOfGit(project, dirname(path));
}

const fullCheckBytesMax = 16 * 1024 * 1024;

/**
 * Checks a small file completely and the newest rows of a large one. Damage that this misses is found when it is
 * read or written, and handled the same way.
 */
function checkIntegrity(database: Database, path: string): void {
  if (sizeOf(path) <= fullCheckBytesMax) {
    const verdict = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (verdict !== "ok")
      throw Object.assign(new Error(`the database is malformed: ${verdict}`), { errcode: corrupt });
    return;
  }
  for (const table of ["calls", "audit"])
    database.prepare(`SELECT * FROM ${table} ORDER BY seq DESC LIMIT 100`).all();
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

/** Renames the file and those beside it. Undefined if another process was faster and the path has a new file. */
function setFileAside(path: string, inode: number): string | undefined {
  if (inodeOf(path) !== inode) return undefined;
  const aside = `${path}.corrupt-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"])
    if (sizeOf(path + suffix) >= 0) renameSync(path + suffix, aside + suffix);
  return aside;
}

function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}

/** Respects an existing .gitignore. */
function keepOutOfGit(project: string, folder: string): void {
  if (basename(folder) !== ".guildhall") return;
  const text =
    "# Local state of this machine. Everything else can be committed.\nstate.db*\nlogs/\n";
  try {
    const name = join(basename(folder), ".gitignore");
    const file = openProjectFile(project, name, { exclusive: true, mode: 0o666 });
    writeFileSync(file, text);
    closeSync(file);
  } catch {
    // It exists or cannot be written; the store works either way.
  }
}
