import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { cacheFolder, dataFolder } from "../../base/files.ts";
import { isInside, realOf } from "../../config/project-limits.ts";
import type { ServerConfig } from "../../config/schema.ts";
import type { SandboxRights } from "../../trust/ledger.ts";
import type { ProgramRun } from "../gate.ts";
import { findScripts, type ProcessSpec } from "../program.ts";
import { findNamed } from "./named.ts";
import { noRights } from "./policy.ts";

export type StdioConfig = Extract<ServerConfig, { readonly type: "stdio" }>;

/** The rights of one server in its sandbox: the files it can read and write, and the hosts it can reach. */
export interface Profile extends SandboxRights {
  readonly home: string;
  /** The private folder that the server sees as its home. */
  readonly state: string;
  /** The project's folder, readable except for `.env` files; undefined if it is the home folder or contains it. */
  readonly project: string | undefined;
  /** Hidden although a readable folder may contain them: Guildhall's own folders and the project's `.env` files. */
  readonly hidden: readonly string[];
  /** Sentences about paths that the config entry names but the server cannot use, with the reason. */
  readonly withheld: readonly string[];
  /** The variables of the hall's environment that the server gets; undefined for the usual ones. */
  readonly env: readonly string[] | undefined;
  readonly memoryMb: number;
  readonly cpuSeconds: number | undefined;
}

const memoryMbUsual = 4_096;

export function createProfile(
  name: string,
  config: StdioConfig,
  learned: SandboxRights = noRights,
): Profile {
  const project = process.cwd();
  const home = homedir();
  const given = typeof config.sandbox === "object" ? config.sandbox : undefined;
  const named = findNamed(config, { home, isOurs });
  const isWide = isInside(realOf(home), realOf(project));
  const at = (path: string): string => resolve(project, expandHome(path, home));
  return {
    home,
    state: stateFolder(name, project),
    project: isWide ? undefined : project,
    hidden: isWide ? ourFolders() : [...ourFolders(), ...projectSecrets(project)],
    read: unique([...(given?.read ?? []).map(at), ...learned.read]),
    write: unique([...named.write, ...(given?.write ?? []).map(at), ...learned.write]),
    hosts: unique([...named.hosts, ...(given?.network.allow ?? []), ...learned.hosts]),
    withheld: named.withheld,
    env: given?.env,
    memoryMb: given?.memoryMb ?? memoryMbUsual,
    cpuSeconds: given?.cpuSeconds,
  };
}

/** The folder that the server sees as its home: the same at each start, and different for each server and project. */
function stateFolder(name: string, project: string): string {
  const id = createHash("sha256").update(realOf(project)).digest("hex").slice(0, 16);
  return join(dataFolder(), "servers", id, name);
}

/** Guildhall's own folders: keys, approvals, logs, sockets, packages and the state of other servers. */
function ourFolders(): readonly string[] {
  const runtime = process.env.XDG_RUNTIME_DIR;
  return [
    dataFolder(),
    cacheFolder(),
    join(process.cwd(), ".guildhall"),
    ...(runtime ? [join(runtime, "guildhall")] : []),
  ];
}

export function isOurs(path: string): boolean {
  return ourFolders().some((folder) => isInside(realOf(path), realOf(folder)));
}

function projectSecrets(project: string): readonly string[] {
  return readdirSync(project)
    .filter((name) => /^\.env($|\.)/.test(name))
    .map((name) => join(project, name));
}

/** The files of the server itself: its package, its interpreter, and the programs on its PATH. */
export function ownFiles(spec: ProcessSpec, run: ProgramRun): readonly string[] {
  const home = realOf(homedir());
  const isWide = (folder: string): boolean =>
    isInside(home, realOf(folder)) || folder === realOf(tmpdir());
  const programs = [run.program, process.execPath].flatMap((file) => [file, realOf(file)]);
  const packages = [...programs, ...run.args.filter((word) => existsSync(word)).slice(0, 1)]
    .concat(findScripts(spec))
    .filter((file) => script.test(file) || file.includes("/node_modules/"))
    .flatMap((file) => packageOf(file, isWide));
  const certificates = Object.entries(run.env)
    .filter(([name]) => certificateNames.has(name))
    .map(([, file]) => file);
  const path = (run.env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  const all = [...programs.flatMap(installationOf), ...packages, ...certificates, ...path];
  return unique(all).filter(
    (file) => existsSync(file) && (statSync(file).isFile() || !isWide(file)) && !isKey(file, home),
  );
}

const certificateNames = new Set(
  "NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE".split(" "),
);

const script = /\.([cm]?[jt]s|py|pyz|rb|pl|php|lua|sh|jar|wasm)$/i;

/** Folders with keys stay closed even if PATH names them. */
function isKey(file: string, home: string): boolean {
  return /^\.(ssh|gnupg|aws|kube|docker)(\/|$)/.test(file.slice(home.length + 1));
}

/** A program with its libraries, such as `bin/node` and `lib`; of a Python virtual environment, the whole folder. */
function installationOf(program: string): readonly string[] {
  const folder = dirname(program);
  const above = dirname(folder);
  if (existsSync(join(above, "pyvenv.cfg"))) {
    const python = realOf(join(folder, "python"));
    return [above, ...(isInside(python, above) ? [] : installationOf(python))];
  }
  return basename(folder) === "bin"
    ? [folder, join(above, "lib"), join(above, "lib64"), join(above, "libexec")]
    : [program];
}

/** The folder of a script's package, and the `node_modules` folders with its dependencies. */
function packageOf(file: string, isWide: (folder: string) => boolean): readonly string[] {
  const above: string[] = [];
  for (let at = dirname(file); at !== dirname(at) && !isWide(at); at = dirname(at)) above.push(at);
  const root = above.find((folder) =>
    ["package.json", "pyproject.toml", "pyvenv.cfg"].some((name) => existsSync(join(folder, name))),
  );
  const modules = above
    .map((folder) => join(folder, "node_modules"))
    .filter((it) => existsSync(it));
  const inModules = file.indexOf("/node_modules/");
  if (inModules > 0) return [file.slice(0, inModules + "/node_modules".length), ...modules];
  return [root ?? above[0] ?? file, ...modules];
}

function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

function unique(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}

/** The profile in plain words, such as "reads ~/notes" and "connects to api.github.com". */
export function describeProfile(profile: Profile): readonly string[] {
  const { read, write, hosts, withheld, cpuSeconds, home } = profile;
  const list = (paths: readonly string[]): string =>
    paths.map((path) => describePath(path, home)).join(", ");
  return [
    ...(read.length > 0 ? [`reads ${list(read)}`] : []),
    ...(write.length > 0 ? [`writes ${list(write)}`] : []),
    hosts.length > 0 ? `connects to ${hosts.join(", ")}` : "no network",
    ...(cpuSeconds === undefined ? [] : [`at most ${cpuSeconds} s of CPU time`]),
    ...withheld,
  ];
}

/** A path for people: relative to the project or to the home folder, where it lies in one of them. */
export function describePath(path: string, home: string = homedir()): string {
  const project = process.cwd();
  if (path === project) return "this project";
  if (isInside(path, project)) return `./${path.slice(project.length + 1)}`;
  return isInside(path, home) ? `~${path.slice(home.length)}` : path;
}
