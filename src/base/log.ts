import { type Logger, pino } from "pino";
import { HallError } from "./errors.ts";

/**
 * Structured log on stderr. Two additions to pino: secrets are redacted by value at the sink (path redaction
 * misses most of them), and an unread stderr never blocks: beyond 1 MiB of queued output lines are dropped
 * and counted.
 */
export type Log = Logger;
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

export interface LogSink {
  write(text: string): unknown;
  readonly writableLength?: number;
}

const queuedBytesMax = 1024 * 1024;
export const secretShortest = 6;

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
      sink.write(
        `{"level":"warn","msg":"${dropped} log lines dropped: stderr is not being read"}\n`,
      );
      dropped = 0;
    }
    sink.write(secrets.scrub(line));
  };
  return pino(
    { level, base: null, formatters: { level: (label) => ({ level: label }) } },
    { write },
  );
}

/** Secret values to redact everywhere. */
export class Secrets {
  #forms = new Set<string>();
  #revision = 0;

  /** Grows with every change, for caches of scrubbed text. */
  get revision(): number {
    return this.#revision;
  }

  /** Ignores values too short to be secrets: redacting "1" would garble every line. */
  add(value: string): void {
    if (value.length < secretShortest) return;
    this.#revision++;
    for (const form of formsOf(value)) this.#forms.add(form);
  }

  /** For values that are no longer valid. */
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
