import { accessSync, constants } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { environmentOf, findProgram, isOfProject, type ProcessSpec } from "./program.ts";

/**
 * `npx`, `pnpm dlx` and `bunx` take packages, programs and settings from the folder they are started in, which may be
 * a clone's. So the hall does their work in two steps: it installs the package into a folder of its own, and runs the
 * program of the package in the server's folder. `uvx` reads no settings of the folder it runs in; it is taken apart
 * only for a sandbox (uv.ts).
 */
export interface Launch {
  readonly manager: Manager;
  /** The package manager's program. */
  readonly program: string;
  /** Options for the installation. */
  readonly options: readonly string[];
  readonly packages: readonly string[];
  /** One version and no other. */
  readonly isExact: boolean;
  /** The program of the package. Default: its only one, or the one with the package's name. */
  readonly bin: string | undefined;
  /** Run the program with Bun, whatever it asks for. */
  readonly usesBun: boolean;
  readonly args: readonly string[];
  /** Without folders of the project on PATH. */
  readonly env: Readonly<Record<string, string>>;
}

export type Manager = NodeManager | "uv";
type NodeManager = "npm" | "pnpm" | "bun";

const launchers: Readonly<Record<string, NodeManager>> = { npx: "npm", pnpx: "pnpm", bunx: "bun" };
const verbs: Readonly<Record<NodeManager, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["dlx"],
  bun: ["x"],
};

/** Undefined for any other program. Throws if the command line cannot be understood. */
export function findLaunch(spec: ProcessSpec): Launch | undefined {
  const found = findManager(spec);
  if (!found) return undefined;
  const launcher = findProgram(spec);
  // A program of the project is approved with its contents and runs as it is.
  if (isOfProject(launcher)) return undefined;

  const { manager, words } = found;
  const program = join(dirname(launcher), manager);
  if (!isRunnable(program)) throw new Error(`"${manager}" was not found beside "${launcher}"`);
  const { packages, command, ...rest } = parseWords(words, basename(spec.command));
  const wanted = packages.length > 0 ? packages : [command];
  return {
    manager,
    program,
    packages: wanted.map((name) => resolveLocal(name, spec)),
    isExact: wanted.every((name) => /.@\d+\.\d+\.\d+[\w.+-]*$/.test(name)),
    bin: packages.length > 0 ? command : undefined,
    env: withoutProject(environmentOf(spec)),
    ...rest,
  };
}

function findManager({
  command,
  args,
}: ProcessSpec): { readonly manager: NodeManager; readonly words: readonly string[] } | undefined {
  const name = basename(command);
  if (Object.hasOwn(launchers, name))
    return { manager: launchers[name] as NodeManager, words: args };
  if (!Object.hasOwn(verbs, name)) return undefined;
  const manager = name as NodeManager;
  const at = args.findIndex((word) => !word.startsWith("-"));
  return verbs[manager].includes(args[at] ?? "")
    ? { manager, words: args.toSpliced(at, 1) }
    : undefined;
}

const withoutMeaning = new Set(["-y", "--yes"]);
const switches = new Set(
  "-q --quiet -s --silent -d --verbose --prefer-offline --prefer-online --offline --ignore-scripts".split(
    " ",
  ),
);

interface Words extends Pick<Launch, "options" | "usesBun" | "args" | "packages"> {
  readonly command: string;
}

function parseWords(words: readonly string[], launcher: string): Words {
  const options: string[] = [];
  const packages: string[] = [];
  let usesBun = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "-p" || word === "--package") packages.push(words[++at] ?? "");
    else if (/^(-p|--package)=/.test(word)) packages.push(word.slice(word.indexOf("=") + 1));
    else if (word === "--bun") usesBun = true;
    else if (switches.has(word) || /^--[\w-]+=/.test(word)) options.push(word);
    else if (word === "--" || !word.startsWith("-")) {
      const [command, ...args] = words.slice(word === "--" ? at + 1 : at);
      if (!command) break;
      return { options, packages, usesBun, command, args };
    } else if (!withoutMeaning.has(word)) {
      throw new Error(
        `the option "${word}" of ${launcher} is not supported; write one with a value as "${word}=VALUE"`,
      );
    }
  }
  throw new Error(`${launcher} names no package`);
}

/** A file or folder instead of a package of a registry. */
const local = /^(file:|~\/|\.{0,2}\/|\.{1,2}$)|^[^:@]*\.(tgz|tar\.gz)$/;

/** The installation runs in another folder. A package of the project could be edited after the approval. */
function resolveLocal(name: string, { cwd = "" }: ProcessSpec): string {
  if (!local.test(name)) return name;
  const path = resolve(cwd, name.replace(/^file:(\/\/)?/, ""));
  if (isOfProject(path))
    throw new Error(`"${name}" is a package of the project; set "command" to its program instead`);
  return path;
}

/** Programs of a package are often scripts for the `node` on PATH. */
export function withoutProject(
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const folders = (env.PATH ?? "").split(delimiter);
  const PATH = folders
    .filter((folder) => folder !== "" && !isOfProject(resolve(folder)))
    .join(delimiter);
  return { ...env, PATH };
}

export function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
