import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where a user's own things lie, those of all projects: tokens, grants. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_DATA_HOME: given } = env;
  // The convention: a path that is not absolute counts as none.
  return join(given && isAbsolute(given) ? given : join(homedir(), ".local", "share"), "guildhall");
}
