/**
 * `eql`, `equal` and `equalp`; `eq` is JS identity, except for bigints. Nested data is walked on the
 * host's stack; an overflow becomes the condition of the depth budget.
 */

import type { Machine } from "./machine.ts";
import { equalNumbers, isNumber } from "./numbers.ts";
import { Char, lowerCode, Str } from "./string.ts";
import { Cons, Float, Instance, Ratio, Table, type TableEntry, type Value, Vec } from "./values.ts";

export function eql(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (a instanceof Float) return b instanceof Float && Object.is(a.value, b.value);
  if (a instanceof Ratio)
    return b instanceof Ratio && a.numerator === b.numerator && a.denominator === b.denominator;
  return a instanceof Char && b instanceof Char && a.code === b.code;
}

/** Conses by their parts, strings and bit vectors by their elements, others by `eql`. */
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
  if (x instanceof Vec && y instanceof Vec && x !== y && isBits(x) && isBits(y)) {
    const other = y.items;
    return (
      x.length === y.length && x.items.slice(0, x.length).every((item, at) => item === other[at])
    );
  }
  return eql(x, y);
}

const isBits = ({ elementType, dims }: Vec): boolean => elementType.name === "BIT" && dims === null;

/** Like `equal`, but numbers by value, text ignoring case, arrays, structures and tables by their contents. */
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

// Hash tables on JS maps. A key compared by identity is the map's key itself; others become a text that is
// equal exactly if the test holds. Lisp values are never JS strings, so the two kinds cannot collide.

export function tableGet(table: Table, key: Value): TableEntry | undefined {
  return table.entries.get(mapKey(table, key));
}

export function tableSet(table: Table, key: Value, value: Value): void {
  const inMap = mapKey(table, key);
  const entry = table.entries.get(inMap);
  if (entry === undefined) table.entries.set(inMap, { key, value });
  else entry.value = value;
}

/** Returns whether the key existed. */
export function tableRemove(table: Table, key: Value): boolean {
  return table.entries.delete(mapKey(table, key));
}

function mapKey(table: Table, key: Value): unknown {
  if (typeof key === "number") return key;
  if (table.test === "EQ" || table.test === "EQL")
    return key instanceof Float ||
      key instanceof Ratio ||
      (key instanceof Char && key.code >= 0x3000)
      ? atomKey(key)
      : key;
  return textKey(table, key);
}

/** A JS value that is the same exactly if `eql` holds. */
export function eqlKey(value: Value): unknown {
  return value instanceof Float || value instanceof Ratio || value instanceof Char
    ? atomKey(value)
    : value;
}

function atomKey(key: Float | Ratio | Char): string {
  if (key instanceof Float) return Object.is(key.value, -0) ? "f-0" : `f${key.value}`;
  return key instanceof Ratio ? `r${key.numerator}/${key.denominator}` : `c${key.code}`;
}

function textKey(table: Table, key: Value): unknown {
  const loose = table.test === "EQUALP";
  if (key instanceof Str) return loose ? `s${key.toString().toLowerCase()}` : `s${key}`;
  if (key instanceof Cons) return listKey(table, key);
  if (key instanceof Char)
    return loose ? `c${String.fromCodePoint(key.code).toLowerCase()}` : atomKey(key);
  if (key instanceof Float) return loose ? looseNumber(key) : atomKey(key);
  if (key instanceof Ratio) return atomKey(key);
  if (typeof key === "bigint" || typeof key === "number") return key;
  if (!loose) return key;
  if (key instanceof Vec) return vectorKey(table, key);
  if (key instanceof Table)
    return `t${key.test}${key.entries.size}(${[...key.entries.values()].map((entry) => `${partKey(table, entry.key)}=${partKey(table, entry.value)}`).sort()})`;
  if (key instanceof Instance && key.cls.kind === "structure")
    return `o${identity(table, key.cls)}(${key.slots.map((slot) => (slot === undefined ? "" : partKey(table, slot)))})`;
  return key;
}

function vectorKey(table: Table, key: Vec): string {
  const items = key.fill >= 0 ? key.items.slice(0, key.fill) : key.items;
  if (key.dims === null && items.length > 0 && items.every((item) => item instanceof Char)) {
    return `s${items
      .map((item) => String.fromCodePoint((item as Char).code))
      .join("")
      .toLowerCase()}`;
  }
  return `v${key.dims?.join("x") ?? items.length}(${items.map((item) => partKey(table, item)).join(" ")})`;
}

function listKey(table: Table, key: Cons): string {
  let text = "(";
  let at: Value = key;
  for (; at instanceof Cons; at = at.cdr) text += `${partKey(table, at.car)} `;
  return `${text}. ${partKey(table, at)})`;
}

/** Texts carry their length, so that different structures never get the same key. */
function partKey(table: Table, part: Value): string {
  const key = typeof part === "number" ? part : mapKey(table, part);
  if (typeof key === "string") return `${key.length}:${key}`;
  if (typeof key === "number" || typeof key === "bigint") return `i${key}`;
  return `#${identity(table, part as object)}`;
}

function identity(table: Table, object: object): number {
  let id = table.ids.get(object);
  if (id === undefined) {
    id = table.nextId++;
    table.ids.set(object, id);
  }
  return id;
}

/** For `=` on floats and rationals: an integral float becomes its integer, others their exact ratio. */
function looseNumber({ value }: Float): unknown {
  if (Number.isSafeInteger(value)) return value + 0;
  if (Number.isInteger(value)) return BigInt(value);
  if (!Number.isFinite(value)) return `f${value}`;
  let numerator = value;
  let denominator = 1n;
  while (!Number.isInteger(numerator)) {
    numerator *= 2;
    denominator *= 2n;
  }
  return `r${BigInt(numerator)}/${denominator}`;
}
