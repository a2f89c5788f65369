import type { Reading } from "./mention.ts";
import type { Option } from "./options.ts";
import type { Parameter } from "./parameters.ts";

const operand = String.raw`[(\s]*-?(?:(?:sqrt|cbrt|sin|cos|tan|ln|log|exp|abs)\([^()]{1,40}\)|\d+(?:\.\d+)?)[%!]?(?:\s*\))*`;
const sum = new RegExp(
  String.raw`(?<![\p{L}\p{N}.,/-])${operand}(?:\s*(?:\*\*|[-+*/^])\s*${operand})+(?![\p{L}\p{N}/-])`,
  "gu",
);

/** The one piece of arithmetic in a task, as it is written, for the one parameter that wants an expression: "17 * 23". */
export function findSum(
  parameter: Parameter,
  { text }: Reading,
  parameters: readonly Parameter[],
): Option | undefined {
  if (!wantsSum(parameter) || parameters.filter(wantsSum).length > 1) return undefined;
  const [first, second] = [...text.matchAll(sum)].filter(
    ([found]) => !isDate.test(found.trim()) && isBalanced(found),
  );
  if (!first || second) return undefined;
  const value = first[0].trim();
  const start = first.index + first[0].indexOf(value);
  return { value, kind: "pair", start, end: start + value.length };
}

/** "2026-11-16", "16/11/2026". */
const isDate = /^\d+([-/])\d+\1\d+$/;

function wantsSum({ type, choices, sort, description, path }: Parameter): boolean {
  if (type !== "string" || choices) return false;
  return (
    (sort === "formula" && /expression/i.test(path.at(-1) ?? "")) ||
    /\barithmetic\b|\bmath\w* expression\b|\bexpression to (?:evaluate|calculate)\b/i.test(
      description,
    )
  );
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const sign of text) {
    if (sign === "(") depth++;
    if (sign === ")" && --depth < 0) return false;
  }
  return depth === 0;
}
