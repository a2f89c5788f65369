/** typep, subtypep, type-of, coerce, deftype and the predicates. */

import { classOf } from "../classes.ts";
import { defineFunction, defineValues } from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { isNumber, toDouble } from "../numbers.ts";
import { noteDefinition, refuseLocked } from "../packages.ts";
import { elements, isSequence, stringOf, vectorOf } from "../sequences.ts";
import { Char, char, Str } from "../string.ts";
import { bool, cl, NIL, Sym, sharedKeywords, T, words } from "../symbol.ts";
import { expandType, sessionTypes, typep, unknownType } from "../types.ts";
import { Cons, Float, Instance, itemsOf, listOf, Ratio, type Value, Vec } from "../values.ts";
import { findCharacter } from "./strings.ts";
import { isSubtype } from "./subtypes.ts";

export function defineTypes(): void {
  defineFunction("TYPEP object type &optional environment", (m, object, type) =>
    bool(typep(m, object, type)),
  );
  defineValues("SUBTYPEP type1 type2 &optional environment", (m, type1, type2) => {
    const answer = isSubtype(m, type1, type2);
    return m.values(bool(answer === "yes"), bool(answer !== "unknown"));
  });
  defineFunction("TYPE-OF object", (m, object) => typeOf(m, object));
  defineFunction("COERCE object type", coerce);
  for (const [name, type] of predicates) {
    const wanted = cl(type);
    defineFunction(`${name} object`, (m, object) => bool(typep(m, object, wanted)));
  }
}

const predicates: readonly [string, string][] = [
  ...words(`NUMBER INTEGER RATIONAL FLOAT REAL COMPLEX SYMBOL KEYWORD LIST CONS FUNCTION STRING
  VECTOR ARRAY CHARACTER PACKAGE STREAM`).map((type): [string, string] => [`${type}P`, type]),
  ...words(`COMPILED-FUNCTION SIMPLE-STRING SIMPLE-VECTOR BIT-VECTOR SIMPLE-BIT-VECTOR
  HASH-TABLE`).map((type): [string, string] => [`${type}-P`, type]),
  ["ATOM", "ATOM"],
  ["NULL", "NULL"],
];

function typeOf(m: Machine, value: Value): Value {
  const type = (...parts: Value[]) => m.list(parts);
  if (typeof value === "number" || typeof value === "bigint") return integerType(m, value);
  if (value instanceof Float) return cl("DOUBLE-FLOAT");
  if (value instanceof Ratio) return cl("RATIO");
  if (value instanceof Char) return cl(characterType(value.code));
  if (value === NIL) return cl("NULL");
  if (value === T) return cl("BOOLEAN");
  if (value instanceof Sym) return cl(value.pkg === sharedKeywords ? "KEYWORD" : "SYMBOL");
  if (value instanceof Str)
    return value.fill < 0 && !value.adjustable
      ? type(cl("SIMPLE-ARRAY"), cl("CHARACTER"), type(value.capacity))
      : type(cl("VECTOR"), cl("CHARACTER"), value.capacity);
  if (value instanceof Vec) return arrayType(m, value);
  if (value instanceof Fn)
    return value.code.generic === null ? cl("COMPILED-FUNCTION") : cl("STANDARD-GENERIC-FUNCTION");
  return value instanceof Instance ? value.cls.name : classOf(value).name;
}

/** The bounds of SBCL, whose fixnums have 62 bits. */
function integerType(m: Machine, value: number | bigint): Value {
  const most = 2n ** 62n - 1n;
  if (value === 0 || value === 1) return cl("BIT");
  if (value > most) return m.list([cl("INTEGER"), most + 1n]);
  if (value < -most - 1n) return m.list([cl("INTEGER"), cl("*"), -most - 2n]);
  return value < 0 ? cl("FIXNUM") : m.list([cl("INTEGER"), 0, most]);
}

function arrayType(m: Machine, { items, dims, fill, adjustable, elementType }: Vec): Value {
  const isSimple = fill < 0 && !adjustable;
  const named = (name: string, ...args: Value[]) =>
    m.list([cl(isSimple ? `SIMPLE-${name}` : name), ...args]);
  if (dims !== null) return named("ARRAY", elementType, listOf(dims));
  if (elementType.name === "BIT") return named("BIT-VECTOR", items.length);
  return isSimple ? named("VECTOR", items.length) : named("VECTOR", elementType, items.length);
}

const floats = new Set(["FLOAT", "DOUBLE-FLOAT", "SINGLE-FLOAT", "SHORT-FLOAT", "LONG-FLOAT"]);
const sequences = new Set(
  words(`LIST VECTOR SIMPLE-VECTOR ARRAY SIMPLE-ARRAY STRING SIMPLE-STRING BASE-STRING
  SIMPLE-BASE-STRING BIT-VECTOR`),
);

function characterType(code: number): string {
  if (code === 10 || (code >= 32 && code < 127)) return "STANDARD-CHAR";
  return code < 128 ? "BASE-CHAR" : "EXTENDED-CHAR";
}

function coerce(m: Machine, value: Value, type: Value): Value {
  const expanded = expandType(m, type);
  const head = expanded instanceof Cons ? expanded.car : expanded;
  const name = head instanceof Sym ? head.name : "";
  if (floats.has(name)) {
    if (value instanceof Float) return value;
    return isNumber(value) ? new Float(toDouble(m, value)) : cannot(m, value, type);
  }
  if (typep(m, value, expanded)) return value;
  if (sequences.has(name) && isSequence(value))
    return sequenceOfType(m, expanded, elements(m, value));
  if (name === "CHARACTER") return findCharacter(value) ?? cannot(m, value, type);
  if (name === "FUNCTION") return m.fn(value);
  if (name === "AND" && expanded instanceof Cons)
    return coerce(m, value, itemsOf(expanded.cdr)[0] ?? T);
  return name === "" ? unknownType(m, type) : cannot(m, value, type);
}

function cannot(m: Machine, value: Value, type: Value): never {
  m.typeError(value, type, "~s can't be converted to type ~s.", value, type);
}

// The result types of `concatenate`, `map`, `coerce`, `make-sequence` and `merge`.

const strings = new Set(["STRING", "SIMPLE-STRING", "BASE-STRING", "SIMPLE-BASE-STRING"]);
const vectors = new Set(["VECTOR", "SIMPLE-VECTOR", "ARRAY", "SIMPLE-ARRAY"]);
const bits = new Set(["BIT-VECTOR", "SIMPLE-BIT-VECTOR"]);
const characters = new Set(["CHARACTER", "BASE-CHAR", "STANDARD-CHAR"]);

/** A sequence of the type; `isBlank` fills it with the default element. */
export function sequenceOfType(
  m: Machine,
  type: Value,
  items: readonly Value[],
  isBlank = false,
): Value {
  const expanded = expandType(m, type);
  const [head, first, second] = expanded instanceof Cons ? itemsOf(expanded) : [expanded];
  const name = head instanceof Sym ? head.name : "";
  const elementType = elementTypeOf(m, type, name, first);
  const { length } = items;
  // The required length, given by `(vector t 3)`, `(string 3)` and NULL.
  const size = vectors.has(name) && name !== "SIMPLE-VECTOR" ? second : first;
  const expected = size instanceof Cons ? size.car : size;
  const isWrong =
    (name === "NULL" && length > 0) ||
    (name === "CONS" && length === 0) ||
    (typeof expected === "number" && expected !== length);
  if (isWrong) m.typeError(length, type, `a sequence of length ${length} is not of type ~s`, type);
  if (elementType === null) return m.list(items);
  if (elementType.name === "CHARACTER")
    return stringOf(m, isBlank ? items.map(() => char(0)) : items);
  const contents = isBlank ? items.map(() => 0) : items;
  if (elementType.name === "BIT")
    for (const item of contents) if (item !== 0 && item !== 1) m.typeError(item, "BIT");
  return vectorOf(m, contents, elementType);
}

/** Null for lists. */
function elementTypeOf(m: Machine, type: Value, name: string, element?: Value): Sym | null {
  if (name === "LIST" || name === "CONS" || name === "NULL") return null;
  if (strings.has(name)) return cl("CHARACTER");
  if (bits.has(name)) return cl("BIT");
  if (name === "") return unknownType(m, type);
  if (!vectors.has(name)) {
    const text = "~s is not a sequence type; use LIST, VECTOR or STRING";
    return m.typeError(type, "SEQUENCE", text, type);
  }
  if (name === "SIMPLE-VECTOR" || !(element instanceof Sym)) return T;
  if (characters.has(element.name)) return cl("CHARACTER");
  return element.name === "BIT" ? element : T;
}

// `deftype`.

export function defineDeftype(): void {
  defineFunction("%DEFINE-TYPE name expander", (m, name: Sym, expander: Fn) => {
    refuseLocked(m, name, "define");
    sessionTypes(m).set(name, (inner, specifier: Value) =>
      inner.call1(expander, specifier instanceof Cons ? specifier.cdr : NIL),
    );
    noteDefinition(m, "type", name);
    return name;
  });
}
