import {
  decodeDouble,
  digitsAt,
  type FloatDigits,
  shortestDigits,
  significantDigits,
} from "../rationals.ts";

// The float directives `~f ~e ~g ~$` as text. Where the standard leaves room (how digits are shared
// between width and fraction, how a number is scaled before its digits are made) SBCL is followed
// to the letter, because programs are compared with it.

interface FloatShape {
  readonly width: number | undefined;
  readonly digits: number | undefined;
  readonly scale: number | undefined;
  readonly pad: string;
  /** Fills a field that is too narrow; without it the field grows. */
  readonly overflow: string | undefined;
  readonly plus: boolean;
}

interface ExponentShape extends FloatShape {
  readonly exponentDigits: number | undefined;
  readonly mark: string | undefined;
}

interface MoneyShape {
  readonly digits: number;
  readonly whole: number;
  readonly width: number;
  readonly pad: string;
  readonly signFirst: boolean;
  readonly plus: boolean;
}

/** `~w,d,k,overflow,padF` of a finite value. */
export function fixedText(value: number, shape: FloatShape): string {
  return fixed(value, shape).text;
}

/** `~w,d,e,k,overflow,pad,markE` of a finite value. */
export function exponentText(value: number, shape: ExponentShape): string {
  const { width, digits, exponentDigits, overflow } = shape;
  const { fraction, exponent: scaled } = scaleExponent(Math.abs(value));
  const scale = fraction === 1 ? (shape.scale ?? 1) - 1 : (shape.scale ?? 1);
  const exponent = scaled - scale;
  const exponentString = String(Math.abs(exponent));
  const exponentLength = Math.max(exponentString.length, exponentDigits ?? 0);
  const sign = signOf(value, shape.plus);
  if (
    width !== undefined &&
    overflow !== undefined &&
    exponentDigits !== undefined &&
    exponentLength > exponentDigits
  )
    return fill(overflow, width);
  const fractionDigits = digits !== undefined && scale > 0 ? digits + 1 - scale : digits;
  const atLeast = scale < 0 ? 1 : fractionDigits;
  const space = width === undefined ? undefined : width - 2 - exponentLength - sign.length;
  const body = pointText(fraction, { space, digits: fractionDigits, scale, atLeast });
  const field = placeZeros(body, space, fractionDigits === 0);
  if (field.left !== undefined && field.left < 0 && overflow !== undefined)
    return fill(overflow, width ?? 0);
  const power = `${shape.mark ?? "e"}${exponent < 0 ? "-" : "+"}${exponentString.padStart(exponentDigits ?? 0, "0")}`;
  return fill(shape.pad, field.left ?? 0) + sign + field.text + power;
}

/** `~w,d,e,k,overflow,pad,markG` of a finite value. */
export function generalText(value: number, shape: ExponentShape): string {
  const { exponent } = scaleExponent(Math.abs(value));
  const { length } = pointText(Math.abs(value), {});
  const digits = shape.digits ?? Math.max(length === 1 ? 1 : length - 1, Math.min(exponent, 7));
  const margin = shape.exponentDigits === undefined ? 4 : shape.exponentDigits + 2;
  const rest = digits - exponent;
  if (rest < 0 || rest > digits) return exponentText(value, { ...shape, digits });
  const width = shape.width === undefined ? undefined : shape.width - margin;
  const { text, overflows } = fixed(value, { ...shape, width, digits: rest, scale: undefined });
  return text + (overflows ? (shape.overflow ?? " ") : " ").repeat(margin);
}

/** `~d,n,w,pad$` of a finite value. */
export function moneyText(value: number, shape: MoneyShape): string {
  const sign = signOf(value, shape.plus);
  const text = pointText(Math.abs(value), { digits: shape.digits });
  const point = text.indexOf(".");
  const padding = shape.pad.repeat(
    Math.max(0, shape.width - sign.length - Math.max(shape.whole, point) - 1 - shape.digits),
  );
  const zeros = "0".repeat(Math.max(0, shape.whole - point));
  return (shape.signFirst ? sign + padding : padding + sign) + zeros + text;
}

function fixed(value: number, shape: FloatShape): { text: string; overflows: boolean } {
  const sign = signOf(value, shape.plus);
  const space = shape.width === undefined ? undefined : shape.width - sign.length;
  const body = pointText(Math.abs(value), { space, digits: shape.digits, scale: shape.scale });
  const field = placeZeros(body, space, shape.digits === 0);
  if (field.left !== undefined && field.left < 0 && shape.overflow !== undefined)
    return { text: fill(shape.overflow, shape.width ?? 0), overflows: true };
  return { text: fill(shape.pad, field.left ?? 0) + sign + field.text, overflows: false };
}

/** The optional zeros before and after the point, as far as they fit; `left` is the remaining width. */
function placeZeros(
  body: string,
  space: number | undefined,
  isWhole: boolean,
): { text: string; left: number | undefined } {
  let leads = body.startsWith(".");
  let trails = body.endsWith(".") && !isWhole;
  let left = space === undefined ? undefined : space - body.length;
  if (left !== undefined && leads) {
    leads = left > 0 || trails;
    if (leads) left -= 1;
  }
  if (left !== undefined && trails) {
    trails = left > 0;
    if (trails) left -= 1;
  }
  return { text: `${leads ? "0" : ""}${body}${trails ? "0" : ""}`, left };
}

interface PointShape {
  readonly space?: number | undefined;
  readonly digits?: number | undefined;
  readonly scale?: number | undefined;
  readonly atLeast?: number | undefined;
}

/** Digits with a point among them, without the optional zeros at either end. */
function pointText(value: number, shape: PointShape): string {
  const { digits: text, exponent } = chooseDigits(value, shape);
  const point = value === 0 ? exponent : exponent + (shape.scale ?? 0);
  const { digits, atLeast } = shape;
  if (point > 0) {
    const whole = text.slice(0, point).padEnd(point, "0");
    return `${whole}.${text.slice(point).padEnd(digits ?? 0, "0")}`;
  }
  const zeros = "0".repeat(-point);
  const shown =
    digits === undefined
      ? text
      : text.slice(0, Math.max(0, Math.min(text.length, Math.max(atLeast ?? 0, digits + point))));
  const after = digits === undefined ? 0 : digits + point - text.length;
  return `.${zeros}${shown}${"0".repeat(Math.max(0, after))}`;
}

function chooseDigits(value: number, { space, digits, scale, atLeast }: PointShape): FloatDigits {
  if (digits !== undefined)
    return digitsAt(value, Math.min(-(digits + (scale ?? 0)), -(atLeast ?? 0)));
  if (space === undefined || space <= 1) return shortestDigits(value);
  const byWidth = significantDigits(value, Math.max(1, space - 1 + Math.min(0, scale ?? 0)));
  const byPlace = digitsAt(value, -((atLeast ?? 0) + (scale ?? 0)));
  return byWidth.digits.length >= byPlace.digits.length ? byWidth : byPlace;
}

/** A fraction in [0.1, 1] and a power of ten; computed in floating point, so the last digit may be inexact. */
function scaleExponent(value: number): { fraction: number; exponent: number } {
  if (value === 0) return { fraction: 0, exponent: 1 };
  const { mantissa, exponent: binary } = decodeDouble(value);
  let exponent = Math.round((binary + mantissa.toString(2).length) * 0.30102999566398114);
  let scaled: number;
  if (exponent >= 0) scaled = value / 10 / powerOfTen(exponent - 1);
  else if (value < 2 ** -1022) scaled = value * 1e16 * powerOfTen(-exponent - 16);
  else scaled = value * 10 * powerOfTen(-exponent - 1);
  let down = scaled;
  for (let divisor = 10; down >= 1; divisor *= 10) {
    down = scaled / divisor;
    exponent += 1;
  }
  let up = down;
  for (let factor = 10; up < 0.1; factor *= 10) {
    up = down * factor;
    exponent -= 1;
  }
  return { fraction: up, exponent };
}

/** Correctly rounded, unlike `10 ** n`. */
function powerOfTen(power: number): number {
  return Number(`1e${power}`);
}

function signOf(value: number, plus: boolean): string {
  if (value < 0 || Object.is(value, -0)) return "-";
  return plus ? "+" : "";
}

function fill(character: string, count: number): string {
  return character.repeat(Math.max(0, count));
}
