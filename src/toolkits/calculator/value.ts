/**
 * The values of an expression: exact fractions, exact multiples of pi (so that sin(pi) is 0 and not
 * 1.2e-16), and doubles for the rest, including fractions that grow too long. Whole numbers never
 * become doubles: past their limit the calculation fails, because a rounded integer looks exact.
 */
import { HallError } from "../../base/errors.ts";
import * as fractions from "./fraction.ts";
import { bitLength, type Fraction } from "./fraction.ts";

export type Value =
  | { readonly kind: "exact"; readonly fraction: Fraction }
  | { readonly kind: "pi"; readonly times: Fraction }
  | { readonly kind: "approximate"; readonly number: number };

/** 39,000 digits: 10,000! fits. */
const wholeBitsMax = 131_072;
/** The time to reduce a fraction grows with the square of this. */
const bottomBitsMax = 4_096;
export const rootDegreeMax = 1_000n;

/** Counts down the microseconds a calculation may take, estimated before each step, so that the
 * limit is the same on every machine. */
export class Meter {
  #left = 50_000;

  spend(microseconds: number): void {
    this.#left -= microseconds;
    if (this.#left < 0) throw overBudget("the calculation needs too much work");
  }
}

export function exact(value: Fraction | bigint): Value {
  return { kind: "exact", fraction: typeof value === "bigint" ? fractions.fraction(value) : value };
}

/** Throws if no double can hold the number: nothing is rounded to infinity. */
export function approximate(number: number): Value {
  if (Number.isNaN(number)) throw new HallError("EXECUTION", "the result is not a real number");
  if (!Number.isFinite(number))
    throw overBudget("an approximate result exceeds 1.8e308; only whole numbers may be larger");
  return { kind: "approximate", number };
}

export function piTimes(times: Fraction): Value {
  return times.top === 0n ? exact(fractions.zero) : { kind: "pi", times };
}

export function toNumber(value: Value): number {
  switch (value.kind) {
    case "exact": {
      const number = fractions.toNumber(value.fraction);
      if (Number.isFinite(number)) return number;
      throw overBudget("a number beyond 1.8e308 cannot be used in an approximate calculation");
    }
    case "pi":
      return fractions.toNumber(value.times) * Math.PI;
    case "approximate":
      return value.number;
  }
}

export function isZero(value: Value): boolean {
  return toSign(value) === 0;
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

export function add(meter: Meter, a: Value, b: Value): Value {
  if (a.kind === "exact" && b.kind === "exact")
    return metered(meter, fractions.add, a.fraction, b.fraction);
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

export function subtract(meter: Meter, a: Value, b: Value): Value {
  return add(meter, a, negate(b));
}

export function multiply(meter: Meter, a: Value, b: Value): Value {
  if (a.kind === "exact" && b.kind === "exact")
    return metered(meter, fractions.multiply, a.fraction, b.fraction);
  if (a.kind === "exact" && b.kind === "pi") return scalePi(meter, b.times, a);
  if (a.kind === "pi" && b.kind === "exact") return scalePi(meter, a.times, b);
  return approximate(toNumber(a) * toNumber(b));
}

export function divide(meter: Meter, a: Value, b: Value): Value {
  if (isZero(b))
    throw new HallError("EXECUTION", "division by zero", { hint: "The divisor evaluates to 0." });
  if (a.kind === "exact" && b.kind === "exact")
    return metered(meter, fractions.divide, a.fraction, b.fraction);
  if (a.kind === "pi" && b.kind === "pi") return metered(meter, fractions.divide, a.times, b.times);
  if (a.kind === "pi" && b.kind === "exact")
    return scalePi(meter, a.times, exact(fractions.divide(fractions.one, b.fraction)));
  return approximate(toNumber(a) / toNumber(b));
}

export function power(meter: Meter, base: Value, exponent: Value): Value {
  if (isZero(base) && isNegative(exponent))
    throw new HallError("EXECUTION", "division by zero: 0 has no negative power");
  if (exponent.kind === "exact" && base.kind === "exact")
    return exactPower(meter, base.fraction, exponent.fraction);
  if (isNegative(base) && !Number.isInteger(toNumber(exponent))) throw noRealRoot(base);
  return approximate(toNumber(base) ** toNumber(exponent));
}

/** The exact root if there is one, else the nearest double. */
export function root(meter: Meter, value: Value, degree: bigint): Value {
  if (isNegative(value)) {
    if (degree % 2n === 0n) throw noRealRoot(value);
    return negate(root(meter, negate(value), degree));
  }
  const whole = value.kind === "exact" ? findExactRoot(meter, value.fraction, degree) : undefined;
  if (whole) return exact(whole);

  const number = toNumber(value);
  if (degree === 2n) return approximate(Math.sqrt(number));
  return approximate(degree === 3n ? Math.cbrt(number) : number ** (1 / Number(degree)));
}

/** For functions defined on whole numbers only; a double that happens to be whole is accepted. */
export function toWhole(value: Value, what: string): bigint {
  if (value.kind === "exact" && fractions.isWhole(value.fraction)) return value.fraction.top;
  if (value.kind === "approximate" && Number.isSafeInteger(value.number))
    return BigInt(value.number);
  throw new HallError("EXECUTION", `${what} must be a whole number, not ${formatValue(value)}`);
}

/** Short, for messages. */
export function formatValue(value: Value): string {
  if (value.kind === "exact") return fractions.toRoundedDecimal(value.fraction, 6);
  const text = `${Number(toNumber(value).toPrecision(6))}`;
  return value.kind === "pi" ? `about ${text}` : text;
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

function scalePi(meter: Meter, times: Fraction, factor: Value): Value {
  const scaled = multiply(meter, exact(times), factor);
  if (scaled.kind === "exact") return piTimes(scaled.fraction);
  return approximate(toNumber(scaled) * Math.PI);
}

type Operation = (a: Fraction, b: Fraction) => Fraction;

/** Small numbers cost one step; for others the work is estimated first. */
function metered(meter: Meter, operation: Operation, a: Fraction, b: Fraction): Value {
  const tops = bitLength(a.top) + bitLength(b.top);
  const bottoms = bitLength(a.bottom) + bitLength(b.bottom);
  meter.spend(1);
  if (tops + bottoms > 256) {
    meter.spend(1 + (bitLength(a.top) * bitLength(b.top)) / 1.6e7);
    // Euclid's algorithm takes as many steps as the smaller number has bits.
    if (bottoms > 2 || operation === fractions.divide)
      meter.spend(Math.min(tops, Math.max(bottoms, bitLength(b.top))));
  }
  return bounded(operation(a, b));
}

function bounded(value: Fraction): Value {
  if (fractions.isWhole(value)) {
    checkWholeBits(bitLength(value.top));
    return exact(value);
  }
  if (bitLength(value.top) <= wholeBitsMax && bitLength(value.bottom) <= bottomBitsMax)
    return exact(value);
  return approximateNonZero(fractions.toNumber(value));
}

function approximateNonZero(number: number): Value {
  if (number === 0) throw overBudget("a result is too close to zero to be approximated");
  return approximate(number);
}

function exactPower(meter: Meter, base: Fraction, exponent: Fraction): Value {
  if (fractions.isWhole(exponent)) return wholePower(meter, base, exponent.top);
  if (base.top < 0n) throw noRealRoot(exact(base));
  const rooted =
    exponent.bottom <= rootDegreeMax ? findExactRoot(meter, base, exponent.bottom) : undefined;
  if (rooted) return wholePower(meter, rooted, exponent.top);
  return approximate(fractions.toNumber(base) ** fractions.toNumber(exponent));
}

function wholePower(meter: Meter, base: Fraction, exponent: bigint): Value {
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

function approximatePower(base: Fraction, exponent: number): Value {
  // Near 1 the distance from 1 counts, and a double of the base has lost most of it.
  const offset = fractions.toNumber(fractions.add(base, fractions.fraction(-1n)));
  const isNearOne = Math.abs(offset) < 0.1;
  return approximateNonZero(
    isNearOne ? Math.exp(exponent * Math.log1p(offset)) : fractions.toNumber(base) ** exponent,
  );
}

function findExactRoot(meter: Meter, value: Fraction, degree: bigint): Fraction | undefined {
  const { top, bottom } = value;
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
    `${formatValue(value)} has no such root among the real numbers (odd roots: cbrt(x), root(x, n))`,
  );
}
