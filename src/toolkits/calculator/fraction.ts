/** Exact fractions on BigInt, always in lowest terms with a positive denominator. */
export interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

/** `bottom` must not be zero. */
export function fraction(top: bigint, bottom = 1n): Fraction {
  if (bottom === 1n) return { top, bottom };
  const common = gcd(top, bottom) * (bottom < 0n ? -1n : 1n);
  return { top: top / common, bottom: bottom / common };
}

export const zero = fraction(0n);
export const one = fraction(1n);

export function add(a: Fraction, b: Fraction): Fraction {
  if (a.bottom === b.bottom) return fraction(a.top + b.top, a.bottom);
  return fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
}

export function negate({ top, bottom }: Fraction): Fraction {
  return { top: -top, bottom };
}

export function multiply(a: Fraction, b: Fraction): Fraction {
  return fraction(a.top * b.top, a.bottom * b.bottom);
}

/** `b` must not be zero. */
export function divide(a: Fraction, b: Fraction): Fraction {
  return fraction(a.top * b.bottom, a.bottom * b.top);
}

/** Zero must not be raised to a negative exponent. A power of lowest terms is in lowest terms. */
export function raise({ top, bottom }: Fraction, exponent: bigint): Fraction {
  if (exponent >= 0n) return { top: top ** exponent, bottom: bottom ** exponent };
  const flipped = { top: bottom ** -exponent, bottom: top ** -exponent };
  return flipped.bottom < 0n ? { top: -flipped.top, bottom: -flipped.bottom } : flipped;
}

export function compare(a: Fraction, b: Fraction): number {
  const difference = a.top * b.bottom - b.top * a.bottom;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

export function equals(a: Fraction, b: Fraction): boolean {
  return a.top === b.top && a.bottom === b.bottom;
}

export function floor({ top, bottom }: Fraction): bigint {
  const quotient = top / bottom;
  return top < 0n && quotient * bottom !== top ? quotient - 1n : quotient;
}

/** To the nearest whole number, halves away from zero. */
export function round({ top, bottom }: Fraction): bigint {
  const rounded = (2n * magnitude(top) + bottom) / (2n * bottom);
  return top < 0n ? -rounded : rounded;
}

export function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [magnitude(a), magnitude(b)];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** Never too small, at most three too large. */
export function bitLength(value: bigint): number {
  const size = Number(magnitude(value));
  if (size < 1) return 1;
  if (Number.isFinite(size)) return Math.floor(Math.log2(size)) + 1;
  return magnitude(value).toString(16).length * 4;
}

/** A decimal such as "-12.5e-3"; the caller has checked its form and the size of its exponent. */
export function parseDecimal(text: string): Fraction {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", decimals = ""] = mantissa.split(".");
  const places = BigInt(exponent) - BigInt(decimals.length);
  const digits = BigInt(`${whole}${decimals}`.replace(/^[+-]/, ""));
  const signed = whole.startsWith("-") ? -digits : digits;
  return places >= 0n ? fraction(signed * 10n ** places) : fraction(signed, 10n ** -places);
}

/** As it is written: 0.1 is a tenth, not its nearest binary neighbour. */
export function fromNumber(value: number): Fraction {
  return parseDecimal(`${value}`);
}

/** The nearest double; infinite or zero if there is none near. */
export function toNumber({ top, bottom }: Fraction): number {
  const quick = [Number(top), Number(bottom)] as const;
  if (quick.every(Number.isSafeInteger)) return quick[0] / quick[1];

  // 65 bits of the quotient and a bit for the remainder make Number() round as if it had seen all.
  const shift = Math.max(-1_074, 65 - bitLength(top) + bitLength(bottom));
  const scaledTop = shift >= 0 ? magnitude(top) << BigInt(shift) : magnitude(top);
  const scaledBottom = shift >= 0 ? bottom : bottom << BigInt(-shift);
  const rest = scaledTop % scaledBottom === 0n ? 0n : 1n;
  const bits = Number(((scaledTop / scaledBottom) << 1n) | rest);

  // Two factors, because 2 ** -(shift + 1) alone can be infinite.
  const half = (shift + 1) / 2;
  const size = bits * 2 ** -Math.floor(half) * 2 ** -Math.ceil(half);
  return top < 0n ? -size : size;
}

/** All digits; undefined if the decimals do not end. */
export function toExactDecimal({ top, bottom }: Fraction): string | undefined {
  if (bottom === 1n) return `${top}`;
  const twos = countFactor(bottom, 2n);
  const fives = countFactor(twos.rest, 5n);
  if (fives.rest !== 1n) return undefined;
  const places = Math.max(twos.count, fives.count);
  const digits = `${(magnitude(top) * 10n ** BigInt(places)) / bottom}`.padStart(places + 1, "0");
  return `${top < 0n ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Rounded to significant digits, with an exponent if the number would be mostly zeros. */
export function toRoundedDecimal(value: Fraction, significant: number): string {
  const top = magnitude(value.top);
  if (top === 0n) return "0";
  let exponent = Math.floor((bitLength(top) - bitLength(value.bottom)) * Math.LOG10E * Math.LN2);
  let digits = scaleBy(top, value.bottom, significant - 1 - exponent);
  // The estimate is off by one at most, and rounding may carry into one more digit.
  while (digits.length !== significant) {
    exponent += digits.length - significant;
    digits = scaleBy(top, value.bottom, significant - 1 - exponent);
  }
  return `${value.top < 0n ? "-" : ""}${placePoint(digits.replace(/0+$/, ""), exponent)}`;
}

function scaleBy(top: bigint, bottom: bigint, places: number): string {
  const scale = 10n ** BigInt(Math.abs(places));
  const scaled = places >= 0 ? { top: top * scale, bottom } : { top, bottom: bottom * scale };
  return `${round(scaled)}`;
}

function placePoint(digits: string, exponent: number): string {
  const insertPoint = (text: string, place: number): string =>
    text.length > place ? `${text.slice(0, place)}.${text.slice(place)}` : text;
  if (exponent < -6 || exponent > 20)
    return `${insertPoint(digits, 1)}e${exponent < 0 ? "" : "+"}${exponent}`;
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  return insertPoint(digits.padEnd(exponent + 1, "0"), exponent + 1);
}

function countFactor(value: bigint, factor: bigint): { count: number; rest: bigint } {
  let [count, rest] = [0, value];
  while (rest % factor === 0n) [count, rest] = [count + 1, rest / factor];
  return { count, rest };
}

/** The whole part of the root of a number that is not negative. */
export function wholeRoot(value: bigint, degree: bigint): bigint {
  if (value < 2n) return value;
  // Newton from above: the guess falls until it is the root.
  let guess = 1n << (BigInt(bitLength(value)) / degree + 1n);
  for (;;) {
    const next = ((degree - 1n) * guess + value / guess ** (degree - 1n)) / degree;
    if (next >= guess) return guess;
    guess = next;
  }
}
