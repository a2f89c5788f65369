/** Vectors with fill pointers, and bit arrays. */
import { defineConstant, defineFunction, defineSetter, named } from "../define.ts";
import type { Machine } from "../machine.ts";
import { type Int, toInteger, wordsOf } from "../numbers.ts";
import { bitLength } from "../rationals.ts";
import { Str } from "../string.ts";
import { bool, NIL } from "../symbol.ts";
import { Cons, integer, type Value } from "../values.ts";
import { arrayOf, getAt, type LispArray, setAt, sizeOf } from "./arrays.ts";

export function defineFillPointers(): void {
  defineFunction("FILL-POINTER vector", (m, vector) => filled(m, vector).fill);
  defineSetter("FILL-POINTER value vector", (m, value, vector) => {
    const array = filled(m, vector);
    array.fill =
      typeof value === "number" && value >= 0 && value <= sizeOf(array)
        ? value
        : m.typeError(value, `(INTEGER 0 ${sizeOf(array)})`);
    return value;
  });
  defineFunction("VECTOR-PUSH item vector", (m, item, vector) => {
    const array = filled(m, vector);
    if (array.fill >= sizeOf(array)) return NIL;
    setAt(m, array, array.fill, item);
    return array.fill++;
  });
  defineFunction("VECTOR-PUSH-EXTEND item vector &optional extension", (m, item, vector) => {
    const array = filled(m, vector);
    if (array.fill >= sizeOf(array)) grow(m, array, Math.max(4, sizeOf(array)));
    setAt(m, array, array.fill, item);
    return array.fill++;
  });
  defineFunction("VECTOR-POP vector", (m, vector) => {
    const array = filled(m, vector);
    if (array.fill === 0) return m.fail("cannot pop: the fill pointer is 0");
    array.fill -= 1;
    return getAt(m, array, array.fill);
  });
}

function filled(m: Machine, vector: Value): LispArray {
  const array = arrayOf(m, vector, "VECTOR");
  return array.fill >= 0
    ? array
    : m.typeError(vector, "(AND VECTOR (SATISFIES ARRAY-HAS-FILL-POINTER-P))");
}

function grow(m: Machine, array: LispArray, by: number): void {
  m.alloc(array instanceof Str ? (by >> 3) + 1 : by);
  if (array.displacement !== null) {
    // It gets contents of its own.
    array.displacement = null;
    if (array instanceof Str) array.become(Str.ofCodes([...array.codes()]));
    else array.items = [...array.items];
  }
  const items: (Value | number)[] = array instanceof Str ? array.codes() : array.items;
  for (let at = 0; at < by; at += 1) items.push(0);
}

// Integers as bits: the logical functions, shifts and byte fields.

export function defineBits(): void {
  for (const [name, unit, operation] of [
    ["AND", -1, "and"],
    ["IOR", 0, "or"],
    ["XOR", 0, "xor"],
  ] as const)
    defineFunction(`LOG${name} &rest integers`, (m, integers) =>
      fold(m, integers, unit, (a, b) => combineBits(m, operation, a, b)),
    );
  defineFunction("LOGEQV &rest integers", (m, integers) =>
    fold(m, integers, -1, (a, b) => invertBits(m, combineBits(m, "xor", a, b))),
  );
  defineFunction("LOGNOT integer", invertBits);
  defineFunction("LOGTEST integer1 integer2", (m, a, b) => bool(combineBits(m, "and", a, b) !== 0));
  defineFunction("LOGBITP index integer", (m, index, value) => bool(bitAt(m, index, value)));
  defineFunction("LOGCOUNT integer", countBits);
  defineFunction("INTEGER-LENGTH integer", lengthInBits);
  defineFunction("ASH integer count", shiftBits);
  defineFields();
  defineCombinations();
}

/** Two bits combined: the result for 11, 10, 01 and 00 is a bit of the number. */
const combinations: readonly [string, number][] = [
  ...Object.entries({ CLR: 0, SET: 15, C1: 3, C2: 5, AND: 8, IOR: 14, XOR: 6, EQV: 9, NAND: 7 }),
  ...Object.entries({ 1: 12, 2: 10, NOR: 1, ANDC1: 2, ANDC2: 4, ORC1: 11, ORC2: 13 }),
];

function defineCombinations(): void {
  for (const [name, op] of combinations) {
    defineConstant(`BOOLE-${name}`, op);
    if (/C?[12]|CLR|SET/.exec(name)?.[0] === name) continue;
    defineFunction(`BIT-${name} array-1 array-2 &optional result`, (m, ...[a, b, result = NIL]) =>
      m.apply(m.fn(named("%COMBINE-BITS")), [op, a, b, result]),
    );
    if (named(`LOG${name}`).fn === null)
      defineFunction(`LOG${name} integer-1 integer-2`, (m, a, b) => boole(m, op, a, b));
  }
  defineFunction("BOOLE op integer-1 integer-2", boole);
}

function boole(m: Machine, op: Value, a: Value, b: Value): Int {
  if (typeof op !== "number" || op < 0 || op > 15) return m.typeError(op, "(MOD 16)");
  const [x, y] = [BigInt(toInteger(m, a)), BigInt(toInteger(m, b))];
  const parts = [~x & ~y, ~x & y, x & ~y, x & y].filter((_, bit) => ((op >> bit) & 1) === 1);
  return integer(parts.reduce((sum, part) => sum | part, 0n));
}

function fold(
  m: Machine,
  integers: Value[],
  unit: number,
  combine: (a: Int, b: Value) => Int,
): Int {
  let sum: Int = integers.length === 0 ? unit : toInteger(m, integers[0] as Value);
  for (let at = 1; at < integers.length; at += 1) sum = combine(sum, integers[at] as Value);
  return sum;
}

/** A byte specifier is a pair of size and position, as in SBCL. */
function defineFields(): void {
  defineFunction("BYTE size position", (m, size, position) =>
    m.cons(fieldEnd(m, size), fieldEnd(m, position)),
  );
  defineFunction("BYTE-SIZE bytespec", (m, spec) => field(m, spec).size);
  defineFunction("BYTE-POSITION bytespec", (m, spec) => field(m, spec).position);
  defineFunction("LDB bytespec integer", (m, spec, value) => {
    const { size, position } = field(m, spec);
    return loadField(m, size, position, value);
  });
  defineFunction("DPB newbyte bytespec integer", (m, part, spec, value) => {
    const { size, position } = field(m, spec);
    return storeField(m, part, size, position, value);
  });
}

function field(m: Machine, spec: Value): { size: number; position: number } {
  if (!(spec instanceof Cons)) return m.typeError(spec, "CONS");
  return { size: fieldEnd(m, spec.car), position: fieldEnd(m, spec.cdr) };
}

function fieldEnd(m: Machine, value: Value): number {
  return typeof value === "number" && value >= 0 && value <= 1e9
    ? value
    : m.typeError(value, "UNSIGNED-BYTE");
}

// Integers as infinite two's complement. Values below 2^31 use numbers, others bigints.

type BitOperation = "and" | "or" | "xor";

function combineBits(m: Machine, operation: BitOperation, a: Value, b: Value): Int {
  const x = toInteger(m, a);
  const y = toInteger(m, b);
  const areSmall = isSmall(x) && isSmall(y);
  switch (operation) {
    case "and":
      return areSmall ? x & y : integer(BigInt(x) & BigInt(y));
    case "or":
      return areSmall ? x | y : integer(BigInt(x) | BigInt(y));
    case "xor":
      return areSmall ? x ^ y : integer(BigInt(x) ^ BigInt(y));
  }
}

function invertBits(m: Machine, value: Value): Int {
  const x = toInteger(m, value);
  return typeof x === "number" ? integer(-BigInt(x) - 1n) : integer(~x);
}

function shiftBits(m: Machine, value: Value, count: Value): Int {
  const x = toInteger(m, value);
  const by = toInteger(m, count);
  if (x === 0 || by === 0) return x;
  if (by < -4_000_000_000) return x < 0 ? -1 : 0;
  if (by < 0) return integer(BigInt(x) >> BigInt(-by));
  if (typeof x === "number" && by <= 21 && isSmall(x)) return x * 2 ** Number(by);
  m.checkBits(Number(by) + wordsOf(BigInt(x)) * 16);
  return integer(BigInt(x) << BigInt(by));
}

/** `integer-length`: bits without the sign. */
function lengthInBits(m: Machine, value: Value): number {
  const x = toInteger(m, value);
  if (typeof x === "number" && isSmall(x)) return 32 - Math.clz32(x < 0 ? ~x : x);
  const big = BigInt(x);
  return bitLength(big < 0n ? -big - 1n : big);
}

/** Counts ones of a non-negative number, zeros of a negative one. */
function countBits(m: Machine, value: Value): number {
  const x = BigInt(toInteger(m, value));
  const bits = (x < 0n ? -x - 1n : x).toString(2);
  let count = 0;
  for (let at = 0; at < bits.length; at += 1) if (bits.charCodeAt(at) === 49) count += 1;
  return count;
}

function bitAt(m: Machine, index: Value, value: Value): boolean {
  const at = toInteger(m, index);
  const x = toInteger(m, value);
  if (at < 0) return m.typeError(index, "UNSIGNED-BYTE");
  if (at > 4_000_000_000) return x < 0;
  return (BigInt(x) >> BigInt(at)) % 2n !== 0n;
}

/** Bits `position` … `position + size - 1`, shifted to bit 0. */
function loadField(m: Machine, size: number, position: number, value: Value): Int {
  const x = toInteger(m, value);
  if (typeof x === "number" && x >= 0 && position + size <= 31 && isSmall(x))
    return (x >> position) & (2 ** size - 1);
  if (size > 64) m.checkBits(size);
  return integer(BigInt.asUintN(size, BigInt(x) >> BigInt(position)));
}

/** `value` with the field replaced by the lowest bits of `field`. */
function storeField(m: Machine, field: Value, size: number, position: number, value: Value): Int {
  m.checkBits(size + position);
  const x = BigInt(toInteger(m, value));
  const mask = ((1n << BigInt(size)) - 1n) << BigInt(position);
  return integer((x & ~mask) | ((BigInt(toInteger(m, field)) << BigInt(position)) & mask));
}

function isSmall(value: Int): value is number {
  return typeof value === "number" && value < 2 ** 31 && value >= -(2 ** 31);
}
