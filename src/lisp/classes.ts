// The classes of the language. Those of a program are kept in its machine.
import { named } from "./define.ts";
import { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { Char, Str } from "./string.ts";
import { NIL, Package, Sym, sessionKeyword, T, words } from "./symbol.ts";
import {
  Cons,
  Float,
  Instance,
  LispClass,
  Ratio,
  type Slot,
  Stream,
  Table,
  type Value,
  Vec,
} from "./values.ts";

const shared = new Map<Sym, LispClass>();

/** Undefined if neither the session nor the language has the class. */
export function findClass(m: Machine, name: Sym): LispClass | undefined {
  return m.classes.get(name) ?? shared.get(name);
}

/** The class that a program names, or passes itself. */
export function designatedClass(m: Machine, designator: Value): LispClass | undefined {
  if (designator instanceof LispClass) return designator;
  return designator instanceof Sym ? findClass(m, designator) : undefined;
}

/** A class of the language, by name. */
export function classNamed(name: string): LispClass {
  let found = byName.get(name);
  if (found === undefined) {
    found = shared.get(named(name));
    if (found === undefined) throw new Error(`no class ${name}`);
    byName.set(name, found);
  }
  return found;
}

const byName = new Map<string, LispClass>();

/** Defines a class of the language. Its precedence list is itself and those of its superclasses, without repeats. */
export function sharedClass(
  name: string,
  kind: LispClass["kind"],
  supers: readonly string[],
  slots: readonly Slot[] = [],
): LispClass {
  const made = new LispClass(named(name), kind, supers.map(classNamed));
  made.precedence = [made, ...mergePrecedence(made.supers)];
  setSlots(made, slots);
  shared.set(made.name, made);
  return made;
}

function mergePrecedence(supers: readonly LispClass[]): LispClass[] {
  const merged: LispClass[] = [];
  for (const above of supers.flatMap((one) => one.precedence).reverse())
    if (!merged.includes(above)) merged.unshift(above);
  return merged;
}

export function setSlots(cls: LispClass, own: readonly Slot[]): void {
  const inherited = cls.precedence.slice(1).reverse();
  mergeSlots(cls, [...inherited.flatMap(({ slots }) => slots), ...own]);
}

/** Later slots replace earlier ones of the same name, in their place. */
export function mergeSlots(cls: LispClass, slots: readonly Slot[]): void {
  const byName = new Map<Sym, Slot>();
  for (const slot of slots) {
    const inherited = byName.get(slot.name);
    const initargs = inherited
      ? [...new Set([...slot.initargs, ...inherited.initargs])]
      : slot.initargs;
    byName.set(slot.name, { ...slot, initargs, init: slot.init ?? inherited?.init ?? null });
  }
  cls.slots = [...byName.values()];
  cls.slotIndex.clear();
  cls.slots.forEach((slot, index) => {
    cls.slotIndex.set(slot.name, index);
  });
}

export function plainSlot(name: Sym, initarg: Sym = sessionKeyword(name.name)): Slot {
  return {
    name,
    initargs: [initarg],
    init: null,
    shared: null,
    type: T,
    documentation: null,
    readOnly: false,
  };
}

/** The class of any value. */
export function classOf(value: Value): LispClass {
  if (value instanceof Instance) return value.cls;
  return classNamed(builtInName(value));
}

function builtInName(value: Value): string {
  if (typeof value === "number") return "FIXNUM";
  if (typeof value === "bigint") return "BIGNUM";
  if (value === NIL) return "NULL";
  if (value instanceof Sym) return value.pkg?.name === "KEYWORD" ? "KEYWORD" : "SYMBOL";
  if (value instanceof Cons) return "CONS";
  if (value instanceof Str) return "STRING";
  if (value instanceof Float) return "DOUBLE-FLOAT";
  if (value instanceof Ratio) return "RATIO";
  if (value instanceof Char) return "CHARACTER";
  if (value instanceof Vec) {
    if (value.dims !== null) return "ARRAY";
    return value.elementType.name === "BIT" ? "BIT-VECTOR" : "VECTOR";
  }
  if (value instanceof Table) return "HASH-TABLE";
  if (value instanceof Fn) return value.code.generic ? "STANDARD-GENERIC-FUNCTION" : "FUNCTION";
  if (value instanceof Package) return "PACKAGE";
  if (value instanceof Stream) return value.kind;
  if (value instanceof LispClass) {
    if (value.kind === "structure") return "STRUCTURE-CLASS";
    return value.kind === "built-in" ? "BUILT-IN-CLASS" : "STANDARD-CLASS";
  }
  if (value instanceof Instance) return "STANDARD-OBJECT";
  const label = value.label === "METHOD" ? "STANDARD-METHOD" : value.label;
  return opaqueNames.has(label) ? label : "T";
}

const opaqueNames = new Set(["RANDOM-STATE", "RESTART", "READTABLE", "STANDARD-METHOD"]);

const builtIns: readonly [string, ...string[]][] = [
  ["SYMBOL", "T"],
  ["KEYWORD", "SYMBOL"],
  ["SEQUENCE", "T"],
  ["LIST", "SEQUENCE"],
  ["CONS", "LIST"],
  ["NULL", "SYMBOL", "LIST"],
  ["NUMBER", "T"],
  ["REAL", "NUMBER"],
  ["RATIONAL", "REAL"],
  ["INTEGER", "RATIONAL"],
  ["FIXNUM", "INTEGER"],
  ["BIGNUM", "INTEGER"],
  ["RATIO", "RATIONAL"],
  ["FLOAT", "REAL"],
  ["DOUBLE-FLOAT", "FLOAT"],
  ["COMPLEX", "NUMBER"],
  ["CHARACTER", "T"],
  ["ARRAY", "T"],
  ["VECTOR", "ARRAY", "SEQUENCE"],
  ["STRING", "VECTOR"],
  ["BIT-VECTOR", "VECTOR"],
  ["HASH-TABLE", "T"],
  ["FUNCTION", "T"],
  ["PACKAGE", "T"],
  ["STREAM", "T"],
  ...words(
    "STRING-STREAM BROADCAST-STREAM CONCATENATED-STREAM ECHO-STREAM SYNONYM-STREAM TWO-WAY-STREAM FILE-STREAM",
  ).map((name): [string, string] => [name, "STREAM"]),
  ["RANDOM-STATE", "T"],
  ["RESTART", "T"],
  ["READTABLE", "T"],
  ["PATHNAME", "T"],
  ["LOGICAL-PATHNAME", "PATHNAME"],
  ["METHOD-COMBINATION", "T"],
];

const objects: readonly [string, LispClass["kind"], ...string[]][] = [
  ["STANDARD-OBJECT", "standard", "T"],
  ["STRUCTURE-OBJECT", "structure", "T"],
  ["CLASS", "standard", "STANDARD-OBJECT"],
  ["BUILT-IN-CLASS", "standard", "CLASS"],
  ["STANDARD-CLASS", "standard", "CLASS"],
  ["STRUCTURE-CLASS", "standard", "CLASS"],
  ["METHOD", "standard", "STANDARD-OBJECT"],
  ["STANDARD-METHOD", "standard", "METHOD"],
  ["GENERIC-FUNCTION", "built-in", "FUNCTION"],
  ["STANDARD-GENERIC-FUNCTION", "built-in", "GENERIC-FUNCTION"],
];

export function defineClasses(): void {
  sharedClass("T", "built-in", []);
  for (const [name, ...supers] of builtIns) sharedClass(name, "built-in", supers);
  for (const [name, kind, ...supers] of objects) sharedClass(name, kind, supers);
}
