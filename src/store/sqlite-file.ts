import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { HallError } from "../base/errors.ts";
import { openProjectFile } from "../base/project-files.ts";

// The file of a store as the file system sees it.

/**
 * Only the owner may read the file. SQLite gives the files beside it the same mode. Throws DENIED where a
 * project brought a link or a pipe in place of one of them: SQLite would follow it.
 */
export function makePrivate(path: string): void {
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

/** A file shrinks when old rows are removed, and then says so itself. SQLite does not notice that it was cut. */
export function isCut(path: string, bytes: number): boolean {
  const header = Buffer.alloc(32);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  return bytes < header.readUInt32BE(28) * pageBytes;
}

/** Renames the file and those beside it. Undefined if another process was faster and the path has a new file. */
export function setFileAside(
  path: string,
  kind: string,
  identity: string | undefined,
): string | undefined {
  if (identity === undefined || identityOf(path) !== identity) return undefined;
  const aside = `${path}.${kind}-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"])
    if (sizeOf(path + suffix) >= 0) renameSync(path + suffix, aside + suffix);
  return aside;
}

/**
 * SQLite reads a file in WAL mode only where it can write beside it. Where it cannot, for example
 * on a read-only medium, a copy is read; this is its folder.
 */
export function copyReadOnly(path: string): string | undefined {
  if (sizeOf(path) < 0) return undefined;
  try {
    accessSync(dirname(path), constants.W_OK);
    closeSync(openSync(path, "r+"));
    return undefined;
  } catch {
    const folder = mkdtempSync(join(tmpdir(), "guildhall-"));
    for (const suffix of ["", "-wal"]) {
      if (!lstatSync(path + suffix, { throwIfNoEntry: false })?.isFile()) continue;
      const copy = join(folder, basename(path) + suffix);
      copyFileSync(path + suffix, copy);
      chmodSync(copy, 0o600);
    }
    return folder;
  }
}

/** Device and inode; undefined if there is no file. */
export function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

/** When the file came to this place, which no archive can forge. */
export function birthOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? stats.birthtimeMs || stats.ctimeMs : Number.POSITIVE_INFINITY;
}

export function sizeOf(path: string): number {
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
