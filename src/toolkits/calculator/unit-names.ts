/** Units by name, with prefixes, plurals and careless capitals; each is worked out from its definition when it is first asked for. */
import { findNear } from "../../base/near.ts";
import { equals, type Fraction, fraction, multiply, parseDecimal, raise } from "./fraction.ts";
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

export interface UnitNames {
  find(name: string): Unit | undefined;
  /** Known names like an unknown one, best first. */
  near(name: string): string[];
  /** "speed", or "length^2·time^-3" for what has no name. */
  dimension(unit: Unit): string;
}

export function createUnitNames(): UnitNames {
  const units = new Map<string, Unit>();
  const rows: ReadonlyMap<string, UnitRow> = new Map(
    unitRows.flatMap((row) => namesOf(row).map((name) => [name, row] as const)),
  );
  let folded: ReadonlyMap<string, readonly string[]> | undefined;

  // Exact spellings first, so that mW and MW stay apart; then plurals; then capitals, where only one unit can be meant.
  const find = (name: string): Unit | undefined =>
    findSpelling(name) ??
    (isPlural(name) ? findSpelling(name.slice(0, -1)) : undefined) ??
    findFolded(name);
  const findSpelling = (name: string): Unit | undefined => {
    const known = units.get(name);
    if (known) return known;
    const row = rows.get(name);
    const unit = row ? define(row) : findPrefixed(name, rows, define);
    // What is misspelt is not kept: strangers could fill the memory with it.
    if (unit) units.set(name, unit);
    return unit;
  };
  const define = (row: UnitRow): Unit => {
    const index = (baseDimensions as readonly string[]).indexOf(row.is);
    if (index >= 0)
      return {
        ...plainNumber,
        exponents: plainNumber.exponents.map((_, other) => (other === index ? 1 : 0)),
      };
    const { scale, exponents } = parseUnit(row.is, findSpelling);
    const isDifference = row.names.startsWith("delta");
    return {
      scale,
      exponents,
      ...(row.offset && { offset: parseDecimal(row.offset) }),
      ...(isDifference && { isDifference }),
    };
  };
  const findFolded = (name: string): Unit | undefined => {
    folded ??= foldNames();
    const lower = name.toLowerCase();
    const spellings =
      folded.get(lower) ?? (isPlural(lower) ? folded.get(lower.slice(0, -1)) : undefined) ?? [];
    const [first, ...others] = spellings.flatMap((spelling) => findSpelling(spelling) ?? []);
    return first &&
      others.every((other) => sameDimension(other, first) && equals(other.scale, first.scale))
      ? first
      : undefined;
  };
  const near = (name: string): string[] => {
    folded ??= foldNames();
    const sameLetters = folded.get(name.toLowerCase()) ?? [];
    return sameLetters.length > 0
      ? sameLetters.slice(0, 5)
      : findNear(
          name,
          [...folded.values()].flat().filter(({ length }) => length >= name.length / 2),
        );
  };
  const dimension = (unit: Unit): string => {
    const base = baseDimensions.find((_, index) =>
      unit.exponents.every((exponent, other) => exponent === (other === index ? 1 : 0)),
    );
    const compound = () =>
      namedDimensions.find(([, example]) =>
        sameDimension(parseUnit(example, findSpelling), unit),
      )?.[0];
    return base ?? compound() ?? spellDimension(unit);
  };
  return { find, near, dimension };
}

function namesOf({ names }: UnitRow): string[] {
  return names.split(" ");
}

function isPlural(name: string): boolean {
  return /..s$/.test(name);
}

function findPrefixed(
  name: string,
  rows: ReadonlyMap<string, UnitRow>,
  define: (row: UnitRow) => Unit,
): Unit | undefined {
  for (const [prefix, factor] of prefixesOf(name)) {
    const row = rows.get(name.slice(prefix.length));
    if (!row || !prefixesFor(row).some(([symbol, word]) => symbol === prefix || word === prefix))
      continue;
    const { scale, exponents } = define(row);
    return { scale: multiply(scale, factor), exponents };
  }
  return undefined;
}

/** Symbols go before symbols and words before words: km and kilometer, not kmeter. */
function prefixesOf(name: string): (readonly [prefix: string, factor: Fraction])[] {
  return everyPrefix.flatMap(([symbol, word, [base, power]]) => {
    const isWord = name.startsWith(word) && name.length >= word.length + wordLengthMin;
    const isSymbol = name.startsWith(symbol) && name.length <= symbol.length + symbolLengthMax;
    return isWord || isSymbol
      ? [[isWord ? word : symbol, raise(fraction(base), power)] as const]
      : [];
  });
}

const wordLengthMin = 3;
const symbolLengthMax = 4;
const everyPrefix: readonly Prefix[] = [...new Set([...siPrefixes, ...dataPrefixes])];

function prefixesFor({ prefixes }: UnitRow): readonly Prefix[] {
  return prefixes === "data" ? dataPrefixes : prefixes === "si" ? siPrefixes : [];
}

/** Every name there is, under its spelling in small letters. */
function foldNames(): ReadonlyMap<string, readonly string[]> {
  const folded = new Map<string, string[]>();
  for (const row of unitRows) {
    const prefixed = prefixesFor(row).flatMap(([symbol, word]) =>
      namesOf(row).map((name) => `${name.length > symbolLengthMax ? word : symbol}${name}`),
    );
    for (const name of [...namesOf(row), ...prefixed]) {
      const lower = name.toLowerCase();
      folded.set(lower, [...(folded.get(lower) ?? []), name]);
    }
  }
  return folded;
}

function spellDimension({ exponents }: Unit): string {
  const parts = exponents.flatMap((exponent, index) =>
    exponent === 0 ? [] : [`${baseDimensions[index]}${exponent === 1 ? "" : `^${exponent}`}`],
  );
  return parts.length > 0 ? parts.join("·") : "a plain number";
}
