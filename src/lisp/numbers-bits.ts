/** Integers as endless rows of bits in two's complement. Numbers below 2^31 stay numbers; the rest goes through bigint. */
import type { Machine } from "./machine.ts";
import { type Int, toInteger, wordsOf } from "./numbers.ts";
import { bitLength } from "./numbers-rational.ts";
import { integer, type Value } from "./values.ts";

export type BitOperation = "and" | "or" | "xor";

export function combineBits(m: Machine, operation: BitOperation, a: Value, b: Value): Int {
  const x = toInteger(m, a);
  const y = toInteger(m, b);
  if (isSmall(x) && isSmall(y))
    return operation === "and" ? x & y : operation === "or" ? x | y : x ^ y;
  const [p, q] = [BigInt(x), BigInt(y)];
  return integer(operation === "and" ? p & q : operation === "or" ? p | q : p ^ q);
}

export function invertBits(m: Machine, value: Value): Int {
  const x = toInteger(m, value);
  return typeof x === "number" ? integer(-BigInt(x) - 1n) : integer(~x);
}

export function shiftBits(m: Machine, value: Value, count: Value): Int {
  const x = toInteger(m, value);
  const by = toInteger(m, count);
  if (x === 0 || by === 0) return x;
  if (by < 0) return by < -4_000_000_000 ? (x < 0 ? -1 : 0) : integer(BigInt(x) >> BigInt(-by));
  if (typeof x === "number" && by <= 21 && isSmall(x)) return x * 2 ** Number(by);
  m.checkBits(Number(by) + wordsOf(BigInt(x)) * 16);
  return integer(BigInt(x) << BigInt(by));
}

/** Bits needed without the sign: `integer-length`. */
export function lengthInBits(m: Machine, value: Value): number {
  const x = toInteger(m, value);
  if (typeof x === "number" && isSmall(x)) return 32 - Math.clz32(x < 0 ? ~x : x);
  const big = BigInt(x);
  return bitLength(big < 0n ? -big - 1n : big);
}

/** Ones of a number that is not negative, zeros of a negative one. */
export function countBits(m: Machine, value: Value): number {
  const x = BigInt(toInteger(m, value));
  const bits = (x < 0n ? -x - 1n : x).toString(2);
  let count = 0;
  for (let at = 0; at < bits.length; at += 1) if (bits.charCodeAt(at) === 49) count += 1;
  return count;
}

export function bitAt(m: Machine, index: Value, value: Value): boolean {
  const at = toInteger(m, index);
  const x = toInteger(m, value);
  if (at < 0) return m.typeError(index, "UNSIGNED-BYTE");
  if (at > 4_000_000_000) return x < 0;
  return (BigInt(x) >> BigInt(at)) % 2n !== 0n;
}

/** Bits `position` … `position + size - 1`, moved down to bit 0. */
export function loadField(m: Machine, size: number, position: number, value: Value): Int {
  const x = toInteger(m, value);
  if (typeof x === "number" && x >= 0 && position + size <= 31 && isSmall(x))
    return (x >> position) & (2 ** size - 1);
  if (size > 64) m.checkBits(size);
  return integer(BigInt.asUintN(size, BigInt(x) >> BigInt(position)));
}

/** `value` with that field replaced by the lowest bits of `field`. */
export function storeField(
  m: Machine,
  field: Value,
  size: number,
  position: number,
  value: Value,
): Int {
  m.checkBits(size + position);
  const x = BigInt(toInteger(m, value));
  const mask = ((1n << BigInt(size)) - 1n) << BigInt(position);
  return integer((x & ~mask) | ((BigInt(toInteger(m, field)) << BigInt(position)) & mask));
}

function isSmall(value: Int): value is number {
  return typeof value === "number" && value < 2 ** 31 && value >= -(2 ** 31);
}
