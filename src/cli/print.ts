import { styleText } from "node:util";
import { diffLines } from "../base/diff.ts";
import { HallError } from "../base/errors.ts";
import { visible, visibleLines } from "../base/sanitize.ts";
import type { FieldChange } from "../trust/review.ts";

export interface PrintOptions {
  readonly json: boolean | undefined;
  text(): string;
  /** Makes the command fail after it printed. With --json the value goes into the error, so that stdout stays one document. */
  readonly failure?: HallError | undefined;
}

/** Prints text, or JSON when asked, to stdout. Throws the failure if there is one. */
export function print(value: unknown, { json, text, failure }: PrintOptions): void {
  if (failure && json) throw withResult(failure, value);
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${text().trimEnd()}\n`);
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
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
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

const contextLines = 2;

/** A line diff of two texts with a little context. */
export function diffTexts(before: string, after: string): string {
  const marks = diffLines(linesOf(before), linesOf(after));
  const isShown = marks.map((_, at) =>
    marks
      .slice(Math.max(0, at - contextLines), at + contextLines + 1)
      .some(({ sign }) => sign !== " "),
  );
  const shown = marks.flatMap(({ sign, line }, at) => {
    if (!isShown[at]) return isShown[at - 1] ? ["  …"] : [];
    const text = `${sign} ${visibleLines(line)}`;
    if (sign === "+") return [paint("green", text)];
    return [sign === "-" ? paint("red", text) : text];
  });
  return shown.join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** The changed fields of a tool's definition, before and after, with every invisible character shown. */
export function formatFieldChanges(fields: readonly FieldChange[]): string {
  return fields
    .map(({ field, before, now }) => `  ${field}\n${diffField(before, now).join("\n")}`)
    .join("\n");
}

/** The differing middle of two values, between the lines they share at both ends. */
function diffField(beforeValue: unknown, nowValue: unknown): readonly string[] {
  const [before, now] = [valueLines(beforeValue), valueLines(nowValue)];
  const shorter = Math.min(before.length, now.length);
  let head = 0;
  while (head < shorter && before[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === now.at(-1 - tail)) tail++;

  const context = (lines: readonly string[]): string[] => lines.map((line) => `      ${line}`);
  const middle = (lines: readonly string[]): readonly string[] =>
    lines.slice(head, lines.length - tail);
  const tailStart = now.length - tail;
  return [
    ...context(before.slice(Math.max(0, head - contextLines), head)),
    ...middle(before).map((line) => paint("red", `    - ${line}`)),
    ...middle(now).map((line) => paint("green", `    + ${line}`)),
    ...context(now.slice(tailStart, tailStart + contextLines)),
  ];
}

function valueLines(value: unknown): readonly string[] {
  if (value === undefined) return [];
  const text = visibleLines(typeof value === "string" ? value : JSON.stringify(value, null, 2));
  // Blanks at the end of a line must be visible too.
  return text.split("\n").map((line) => line.replace(/ +$/, (blanks) => "·".repeat(blanks.length)));
}
