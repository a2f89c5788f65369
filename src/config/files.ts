import { existsSync, lstatSync, type Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, sep } from "node:path";
import { messageOf } from "../base/errors.ts";
import { readRegular, refuseLinks } from "../base/project-files.ts";
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
  const [user, ...project] = await Promise.all([
    readConfigFile(userFile),
    ...projectFiles.map((file) => readConfigFile(file, dirname(file))),
  ]);
  const found = project.filter((file) => file !== undefined);
  if (found.length > 1) {
    throw new ConfigError(
      `${found.map(({ file }) => file).join(" and ")}: both exist; expected one project file; merge them and remove the other`,
    );
  }
  return user ? [user, ...found] : found;
}

/** Undefined if there is no file. `project` is given for a file of a project. Throws ConfigError. */
export async function readConfigFile(
  file: string,
  project?: string,
): Promise<ConfigFile | undefined> {
  const found = await readRegularFile(file, bytesMax, project);
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

/** Undefined if there is no file. `project` is given for a file of a project. Throws ConfigError. */
export async function readRegularFile(
  file: string,
  bytesMax: number,
  project?: string,
): Promise<{ readonly bytes: Buffer; readonly stats: Stats } | undefined> {
  const target = project === undefined ? file : await resolveInside(project, file);
  const read = await readRegular(target, bytesMax, { follow: project === undefined }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new ConfigError(
        `${file}: cannot be read (${error.code}); expected a readable file; check its path and permissions`,
      );
    },
  );
  switch (read.kind) {
    case "read":
      return read;
    case "missing":
      return undefined;
    case "not-regular":
      throw new ConfigError(`${file}: is not a file; expected a config file; remove or rename it`);
    case "large":
      throw new ConfigError(
        `${file}: has ${formatBytes(read.size)}; expected at most ${formatBytes(bytesMax)}; remove everything that is not config`,
      );
  }
}

/**
 * The real path of a project's config file. A link may lead to another file of the project, as Kubernetes
 * mounts it, but not outside: a cloned repository could have the user's own files read or edited.
 */
export async function resolveInside(project: string, file: string): Promise<string> {
  const [folder, target] = await Promise.all([realpath(project), realpath(file)]).catch(() => []);
  if (folder === undefined || target === undefined) {
    try {
      refuseLinks(project, file);
    } catch (error) {
      throw new ConfigError(`${file}: cannot be used (${messageOf(error)}); remove or rename it`);
    }
    return file;
  }
  if (target.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) return target;
  throw new ConfigError(
    `${file}: is a link that leads out of the project; expected a file inside; replace it by a copy`,
  );
}

/** Keeps a byte order mark. Throws ConfigError. */
export function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${file}: is not UTF-8 text; expected a config file; save it as UTF-8`);
  }
}

interface FoundProject {
  readonly folder: string;
  /** Config files of parent folders that are not used, because another user owns them. */
  readonly ignored: readonly string[];
}

/**
 * The project that a folder belongs to: the nearest folder with a config file, up to the root of the repository.
 * Outside a repository, and if there is no config file, it is the folder itself. Another user may be able to write
 * to a parent folder, so only the user's own files count.
 */
export function findProject(start: string): FoundProject {
  const ignored: string[] = [];
  for (const folder of foldersOfRepository(start)) {
    const files = projectFilesOf(folder).filter(isThere);
    if (files.length === 0) continue;
    if (folder === start || files.every(isOwn)) return { folder, ignored };
    ignored.push(...files.filter((file) => !isOwn(file)));
  }
  return { folder: start, ignored };
}

/** The folder and its parents up to the repository's root. */
function foldersOfRepository(start: string): readonly string[] {
  const root = repositoryRoot(start);
  const folders = [start];
  for (let at = start; root !== undefined && at !== root; ) {
    at = dirname(at);
    folders.push(at);
  }
  return folders;
}

/** The nearest folder with `.git`, if there is one. */
export function repositoryRoot(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : repositoryRoot(parent);
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Windows tells no owner. */
function isOwn(file: string): boolean {
  return process.geteuid === undefined || lstatSync(file).uid === process.geteuid();
}
