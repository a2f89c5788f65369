import { styleText } from "node:util";

/** Text for people on a terminal, plain text elsewhere, JSON when asked. */
export function print(value: unknown, { json, text }: { readonly json: boolean | undefined; text(): string }): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${text().trimEnd()}\n`);
}

type Style = "bold" | "dim" | "red" | "green" | "yellow";

/** Colour on a terminal only, and never against NO_COLOR. */
export function paint(style: Style, text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText(style, text) : text;
}

/** Columns as wide as their widest cell; the last one is cut to the terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(visible));
  const widths = head.map((title, column) => Math.max(title.length, ...clean.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const width = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  return [paint("bold", line(head)), ...clean.map((row) => line(row).slice(0, width))].join("\n");
}

// Text of strangers must not move the cursor, hide itself or turn around.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const invisible = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Names and descriptions as they are, with what cannot be seen made visible. */
export function visible(text: string): string {
  return text.replace(/\s+/g, " ").replace(invisible, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same for text of several lines, such as a tool's answer. */
export function visibleLines(text: string): string {
  return text
    .split("\n")
    .map((line) => line.replace(/\t/g, "  ").replace(invisible, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`))
    .join("\n");
}
