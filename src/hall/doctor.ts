import { lstat, realpath, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Advice } from "../base/advice.ts";
import { HallError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { collectServers, type UnusableServer } from "../config/configured-servers.ts";
import type { ServerConfig } from "../config/schema.ts";
import { environmentOf, realProgram } from "../upstream/program.ts";
import { commandLine } from "../upstream/source.ts";
import { adviseUnset } from "../upstream/unusable.ts";
import { type DiscoverOptions, type Discovery, discoverApproved } from "./discover.ts";
import { findModuleFailures } from "./faults.ts";
import { findStoreProblem, recordInProject } from "./project-store.ts";
import { requireConfigured, type Settings } from "./settings.ts";

/** The checks of one server, and advice for those that failed. */
export interface ServerDiagnosis {
  readonly name: string;
  readonly ok: boolean;
  readonly checks: readonly Check[];
}

export interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly advice?: string | undefined;
  readonly next?: readonly Advice[] | undefined;
  /** The command line to try by hand. */
  readonly command?: readonly string[] | undefined;
  /** The last lines of stderr. */
  readonly stderr?: readonly string[] | undefined;
}

/** Undefined if the store is as it was written. */
export async function diagnoseStore(settings: Settings): Promise<ServerDiagnosis | undefined> {
  const problem = await findStoreProblem(settings);
  if (!problem) return undefined;
  const { message: what, hint: advice, next } = problem;
  return { name: "store", ok: false, checks: [{ what, ok: false, advice, next }] };
}

/** Undefined if every module of the project is loaded. */
export async function diagnoseModules(settings: Settings): Promise<ServerDiagnosis | undefined> {
  const failures = await findModuleFailures(settings);
  if (failures.length === 0) return undefined;
  const checks = failures.map(({ module, error, isHeld }): Check => {
    const advice = isHeld ? undefined : "Correct the file, then approve it.";
    return { what: `${module}: ${error}`, ok: false, advice, next: [{ do: "verify" }] };
  });
  return { name: "toolkits", ok: false, checks };
}

/** Checks each configured server, or those named: its entry, its program, whether it starts and lists tools. */
export async function diagnoseServers(
  settings: Settings,
  { names = [], progress }: Pick<DiscoverOptions, "names" | "progress"> = {},
): Promise<readonly ServerDiagnosis[]> {
  const { loaded } = settings;
  const configured = Object.keys(collectServers(loaded));
  for (const name of names) requireConfigured(name, loaded);
  const chosen = names.length > 0 ? names : configured;
  const servers = Object.entries(collectServers(loaded)).filter(([name]) => chosen.includes(name));
  if (servers.length === 0 && settings.config.toolkits.length === 0)
    throw new HallError("NOT_FOUND", "no servers are configured", {
      hint: "Add servers under mcpServers in guildhall.json, or import those of your clients.",
      next: [{ do: "run-command", command: "init" }],
    });
  const discoveries = await discoverApproved(settings, { names: chosen, progress });
  await recordInProject(settings, { discoveries });
  return servers.map(([name, config]) => {
    const discovery = discoveries.find((each) => each.name === name);
    const checks = checkServer(config, discovery);
    return { name, ok: checks.every(({ ok }) => ok), checks };
  });
}

/** Removes the damaged npx folders that the diagnoses name, and returns those it removed. */
export async function repairServers(
  diagnoses: readonly ServerDiagnosis[],
): Promise<readonly string[]> {
  const damaged = diagnoses
    .flatMap(({ checks }) => checks)
    .flatMap(({ stderr = [] }) => findDamagedNpx(stderr) ?? []);
  const removed: string[] = [];
  for (const folder of new Set(damaged)) if (await removeNpxFolder(folder)) removed.push(folder);
  return removed;
}

function checkServer(
  config: ServerConfig | UnusableServer,
  discovery: Discovery | undefined,
): readonly Check[] {
  if (config.type === "unusable")
    return config.problems.map((problem, at) => ({
      what: `invalid entry: ${problem}`,
      ok: false,
      // Once, below the last one.
      next: at === config.problems.length - 1 ? adviseUnset(config.unset) : undefined,
    }));
  if (config.disabled) return [{ what: "disabled in the config", ok: true }];
  const entry = checkEntry(config);
  // A program that is missing cannot start: one reason is enough.
  const canStart = entry.every(({ ok }) => ok);
  return canStart && discovery ? [...entry, ...checkDiscovery(config, discovery)] : entry;
}

function checkEntry(config: ServerConfig): readonly Check[] {
  if (config.type === "openapi") return [{ what: `API of ${config.openapi}`, ok: true }];
  if (config.type !== "stdio") return [{ what: `remote server, over ${config.type}`, ok: true }];
  const program = realProgram(config);
  const variables = Object.keys(config.env).join(", ");
  return [
    program === undefined
      ? {
          what: `program "${config.command}" not found`,
          ok: false,
          advice: `Install it, or set "command" to its full path. PATH is ${environmentOf(config).PATH}`,
        }
      : { what: `program: ${program}`, ok: true },
    { what: `environment variables: ${variables || "none needed"}`, ok: true },
  ];
}

function checkDiscovery(config: ServerConfig, discovery: Discovery): readonly Check[] {
  if ("found" in discovery) {
    const { protocol, offer } = discovery.found;
    const seconds = (discovery.ms / 1000).toFixed(1);
    const { tools, skipped = [] } = offer;
    const hasTools = tools.length > 0;
    return [
      {
        what:
          config.type === "openapi"
            ? `its document is valid (${seconds} s)`
            : `starts and speaks MCP ${protocol} (${seconds} s)`,
        ok: true,
      },
      {
        what: `lists ${plural(tools.length, "tool")}`,
        ok: hasTools,
        advice: hasTools ? undefined : "Check its arguments.",
      },
      ...skipped.map(({ name, reason }) => ({
        what: `its tool "${name}" cannot be used: ${reason}`,
        ok: false,
        advice: "Report it to the server's author.",
      })),
    ];
  }
  const { reason, isDenied, isInstalling, next, stderr } = discovery;
  // Running it by hand would not help: a person must approve it or log in first.
  if (isDenied) return [{ what: `it ${reason}`, ok: false, next }];
  if (isInstalling) return [{ what: reason, ok: false, advice: "Check again in a minute." }];
  const damaged = findDamagedNpx(stderr);
  if (damaged !== undefined)
    return [
      {
        what: `npx left a damaged folder: ${damaged}`,
        ok: false,
        advice: "An installation was interrupted. Remove the folder, and npx installs it again.",
        next: [{ do: "run-command", command: "doctor --fix" }],
        stderr,
      },
    ];
  return [
    config.type === "stdio"
      ? { what: reason, ok: false, command: commandLine(config), stderr }
      : { what: reason, ok: false, advice: adviceOf(config) },
  ];
}

function adviceOf({ type }: ServerConfig): string {
  return type === "openapi"
    ? 'Check "openapi" and "baseUrl" in its entry.'
    : 'Check "url" in its entry.';
}

/** The npx folder whose package lacks a module, as the last lines of a server say. */
export function findDamagedNpx(stderr: readonly string[]): string | undefined {
  const text = stderr.join("\n");
  if (!/ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|Cannot find (package|module)/.test(text))
    return undefined;
  return /(?:file:\/\/)?((?:[A-Za-z]:)?[^\s'"()]*[\\/]_npx[\\/][0-9a-f]{16})(?![0-9a-f])/.exec(
    text,
  )?.[1];
}

/**
 * Removes the folder of one package from the npx cache of this user. The path comes from a server's output, so
 * anything else is left alone. Returns whether it was removed.
 */
export async function removeNpxFolder(
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const cache = env.npm_config_cache ?? defaultCache(env);
  const [own, parent, entry] = await Promise.all([
    realpath(join(cache, "_npx")).catch(() => undefined),
    realpath(dirname(folder)).catch(() => undefined),
    lstat(folder).catch(() => undefined),
  ]);
  const isName = /^[0-9a-f]{16}$/.test(basename(folder));
  if (own === undefined || own !== parent || !isName || !entry?.isDirectory()) return false;
  await rm(join(own, basename(folder)), { recursive: true });
  return true;
}

function defaultCache({ LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  return process.platform === "win32" && LOCALAPPDATA
    ? join(LOCALAPPDATA, "npm-cache")
    : join(homedir(), ".npm");
}
