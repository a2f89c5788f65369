import { constants, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { formatBytes } from "../base/text.ts";
import { ConfigError } from "./error.ts";

/** Locations of the config files, and reading them with care: the path may be a pipe, huge or not UTF-8. */
export interface ConfigFile {
  readonly file: string;
  readonly text: string;
}

const bytesMax = 1024 * 1024;
/** Limits for the parsers: levels, and values with their separators. Enough for 500 servers. */
export const depthMax = 32;
export const partsMax = 20_000;

export function userFileOf(env: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME: xdg, HOME: home } = env;
  // XDG: a relative path must be ignored.
  return join(
    xdg && isAbsolute(xdg) ? xdg : join(home || homedir(), ".config"),
    "guildhall",
    "config.json",
  );
}

export function projectFilesOf(folder: string): readonly string[] {
  return [join(folder, "guildhall.json"), join(folder, "guildhall.toml")];
}

/** The existing files in the order of layers. Throws ConfigError. */
export async function readConfigFiles(
  userFile: string,
  projectFiles: readonly string[],
): Promise<ConfigFile[]> {
  const [user, ...project] = await Promise.all([userFile, ...projectFiles].map(readConfigFile));
  const found = project.filter((file) => file !== undefined);
  if (found.length > 1) {
    throw new ConfigError(
      `${found.map(({ file }) => file).join(" and ")}: both exist; expected one project file; merge them and remove the other`,
    );
  }
  return user ? [user, ...found] : found;
}

/** Undefined if there is no file. Throws ConfigError. */
export async function readConfigFile(file: string): Promise<ConfigFile | undefined> {
  const found = await readRegularFile(file, bytesMax);
  if (!found) return undefined;
  const { bytes, stats } = found;
  const isForeign = process.geteuid !== undefined && stats.uid !== process.geteuid();
  const writers = process.platform === "win32" ? 0 : stats.mode & (isForeign ? 0o022 : 0o002);
  // The file names programs that run as this user.
  if (writers)
    throw new ConfigError(
      `${file}: other users can write to it; expected a file only you can write; run: chmod go-w ${file}`,
    );
  return { file, text: decode(bytes, file).replace(/^\ufeff/, "") };
}

/** Undefined if there is no file. Throws ConfigError. */
export async function readRegularFile(
  file: string,
  bytesMax: number,
): Promise<{ readonly bytes: Buffer; readonly stats: Stats } | undefined> {
  // Non-blocking: opening a pipe without a writer would hang.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new ConfigError(
      `${file}: cannot be read (${error.code}); expected a readable file; check its path and permissions`,
    );
  });
  if (!handle) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile())
      throw new ConfigError(`${file}: is not a file; expected a config file; remove or rename it`);
    if (stats.size > bytesMax)
      throw new ConfigError(
        `${file}: has ${formatBytes(stats.size)}; expected at most ${formatBytes(bytesMax)}; remove everything that is not config`,
      );
    return { bytes: await handle.readFile(), stats };
  } finally {
    await handle.close();
  }
}

/** Keeps a byte order mark. Throws ConfigError. */
export function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${file}: is not UTF-8 text; expected a config file; save it as UTF-8`);
  }
}
