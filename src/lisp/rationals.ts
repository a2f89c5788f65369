/** Between doubles and exact numbers, without a wrong last bit in either direction. */
import { named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { Float, integer, Ratio, Stream, type Value } from "./values.ts";

export interface LispFraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The exact value of a finite double, in lowest terms. */
export function fractionOf(value: number): LispFraction {
  const { mantissa, exponent, sign } = decodeDouble(value);
  if (mantissa === 0n) return { numerator: 0n, denominator: 1n };
  const signed = sign < 0 ? -mantissa : mantissa;
  if (exponent >= 0) return { numerator: signed << BigInt(exponent), denominator: 1n };
  let shift = -exponent;
  let numerator = signed;
  while (shift > 0 && numerator % 2n === 0n) {
    numerator /= 2n;
    shift -= 1;
  }
  return { numerator, denominator: 1n << BigInt(shift) };
}

/** numerator / denominator rounded to the nearest double, ties to even; infinite when it does not fit. */
export function doubleOf(numerator: bigint, denominator: bigint): number {
  if (isSmall(numerator) && isSmall(denominator)) return Number(numerator) / Number(denominator);
  if (numerator < 0n) return -doubleOf(-numerator, denominator);
  // Two bits more than a double holds, the last one "sticky": BigInt to Number then rounds as if it
  // had seen the whole quotient.
  const shift = 66 - (bitLength(numerator) - bitLength(denominator));
  const [top, bottom] =
    shift >= 0
      ? [numerator << BigInt(shift), denominator]
      : [numerator, denominator << BigInt(-shift)];
  const quotient = top / bottom;
  const sticky = top % bottom === 0n ? quotient : quotient | 1n;
  return scaleDouble(sticky, -shift);
}

/** value * 2^power, rounded once. */
export function scaleDouble(value: bigint, power: number): number {
  const length = bitLength(value);
  // Below the normal range a double has fewer bits: round to those at once, not twice.
  const lowest = -1074 - power;
  if (length - 53 < lowest) return roundAt(value, lowest) * 2 ** -1074;
  const double = Number(value);
  if (power < -1000) return double * 2 ** -1000 * 2 ** (power + 1000);
  if (power > 1000) return double * 2 ** 1000 * 2 ** (power - 1000);
  return double * 2 ** power;
}

function roundAt(value: bigint, bit: number): number {
  if (bit <= 0) return Number(value << BigInt(-bit));
  const unit = 1n << BigInt(bit);
  const quotient = value / unit;
  const twice = (value % unit) * 2n;
  const isUp = twice > unit || (twice === unit && quotient % 2n === 1n);
  return Number(isUp ? quotient + 1n : quotient);
}

/** Bits of a bigint that is not negative. */
export function bitLength(value: bigint): number {
  if (value === 0n) return 0;
  const hex = value.toString(16);
  return hex.length * 4 - (Math.clz32(Number.parseInt(hex[0] ?? "0", 16)) - 28);
}

const limit = 2n ** 53n;

function isSmall(value: bigint): boolean {
  return value <= limit && value >= -limit;
}

/**
 * The decimal digits of a double: 0.d1d2d3… times ten to the power of `exponent`. Free-format
 * digits are the shortest that read back; fixed-format digits end at a decimal position and are
 * rounded as Burger and Dybvig do it (1996), from the exact binary value but never finer than what
 * tells the number from its neighbours. `format` is compared with SBCL digit by digit, so the order
 * of the comparisons matters.
 */
export interface FloatDigits {
  readonly exponent: number;
  readonly digits: string;
}

/** The shortest digits that read back as `value`, which is finite and not negative. */
export function shortestDigits(value: number): FloatDigits {
  if (value === 0) return { exponent: 0, digits: "0" };
  const text = value.toExponential();
  const mark = text.indexOf("e");
  const exponent = Number(text.slice(mark + 1)) + 1;
  const digits = text.slice(0, mark).replace(".", "");
  if (digits.length < 16 || !isTie(value, digits, digits.length - exponent))
    return { exponent, digits };
  // Between two shortest texts that are equally near, JS takes the even one and Lisp the upper one.
  return { exponent, digits: digits.slice(0, -1) + (Number(digits.at(-1)) + 1) };
}

/** True if `value` lies exactly halfway above `digits`, the last of which stands `places` behind the point. */
function isTie(value: number, digits: string, places: number): boolean {
  const { mantissa, exponent } = decodeDouble(value);
  if (exponent >= 0 || places < 0) return false;
  return mantissa * 10n ** BigInt(places) * 2n === (BigInt(digits) * 2n + 1n) << BigInt(-exponent);
}

/** Digits down to the place ten to the power of `position`. */
export function digitsAt(value: number, position: number): FloatDigits {
  return generate(start(value), position);
}

/** At most `count` significant digits (at least one). */
export function significantDigits(value: number, count: number): FloatDigits {
  const state = start(value);
  let power = 0;
  let limit = 1n;
  while (state.s * limit < state.r + state.high) {
    power += 1;
    limit *= 10n;
  }
  const position = power - count;
  // r + s * 10^position / 2 < s * limit, with both sides doubled and freed of negative powers
  const [up, down] = position >= 0 ? [10n ** BigInt(position), 1n] : [1n, 10n ** BigInt(-position)];
  const fits = 2n * state.r * down + state.s * up < 2n * state.s * limit * down;
  return generate(state, fits ? position : position - 1);
}

/** value = r / s; high and low are half the gaps to the neighbours, over s. */
interface State {
  readonly r: bigint;
  readonly s: bigint;
  readonly high: bigint;
  readonly low: bigint;
}

const hiddenBit = 2n ** 52n;

function start(value: number): State {
  const { mantissa, exponent } = decodeDouble(value);
  const isEdge = mantissa === hiddenBit;
  if (exponent >= 0) {
    const unit = 2n ** BigInt(exponent);
    if (!isEdge) return { r: mantissa * 2n * unit, s: 2n, high: unit, low: unit };
    return { r: mantissa * 4n * unit, s: 4n, high: unit * 2n, low: unit };
  }
  if (!isEdge || exponent === -1074)
    return { r: mantissa * 2n, s: 2n ** BigInt(1 - exponent), high: 1n, low: 1n };
  return { r: mantissa * 4n, s: 2n ** BigInt(2 - exponent), high: 2n, low: 1n };
}

function generate(state: State, position: number): FloatDigits {
  const factor = 2n * 10n ** BigInt(Math.max(0, -position));
  let r = state.r * factor;
  let s = state.s * factor;
  let high = state.high * factor;
  let low = state.low * factor;
  const half =
    position >= 0
      ? (s * 10n ** BigInt(position)) / 2n
      : (state.s * factor) / 2n / 10n ** BigInt(-position);
  if (half > low) low = half;
  if (half > high) high = half;
  let exponent = 0;
  while (r + high >= s) {
    s *= 10n;
    exponent += 1;
  }
  while (r > low && (r + high) * 10n < s) {
    r *= 10n;
    high *= 10n;
    low *= 10n;
    exponent -= 1;
  }
  let digits = "";
  for (;;) {
    const scaled = r * 10n;
    const digit = Number(scaled / s);
    r = scaled % s;
    high *= 10n;
    low *= 10n;
    const isLow = r <= low;
    const isHigh = r + high >= s;
    if (!isLow && !isHigh) {
      digits += digit;
      continue;
    }
    const roundsUp = isHigh && (!isLow || r * 2n >= s);
    return { exponent, digits: digits + (roundsUp ? digit + 1 : digit) };
  }
}

const view = new DataView(new ArrayBuffer(8));

/** value = sign * mantissa * 2^exponent, for a finite value. */
export function decodeDouble(value: number): { mantissa: bigint; exponent: number; sign: 1 | -1 } {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const fraction = bits & (hiddenBit - 1n);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const sign = bits >> 63n === 1n ? -1 : 1;
  if (biased === 0) return { mantissa: fraction, exponent: -1074, sign };
  return { mantissa: fraction | hiddenBit, exponent: biased - 1075, sign };
}

// Tokens that are numbers. Every float is a double: `1.0f0`, `1.0s0`, `1.0d0` and `1.0l0` read alike.

const base = named("*READ-BASE*");
const floatSyntax = /^([+-]?)(\d*\.\d+|\d+\.?\d*(?=[ESFDL]))(?:[ESFDL]([+-]?\d+))?$/;

/** Undefined when the token is no number. `text` is in upper case. */
export function readNumber(
  m: Machine,
  text: string,
  radix = typeof base.value === "number" ? base.value : 10,
): Value | undefined {
  const first = text.charCodeAt(0);
  if (radix === 10 && first > 57) return undefined;
  if (/^[+-]?\d+\.$/.test(text)) return readInteger(m, text.slice(0, -1), 10);
  const slash = text.indexOf("/");
  if (slash > 0) return readRatio(m, text, slash, radix);
  const found = readInteger(m, text, radix);
  if (found !== undefined) return found;
  const float = floatSyntax.exec(text);
  if (float === null) return undefined;
  const value = Number(`${float[1]}${float[2]}e${float[3] ?? "0"}`);
  if (!Number.isFinite(value)) unreadable(m, `${text} is too large for a float`);
  return new Float(value);
}

const unreadable = (m: Machine, text: string): never =>
  m.error("READER-ERROR", { TEXT: text, STREAM: new Stream(null, "STRING-STREAM") });

function readInteger(m: Machine, text: string, radix: number): number | bigint | undefined {
  const sign = text[0] === "-" ? -1 : 1;
  const digits = text[0] === "-" || text[0] === "+" ? text.slice(1) : text;
  if (digits === "") return undefined;
  for (let at = 0; at < digits.length; at++)
    if (digitValue(digits.charCodeAt(at)) >= radix) return undefined;
  if (digits.length <= 15 && radix === 10) return sign * Number(digits) + 0;
  m.checkBits(digits.length * Math.log2(radix));
  return integer(BigInt(sign) * bigDigits(digits, radix));
}

export function bigDigits(digits: string, radix: number): bigint {
  if (radix === 10) return BigInt(digits);
  // Halving keeps the work far below one multiplication per digit.
  if (digits.length <= 8) return BigInt(Number.parseInt(digits, radix));
  const half = digits.length >> 1;
  return (
    bigDigits(digits.slice(0, -half), radix) * BigInt(radix) ** BigInt(half) +
    bigDigits(digits.slice(-half), radix)
  );
}

function digitValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 90) return code - 55;
  return 99;
}

function readRatio(m: Machine, text: string, slash: number, radix: number): Value | undefined {
  const [top, bottom] = [text.slice(0, slash), text.slice(slash + 1)];
  const over = readInteger(m, top, radix);
  const under = /^[+-]/.test(bottom) ? undefined : readInteger(m, bottom, radix);
  if (over === undefined || under === undefined) return undefined;
  if (under === 0) unreadable(m, `${text} divides by zero`);
  const [numerator, denominator] = [BigInt(over), BigInt(under)];
  let [a, b] = [numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  const divisor = a < 0n ? -a : a;
  return denominator === divisor
    ? integer(numerator / divisor)
    : new Ratio(numerator / divisor, denominator / divisor);
}
