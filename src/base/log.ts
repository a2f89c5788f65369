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
export const secretLengthMin = 6;

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
  /** Longest first: one secret may begin with another. */
  #forms: readonly string[] = [];
  #revision = 0;

  /** Grows with every change, for caches of scrubbed text. */
  get revision(): number {
    return this.#revision;
  }

  /** Ignores values too short to be secrets: redacting "1" would garble every line. */
  add(value: string): void {
    if (value.length < secretLengthMin) return;
    this.#revision++;
    const forms = new Set([...this.#forms, ...formsOf(value)]);
    this.#forms = [...forms].sort((a, b) => b.length - a.length);
  }

  /** For values that are no longer valid. */
  remove(value: string): void {
    this.#revision++;
    const gone = new Set(formsOf(value));
    this.#forms = this.#forms.filter((form) => !gone.has(form));
  }

  scrub(text: string): string {
    let clean = text;
    for (const form of this.#forms) if (clean.includes(form)) clean = clean.replaceAll(form, "***");
    return clean;
  }
}

/** Also each line alone: a log has a key of several lines line by line. */
function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).filter(({ length }) => length >= secretLengthMin);
  return [value, ...lines].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
  ]);
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
