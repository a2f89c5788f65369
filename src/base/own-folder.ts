import { closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { HallError } from "./errors.ts";

/**
 * A folder of ours inside a project, made where it is missing. Throws DENIED where a part of it is a link: a clone may bring one that leads to
 * files of its owner's choice.
 */
export function makeOwnFolder(project: string, ...parts: readonly string[]): string {
  let at = project;
  for (const part of parts) {
    at = join(at, part);
    mkdirSync(at, { recursive: true });
    if (!lstatSync(at).isDirectory())
      throw new HallError("DENIED", `${at} is a link, and is not followed`, {
        hint: "Remove it: a folder is made in its place.",
      });
  }
  return at;
}

/** A file to add to, readable by its owner alone. Throws where a link or a pipe is in its place. */
export function openOwnFile(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (lstatSync(path).isFile()) return file;
  closeSync(file);
  throw new HallError("DENIED", `${path} is no file`);
}
