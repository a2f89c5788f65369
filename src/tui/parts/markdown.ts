import { sanitize } from "../../base/sanitize.ts";
import { type Line, type Role, type TextSpan, textLine, wrapLines } from "./line.ts";
import { pad, widthOf, wrap } from "./text.ts";

/** Markdown, as specs, plans and task lists use it, as lines of a terminal. Anything else stays text. */
export function markdownLines(text: string, columns: number): readonly Line[] {
  if (last.text === text && last.columns === columns) return last.lines;
  const lines: Line[] = [];
  const source = sanitize(text).split("\n");
  for (let index = 0; index < source.length; ) {
    const block = readBlock(source, index, columns);
    for (const line of block.lines) lines.push(line);
    index = block.next;
  }
  last = { text, columns, lines };
  return lines;
}

// Only one document is open at a time, and every frame and key asks for it.
let last: { text: string; columns: number; lines: readonly Line[] } = {
  text: "",
  columns: 0,
  lines: [],
};

interface Block {
  readonly lines: readonly Line[];
  /** The index of the next block. */
  readonly next: number;
}

function readBlock(source: readonly string[], start: number, columns: number): Block {
  const line = source[start] ?? "";
  // A block without an end extends to the end of the text.
  const find = (from: number, isEnd: (one: string) => boolean): number => {
    const end = source.findIndex((one, index) => index >= from && isEnd(one));
    return end < 0 ? source.length : end;
  };

  const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
  if (fence) {
    const end = find(start + 1, (one) => one.trim().startsWith(fence));
    const code = source.slice(start + 1, end);
    return { lines: code.flatMap((one) => codeLines(one, columns)), next: end + 1 };
  }
  if (line.trimStart().startsWith("<!--")) {
    const end = find(start, (one) => one.includes("-->")) + 1;
    const comment = source.slice(start, end);
    return { lines: comment.flatMap((one) => wrapLines(one, columns, "quiet")), next: end };
  }
  if (isRow(line) && /^\s*\|?[\s:|-]+\|[\s:|-]*$/.test(source[start + 1] ?? "")) {
    const end = find(start + 1, (one) => !isRow(one));
    const rows = source.slice(start, end).filter((_line, index) => index !== 1);
    return { lines: showTable(rows.map(cellsOf), columns), next: end };
  }
  return { lines: showLine(line, columns), next: start + 1 };
}

function codeLines(code: string, columns: number): readonly Line[] {
  const bar: TextSpan = { text: "│ ", role: "quiet" };
  return wrap(code, columns - 2).map((part) => [bar, { text: part, role: "code" }]);
}

function isRow(line: string): boolean {
  return /^\s*\|.*\|\s*$/.test(line);
}

function cellsOf(row: string): readonly string[] {
  const cells = row
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/);
  return cells.map((cell) => plainText(readInline(cell.trim())));
}

const columnsMin = 4;

/** Columns get their natural width; the widest shrink until the table fits. Cells wrap. */
function showTable(rows: readonly (readonly string[])[], columns: number): readonly Line[] {
  const count = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_value, column) =>
    Math.max(1, ...rows.map((row) => widthOf(row[column] ?? ""))),
  );
  const gaps = (count - 1) * 3;
  while (widths.reduce((sum, width) => sum + width, gaps) > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= columnsMin) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return rows.flatMap((row, index) => {
    const cells = widths.map((width, column) => wrap(row[column] ?? "", width));
    const height = Math.max(...cells.map((cell) => cell.length));
    const lines = Array.from({ length: height }, (_value, at): Line => {
      const parts = cells.map((cell, column) => pad(cell[at] ?? "", widths[column] ?? 0));
      return textLine(parts.join(" │ "), index === 0 ? "strong" : "plain");
    });
    if (index > 0) return lines;
    const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
    return [...lines, textLine(rule, "quiet")];
  });
}

function showLine(line: string, columns: number): readonly Line[] {
  const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
  if (heading) return showHeading(heading[1]?.length ?? 1, heading[2] ?? "", columns);
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return [textLine("─".repeat(columns), "quiet")];
  const quote = /^\s*>\s?(.*)$/.exec(line);
  if (quote) return hang({ text: "▏ ", role: "quiet" }, quote[1] ?? "", columns);
  const item = /^(\s*)(?:[-*+]|(\d+[.)]))\s+(?:\[([ xX])\]\s+)?(.*)$/.exec(line);
  if (item) return showItem(item, columns);
  return hang({ text: "" }, line, columns);
}

function showHeading(level: number, text: string, columns: number): readonly Line[] {
  const words = plainText(readInline(text));
  const lines = wrapLines(words, columns, level <= 2 ? "title" : "strong");
  if (level > 1) return lines;
  return [...lines, textLine("═".repeat(Math.min(columns, widthOf(words))), "quiet")];
}

const boxes: Readonly<Record<string, [sign: string, role: Role]>> = {
  "": ["•", "accent"],
  " ": ["☐", "warning"],
};

function showItem(
  [, indent = "", number, box, text = ""]: RegExpExecArray,
  columns: number,
): readonly Line[] {
  const [sign, role]: [string, Role] = boxes[box ?? ""] ?? ["☑", "good"];
  return hang({ text: `${indent}${number ?? sign} `, role }, text, columns);
}

/** A text after a sign, with a hanging indent. */
function hang(sign: TextSpan, text: string, columns: number): readonly Line[] {
  const indent = widthOf(sign.text);
  const parts = wrapSpans(readInline(text), Math.max(1, columns - indent));
  return parts.map(
    (line, index): Line => [index === 0 ? sign : { text: " ".repeat(indent) }, ...line],
  );
}

const inline =
  /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*([^*\s][^*]*?)\*(?![\w*])|(?<!\w)_([^_\s][^_]*?)_(?!\w)|\[([^\]]+)\]\(([^)\s]+)\)|(\[NEEDS CLARIFICATION[^\]]*\])/g;

function readInline(text: string): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  let at = 0;
  for (const match of text.matchAll(inline)) {
    if (match.index > at) spans.push({ text: text.slice(at, match.index) });
    spans.push(...nameInline(match));
    at = match.index + match[0].length;
  }
  return at < text.length || spans.length === 0 ? [...spans, { text: text.slice(at) }] : spans;
}

function nameInline(match: RegExpExecArray): readonly TextSpan[] {
  const [, , code, bold, alsoBold, italic, alsoItalic, label, address, open] = match;
  if (code !== undefined) return [{ text: code.trim() || code, role: "code" }];
  if (open !== undefined) return [{ text: open, role: "warning" }];
  const strong = bold ?? alsoBold;
  if (strong !== undefined) return [{ text: strong, role: "strong" }];
  if (label === undefined) return [{ text: italic ?? alsoItalic ?? "", role: "accent" }];
  // Always show the address: a label can say anything.
  const shown: TextSpan = { text: label, role: "accent" };
  return label === address ? [shown] : [shown, { text: ` (${address})`, role: "quiet" }];
}

function plainText(spans: readonly TextSpan[]): string {
  return spans.map(({ text }) => text).join("");
}

/** Wraps the plain text, then applies the roles to each piece. */
function wrapSpans(spans: readonly TextSpan[], columns: number): readonly Line[] {
  const text = plainText(spans);
  const lines: Line[] = [];
  let at = 0;
  for (const part of wrap(text, columns)) {
    const start = text.indexOf(part, at);
    lines.push(sliceSpans(spans, start, start + part.length));
    at = start + part.length;
  }
  return lines;
}

function sliceSpans(spans: readonly TextSpan[], from: number, to: number): Line {
  let start = 0;
  const sliced: TextSpan[] = [];
  for (const { text, role } of spans) {
    const part = text.slice(Math.max(0, from - start), Math.max(0, to - start));
    if (part !== "") sliced.push({ text: part, role });
    start += text.length;
  }
  return sliced;
}
