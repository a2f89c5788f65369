import { HallError } from "../base/errors.ts";
import { findProject } from "../config/files.ts";

/** Where a command line was typed, and where it works: in the folder of the project. */
export interface WorkingFolder {
  readonly start: string;
  readonly folder: string;
}

/**
 * Makes the project's folder the working directory: the given one, else the one that the working directory belongs to.
 * Throws NOT_FOUND.
 */
export function enterProject(given: string | undefined): WorkingFolder {
  const start = process.cwd();
  if (given === undefined) {
    const { folder, ignored } = findProject(start);
    for (const file of ignored)
      process.stderr.write(`note: "${file}" is not used, because another user owns it\n`);
    if (folder !== start) process.chdir(folder);
  } else enter(given);
  return { start, folder: process.cwd() };
}

function enter(folder: string): void {
  try {
    process.chdir(folder);
  } catch (cause) {
    throw new HallError(
      "NOT_FOUND",
      `cannot change to the folder "${folder}" (${(cause as NodeJS.ErrnoException).code})`,
      { hint: "Set --folder to the project's folder.", cause },
    );
  }
}
