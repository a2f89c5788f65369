/**
 * What an expression is worth. Exact as long as that can be: fractions, and multiples of pi, so that sin(pi) is 0 and not 1.2e-16.
 * What neither can say, and fractions that grow too long, go on as doubles. Whole numbers never do: past their limit the
 * calculation ends, because a rounded integer looks exact and is not.
 */
import { HallError } from "../../base/errors.ts";
import * as fractions from "./fraction.ts";
import { bitLength, type Fraction } from "./fraction.ts";

export type Value =
  | { readonly kind: "exact"; readonly fraction: Fraction }
  | { readonly kind: "pi"; readonly times: Fraction }
  | { readonly kind: "approximate"; readonly number: number };

/** 39,000 digits: 10,000! fits. */
export const wholeBitsMax = 131_072;
/** Reducing a fraction takes time with the square of this. */
const bottomBitsMax = 4_096;

/** Counts down the microseconds one calculation may take, as estimated before each step: the limit is the same on every machine. */
export class Meter {
  #left = 50_000;

  spend(microseconds: number): void {
    this.#left -= microseconds;
    if (this.#left < 0)
      throw tooMuch("the calculation needs too much work: split it, or use smaller numbers");
  }

  multiply(a: bigint, b: bigint): void {
    this.spend(1 + (bitLength(a) * bitLength(b)) / 1.6e7);
  }
}

export function exact(value: Fraction | bigint): Value {
  return { kind: "exact", fraction: typeof value === "bigint" ? fractions.fraction(value) : value };
}

/** Refuses what no double can hold: nothing is rounded to infinity, and nothing to zero. */
export function approximate(number: number): Value {
  if (Number.isNaN(number)) throw new HallError("EXECUTION", "the result is not a real number");
  if (!Number.isFinite(number))
    throw tooMuch("an approximated result is beyond 1.8e308; only whole numbers may be larger");
  return { kind: "approximate", number };
}

export function piTimes(times: Fraction): Value {
  return times.top === 0n ? exact(fractions.zero) : { kind: "pi", times };
}

export function toNumber(value: Value): number {
  switch (value.kind) {
    case "exact": {
      const number = fractions.toNumber(value.fraction);
      if (!Number.isFinite(number))
        throw tooMuch("a number beyond 1.8e308 cannot be used where a result is approximated");
      return number;
    }
    case "pi":
      return fractions.toNumber(value.times) * Math.PI;
    case "approximate":
      return value.number;
  }
}

export function isZero(value: Value): boolean {
  return value.kind === "exact"
    ? value.fraction.top === 0n
    : value.kind === "approximate" && value.number === 0;
}

export function isNegative(value: Value): boolean {
  return toSign(value) < 0;
}

export function toSign(value: Value): number {
  switch (value.kind) {
    case "exact":
      return fractions.compare(value.fraction, fractions.zero);
    case "pi":
      return fractions.compare(value.times, fractions.zero);
    case "approximate":
      return Math.sign(value.number);
  }
}

export function compare(a: Value, b: Value): number {
  if (a.kind === "exact" && b.kind === "exact") return fractions.compare(a.fraction, b.fraction);
  if (a.kind === "pi" && b.kind === "pi") return fractions.compare(a.times, b.times);
  return Math.sign(toNumber(a) - toNumber(b));
}

export function add(a: Value, b: Value, meter: Meter): Value {
  if (a.kind === "exact" && b.kind === "exact")
    return measured(fractions.add, a.fraction, b.fraction, meter);
  if (a.kind === "pi" && b.kind === "pi") return piTimes(fractions.add(a.times, b.times));
  if (isZero(a)) return b;
  if (isZero(b)) return a;
  return approximate(toNumber(a) + toNumber(b));
}

export function negate(value: Value): Value {
  switch (value.kind) {
    case "exact":
      return exact(fractions.negate(value.fraction));
    case "pi":
      return piTimes(fractions.negate(value.times));
    case "approximate":
      return approximate(-value.number);
  }
}

export function subtract(a: Value, b: Value, meter: Meter): Value {
  return add(a, negate(b), meter);
}

export function multiply(a: Value, b: Value, meter: Meter): Value {
  if (a.kind === "exact" && b.kind === "exact")
    return measured(fractions.multiply, a.fraction, b.fraction, meter);
  if (a.kind === "exact" && b.kind === "pi") return scalePi(b.times, a, meter);
  if (a.kind === "pi" && b.kind === "exact") return scalePi(a.times, b, meter);
  return approximate(toNumber(a) * toNumber(b));
}

export function divide(a: Value, b: Value, meter: Meter): Value {
  if (isZero(b))
    throw new HallError("EXECUTION", "division by zero", {
      hint: "Check the divisor: it comes out as 0.",
    });
  if (a.kind === "exact" && b.kind === "exact")
    return measured(fractions.divide, a.fraction, b.fraction, meter);
  if (a.kind === "pi" && b.kind === "pi")
    return measured(fractions.divide, a.times, b.times, meter);
  if (a.kind === "pi" && b.kind === "exact")
    return scalePi(a.times, exact(fractions.divide(fractions.one, b.fraction)), meter);
  return approximate(toNumber(a) / toNumber(b));
}

export function power(base: Value, exponent: Value, meter: Meter): Value {
  if (exponent.kind === "exact" && base.kind === "exact")
    return exactPower(base.fraction, exponent.fraction, meter);
  if (isNegative(base) && !Number.isInteger(toNumber(exponent))) throw noRealRoot(base);
  if (isZero(base) && isNegative(exponent))
    throw new HallError("EXECUTION", "division by zero: 0 has no negative power");
  return approximate(toNumber(base) ** toNumber(exponent));
}

/** The root that is exact, or the nearest double. */
export function root(value: Value, degree: bigint, meter: Meter): Value {
  if (isNegative(value)) {
    if (degree % 2n === 0n) throw noRealRoot(value);
    return negate(root(negate(value), degree, meter));
  }
  const whole = value.kind === "exact" ? findExactRoot(value.fraction, degree, meter) : undefined;
  if (whole) return exact(whole);
  const number = toNumber(value);
  return approximate(
    degree === 2n
      ? Math.sqrt(number)
      : degree === 3n
        ? Math.cbrt(number)
        : number ** (1 / Number(degree)),
  );
}

/** A whole number for functions that are defined on nothing else; a double that happens to be whole will do. */
export function toWhole(value: Value, what: string): bigint {
  if (value.kind === "exact" && fractions.isWhole(value.fraction)) return value.fraction.top;
  if (value.kind === "approximate" && Number.isSafeInteger(value.number))
    return BigInt(value.number);
  throw new HallError("EXECUTION", `${what} must be a whole number, not ${describe(value)}`);
}

export function describe(value: Value): string {
  const text =
    value.kind === "exact"
      ? fractions.toRoundedDecimal(value.fraction, 6)
      : `${Number(toNumber(value).toPrecision(6))}`;
  return value.kind === "pi" ? `about ${text}` : text;
}

export function tooMuch(message: string): HallError {
  return new HallError("BUDGET", message, {
    hint: "The limits are fixed: ask for less in one calculation.",
  });
}

function scalePi(times: Fraction, factor: Value, meter: Meter): Value {
  const scaled = multiply(exact(times), factor, meter);
  return scaled.kind === "exact"
    ? piTimes(scaled.fraction)
    : approximate(toNumber(scaled) * Math.PI);
}

type Operation = (a: Fraction, b: Fraction) => Fraction;

/** Small numbers go straight through; for the others the work is estimated before and the size looked at after. */
function measured(operation: Operation, a: Fraction, b: Fraction, meter: Meter): Value {
  const tops = bitLength(a.top) + bitLength(b.top);
  const bottoms = bitLength(a.bottom) + bitLength(b.bottom);
  meter.spend(1);
  if (tops + bottoms > 256) {
    meter.multiply(a.top, b.top);
    // A denominator is reduced with Euclid's algorithm, whose steps grow with the bits of the smaller number.
    if (bottoms > 2 || operation === fractions.divide)
      meter.spend(Math.min(tops, Math.max(bottoms, bitLength(b.top))));
  }
  return bounded(operation(a, b));
}

function bounded(value: Fraction): Value {
  const isLong = bitLength(value.top) > wholeBitsMax;
  if (fractions.isWhole(value)) {
    if (isLong)
      throw tooMuch(`a whole number here may have ${wholeBitsMax} bits, about 39,000 digits`);
    return exact(value);
  }
  if (!isLong && bitLength(value.bottom) <= bottomBitsMax) return exact(value);
  const number = fractions.toNumber(value);
  if (number === 0) throw tooMuch("a result comes closer to zero than can be approximated");
  return approximate(number);
}

function exactPower(base: Fraction, exponent: Fraction, meter: Meter): Value {
  if (fractions.isWhole(exponent)) return wholePower(base, exponent.top, meter);
  if (base.top < 0n) throw noRealRoot(exact(base));
  if (base.top === 0n && exponent.top < 0n)
    throw new HallError("EXECUTION", "division by zero: 0 has no negative power");
  const rooted =
    exponent.bottom <= rootDegreeMax ? findExactRoot(base, exponent.bottom, meter) : undefined;
  if (rooted) return wholePower(rooted, exponent.top, meter);
  return approximate(fractions.toNumber(base) ** fractions.toNumber(exponent));
}

function wholePower(base: Fraction, exponent: bigint, meter: Meter): Value {
  if (exponent === 0n) return exact(fractions.one);
  if (base.top === 0n && exponent < 0n)
    throw new HallError("EXECUTION", "division by zero: 0 has no negative power");
  const isUnit = fractions.magnitude(base.top) <= 1n && base.bottom === 1n;
  if (isUnit) return exact(exponent % 2n === 0n ? base.top * base.top : base.top);
  const [top, bottom] = exponent > 0n ? [base.top, base.bottom] : [base.bottom, base.top];
  const bits = (part: bigint) =>
    fractions.magnitude(part) === 1n
      ? 1
      : (bitLength(part) - 1) * Number(fractions.magnitude(exponent));
  const isWhole = fractions.magnitude(bottom) === 1n;
  if (isWhole && bits(top) > wholeBitsMax)
    throw tooMuch(
      `a whole number here may have ${wholeBitsMax} bits, about 39,000 digits; this power would have more`,
    );
  if (!isWhole && (bits(bottom) > bottomBitsMax || bits(top) > wholeBitsMax))
    return approximatePower(base, exponent);
  meter.spend(1 + bits(top) ** 2 / 4e6);
  return bounded(fractions.raise(base, exponent));
}

function approximatePower(base: Fraction, exponent: bigint): Value {
  // Near 1 the distance from 1 is what counts, and a double of the base has lost most of it.
  const offset = fractions.toNumber(fractions.add(base, fractions.fraction(-1n)));
  const number =
    Math.abs(offset) < 0.1
      ? Math.exp(Number(exponent) * Math.log1p(offset))
      : fractions.toNumber(base) ** Number(exponent);
  if (number === 0) throw tooMuch("a result comes closer to zero than can be approximated");
  return approximate(number);
}

export const rootDegreeMax = 1_000n;

function findExactRoot(
  { top, bottom }: Fraction,
  degree: bigint,
  meter: Meter,
): Fraction | undefined {
  meter.spend(1 + (bitLength(top) + bitLength(bottom)) ** 2 / 4e5);
  const rooted = {
    top: fractions.wholeRoot(top, degree),
    bottom: fractions.wholeRoot(bottom, degree),
  };
  const isExact = rooted.top ** degree === top && rooted.bottom ** degree === bottom;
  return isExact ? rooted : undefined;
}

function noRealRoot(value: Value): HallError {
  return new HallError(
    "EXECUTION",
    `${describe(value)} has no such root among the real numbers; odd roots are cbrt(x) and root(x, n)`,
  );
}
