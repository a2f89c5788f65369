import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "./errors.ts";
import { placePrivate } from "./files.ts";

/** A key that only this user can read, in a folder of the user's data. Undefined if there is none. */
export async function readUserKey(folder: string): Promise<Buffer | undefined> {
  const key = await readFile(fileOf(folder)).catch(() => undefined);
  return key && key.length >= 32 ? key : undefined;
}

/** If two processes create it at the same time, the first one wins. */
export async function loadUserKey(folder: string): Promise<Buffer> {
  const found = await readUserKey(folder);
  if (found) return found;
  await placePrivate(fileOf(folder), randomBytes(32));
  const key = await readUserKey(folder);
  if (!key) throw new HallError("INTERNAL", `the key in "${folder}" cannot be used`);
  return key;
}

/** When the key was made, in milliseconds since 1970. */
export async function keyMadeAt(folder: string): Promise<number> {
  return (await stat(fileOf(folder))).mtimeMs;
}

const fileOf = (folder: string): string => join(folder, "key");
