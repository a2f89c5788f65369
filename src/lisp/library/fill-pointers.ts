/** Vectors that know how much of them is in use. */
import { defineFunction, defineSetter } from "../define.ts";
import type { Machine } from "../machine.ts";
import { Str } from "../string.ts";
import { NIL } from "../symbol.ts";
import type { Value } from "../values.ts";
import { arrayOf, getAt, type LispArray, setAt, sizeOf } from "./arrays.ts";

export function defineFillPointers(): void {
  defineFunction("FILL-POINTER", "vector", (m, vector: Value) => filled(m, vector).fill);
  defineSetter("FILL-POINTER", "value vector", (m, value: Value, vector: Value) => {
    const array = filled(m, vector);
    array.fill =
      typeof value === "number" && value >= 0 && value <= sizeOf(array)
        ? value
        : m.typeError(value, `(INTEGER 0 ${sizeOf(array)})`);
    return value;
  });
  defineFunction("VECTOR-PUSH", "item vector", (m, item: Value, vector: Value) => {
    const array = filled(m, vector);
    if (array.fill >= sizeOf(array)) return NIL;
    setAt(m, array, array.fill, item);
    return array.fill++;
  });
  defineFunction(
    "VECTOR-PUSH-EXTEND",
    "item vector &optional extension",
    (m, item: Value, vector: Value) => {
      const array = filled(m, vector);
      if (array.fill >= sizeOf(array)) grow(m, array, Math.max(4, sizeOf(array)));
      setAt(m, array, array.fill, item);
      return array.fill++;
    },
  );
  defineFunction("VECTOR-POP", "vector", (m, vector: Value) => {
    const array = filled(m, vector);
    if (array.fill === 0) return m.fail("there is nothing left to pop: the fill pointer is 0");
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
