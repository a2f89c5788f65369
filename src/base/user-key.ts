import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "./errors.ts";
import { placePrivate } from "./files.ts";

/** A key that only this user can read, in a folder of the user's data. Undefined if there is none. Throws DENIED. */
export function readUserKey(folder: string): Buffer | undefined {
  const key = readOwnFile(fileOf(folder));
  return key && key.length >= 32 ? key : undefined;
}

/** If two processes create it at the same time, the first one wins. */
export async function loadUserKey(folder: string): Promise<Buffer> {
  const found = readUserKey(folder);
  if (found) return found;
  await placePrivate(fileOf(folder), randomBytes(32));
  const key = readUserKey(folder);
  if (!key) throw new HallError("INTERNAL", `the key in "${folder}" cannot be used`);
  return key;
}

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;

/**
 * A file that this user wrote and nobody else could read or change; undefined if there is none. Throws DENIED for
 * another user's, as root would read with `sudo -E`.
 */
export function readOwnFile(file: string): Buffer | undefined {
  const handle = openIfThere(file);
  if (handle === undefined) return undefined;
  try {
    const stats = fstatSync(handle);
    const isOwn =
      stats.isFile() &&
      stats.uid === (process.geteuid?.() ?? stats.uid) &&
      (process.platform === "win32" || (stats.mode & 0o077) === 0);
    if (isOwn) return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
  throw new HallError(
    "DENIED",
    `"${file}" must be a file, owned by you and not accessible to others`,
  );
}

function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** When the key was made, in milliseconds since 1970. */
export async function keyMadeAt(folder: string): Promise<number> {
  return (await stat(fileOf(folder))).mtimeMs;
}

const fileOf = (folder: string): string => join(folder, "key");
