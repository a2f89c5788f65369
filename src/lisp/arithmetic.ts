/** floor, ceiling, truncate and round; powers, roots and logarithms. */
import type { Machine } from "./machine.ts";
import {
  add,
  checkedFloat,
  compare,
  denominatorOf,
  divisionByZero,
  equalNumbers,
  floatOverflow,
  type Int,
  isInteger,
  isZero,
  multiply,
  negate,
  noComplex,
  numeratorOf,
  type Rational,
  rational,
  real,
  signOf,
  subtract,
  toDouble,
  wordsOf,
} from "./numbers.ts";
import { bitLength, doubleOf, fractionOf, scaleDouble } from "./rationals.ts";
import { Float, integer, Ratio, type Value } from "./values.ts";

export type Rounding = "floor" | "ceiling" | "truncate" | "round";

export interface Division {
  readonly quotient: Int;
  readonly remainder: Value;
}

export function divideRounded(m: Machine, rounding: Rounding, a: Value, b: Value): Division {
  if (typeof a === "number" && typeof b === "number" && b !== 0)
    return smallDivision(rounding, a, b);
  const x = real(m, a);
  const y = real(m, b);
  if (isZero(y)) return divisionByZero(m, "/", a, b);
  const { quotient, remainder } = truncate(m, x, y);
  if (isZero(real(m, remainder))) return { quotient, remainder };
  const step = roundingStep(rounding, signOf(x) < 0 !== signOf(y) < 0, () => {
    const side = compare(m, multiply(m, magnitude(m, remainder), 2), magnitude(m, y));
    return side > 0 || (side === 0 && BigInt(quotient) % 2n !== 0n);
  });
  if (step === 0) return { quotient, remainder };
  const moved = step > 0 ? subtract(m, remainder, b) : add(m, remainder, b);
  return { quotient: add(m, quotient, step) as Int, remainder: moved };
}

function smallDivision(rounding: Rounding, a: number, b: number): Division {
  const remainder = (a % b) + 0;
  const quotient = (a - remainder) / b + 0;
  if (remainder === 0) return { quotient, remainder };
  const isNegative = remainder < 0 !== b < 0;
  const step = roundingStep(rounding, isNegative, () => {
    const rest = Math.abs(b) - Math.abs(remainder);
    return Math.abs(remainder) > rest || (Math.abs(remainder) === rest && quotient % 2 !== 0);
  });
  return { quotient: quotient + step, remainder: remainder - step * b };
}

/** The difference to the truncated quotient; `isUp` tells whether `round` leaves it. */
function roundingStep(rounding: Rounding, isNegative: boolean, isUp: () => boolean): number {
  switch (rounding) {
    case "truncate":
      return 0;
    case "floor":
      return isNegative ? -1 : 0;
    case "ceiling":
      return isNegative ? 0 : 1;
    case "round":
      if (!isUp()) return 0;
      return isNegative ? -1 : 1;
  }
}

function truncate(m: Machine, x: Value, y: Value): Division {
  if (x instanceof Float || y instanceof Float) {
    const [dividend, divisor] = [toDouble(m, real(m, x)), toDouble(m, real(m, y))];
    const ratio = dividend / divisor;
    if (!Number.isFinite(ratio)) return floatOverflow(m, "/", x, y);
    const whole = Math.trunc(ratio);
    return {
      quotient: Number.isSafeInteger(whole) ? whole + 0 : integer(BigInt(whole)),
      remainder: new Float(dividend - whole * divisor),
    };
  }
  const [p, q] = [real(m, x) as Int | Ratio, real(m, y) as Int | Ratio];
  const top = numeratorOf(p) * denominatorOf(q);
  const bottom = denominatorOf(p) * numeratorOf(q);
  const whole = top / bottom;
  return {
    quotient: integer(whole),
    remainder: rational(m, top - whole * bottom, denominatorOf(p) * denominatorOf(q)),
  };
}

export function magnitude(m: Machine, value: Value): Value {
  const number = real(m, value, "NUMBER");
  if (number instanceof Float) return new Float(Math.abs(number.value));
  return signOf(number) < 0 ? negate(m, number) : number;
}

/** `mod` and `rem` without their quotients. */
export function modulo(m: Machine, a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number" && b !== 0) {
    const remainder = a % b;
    return remainder !== 0 && remainder < 0 !== b < 0 ? remainder + b : remainder + 0;
  }
  return divideRounded(m, "floor", a, b).remainder;
}

export function remainder(m: Machine, a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number" && b !== 0) return (a % b) + 0;
  return divideRounded(m, "truncate", a, b).remainder;
}

// Powers, roots and logarithms. Exact arguments of `expt` stay exact; results that would be complex are refused.

export function power(m: Machine, base: Value, exponent: Value): Value {
  const b = real(m, base, "NUMBER");
  const e = real(m, exponent, "NUMBER");
  if (isInteger(e)) return b instanceof Float ? floatPower(m, b, e) : exactPower(m, b, e);
  if (isZero(e)) return new Float(1);
  const x = toDouble(m, b);
  const y = toDouble(m, e);
  if (x < 0 && !Number.isInteger(y)) return noComplex(m, "EXPT", base, exponent);
  if (x === 0 && y < 0) return divisionByZero(m, "EXPT", base, exponent);
  return checkedFloat(m, x ** y, "EXPT", base, exponent);
}

function exactPower(m: Machine, base: Rational, exponent: Int): Value {
  if (exponent === 0) return 1;
  if (base === 1 || base === 0)
    return base === 0 && exponent < 0 ? divisionByZero(m, "EXPT", base, exponent) : base;
  if (base === -1) return BigInt(exponent) % 2n === 0n ? 1 : -1;
  const size = exponent < 0 ? -BigInt(exponent) : BigInt(exponent);
  reservePower(m, base, size);
  const [top, bottom] = [numeratorOf(base) ** size, denominatorOf(base) ** size];
  if (exponent < 0) return rational(m, bottom, top);
  return bottom === 1n ? integer(top) : new Ratio(top, bottom);
}

/** Checks the size of the result before computing it. */
function reservePower(m: Machine, base: Rational, exponent: bigint): void {
  const bits = largerBits(numeratorOf(base), denominatorOf(base));
  m.checkBits(Number(BigInt(bits) * exponent));
}

function largerBits(a: bigint, b: bigint): number {
  return Math.max(bitLength(a < 0n ? -a : a), bitLength(b));
}

function floatPower(m: Machine, base: Float, exponent: Int): Value {
  const x = base.value;
  if (exponent === 0) return new Float(1);
  if (x === 0 && exponent < 0) return divisionByZero(m, "EXPT", base, exponent);
  if (typeof exponent === "number" && Math.abs(exponent) <= 64 && x !== 0) {
    // V8's power is sometimes off by a bit; small powers are computed exactly and rounded once.
    const { numerator, denominator } = fractionOf(x);
    const size = BigInt(Math.abs(exponent));
    const [top, bottom] = [numerator ** size, denominator ** size];
    const value =
      exponent > 0
        ? doubleOf(top, bottom)
        : doubleOf(top < 0n ? -bottom : bottom, top < 0n ? -top : top);
    return checkedFloat(m, value, "EXPT", base, exponent);
  }
  return checkedFloat(m, x ** Number(exponent), "EXPT", base, exponent);
}

/** The largest integer whose square is not above `value`. */
export function integerRoot(m: Machine, value: Value): Int {
  if (!isInteger(value) || value < 0) return m.typeError(value, "UNSIGNED-BYTE");
  if (typeof value === "number") {
    const root = Math.floor(Math.sqrt(value));
    if (root * root > value) return root - 1;
    return (root + 1) * (root + 1) <= value ? root + 1 : root;
  }
  const cost = wordsOf(value);
  let root = 1n << BigInt(Math.ceil(bitLength(value) / 2));
  for (;;) {
    m.tick(cost * 8);
    const next = (root + value / root) >> 1n;
    if (next >= root) return integer(root);
    root = next;
  }
}

export function squareRoot(m: Machine, value: Value): Value {
  const x = real(m, value, "NUMBER");
  if (signOf(x) < 0) return noComplex(m, "SQRT", value);
  if (typeof x === "bigint") {
    // The number may exceed a double while its root does not.
    const half = Math.max(0, Math.ceil((bitLength(x) - 130) / 2));
    return checkedFloat(
      m,
      scaleDouble(BigInt(integerRoot(m, integer(x >> BigInt(2 * half)))), half),
      "SQRT",
      value,
    );
  }
  return new Float(Math.sqrt(toDouble(m, x)));
}

/** The natural logarithm, also of integers and ratios beyond the range of doubles. */
function naturalLog(m: Machine, value: Value): number {
  const x = real(m, value, "NUMBER");
  if (signOf(x) < 0) return noComplex(m, "LOG", value);
  if (isZero(x)) return divisionByZero(m, "LOG", value);
  if (typeof x === "bigint") return bigLog(x);
  if (x instanceof Ratio) return bigLog(x.numerator) - bigLog(x.denominator);
  return Math.log(toDouble(m, x));
}

function bigLog(value: bigint): number {
  const shift = Math.max(0, bitLength(value) - 1000);
  return Math.log(Number(value >> BigInt(shift))) + shift * Math.LN2;
}

export function logarithm(m: Machine, value: Value, base: Value | undefined): Value {
  if (base === undefined) return new Float(naturalLog(m, value));
  if (
    equalNumbers(m, base, 2) &&
    !(real(m, value) instanceof Ratio) &&
    typeof value !== "bigint" &&
    signOf(real(m, value)) > 0
  ) {
    return new Float(Math.log2(toDouble(m, real(m, value))));
  }
  if (
    equalNumbers(m, base, 10) &&
    (typeof value === "number" || value instanceof Float) &&
    signOf(value) > 0
  ) {
    return new Float(Math.log10(toDouble(m, value)));
  }
  if (isZero(real(m, base, "NUMBER"))) return new Float(0);
  const divisor = naturalLog(m, base);
  if (divisor === 0) return divisionByZero(m, "LOG", value, base);
  return checkedFloat(m, naturalLog(m, value) / divisor, "LOG", value, base);
}

export function exponential(m: Machine, value: Value): Value {
  const result = Math.exp(toDouble(m, real(m, value, "NUMBER")));
  return Number.isFinite(result) ? new Float(result) : floatOverflow(m, "EXP", value);
}
