/**
 * Arithmetic on integers, ratios and doubles, with the contagion rules of Common Lisp. Each function has a
 * fast path for two small integers. Comparisons of exact numbers with doubles are exact. No result is an
 * infinity or NaN: as in SBCL, overflow and division by zero are conditions.
 */
import type { Machine } from "./machine.ts";
import { doubleOf, fractionOf } from "./rationals.ts";
import { cl } from "./symbol.ts";
import { Float, integer, list, Ratio, type Value } from "./values.ts";

export type Int = number | bigint;
export type Rational = Int | Ratio;
export type Real = Rational | Float;

export function add(m: Machine, a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    return Number.isSafeInteger(sum) ? sum : BigInt(a) + BigInt(b);
  }
  if (a instanceof Float && b instanceof Float)
    return checkedFloat(m, a.value + b.value, "+", a, b);
  return total(m, a, b, 1);
}

export function subtract(m: Machine, a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    return Number.isSafeInteger(difference) ? difference : BigInt(a) - BigInt(b);
  }
  if (a instanceof Float && b instanceof Float)
    return checkedFloat(m, a.value - b.value, "-", a, b);
  return total(m, a, b, -1);
}

/** a + b or, with the sign -1, a - b. */
function total(m: Machine, a: Value, b: Value, sign: 1 | -1): Value {
  const x = real(m, a, "NUMBER");
  const y = real(m, b, "NUMBER");
  if (x instanceof Float || y instanceof Float)
    return checkedFloat(m, toDouble(m, x) + sign * toDouble(m, y), sign > 0 ? "+" : "-", a, b);
  if (x instanceof Ratio || y instanceof Ratio)
    return addRatios(m, x, sign > 0 ? numeratorOf(y) : -numeratorOf(y), denominatorOf(y));
  return sized(m, sign > 0 ? BigInt(x) + BigInt(y) : BigInt(x) - BigInt(y));
}

/** Knuth's algorithm: only the gcd of the denominators can cancel, and it is usually small. */
function addRatios(m: Machine, x: Rational, top: bigint, bottom: bigint): Rational {
  const [a, b] = [numeratorOf(x), denominatorOf(x)];
  const common = gcd(m, b, bottom);
  if (common === 1n) return checkedRatio(m, a * bottom + top * b, b * bottom);
  const sum = a * (bottom / common) + top * (b / common);
  const rest = gcd(m, sum, common);
  return checkedRatio(m, sum / rest, (b / common) * (bottom / rest));
}

/** In lowest terms already. */
function checkedRatio(m: Machine, numerator: bigint, denominator: bigint): Rational {
  const words = Math.max(wordsOf(numerator), wordsOf(denominator));
  if (words > 8) m.checkBits(words * 64);
  return denominator === 1n ? integer(numerator) : new Ratio(numerator, denominator);
}

export function multiply(m: Machine, a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    // 0 * -5 must be 0, not -0.
    return Number.isSafeInteger(product) ? product + 0 : BigInt(a) * BigInt(b);
  }
  if (a instanceof Float && b instanceof Float)
    return checkedFloat(m, a.value * b.value, "*", a, b);
  const x = real(m, a, "NUMBER");
  const y = real(m, b, "NUMBER");
  if (x instanceof Float || y instanceof Float)
    return checkedFloat(m, toDouble(m, x) * toDouble(m, y), "*", a, b);
  if (x instanceof Ratio || y instanceof Ratio) return multiplyRatios(m, x, y);
  return product(m, BigInt(x), BigInt(y));
}

/** Only numerators with the other's denominators can cancel; in a square nothing can. */
function multiplyRatios(m: Machine, x: Rational, y: Rational): Rational {
  const [a, b, c, d] = [numeratorOf(x), denominatorOf(x), numeratorOf(y), denominatorOf(y)];
  if (x === y) return checkedRatio(m, a * c, b * d);
  const [down, up] = [gcd(m, a, d), gcd(m, c, b)];
  if (a === 0n || c === 0n) return 0;
  return checkedRatio(m, (a / down) * (c / up), (b / up) * (d / down));
}

export function divide(m: Machine, a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number" && b !== 0) {
    const quotient = a / b;
    if (Number.isSafeInteger(quotient) && a % b === 0) return quotient + 0;
  }
  const x = real(m, a, "NUMBER");
  const y = real(m, b, "NUMBER");
  if (isZero(y)) return divisionByZero(m, "/", a, b);
  if (x instanceof Float || y instanceof Float)
    return checkedFloat(m, toDouble(m, x) / toDouble(m, y), "/", a, b);
  return rational(m, numeratorOf(x) * denominatorOf(y), denominatorOf(x) * numeratorOf(y));
}

export function negate(m: Machine, a: Value): Value {
  if (typeof a === "number") return 0 - a;
  const x = real(m, a, "NUMBER");
  if (x instanceof Float) return new Float(-x.value);
  if (x instanceof Ratio) return new Ratio(-x.numerator, x.denominator);
  return integer(-BigInt(x));
}

/** Negative, zero or positive for a < b, a = b, a > b. Exact for all types. */
export function compare(m: Machine, a: Value, b: Value): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return compareReals(real(m, a, "REAL"), real(m, b, "REAL"));
}

/** `=` */
export function equalNumbers(m: Machine, a: Value, b: Value): boolean {
  if (typeof a === "number" && typeof b === "number") return a === b;
  return compareReals(real(m, a, "NUMBER"), real(m, b, "NUMBER")) === 0;
}

function compareReals(x: Real, y: Real): number {
  if (x instanceof Float) {
    if (y instanceof Float) return order(x.value, y.value);
    if (y instanceof Ratio) return -compareReals(y, x);
    return order(x.value, y);
  }
  if (y instanceof Float) {
    if (!(x instanceof Ratio)) return order(x, y.value);
    const exact = fractionOf(y.value);
    return order(x.numerator * exact.denominator, exact.numerator * x.denominator);
  }
  if (x instanceof Ratio || y instanceof Ratio)
    return order(numeratorOf(x) * denominatorOf(y), numeratorOf(y) * denominatorOf(x));
  return order(x, y);
}

// JS compares numbers with bigints by their exact values.
function order(a: Int, b: Int): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

export function isNumber(value: Value): value is Real {
  return (
    typeof value === "number" ||
    typeof value === "bigint" ||
    value instanceof Float ||
    value instanceof Ratio
  );
}

export function isInteger(value: Value): value is Int {
  return typeof value === "number" || typeof value === "bigint";
}

export function isZero(value: Real): boolean {
  return value === 0 || (value instanceof Float && value.value === 0);
}

/** -1, 0 or 1; the sign of a zero is 0. */
export function signOf(value: Real): number {
  if (value instanceof Float) return Math.sign(value.value) + 0;
  if (value instanceof Ratio) return value.numerator < 0n ? -1 : 1;
  return order(value, 0);
}

export function real(m: Machine, value: Value, expected: "NUMBER" | "REAL" = "REAL"): Real {
  if (isNumber(value)) return value;
  return m.typeError(value, expected);
}

export function toInteger(m: Machine, value: Value): Int {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return m.typeError(value, "INTEGER");
}

export function toRational(m: Machine, value: Value): Rational {
  if (isNumber(value) && !(value instanceof Float)) return value;
  return m.typeError(value, "RATIONAL");
}

export function numeratorOf(value: Rational): bigint {
  return value instanceof Ratio ? value.numerator : BigInt(value);
}

export function denominatorOf(value: Rational): bigint {
  return value instanceof Ratio ? value.denominator : 1n;
}

/** numerator / denominator in lowest terms; the denominator is not zero. */
export function rational(m: Machine, numerator: bigint, denominator: bigint): Rational {
  const words = Math.max(wordsOf(numerator), wordsOf(denominator));
  if (words > 8) m.checkBits(words * 64);
  const divisor = gcd(m, numerator, denominator);
  const sign = denominator < 0n ? -1n : 1n;
  const bottom = (sign * denominator) / divisor;
  const top = (sign * numerator) / divisor;
  return bottom === 1n ? integer(top) : new Ratio(top, bottom);
}

/** Euclid's algorithm; not negative, gcd(0, 0) is 0. Counts steps, because long numbers take long. */
export function gcd(m: Machine, a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  const cost = Math.min(wordsOf(x), wordsOf(y));
  while (y > 0n) {
    if (x <= 9007199254740991n && y <= 9007199254740991n)
      return BigInt(smallGcd(Number(x), Number(y)));
    if (cost > 8) m.tick(cost);
    [x, y] = [y, x % y];
  }
  return x;
}

function smallGcd(a: number, b: number): number {
  let x = a;
  let y = b;
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** The nearest double; signals an overflow. */
export function toDouble(m: Machine, value: Real): number {
  if (typeof value === "number") return value;
  if (value instanceof Float) return value.value;
  const double =
    value instanceof Ratio ? doubleOf(value.numerator, value.denominator) : Number(value);
  return Number.isFinite(double) ? double : floatOverflow(m, "FLOAT", value);
}

export function checkedFloat(
  m: Machine,
  value: number,
  operation: string,
  ...operands: Value[]
): Float {
  return Number.isFinite(value) ? new Float(value) : floatOverflow(m, operation, ...operands);
}

/** Checks the size of a product before computing it. */
function product(m: Machine, a: bigint, b: bigint): Int {
  const words = wordsOf(a) + wordsOf(b);
  if (words > 8) m.checkBits(words * 64);
  return integer(a * b);
}

function sized(m: Machine, value: bigint): Int {
  const words = wordsOf(value);
  if (words > 8) m.checkBits(words * 64);
  return integer(value);
}

const wordSteps = [1, 4, 16, 64, 256].map((words) => ({ words, bound: 1n << BigInt(64 * words) }));

/** An upper bound of the length in 64-bit words. Comparing bigints of different lengths is cheap. */
export function wordsOf(value: bigint): number {
  const size = value < 0n ? -value : value;
  for (const { words, bound } of wordSteps) if (size < bound) return words;
  return Math.ceil(value.toString(16).length / 16);
}

// The conditions arithmetic signals.

export function divisionByZero(m: Machine, operation: string, ...operands: Value[]): never {
  m.error("DIVISION-BY-ZERO", { OPERATION: cl(operation), OPERANDS: list(...operands) });
}

export function floatOverflow(m: Machine, operation: string, ...operands: Value[]): never {
  m.error("FLOATING-POINT-OVERFLOW", { OPERATION: cl(operation), OPERANDS: list(...operands) });
}

export function noComplex(m: Machine, operation: string, ...operands: Value[]): never {
  const call = `(${[operation, ...operands.map((value) => m.show(value))].join(" ")})`;
  m.unavailable(cl("COMPLEX"), `${call} would be a complex number, which is not supported`);
}
