/** Arithmetic, comparison, the floor family, powers, roots and logarithms. */
import { defineConstant, defineFunction, defineValues } from "./define.ts";
import type { Machine } from "./machine.ts";
import {
  add,
  checkedFloat,
  compare,
  denominatorOf,
  divide,
  divisionByZero,
  equalNumbers,
  floatOverflow,
  gcd,
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
  toInteger,
  toRational,
  wordsOf,
} from "./numbers.ts";
import { bitLength, decodeDouble, doubleOf, fractionOf, scaleDouble } from "./rationals.ts";
import { bool } from "./symbol.ts";
import { Float, integer, Ratio, type Value } from "./values.ts";

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
  defineFunction("ABS number", magnitude);
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
  for (const rounding of ["floor", "ceiling", "truncate", "round"] as const)
    defineValues(`${rounding.toUpperCase()} number &optional divisor`, (m, number, divisor = 1) => {
      const { quotient, remainder } = divideRounded(m, rounding, number, divisor);
      return m.values(quotient, remainder);
    });
  defineFunction("MOD number divisor", modulo);
  defineFunction("REM number divisor", remainder);
}

function defineIrrational(): void {
  defineConstant("PI", new Float(Math.PI));
  defineFunction("EXPT base power", power);
  defineFunction("SQRT number", squareRoot);
  defineFunction("ISQRT integer", integerRoot);
  defineFunction("EXP number", (m, number) => {
    const result = Math.exp(toDouble(m, real(m, number, "NUMBER")));
    return Number.isFinite(result) ? new Float(result) : floatOverflow(m, "EXP", number);
  });
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

// Division with rounding.

export type Rounding = "floor" | "ceiling" | "truncate" | "round";

interface Division {
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

function power(m: Machine, base: Value, exponent: Value): Value {
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
  const [above, below] = [numeratorOf(base), denominatorOf(base)];
  const bits = Math.max(bitLength(above < 0n ? -above : above), bitLength(below));
  m.checkBits(Number(BigInt(bits) * size));
  const [top, bottom] = [above ** size, below ** size];
  if (exponent < 0) return rational(m, bottom, top);
  return bottom === 1n ? integer(top) : new Ratio(top, bottom);
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
function integerRoot(m: Machine, value: Value): Int {
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

function squareRoot(m: Machine, value: Value): Value {
  const x = real(m, value, "NUMBER");
  if (signOf(x) < 0) return noComplex(m, "SQRT", value);
  if (typeof x === "bigint") {
    // The number may exceed a double while its root does not.
    const half = Math.max(0, Math.ceil((bitLength(x) - 130) / 2));
    const root = BigInt(integerRoot(m, integer(x >> BigInt(2 * half))));
    return checkedFloat(m, scaleDouble(root, half), "SQRT", value);
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

function logarithm(m: Machine, value: Value, base: Value | undefined): Value {
  if (base === undefined) return new Float(naturalLog(m, value));
  // The host's functions are exact for powers of these bases.
  const isPlain = (typeof value === "number" || value instanceof Float) && signOf(value) > 0;
  if (isPlain && equalNumbers(m, base, 2)) return new Float(Math.log2(toDouble(m, value)));
  if (isPlain && equalNumbers(m, base, 10)) return new Float(Math.log10(toDouble(m, value)));
  if (isZero(real(m, base, "NUMBER"))) return new Float(0);
  const divisor = naturalLog(m, base);
  if (divisor === 0) return divisionByZero(m, "LOG", value, base);
  return checkedFloat(m, naturalLog(m, value) / divisor, "LOG", value, base);
}
