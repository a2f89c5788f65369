import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, delimiter, join, relative, resolve } from "node:path";
import { isInside, realOf } from "../config/project-limits.ts";
import type { ServerConfig } from "../config/schema.ts";

/** Of the environment only `env` and the variables in the allow-list are passed on. */
export type ProcessSpec = Pick<
  Extract<ServerConfig, { readonly type: "stdio" }>,
  "command" | "args" | "env" | "cwd"
>;

/** Variables passed on to servers: enough to find programs, home, language, the network and caches. */
const inherited = new Set(
  `HOME LANG LANGUAGE LOGNAME PATH SHELL TERM TMPDIR TZ USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
  npm_config_cache NPM_CONFIG_CACHE UV_CACHE_DIR PIP_CACHE_DIR BUN_INSTALL_CACHE_DIR`.split(/\s+/),
);
const ofLocale = /^LC_[A-Z]+$/;
/** npm sets it for its scripts from the project's .npmrc. */
const ofNpm = /^npm_config_/i;

export function allowedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (inherited.has(entry[0]) || ofLocale.test(entry[0])),
  );
  return Object.fromEntries(
    entries.filter(([name, value]) => !(ofNpm.test(name) && isOfProject(resolve(value)))),
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
 * repository could change them after the approval. Their imports are not covered.
 */
export function projectFiles(spec: ProcessSpec): Readonly<Record<string, string>> {
  const program = realProgram(spec);
  const files = [...(program === undefined ? [] : [program]), ...findScripts(spec)];
  const own = files.filter(isOfProject);
  return Object.fromEntries(own.map((file) => [relative(process.cwd(), file), digestOf(file)]));
}

/**
 * True for a file that a repository may have brought. A home folder, or one above it, is nobody's repository and holds
 * the user's own programs.
 */
export function isOfProject(file: string): boolean {
  const folder = process.cwd();
  return !isInside(realOf(homedir()), folder) && isInside(realOf(file), folder);
}

const interpreter =
  /^(node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua|java|Rscript|pwsh|sh|bash|dash|zsh|ksh|fish)$/;
const script = /\.([cm]?[jt]sx?|py|pyz|rb|pl|php|lua|sh|bash|zsh|fish|ps1|r|jar|wasm)$/i;

/** Arguments that are run. An interpreter runs any file, so all up to its first script count. */
export function findScripts({ command, args, cwd = "" }: ProcessSpec): readonly string[] {
  const isInterpreter = interpreter.test(basename(command));
  const found: string[] = [];
  let isBefore = isInterpreter;
  for (const word of args.flatMap(wordsIn)) {
    const file = findFile(resolve(cwd, word.replace(/^-[^=]*=/, "")), isInterpreter);
    if (file === undefined) continue;
    const isScript = script.test(file) || isRunnable(file);
    if (isScript || isBefore) found.push(file);
    if (isScript) isBefore = false;
  }
  return found;
}

/** A line for a shell names its scripts in the middle; Python takes a module's name for `server/main.py`. */
function wordsIn(word: string, at: number, args: readonly string[]): readonly string[] {
  if (/\s/.test(word)) return [word, ...word.split(/[\s;&|<>()'"`]+/).filter(Boolean)];
  const path = word.replaceAll(".", "/");
  return args[at - 1] === "-m" ? [word, `${path}.py`, join(path, "__main__.py")] : [word];
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

const scriptBytesMax = 256 * 1024 * 1024;

/** In parts: a clone may hold a file of any size. Throws if it is too large to be bound. */
function digestOf(file: string): string {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (fstatSync(handle).size > scriptBytesMax)
      throw new Error(`"${file}" has more than ${scriptBytesMax / 1024 / 1024} MB`);
    const hash = createHash("sha256");
    const part = Buffer.allocUnsafe(1024 * 1024);
    for (let bytes = readSync(handle, part); bytes > 0; bytes = readSync(handle, part))
      hash.update(part.subarray(0, bytes));
    return hash.digest("hex");
  } finally {
    closeSync(handle);
  }
}

/** How long a server may take to start. */
export interface StartLimits {
  /** Handshake and first list included. */
  readonly startMs: number;
  /** For a package that the hall installs first; the start is timed after it. */
  readonly installMs: number;
  /** The program installs by itself, unseen, before it starts the server. */
  readonly mayInstall: boolean;
}

const usualMs = 20_000;
export const installMsUsual = 180_000;

/** Programs that fetch what they run, with the words that make them do it. */
const fetching: Readonly<Record<string, readonly string[]>> = {
  uvx: [],
  uv: ["tool", "run"],
  pipx: ["run"],
  docker: ["run"],
  podman: ["run"],
};

export function startLimits(config: ServerConfig): StartLimits {
  const mayInstall = config.type === "stdio" && isFetching(config.command, config.args);
  const { startTimeoutSeconds } = config;
  if (startTimeoutSeconds !== undefined) {
    const startMs = startTimeoutSeconds * 1000;
    return { startMs, installMs: startMs, mayInstall };
  }
  return { startMs: mayInstall ? installMsUsual : usualMs, installMs: installMsUsual, mayInstall };
}

function isFetching(command: string, args: readonly string[]): boolean {
  const name = basename(command);
  if (!Object.hasOwn(fetching, name)) return false;
  const words = args.filter((word) => !word.startsWith("-"));
  return (fetching[name] ?? []).every((word, at) => words[at] === word);
}
