/** Types as a program asks for them: typep, subtypep, type-of, coerce, and the predicates. */

import { classOf } from "../classes.ts";
import { defineFunction } from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { isNumber, toDouble } from "../numbers.ts";
import { Instance } from "../object.ts";
import { elements, isSequence } from "../sequences.ts";
import { Char, char, Str } from "../string.ts";
import { bool, cl, NIL, Sym, sharedKeywords, T } from "../symbol.ts";
import { expandType, typep, unknownType } from "../types.ts";
import { Cons, Float, itemsOf, listOf, Ratio, type Value, Vec } from "../values.ts";
import { sequenceOfType } from "./sequence-types.ts";
import { isSubtype } from "./subtypes.ts";

export function defineTypes(): void {
  defineFunction("TYPEP", "object type &optional environment", (m, object: Value, type: Value) =>
    bool(typep(m, object, type)),
  );
  defineFunction(
    "SUBTYPEP",
    "type1 type2 &optional environment",
    (m, type1: Value, type2: Value) => {
      const answer = isSubtype(m, type1, type2);
      return m.values(bool(answer === "yes"), bool(answer !== "unknown"));
    },
    { values: true },
  );
  defineFunction("TYPE-OF", "object", (m, object: Value) => typeOf(m, object));
  defineFunction("COERCE", "object type", coerce);
  for (const [name, type] of predicates) {
    const wanted = cl(type);
    defineFunction(name, "object", (m, object: Value) => bool(typep(m, object, wanted)));
  }
}

const predicates: readonly [string, string][] = [
  ...[
    "NUMBER",
    "INTEGER",
    "RATIONAL",
    "FLOAT",
    "REAL",
    "COMPLEX",
    "SYMBOL",
    "KEYWORD",
    "LIST",
    "CONS",
    "FUNCTION",
    "STRING",
    "VECTOR",
    "ARRAY",
    "CHARACTER",
    "PACKAGE",
    "STREAM",
  ].map((type): [string, string] => [`${type}P`, type]),
  ...[
    "COMPILED-FUNCTION",
    "SIMPLE-STRING",
    "SIMPLE-VECTOR",
    "BIT-VECTOR",
    "SIMPLE-BIT-VECTOR",
    "HASH-TABLE",
  ].map((type): [string, string] => [`${type}-P`, type]),
  ["ATOM", "ATOM"],
  ["NULL", "NULL"],
];

function typeOf(m: Machine, value: Value): Value {
  const type = (...parts: Value[]) => m.list(parts);
  if (typeof value === "number" || typeof value === "bigint") return integerType(m, value);
  if (value instanceof Float) return cl("DOUBLE-FLOAT");
  if (value instanceof Ratio) return cl("RATIO");
  if (value instanceof Char)
    return cl(
      value.code === 10 || (value.code >= 32 && value.code < 127)
        ? "STANDARD-CHAR"
        : value.code < 128
          ? "BASE-CHAR"
          : "EXTENDED-CHAR",
    );
  if (value === NIL) return cl("NULL");
  if (value === T) return cl("BOOLEAN");
  if (value instanceof Sym) return cl(value.pkg === sharedKeywords ? "KEYWORD" : "SYMBOL");
  if (value instanceof Str) {
    const isSimple = value.fill < 0 && !value.adjustable;
    return isSimple
      ? type(cl("SIMPLE-ARRAY"), cl("CHARACTER"), type(value.capacity))
      : type(cl("VECTOR"), cl("CHARACTER"), value.capacity);
  }
  if (value instanceof Vec) return arrayType(m, value);
  if (value instanceof Fn)
    return value.code.generic === null ? cl("COMPILED-FUNCTION") : cl("STANDARD-GENERIC-FUNCTION");
  return value instanceof Instance ? value.cls.name : classOf(value).name;
}

/** Bounds as SBCL has them: a fixnum there is 62 bits wide. */
function integerType(m: Machine, value: number | bigint): Value {
  const most = 2n ** 62n - 1n;
  if (value === 0 || value === 1) return cl("BIT");
  if (value > most) return m.list([cl("INTEGER"), most + 1n]);
  if (value < -most - 1n) return m.list([cl("INTEGER"), cl("*"), -most - 2n]);
  return value < 0 ? cl("FIXNUM") : m.list([cl("INTEGER"), 0, most]);
}

function arrayType(m: Machine, { items, dims, fill, adjustable, elementType }: Vec): Value {
  const isSimple = fill < 0 && !adjustable;
  if (dims !== null)
    return m.list([cl(isSimple ? "SIMPLE-ARRAY" : "ARRAY"), elementType, listOf(dims)]);
  if (elementType.name === "BIT")
    return m.list([cl(isSimple ? "SIMPLE-BIT-VECTOR" : "BIT-VECTOR"), items.length]);
  return isSimple
    ? m.list([cl("SIMPLE-VECTOR"), items.length])
    : m.list([cl("VECTOR"), elementType, items.length]);
}

const floats = new Set(["FLOAT", "DOUBLE-FLOAT", "SINGLE-FLOAT", "SHORT-FLOAT", "LONG-FLOAT"]);
const sequences = new Set([
  "LIST",
  "VECTOR",
  "SIMPLE-VECTOR",
  "ARRAY",
  "SIMPLE-ARRAY",
  "STRING",
  "SIMPLE-STRING",
  "BASE-STRING",
  "SIMPLE-BASE-STRING",
  "BIT-VECTOR",
]);

function coerce(m: Machine, value: Value, type: Value): Value {
  const expanded = expandType(m, type);
  const head = expanded instanceof Cons ? expanded.car : expanded;
  const name = head instanceof Sym ? head.name : "";
  if (floats.has(name))
    return value instanceof Float
      ? value
      : isNumber(value)
        ? new Float(toDouble(m, value))
        : cannot(m, value, type);
  if (typep(m, value, expanded)) return value;
  if (sequences.has(name) && isSequence(value))
    return sequenceOfType(m, expanded, elements(m, value, undefined, undefined));
  if (name === "CHARACTER") return toCharacter(m, value, type);
  if (name === "FUNCTION") return m.fn(value);
  if (name === "AND" && expanded instanceof Cons)
    return coerce(m, value, itemsOf(expanded.cdr)[0] ?? T);
  return name === "" ? unknownType(m, type) : cannot(m, value, type);
}

function toCharacter(m: Machine, value: Value, type: Value): Value {
  const text =
    value instanceof Str ? value : value instanceof Sym ? new Str(value.name) : undefined;
  return text?.length === 1 ? char(text.codeAt(0)) : cannot(m, value, type);
}

function cannot(m: Machine, value: Value, type: Value): never {
  const control = new Str("~s can't be converted to type ~s.");
  m.error("SIMPLE-TYPE-ERROR", {
    DATUM: value,
    "EXPECTED-TYPE": type,
    "FORMAT-CONTROL": control,
    "FORMAT-ARGUMENTS": m.list([value, type]),
  });
}
