/** Arithmetic, comparison and the floor family. */

import {
  divideRounded,
  exponential,
  integerRoot,
  logarithm,
  magnitude,
  modulo,
  power,
  type Rounding,
  remainder,
  squareRoot,
} from "../arithmetic.ts";
import { defineConstant, defineFunction, defineValues } from "../define.ts";
import type { Machine } from "../machine.ts";
import {
  add,
  checkedFloat,
  compare,
  denominatorOf,
  divide,
  equalNumbers,
  gcd,
  isZero,
  multiply,
  negate,
  noComplex,
  numeratorOf,
  rational,
  real,
  signOf,
  subtract,
  toDouble,
  toInteger,
  toRational,
} from "../numbers.ts";
import { decodeDouble, fractionOf } from "../rationals.ts";
import { bool } from "../symbol.ts";
import { Float, integer, type Value } from "../values.ts";

export function defineNumbers(): void {
  defineArithmetic();
  defineComparison();
  defineRounding();
  defineIrrational();
  defineRationals();
  defineFloats();
  defineComplexRefusals();
}

function defineArithmetic(): void {
  defineFunction("+ &rest numbers", (m, numbers) => fold(m, numbers, 0, add));
  defineFunction("* &rest numbers", (m, numbers) => fold(m, numbers, 1, multiply));
  defineFunction("- number &rest more", (m, first, more) =>
    more.length === 0 ? negate(m, first) : foldFrom(m, first, more, subtract),
  );
  defineFunction("/ number &rest more", (m, first, more) =>
    more.length === 0 ? divide(m, 1, first) : foldFrom(m, first, more, divide),
  );
  defineFunction("1+ number", (m, number) => add(m, number, 1));
  defineFunction("1- number", (m, number) => subtract(m, number, 1));
  defineFunction("ABS number", (m, number) => magnitude(m, number));
  defineFunction("MAX number &rest more", (m, first, more) => choose(m, first, more, 1));
  defineFunction("MIN number &rest more", (m, first, more) => choose(m, first, more, -1));
  defineFunction("GCD &rest integers", (m, integers) =>
    integer(integers.reduce((sum: bigint, next) => gcd(m, sum, BigInt(toInteger(m, next))), 0n)),
  );
}

type Binary = (m: Machine, a: Value, b: Value) => Value;

function fold(m: Machine, numbers: Value[], unit: number, combine: Binary): Value {
  if (numbers.length === 2) return combine(m, numbers[0] as Value, numbers[1] as Value);
  let sum: Value = numbers.length === 0 ? unit : real(m, numbers[0] as Value, "NUMBER");
  for (let at = 1; at < numbers.length; at += 1) sum = combine(m, sum, numbers[at] as Value);
  return sum;
}

function foldFrom(m: Machine, first: Value, more: Value[], combine: Binary): Value {
  let sum = first;
  for (const next of more) sum = combine(m, sum, next);
  return sum;
}

function choose(m: Machine, first: Value, more: Value[], sign: 1 | -1): Value {
  let best: Value = real(m, first);
  for (const next of more) if (compare(m, next, best) * sign > 0) best = next;
  return best;
}

function defineComparison(): void {
  chain("<", (order) => order < 0);
  chain(">", (order) => order > 0);
  chain("<=", (order) => order <= 0);
  chain(">=", (order) => order >= 0);
  defineFunction("= number &rest more", (m, first, more) => {
    real(m, first, "NUMBER");
    return bool(more.reduce((same, next) => equalNumbers(m, first, next) && same, true));
  });
  defineFunction("/= number &rest more", (m, first, more) =>
    bool(areDistinct(m, [first, ...more])),
  );
  defineFunction("ZEROP number", (m, number) => bool(isZero(real(m, number, "NUMBER"))));
  defineFunction("PLUSP number", (m, number) => bool(signOf(real(m, number)) > 0));
  defineFunction("MINUSP number", (m, number) => bool(signOf(real(m, number)) < 0));
  defineFunction("EVENP integer", (m, value) => bool(isEven(m, value)));
  defineFunction("ODDP integer", (m, value) => bool(!isEven(m, value)));
}

function chain(name: string, holds: (order: number) => boolean): void {
  defineFunction(`${name} number &rest more`, (m, first, more) => {
    const [second] = more;
    if (more.length === 1 && second !== undefined) return bool(holds(compare(m, first, second)));
    let previous: Value = real(m, first);
    let isTrue = true;
    for (const next of more) {
      // No early exit: a wrong type further on must still signal an error.
      if (!holds(compare(m, previous, next))) isTrue = false;
      previous = next;
    }
    return bool(isTrue);
  });
}

function areDistinct(m: Machine, numbers: Value[]): boolean {
  real(m, numbers[0] as Value, "NUMBER");
  m.tick(numbers.length * numbers.length);
  let isTrue = true;
  for (let a = 0; a < numbers.length; a += 1) {
    for (let b = a + 1; b < numbers.length; b += 1)
      if (equalNumbers(m, numbers[a] as Value, numbers[b] as Value)) isTrue = false;
  }
  return isTrue;
}

function isEven(m: Machine, value: Value): boolean {
  const x = toInteger(m, value);
  return typeof x === "number" ? x % 2 === 0 : x % 2n === 0n;
}

function defineRounding(): void {
  for (const rounding of ["floor", "ceiling", "truncate", "round"] as const) {
    defineValues(`${rounding.toUpperCase()} number &optional divisor`, (m, number, divisor = 1) =>
      rounded(m, rounding, number, divisor),
    );
  }
  defineFunction("MOD number divisor", (m, number, divisor) => modulo(m, number, divisor));
  defineFunction("REM number divisor", (m, number, divisor) => remainder(m, number, divisor));
}

function rounded(m: Machine, rounding: Rounding, number: Value, divisor: Value): Value {
  const { quotient, remainder } = divideRounded(m, rounding, number, divisor);
  return m.values(quotient, remainder);
}

function defineIrrational(): void {
  defineConstant("PI", new Float(Math.PI));
  defineFunction("EXPT base power", power);
  defineFunction("SQRT number", squareRoot);
  defineFunction("ISQRT integer", integerRoot);
  defineFunction("EXP number", exponential);
  defineFunction("LOG number &optional base", logarithm);
  for (const curve of [Math.sin, Math.cos, Math.tan, Math.sinh, Math.cosh, Math.tanh, Math.asinh])
    defineCurve(curve, () => true);
  defineCurve(Math.asin, (x) => Math.abs(x) <= 1);
  defineCurve(Math.acos, (x) => Math.abs(x) <= 1);
  defineCurve(Math.acosh, (x) => x >= 1);
  defineCurve(Math.atanh, (x) => Math.abs(x) < 1);
  defineFunction("ATAN y &optional x", (m, y, x: Value | undefined) => {
    const top = toDouble(m, real(m, y));
    return new Float(x === undefined ? Math.atan(top) : Math.atan2(top, toDouble(m, real(m, x))));
  });
}

function defineCurve(curve: (x: number) => number, isReal: (x: number) => boolean): void {
  const lispName = curve.name.toUpperCase();
  defineFunction(`${lispName} number`, (m, number) => {
    const x = toDouble(m, real(m, number, "NUMBER"));
    if (!isReal(x)) return noComplex(m, lispName, number);
    return checkedFloat(m, curve(x), lispName, number);
  });
}

function defineRationals(): void {
  defineFunction("NUMERATOR rational", (m, value) => integer(numeratorOf(toRational(m, value))));
  defineFunction("DENOMINATOR rational", (m, value) =>
    integer(denominatorOf(toRational(m, value))),
  );
  defineFunction("RATIONAL number", (m, number) => {
    const x = real(m, number);
    if (!(x instanceof Float)) return x;
    const { numerator, denominator } = fractionOf(x.value);
    return rational(m, numerator, denominator);
  });
}

function defineFloats(): void {
  // The bounds of SBCL; fixnums have no meaning here.
  defineConstant("MOST-POSITIVE-FIXNUM", 2n ** 62n - 1n);
  defineConstant("MOST-NEGATIVE-FIXNUM", -(2n ** 62n));
  for (const kind of ["SHORT", "SINGLE", "DOUBLE", "LONG"]) {
    defineConstant(`MOST-POSITIVE-${kind}-FLOAT`, new Float(Number.MAX_VALUE));
    defineConstant(`MOST-NEGATIVE-${kind}-FLOAT`, new Float(-Number.MAX_VALUE));
    for (const normal of ["", "NORMALIZED-"]) {
      const least = normal === "" ? Number.MIN_VALUE : 2 ** -1022;
      defineConstant(`LEAST-POSITIVE-${normal}${kind}-FLOAT`, new Float(least));
      defineConstant(`LEAST-NEGATIVE-${normal}${kind}-FLOAT`, new Float(-least));
    }
    defineConstant(`${kind}-FLOAT-EPSILON`, new Float(2 ** -53 + 2 ** -105));
    defineConstant(`${kind}-FLOAT-NEGATIVE-EPSILON`, new Float(2 ** -54 + 2 ** -106));
  }
  defineFunction("FLOAT number &optional prototype", (m, number, prototype) => {
    const x = real(m, number);
    if (prototype !== undefined) float(m, prototype);
    return x instanceof Float ? x : new Float(toDouble(m, x));
  });
  defineValues("INTEGER-DECODE-FLOAT float", (m, value) => {
    const { mantissa, exponent, sign } = decodeDouble(float(m, value));
    return m.values(integer(mantissa), exponent, sign);
  });
}

function float(m: Machine, value: Value): number {
  return value instanceof Float ? value.value : m.typeError(value, "FLOAT");
}

/** Only real numbers exist here, and they are complex numbers, too. */
function defineComplexRefusals(): void {
  defineFunction("COMPLEX realpart &optional imagpart", (m, realPart, imaginary = 0) =>
    imaginary === 0 && !(realPart instanceof Float)
      ? real(m, realPart)
      : noComplex(m, "COMPLEX", realPart, imaginary),
  );
  defineFunction("CIS radians", (m, radians) => noComplex(m, "CIS", radians));
}
