import { HallError } from "../base/errors.ts";
import type { Log, LogLevel } from "../base/log.ts";

/** What the long-running commands share: log levels, signals, surviving surprises. */
export const drainMs = 10_000;

export function parseLogLevel(text: string): LogLevel {
  const levels: readonly LogLevel[] = ["trace", "debug", "info", "warn", "error", "silent"];
  const level = levels.find((known) => known === text);
  if (!level)
    throw new HallError(
      "INVALID_PARAMS",
      `there is no log level "${text}"; there is: ${levels.join(", ")}`,
    );
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
