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

/** Throws VALIDATION. `find` may miss. */
export function parseUnit(text: string, find: (name: string) => Unit | undefined): Unit {
  if (text.length > lengthMax)
    throw new HallError("VALIDATION", "the unit exceeds the limit of 200 characters");
  const cursor = createCursor(tokenize(text), text, find);
  const unit = readProduct(cursor);
  if (cursor.peek() !== "") throw unreadable(cursor);
  return unit;
}

export function sameDimension(a: Unit, b: Unit): boolean {
  return a.exponents.every((exponent, index) => exponent === b.exponents[index]);
}

interface Cursor {
  readonly text: string;
  /** The token ahead, "" at the end; further ones by their distance. */
  peek(distance?: number): string;
  skip(count?: number): void;
  find(name: string): Unit | undefined;
  /** Counts a level of nesting while `read` runs. */
  nest<T>(read: () => T): T;
}

const lengthMax = 200;
const exponentMax = 12;
const depthMax = 20;
/** Far beyond yottameters to the twelfth, and quick to reduce. */
const scaleBitsMax = 4_096;

const namePattern = /^[\p{L}°%_]/u;
const tokenPattern = /\s*(\d+(?:\.\d+)?(?:e[+-]?\d{1,2}(?!\d))?|[\p{L}°%_]+|[*/^()-])/iuy;
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Rewrites alternative spellings. */
function normalise(text: string): string {
  return text
    .replace(
      /[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g,
      (raised) =>
        `^${[...raised].map((sign) => (sign === "⁻" ? "-" : superscripts.indexOf(sign))).join("")}`,
    )
    .replace(/\*\*/g, "^")
    .replace(/[·×⋅]/g, "*")
    .replace(/[÷∕]|\bper\b/gi, "/")
    .replace(/μ/g, "µ")
    .replace(/(?<=\p{L})-(?=\p{L})/gu, "_")
    .replace(/(?<!\d)(\p{L})(-?\d+)(?![\p{L}\d.])/gu, "$1^$2");
}

function tokenize(text: string): string[] {
  const normal = normalise(text.trim());
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  for (let offset = 0; offset < normal.length; offset = tokenPattern.lastIndex) {
    const token = tokenPattern.exec(normal)?.[1];
    if (token === undefined)
      throw new HallError(
        "VALIDATION",
        `cannot read the unit ${quote(text)} at ${quote(normal.slice(offset))}`,
      );
    tokens.push(token);
  }
  if (tokens.length === 0)
    throw new HallError("VALIDATION", "the unit is empty (expected one such as km, kg, °C, MiB/s)");
  return tokens;
}

function createCursor(
  tokens: readonly string[],
  text: string,
  find: (name: string) => Unit | undefined,
): Cursor {
  let index = 0;
  let depth = 0;
  return {
    text,
    find,
    peek: (distance = 0) => tokens[index + distance] ?? "",
    skip(count = 1) {
      index += count;
    },
    nest(read) {
      if (++depth > depthMax)
        throw new HallError("VALIDATION", "the unit exceeds the limit of 20 levels");
      const value = read();
      depth--;
      return value;
    },
  };
}

function readProduct(cursor: Cursor): Unit {
  let product = readFactor(cursor);
  for (let token = cursor.peek(); token !== "" && token !== ")"; token = cursor.peek()) {
    if (token === "*" || token === "/") cursor.skip();
    product = combine(product, readFactor(cursor), token === "/" ? -1 : 1);
  }
  return product;
}

const powerWords: Readonly<Record<string, number>> = { square: 2, sq: 2, cubic: 3, cu: 3 };

function readFactor(cursor: Cursor): Unit {
  const implied = powerWords[cursor.peek().toLowerCase()];
  if (implied !== undefined) {
    cursor.skip();
    return combine(
      plainNumber,
      cursor.nest(() => readFactor(cursor)),
      implied,
    );
  }
  const unit = readAtom(cursor);
  if (cursor.peek() !== "^") return unit;
  cursor.skip();
  return combine(plainNumber, unit, readExponent(cursor));
}

function readExponent(cursor: Cursor): number {
  const isNegative = cursor.peek() === "-";
  if (isNegative) cursor.skip();
  const exponent = Number(cursor.peek() || "none");
  if (!Number.isInteger(exponent) || exponent > exponentMax)
    throw unreadable(cursor, `exponents are whole numbers up to ${exponentMax}`);
  cursor.skip();
  return isNegative ? -exponent : exponent;
}

function readAtom(cursor: Cursor): Unit {
  const token = cursor.peek();
  if (namePattern.test(token)) return readName(cursor);
  cursor.skip();
  if (/^\d/.test(token)) {
    const scale = parseDecimal(token);
    if (scale.top === 0n) throw unreadable(cursor, "a factor is zero");
    const number = { ...plainNumber, scale };
    // A number belongs to the name after it: L/100km is L/(100 km).
    return namePattern.test(cursor.peek()) ? combine(number, readFactor(cursor), 1) : number;
  }
  if (token !== "(") throw unreadable(cursor);
  const inner = cursor.nest(() => readProduct(cursor));
  if (cursor.peek() !== ")") throw unreadable(cursor, 'a ")" is missing');
  cursor.skip();
  return inner;
}

/** A name may have several words ("nautical miles"): the longest known one is taken. */
function readName(cursor: Cursor): Unit {
  for (const count of [3, 2, 1]) {
    const words = Array.from({ length: count }, (_, distance) => cursor.peek(distance));
    const unit = words.every((word) => namePattern.test(word))
      ? cursor.find(words.join("_"))
      : undefined;
    if (!unit) continue;
    cursor.skip(count);
    return unit;
  }
  throw new UnknownUnit(cursor.peek());
}

/** The caller adds near names. */
export class UnknownUnit extends Error {
  readonly unit: string;

  constructor(unit: string) {
    super(`unknown unit ${quote(unit)}`);
    this.unit = unit;
  }
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

function unreadable(cursor: Cursor, reason?: string): HallError {
  const place = cursor.peek() === "" ? "unexpected end" : `at ${quote(cursor.peek())}`;
  return new HallError(
    "VALIDATION",
    `cannot read the unit ${quote(cursor.text)}: ${reason ?? place}`,
  );
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
