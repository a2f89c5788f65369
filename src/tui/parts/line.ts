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
  /** A row of an image, drawn instead of the text where the terminal has enough colours. */
  readonly cells?: readonly Cell[] | undefined;
}

/** Two pixels, one above the other, as 0xrrggbb; undefined where transparent. */
export interface Cell {
  readonly upper: number | undefined;
  readonly lower: number | undefined;
}

/** One line on the screen. */
export type Line = readonly TextSpan[];

export function textLine(text: string, role?: Role): Line {
  return [{ text, role }];
}

export function wrapLines(text: string, columns: number, role?: Role): readonly Line[] {
  return wrap(text, columns).map((part) => textLine(part, role));
}

/** A sign, and text after it that wraps with a hanging indent. */
export function hangingLines(
  sign: TextSpan,
  { text, role }: TextSpan,
  columns: number,
): readonly Line[] {
  const width = widthOf(sign.text);
  return wrap(text, columns - width).map((part, index) => [
    index === 0 ? sign : { text: " ".repeat(width), role: sign.role },
    { text: part, role },
  ]);
}

/** Exactly that many lines: the rest is cut off, missing ones are blank. */
export function fitRows(lines: readonly Line[], rows: number): readonly Line[] {
  if (lines.length >= rows) return lines.slice(0, Math.max(0, rows));
  return [...lines, ...Array.from({ length: rows - lines.length }, (): Line => [])];
}

/** Untrusted text without control characters and line breaks. */
export function onOneRow(text: string): string {
  return sanitize(text).replaceAll("\n", " ");
}

export interface Palette {
  readonly hasColours: boolean;
  /** Bits per colour. Images need at least 8. */
  readonly colourDepth: number;
}

/**
 * The only place where text becomes terminal output. Every span is sanitised and cut here, so a
 * screen can pass on whatever a server sent.
 */
export function renderLines(lines: readonly Line[], columns: number, palette: Palette): string {
  return lines.map((line) => renderLine(line, columns, palette)).join("\n");
}

function renderLine(line: Line, columns: number, { hasColours, colourDepth }: Palette): string {
  const styles = hasColours ? sgr : sgrWithoutColours;
  let rendered = "";
  let left = columns;
  for (const { text, role = "plain", cells } of line) {
    if (left <= 0) break;
    if (cells && hasColours && colourDepth >= 8) {
      const shown = cells.length > left ? cells.slice(0, left) : cells;
      rendered += renderCells(shown, colourDepth >= 24 ? 24 : 8);
      left -= shown.length;
      continue;
    }
    const shown = cut(onOneRow(text), left);
    rendered += style(shown, styles[role]);
    left -= widthOf(shown);
  }
  return rendered;
}

const reset = "\u001b[0m";

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
  return text === "" || code === "" ? text : `\u001b[${code}m${text}${reset}`;
}

/** Half blocks with a foreground and a background colour; a style is written only where it changes. */
export function renderCells(cells: readonly Cell[], depth: 8 | 24): string {
  let [text, last] = ["", ""];
  for (const { upper, lower } of cells) {
    const [block, front, back] =
      upper === undefined
        ? ([lower === undefined ? " " : "▄", lower, undefined] as const)
        : (["▀", upper, lower] as const);
    const next = `${reset}${colour(38, front, depth)}${colour(48, back, depth)}`;
    text += next === last ? block : next + block;
    last = next;
  }
  return text + reset;
}

function colour(plane: 38 | 48, pixel: number | undefined, depth: 8 | 24): string {
  if (pixel === undefined) return "";
  const [red, green, blue] = [pixel >> 16, (pixel >> 8) & 255, pixel & 255];
  if (depth === 24) return `\u001b[${plane};2;${red};${green};${blue}m`;
  const step = (value: number): number => Math.round((value / 255) * 5);
  return `\u001b[${plane};5;${16 + 36 * step(red) + 6 * step(green) + step(blue)}m`;
}
