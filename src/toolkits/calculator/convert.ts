/** Exact conversion between units of one dimension, and between fuel or pace units and their reciprocals. */
import { HallError } from "../../base/errors.ts";
import { invalidField } from "../toolkit.ts";
import { add, divide, type Fraction, multiply, negate, one } from "./fraction.ts";
import { parseUnit, sameDimension, type Unit, UnitProblem } from "./unit.ts";
import { dimensionOf, findNearUnits, findUnit } from "./unit-names.ts";
import { loneMeanings } from "./units.ts";

/** Throws VALIDATION for unknown or incompatible units, EXECUTION if there is no answer. */
export function convert(
  value: Fraction,
  fromText: string,
  toText: string,
): { readonly result: Fraction; readonly dimension: string } {
  const [from, to] = choosePair(readUnit(fromText, "from_unit"), readUnit(toText, "to_unit"));
  const inBase = multiply(from.offset ? add(value, from.offset) : value, from.scale);
  if (from.offset && inBase.top < 0n)
    throw new HallError(
      "EXECUTION",
      "the temperature is below absolute zero (for differences use delta_degC or delta_degF)",
    );
  const inTarget = divide(carryOver(inBase, from, to), to.scale);
  return {
    result: to.offset ? add(inTarget, negate(to.offset)) : inTarget,
    dimension: dimensionOf(to),
  };
}

type NamedUnit = Unit & { readonly text: string };

/** All meanings, the likeliest first. */
function readUnit(text: string, field: string): readonly NamedUnit[] {
  const lone = loneMeanings.get(text);
  try {
    const units = lone?.flatMap((name) => findUnit(name) ?? []) ?? [parseUnit(text, findUnit)];
    return units.map((unit) => ({ ...unit, text }));
  } catch (cause) {
    if (!(cause instanceof UnitProblem)) throw cause;
    const { message, unknown } = cause;
    throw invalidField(field, message, unknown === undefined ? [] : findNearUnits(unknown));
  }
}

/** The first compatible pair; else the likeliest of each, for the message. */
function choosePair(
  froms: readonly NamedUnit[],
  tos: readonly NamedUnit[],
): readonly [NamedUnit, NamedUnit] {
  const pairs = froms.flatMap((from) => tos.map((to) => [from, to] as const));
  const chosen = pairs.find(([from, to]) => sameDimension(from, to)) ?? pairs[0];
  if (!chosen) throw new HallError("INTERNAL", "a unit has no meaning");
  return chosen;
}

/** The value in base units of `to`. */
function carryOver(value: Fraction, from: NamedUnit, to: NamedUnit): Fraction {
  if (sameDimension(from, to)) {
    refuseMixedTemperatures(from, to);
    return value;
  }
  const turns = turnsBetween(from, to);
  if (turns) return multiply(value, turns);
  if (!isReciprocal(from, to)) {
    const kinds = `${from.text} is ${dimensionOf(from)}, ${to.text} is ${dimensionOf(to)}`;
    throw invalidField("to_unit", `incompatible units: ${kinds}`);
  }
  if (value.top === 0n)
    throw new HallError(
      "EXECUTION",
      `0 ${from.text} has no value in ${to.text}, which is its reciprocal`,
    );
  return divide(one, value);
}

function refuseMixedTemperatures(from: NamedUnit, to: NamedUnit): void {
  const isMixed = (from.isDifference && to.offset) || (to.isDifference && from.offset);
  if (isMixed)
    throw invalidField(
      "to_unit",
      `${from.text} to ${to.text} mixes a temperature with a difference (for differences: delta_degC, delta_degF, K)`,
    );
}

/** A cycle is one turn: 60 rpm are 1 Hz. */
function turnsBetween(from: Unit, to: Unit): Fraction | undefined {
  const [turning, cycling, turn] = [findUnit("rpm"), findUnit("Hz"), findUnit("turn")];
  if (!turning || !cycling || !turn) return undefined;
  if (sameDimension(from, turning) && sameDimension(to, cycling)) return divide(one, turn.scale);
  return sameDimension(from, cycling) && sameDimension(to, turning) ? turn.scale : undefined;
}

/** Fuel (L/100km and mpg) and pace (min/km and km/h). */
function isReciprocal(from: Unit, to: Unit): boolean {
  const isOpposite = from.exponents.every(
    (exponent, index) => exponent === -(to.exponents[index] ?? 0),
  );
  const [length = 0, mass, time = 0, ...others] = from.exponents;
  const isBare = mass === 0 && others.every((exponent) => exponent === 0);
  const isFuel = Math.abs(length) === 2 && time === 0;
  const isPace = Math.abs(length) === 1 && time === -length;
  return isOpposite && isBare && (isFuel || isPace);
}
