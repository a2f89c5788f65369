/** Units by name, with prefixes, plurals and careless capitals; each is computed on first use. */
import { findNear } from "../../base/text.ts";
import { equals, fraction, multiply, parseDecimal, raise } from "./fraction.ts";
import { parseUnit, plainNumber, sameDimension, type Unit } from "./unit.ts";
import {
  baseDimensions,
  dataPrefixes,
  namedDimensions,
  type Prefix,
  siPrefixes,
  type UnitRow,
  unitRows,
} from "./units.ts";

const knownUnits = new Map<string, Unit>();
const rows: ReadonlyMap<string, UnitRow> = new Map(
  unitRows.flatMap((row) => row.names.map((name) => [name, row] as const)),
);
let spellings: ReadonlyMap<string, readonly string[]> | undefined;

/** Exact spellings first, so that mW and MW stay apart; then plurals; then other capitals. */
export function findUnit(name: string): Unit | undefined {
  return (
    findSpelling(name) ??
    (isPlural(name) ? findSpelling(name.slice(0, -1)) : undefined) ??
    findIgnoringCase(name)
  );
}

/** Known names similar to an unknown one, best first. */
export function findNearUnits(name: string): string[] {
  const sameLetters = spellingsByLowerCase().get(name.toLowerCase()) ?? [];
  if (sameLetters.length > 0) return sameLetters.slice(0, 5);
  const names = [...spellingsByLowerCase().values()].flat();
  return findNear(
    name,
    names.filter(({ length }) => length >= name.length / 2),
  );
}

/** "speed", or "length^2·time^-3" if it has no name. */
export function dimensionOf(unit: Unit): string {
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
