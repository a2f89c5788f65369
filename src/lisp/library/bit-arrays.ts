/** Arrays of bits combined bit by bit. */
import { defineFunction } from "../define.ts";
import type { Machine } from "../machine.ts";
import { cl, NIL, T } from "../symbol.ts";
import { type Value, Vec } from "../values.ts";

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
    defineFunction(
      `BIT-${name}`,
      "array1 array2 &optional result",
      (m, a: Value, b: Value, result: Value = NIL) => {
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
      },
    );
  }
  defineFunction("BIT-NOT", "array &optional result", (m, a: Value, result: Value = NIL) => {
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

/** T puts the result into the first array, an array into that one. */
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
