import { type Logger, pino } from "pino";
import { HallError } from "./errors.ts";

/**
 * Structured lines on stderr. Two things pino does not do for us: secrets are removed by value at the sink
 * (path redaction misses most of them), and a stderr that nobody reads never blocks or grows: lines are dropped
 * and counted once a mebibyte waits.
 */
export type Log = Logger;
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

export interface LogSink {
  write(text: string): unknown;
  readonly writableLength?: number;
}

const queuedBytesMax = 1024 * 1024;
const shortestSecret = 6;

export interface LogOptions {
  readonly level?: LogLevel;
  readonly sink?: LogSink;
  readonly secrets?: Secrets;
}

export function createLog({
  level = "info",
  sink = process.stderr,
  secrets = new Secrets(),
}: LogOptions = {}): Log {
  let dropped = 0;
  const write = (line: string): void => {
    if ((sink.writableLength ?? 0) > queuedBytesMax) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      sink.write(`{"level":"warn","msg":"${dropped} log lines dropped: nobody reads stderr"}\n`);
      dropped = 0;
    }
    sink.write(secrets.scrub(line));
  };
  return pino(
    { level, base: null, formatters: { level: (label) => ({ level: label }) } },
    { write },
  );
}

/** Values that must never be written anywhere. */
export class Secrets {
  #forms = new Set<string>();
  #revision = 0;

  /** Grows with every change, for those who keep what they have scrubbed. */
  get revision(): number {
    return this.#revision;
  }

  /** Values too short to be secrets are refused: hiding "1" would garble every line. */
  add(value: string): void {
    if (value.length < shortestSecret) return;
    this.#revision++;
    for (const form of formsOf(value)) this.#forms.add(form);
  }

  /** For values that no longer open anything. */
  remove(value: string): void {
    this.#revision++;
    for (const form of formsOf(value)) this.#forms.delete(form);
  }

  scrub(text: string): string {
    let clean = text;
    for (const form of this.#forms) if (clean.includes(form)) clean = clean.replaceAll(form, "***");
    return clean;
  }
}

function formsOf(value: string): readonly string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];
}

export function parseLogLevel(text: string): LogLevel {
  const levels: readonly LogLevel[] = ["trace", "debug", "info", "warn", "error", "silent"];
  const level = levels.find((known) => known === text);
  if (!level)
    throw new HallError(
      "INVALID_PARAMS",
      `unknown log level "${text}" (expected: ${levels.join(", ")})`,
    );
  return level;
}
