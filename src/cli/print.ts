import { styleText } from "node:util";
import { diffLines } from "../base/diff.ts";
import { HallError } from "../base/errors.ts";
import { visible, visibleLines } from "../base/sanitize.ts";
import type { FieldChange } from "../trust/review.ts";
import type { JsonOption } from "./declaration.ts";

interface PrintOptions extends JsonOption {
  /** Makes the command fail after it printed. With --json the value goes into the error, so that stdout stays one document. */
  readonly failure?: HallError | undefined;
}

/** Prints text, or the value as JSON when asked, to stdout. Throws the failure if there is one. */
export function print(value: unknown, text: string, { json, failure }: PrintOptions): void {
  if (failure && json) throw withResult(failure, value);
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${text.trimEnd()}\n`);
  if (failure) throw failure;
}

function withResult(
  { code, message, hint, next, details, cause }: HallError,
  result: unknown,
): HallError {
  return new HallError(code, message, { hint, next, details: { ...details, result }, cause });
}

type Style = "bold" | "dim" | "red" | "green" | "yellow";

/** Colours text in a terminal, unless NO_COLOR is set. */
export function paint(style: Style, text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText(style, text) : text;
}

/** Columns as wide as their widest cell; lines are cut to the terminal's width. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty?: string,
): string {
  if (rows.length === 0 && whenEmpty !== undefined) return whenEmpty;
  const clean = rows.map((row) => row.map(visible));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...clean.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  // Some terminals report no width.
  const width = (process.stdout.isTTY && process.stdout.columns) || Number.POSITIVE_INFINITY;
  return [paint("bold", line(head)), ...clean.map((row) => line(row).slice(0, width))].join("\n");
}

/** A line diff of two texts with a little context. */
export function diffTexts(before: string, after: string): string {
  return formatDiff(linesOf(before), linesOf(after)).join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** The changed fields of a tool's definition, before and after. */
export function formatFieldChanges(fields: readonly FieldChange[]): string {
  const lines = fields.flatMap(({ field, before, now }) => [
    `  ${field}`,
    ...formatDiff(valueLines(before), valueLines(now)).map((line) => `    ${line}`),
  ]);
  return lines.join("\n");
}

/** A line break at the end counts as a change. */
function valueLines(value: unknown): readonly string[] {
  if (value === undefined) return [];
  return (typeof value === "string" ? value : JSON.stringify(value, null, 2)).split("\n");
}

const contextLines = 2;

/** Shows every invisible character, and blanks at the end of a line. */
function formatDiff(before: readonly string[], after: readonly string[]): readonly string[] {
  const marks = diffLines(before, after);
  const isShown = marks.map((_, at) =>
    marks
      .slice(Math.max(0, at - contextLines), at + contextLines + 1)
      .some(({ sign }) => sign !== " "),
  );
  return marks.flatMap(({ sign, line }, at) => {
    if (!isShown[at]) return isShown[at - 1] ? ["  …"] : [];
    const shown = visibleLines(line).replace(/ +$/, (blanks) => "·".repeat(blanks.length));
    const text = `${sign} ${shown}`;
    if (sign === "+") return [paint("green", text)];
    return [sign === "-" ? paint("red", text) : text];
  });
}
