// Tokens that are numbers. Every float is a double: `1.0f0`, `1.0s0`, `1.0d0` and `1.0l0` read alike.
import { named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";
import { Float, integer, Ratio, type Value } from "./values.ts";

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
  if (!Number.isFinite(value))
    m.error("READER-ERROR", { TEXT: new Str(`${text} is too large for a float`) });
  return new Float(value);
}

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

function bigDigits(digits: string, radix: number): bigint {
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
  const over = readInteger(m, text.slice(0, slash), radix);
  const under = /^[+-]/.test(text.slice(slash + 1))
    ? undefined
    : readInteger(m, text.slice(slash + 1), radix);
  if (over === undefined || under === undefined) return undefined;
  if (under === 0) m.error("READER-ERROR", { TEXT: new Str(`${text} divides by zero`) });
  let [a, b] = [BigInt(over), BigInt(under)];
  const [numerator, denominator] = [a, b];
  while (b !== 0n) [a, b] = [b, a % b];
  const divisor = a < 0n ? -a : a;
  return denominator === divisor
    ? integer(numerator / divisor)
    : new Ratio(numerator / divisor, denominator / divisor);
}
