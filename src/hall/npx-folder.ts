import { lstat, realpath, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

/** The npx folder whose package lacks a module, as the last lines of a server say. */
export function findDamagedNpx(stderr: readonly string[]): string | undefined {
  const text = stderr.join("\n");
  if (!/ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|Cannot find (package|module)/.test(text))
    return undefined;
  return /(?:file:\/\/)?((?:[A-Za-z]:)?[^\s'"()]*[\\/]_npx[\\/][0-9a-f]{16})(?![0-9a-f])/.exec(
    text,
  )?.[1];
}

/**
 * Removes the folder of one package from the npx cache of this user. The path comes from a server's output, so
 * anything else is left alone. Returns whether it was removed.
 */
export async function removeNpxFolder(
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const cache = env.npm_config_cache ?? defaultCache(env);
  const [own, parent, entry] = await Promise.all([
    realpath(join(cache, "_npx")).catch(() => undefined),
    realpath(dirname(folder)).catch(() => undefined),
    lstat(folder).catch(() => undefined),
  ]);
  const isName = /^[0-9a-f]{16}$/.test(basename(folder));
  if (own === undefined || own !== parent || !isName || !entry?.isDirectory()) return false;
  await rm(join(own, basename(folder)), { recursive: true });
  return true;
}

function defaultCache({ LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  return process.platform === "win32" && LOCALAPPDATA
    ? join(LOCALAPPDATA, "npm-cache")
    : join(homedir(), ".npm");
}
