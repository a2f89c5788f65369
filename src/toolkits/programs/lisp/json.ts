// JSON and Lisp: an object is a hash table with string keys in order, an array a vector, true and
// false are T and NIL so that `if` works, null is :NULL. In the other direction NIL is ambiguous,
// so the schema decides.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { tableSet } from "../../../lisp/equality.ts";
import type { Machine } from "../../../lisp/machine.ts";
import { Char, Str } from "../../../lisp/string.ts";
import { bool, keyword, NIL, Sym, sharedKeywords, T } from "../../../lisp/symbol.ts";
import { Cons, Float, itemsOf, Ratio, Table, type Value, Vec } from "../../../lisp/values.ts";
import { lispName } from "../names.ts";

const nullKeyword = keyword("NULL");

export function toLisp(m: Machine, json: unknown): Value {
  if (typeof json === "string") return m.string(json);
  if (typeof json === "number") return Number.isSafeInteger(json) ? json : new Float(json);
  if (typeof json === "boolean") return bool(json);
  if (json === null || json === undefined) return nullKeyword;
  if (Array.isArray(json)) {
    m.alloc(json.length);
    return new Vec(json.map((item) => toLisp(m, item)));
  }
  const table = new Table("EQUAL");
  const entries = Object.entries(json as JsonObject);
  m.alloc(entries.length * 2);
  for (const [key, value] of entries) tableSet(table, m.string(key), toLisp(m, value));
  return table;
}

const depthMax = 100;

/** `schema` is that of the value, if known. */
export function toJson(m: Machine, value: Value, schema?: unknown, depth = 0): unknown {
  if (depth > depthMax)
    m.fail(`the value is nested more than ${depthMax} levels deep, which JSON does not allow`);
  m.tick(1);
  if (value instanceof Str) return value.toString();
  if (typeof value === "number") return value;
  if (value instanceof Float)
    return Number.isFinite(value.value) ? value.value : m.fail("JSON does not support infinity");
  if (value instanceof Ratio) return Number(value.numerator) / Number(value.denominator);
  if (value instanceof Char) return String.fromCodePoint(value.code);
  if (value instanceof Sym) return symbolToJson(value, schema);
  if (value instanceof Vec) return vectorToJson(m, value, itemSchema(schema), depth);
  if (value instanceof Table) return tableToJson(m, value, schema, depth);
  if (value instanceof Cons) return listToJson(m, value, schema, depth);
  if (typeof value === "bigint")
    return m.fail(`${value} is too large for a JSON number; send it as a string`);
  return m.typeError(value, "(OR STRING NUMBER SYMBOL LIST VECTOR HASH-TABLE)");
}

function symbolToJson(symbol: Sym, schema: unknown): unknown {
  if (symbol === NIL) return emptyOf(schema);
  if (symbol === T) return true;
  if (symbol === nullKeyword) return null;
  return choiceFor(symbol.name, schema) ?? symbol.name.toLowerCase();
}

/** The meaning of NIL. */
function emptyOf(schema: unknown): unknown {
  const types = typesOf(schema);
  if (types.includes("boolean") || types.length === 0) return false;
  if (types.includes("array")) return [];
  if (types.includes("object")) return {};
  return null;
}

/** Matches `:newest-first` with the enum value "newest_first". */
function choiceFor(name: string, schema: unknown): string | undefined {
  const choices =
    isObject(schema) && Array.isArray(schema.enum)
      ? schema.enum.filter((choice) => typeof choice === "string")
      : [];
  return choices.find((choice) => lispName(choice) === name);
}

function vectorToJson(
  m: Machine,
  { items, length, dims }: Vec,
  schema: unknown,
  depth: number,
): unknown {
  if (dims !== null)
    m.fail("JSON does not support arrays of several dimensions; use a vector of vectors");
  return items.slice(0, length).map((item) => toJson(m, item, schema, depth + 1));
}

function tableToJson(m: Machine, table: Table, schema: unknown, depth: number): JsonObject {
  return objectOf(
    [...table.entries.values()].map(
      ({ key, value }): Pair => [propertyName(m, key, schema), value],
    ),
    m,
    schema,
    depth,
  );
}

type Pair = readonly [name: string, value: Value];

function objectOf(pairs: readonly Pair[], m: Machine, schema: unknown, depth: number): JsonObject {
  // Object.fromEntries makes own properties, also for `__proto__`.
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, toJson(m, value, propertySchema(schema, name), depth + 1)]),
  );
}

/** An alist or plist becomes an object unless the schema expects an array; other lists become arrays. */
function listToJson(m: Machine, list: Cons, schema: unknown, depth: number): unknown {
  const items = properItems(m, list);
  const wantsArray = typesOf(schema).includes("array");
  if (!wantsArray && isPlist(items)) return objectOf(pairsOf(m, items, schema), m, schema, depth);
  if (!wantsArray && isAlist(items)) {
    return objectOf(
      items.map((item): Pair => [propertyName(m, (item as Cons).car, schema), (item as Cons).cdr]),
      m,
      schema,
      depth,
    );
  }
  return items.map((item) => toJson(m, item, itemSchema(schema), depth + 1));
}

function properItems(m: Machine, list: Cons): Value[] {
  let last: Value = list;
  // A circular list ends with the step budget.
  for (; last instanceof Cons; last = last.cdr) m.tick(1);
  return last === NIL ? itemsOf(list) : m.typeError(list, "list");
}

function isPlist(items: readonly Value[]): boolean {
  return (
    items.length % 2 === 0 &&
    items.every((item, at) => at % 2 === 1 || (isKeyword(item) && item !== nullKeyword))
  );
}

function isAlist(items: readonly Value[]): boolean {
  const isPair = (item: Value): boolean =>
    item instanceof Cons &&
    (item.car instanceof Str || isKeyword(item.car)) &&
    !(item.cdr instanceof Cons);
  // `(("a") ("b"))` is more likely a list of lists than an object with two false properties.
  return items.every(isPair) && items.some((item) => (item as Cons).cdr !== NIL);
}

function isKeyword(value: Value): value is Sym {
  return value instanceof Sym && value.pkg === sharedKeywords;
}

/** `(:key value …)` as properties. */
export function pairsOf(m: Machine, items: readonly Value[], schema: unknown): Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < items.length; at += 2) {
    const key = items[at] as Value;
    if (!isKeyword(key) && !(key instanceof Str))
      m.programError(`${m.show(key)} is not a keyword; arguments must be :name value pairs`);
    pairs.push([propertyName(m, key, schema), items[at + 1] ?? NIL]);
  }
  return pairs;
}

/** A string as it is; a symbol as the schema spells it, or in lower case with underscores. */
function propertyName(m: Machine, key: Value, schema: unknown): string {
  if (key instanceof Str) return key.toString();
  if (!(key instanceof Sym)) return m.typeError(key, "(OR STRING SYMBOL)");
  const properties =
    isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  return (
    properties.find((name) => lispName(name) === key.name) ??
    key.name.toLowerCase().replaceAll("-", "_")
  );
}

function propertySchema(schema: unknown, name: string): unknown {
  return isObject(schema) && isObject(schema.properties) && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined;
}

function itemSchema(schema: unknown): unknown {
  return isObject(schema) ? schema.items : undefined;
}

function typesOf(schema: unknown): readonly unknown[] {
  if (!isObject(schema)) return [];
  if (schema.type !== undefined) return Array.isArray(schema.type) ? schema.type : [schema.type];
  const branches = [schema.anyOf, schema.oneOf].find(Array.isArray) ?? [];
  return branches.flatMap(typesOf);
}
