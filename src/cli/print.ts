import { homedir } from "node:os";
import { stripVTControlCharacters, styleText } from "node:util";
import { diffLines } from "../base/diff.ts";
import { HallError } from "../base/errors.ts";
import { visible, visibleLines } from "../base/sanitize.ts";
import type { FieldChange } from "../trust/review.ts";
import { cut, pad, widthOf } from "../tui/parts/text.ts";
import type { JsonOption } from "./declaration.ts";

/**
 * Prints text, or the value as JSON when asked, to stdout. Throws the failure if there is one; with --json the
 * value goes into it, so that stdout stays one document.
 */
export function print(
  value: unknown,
  text: string,
  { json, failure }: JsonOption & { readonly failure?: HallError | undefined },
): void {
  if (failure && json) throw withResult(failure, value);
  if (json) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  else if (text !== "") process.stdout.write(`${text.trimEnd()}\n`);
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

/** A cell of a table: untrusted text, in a colour if it has a style. Painted text would show its codes. */
export type Cell = string | { readonly text: string; readonly style: Style };

interface TableOptions {
  /** Printed in place of a table without rows. */
  readonly empty?: string;
  /** Titles of columns that a narrow terminal leaves out, the least important one first. */
  readonly extra?: readonly string[];
}

interface Column {
  readonly title: string;
  readonly cells: readonly { readonly text: string; readonly style?: Style }[];
  readonly width: number;
}

/**
 * Columns as wide as their widest cell, without those that are empty in every row. In a terminal they shrink to its
 * width; "…" marks what is cut.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  { empty, extra = [] }: TableOptions = {},
): string {
  if (rows.length === 0 && empty !== undefined) return empty;
  const all = head.map((title, at) =>
    createColumn(
      title,
      rows.map((row) => row[at] ?? ""),
    ),
  );
  const columns = all.filter(
    ({ cells }) => rows.length === 0 || cells.some(({ text }) => text !== ""),
  );
  const shown = fitColumns(columns, extra, widthOfTerminal());
  const titles = shown.map(({ title, width }) => pad(title, width));
  const rest = shown.length < columns.length ? [more] : [];
  const lines = rows.map((_row, at) =>
    shown
      .map(({ cells, width }) => {
        const { text = "", style } = cells[at] ?? {};
        const fitted = cut(text, width);
        const blank = " ".repeat(width - widthOf(fitted));
        return `${style === undefined ? fitted : paint(style, fitted)}${blank}`;
      })
      .join(gap)
      .trimEnd(),
  );
  return [paint("bold", [...titles, ...rest].join(gap).trimEnd()), ...lines].join("\n");
}

/** A text of lines. False and undefined stand for a line that is left out. */
export function joinLines(
  ...parts: readonly (string | false | undefined | readonly string[])[]
): string {
  return parts
    .filter((part) => part !== false && part !== undefined)
    .flat()
    .join("\n");
}

/** The home as `~`. */
export function shortenHome(folder: string): string {
  const home = homedir();
  const isInHome = folder === home || folder.startsWith(`${home}/`);
  return isInHome ? `~${folder.slice(home.length)}` : folder;
}

const gap = "  ";
const more = "…";
/** A column with text is not cut below this while others can be left out. */
const textColumnsMin = 28;

function createColumn(title: string, given: readonly Cell[]): Column {
  const cells = given.map((cell) =>
    typeof cell === "string" ? { text: visible(cell) } : { ...cell, text: visible(cell.text) },
  );
  const width = cells.reduce((most, { text }) => Math.max(most, widthOf(text)), widthOf(title));
  return { title, cells, width };
}

function fitColumns(
  columns: readonly Column[],
  extra: readonly string[],
  width: number,
): readonly Column[] {
  let left = columns;
  const attempt = (textMin: number): readonly Column[] | undefined =>
    shrink(left, left.length < columns.length ? width - gap.length - more.length : width, textMin);

  for (const title of [undefined, ...extra]) {
    left = left.filter((column) => column.title !== title);
    const fitted = attempt(textColumnsMin);
    if (fitted) return fitted;
  }
  for (; left.length > 1; left = left.slice(0, -1)) {
    const fitted = attempt(1);
    if (fitted) return fitted;
  }
  const room = Math.max(1, width - gap.length - more.length);
  return left.map((column) => ({ ...column, width: Math.min(column.width, room) }));
}

/** Takes from the widest column until all fit. Undefined if one would be cut below its title or `textMin`. */
function shrink(
  columns: readonly Column[],
  width: number,
  textMin: number,
): readonly Column[] | undefined {
  if (width < 1) return undefined;
  const widths = columns.map((column) => Math.min(column.width, width));
  const mins = columns.map(({ title }) => Math.max(widthOf(title), textMin));
  const total = (): number => widths.reduce((sum, each) => sum + each + gap.length, -gap.length);

  while (total() > width) {
    // The first column names the row: it shrinks last.
    const able = widths.map((each, at) => (each > (mins[at] ?? 0) ? each : 0));
    const widest = Math.max(...able.slice(1)) || able[0];
    if (!widest) return undefined;
    widths[able.lastIndexOf(widest)] = widest - 1;
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? 0 }));
}

/** Breaks lines at the terminal's width between words, and indents what follows. Text may be painted. */
export function wrapProse(text: string, output: NodeJS.WriteStream = process.stdout): string {
  return wrapAt(text, widthOfTerminal(output));
}

export function wrapAt(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, width))
    .join("\n");
}

function wrapLine(line: string, width: number): string {
  const measure = (part: string): number => widthOf(stripVTControlCharacters(part));
  if (measure(line) <= width) return line;
  const [start = ""] = /^ */.exec(line) ?? [];
  const indent = `${start}  `;
  // A short command between backticks stays on one line.
  const [first = "", ...words] =
    line.slice(start.length).match(/(?:`[^`]{1,40}`|[^ ])+|(?<= )(?= )/g) ?? [];
  let wrapped = start + first;
  let used = measure(wrapped);
  for (const word of words) {
    const columns = measure(word);
    const isFitting = used + 1 + columns <= width;
    wrapped += isFitting ? ` ${word}` : `\n${indent}${word}`;
    used = (isFitting ? used + 1 : indent.length) + columns;
  }
  return wrapped;
}

/** Unlimited where nobody looks, and in terminals that report no width. */
function widthOfTerminal({ isTTY, columns }: NodeJS.WriteStream = process.stdout): number {
  return (isTTY && columns) || Number.POSITIVE_INFINITY;
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
