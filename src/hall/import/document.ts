import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, posix, win32 } from "node:path";
import { ConfigError, type Path } from "../../config/error.ts";
import { decode, readRegularFile } from "../../config/files.ts";
import { parseJsonText, readValue } from "../../config/json.ts";
import { parseTomlFile } from "../../config/toml.ts";

/** Where files of clients are searched. Passed in, so that a test never reads the real home. */
export interface ImportPlaces {
  readonly platform: Platform;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** The project's folder. */
  readonly folder: string;
}

export type Platform = "linux" | "darwin" | "win32";

/** A path, or one per platform. `~` is the home, `.` the project, `$NAME` a variable that has a default. */
export type PathTemplate = string | Readonly<Partial<Record<Platform, string>>>;

const defaultFolders: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: "~/.config",
  APPDATA: "~/AppData/Roaming",
  LOCALAPPDATA: "~/AppData/Local",
  CODEX_HOME: "~/.codex",
  COPILOT_HOME: "~/.copilot",
  CLAUDE_CONFIG_DIR: "~",
};

export function thisMachine(folder: string, env: NodeJS.ProcessEnv = process.env): ImportPlaces {
  const { platform } = process;
  return {
    platform: platform === "darwin" || platform === "win32" ? platform : "linux",
    home: env.HOME || homedir(),
    env,
    folder,
  };
}

/** Undefined if the platform has no such file. */
export function resolvePath(path: PathTemplate, machine: ImportPlaces): string | undefined {
  const template = typeof path === "string" ? path : path[machine.platform];
  if (template === undefined) return undefined;
  const [first = "", ...rest] = template.split("/");
  return pathsOf(machine).join(resolveStart(first, machine), ...rest);
}

function resolveStart(start: string, machine: ImportPlaces): string {
  if (start === "~") return machine.home;
  if (start === ".") return machine.folder;
  const name = start.slice(1);
  const value = machine.env[name];
  // XDG says to ignore relative paths; the other variables get the same treatment.
  if (value && pathsOf(machine).isAbsolute(value)) return value;
  return resolvePath(defaultFolders[name] ?? "~", machine) ?? machine.home;
}

/** Relative to the project or to the home, for display. */
export function shorten(file: string, machine: ImportPlaces): string {
  const { sep } = pathsOf(machine);
  if (file.startsWith(machine.folder + sep)) return file.slice(machine.folder.length + 1);
  return file.startsWith(machine.home + sep) ? `~${file.slice(machine.home.length)}` : file;
}

export function pathsOf({ platform }: ImportPlaces): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/** The parsed file of a client: JSON with comments, TOML or YAML, by its name. */
export interface ConfigDocument {
  readonly file: string;
  readonly text: string;
  readonly format: Format;
  readonly tree: unknown;
  /** "file:line:column" of a field. */
  locate(path: Path): string;
}

export type Format = "json" | "toml" | "yaml";

const bytesMax = 32 * 1024 * 1024;

function formatOf(file: string): Format {
  if (file.endsWith(".toml")) return "toml";
  return /\.ya?ml$/.test(file) ? "yaml" : "json";
}

/** The files that match a path with a `*` as folder or name, sorted. */
export async function expandStar(path: string): Promise<string[]> {
  if (!path.includes("*")) return [path];
  const [before = "", after = ""] = path.split("*");
  const names = await readdir(dirname(join(before, "x"))).catch(() => []);
  const files = names.sort().map((name) => before + name + after);
  return after === "" ? files.filter((file) => /\.(json|ya?ml)$/.test(basename(file))) : files;
}

/** Undefined if there is no file. `project` is given for a file of a project. Throws ConfigError. */
export async function readDocument(
  file: string,
  project?: string,
): Promise<ConfigDocument | undefined> {
  const bytes = await readBytes(file, project);
  return bytes === undefined ? undefined : parseDocument(file, decode(bytes, file));
}

/** Throws ConfigError with line and column. */
export async function parseDocument(file: string, text: string): Promise<ConfigDocument> {
  const format = formatOf(file);
  if (text.trim() === "" || text === "\ufeff")
    return { file, text, format, tree: {}, locate: () => `${file}:1:1` };
  try {
    if (format === "json") return parseJson(file, text);
    if (format === "yaml") return (await import("./yaml.ts")).parseYaml(file, text);
    const { tree, locate } = parseTomlFile({ file, text });
    return { file, text, format, tree, locate };
  } catch (error) {
    if (error instanceof RangeError)
      throw new ConfigError(`${file}:1:1: nested too deeply for a config file`);
    throw error;
  }
}

export async function readBytes(file: string, project?: string): Promise<Buffer | undefined> {
  return (await readRegularFile(file, bytesMax, project))?.bytes;
}

function parseJson(file: string, text: string): ConfigDocument {
  // The mark is replaced by a space, to keep all offsets.
  const { root, locate } = parseJsonText({ file, text: text.replace(/^\ufeff/, " ") });
  return { file, text, format: "json", tree: readValue(root), locate };
}
