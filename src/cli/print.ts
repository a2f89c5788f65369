import { styleText } from "node:util";
import { HallError } from "../base/errors.ts";
import { visible } from "../base/text.ts";

export interface PrintOptions {
  readonly json: boolean | undefined;
  text(): string;
  /** What the command fails with although it has something to show: text stands above it, JSON goes with it, so that stdout is one document. */
  readonly failure?: HallError | undefined;
}

/** Text for people on a terminal, plain text elsewhere, JSON when asked. Throws the failure, where there is one. */
export function print(value: unknown, { json, text, failure }: PrintOptions): void {
  if (failure && json) throw withResult(failure, value);
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${text().trimEnd()}\n`);
  if (failure) throw failure;
}

function withResult(
  { code, message, hint, details, cause }: HallError,
  result: unknown,
): HallError {
  return new HallError(code, message, { hint, details: { ...details, result }, cause });
}

type Style = "bold" | "dim" | "red" | "green" | "yellow";

/** Colour on a terminal only, and never against NO_COLOR. */
export function paint(style: Style, text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText(style, text) : text;
}

/** Columns as wide as their widest cell; the last one is cut to the terminal. */
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
  // Some terminals do not know how wide they are.
  const width = (process.stdout.isTTY && process.stdout.columns) || Number.POSITIVE_INFINITY;
  return [paint("bold", line(head)), ...clean.map((row) => line(row).slice(0, width))].join("\n");
}
