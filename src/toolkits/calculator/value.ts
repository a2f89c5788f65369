/**
 * The values of an expression: exact fractions, which may be multiplied by a power of pi (so that sin(pi)
 * is 0 and not 1.2e-16), and doubles for the rest, including fractions that grow too long. Whole numbers
 * never become doubles: past their limit the calculation fails, because a rounded integer looks exact.
 */
import { HallError } from "../../base/errors.ts";
import * as fractions from "./fraction.ts";
import { bitLength, type Fraction } from "./fraction.ts";

export type MathValue = Exact | number;

interface Exact {
  readonly fraction: Fraction;
  /** The exponent of pi, by which the fraction is multiplied. */
  readonly pi: number;
}

/** 39,000 digits: 10,000! fits. */
const wholeBitsMax = 131_072;
/** The time to reduce a fraction grows with the square of this. */
const bottomBitsMax = 4_096;
export const rootDegreeMax = 1_000n;

/** Counts down the microseconds a calculation may take, estimated before each step, so that the
 * limit is the same on every machine. */
export class WorkBudget {
  #left = 50_000;

  spend(microseconds: number): void {
    this.#left -= microseconds;
    if (this.#left < 0) throw overBudget("the calculation needs too much work");
  }
}

export function exact(value: Fraction | bigint, pi = 0): Exact {
  const fraction = typeof value === "bigint" ? fractions.fraction(value) : value;
  return { fraction, pi: fraction.top === 0n ? 0 : pi };
}

/** Throws if no double can hold the number: nothing is rounded to infinity. */
export function approximate(number: number): number {
  if (Number.isNaN(number)) throw new HallError("EXECUTION", "the result is not a real number");
  if (!Number.isFinite(number))
    throw overBudget("an approximate result exceeds 1.8e308; only whole numbers may be larger");
  return number;
}

/** The value as a fraction; undefined if it is approximate or a multiple of pi. */
export function toFraction(value: MathValue): Fraction | undefined {
  return typeof value !== "number" && value.pi === 0 ? value.fraction : undefined;
}

export function toNumber(value: MathValue): number {
  if (typeof value === "number") return value;
  const number = fractions.toNumber(value.fraction) * Math.PI ** value.pi;
  if (Number.isFinite(number)) return number;
  throw overBudget("a number beyond 1.8e308 cannot be used in an approximate calculation");
}

export function toSign(value: MathValue): number {
  return typeof value === "number"
    ? Math.sign(value)
    : fractions.compare(value.fraction, fractions.zero);
}

export function compare(a: MathValue, b: MathValue): number {
  if (typeof a !== "number" && typeof b !== "number" && a.pi === b.pi)
    return fractions.compare(a.fraction, b.fraction);
  return Math.sign(toNumber(a) - toNumber(b));
}

export function add(meter: WorkBudget, a: MathValue, b: MathValue): MathValue {
  if (typeof a !== "number" && typeof b !== "number" && a.pi === b.pi)
    return metered(meter, fractions.add, a.fraction, b.fraction, a.pi);
  if (toSign(a) === 0) return b;
  if (toSign(b) === 0) return a;
  return approximate(toNumber(a) + toNumber(b));
}

export function negate(value: MathValue): MathValue {
  return typeof value === "number" ? -value : exact(fractions.negate(value.fraction), value.pi);
}

export function subtract(meter: WorkBudget, a: MathValue, b: MathValue): MathValue {
  return add(meter, a, negate(b));
}

export function multiply(meter: WorkBudget, a: MathValue, b: MathValue): MathValue {
  if (typeof a === "number" || typeof b === "number") return approximate(toNumber(a) * toNumber(b));
  return metered(meter, fractions.multiply, a.fraction, b.fraction, a.pi + b.pi);
}

export function divide(meter: WorkBudget, a: MathValue, b: MathValue): MathValue {
  if (toSign(b) === 0)
    throw new HallError("EXECUTION", "division by zero", { hint: "The divisor evaluates to 0." });
  if (typeof a === "number" || typeof b === "number") return approximate(toNumber(a) / toNumber(b));
  return metered(meter, fractions.divide, a.fraction, b.fraction, a.pi - b.pi);
}

export function power(meter: WorkBudget, base: MathValue, exponent: MathValue): MathValue {
  if (toSign(base) === 0 && toSign(exponent) < 0)
    throw new HallError("EXECUTION", "division by zero: 0 has no negative power");
  const [exactBase, exactExponent] = [toFraction(base), toFraction(exponent)];
  if (exactBase && exactExponent) return exactPower(meter, exactBase, exactExponent);
  if (toSign(base) < 0 && !Number.isInteger(toNumber(exponent))) throw noRealRoot(base);
  return approximate(toNumber(base) ** toNumber(exponent));
}

/** The exact root if there is one, else the nearest double. */
export function root(meter: WorkBudget, value: MathValue, degree: bigint): MathValue {
  if (toSign(value) < 0) {
    if (degree % 2n === 0n) throw noRealRoot(value);
    return negate(root(meter, negate(value), degree));
  }
  const fraction = toFraction(value);
  const exactRoot = fraction && findExactRoot(meter, fraction, degree);
  if (exactRoot) return exact(exactRoot);

  const number = toNumber(value);
  if (degree === 2n) return approximate(Math.sqrt(number));
  return approximate(degree === 3n ? Math.cbrt(number) : number ** (1 / Number(degree)));
}

/** For functions defined on whole numbers only; a double that happens to be whole is accepted. */
export function toWhole(value: MathValue, what: string): bigint {
  const fraction = toFraction(value);
  if (fraction?.bottom === 1n) return fraction.top;
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  throw new HallError("EXECUTION", `${what} must be a whole number, not ${formatValue(value)}`);
}

/** Short, for messages. */
export function formatValue(value: MathValue): string {
  const fraction = toFraction(value);
  if (fraction) return fractions.toRoundedDecimal(fraction, 6);
  const text = `${Number(toNumber(value).toPrecision(6))}`;
  return typeof value === "number" ? text : `about ${text}`;
}

export function overBudget(message: string): HallError {
  return new HallError("BUDGET", message, {
    hint: "The limits are fixed: split the calculation or use smaller numbers.",
  });
}

/** Checked before work that would make a number of so many bits. */
export function checkWholeBits(bits: number): void {
  if (bits > wholeBitsMax) throw overBudget("a whole number exceeds the limit of 39,000 digits");
}

type Operation = (a: Fraction, b: Fraction) => Fraction;

/** Small numbers cost one step; for others the work is estimated first. */
function metered(
  meter: WorkBudget,
  operation: Operation,
  a: Fraction,
  b: Fraction,
  pi: number,
): MathValue {
  const tops = bitLength(a.top) + bitLength(b.top);
  const bottoms = bitLength(a.bottom) + bitLength(b.bottom);
  meter.spend(1);
  if (tops + bottoms > 256) {
    meter.spend(1 + (bitLength(a.top) * bitLength(b.top)) / 1.6e7);
    // Euclid's algorithm takes as many steps as the smaller number has bits.
    if (bottoms > 2 || operation === fractions.divide)
      meter.spend(Math.min(tops, Math.max(bottoms, bitLength(b.top))));
  }
  return bounded(operation(a, b), pi);
}

function bounded(value: Fraction, pi = 0): MathValue {
  const isWhole = value.bottom === 1n;
  if (isWhole) checkWholeBits(bitLength(value.top));
  if (isWhole || (bitLength(value.top) <= wholeBitsMax && bitLength(value.bottom) <= bottomBitsMax))
    return exact(value, pi);
  return approximateNonZero(fractions.toNumber(value) * Math.PI ** pi);
}

function approximateNonZero(number: number): MathValue {
  if (number === 0) throw overBudget("a result is too close to zero to be approximated");
  return approximate(number);
}

function exactPower(meter: WorkBudget, base: Fraction, exponent: Fraction): MathValue {
  if (exponent.bottom === 1n) return wholePower(meter, base, exponent.top);
  if (base.top < 0n) throw noRealRoot(exact(base));
  const rooted =
    exponent.bottom <= rootDegreeMax ? findExactRoot(meter, base, exponent.bottom) : undefined;
  if (rooted) return wholePower(meter, rooted, exponent.top);
  return approximate(fractions.toNumber(base) ** fractions.toNumber(exponent));
}

function wholePower(meter: WorkBudget, base: Fraction, exponent: bigint): MathValue {
  if (exponent === 0n) return exact(fractions.one);
  const isUnit = fractions.magnitude(base.top) <= 1n && base.bottom === 1n;
  if (isUnit) return exact(exponent % 2n === 0n ? base.top * base.top : base.top);

  const times = Number(fractions.magnitude(exponent));
  const bits = (part: bigint): number =>
    fractions.magnitude(part) === 1n ? 1 : (bitLength(part) - 1) * times;
  const [top, bottom] = exponent > 0n ? [base.top, base.bottom] : [base.bottom, base.top];
  if (fractions.magnitude(bottom) === 1n) checkWholeBits(bits(top));
  else if (bits(bottom) > bottomBitsMax || bits(top) > wholeBitsMax)
    return approximatePower(base, Number(exponent));

  meter.spend(1 + bits(top) ** 2 / 4e6);
  return bounded(fractions.raise(base, exponent));
}

function approximatePower(base: Fraction, exponent: number): MathValue {
  // Near 1 the distance from 1 counts, and a double of the base has lost most of it.
  const offset = fractions.toNumber(fractions.add(base, fractions.fraction(-1n)));
  const isNearOne = Math.abs(offset) < 0.1;
  return approximateNonZero(
    isNearOne ? Math.exp(exponent * Math.log1p(offset)) : fractions.toNumber(base) ** exponent,
  );
}

function findExactRoot(meter: WorkBudget, value: Fraction, degree: bigint): Fraction | undefined {
  const { top, bottom } = value;
  meter.spend(1 + (bitLength(top) + bitLength(bottom)) ** 2 / 4e5);
  const rooted = {
    top: fractions.wholeRoot(top, degree),
    bottom: fractions.wholeRoot(bottom, degree),
  };
  const isExact = rooted.top ** degree === top && rooted.bottom ** degree === bottom;
  return isExact ? rooted : undefined;
}

function noRealRoot(value: MathValue): HallError {
  return new HallError(
    "EXECUTION",
    `${formatValue(value)} has no such root among the real numbers (odd roots: cbrt(x), root(x, n))`,
  );
}
