import { visibleLines } from "../base/text.ts";
import type { FieldChange } from "../trust/review.ts";
import { paint } from "./print.ts";

/** Old and new of each field that has changed, line by line, with nothing that a terminal would hide. */
export function describeFields(fields: readonly FieldChange[]): string {
  return fields
    .map(
      ({ field, before, now }) => `  ${field}\n${diffLines(write(before), write(now)).join("\n")}`,
    )
    .join("\n");
}

function write(value: unknown): readonly string[] {
  if (value === undefined) return [];
  const text = visibleLines(typeof value === "string" ? value : JSON.stringify(value, null, 2));
  // Blanks at the end of a line are a change like any other.
  return text.split("\n").map((line) => line.replace(/ +$/, (blanks) => "·".repeat(blanks.length)));
}

/** What is gone and what is new, between the lines at both ends that are the same. */
function diffLines(before: readonly string[], now: readonly string[]): readonly string[] {
  const shorter = Math.min(before.length, now.length);
  let head = 0;
  while (head < shorter && before[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const around = (lines: readonly string[]): readonly string[] =>
    lines.slice(head, lines.length - tail);
  return [
    ...before.slice(Math.max(0, head - contextLines), head).map((line) => `      ${line}`),
    ...around(before).map((line) => paint("red", `    - ${line}`)),
    ...around(now).map((line) => paint("green", `    + ${line}`)),
    ...now
      .slice(now.length - tail, now.length - tail + contextLines)
      .map((line) => `      ${line}`),
  ];
}

const contextLines = 2;
