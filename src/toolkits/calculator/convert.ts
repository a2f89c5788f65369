/** Exact conversion between units of one dimension, and between fuel or pace units and their reciprocals. */
import { HallError } from "../../base/errors.ts";
import { invalidField } from "../arguments.ts";
import { add, divide, type Fraction, multiply, negate, one } from "./fraction.ts";
import { parseUnit, sameDimension, type Unit, UnknownUnit } from "./unit.ts";
import { UnitNames } from "./unit-names.ts";
import { loneMeanings } from "./units.ts";

interface Conversion {
  readonly result: Fraction;
  readonly dimension: string;
}

/** Throws VALIDATION for unknown or incompatible units, EXECUTION if there is no answer. */
export type Convert = (value: Fraction, from: string, to: string) => Conversion;

export function createConvert(): Convert {
  const names = new UnitNames();
  return (value, fromText, toText) => {
    const [from, to] = choosePair(
      readUnit(fromText, "from_unit", names),
      readUnit(toText, "to_unit", names),
    );
    const inBase = multiply(from.offset ? add(value, from.offset) : value, from.scale);
    if (from.offset && inBase.top < 0n)
      throw new HallError(
        "EXECUTION",
        "the temperature is below absolute zero (for differences use delta_degC or delta_degF)",
      );
    const inTarget = divide(carryOver(inBase, from, to, names), to.scale);
    return {
      result: to.offset ? add(inTarget, negate(to.offset)) : inTarget,
      dimension: names.dimension(to),
    };
  };
}

type NamedUnit = Unit & { readonly text: string };

/** All meanings, the likeliest first. */
function readUnit(text: string, field: string, names: UnitNames): readonly NamedUnit[] {
  const trimmed = text.trim();
  try {
    const lone = loneMeanings.get(trimmed);
    const units = lone
      ? lone.flatMap((name) => names.find(name) ?? [])
      : [parseUnit(trimmed, (name) => names.find(name))];
    return units.map((unit) => ({ ...unit, text: trimmed }));
  } catch (cause) {
    if (cause instanceof UnknownUnit)
      throw invalidField(field, unknownMessage(cause, trimmed), names.near(cause.unit));
    if (cause instanceof HallError && cause.code === "VALIDATION")
      throw invalidField(field, cause.message);
    throw cause;
  }
}

function unknownMessage({ message, unit }: UnknownUnit, text: string): string {
  return unit === text ? message : `${message} in ${JSON.stringify(text.slice(0, 80))}`;
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
function carryOver(value: Fraction, from: NamedUnit, to: NamedUnit, names: UnitNames): Fraction {
  if (sameDimension(from, to)) {
    refuseMixedTemperatures(from, to);
    return value;
  }
  const turns = turnsBetween(from, to, names);
  if (turns) return multiply(value, turns);
  if (!isReciprocal(from, to)) {
    const kinds = `${from.text} is ${names.dimension(from)}, ${to.text} is ${names.dimension(to)}`;
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
function turnsBetween(from: Unit, to: Unit, names: UnitNames): Fraction | undefined {
  const [turning, cycling, turn] = [names.find("rpm"), names.find("Hz"), names.find("turn")];
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
