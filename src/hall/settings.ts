import { dirname } from "node:path";
import { HallError } from "../base/errors.ts";
import {
  createLog,
  type HallLogLevel,
  type Log,
  type LogSink,
  parseLogLevel,
  Secrets,
  stderrLines,
} from "../base/log.ts";
import { findNear } from "../base/text.ts";
import { type ConfiguredServers, collectServers } from "../config/configured-servers.ts";
import { ConfigError } from "../config/error.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import type { Config, PartialConfig, ServerConfig } from "../config/schema.ts";
import { type FaceChoice, parseFaces } from "../server/faces.ts";
import type { Presets } from "../server/rights.ts";
import type { TrustSettings } from "../trust/easing.ts";

/** Flags of the long-running commands. A missing flag leaves the config's value. */
export interface SettingsOptions {
  /** The project's. Default: the working directory. */
  readonly folder?: string;
  readonly expose?: string;
  readonly logLevel?: string;
  /** Read instead of the project's file. */
  readonly projectFile?: string | undefined;
  /** Default: stderr, as readable lines in a terminal. */
  readonly sink?: LogSink;
  /** Log JSON even in a terminal. */
  readonly json?: boolean;
}

/** The config of a project folder, and its log. */
export interface Settings {
  readonly folder: string;
  readonly config: Config;
  readonly loaded: LoadedConfig;
  /** Loads the same layers again, for hot reload. */
  load(): Promise<LoadedConfig>;
  readonly faces: FaceChoice;
  readonly log: Log;
  readonly secrets: Secrets;
}

/** `quiet` is the log level if neither flag nor config sets one. */
export async function loadSettings(
  options: SettingsOptions,
  quiet: HallLogLevel,
  flags: PartialConfig = {},
): Promise<Settings> {
  const level = options.logLevel === undefined ? undefined : parseLogLevel(options.logLevel);
  const { expose } = options;
  // A mistake in the flag is not one in the config.
  if (expose !== undefined) parseFaces(expose);
  const secrets = new Secrets();
  const folder = options.folder ?? process.cwd();
  const load = async (): Promise<LoadedConfig> => {
    const next = await loadConfig({
      folder,
      flags: expose === undefined ? flags : { ...flags, expose },
      projectFile: options.projectFile,
    });
    facesOf(next.config);
    for (const value of next.secrets) secrets.add(value);
    return next;
  };
  const loaded = await load();
  const { config } = loaded;
  const log = createLog({
    level: level ?? config.log.level ?? quiet,
    secrets,
    sink: options.sink ?? (await openStderr(options)),
  });
  logUncaught(log);
  logWarnings(loaded, log);
  return { folder, config, loaded, load, faces: facesOf(config), log, secrets };
}

/** True if the folder has a config of its own. */
export function hasProjectFile({ folder, loaded }: Pick<Settings, "folder" | "loaded">): boolean {
  return loaded.files.some((file) => dirname(file) === folder);
}

export function trustSettingsOf({ trust }: Config): TrustSettings {
  const { policy, servers: policies, tools: overrides, unguarded } = trust;
  return { policy, policies, overrides, unguarded };
}

/** The tools of each preset. */
export function presetsOf({ presets, mcpServers }: Config): Presets {
  const all = (server: string): string => `${mcpServers[server]?.prefix ?? server}.*`;
  const entries = Object.entries(presets).map(([name, { servers, tools }]) => [
    name,
    [...servers.map(all), ...tools],
  ]);
  return Object.fromEntries(entries);
}

async function openStderr({ json = false }: SettingsOptions): Promise<LogSink> {
  if (json || !process.stderr.isTTY) return stderrLines();
  const { createLineSink } = await import("./log-lines.ts");
  return createLineSink(process.stderr, process.env.NO_COLOR === undefined);
}

/** Logs settings without effect, and servers that cannot be used. */
export function logWarnings({ warnings, unusable }: LoadedConfig, log: Log): void {
  for (const warning of warnings) log.warn(warning);
  for (const [name, { problems }] of Object.entries(unusable))
    for (const problem of problems)
      log.warn({ upstream: name }, `${name} cannot be used: ${problem}`);
}

/** Throws ConfigError. */
export function facesOf({ expose }: Config): FaceChoice {
  if (expose === undefined) return "auto";
  try {
    return parseFaces(expose);
  } catch (error) {
    throw error instanceof HallError ? new ConfigError(`config: expose: ${error.message}`) : error;
  }
}

let uncaughtLog: Log | undefined;

/** An uncaught error must not end every client's connection: it is logged, and the hall keeps running. */
function logUncaught(log: Log): void {
  if (!uncaughtLog) {
    process.on("uncaughtException", (err) => uncaughtLog?.error({ err }, "uncaught exception"));
    process.on("unhandledRejection", (err) => uncaughtLog?.error({ err }, "unhandled rejection"));
  }
  uncaughtLog = log;
}

/** The entry of one server. Throws NOT_FOUND with near names, UNAVAILABLE for an invalid entry. */
export function getServer(name: string, loaded: LoadedConfig): ServerConfig {
  const server = requireConfigured(name, loaded);
  if (server.type === "unusable")
    throw new HallError("UNAVAILABLE", `${name} cannot be used: ${server.problems.join("; ")}`, {
      hint: "Correct its entry in the config first.",
    });
  return server;
}

/** The same, but an invalid entry counts. */
export function requireConfigured(name: string, loaded: LoadedConfig): ConfiguredServers[string] {
  const servers = collectServers(loaded);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server) return server;
  const names = Object.keys(servers);
  throw unknownName("server", name, names, "See your servers with `guildhall list`.");
}

/** NOT_FOUND with the names most like it, else with all. */
export function unknownName(
  what: string,
  name: string,
  known: readonly string[],
  hint?: string,
): HallError {
  const near = findNear(name, known);
  const options = hint === undefined ? {} : { hint };
  const message = `unknown ${what} "${name}"`;
  if (near.length > 0)
    return new HallError("NOT_FOUND", `${message}; did you mean ${near.join(", ")}?`, options);
  const expected = known.length > 0 ? ` (expected: ${known.join(", ")})` : "";
  return new HallError("NOT_FOUND", `${message}${expected}`, options);
}

/** The tools a name may mean: the one with this full name, also written with `__`, else all with this bare name. */
export function matchTools(name: string, names: readonly string[]): readonly string[] {
  const dotted = name.replace("__", ".");
  const exact = names.find((each) => each === name || each === dotted);
  if (exact !== undefined) return [exact];
  return names.filter((each) => each.split(".").slice(1).join(".") === name);
}
