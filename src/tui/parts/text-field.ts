import type { Line } from "./line.ts";
import { wrap } from "./width.ts";

export interface TextFieldOptions {
  readonly label: string;
  readonly text: string;
  /** Undefined while it does not have the keys. */
  readonly cursor: number | undefined;
  readonly columns: number;
  readonly rows: number;
  /** What stands there while nothing is typed. */
  readonly placeholder?: string;
}

/** A text being typed, its cursor always in sight. */
export function textFieldLines({
  label,
  text,
  cursor,
  columns,
  rows,
  placeholder = "",
}: TextFieldOptions): readonly Line[] {
  const width = Math.max(4, columns - label.length - 1);
  const indent = " ".repeat(label.length);
  if (text === "" && placeholder !== "") {
    return [
      [
        { text: label, role: "strong" },
        ...(cursor === undefined ? [] : [{ text: " ", role: "cursor" as const }]),
        { text: placeholder, role: "quiet" },
      ],
    ];
  }
  const { lines, cursorLine } = layOut(text, cursor, width);
  const first = Math.max(
    0,
    Math.min((cursorLine ?? lines.length - 1) - rows + 1, lines.length - rows),
  );
  return lines
    .slice(first, first + rows)
    .map((line, index): Line => [{ text: index === 0 ? label : indent, role: "strong" }, ...line]);
}

/** Wraps each line of the text, and puts the cursor on the character it stands before. */
function layOut(
  text: string,
  cursor: number | undefined,
  width: number,
): { readonly lines: readonly Line[]; readonly cursorLine: number | undefined } {
  const lines: Line[] = [];
  let cursorLine: number | undefined;
  let at = 0;
  for (const source of text.split("\n")) {
    let column = 0;
    for (const part of wrap(source, width)) {
      const start = at + source.indexOf(part, column);
      column = start - at + part.length;
      const isHere =
        cursor !== undefined && cursorLine === undefined && cursor <= start + part.length;
      if (isHere) cursorLine = lines.length;
      lines.push(isHere ? withCursor(part, Math.max(0, cursor - start)) : [{ text: part }]);
    }
    at += source.length + 1;
  }
  return { lines, cursorLine };
}

function withCursor(part: string, at: number): Line {
  const on = part[at] === undefined ? " " : String.fromCodePoint(part.codePointAt(at) ?? 0x20);
  return [
    { text: part.slice(0, at) },
    { text: on, role: "cursor" },
    { text: part.slice(at + on.length) },
  ];
}
