/** Exact conversion between units of one dimension, and between fuel or pace units and their reciprocals. */
import { HallError } from "../../base/errors.ts";
import { findNear } from "../../base/text.ts";
import { invalidField } from "../toolkit.ts";
import {
  add,
  divide,
  equals,
  type Fraction,
  fraction,
  multiply,
  negate,
  one,
  parseDecimal,
  raise,
} from "./fraction.ts";
import { parseUnit, plainNumber, sameDimension, type Unit, UnitProblem } from "./unit.ts";
import {
  baseDimensions,
  dataPrefixes,
  loneMeanings,
  namedDimensions,
  type Prefix,
  siPrefixes,
  type UnitRow,
  unitRows,
} from "./units.ts";

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

/** Units by name, with prefixes, plurals and careless capitals; each is computed on first use. */

const knownUnits = new Map<string, Unit>();
const rows: ReadonlyMap<string, UnitRow> = new Map(
  unitRows.flatMap((row) => row.names.map((name) => [name, row] as const)),
);
let spellings: ReadonlyMap<string, readonly string[]> | undefined;

/** Exact spellings first, so that mW and MW stay apart; then plurals; then other capitals. */
function findUnit(name: string): Unit | undefined {
  return (
    findSpelling(name) ??
    (isPlural(name) ? findSpelling(name.slice(0, -1)) : undefined) ??
    findIgnoringCase(name)
  );
}

/** Known names similar to an unknown one, best first. */
function findNearUnits(name: string): string[] {
  const sameLetters = spellingsByLowerCase().get(name.toLowerCase()) ?? [];
  if (sameLetters.length > 0) return sameLetters.slice(0, 5);
  const names = [...spellingsByLowerCase().values()].flat();
  return findNear(
    name,
    names.filter(({ length }) => length >= name.length / 2),
  );
}

/** "speed", or "length^2·time^-3" if it has no name. */
function dimensionOf(unit: Unit): string {
  const named = namedDimensions.find((known) =>
    sameDimension(parseUnit(known.unit, findSpelling), unit),
  );
  if (named) return named.name;
  const parts = unit.exponents.flatMap((exponent, index) =>
    exponent === 0 ? [] : `${baseDimensions[index]}${exponent === 1 ? "" : `^${exponent}`}`,
  );
  return parts.length > 0 ? parts.join("·") : "a plain number";
}

function findSpelling(name: string): Unit | undefined {
  const known = knownUnits.get(name);
  if (known) return known;
  const row = rows.get(name);
  const unit = row ? defineUnit(row) : findPrefixed(name);
  // Misses are not cached: callers could fill the memory with them.
  if (unit) knownUnits.set(name, unit);
  return unit;
}

function defineUnit({ names, definition, offset }: UnitRow): Unit {
  if (baseDimensions.includes(definition)) {
    const exponents = baseDimensions.map((dimension) => (dimension === definition ? 1 : 0));
    return { ...plainNumber, exponents };
  }
  const { scale, exponents } = parseUnit(definition, findSpelling);
  return {
    scale,
    exponents,
    offset: offset === undefined ? undefined : parseDecimal(offset),
    isDifference: names[0]?.startsWith("delta"),
  };
}

const wordLengthMin = 3;
const symbolLengthMax = 4;

/** Symbols go with symbols and words with words: km and kilometer, not kmeter. */
function findPrefixed(name: string): Unit | undefined {
  for (const prefix of new Set([...siPrefixes, ...dataPrefixes])) {
    const { symbol, word, base, power } = prefix;
    const isWord = name.startsWith(word) && name.length >= word.length + wordLengthMin;
    const isSymbol = name.startsWith(symbol) && name.length <= symbol.length + symbolLengthMax;
    if (!isWord && !isSymbol) continue;

    const row = rows.get(name.slice((isWord ? word : symbol).length));
    if (!row || !prefixesFor(row).includes(prefix)) continue;
    const { scale, exponents } = defineUnit(row);
    return { scale: multiply(scale, raise(fraction(base), power)), exponents };
  }
  return undefined;
}

/** Only if all spellings that differ in capitals are the same unit. */
function findIgnoringCase(name: string): Unit | undefined {
  const lower = name.toLowerCase();
  const singular = isPlural(lower) ? spellingsByLowerCase().get(lower.slice(0, -1)) : undefined;
  const candidates = spellingsByLowerCase().get(lower) ?? singular ?? [];
  const [first, ...others] = candidates.flatMap((spelling) => findSpelling(spelling) ?? []);
  const isSame = (other: Unit): boolean =>
    first !== undefined && sameDimension(other, first) && equals(other.scale, first.scale);
  return others.every(isSame) ? first : undefined;
}

/** Every name, with its prefixes, under its lower-case spelling. */
function spellingsByLowerCase(): ReadonlyMap<string, readonly string[]> {
  if (spellings) return spellings;
  const found = new Map<string, string[]>();
  const note = (name: string): void => {
    const lower = name.toLowerCase();
    found.set(lower, [...(found.get(lower) ?? []), name]);
  };
  for (const row of unitRows) {
    row.names.forEach(note);
    for (const { symbol, word } of prefixesFor(row))
      for (const name of row.names) note(`${name.length > symbolLengthMax ? word : symbol}${name}`);
  }
  spellings = found;
  return found;
}

function prefixesFor({ prefixes }: UnitRow): readonly Prefix[] {
  if (prefixes === "data") return dataPrefixes;
  return prefixes === "si" ? siPrefixes : [];
}

function isPlural(name: string): boolean {
  return /..s$/.test(name);
}
