import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** Where other clients' files are looked for. Handed in, so that a test never reads the real home. */
export interface Machine {
  readonly platform: Platform;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** The project's folder. */
  readonly folder: string;
}

export type Platform = "linux" | "darwin" | "win32";

/** Where a file lies: the same everywhere, or by platform. `~` is the home, `.` the project, `$NAME` a variable with a usual value. */
export type PlacePath = string | Readonly<Partial<Record<Platform, string>>>;

const usualFolders: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: "~/.config",
  APPDATA: "~/AppData/Roaming",
  LOCALAPPDATA: "~/AppData/Local",
  CODEX_HOME: "~/.codex",
  COPILOT_HOME: "~/.copilot",
  CLAUDE_CONFIG_DIR: "~",
};

export function thisMachine(folder: string, env: NodeJS.ProcessEnv = process.env): Machine {
  const { platform } = process;
  return {
    platform: platform === "darwin" || platform === "win32" ? platform : "linux",
    home: env.HOME || homedir(),
    env,
    folder,
  };
}

/** The file's full path, or nothing where the platform has no such file. */
export function locatePlace(path: PlacePath, machine: Machine): string | undefined {
  const template = typeof path === "string" ? path : path[machine.platform];
  if (template === undefined) return undefined;
  const { join } = pathsOf(machine);
  const [first = "", ...rest] = template.split("/");
  return join(locateStart(first, machine), ...rest);
}

/** A path the way people say it: from the project or from home on. */
export function shorten(file: string, machine: Machine): string {
  const { sep } = pathsOf(machine);
  if (file.startsWith(machine.folder + sep)) return file.slice(machine.folder.length + 1);
  return file.startsWith(machine.home + sep) ? `~${file.slice(machine.home.length)}` : file;
}

export function pathsOf({ platform }: Machine): typeof posix {
  return platform === "win32" ? win32 : posix;
}

function locateStart(start: string, machine: Machine): string {
  if (start === "~") return machine.home;
  if (start === ".") return machine.folder;
  const name = start.slice(1);
  const given = machine.env[name];
  // The XDG rule, good for all of them: a relative path is to be ignored.
  if (given && pathsOf(machine).isAbsolute(given)) return given;
  return locatePlace(usualFolders[name] ?? "~", machine) ?? machine.home;
}
