import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where a user's own things lie, those of all projects: tokens, grants. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env.XDG_DATA_HOME, join(".local", "share"));
}

/** Where lies what can be made again: indexes. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env.XDG_CACHE_HOME, ".cache");
}

/** The convention: a path that is not absolute counts as none. */
function folderOf(given: string | undefined, usual: string): string {
  return join(given && isAbsolute(given) ? given : join(homedir(), usual), "guildhall");
}
