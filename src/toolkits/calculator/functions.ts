/** The names an expression may use. A function is exact if its arguments and its result allow it. */
import { HallError } from "../../base/errors.ts";
import * as fractions from "./fraction.ts";
import { type Fraction, fraction } from "./fraction.ts";
import {
  add,
  approximate,
  checkWholeBits,
  compare,
  divide,
  exact,
  formatValue,
  type MathValue,
  multiply,
  negate,
  overBudget,
  power,
  root,
  rootDegreeMax,
  subtract,
  toFraction,
  toNumber,
  toSign,
  toWhole,
  type WorkBudget,
} from "./value.ts";

export interface NamedFunction {
  /** As shown in messages: `log(x, base)`. */
  readonly form: string;
  readonly countMin: number;
  readonly countMax: number;
  readonly apply: Apply;
}

type Apply = (meter: WorkBudget, ...values: MathValue[]) => MathValue;

const pi = exact(1n, 1);
const degree = exact(fraction(1n, 180n), 1);
const zero = exact(0n);
const ten = exact(10n);

export const constants: ReadonlyMap<string, MathValue> = new Map<string, MathValue>([
  ["pi", pi],
  ["π", pi],
  ["tau", exact(2n, 1)],
  ["τ", exact(2n, 1)],
  ["e", Math.E],
  ["phi", (1 + Math.sqrt(5)) / 2],
  ["deg", degree],
]);

/** Names, parameters ("?" marks an optional one, "…" any number of further ones), function. */
const table: readonly (readonly [names: string, parameters: string, apply: Apply])[] = [
  ["abs", "x", (_, x: MathValue) => (toSign(x) < 0 ? negate(x) : x)],
  ["sign", "x", (_, x: MathValue) => exact(BigInt(toSign(x)))],
  ["floor", "x", (_, x: MathValue) => floorOf(x)],
  ["ceil ceiling", "x", (_, x: MathValue) => negate(floorOf(negate(x)))],
  ["trunc", "x", (_, x: MathValue) => (toSign(x) < 0 ? negate(floorOf(negate(x))) : floorOf(x))],
  ["round", "x, places?", roundTo],
  ["sqrt √", "x", (meter, x: MathValue) => root(meter, x, 2n)],
  ["cbrt", "x", (meter, x: MathValue) => root(meter, x, 3n)],
  ["root", "x, n", (meter, x: MathValue, n: MathValue) => root(meter, x, degreeOf(n))],
  ["pow", "x, y", power],
  [
    "exp",
    "x",
    (_, x: MathValue) => (toSign(x) === 0 ? exact(1n) : approximate(Math.exp(toNumber(x)))),
  ],
  ["ln", "x", (_, x: MathValue) => naturalLog(x)],
  ["log", "x, base?", logTo],
  ["log10 lg", "x", (meter, x: MathValue) => logTo(meter, x, ten)],
  ["log2", "x", (meter, x: MathValue) => logTo(meter, x, exact(2n))],
  ["sin", "x", (_, x: MathValue) => sine(x)],
  ["cos", "x", (_, x: MathValue) => cosine(x)],
  ["tan", "x", (_, x: MathValue) => tangent(x)],
  ["asin arcsin", "x", ofDouble("asin(x)", Math.asin, -1, 1)],
  ["acos arccos", "x", ofDouble("acos(x)", Math.acos, -1, 1)],
  ["atan arctan", "x", ofDouble("atan(x)", Math.atan)],
  ["atan2", "y, x", (_, y: MathValue, x: MathValue) => Math.atan2(toNumber(y), toNumber(x))],
  ["sinh", "x", ofDouble("sinh(x)", Math.sinh)],
  ["cosh", "x", ofDouble("cosh(x)", Math.cosh)],
  ["tanh", "x", ofDouble("tanh(x)", Math.tanh)],
  ["asinh arsinh", "x", ofDouble("asinh(x)", Math.asinh)],
  ["acosh arcosh", "x", ofDouble("acosh(x)", Math.acosh, 1)],
  ["atanh artanh", "x", ofDouble("atanh(x)", Math.atanh, Number.EPSILON - 1, 1 - Number.EPSILON)],
  ["degrees", "radians", (meter, x: MathValue) => divide(meter, x, degree)],
  ["radians", "degrees", (meter, x: MathValue) => multiply(meter, x, degree)],
  ["hypot", "x, y, …", hypotenuse],
  ["mod", "x, y", remainder],
  ["quotient div", "x, y", (meter, x: MathValue, y: MathValue) => floorOf(divide(meter, x, y))],
  ["gcd", "a, b, …", greatestCommonDivisor],
  ["lcm", "a, b, …", leastCommonMultiple],
  ["factorial", "n", factorial],
  ["choose ncr comb binomial", "n, k", choose],
  ["permutations npr perm", "n, k", permutations],
  ["powmod", "base, exponent, modulus", powerModulo],
  ["min", "a, b, …", (_, ...values) => values.reduce((a, b) => (compare(b, a) < 0 ? b : a))],
  ["max", "a, b, …", (_, ...values) => values.reduce((a, b) => (compare(b, a) > 0 ? b : a))],
  ["sum", "a, b, …", sumOf],
  ["product", "a, b, …", (meter, ...values) => values.reduce((a, b) => multiply(meter, a, b))],
  ["mean average avg", "a, b, …", meanOf],
  ["median", "a, b, …", medianOf],
  ["variance var", "a, b, …", varianceOf],
  ["stdev std sd", "a, b, …", (meter, ...values) => root(meter, varianceOf(meter, ...values), 2n)],
];

export const functions: ReadonlyMap<string, NamedFunction> = new Map(
  table.flatMap(([names, parameters, apply]) => {
    const all = names.split(" ");
    const count = parameters.split(",").length;
    const isOpen = parameters.endsWith("…");
    const named: NamedFunction = {
      form: `${all[0]}(${parameters.replace("?", "")})`,
      countMin: isOpen ? 1 : count - (parameters.endsWith("?") ? 1 : 0),
      countMax: isOpen ? Number.POSITIVE_INFINITY : count,
      apply,
    };
    return all.map((name) => [name, named] as const);
  }),
);

/** A function of doubles on a closed range; 0 stays exact if the function maps it to 0. */
function ofDouble(
  form: string,
  apply: (x: number) => number,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY,
): (meter: WorkBudget, x: MathValue) => MathValue {
  return (_, x) => {
    if (toSign(x) === 0 && apply(0) === 0) return zero;
    const number = toNumber(x);
    if (number >= from && number <= to) return approximate(apply(number));
    const upper = Number.isFinite(to) ? ` to ${Math.round(to)}` : "";
    throw outsideDomain(form, x, `x from ${Math.round(from)}${upper}`);
  };
}

function outsideDomain(form: string, x: MathValue, domain: string): HallError {
  return new HallError(
    "EXECUTION",
    `${form} has no real value at ${formatValue(x)} (expected: ${domain})`,
  );
}

function floorOf(x: MathValue): MathValue {
  const fraction = toFraction(x);
  return fraction ? exact(fractions.floor(fraction)) : Math.floor(toNumber(x));
}

const placesMax = 1_000n;

/** Exact arguments give exact decimals: round(1/7, 60) has sixty correct places. */
function roundTo(meter: WorkBudget, x: MathValue, places: MathValue = zero): MathValue {
  const count = toWhole(places, "the number of places");
  if (fractions.magnitude(count) > placesMax)
    throw overBudget("round exceeds the limit of 1,000 places");
  const exactly = toFraction(x);
  if (!exactly) {
    const [digits, number] = [Number(count), toNumber(x)];
    if (digits >= 0) return approximate(Number(number.toFixed(Math.min(digits, 100))));
    return approximate(Math.round(number * 10 ** digits) / 10 ** digits);
  }
  const scale = fractions.raise(fraction(10n), count);
  meter.spend(Number(fractions.magnitude(count)));
  const rounded = fractions.round(fractions.multiply(exactly, scale));
  return exact(fractions.divide(fraction(rounded), scale));
}

function degreeOf(n: MathValue): bigint {
  const whole = toWhole(n, "the degree of a root");
  if (whole >= 1n && whole <= rootDegreeMax) return whole;
  throw new HallError(
    "EXECUTION",
    `the degree of a root must be from 1 to ${rootDegreeMax}, not ${formatValue(n)}`,
  );
}

function naturalLog(x: MathValue): MathValue {
  if (toSign(x) <= 0) throw outsideDomain("ln(x)", x, "x above 0");
  return toFraction(x) && compare(x, exact(1n)) === 0 ? zero : lnOf(x);
}

/** Works for whole numbers that no double can hold, too. */
function lnOf(x: MathValue): number {
  const exactly = toFraction(x);
  const near = exactly ? fractions.toNumber(exactly) : toNumber(x);
  if (!exactly || (Number.isFinite(near) && near > 0)) return Math.log(near);
  const part = (value: bigint): number => {
    const shift = Math.max(0, fractions.bitLength(value) - 1_000);
    return Math.log(Number(value >> BigInt(shift))) + shift * Math.LN2;
  };
  return part(exactly.top) - part(exactly.bottom);
}

function logTo(meter: WorkBudget, x: MathValue, base?: MathValue): MathValue {
  if (!base) return naturalLog(x);
  if (toSign(x) <= 0) throw outsideDomain("log(x, base)", x, "x above 0");
  const divisor = toSign(base) > 0 ? lnOf(base) : 0;
  if (divisor === 0) throw outsideDomain("log(x, base)", base, "a base above 0 other than 1");

  const near = lnOf(x) / divisor;
  const whole = exact(BigInt(Math.round(near)));
  const isExact =
    toFraction(x) &&
    toFraction(base) &&
    Math.abs(near - Math.round(near)) < 1e-9 &&
    compare(power(meter, base, whole), x) === 0;
  if (isExact) return whole;

  const isTen = compare(base, ten) === 0 && Number.isFinite(10 ** near);
  return isTen ? Math.log10(toNumber(x)) : near;
}

/** The sine of so many sixths of pi, where it is a fraction. */
const sineOfSixths: ReadonlyMap<bigint, Fraction> = new Map([
  [0n, fractions.zero],
  [1n, fraction(1n, 2n)],
  [3n, fractions.one],
  [5n, fraction(1n, 2n)],
  [6n, fractions.zero],
  [7n, fraction(-1n, 2n)],
  [9n, fraction(-1n)],
  [11n, fraction(-1n, 2n)],
]);

function sine(x: MathValue): MathValue {
  const times = timesOfPi(x);
  if (!times) return Math.sin(toNumber(x));
  const turn = modulo(times, 2n);
  const sixths = fractions.multiply(turn, fraction(6n));
  const known = sixths.bottom === 1n ? sineOfSixths.get(sixths.top) : undefined;
  return known ? exact(known) : Math.sin(fractions.toNumber(turn) * Math.PI);
}

function cosine(x: MathValue): MathValue {
  const times = timesOfPi(x);
  if (!times) return Math.cos(toNumber(x));
  return sine(exact(fractions.add(times, fraction(1n, 2n)), 1));
}

function tangent(x: MathValue): MathValue {
  const times = timesOfPi(x);
  if (!times) return Math.tan(toNumber(x));
  const turn = modulo(times, 1n);
  const quarters = fractions.multiply(turn, fraction(4n));
  if (quarters.bottom !== 1n) return Math.tan(fractions.toNumber(turn) * Math.PI);
  if (quarters.top === 2n) throw outsideDomain("tan(x)", x, "anything but odd multiples of pi/2");
  return exact([0n, 1n, 0n, -1n][Number(quarters.top)] ?? 0n);
}

function timesOfPi(x: MathValue): Fraction | undefined {
  const isMultiple = typeof x !== "number" && (x.pi === 1 || toSign(x) === 0);
  return isMultiple ? x.fraction : undefined;
}

function modulo(a: Fraction, b: bigint): Fraction {
  const wholes = fractions.floor(fractions.divide(a, fraction(b)));
  return fractions.add(a, fraction(-b * wholes));
}

/** With the sign of the divisor, as in mathematics: -7 mod 3 is 2. */
export function remainder(meter: WorkBudget, a: MathValue, b: MathValue): MathValue {
  const wholes = floorOf(divide(meter, a, b));
  return subtract(meter, a, multiply(meter, b, wholes));
}

function hypotenuse(meter: WorkBudget, ...values: MathValue[]): MathValue {
  const squares = values.map((value) => multiply(meter, value, value));
  return root(meter, sumOf(meter, ...squares), 2n);
}

function greatestCommonDivisor(meter: WorkBudget, ...values: MathValue[]): MathValue {
  const wholes = values.map((value) => toWhole(value, "an argument of gcd"));
  return exact(wholes.reduce((a, b) => gcdOf(meter, a, b)));
}

function gcdOf(meter: WorkBudget, a: bigint, b: bigint): bigint {
  const bits = Math.min(fractions.bitLength(a), fractions.bitLength(b));
  meter.spend(bits + bits ** 2 / 5_000);
  return fractions.gcd(a, b);
}

function leastCommonMultiple(meter: WorkBudget, ...values: MathValue[]): MathValue {
  const wholes = values.map((value) => toWhole(value, "an argument of lcm"));
  if (wholes.includes(0n)) return zero;
  return wholes.reduce<MathValue>((found, next) => {
    const multiple = toWhole(found, "lcm");
    const factor = fractions.magnitude(next / gcdOf(meter, multiple, next));
    return multiply(meter, found, exact(factor));
  }, exact(1n));
}

export function factorial(meter: WorkBudget, n: MathValue): MathValue {
  const whole = toWhole(n, "the n of n!");
  if (whole < 0n) throw outsideDomain("factorial(n)", n, "whole numbers from 0");
  return exact(productOf(meter, 1n, whole));
}

function permutations(meter: WorkBudget, n: MathValue, k: MathValue): MathValue {
  const [all, taken] = countsOf(n, k, "permutations(n, k)");
  return taken > all ? zero : exact(productOf(meter, all - taken + 1n, all));
}

function choose(meter: WorkBudget, n: MathValue, k: MathValue): MathValue {
  const [all, taken] = countsOf(n, k, "choose(n, k)");
  if (taken > all) return zero;
  const fewer = taken < all - taken ? taken : all - taken;
  return exact(productOf(meter, all - fewer + 1n, all) / productOf(meter, 1n, fewer));
}

function countsOf(n: MathValue, k: MathValue, form: string): readonly [bigint, bigint] {
  const [all, taken] = [toWhole(n, `the n of ${form}`), toWhole(k, `the k of ${form}`)];
  if (all < 0n || taken < 0n) throw outsideDomain(form, all < 0n ? n : k, "whole numbers from 0");
  return [all, taken];
}

/** The product of a range of whole numbers; its size is checked before it is computed. */
function productOf(meter: WorkBudget, from: bigint, to: bigint): bigint {
  const count = to - from + 1n;
  if (count <= 0n) return 1n;
  const bits = Number(count) * Math.max(1, fractions.bitLength((from + to) / 2n) - 2);
  checkWholeBits(bits);
  meter.spend(Number(count) / 4 + bits ** 2 / 8e6);
  const productOfHalves = (low: bigint, high: bigint): bigint => {
    if (low === high) return low;
    const middle = (low + high) / 2n;
    return productOfHalves(low, middle) * productOfHalves(middle + 1n, high);
  };
  return productOfHalves(from, to);
}

function powerModulo(
  meter: WorkBudget,
  base: MathValue,
  exponent: MathValue,
  modulus: MathValue,
): MathValue {
  const b = toWhole(base, "the base of powmod");
  const e = toWhole(exponent, "the exponent of powmod");
  const m = toWhole(modulus, "the modulus of powmod");
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

function sumOf(meter: WorkBudget, ...values: MathValue[]): MathValue {
  return values.reduce((a, b) => add(meter, a, b));
}

function meanOf(meter: WorkBudget, ...values: MathValue[]): MathValue {
  return divide(meter, sumOf(meter, ...values), exact(BigInt(values.length)));
}

function medianOf(meter: WorkBudget, ...values: MathValue[]): MathValue {
  const sorted = [...values].sort(compare);
  const middle = Math.floor((sorted.length - 1) / 2);
  return meanOf(meter, ...sorted.slice(middle, sorted.length - middle));
}

/** Of a sample: divided by n - 1. */
function varianceOf(meter: WorkBudget, ...values: MathValue[]): MathValue {
  if (values.length < 2)
    throw new HallError("EXECUTION", "variance and stdev take two values or more");
  const mean = meanOf(meter, ...values);
  const squares = values.map((value) => {
    const distance = subtract(meter, value, mean);
    return multiply(meter, distance, distance);
  });
  return divide(meter, sumOf(meter, ...squares), exact(BigInt(values.length - 1)));
}
