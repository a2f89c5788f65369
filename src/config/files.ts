import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { ConfigError } from "./error.ts";

/** Where config files are looked for, and how one is read without trusting what stands there. */
export interface ConfigFile {
  readonly file: string;
  readonly text: string;
}

const bytesMax = 1024 * 1024;
/** What a parser is given at most: levels, and values with their separators. Some 500 servers fit. */
export const depthMax = 32;
export const partsMax = 20_000;

export function userFileOf(env: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME: xdg, HOME: home } = env;
  // The XDG rule: a relative path is to be ignored.
  return join(
    xdg && isAbsolute(xdg) ? xdg : join(home || homedir(), ".config"),
    "guildhall",
    "config.json",
  );
}

export function projectFilesOf(folder: string): readonly string[] {
  return [join(folder, "guildhall.json"), join(folder, "guildhall.toml")];
}

/** The files that are there, in the order of layers. Throws ConfigError. */
export async function readConfigFiles(
  userFile: string,
  projectFiles: readonly string[],
): Promise<ConfigFile[]> {
  const [user, ...project] = await Promise.all([userFile, ...projectFiles].map(readConfigFile));
  const found = project.filter((file) => file !== undefined);
  if (found.length > 1) {
    throw new ConfigError(
      `${found.map(({ file }) => file).join(" and ")}: both are there; expected one project file; merge them and remove the other`,
    );
  }
  return user ? [user, ...found] : found;
}

async function readConfigFile(file: string): Promise<ConfigFile | undefined> {
  // Without waiting: opening a pipe that nobody writes to would hang.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new ConfigError(
      `${file}: cannot be read (${error.code}); expected a file this user may read; check its path and mode`,
    );
  });
  if (!handle) return undefined;
  try {
    await refuseUnsafe(handle, file);
    return { file, text: decode(await handle.readFile(), file) };
  } finally {
    await handle.close();
  }
}

async function refuseUnsafe(handle: FileHandle, file: string): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile())
    throw new ConfigError(
      `${file}: is not a file; expected a config file; remove or rename what stands there`,
    );
  if (stats.size > bytesMax)
    throw new ConfigError(
      `${file}: has ${stats.size} bytes; expected at most ${bytesMax}; remove what is not config`,
    );
  const isForeign = process.geteuid !== undefined && stats.uid !== process.geteuid();
  const writers = process.platform === "win32" ? 0 : stats.mode & (isForeign ? 0o022 : 0o002);
  // The file names programs that will be started as this user.
  if (writers)
    throw new ConfigError(
      `${file}: can be written by other users; expected a file only you may write; run: chmod go-w ${file}`,
    );
}

function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${file}: is not UTF-8 text; expected a config file; save it as UTF-8`);
  }
}
