import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The user's data of all projects: tokens, grants. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env.XDG_DATA_HOME, join(".local", "share"));
}

/** Data that can be rebuilt: indexes. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return folderOf(env.XDG_CACHE_HOME, ".cache");
}

/** XDG: a relative path must be ignored. */
function folderOf(given: string | undefined, usual: string): string {
  return join(given && isAbsolute(given) ? given : join(homedir(), usual), "guildhall");
}
