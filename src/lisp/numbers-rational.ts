/** Between doubles and exact numbers, without a wrong last bit in either direction. */
import { decodeDouble, shortestDigits } from "./float-digits.ts";

export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The exact value of a finite double, in lowest terms. */
export function fractionOf(value: number): Fraction {
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

/** The simplest fraction that reads back as this finite double: the first convergent that the double cannot be told from. */
export function simplestFraction(value: number): Fraction {
  if (value === 0) return { numerator: 0n, denominator: 1n };
  const { digits, exponent } = shortestDigits(Math.abs(value));
  const places = digits.length - exponent;
  const sign = value < 0 ? -1n : 1n;
  if (places <= 0)
    return { numerator: sign * BigInt(digits) * 10n ** BigInt(-places), denominator: 1n };
  const found = convergent(fractionOf(Math.abs(value)), Math.abs(value));
  return { numerator: sign * found.numerator, denominator: found.denominator };
}

function convergent(exact: Fraction, value: number): Fraction {
  let { numerator: x, denominator: y } = exact;
  let [p0, q0, p1, q1] = [0n, 1n, 1n, 0n];
  for (;;) {
    const whole = x / y;
    [p0, p1] = [p1, whole * p1 + p0];
    [q0, q1] = [q1, whole * q1 + q0];
    if (doubleOf(p1, q1) === value) return { numerator: p1, denominator: q1 };
    [x, y] = [y, x % y];
  }
}

/** numerator / denominator rounded to the nearest double, ties to even; infinite when it does not fit. */
export function doubleOf(numerator: bigint, denominator: bigint): number {
  if (isSmall(numerator) && isSmall(denominator)) return Number(numerator) / Number(denominator);
  if (numerator < 0n) return -doubleOf(-numerator, denominator);
  // Two bits more than a double holds, the last one "sticky": BigInt to Number then rounds as if it had seen the whole quotient.
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
