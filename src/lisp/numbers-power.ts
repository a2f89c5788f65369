/** Powers, roots and logarithms. Exact arguments of `expt` stay exact; results that would be complex are refused. */

import type { Machine } from "./machine.ts";
import {
  checkedFloat,
  denominatorOf,
  equalNumbers,
  type Int,
  isInteger,
  isZero,
  numeratorOf,
  type Rational,
  rational,
  real,
  signOf,
  toDouble,
  wordsOf,
} from "./numbers.ts";
import { divisionByZero, floatOverflow, noComplex } from "./numbers-faults.ts";
import { bitLength, doubleOf, fractionOf, scaleDouble } from "./numbers-rational.ts";
import { Float, integer, Ratio, type Value } from "./values.ts";

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
  return exponent < 0
    ? rational(m, bottom, top)
    : bottom === 1n
      ? integer(top)
      : new Ratio(top, bottom);
}

/** Room for the result is asked for before it is made: a short program can name a number larger than any memory. */
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
    // V8's power is off by a bit now and then; small powers are made exactly and rounded once.
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
    // A double cannot hold the number, but may hold its root.
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

/** The natural logarithm, also of integers and ratios that no double can hold. */
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
