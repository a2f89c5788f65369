/**
 * `eq` is identity, but for integers, which are compared by value; the coarser three are here. Nested data is walked on the
 * host's stack; where that ends, the machine signals the depth budget.
 */
import { lowerCode } from "./characters.ts";
import type { Machine } from "./machine.ts";
import { equalNumbers, isNumber } from "./numbers.ts";
import { Instance } from "./object.ts";
import { Char, Str } from "./string.ts";
import { tableGet } from "./tables.ts";
import { Cons, Float, Ratio, Table, type Value, Vec } from "./values.ts";

export function eql(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (a instanceof Float) return b instanceof Float && Object.is(a.value, b.value);
  if (a instanceof Ratio)
    return b instanceof Ratio && a.numerator === b.numerator && a.denominator === b.denominator;
  return a instanceof Char && b instanceof Char && a.code === b.code;
}

/** Conses by their parts, strings and bit vectors by their elements, the rest by `eql`. */
export function equal(m: Machine, a: Value, b: Value): boolean {
  let x = a;
  let y = b;
  while (x instanceof Cons && y instanceof Cons) {
    if (x === y) return true;
    m.tick(1);
    if (x.car !== y.car && !equal(m, x.car, y.car)) return false;
    x = x.cdr;
    y = y.cdr;
  }
  if (x instanceof Str) return y instanceof Str && x.toString() === y.toString();
  if (
    x instanceof Vec &&
    y instanceof Vec &&
    x.elementType.name === "BIT" &&
    y.elementType.name === "BIT" &&
    x !== y
  ) {
    const other = y.items;
    return (
      x.dims === null &&
      y.dims === null &&
      x.length === y.length &&
      x.items.slice(0, x.length).every((item, at) => item === other[at])
    );
  }
  return eql(x, y);
}

/** Like `equal`, but numbers by value, characters and strings in any case, arrays, structures and tables by their contents. */
export function equalp(m: Machine, a: Value, b: Value): boolean {
  let x = a;
  let y = b;
  while (x instanceof Cons && y instanceof Cons) {
    if (x === y) return true;
    m.tick(1);
    if (!equalp(m, x.car, y.car)) return false;
    x = x.cdr;
    y = y.cdr;
  }
  if (x === y) return true;
  if (isNumber(x)) return isNumber(y) && equalNumbers(m, x, y);
  if (x instanceof Char) return y instanceof Char && lowerCode(x.code) === lowerCode(y.code);
  if (x instanceof Str || x instanceof Vec)
    return (y instanceof Str || y instanceof Vec) && equalArrays(m, x, y);
  if (x instanceof Table) return y instanceof Table && equalTables(m, x, y);
  if (x instanceof Instance && x.cls.kind === "structure")
    return y instanceof Instance && x.cls === y.cls && equalSlots(m, x, y);
  return false;
}

function equalArrays(m: Machine, a: Str | Vec, b: Str | Vec): boolean {
  const length = a.length;
  if (length !== b.length || dimensionsOf(a) !== dimensionsOf(b)) return false;
  m.tick(length);
  for (let at = 0; at < length; at += 1)
    if (!equalp(m, elementAt(a, at), elementAt(b, at))) return false;
  return true;
}

function dimensionsOf(array: Str | Vec): string {
  return array instanceof Vec && array.dims !== null ? array.dims.join(" ") : "";
}

function elementAt(array: Str | Vec, at: number): Value {
  return array instanceof Str ? new Char(array.codeAt(at)) : (array.items[at] as Value);
}

function equalSlots(m: Machine, a: Instance, b: Instance): boolean {
  return a.slots.every((slot, at) => {
    const other = b.slots[at];
    return slot === undefined || other === undefined ? slot === other : equalp(m, slot, other);
  });
}

function equalTables(m: Machine, a: Table, b: Table): boolean {
  if (a.test !== b.test || a.entries.size !== b.entries.size) return false;
  m.tick(a.entries.size);
  for (const { key, value } of a.entries.values()) {
    const other = tableGet(b, key);
    if (other === undefined || !equalp(m, value, other.value)) return false;
  }
  return true;
}
