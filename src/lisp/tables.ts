// Hash tables on JS maps. A key that its test compares by identity is the map's key itself; any other becomes a text that is equal
// exactly when the test holds. Values are never JS strings, so the two kinds cannot meet.
import { Instance } from "./object.ts";
import { Char, Str } from "./string.ts";
import { Cons, Float, Ratio, Table, type TableEntry, type Value, Vec } from "./values.ts";

export function tableGet(table: Table, key: Value): TableEntry | undefined {
  return table.entries.get(mapKey(table, key));
}

export function tableSet(table: Table, key: Value, value: Value): void {
  const inMap = mapKey(table, key);
  const entry = table.entries.get(inMap);
  if (entry === undefined) table.entries.set(inMap, { key, value });
  else entry.value = value;
}

/** Whether there was one. */
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
  if (
    key instanceof Str ||
    key instanceof Cons ||
    key instanceof Float ||
    key instanceof Ratio ||
    key instanceof Char
  )
    return textKey(table, key);
  return table.test === "EQUALP" ? textKey(table, key) : key;
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

/** Texts carry their length, so that no string can look like the end of another part. */
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

/** `=` on floats and rationals: a whole float is its integer, any other its exact ratio. */
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
