import { Console } from "node:console";
import { closeSync, existsSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { Writable } from "node:stream";
import { HallError } from "../../base/errors.ts";
import type { LogSink } from "../../base/log.ts";
import { openProjectFile } from "../../base/project-files.ts";
import { loadSettings, type Settings } from "../../hall/settings.ts";
import type { ClientConfig, ClientTarget } from "../../tui/target.ts";

export interface TuiOptions {
  /** A file with `[mcp]`, read instead of the project's. */
  readonly config?: string;
  readonly command?: string;
  readonly endpoint?: string;
  readonly timeout?: string;
  readonly logLevel?: string;
}

/** The terminal client for the project's hall, or for the server in the flags or the config. */
export async function runTui(args: readonly string[], options: TuiOptions): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw new HallError("INVALID_PARAMS", "guildhall tui needs a terminal", {
      hint: "Without a terminal, use `guildhall spec`, `guildhall call` or `guildhall ask`.",
    });
  // The largest modules load while the config is read.
  const loading = Promise.all([import("../../tui/session.ts"), import("../../tui/show.ts")]);
  const folder = process.cwd();
  const sink = openLogFile(folder);
  // Output of libraries must not reach the screen.
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
  const [{ TuiSession }, { showTui }] = await loading;
  const session = new TuiSession({
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

/** Logs to a file, since stderr is the screen. It is created with the first line. */
function openLogFile(folder: string): LogSink {
  return {
    write(text) {
      try {
        const file = openProjectFile(folder, join(".guildhall", "logs", "tui.log"));
        writeSync(file, text);
        closeSync(file);
      } catch {
        // The client works without a log.
      }
    },
  };
}

function findConfigFile(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const file = resolve(given);
  if (!existsSync(file))
    throw new HallError("INVALID_PARAMS", `config file not found: "${given}"`, {
      hint: "Give the path of a config file with an [mcp] section.",
    });
  return file;
}

function secondsOf(given: string | undefined, { config }: Settings): number {
  if (given === undefined) return config.mcp?.timeout ?? 60;
  const seconds = Number(given);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 600) return seconds;
  throw new HallError(
    "INVALID_PARAMS",
    `invalid --timeout "${given}" (expected: whole seconds from 1 to 600)`,
  );
}

async function openTarget(
  args: readonly string[],
  options: TuiOptions,
  place: { readonly folder: string; readonly settings: Settings },
): Promise<ClientTarget> {
  const given = readFlags(args, options);
  const config = given ?? place.settings.config.mcp;
  const { createServerTarget, namesNoServer, serverOf } = await import("../../tui/target.ts");
  if (!config || namesNoServer(config))
    return (await import("./tui-target.ts")).openHallTarget(place);
  const { folder, settings } = place;
  // Before anyone is asked whether to trust it.
  serverOf(config, folder);
  if (!given && options.config === undefined) {
    const { requireConsent } = await import("./tui-target.ts");
    await requireConsent(config, { file: settings.loaded.files.at(-1), folder, log: settings.log });
  }
  return createServerTarget(config, { folder, log: settings.log });
}

/** The server named by the flags, if any. Throws INVALID_PARAMS. */
export function readFlags(
  args: readonly string[],
  { command, endpoint }: Pick<TuiOptions, "command" | "endpoint">,
): ClientConfig | undefined {
  if (command !== undefined && endpoint !== undefined)
    throw new HallError("INVALID_PARAMS", "--command and --endpoint cannot be combined");
  if (command !== undefined) return { transport: "stdio", command, args, timeout: 60 };
  if (args.length > 0)
    throw new HallError("INVALID_PARAMS", `unexpected argument "${args[0]}"`, {
      hint: "Usage: guildhall tui --command PROGRAM -- ARGUMENTS",
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
    throw new HallError("INVALID_PARAMS", `invalid --endpoint "${endpoint}"`, {
      hint: "Example: http://127.0.0.1:8080/mcp, or ws://… for a WebSocket.",
    });
  return { transport, endpoint, args: [], timeout: 60 };
}
