import { closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { HallError } from "./errors.ts";

/**
 * Creates a folder of ours inside a project. Throws DENIED if a part of the path is a link: a cloned
 * repository could redirect our writes to other files.
 */
export function makeOwnFolder(project: string, ...parts: readonly string[]): string {
  let at = project;
  for (const part of parts) {
    at = join(at, part);
    mkdirSync(at, { recursive: true });
    if (!lstatSync(at).isDirectory())
      throw new HallError("DENIED", `"${at}" is a link, which is not followed`, {
        hint: "Remove it: Guildhall creates a folder instead.",
      });
  }
  return at;
}

/** Opens a file for appending, readable by its owner only. Throws for a link or a pipe. */
export function openOwnFile(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (lstatSync(path).isFile()) return file;
  closeSync(file);
  throw new HallError("DENIED", `"${path}" is not a regular file`);
}
