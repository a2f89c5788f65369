/** What an expression may name: constants and functions. Each function is exact where its arguments and its result allow it. */
import { HallError } from "../../base/errors.ts";
import * as fractions from "./fraction.ts";
import { type Fraction, fraction } from "./fraction.ts";
import {
  add,
  approximate,
  compare,
  describe,
  divide,
  exact,
  isNegative,
  isZero,
  type Meter,
  multiply,
  negate,
  piTimes,
  power,
  root,
  rootDegreeMax,
  subtract,
  toNumber,
  tooMuch,
  toSign,
  toWhole,
  type Value,
  wholeBitsMax,
} from "./value.ts";

export interface NamedFunction {
  /** As written in messages: `log(x, base)`. */
  readonly form: string;
  readonly countMin: number;
  readonly countMax: number;
  apply(args: readonly Value[], meter: Meter): Value;
}

const degree = piTimes(fraction(1n, 180n));
const zero = exact(0n);

export const constants: ReadonlyMap<string, Value> = new Map([
  ["pi", piTimes(fractions.one)],
  ["π", piTimes(fractions.one)],
  ["tau", piTimes(fraction(2n))],
  ["τ", piTimes(fraction(2n))],
  ["e", approximate(Math.E)],
  ["phi", approximate((1 + Math.sqrt(5)) / 2)],
  ["deg", degree],
]);

const entries: readonly (readonly [names: string, NamedFunction])[] = [
  ["abs", unary("abs(x)", (x) => (isNegative(x) ? negate(x) : x))],
  ["sign", unary("sign(x)", (x) => exact(BigInt(toSign(x))))],
  ["floor", unary("floor(x)", (x) => toWholeBy(x, fractions.floor, Math.floor))],
  [
    "ceil ceiling",
    unary("ceil(x)", (x) =>
      toWholeBy(x, (value) => -fractions.floor(fractions.negate(value)), Math.ceil),
    ),
  ],
  ["trunc", unary("trunc(x)", (x) => toWholeBy(x, ({ top, bottom }) => top / bottom, Math.trunc))],
  ["round", optional("round(x, places)", zero, roundTo)],
  ["sqrt √", unary("sqrt(x)", (x, meter) => root(x, 2n, meter))],
  ["cbrt", unary("cbrt(x)", (x, meter) => root(x, 3n, meter))],
  ["root", binary("root(x, n)", (x, n, meter) => root(x, degreeOf(n), meter))],
  ["pow", binary("pow(x, y)", power)],
  ["exp", unary("exp(x)", (x) => (isZero(x) ? exact(1n) : approximate(Math.exp(toNumber(x)))))],
  ["ln", unary("ln(x)", naturalLog)],
  [
    "log",
    optional("log(x, base)", undefined, (x, base, meter) =>
      base ? logTo(x, base, meter) : naturalLog(x),
    ),
  ],
  ["log10 lg", unary("log10(x)", (x, meter) => logTo(x, exact(10n), meter))],
  ["log2", unary("log2(x)", (x, meter) => logTo(x, exact(2n), meter))],
  ["sin", unary("sin(x)", sine)],
  ["cos", unary("cos(x)", cosine)],
  ["tan", unary("tan(x)", tangent)],
  ["asin arcsin", within("asin(x)", Math.asin, -1, 1)],
  ["acos arccos", within("acos(x)", Math.acos, -1, 1)],
  ["atan arctan", within("atan(x)", Math.atan)],
  ["atan2", binary("atan2(y, x)", (y, x) => approximate(Math.atan2(toNumber(y), toNumber(x))))],
  ["sinh", within("sinh(x)", Math.sinh)],
  ["cosh", within("cosh(x)", Math.cosh)],
  ["tanh", within("tanh(x)", Math.tanh)],
  ["asinh arsinh", within("asinh(x)", Math.asinh)],
  ["acosh arcosh", within("acosh(x)", Math.acosh, 1)],
  ["atanh artanh", within("atanh(x)", Math.atanh, -1 + Number.EPSILON, 1 - Number.EPSILON)],
  ["degrees", unary("degrees(radians)", (x, meter) => divide(x, degree, meter))],
  ["radians", unary("radians(degrees)", (x, meter) => multiply(x, degree, meter))],
  [
    "hypot",
    many("hypot(x, y, …)", (values, meter) =>
      root(
        sumOf(
          values.map((value) => multiply(value, value, meter)),
          meter,
        ),
        2n,
        meter,
      ),
    ),
  ],
  ["mod", binary("mod(x, y)", remainder)],
  [
    "quotient div",
    binary("quotient(x, y)", (x, y, meter) =>
      toWholeBy(divide(x, y, meter), fractions.floor, Math.floor),
    ),
  ],
  [
    "gcd",
    many("gcd(a, b, …)", (values, meter) =>
      exact(wholesOf(values, "gcd").reduce((a, b) => gcdOf(a, b, meter))),
    ),
  ],
  ["lcm", many("lcm(a, b, …)", leastCommonMultiple)],
  ["factorial", unary("factorial(n)", factorial)],
  ["choose ncr comb binomial", binary("choose(n, k)", choose)],
  ["permutations npr perm", binary("permutations(n, k)", permutations)],
  ["powmod", ternary("powmod(base, exponent, modulus)", powerModulo)],
  ["min", many("min(a, b, …)", (values) => values.reduce((a, b) => (compare(b, a) < 0 ? b : a)))],
  ["max", many("max(a, b, …)", (values) => values.reduce((a, b) => (compare(b, a) > 0 ? b : a)))],
  ["sum", many("sum(a, b, …)", sumOf)],
  [
    "product",
    many("product(a, b, …)", (values, meter) => values.reduce((a, b) => multiply(a, b, meter))),
  ],
  ["mean average avg", many("mean(a, b, …)", meanOf)],
  ["median", many("median(a, b, …)", medianOf)],
  ["variance var", many("variance(a, b, …)", varianceOf)],
  [
    "stdev std sd",
    many("stdev(a, b, …)", (values, meter) => root(varianceOf(values, meter), 2n, meter)),
  ],
];

export const functions: ReadonlyMap<string, NamedFunction> = new Map(
  entries.flatMap(([names, named]) => names.split(" ").map((name) => [name, named] as const)),
);

function unary(form: string, apply: (x: Value, meter: Meter) => Value): NamedFunction {
  return { form, countMin: 1, countMax: 1, apply: ([x = zero], meter) => apply(x, meter) };
}

function binary(form: string, apply: (x: Value, y: Value, meter: Meter) => Value): NamedFunction {
  return {
    form,
    countMin: 2,
    countMax: 2,
    apply: ([x = zero, y = zero], meter) => apply(x, y, meter),
  };
}

function ternary(
  form: string,
  apply: (x: Value, y: Value, z: Value, meter: Meter) => Value,
): NamedFunction {
  return {
    form,
    countMin: 3,
    countMax: 3,
    apply: ([x = zero, y = zero, z = zero], meter) => apply(x, y, z, meter),
  };
}

function optional<Fallback extends Value | undefined>(
  form: string,
  fallback: Fallback,
  apply: (x: Value, y: Value | Fallback, meter: Meter) => Value,
): NamedFunction {
  return {
    form,
    countMin: 1,
    countMax: 2,
    apply: ([x = zero, y], meter) => apply(x, y ?? fallback, meter),
  };
}

function many(
  form: string,
  apply: (values: readonly Value[], meter: Meter) => Value,
): NamedFunction {
  return { form, countMin: 1, countMax: Number.POSITIVE_INFINITY, apply };
}

/** A function of doubles, defined between two bounds; 0 stays exact where the function leaves it alone. */
function within(
  form: string,
  apply: (x: number) => number,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY,
): NamedFunction {
  return unary(form, (x) => {
    if (isZero(x) && apply(0) === 0) return zero;
    const number = toNumber(x);
    if (number < from || number > to)
      throw outside(
        form,
        x,
        `x from ${Math.round(from)} to ${Math.round(to)}`
          .replace("-Infinity", "…")
          .replace("Infinity", "…"),
      );
    return approximate(apply(number));
  });
}

function outside(form: string, x: Value, domain: string): HallError {
  return new HallError(
    "EXECUTION",
    `${form} has no real value at ${describe(x)}: it takes ${domain}`,
  );
}

function toWholeBy(
  x: Value,
  ofFraction: (value: Fraction) => bigint,
  ofNumber: (value: number) => number,
): Value {
  return x.kind === "exact" ? exact(ofFraction(x.fraction)) : approximate(ofNumber(toNumber(x)));
}

const placesMax = 1_000n;

/** Exact arguments give exact decimals: round(1/7, 60) has sixty right places. */
function roundTo(x: Value, places: Value, meter: Meter): Value {
  const count = toWhole(places, "the places of round");
  if (fractions.magnitude(count) > placesMax)
    throw tooMuch(`round takes up to ${placesMax} places`);
  if (x.kind !== "exact") {
    const digits = Number(count);
    const number = toNumber(x);
    return approximate(
      digits >= 0
        ? Number(number.toFixed(Math.min(digits, 100)))
        : Math.round(number * 10 ** digits) / 10 ** digits,
    );
  }
  const scale = fractions.raise(fraction(10n), count);
  meter.spend(Number(fractions.magnitude(count)));
  return exact(
    fractions.divide(fraction(fractions.round(fractions.multiply(x.fraction, scale))), scale),
  );
}

function degreeOf(n: Value): bigint {
  const whole = toWhole(n, "the degree of a root");
  if (whole < 1n || whole > rootDegreeMax)
    throw new HallError(
      "EXECUTION",
      `the degree of a root is a whole number from 1 to ${rootDegreeMax}, not ${describe(n)}`,
    );
  return whole;
}

function naturalLog(x: Value): Value {
  if (toSign(x) <= 0) throw outside("ln(x)", x, "x above 0");
  if (x.kind === "exact" && fractions.equals(x.fraction, fractions.one)) return zero;
  return approximate(lnOf(x));
}

/** Also of whole numbers that no double can hold. */
function lnOf(x: Value): number {
  if (x.kind !== "exact") return Math.log(toNumber(x));
  const near = fractions.toNumber(x.fraction);
  if (Number.isFinite(near) && near > 0) return Math.log(near);
  const part = (value: bigint): number => {
    const shift = Math.max(0, fractions.bitLength(value) - 1_000);
    return Math.log(Number(value >> BigInt(shift))) + shift * Math.LN2;
  };
  return part(x.fraction.top) - part(x.fraction.bottom);
}

function logTo(x: Value, base: Value, meter: Meter): Value {
  if (toSign(x) <= 0) throw outside("log(x, base)", x, "x above 0");
  const divisor = toSign(base) > 0 ? lnOf(base) : 0;
  if (divisor === 0) throw outside("log(x, base)", base, "a base above 0 other than 1");
  const near = lnOf(x) / divisor;
  const whole = exact(BigInt(Math.round(near)));
  const isExact =
    x.kind === "exact" &&
    base.kind === "exact" &&
    Math.abs(near - Math.round(near)) < 1e-9 &&
    compare(power(base, whole, meter), x) === 0;
  if (isExact) return whole;
  const isTen = base.kind === "exact" && fractions.equals(base.fraction, fraction(10n));
  return approximate(isTen && Number.isFinite(10 ** near) ? Math.log10(toNumber(x)) : near);
}

/** The sine of so many sixths of pi, where it is a fraction. */
const sineOfSixths: Readonly<Record<string, Fraction>> = {
  0: fractions.zero,
  1: fraction(1n, 2n),
  3: fractions.one,
  5: fraction(1n, 2n),
  6: fractions.zero,
  7: fraction(-1n, 2n),
  9: fraction(-1n),
  11: fraction(-1n, 2n),
};

function sine(x: Value): Value {
  const times = timesOfPi(x);
  if (!times) return approximate(Math.sin(toNumber(x)));
  const turn = modulo(times, fraction(2n));
  const sixths = fractions.multiply(turn, fraction(6n));
  const known = fractions.isWhole(sixths) ? sineOfSixths[`${sixths.top}`] : undefined;
  return known ? exact(known) : approximate(Math.sin(fractions.toNumber(turn) * Math.PI));
}

function cosine(x: Value): Value {
  const times = timesOfPi(x);
  return times
    ? sine(piTimes(fractions.add(times, fraction(1n, 2n))))
    : approximate(Math.cos(toNumber(x)));
}

function tangent(x: Value): Value {
  const times = timesOfPi(x);
  if (!times) return approximate(Math.tan(toNumber(x)));
  const turn = modulo(times, fractions.one);
  if (fractions.equals(turn, fraction(1n, 2n)))
    throw outside("tan(x)", x, "anything but odd multiples of pi/2");
  if (turn.top === 0n) return zero;
  if (fractions.equals(turn, fraction(1n, 4n))) return exact(1n);
  if (fractions.equals(turn, fraction(3n, 4n))) return exact(-1n);
  return approximate(Math.tan(fractions.toNumber(turn) * Math.PI));
}

function timesOfPi(x: Value): Fraction | undefined {
  if (x.kind === "pi") return x.times;
  return isZero(x) ? fractions.zero : undefined;
}

/** With the sign of the divisor, as in mathematics: -7 mod 3 is 2. */
function modulo(a: Fraction, b: Fraction): Fraction {
  return fractions.add(
    a,
    fractions.negate(fractions.multiply(b, fraction(fractions.floor(fractions.divide(a, b))))),
  );
}

export function remainder(a: Value, b: Value, meter: Meter): Value {
  const quotient = divide(a, b, meter);
  return subtract(a, multiply(b, toWholeBy(quotient, fractions.floor, Math.floor), meter), meter);
}

function wholesOf(values: readonly Value[], name: string): bigint[] {
  return values.map((value) => toWhole(value, `an argument of ${name}`));
}

function gcdOf(a: bigint, b: bigint, meter: Meter): bigint {
  const bits = Math.min(fractions.bitLength(a), fractions.bitLength(b));
  meter.spend(bits + bits ** 2 / 5_000);
  return fractions.gcd(a, b);
}

function leastCommonMultiple(values: readonly Value[], meter: Meter): Value {
  return wholesOf(values, "lcm").reduce<Value>((found, next) => {
    const sofar = toWhole(found, "lcm");
    if (sofar === 0n || next === 0n) return zero;
    return multiply(
      exact(fractions.magnitude(sofar / gcdOf(sofar, next, meter))),
      exact(fractions.magnitude(next)),
      meter,
    );
  }, exact(1n));
}

export function factorial(n: Value, meter: Meter): Value {
  const whole = toWhole(n, "the n of n!");
  if (whole < 0n) throw outside("factorial(n)", n, "whole numbers from 0");
  return exact(productOf(1n, whole, meter));
}

function permutations(n: Value, k: Value, meter: Meter): Value {
  const [all, taken] = countsOf(n, k, "permutations(n, k)");
  return taken > all ? zero : exact(productOf(all - taken + 1n, all, meter));
}

function choose(n: Value, k: Value, meter: Meter): Value {
  const [all, taken] = countsOf(n, k, "choose(n, k)");
  if (taken > all) return zero;
  const fewer = taken < all - taken ? taken : all - taken;
  return exact(productOf(all - fewer + 1n, all, meter) / productOf(1n, fewer, meter));
}

function countsOf(n: Value, k: Value, form: string): readonly [bigint, bigint] {
  const [all, taken] = [toWhole(n, `the n of ${form}`), toWhole(k, `the k of ${form}`)];
  if (all < 0n || taken < 0n) throw outside(form, all < 0n ? n : k, "whole numbers from 0");
  return [all, taken];
}

/** The product of all whole numbers from one to another, refused before it grows too long. */
function productOf(from: bigint, to: bigint, meter: Meter): bigint {
  const count = to - from + 1n;
  if (count <= 0n) return 1n;
  const bits = Number(count) * Math.max(1, fractions.bitLength((from + to) / 2n) - 2);
  if (bits > wholeBitsMax)
    throw tooMuch(
      `a whole number here may have ${wholeBitsMax} bits, about 39,000 digits; this product would have more`,
    );
  meter.spend(Number(count) / 4 + bits ** 2 / 8e6);
  const halve = (low: bigint, high: bigint): bigint => {
    if (low === high) return low;
    const middle = (low + high) / 2n;
    return halve(low, middle) * halve(middle + 1n, high);
  };
  return halve(from, to);
}

function powerModulo(base: Value, exponent: Value, modulus: Value, meter: Meter): Value {
  const [b, e, m] = [
    toWhole(base, "the base of powmod"),
    toWhole(exponent, "the exponent of powmod"),
    toWhole(modulus, "the modulus of powmod"),
  ];
  if (e < 0n || m < 1n)
    throw new HallError("EXECUTION", "powmod takes an exponent from 0 and a modulus from 1");
  const words = fractions.bitLength(m) / 64 + 1;
  meter.spend((fractions.bitLength(e) * (words ** 2 + 200)) / 200);
  let [result, square, rest] = [1n % m, ((b % m) + m) % m, e];
  while (rest > 0n) {
    if (rest & 1n) result = (result * square) % m;
    square = (square * square) % m;
    rest >>= 1n;
  }
  return exact(result);
}

function sumOf(values: readonly Value[], meter: Meter): Value {
  return values.reduce((a, b) => add(a, b, meter));
}

function meanOf(values: readonly Value[], meter: Meter): Value {
  return divide(sumOf(values, meter), exact(BigInt(values.length)), meter);
}

function medianOf(values: readonly Value[], meter: Meter): Value {
  const sorted = [...values].sort(compare);
  const middle = Math.floor((sorted.length - 1) / 2);
  return meanOf(sorted.slice(middle, sorted.length - middle), meter);
}

/** Of a sample: divided by n - 1. */
function varianceOf(values: readonly Value[], meter: Meter): Value {
  if (values.length < 2)
    throw new HallError("EXECUTION", "variance and stdev take two values or more");
  const mean = meanOf(values, meter);
  const squares = values.map((value) => {
    const distance = subtract(value, mean, meter);
    return multiply(distance, distance, meter);
  });
  return divide(sumOf(squares, meter), exact(BigInt(values.length - 1)), meter);
}
