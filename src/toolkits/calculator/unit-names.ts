/** Units by name, with prefixes, plurals and careless capitals; each is computed on first use. */
import { findNear } from "../../base/text.ts";
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

export class UnitNames {
  readonly #units = new Map<string, Unit>();
  readonly #rows: ReadonlyMap<string, UnitRow> = new Map(
    unitRows.flatMap((row) => row.names.map((name) => [name, row] as const)),
  );
  #byLowerCase: ReadonlyMap<string, readonly string[]> | undefined;

  /** Exact spellings first, so that mW and MW stay apart; then plurals; then other capitals. */
  find(name: string): Unit | undefined {
    return (
      this.#findSpelling(name) ??
      (isPlural(name) ? this.#findSpelling(name.slice(0, -1)) : undefined) ??
      this.#findIgnoringCase(name)
    );
  }

  /** Known names similar to an unknown one, best first. */
  near(name: string): string[] {
    const sameLetters = this.#spellings().get(name.toLowerCase()) ?? [];
    if (sameLetters.length > 0) return sameLetters.slice(0, 5);
    const names = [...this.#spellings().values()].flat();
    return findNear(
      name,
      names.filter(({ length }) => length >= name.length / 2),
    );
  }

  /** "speed", or "length^2·time^-3" if it has no name. */
  dimension(unit: Unit): string {
    const base = baseDimensions.find((_, index) =>
      unit.exponents.every((exponent, other) => exponent === (other === index ? 1 : 0)),
    );
    if (base) return base;
    const compound = namedDimensions.find((known) =>
      sameDimension(
        parseUnit(known.unit, (name) => this.#findSpelling(name)),
        unit,
      ),
    );
    return compound?.name ?? formatDimension(unit);
  }

  #findSpelling(name: string): Unit | undefined {
    const known = this.#units.get(name);
    if (known) return known;
    const row = this.#rows.get(name);
    const unit = row ? this.#define(row) : this.#findPrefixed(name);
    // Misses are not cached: callers could fill the memory with them.
    if (unit) this.#units.set(name, unit);
    return unit;
  }

  #define({ names, definition, offset }: UnitRow): Unit {
    const index = baseDimensions.indexOf(definition);
    if (index >= 0) {
      const exponents = baseDimensions.map((_, other) => (other === index ? 1 : 0));
      return { ...plainNumber, exponents };
    }
    const { scale, exponents } = parseUnit(definition, (name) => this.#findSpelling(name));
    return {
      scale,
      exponents,
      offset: offset === undefined ? undefined : parseDecimal(offset),
      isDifference: names[0]?.startsWith("delta"),
    };
  }

  #findPrefixed(name: string): Unit | undefined {
    for (const [prefix, factor] of prefixesOf(name)) {
      const row = this.#rows.get(name.slice(prefix.length));
      const isAllowed =
        row && prefixesFor(row).some(({ symbol, word }) => symbol === prefix || word === prefix);
      if (!isAllowed) continue;
      const { scale, exponents } = this.#define(row);
      return { scale: multiply(scale, factor), exponents };
    }
    return undefined;
  }

  /** Only if all spellings that differ in capitals are the same unit. */
  #findIgnoringCase(name: string): Unit | undefined {
    const lower = name.toLowerCase();
    const singular = isPlural(lower) ? this.#spellings().get(lower.slice(0, -1)) : undefined;
    const spellings = this.#spellings().get(lower) ?? singular ?? [];
    const [first, ...others] = spellings.flatMap((spelling) => this.#findSpelling(spelling) ?? []);
    if (!first) return undefined;
    const isSame = (other: Unit): boolean =>
      sameDimension(other, first) && equals(other.scale, first.scale);
    return others.every(isSame) ? first : undefined;
  }

  /** Every name under its lower-case spelling. */
  #spellings(): ReadonlyMap<string, readonly string[]> {
    if (this.#byLowerCase) return this.#byLowerCase;
    const spellings = new Map<string, string[]>();
    for (const name of allNames()) {
      const lower = name.toLowerCase();
      spellings.set(lower, [...(spellings.get(lower) ?? []), name]);
    }
    this.#byLowerCase = spellings;
    return spellings;
  }
}

function allNames(): string[] {
  return unitRows.flatMap((row) => [
    ...row.names,
    ...prefixesFor(row).flatMap(({ symbol, word }) =>
      row.names.map((name) => `${name.length > symbolLengthMax ? word : symbol}${name}`),
    ),
  ]);
}

function isPlural(name: string): boolean {
  return /..s$/.test(name);
}

const wordLengthMin = 3;
const symbolLengthMax = 4;
const allPrefixes: readonly Prefix[] = [...new Set([...siPrefixes, ...dataPrefixes])];

/** Symbols go with symbols and words with words: km and kilometer, not kmeter. */
function prefixesOf(name: string): (readonly [prefix: string, factor: Fraction])[] {
  return allPrefixes.flatMap(({ symbol, word, base, power }) => {
    const isWord = name.startsWith(word) && name.length >= word.length + wordLengthMin;
    const isSymbol = name.startsWith(symbol) && name.length <= symbol.length + symbolLengthMax;
    if (!isWord && !isSymbol) return [];
    return [[isWord ? word : symbol, raise(fraction(base), power)] as const];
  });
}

function prefixesFor({ prefixes }: UnitRow): readonly Prefix[] {
  if (prefixes === "data") return dataPrefixes;
  return prefixes === "si" ? siPrefixes : [];
}

function formatDimension({ exponents }: Unit): string {
  const parts = exponents.flatMap((exponent, index) =>
    exponent === 0 ? [] : `${baseDimensions[index]}${exponent === 1 ? "" : `^${exponent}`}`,
  );
  return parts.length > 0 ? parts.join("·") : "a plain number";
}
