import { Console } from "node:console";
import { createHall } from "../app.ts";
import { HallError } from "../base/errors.ts";
import { createLog, type Log, type LogLevel } from "../base/log.ts";
import { loadConfig } from "../config/config.ts";
import { loadCompiler } from "../gateway/schema.ts";
import { parseFaces } from "../server/faces.ts";
import { defaultLimits } from "../wire/limits.ts";
import { createStdioChannel } from "../wire/stdio.ts";

export interface McpOptions {
  readonly expose?: string;
  readonly static?: boolean;
  readonly logLevel: string;
}

const drainMs = 10_000;

/** Serves one client on stdin and stdout until it closes its end or the process is told to stop. */
export async function runMcp(options: McpOptions): Promise<void> {
  // stdout belongs to the protocol, whatever a library prints.
  globalThis.console = new Console(process.stderr);
  const log = createLog({ level: parseLogLevel(options.logLevel) });
  surviveSurprises(log);
  const config = await loadConfig(process.cwd());
  const hall = await createHall({ faces: parseFaces(options.expose ?? config.expose), isStatic: options.static ?? false, log });
  const connection = hall.server.accept(createStdioChannel(process.stdin, process.stdout, defaultLimits));
  const stop = onStopSignals(
    () => void hall.close(drainMs),
    () => void hall.close(0),
  );
  // Off the first call's path, on nobody's: while the client reads the answer to its handshake.
  setTimeout(() => void loadCompiler(), 50).unref();
  await connection.closed;
  stop();
  await hall.close();
}

export function parseLogLevel(text: string): LogLevel {
  const levels: readonly LogLevel[] = ["trace", "debug", "info", "warn", "error", "silent"];
  const level = levels.find((known) => known === text);
  if (!level) throw new HallError("INVALID_PARAMS", `there is no log level "${text}"; there is: ${levels.join(", ")}`);
  return level;
}

/** The first signal asks to end, the second insists. Returns the way to stop listening. */
export function onStopSignals(ask: () => void, insist: () => void): () => void {
  let count = 0;
  const heard = (): void => (++count === 1 ? ask() : insist());
  process.on("SIGTERM", heard).on("SIGINT", heard);
  return () => void process.off("SIGTERM", heard).off("SIGINT", heard);
}

/** One broken corner must not take every client's line down: what nobody caught is logged, and the hall goes on. */
export function surviveSurprises(log: Log): void {
  process.on("uncaughtException", (err) => log.error({ err }, "uncaught exception"));
  process.on("unhandledRejection", (err) => log.error({ err }, "unhandled rejection"));
}
