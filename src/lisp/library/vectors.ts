/** Vectors with fill pointers, and bit arrays. */
import { defineFunction, defineSetter } from "../define.ts";
import type { Machine } from "../machine.ts";
import { Str } from "../string.ts";
import { cl, NIL, T } from "../symbol.ts";
import { type Value, Vec } from "../values.ts";
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
  const items: (Value | number)[] = array instanceof Str ? array.codes() : array.items;
  for (let at = 0; at < by; at += 1) items.push(0);
}

// Bitwise operations on bit arrays.

const operations: readonly [string, (a: number, b: number) => number][] = [
  ["AND", (a, b) => a & b],
  ["IOR", (a, b) => a | b],
  ["XOR", (a, b) => a ^ b],
  ["EQV", (a, b) => 1 - (a ^ b)],
  ["NAND", (a, b) => 1 - (a & b)],
  ["NOR", (a, b) => 1 - (a | b)],
  ["ANDC1", (a, b) => (1 - a) & b],
  ["ANDC2", (a, b) => a & (1 - b)],
  ["ORC1", (a, b) => (1 - a) | b],
  ["ORC2", (a, b) => a | (1 - b)],
];

export function defineBitArrays(): void {
  for (const [name, combine] of operations) {
    defineFunction(`BIT-${name} array1 array2 &optional result`, (m, a, b, result = NIL) => {
      const [left, right] = [bitArray(m, a), bitArray(m, b)];
      if (left.items.length !== right.items.length)
        return m.fail(
          `the bit arrays have different sizes, ${left.items.length} and ${right.items.length}`,
        );
      return into(
        m,
        left,
        left.items.map((bit, at) => combine(bit as number, right.items[at] as number)),
        result,
      );
    });
  }
  defineFunction("BIT-NOT array &optional result", (m, a, result = NIL) => {
    const array = bitArray(m, a);
    return into(
      m,
      array,
      array.items.map((bit) => 1 - (bit as number)),
      result,
    );
  });
}

function bitArray(m: Machine, value: Value): Vec {
  return value instanceof Vec && value.elementType.name === "BIT"
    ? value
    : m.typeError(value, "(ARRAY BIT)");
}

/** T stores the result in the first array, an array in that one. */
function into(m: Machine, first: Vec, items: number[], result: Value): Vec {
  m.alloc(items.length + 1);
  if (result !== NIL) {
    const target = result === T ? first : bitArray(m, result);
    target.items = items;
    return target;
  }
  const made = new Vec(items);
  made.elementType = cl("BIT");
  made.dims = first.dims;
  return made;
}
