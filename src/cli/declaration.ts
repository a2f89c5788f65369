import { HallError } from "../base/errors.ts";

/** How commands are declared: tables of data, read by program.ts. */

/** The options of a command that takes no others. */
export interface JsonOption {
  readonly json?: boolean | undefined;
}

export interface Declaration {
  readonly does: string;
  readonly usage?: string;
  /** Help by flags, or help and a parser. Every command that runs also has --json. */
  readonly options?: Readonly<
    Record<string, string | readonly [string, (text: string) => unknown]>
  >;
  readonly hasJson?: boolean;
  /** The name of the program may be left out at the start. */
  readonly examples: readonly string[];
  /** Runs if its parent is called without a subcommand. */
  readonly isDefault?: boolean;
  /** Loads the function that runs it: it gets the operands, then the options with those of its parent. */
  readonly load?: () => Promise<(...args: never[]) => Promise<void>>;
  readonly subcommands?: Commands;
}

/** By name and operands, as commander writes them: `show <run>`. */
export type Commands = Readonly<Record<string, Declaration>>;

/** By heading, in the order of the help. */
export type CommandGroups = Readonly<Record<string, Commands>>;

/** A parser of whole numbers. Parsers throw INVALID_PARAMS. */
export function wholeNumber(what: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw invalid(`invalid ${what} "${text}" (expected: a whole number from ${min} to ${max})`);
  };
}

/** A time in the past. Like the other times, in milliseconds since 1970. */
export function parseSince(text: string): number {
  const durationMs = parseDuration(text);
  const at = Number.isNaN(durationMs) ? Date.parse(text) : Date.now() - durationMs;
  if (!Number.isNaN(at)) return at;
  throw invalid(`invalid time "${text}" (expected: 30m, 24h, 7d, or a date such as 2026-01-31)`);
}

const untilMsMax = 365 * 86_400_000;

/** A time in the future. */
export function parseUntil(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs > 0 && durationMs <= untilMsMax) return Date.now() + durationMs;
  throw invalid(
    `invalid duration "${text}" for --until (expected: 90s, 30m, 2h or 7d, at most 365d)`,
  );
}

/** For an option that can be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export function parseExportFormat(text: string): string {
  if (text === "jsonl") return text;
  throw invalid(`unknown export format "${text}" (expected: jsonl)`);
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

function parseDuration(text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  return Number(count) * (unitMs[unit] ?? Number.NaN);
}

function invalid(message: string): HallError {
  return new HallError("INVALID_PARAMS", message, { hint: "See the options with --help." });
}
