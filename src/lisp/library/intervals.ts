// Intervals of numbers with open or closed ends, for `subtypep`.
import type { Machine } from "../machine.ts";
import { compare, isNumber } from "../numbers.ts";
import { cl } from "../symbol.ts";
import { Cons, Float, Ratio, type Value } from "../values.ts";
import type { Answer, Trait } from "./subtypes.ts";

interface End {
  readonly value: Value;
  readonly isOpen: boolean;
}

/** A missing end is infinite. */
interface Interval {
  readonly low: End | undefined;
  readonly high: End | undefined;
}

export function isRangeEmpty(
  m: Machine,
  kind: string,
  is: readonly Trait[],
  isNot: readonly Trait[],
): Answer {
  const hasZero = isNot.some(
    (trait) => trait.kind === "object" && trait.object instanceof Float && trait.object.value === 0,
  );
  // Zero and minus zero are the same in a range, but not the same object.
  if (hasZero && kind === "DOUBLE-FLOAT") return "unknown";
  const left = isNot.reduce<Interval[]>(
    (rest, trait) => rest.flatMap((one) => without(m, kind, one, trait)),
    [is.reduce<Interval>((rest, trait) => common(m, rest, intervalOf(kind, trait)), unlimited)],
  );
  return left.some((one) => isInhabited(m, kind, one)) ? "no" : "yes";
}

const unlimited: Interval = { low: undefined, high: undefined };

function intervalOf(kind: string, trait: Trait): Interval {
  if (trait.kind === "object" && isNumber(trait.object)) {
    const end = { value: trait.object, isOpen: false };
    return { low: end, high: end };
  }
  if (trait.kind !== "range") return unlimited;
  const [low, high] = trait.bounds;
  return { low: endOf(kind, low, 1n), high: endOf(kind, high, -1n) };
}

/** Ends of integers are closed and whole; `inward` is 1 for the low end. */
function endOf(kind: string, bound: Value, inward: 1n | -1n): End | undefined {
  if (bound === cl("*")) return undefined;
  const value = bound instanceof Cons ? bound.car : bound;
  const end = { value, isOpen: bound instanceof Cons };
  if (kind !== "INTEGER") return end;
  if (typeof value === "number" || typeof value === "bigint")
    return end.isOpen ? { value: BigInt(value) + inward, isOpen: false } : end;
  const floor =
    value instanceof Ratio ? floorOf(value) : BigInt(Math.floor((value as Float).value));
  const isWhole = value instanceof Float && Number.isInteger(value.value);
  if (isWhole) return { value: end.isOpen ? floor + inward : floor, isOpen: false };
  return { value: inward === 1n ? floor + 1n : floor, isOpen: false };
}

function floorOf({ numerator, denominator }: Ratio): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n ? quotient - 1n : quotient;
}

/** The end that is further inside. */
function inner(
  m: Machine,
  a: End | undefined,
  b: End | undefined,
  inward: 1 | -1,
): End | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const order = compare(m, a.value, b.value) * inward;
  if (order !== 0) return order > 0 ? a : b;
  return a.isOpen ? a : b;
}

const common = (m: Machine, a: Interval, b: Interval): Interval => ({
  low: inner(m, a.low, b.low, 1),
  high: inner(m, a.high, b.high, -1),
});

/** The parts left below and above. */
function without(m: Machine, kind: string, from: Interval, trait: Trait): Interval[] {
  if (trait.kind !== "range" && !(trait.kind === "object" && isNumber(trait.object))) return [from];
  const { low, high } = intervalOf(kind, trait);
  const beyond = ({ value, isOpen }: End, inward: 1n | -1n): End | undefined =>
    endOf(kind, isOpen ? value : m.list([value]), inward);
  return [
    ...(low === undefined ? [] : [common(m, from, { low: undefined, high: beyond(low, -1n) })]),
    ...(high === undefined ? [] : [common(m, from, { low: beyond(high, 1n), high: undefined })]),
  ];
}

function isInhabited(m: Machine, kind: string, { low, high }: Interval): boolean {
  if (low === undefined || high === undefined) return true;
  const order = compare(m, low.value, high.value);
  if (order !== 0) return order < 0;
  if (low.isOpen || high.isOpen) return false;
  if (kind === "RATIO") return low.value instanceof Ratio;
  return kind !== "DOUBLE-FLOAT" || low.value instanceof Float;
}
