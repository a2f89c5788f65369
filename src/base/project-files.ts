import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { HallError } from "./errors.ts";
import { formatBytes } from "./text.ts";

// A clone or an archive may put anything in place of a project's files: a link to the user's keys,
// a pipe that never ends, a huge file. So everything that the hall reads or writes in a project
// goes through here. The project's folder itself may be reached through a link, but links below it
// are refused. `path` is relative to the project; `file` and `folder` are absolute.

const fileBytesMax = 2 * 1024 * 1024;

/**
 * Undefined if there is no file. Throws DENIED for a link or anything else that is not a regular
 * file, and TOO_LARGE.
 */
export async function readProjectFile(
  project: string,
  path: string,
  bytesMax = fileBytesMax,
): Promise<string | undefined> {
  const file = join(project, path);
  refuseLinks(project, file);
  const read = await readRegular(file, bytesMax);
  switch (read.kind) {
    case "read":
      return read.bytes.toString("utf8");
    case "missing":
      return undefined;
    case "not-regular":
      throw notRegular(file);
    case "large":
      throw new HallError("TOO_LARGE", `"${file}" exceeds the limit of ${formatBytes(bytesMax)}`);
  }
}

type ReadOutcome =
  | { readonly kind: "read"; readonly bytes: Buffer; readonly stats: Stats }
  | { readonly kind: "missing" }
  /** A folder, a pipe, a device. */
  | { readonly kind: "not-regular" }
  | { readonly kind: "large"; readonly size: number };

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants;

/** Refuses a link at the end of the path unless `follow` is set. Throws the system's errors. */
export async function readRegular(
  file: string,
  bytesMax: number,
  { follow = false }: { readonly follow?: boolean } = {},
): Promise<ReadOutcome> {
  // Non-blocking: opening a pipe without a writer would hang.
  const flags = O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW);
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (!handle) return { kind: "missing" };
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { kind: "not-regular" };
    if (stats.size > bytesMax) return { kind: "large", size: stats.size };
    return { kind: "read", bytes: await handle.readFile(), stats };
  } finally {
    await handle.close();
  }
}

/** The names in a folder; none if it does not exist. */
export async function listProjectFolder(project: string, path: string): Promise<string[]> {
  const folder = join(project, path);
  refuseLinks(project, folder);
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

/**
 * Opens a file for appending; creates it and its folders if they do not exist. With `exclusive`,
 * throws EEXIST if the file exists. Throws DENIED as `readProjectFile` does.
 */
export function openProjectFile(
  project: string,
  path: string,
  {
    exclusive = false,
    mode = 0o600,
  }: { readonly exclusive?: boolean; readonly mode?: number } = {},
): number {
  const file = join(project, path);
  makeProjectFolder(project, dirname(path));
  refuseLinks(project, file);
  const flags = O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK | (exclusive ? O_EXCL : 0);
  const opened = openSync(file, flags, mode);
  if (fstatSync(opened).isFile()) return opened;
  closeSync(opened);
  throw notRegular(file);
}

/** Atomic: a reader sees the old file or the new one, and a full disk leaves the old one. */
export async function replaceProjectFile(
  project: string,
  path: string,
  text: string,
): Promise<void> {
  const file = join(project, path);
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  refuseLinks(project, file);
  try {
    const opened = openProjectFile(project, temporary, { exclusive: true, mode: 0o666 });
    try {
      writeFileSync(opened, text);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    await rename(join(project, temporary), file);
  } catch (error) {
    await rm(join(project, temporary), { force: true });
    throw error;
  }
}

export async function removeProjectFile(project: string, path: string): Promise<void> {
  refuseLinks(project, join(project, dirname(path)));
  await rm(join(project, path), { force: true });
}

export function makeProjectFolder(project: string, path: string): void {
  let at = project;
  for (const part of partsOf(path)) {
    at = join(at, part);
    refuseLinks(dirname(at), at);
    mkdirSync(at, { recursive: true });
  }
}

/**
 * Throws DENIED if a part of the file's path below the project is a link, VALIDATION if a parent is
 * not a folder. Parts that do not exist yet cannot be links.
 */
export function refuseLinks(project: string, file: string): void {
  let at = project;
  const parts = partsOf(relative(project, file));
  for (const [index, part] of parts.entries()) {
    at = join(at, part);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (!found) return;
    if (found.isSymbolicLink())
      throw new HallError("DENIED", `"${at}" is a link, which is not followed`, {
        hint: "Replace it with a file or folder inside the project.",
      });
    if (index < parts.length - 1 && !found.isDirectory())
      throw new HallError("VALIDATION", `"${at}" is a file, not a folder`, {
        hint: "Move or rename it.",
      });
  }
}

function partsOf(path: string): readonly string[] {
  return path.split(sep).filter((part) => part !== "" && part !== ".");
}

function notRegular(file: string): HallError {
  return new HallError("DENIED", `"${file}" is not a regular file`);
}
