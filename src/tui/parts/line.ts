import { sanitize } from "../../base/sanitize.ts";
import { cut, widthOf, wrap } from "./text.ts";

/** The purpose of a piece of text; `sgr` maps it to a style. */
export type Role =
  | "plain"
  | "strong"
  | "quiet"
  | "accent"
  | "good"
  | "warning"
  | "bad"
  | "selected"
  | "title"
  | "code"
  | "cursor";

export interface TextSpan {
  readonly text: string;
  readonly role?: Role | undefined;
}

/** One line on the screen. */
export type ScreenLine = readonly TextSpan[];

export function textLine(text: string, role?: Role): ScreenLine {
  return [{ text, role }];
}

export function wrapLines(text: string, columns: number, role?: Role): readonly ScreenLine[] {
  return wrap(text, columns).map((part) => textLine(part, role));
}

/** A sign, and text after it that wraps with a hanging indent. */
export function hangingLines(
  sign: TextSpan,
  { text, role }: TextSpan,
  columns: number,
): readonly ScreenLine[] {
  const width = widthOf(sign.text);
  return wrap(text, columns - width).map((part, index) => [
    index === 0 ? sign : { text: " ".repeat(width), role: sign.role },
    { text: part, role },
  ]);
}

/** Exactly that many lines: the rest is cut off, missing ones are blank. */
export function fitRows(lines: readonly ScreenLine[], rows: number): readonly ScreenLine[] {
  if (lines.length >= rows) return lines.slice(0, Math.max(0, rows));
  return [...lines, ...Array.from({ length: rows - lines.length }, (): ScreenLine => [])];
}

/** Untrusted text without control characters and line breaks. */
export function onOneRow(text: string): string {
  return sanitize(text).replaceAll("\n", " ");
}

/**
 * The only place where text becomes terminal output. Every span is sanitised and cut here, so a
 * screen can pass on whatever a server sent.
 */
export function renderLines(
  lines: readonly ScreenLine[],
  columns: number,
  hasColours: boolean,
): string {
  return lines.map((line) => renderLine(line, columns, hasColours)).join("\n");
}

function renderLine(line: ScreenLine, columns: number, hasColours: boolean): string {
  const styles = hasColours ? sgr : sgrWithoutColours;
  let rendered = "";
  let left = columns;
  for (const { text, role = "plain" } of line) {
    if (left <= 0) break;
    const shown = cut(onOneRow(text), left);
    rendered += style(shown, styles[role]);
    left -= widthOf(shown);
  }
  return rendered;
}

/** Colour never carries meaning alone: marks and words say the same, so NO_COLOR loses nothing. */
const sgr: Readonly<Record<Role, string>> = {
  plain: "",
  strong: "1",
  quiet: "2",
  accent: "36",
  good: "32",
  warning: "33",
  bad: "1;31",
  selected: "7",
  title: "1;36",
  code: "33",
  cursor: "7",
};

const sgrWithoutColours: Readonly<Record<Role, string>> = {
  ...sgr,
  accent: "",
  good: "",
  warning: "",
  bad: "1",
  title: "1",
  code: "",
};

function style(text: string, code: string): string {
  return text === "" || code === "" ? text : `\u001b[${code}m${text}\u001b[0m`;
}
