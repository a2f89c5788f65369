import { HallError } from "../base/errors.ts";
import {
  createLog,
  type Log,
  type LogLevel,
  type LogSink,
  parseLogLevel,
  Secrets,
} from "../base/log.ts";
import { ConfigError } from "../config/error.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import type { Config, PartialConfig } from "../config/schema.ts";
import { type FaceChoice, parseFaces } from "../server/faces.ts";

/** The flags that the long-running commands share. A flag that is not given leaves the config's value. */
export interface SettingsOptions {
  readonly expose?: string;
  readonly logLevel?: string;
  /** Read instead of the project's file. */
  readonly projectFile?: string | undefined;
  /** Where the log goes. Default: stderr, in lines for people where that is a terminal. */
  readonly sink?: LogSink;
  /** The log is JSON, at a terminal too. */
  readonly json?: boolean;
}

/** What a long-running command starts with: the config of the folder it runs in, and the log that goes with it. */
export interface Settings {
  readonly config: Config;
  readonly loaded: LoadedConfig;
  /** Loads the same layers again, for hot reload. */
  load(): Promise<LoadedConfig>;
  readonly faces: FaceChoice;
  readonly log: Log;
  readonly secrets: Secrets;
}

/** `quiet` is the log level where neither flag nor config says one. */
export async function loadSettings(
  options: SettingsOptions,
  quiet: LogLevel,
  flags: PartialConfig = {},
): Promise<Settings> {
  const level = options.logLevel === undefined ? undefined : parseLogLevel(options.logLevel);
  const given = options.expose === undefined ? undefined : parseFaces(options.expose);
  const secrets = new Secrets();
  const load = async (): Promise<LoadedConfig> => {
    const next = await loadConfig({
      folder: process.cwd(),
      flags,
      projectFile: options.projectFile,
    });
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
  warnOf(loaded, log);
  return { config, loaded, load, faces: given ?? facesOf(config), log, secrets };
}

async function openStderr({ json = false }: SettingsOptions): Promise<LogSink> {
  if (json || !process.stderr.isTTY) return process.stderr;
  const { createLineSink } = await import("./log-lines.ts");
  return createLineSink(process.stderr, process.env.NO_COLOR === undefined);
}

/** What was accepted without having an effect, and the servers that cannot be used. */
export function warnOf({ warnings, unusable }: LoadedConfig, log: Log): void {
  for (const warning of warnings) log.warn(warning);
  for (const [name, { problems }] of Object.entries(unusable))
    for (const problem of problems)
      log.warn({ upstream: name }, `${name} cannot be used: ${problem}`);
}

function facesOf({ expose }: Config): FaceChoice {
  if (expose === undefined) return "auto";
  try {
    return parseFaces(expose);
  } catch (error) {
    throw error instanceof HallError
      ? new ConfigError(`config: expose: ${error.message}; change it`)
      : error;
  }
}

/** An uncaught error must not end every client's connection: it is logged, and the hall keeps running. */
function logUncaught(log: Log): void {
  process.on("uncaughtException", (err) => log.error({ err }, "uncaught exception"));
  process.on("unhandledRejection", (err) => log.error({ err }, "unhandled rejection"));
}
