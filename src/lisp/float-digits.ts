/**
 * The decimal digits of a double: 0.d1d2d3… times ten to the power of `exponent`. Free-format digits are the shortest that read
 * back; fixed-format digits end at a decimal position and are rounded as Burger and Dybvig do it (1996), from the exact binary
 * value but never finer than what tells the number from its neighbours. `format` is compared with SBCL digit by digit, so the order
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

/** Whether `value` lies exactly halfway above `digits`, the last of which stands `places` behind the point. */
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
