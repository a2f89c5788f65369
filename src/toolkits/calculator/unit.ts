/**
 * Units as people write them: "km/h", "square feet", "kg*m/s^2", "L/100km", "meters per second", "MiB/s".
 * Products and quotients go from left to right, powers bind tighter, brackets group.
 */
import { HallError } from "../../base/errors.ts";
import { bitLength, type Fraction, multiply, one, parseDecimal, raise } from "./fraction.ts";
import { baseDimensions } from "./units.ts";

export interface Unit {
  /** In base units. */
  readonly scale: Fraction;
  /** One for each of `baseDimensions`. */
  readonly exponents: readonly number[];
  /** Added before scaling: a temperature scale with its own zero. */
  readonly offset?: Fraction | undefined;
  /** A temperature difference, which must not become a temperature. */
  readonly isDifference?: boolean | undefined;
}

export const plainNumber: Unit = { scale: one, exponents: baseDimensions.map(() => 0) };

export function sameDimension(a: Unit, b: Unit): boolean {
  return a.exponents.every((exponent, index) => exponent === b.exponents[index]);
}

/** A text that is no unit. The caller knows which field it belongs to. */
export class UnitProblem extends Error {
  /** The name that is not known, if that is the problem. */
  readonly unknown: string | undefined;

  constructor(message: string, unknown?: string) {
    super(message);
    this.unknown = unknown;
  }
}

type FindUnit = (name: string) => Unit | undefined;

/** Throws UnitProblem. `find` may miss. */
export function parseUnit(text: string, find: FindUnit): Unit {
  if (text.length > lengthMax)
    throw new UnitProblem("the unit exceeds the limit of 200 characters");
  const reader = new UnitReader(text, find);
  const unit = reader.readProduct();
  reader.expectEnd();
  return unit;
}

const lengthMax = 200;
const exponentMax = 12;
const depthMax = 20;
/** Far beyond yottameters to the twelfth, and quick to reduce. */
const scaleBitsMax = 4_096;

const namePattern = /^[\p{L}°%_]/u;
const tokenPattern = /\s*(\d+(?:\.\d+)?(?:e[+-]?\d{1,2}(?!\d))?|[\p{L}°%_]+|[*/^()-])/iuy;
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const powerWords = new Map([
  ["square", 2],
  ["sq", 2],
  ["cubic", 3],
  ["cu", 3],
]);

class UnitReader {
  readonly #text: string;
  readonly #find: FindUnit;
  readonly #tokens: readonly string[];
  #next = 0;
  #depth = 0;

  constructor(text: string, find: FindUnit) {
    this.#text = text;
    this.#find = find;
    this.#tokens = tokenize(text);
  }

  readProduct(): Unit {
    let product = this.#readFactor();
    for (let token = this.#peek(); token !== "" && token !== ")"; token = this.#peek()) {
      if (token === "*" || token === "/") this.#next++;
      product = combine(product, this.#readFactor(), token === "/" ? -1 : 1);
    }
    return product;
  }

  expectEnd(): void {
    if (this.#peek() !== "") throw this.#unreadable();
  }

  /** The token ahead, "" at the end. */
  #peek(): string {
    return this.#tokens[this.#next] ?? "";
  }

  #readFactor(): Unit {
    const implied = powerWords.get(this.#peek().toLowerCase());
    if (implied !== undefined) {
      this.#next++;
      return combine(
        plainNumber,
        this.#nest(() => this.#readFactor()),
        implied,
      );
    }
    const unit = this.#readAtom();
    if (this.#peek() !== "^") return unit;
    this.#next++;
    return combine(plainNumber, unit, this.#readExponent());
  }

  #readExponent(): number {
    const isNegative = this.#peek() === "-";
    if (isNegative) this.#next++;
    const exponent = Number(this.#peek() || "none");
    if (!Number.isInteger(exponent) || exponent > exponentMax)
      throw this.#unreadable(`exponents are whole numbers up to ${exponentMax}`);
    this.#next++;
    return isNegative ? -exponent : exponent;
  }

  #readAtom(): Unit {
    const token = this.#peek();
    if (namePattern.test(token)) return this.#readName();
    this.#next++;
    if (/^\d/.test(token)) {
      const scale = parseDecimal(token);
      if (scale.top === 0n) throw this.#unreadable("a factor is zero");
      const number = { ...plainNumber, scale };
      // A number belongs to the name after it: L/100km is L/(100 km).
      return namePattern.test(this.#peek()) ? combine(number, this.#readFactor(), 1) : number;
    }
    if (token !== "(") throw this.#unreadable();
    const inner = this.#nest(() => this.readProduct());
    if (this.#peek() !== ")") throw this.#unreadable('a ")" is missing');
    this.#next++;
    return inner;
  }

  /** A name may have several words ("nautical miles"): the longest known one is taken. */
  #readName(): Unit {
    for (const count of [3, 2, 1]) {
      const words = this.#tokens.slice(this.#next, this.#next + count);
      const isName = words.length === count && words.every((word) => namePattern.test(word));
      const unit = isName ? this.#find(words.join("_")) : undefined;
      if (!unit) continue;
      this.#next += count;
      return unit;
    }
    const name = this.#peek();
    const place = name === this.#text ? "" : ` in ${quote(this.#text)}`;
    throw new UnitProblem(`unknown unit ${quote(name)}${place}`, name);
  }

  #nest(read: () => Unit): Unit {
    if (++this.#depth > depthMax) throw new UnitProblem("the unit exceeds the limit of 20 levels");
    const unit = read();
    this.#depth--;
    return unit;
  }

  #unreadable(reason?: string): UnitProblem {
    const place = this.#peek() === "" ? "unexpected end" : `at ${quote(this.#peek())}`;
    return new UnitProblem(`cannot read the unit ${quote(this.#text)}: ${reason ?? place}`);
  }
}

function tokenize(text: string): string[] {
  const normal = normalise(text);
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  for (let offset = 0; offset < normal.length; offset = tokenPattern.lastIndex) {
    const token = tokenPattern.exec(normal)?.[1];
    if (token === undefined)
      throw new UnitProblem(
        `cannot read the unit ${quote(text)} at ${quote(normal.slice(offset))}`,
      );
    tokens.push(token);
  }
  if (tokens.length === 0)
    throw new UnitProblem("the unit is empty (expected one such as km, kg, °C, MiB/s)");
  return tokens;
}

/** Rewrites alternative spellings. */
function normalise(text: string): string {
  const readRaised = (raised: string): string =>
    [...raised].map((sign) => (sign === "⁻" ? "-" : superscripts.indexOf(sign))).join("");
  return text
    .replace(/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (raised) => `^${readRaised(raised)}`)
    .replace(/\*\*/g, "^")
    .replace(/[·×⋅]/g, "*")
    .replace(/[÷∕]|\bper\b/gi, "/")
    .replace(/μ/g, "µ")
    .replace(/(?<=\p{L})-(?=\p{L})/gu, "_")
    .replace(/(?<!\d)(\p{L})(-?\d+)(?![\p{L}\d.])/gu, "$1^$2");
}

/** `a` times a power of `b`, without offsets: in a compound a degree is a difference. */
function combine(a: Unit, b: Unit, exponent: number): Unit {
  if (a === plainNumber && exponent === 1) return b;
  const scale = multiply(a.scale, raise(b.scale, BigInt(exponent)));
  if (bitLength(scale.top) + bitLength(scale.bottom) > scaleBitsMax)
    throw new HallError("BUDGET", "the unit is too large or too small");
  return {
    scale,
    exponents: a.exponents.map((own, index) => own + exponent * (b.exponents[index] ?? 0)),
  };
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
