import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, delimiter, join, relative, resolve } from "node:path";
import { isInside } from "../config/project-limits.ts";
import type { ServerConfig } from "../config/schema.ts";

/** Of the environment only `env` and the variables in the allow-list are passed on. */
export type ProcessSpec = Pick<
  Extract<ServerConfig, { readonly type: "stdio" }>,
  "command" | "args" | "env" | "cwd"
>;

/** Variables passed on to servers: enough to find programs, home and language. */
const inherited =
  "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME".split(
    " ",
  );

export function allowedEnvironment(): Record<string, string> {
  const entries = inherited.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

export function environmentOf({ env }: ProcessSpec): Record<string, string> {
  return { ...allowedEnvironment(), ...env };
}

/** The file to run, found as the system would: in the folder of the server and on its PATH. */
export function findProgram(spec: ProcessSpec): string {
  const { command, cwd = process.cwd() } = spec;
  if (!existsSync(cwd)) throw new Error(`its folder "${cwd}" was not found`);
  const { PATH = "" } = environmentOf(spec);
  const folders = command.includes("/") ? [""] : PATH.split(delimiter);
  const files = folders.map((folder) => resolve(cwd, folder, command));
  const found = files.find((file) => isRunnable(file)) ?? files.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`"${command}" was not found`);
  if (!isRunnable(found)) throw new Error(`"${found}" cannot be started: it is not executable`);
  return found;
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The program with links resolved; undefined if it is not there. */
export function realProgram(spec: ProcessSpec): string | undefined {
  try {
    return realpathSync(findProgram(spec));
  } catch {
    // Starting it reports why.
    return undefined;
  }
}

/**
 * The program and the script arguments that lie in the project, each with a digest of its contents: a
 * repository could change them after the approval. What they import is not covered.
 */
export function projectFiles(spec: ProcessSpec): Readonly<Record<string, string>> {
  const folder = process.cwd();
  // A home folder is nobody's repository, and holds the user's own programs.
  if (folder === homedir()) return {};
  const program = realProgram(spec);
  const files = [...(program === undefined ? [] : [program]), ...findScripts(spec)];
  const own = files.filter((file) => isInside(file, folder));
  return Object.fromEntries(own.map((file) => [relative(folder, file), digestOf(file)]));
}

const interpreter =
  /^(node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua|java|Rscript|pwsh|sh|bash|dash|zsh|ksh|fish)$/;
const script = /\.([cm]?[jt]sx?|py|pyz|rb|pl|php|lua|sh|bash|zsh|fish|ps1|r|jar|wasm)$/i;

/** Arguments that are run. An interpreter runs any file, so all up to its first script count. */
function findScripts({ command, args, cwd = "" }: ProcessSpec): readonly string[] {
  const isInterpreter = interpreter.test(basename(command));
  const found: string[] = [];
  let isBefore = isInterpreter;
  for (const word of args) {
    const file = findFile(resolve(cwd, word.replace(/^-[^=]*=/, "")), isInterpreter);
    if (file === undefined) continue;
    const isScript = script.test(file) || isRunnable(file);
    if (isScript || isBefore) found.push(file);
    if (isScript) isBefore = false;
  }
  return found;
}

/** Node also finds a folder's main file, and a file without its ending; Python a folder's `__main__.py`. */
function findFile(path: string, isInterpreter: boolean): string | undefined {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return realpathSync(path);
    if (!isInterpreter) return undefined;
    const main = join(path, "__main__.py");
    return realpathSync(existsSync(main) ? main : createRequire(path).resolve(path));
  } catch {
    // No file: an option, an address, a folder of data.
    return undefined;
  }
}

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
