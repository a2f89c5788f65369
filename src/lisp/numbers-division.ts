/** The floor family: a quotient rounded one of four ways, and what remains. */

import type { Machine } from "./machine.ts";
import {
  add,
  compare,
  denominatorOf,
  divide,
  type Int,
  isZero,
  multiply,
  negate,
  numeratorOf,
  rational,
  real,
  signOf,
  subtract,
  toDouble,
} from "./numbers.ts";
import { divisionByZero, floatOverflow } from "./numbers-faults.ts";
import { Float, integer, type Ratio, type Value } from "./values.ts";

export type Rounding = "floor" | "ceiling" | "truncate" | "round";

export interface Division {
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
  const step = stepFor(m, rounding, quotient, remainder, x, y);
  if (step === 0) return { quotient, remainder };
  const moved = step > 0 ? subtract(m, remainder, b) : add(m, remainder, b);
  return { quotient: add(m, quotient, step) as Int, remainder: moved };
}

function smallDivision(rounding: Rounding, a: number, b: number): Division {
  const remainder = (a % b) + 0;
  const quotient = (a - remainder) / b + 0;
  if (remainder === 0) return { quotient, remainder };
  const isNegative = remainder < 0 !== b < 0;
  const step = smallStep(rounding, quotient, remainder, b, isNegative);
  return { quotient: quotient + step, remainder: remainder - step * b };
}

function smallStep(
  rounding: Rounding,
  quotient: number,
  remainder: number,
  b: number,
  isNegative: boolean,
): number {
  switch (rounding) {
    case "truncate":
      return 0;
    case "floor":
      return isNegative ? -1 : 0;
    case "ceiling":
      return isNegative ? 0 : 1;
    case "round": {
      const rest = Math.abs(b) - Math.abs(remainder);
      const isUp =
        Math.abs(remainder) > rest || (Math.abs(remainder) === rest && quotient % 2 !== 0);
      return isUp ? (isNegative ? -1 : 1) : 0;
    }
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

/** By how much the truncated quotient moves. */
function stepFor(
  m: Machine,
  rounding: Rounding,
  quotient: Int,
  remainder: Value,
  x: Value,
  y: Value,
): number {
  const isNegative = signOf(real(m, x)) < 0 !== signOf(real(m, y)) < 0;
  switch (rounding) {
    case "truncate":
      return 0;
    case "floor":
      return isNegative ? -1 : 0;
    case "ceiling":
      return isNegative ? 0 : 1;
    case "round": {
      const side = compare(m, multiply(m, magnitude(m, remainder), 2), magnitude(m, y));
      const isUp = side > 0 || (side === 0 && BigInt(quotient) % 2n !== 0n);
      return isUp ? (isNegative ? -1 : 1) : 0;
    }
  }
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

/** a / b as a double, for the functions that answer their quotient as a float. */
export function floatQuotient(
  m: Machine,
  rounding: Rounding,
  a: Value,
  b: Value,
): Division & { readonly float: Float } {
  const division = divideRounded(m, rounding, a, b);
  const isNegativeZero = division.quotient === 0 && isNegative(m, divide(m, a, b));
  return { ...division, float: new Float(isNegativeZero ? -0 : toDouble(m, division.quotient)) };
}

function isNegative(m: Machine, value: Value): boolean {
  const number = real(m, value);
  return number instanceof Float ? number.value < 0 || Object.is(number.value, -0) : false;
}
