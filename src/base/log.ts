import { inspect } from "node:util";
import { HallError } from "./errors.ts";

/**
 * Structured log on stderr, one JSON object per line. Secrets are redacted by value at the sink, and an
 * unread stderr never blocks: beyond 1 MiB of queued output lines are dropped and counted.
 */
export interface Log extends Record<Exclude<HallLogLevel, "silent">, WriteLine> {
  /** A log whose lines all have these fields. */
  child(fields: Fields): Log;
}

export type HallLogLevel = (typeof levels)[number];

type Fields = object;
interface WriteLine {
  (message: string): void;
  /** `err` may be an error. */
  (fields: Fields, message?: string): void;
}

export interface LogSink {
  write(text: string): unknown;
  readonly writableLength?: number;
}

const levels = ["trace", "debug", "info", "warn", "error", "silent"] as const;
const queuedBytesMax = 1024 * 1024;
export const secretLengthMin = 6;

export interface LogOptions {
  readonly level?: HallLogLevel;
  readonly sink?: LogSink;
  readonly secrets?: Secrets;
}

export function createLog({
  level = "info",
  sink = stderrLines(),
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
  return createLevels(levels.indexOf(level), "", write);
}

/** `fixed` is the text of fields that all lines have. */
function createLevels(lowest: number, fixed: string, write: (line: string) => void): Log {
  const at = (level: HallLogLevel): WriteLine => {
    if (levels.indexOf(level) < lowest) return () => {};
    return (first: Fields | string, message?: string): void => {
      const [fields, msg] = typeof first === "string" ? [{}, first] : [first, message];
      const text = fixed + fieldsText(fields) + fieldText("msg", msg);
      write(`{"level":"${level}","time":${Date.now()}${text}}\n`);
    };
  };
  return {
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => createLevels(lowest, fixed + fieldsText(fields), write),
  };
}

/** Field by field: V8 takes three times as long to write a line as one object. */
function fieldsText(fields: Fields): string {
  let text = "";
  for (const key in fields) text += fieldText(key, (fields as Record<string, unknown>)[key]);
  return text;
}

/**
 * Empty for a value that JSON cannot write, such as undefined. Field names need no escaping, because they are
 * in our code.
 */
function fieldText(name: string, value: unknown): string {
  const text = valueText(value);
  return text === undefined ? "" : `,"${name}":${text}`;
}

function valueText(value: unknown): string | undefined {
  if (typeof value === "string" && plainText.test(value)) return `"${value}"`;
  if (typeof value === "string" || typeof value === "number") return JSON.stringify(value);
  return JSON.stringify(value, (_key, inner: unknown) => writable(inner));
}

/** Text that JSON writes as it is. */
const plainText = /^[ !#-[\]-~]*$/;

let shared: LogSink | undefined;

/**
 * Stderr, written once per turn of the event loop: each write to it blocks. Lines that are left when
 * the process exits are written then.
 */
export function stderrLines(): LogSink {
  shared ??= gatherLines(process.stderr);
  return shared;
}

function gatherLines(stream: NodeJS.WriteStream): LogSink {
  let lines = "";
  const flush = (): void => {
    const text = lines;
    lines = "";
    if (text) stream.write(text);
  };
  process.on("exit", flush);
  return {
    write(line) {
      if (!lines) setImmediate(flush);
      lines += line;
    },
    get writableLength() {
      return stream.writableLength + lines.length;
    },
  };
}

/** JSON writes an error as {} and refuses a BigInt. */
function writable(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  // With its causes, and safe for errors that refer to themselves.
  return { type: value.name, message: value.message, stack: inspect(value) };
}

/** Secret values to redact everywhere. */
export class Secrets {
  /** Longest first: one secret may begin with another. */
  #forms: readonly string[] = [];
  readonly #listeners = new Set<() => void>();

  /** Calls back after each change, for caches of scrubbed text. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Ignores values too short to be secrets: redacting "1" would garble every line. */
  add(value: string): void {
    if (value.length < secretLengthMin) return;
    const forms = new Set([...this.#forms, ...formsOf(value)]);
    this.#change([...forms].sort((a, b) => b.length - a.length));
  }

  /** For values that are no longer valid. */
  remove(value: string): void {
    const gone = new Set(formsOf(value));
    this.#change(this.#forms.filter((form) => !gone.has(form)));
  }

  #change(forms: readonly string[]): void {
    this.#forms = forms;
    for (const listener of this.#listeners) listener();
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

export function parseLogLevel(text: string): HallLogLevel {
  const level = levels.find((known) => known === text);
  if (!level)
    throw new HallError(
      "INVALID_PARAMS",
      `unknown log level "${text}" (expected: ${levels.join(", ")})`,
    );
  return level;
}
