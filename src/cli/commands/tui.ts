import { Console } from "node:console";
import { closeSync, existsSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { Writable } from "node:stream";
import { HallError } from "../../base/errors.ts";
import type { LogSink } from "../../base/log.ts";
import { makeOwnFolder, openOwnFile } from "../../base/own-folder.ts";
import { loadSettings, type Settings } from "../../hall/settings.ts";
import type { ClientConfig, Target } from "../../tui/target.ts";

export interface TuiOptions {
  /** A file with `[mcp]`, read instead of the project's. */
  readonly config?: string;
  readonly command?: string;
  readonly endpoint?: string;
  readonly timeout?: string;
  readonly logLevel?: string;
}

/** The terminal client: of the project's hall, or of the server that flags or config name. */
export async function runTui(args: readonly string[], options: TuiOptions): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw new HallError("INVALID_PARAMS", "guildhall tui needs a terminal", {
      hint: "`guildhall spec`, `guildhall call` and `guildhall ask` do without.",
    });
  // Most of the start is theirs: they load while the config is read.
  const loading = Promise.all([import("../../tui/session.ts"), import("../../tui/show.ts")]);
  const folder = process.cwd();
  const sink = openLogFile(folder);
  // The screen is ours, whatever a library prints.
  globalThis.console = new Console(
    new Writable({
      write: (text: Buffer, _encoding, done) => done(void sink.write(text.toString())),
    }),
  );
  const settings = await loadSettings(
    { ...options, projectFile: findConfigFile(options.config), sink },
    "warn",
  );
  const target = await openTarget(args, options, { folder, settings });
  const [{ createTuiSession }, { showTui }] = await loading;
  const session = createTuiSession({
    target,
    size: { columns: stdout.columns || 80, rows: stdout.rows || 24 },
    secrets: settings.secrets,
    timeoutMs: secondsOf(options.timeout, settings) * 1000,
    planner: settings.config.planner,
  });
  try {
    await showTui({ session, stdin, stdout, env: process.env });
  } finally {
    await session.close();
  }
}

/** The log has a file: stderr is the same screen. Made with the first line. */
function openLogFile(folder: string): LogSink {
  return {
    write(text) {
      try {
        const file = openOwnFile(join(makeOwnFolder(folder, ".guildhall", "logs"), "tui.log"));
        writeSync(file, text);
        closeSync(file);
      } catch {
        // A log that cannot be written stops nobody.
      }
    },
  };
}

function findConfigFile(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const file = resolve(given);
  if (!existsSync(file))
    throw new HallError("INVALID_PARAMS", `${given} is not there`, {
      hint: "Give the path of a config file with an [mcp] section.",
    });
  return file;
}

function secondsOf(given: string | undefined, { config }: Settings): number {
  if (given === undefined) return config.mcp?.timeout ?? 60;
  const seconds = Number(given);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 600) return seconds;
  throw new HallError("INVALID_PARAMS", `--timeout ${given}: expected whole seconds from 1 to 600`);
}

interface Place {
  readonly folder: string;
  readonly settings: Settings;
}

async function openTarget(
  args: readonly string[],
  options: TuiOptions,
  place: Place,
): Promise<Target> {
  const given = readFlags(args, options);
  const config = given ?? place.settings.config.mcp;
  if (!config || (config.command === undefined && config.endpoint === undefined))
    return (await import("./tui-hall.ts")).openHallTarget(place);
  const { folder, settings } = place;
  if (!given && options.config === undefined) {
    const { requireConsent } = await import("./tui-consent.ts");
    await requireConsent(config, { file: settings.loaded.files.at(-1), folder, log: settings.log });
  }
  return (await import("../../tui/target.ts")).createServerTarget(config, {
    folder,
    log: settings.log,
  });
}

/** Undefined when the command line names no server. Throws INVALID_PARAMS. */
export function readFlags(
  args: readonly string[],
  { command, endpoint }: Pick<TuiOptions, "command" | "endpoint">,
): ClientConfig | undefined {
  if (command !== undefined && endpoint !== undefined)
    throw new HallError("INVALID_PARAMS", "--command and --endpoint name two servers; give one");
  if (command !== undefined) return { transport: "stdio", command, args, timeout: 60 };
  if (args.length > 0)
    throw new HallError("INVALID_PARAMS", `"${args[0]}" belongs to no command`, {
      hint: "Write: guildhall tui --command PROGRAM -- its arguments",
    });
  if (endpoint === undefined) return undefined;
  const protocol = URL.canParse(endpoint) ? new URL(endpoint).protocol : "";
  const transports: Readonly<Record<string, ClientConfig["transport"]>> = {
    "http:": "http",
    "https:": "http",
    "ws:": "websocket",
    "wss:": "websocket",
  };
  const transport = transports[protocol];
  if (!transport)
    throw new HallError("INVALID_PARAMS", `--endpoint ${endpoint} is no address`, {
      hint: "Such as http://127.0.0.1:8080/mcp, or ws://… for a WebSocket.",
    });
  return { transport, endpoint, args: [], timeout: 60 };
}
