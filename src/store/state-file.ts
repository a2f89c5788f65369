import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type AuditTable, createAuditTable } from "./audit-table.ts";
import { type CallTable, createCallTable } from "./call-table.ts";
import { createDocumentTable, type DocumentTable } from "./document-table.ts";
import { migrate } from "./migrations.ts";
import { type Database, openDatabase } from "./sqlite.ts";

/** The file with everything in it, open. */
export interface StateFile {
  readonly database: Database;
  readonly calls: CallTable;
  readonly audit: AuditTable;
  readonly documents: DocumentTable;
  /** Where the file was put that stood here and could not be read. */
  readonly setAside: string | undefined;
  /** Which file it is, whatever its name becomes. */
  readonly inode: number;
  close(): void;
}

/** How long one statement waits for another process; whoever writes tries again after that. */
const busyMs = 1_000;

/** Opens the file, and makes it. One that cannot be read is set aside, never removed; whoever only reads leaves it where it is. */
export async function openStateFile(path: string, isReader = false): Promise<StateFile> {
  makePrivate(path);
  const inode = inodeOf(path);
  try {
    return await open(path, undefined);
  } catch (error) {
    if (isReader || !isCorrupt(error)) throw error;
    return open(path, setFileAside(path, inode));
  }
}

async function open(path: string, setAside: string | undefined): Promise<StateFile> {
  makePrivate(path);
  const hasEndedBadly = sizeOf(`${path}-wal`) > 0;
  // Freed pages are given back bit by bit.
  const database = await openDatabase(path, "PRAGMA auto_vacuum = INCREMENTAL;");
  try {
    database.exec(
      `PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;`,
    );
    if (hasEndedBadly) check(database, path);
    migrate(database);
    return {
      database,
      calls: createCallTable(database),
      audit: createAuditTable(database),
      documents: createDocumentTable(database),
      setAside,
      inode: inodeOf(path),
      close: () => close(database),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Immediate: whoever reads before it writes must not find out at the end that another was faster. */
export function transact<T>(database: Database, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // A full disk has rolled it back already.
    }
    throw error;
  }
}

/** Said aloud: where statements stay open until they are collected, closing alone leaves everything beside the file. */
function close(database: Database): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Another process reads, or there is no room: what is beside the file belongs to it, and the next one takes it in.
  }
  database.close();
}

/** Nobody else may read it; what SQLite puts beside it gets the same mode. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  keepOutOfGit(dirname(path));
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
}

const wholeCheckBytesMax = 16 * 1024 * 1024;

/**
 * A crash should leave nothing broken, and a look costs nearly nothing: the whole of a small file, the ends of a large one.
 * What a look at the ends misses shows itself when it is read, and is treated the same then.
 */
function check(database: Database, path: string): void {
  if (sizeOf(path) <= wholeCheckBytesMax) {
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

export function isCorrupt(error: unknown): boolean {
  const code = errorCode(error);
  return code === corrupt || code === notADatabase;
}

const passing = new Set([5, 6, 8, 10, 13, 14]);

/** Locked, read-only, out of reach or out of space: it may be different in a moment. */
export function isPassing(error: unknown): boolean {
  const code = errorCode(error);
  return code === undefined ? isFileError(error) : passing.has(code);
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === "number";
}

/** SQLite's primary result code. */
function errorCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

/** With what belongs to it. Gives its new name; undefined when another process was faster, and another file is there now. */
export function setFileAside(path: string, inode: number): string | undefined {
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

/** What this machine remembers is not for others to clone: unless somebody has said what is. */
function keepOutOfGit(folder: string): void {
  if (basename(folder) !== ".guildhall") return;
  try {
    writeFileSync(
      join(folder, ".gitignore"),
      "# What this machine remembers. The rest is yours to commit.\nstate.db*\nlogs/\n",
      {
        flag: "wx",
      },
    );
  } catch {
    // It is there already, or cannot be written: neither keeps anybody from working.
  }
}
