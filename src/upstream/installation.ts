import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { cacheFolder, makePrivateFolder } from "../base/files.ts";
import { hashOf, isObject, type JsonObject } from "../base/json.ts";
import type { Slots } from "../base/one-at-a-time.ts";
import type { Scope } from "../base/scope.ts";
import type { InstalledPackage } from "../trust/review.ts";
import type { CarrierOptions } from "./carrier.ts";
import type { ProgramRun } from "./gate.ts";
import { readInstallation, readInstallerLog, startInstaller } from "./installer.ts";
import type { Launch, Manager } from "./launcher.ts";
import { installMsUsual } from "./program.ts";
import type { BoxPlan } from "./sandbox/box.ts";
import { boxInstaller } from "./sandbox/install.ts";
import { uvInstallation, uvPrograms } from "./uv.ts";

/** How a server's package is installed, and for whom. */
export interface Installing {
  /** How long a start waits for the installation. */
  readonly installMs: number;
  /** Limits how many run at once. */
  readonly slots?: Slots | undefined;
  /** True from the beginning of an installation to its end, also if the start no longer waits for it. */
  changed(isInstalling: boolean): void;
}

/** `box` confines the installation, too. */
export interface InstallOptions
  extends Pick<CarrierOptions, "installing" | "printed" | "checkPackage" | "box"> {
  readonly scope: Scope;
}

/** Installs the package where needed and returns its program. The clock of the start is paused meanwhile. */
export async function prepareLaunch(
  launch: Launch,
  cwd: string | undefined,
  options: InstallOptions,
): Promise<ProgramRun> {
  const folder = await options.scope.pauseWhile(() => install(launch, options));
  const installed = readInstalled(folder);
  if (installed) options.checkPackage?.(installed);

  const bins = launch.manager === "uv" ? uvPrograms(folder) : join(folder, "node_modules", ".bin");
  const program = join(bins, launch.bin ?? findBin(folder));
  const env = { ...launch.env, PATH: [bins, launch.env.PATH].join(delimiter) };
  return launch.usesBun
    ? { program: launch.program, args: ["--bun", program, ...launch.args], env, cwd }
    : { program, args: launch.args, env, cwd };
}

/** The package as this machine has it now; undefined if it is not installed. */
export function findInstalled(launch: Launch): InstalledPackage | undefined {
  return readInstalled(folderOf(launch));
}

function folderOf({ manager, options, packages }: Launch): string {
  const name = hashOf([manager, options, packages]).slice(0, folderCharacters);
  return join(cacheFolder(), "packages", name);
}

/** The names of drafts are longer. */
const folderCharacters = 32;

/** A package without an exact version is looked up again after this time, as other launchers do. */
const freshMsMax = 24 * 60 * 60_000;

/** A newer version is waited for no longer than this; it is used at the next start. */
const refreshMsMax = 20_000;

async function install(launch: Launch, options: InstallOptions): Promise<string> {
  const { scope, printed, installing } = options;
  const folder = folderOf(launch);
  const installedAt = statSync(join(folder, "package.json"), { throwIfNoEntry: false })?.mtimeMs;
  const isFresh = launch.isExact || Date.now() - (installedAt ?? 0) < freshMsMax;
  if (installedAt !== undefined && isFresh) return folder;

  makePrivateFolder(dirname(folder));
  const release = await installing?.slots?.take();
  try {
    if (scope.cancelReason) throw scope.cancelReason;
    const waitMs = installing?.installMs ?? installMsUsual;
    installing?.changed(true);
    await runManager(launch, folder, {
      ...options,
      waitMs: installedAt === undefined ? waitMs : Math.min(waitMs, refreshMsMax),
    });
    installing?.changed(false);
  } catch (error) {
    const isUsable = installedAt !== undefined && !scope.cancelReason;
    installing?.changed(!isUsable && error instanceof StillInstalling);
    if (!isUsable) throw error;
    printed?.(`${messageOf(error)}; the installed version is used`);
  } finally {
    release?.();
  }
  return folder;
}

class StillInstalling extends Error {}

const installWords: Readonly<Record<Exclude<Manager, "uv">, readonly string[]>> = {
  npm: ["install", "--save", "--no-audit", "--no-fund"],
  pnpm: ["add", "--ignore-workspace"],
  bun: ["add"],
};

function commandOf({
  manager,
  program,
  options,
  packages,
}: Launch): Pick<ProgramRun, "program" | "args"> {
  if (manager === "uv") return uvInstallation(program, options, packages);
  return { program, args: [...installWords[manager], ...options, ...packages] };
}

const pollMs = 100;

/** Joins the installation that runs, or begins one; uses its result. If a joined one fails, begins another. */
async function runManager(
  launch: Launch,
  folder: string,
  { scope, printed, waitMs, box }: InstallOptions & { readonly waitMs: number },
): Promise<void> {
  const draft = `${folder}-draft`;
  let isOurs = await begin(launch, draft, box);
  const endsAt = performance.now() + waitMs;
  let log = "";
  for (;;) {
    const { kind } = readInstallation(draft);
    log = readInstallerLog(draft) || log;
    if (kind === "failed") {
      if (isOurs) break;
      isOurs = await begin(launch, draft, box);
      continue;
    }
    // None: another hall has taken the draft and moves it into place.
    const isUsed = kind === "done" ? await replaceFolder(folder, draft) : existsSync(folder);
    if (kind !== "running" && isUsed) return;
    if (scope.cancelReason) throw scope.cancelReason;
    if (performance.now() >= endsAt)
      throw new StillInstalling(
        `still installing after ${waitMs / 1000} s; the installation continues in the background`,
      );
    await sleep(pollMs);
  }

  await discard(draft);
  if (printed) for (const line of log.trim().split("\n")) printed(line);
  const what = `${launch.manager} could not install ${launch.packages.join(" ")}`;
  throw new Error(`${what}: ${summarise(log) || "it was ended"}`);
}

/** False if an installation of this package runs already. */
async function begin(launch: Launch, draft: string, box: BoxPlan | undefined): Promise<boolean> {
  if (readInstallation(draft).kind === "failed") await discard(draft);
  if (!(await makeDraft(draft))) return false;
  void removeLeftovers(dirname(draft));
  const run = { ...commandOf(launch), env: launch.env, cwd: draft };
  startInstaller(box ? boxInstaller(run, launch, box) : run);
  return true;
}

/** False if an installation of this package is there already, perhaps of another hall. */
async function makeDraft(draft: string): Promise<boolean> {
  try {
    await mkdir(draft, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  // Ends the search for a project in the folders above.
  await writeFile(join(draft, "package.json"), "{}\n");
  return true;
}

/** Only one hall gets the draft: a rename takes it away from the others. */
async function takeDraft(draft: string): Promise<string | undefined> {
  const own = `${draft}-${randomUUID()}`;
  try {
    await rename(draft, own);
    return own;
  } catch {
    // Another hall was faster.
    return undefined;
  }
}

async function discard(draft: string): Promise<void> {
  const own = await takeDraft(draft);
  if (own !== undefined) await rm(own, { recursive: true, force: true });
}

/** False if another hall does it. */
async function replaceFolder(folder: string, draft: string): Promise<boolean> {
  const own = await takeDraft(draft);
  if (own === undefined) return false;
  const old = `${own}-old`;
  await rename(folder, old).catch(() => {
    // The first installation.
  });
  await rename(own, folder).catch((error: NodeJS.ErrnoException) => {
    // Another process has just installed the same.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
  await rm(old, { recursive: true, force: true });
  await rm(own, { recursive: true, force: true });
  return true;
}

/** Drafts that a killed hall or installation left behind and that no process resumed. */
async function removeLeftovers(packages: string): Promise<void> {
  const names = (await readdir(packages)).filter((name) => name.length > folderCharacters);
  for (const path of names.map((name) => join(packages, name))) {
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > freshMsMax)
      await rm(path, { recursive: true, force: true }).catch(() => {
        // Another hall removes it, or it cannot be removed; it does no harm.
      });
  }
}

const errorCharactersMax = 500;

function summarise(errors: string): string {
  const lines = errors
    .split("\n")
    .map((line) => line.replace(/^npm (error|ERR!) ?/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("A complete log"));
  // npm adds four lines of general advice, each after the number.
  const missing = lines.find((line) => line.startsWith("404 Not Found"));
  if (missing !== undefined)
    return `the registry does not have it, or does not show it to you (${missing})`;
  return lines.join("; ").slice(0, errorCharactersMax);
}

/** The first package of the folder. */
function readInstalled(folder: string): InstalledPackage | undefined {
  const name = Object.keys(objectAt(readJson(folder, "package.json"), "dependencies"))[0];
  if (name === undefined) return undefined;
  const { version } = readJson(folder, "node_modules", name, "package.json");
  const locked = objectAt(readJson(folder, "node_modules", ".package-lock.json"), "packages");
  const { integrity } = objectAt(locked, `node_modules/${name}`);
  return typeof version === "string"
    ? { name, version, integrity: typeof integrity === "string" ? integrity : undefined }
    : undefined;
}

/** The rule of npx: the only program, or the one with the package's name. */
function findBin(folder: string): string {
  const { name = "" } = readInstalled(folder) ?? {};
  const { bin } = readJson(folder, "node_modules", name, "package.json");
  const own = name.replace(/^@[^/]*\//, "");
  const names = typeof bin === "string" ? [own] : Object.keys(isObject(bin) ? bin : {});
  const chosen = names.length === 1 ? names[0] : names.find((candidate) => candidate === own);
  if (chosen !== undefined) return chosen;
  throw new Error(
    names.length === 0
      ? `the package "${name}" has no program`
      : `the package "${name}" has several programs (${names.join(", ")}); name one with --package`,
  );
}

function readJson(...path: readonly string[]): JsonObject {
  try {
    const value: unknown = JSON.parse(readFileSync(join(...path), "utf8"));
    return isObject(value) ? value : {};
  } catch {
    // Not installed, or by another package manager.
    return {};
  }
}

function objectAt(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  return isObject(found) ? found : {};
}
