import { sanitize } from "../../base/sanitize.ts";
import { hangingLines, type Line, type Role, wrapLines } from "./line.ts";

/**
 * A Markdown document as lines of a terminal: headings, code and check boxes get a style, and wrapped
 * list items a hanging indent. Every character stays as it is in the file.
 */
export function markdownLines(text: string, columns: number): readonly Line[] {
  if (last.text === text && last.columns === columns) return last.lines;
  let isCode = false;
  const lines = sanitize(text)
    .split("\n")
    .flatMap((line) => {
      const isFence = /^\s*(?:```|~~~)/.test(line);
      if (isFence) isCode = !isCode;
      return isFence || isCode ? wrapLines(line, columns, "code") : showLine(line, columns);
    });
  last = { text, columns, lines };
  return lines;
}

// Only one document is open at a time, and every frame and key asks for it.
let last: { text: string; columns: number; lines: readonly Line[] } = {
  text: "",
  columns: 0,
  lines: [],
};

function showLine(line: string, columns: number): readonly Line[] {
  const [, marks] = /^(#{1,6})\s/.exec(line) ?? [];
  if (marks) return wrapLines(line, columns, marks.length <= 2 ? "title" : "strong");
  const role = line.includes("[NEEDS CLARIFICATION") ? "warning" : "plain";
  const [, sign, box, words = ""] =
    /^(\s*(?:[-*+]|\d+[.)]|>)\s+(?:(\[[ xX]\])\s+)?)(.*)$/.exec(line) ?? [];
  if (sign === undefined) return wrapLines(line, columns, role);
  return hangingLines({ text: sign, role: boxRole(box) }, { text: words, role }, columns);
}

function boxRole(box: string | undefined): Role {
  if (box === undefined) return "accent";
  return box === "[ ]" ? "warning" : "good";
}
