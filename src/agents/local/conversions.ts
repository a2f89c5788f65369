import type { Reading } from "./mention.ts";
import type { Option } from "./options.ts";
import type { Parameter } from "./parameters.ts";
import { findUnit } from "./quantities.ts";

const conversion =
  /(?<![\p{L}\p{N}.,])(-?\d+(?:\.\d+)?)\s*(\p{L}+)\s+(?:to|into|in)\s+(\p{L}+)(?![\p{L}\p{N}/])/gu;

/** "5 miles to km": how much, of what, in what; for a tool that wants a number and two units. */
export function findConversion(
  parameter: Parameter,
  { text }: Reading,
  parameters: readonly Parameter[],
): Option | undefined {
  const place = placesOf(parameters).indexOf(parameter);
  if (place === -1) return undefined;
  const [match, another] = [...text.matchAll(conversion)];
  if (!match || another) return undefined;
  const [, amount = "", from = "", to = ""] = match;
  const [unit, wanted] = [findUnit(from.toLowerCase()), findUnit(to.toLowerCase())];
  if (!unit || unit.kind !== wanted?.kind) return undefined;
  const start =
    [
      match.index,
      match.index + match[0].indexOf(from, amount.length),
      match.index + match[0].length - to.length,
    ][place] ?? 0;
  const value = [Number(amount), from, to][place];
  return { value, kind: "pair", start, end: start + String([amount, from, to][place]).length };
}

/** The number, the unit it is in and the unit it is wanted in; empty for a tool that does not have just these. */
function placesOf(parameters: readonly Parameter[]): readonly Parameter[] {
  const units = parameters.filter(
    ({ type, choices, sort }) => type === "string" && !choices && sort === "unit",
  );
  const [number, ...others] = parameters.filter(({ type }) => type === "number");
  const [from, to] = [
    units.find(({ role }) => role === "start"),
    units.find(({ role }) => role === "end"),
  ];
  return units.length === 2 && from && to && number && others.length === 0
    ? [number, from, to]
    : [];
}
