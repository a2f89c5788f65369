// Type specifiers and `typep`. A name is a `deftype` of the session, a type of the table below, or a class.
import { classOf, findClass } from "./classes.ts";
import { named } from "./define.ts";
import { eql } from "./equality.ts";
import { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { compare } from "./numbers.ts";
import { Char, Str } from "./string.ts";
import { NIL, Sym, T } from "./symbol.ts";
import { Cons, Float, Instance, itemsOf, LispClass, Ratio, type Value, Vec } from "./values.ts";

/** `args` are the arguments of the specifier: 0 and 10 for `(integer 0 10)`. */
export type TypePredicate = (m: Machine, value: Value, args: readonly Value[]) => boolean;

const table = new Map<Sym, TypePredicate>();

/** Defines a type of the language that is not a class, or takes arguments. */
function defineType(name: string, predicate: TypePredicate): void {
  table.set(named(name), predicate);
}

/** The expander of a `deftype`. */
export type TypeExpander = (m: Machine, specifier: Value) => Value;

export const sessionTypes = (m: Machine) => m.keep("types", () => new Map<Sym, TypeExpander>());

/** Expands the session's own types at the outermost level. */
export function expandType(m: Machine, specifier: Value): Value {
  let type = specifier;
  if (type instanceof LispClass && findClass(m, type.name) === type) type = type.name;
  for (;;) {
    const name = type instanceof Cons ? type.car : type;
    const expander = name instanceof Sym ? sessionTypes(m).get(name) : undefined;
    if (expander === undefined) return type;
    m.tick(10);
    type = expander(m, type);
  }
}

export function typep(m: Machine, value: Value, specifier: Value): boolean {
  // Handlers ask this of each condition. No session redefines the names of a locked package.
  if (value instanceof Instance && specifier instanceof Sym && specifier.pkg?.locked) {
    for (const { name } of value.cls.precedence) if (name === specifier) return true;
  }
  const type = expandType(m, specifier);
  if (type instanceof LispClass) return isOfClass(value, type);
  if (type === T) return true;
  if (type === NIL) return false;
  const name = type instanceof Cons ? type.car : type;
  if (!(name instanceof Sym)) return unknownType(m, type);
  const args = type instanceof Cons ? itemsOf(type.cdr) : [];
  const predicate = table.get(name);
  if (predicate !== undefined) return predicate(m, value, args);
  const cls = findClass(m, name);
  if (cls === undefined) return unknownType(m, type);
  return isOfClass(value, cls);
}

/** True if it is a type of the table without a class. */
export function isAtomicType(name: Sym): boolean {
  return table.has(name);
}

export function unknownType(m: Machine, type: Value): never {
  m.fail(`${m.show(type)} is not a type`);
}

function isOfClass(value: Value, cls: LispClass): boolean {
  return classOf(value).precedence.includes(cls);
}

const any = named("*");

/** Numbers within limits: `*` or nothing means no limit, `(n)` excludes n. */
function within(m: Machine, value: Value, [low = any, high = any]: readonly Value[]): boolean {
  const above = (limit: Value): boolean =>
    limit instanceof Cons ? compare(m, value, limit.car) > 0 : compare(m, value, limit) >= 0;
  const below = (limit: Value): boolean =>
    limit instanceof Cons ? compare(m, value, limit.car) < 0 : compare(m, value, limit) <= 0;
  return (low === any || above(low)) && (high === any || below(high));
}

const isInteger = (value: Value): boolean => typeof value === "number" || typeof value === "bigint";
const isRational = (value: Value): boolean => isInteger(value) || value instanceof Ratio;
const isReal = (value: Value): boolean => isRational(value) || value instanceof Float;
const isFloat = (value: Value): boolean => value instanceof Float;

function ranged(holds: (value: Value) => boolean): TypePredicate {
  return (m, value, args) => holds(value) && within(m, value, args);
}

function isArrayOf(m: Machine, value: Value, elementType: Value = any, dims: Value = any): boolean {
  if (!(value instanceof Vec) && !(value instanceof Str)) return false;
  if (elementType !== any && !sameElements(m, value, elementType)) return false;
  const actual =
    value instanceof Vec && value.dims !== null
      ? value.dims
      : [value instanceof Vec ? value.items.length : value.capacity];
  if (dims === any) return true;
  if (typeof dims === "number") return actual.length === dims;
  const wanted = itemsOf(dims);
  return (
    wanted.length === actual.length &&
    wanted.every((size, index) => size === any || size === actual[index])
  );
}

function sameElements(m: Machine, value: Vec | Str, elementType: Value): boolean {
  const wanted = upgradedType(m, elementType);
  return wanted === (value instanceof Str ? named("CHARACTER") : value.elementType);
}

/** The upgraded array element type: characters, bits or T. */
export function upgradedType(m: Machine, elementType: Value): Sym {
  const type = expandType(m, elementType);
  const name = type instanceof Cons ? type.car : type;
  if (name === named("CHARACTER") || name === named("BASE-CHAR") || name === named("STANDARD-CHAR"))
    return named("CHARACTER");
  const bits = ["BIT", "(INTEGER 0 1)", "(UNSIGNED-BYTE 1)", "(MOD 2)"];
  return bits.includes(m.show(type)) ? named("BIT") : T;
}

const isSimple = (value: Value): boolean =>
  (value instanceof Vec || value instanceof Str) && value.fill < 0 && !value.adjustable;
const sized =
  (holds: (value: Value) => boolean): TypePredicate =>
  (_, value, [size = any]) =>
    holds(value) && (size === any || size === capacityOf(value));

function capacityOf(value: Value): Value {
  if (value instanceof Str) return value.capacity;
  return value instanceof Vec ? value.items.length : NIL;
}

const isCode = (value: Value, holds: (code: number) => boolean): boolean =>
  value instanceof Char && holds(value.code);

/** Types without arguments. */
const plainTypes: Readonly<Record<string, TypePredicate>> = {
  ATOM: (_, value) => !(value instanceof Cons),
  BOOLEAN: (_, value) => value === NIL || value === T,
  BIGNUM: (_, value) => typeof value === "bigint",
  FIXNUM: (_, value) => typeof value === "number",
  BIT: (_, value) => value === 0 || value === 1,
  "BASE-CHAR": (_, value) => isCode(value, (code) => code < 128),
  "STANDARD-CHAR": (_, value) => isCode(value, (code) => code === 10 || (code >= 32 && code < 127)),
  "EXTENDED-CHAR": (_, value) => isCode(value, (code) => code >= 128),
  "STRUCTURE-OBJECT": (_, value) => value instanceof Instance && value.cls.kind === "structure",
  KEYWORD: (_, value) => value instanceof Sym && value.pkg?.name === "KEYWORD",
};

const isString = (value: Value): boolean => value instanceof Str;
const isBits = (value: Value): boolean =>
  value instanceof Vec && value.elementType === named("BIT");

/** Types of vectors that take only a size. */
const sizedTypes: Readonly<Record<string, (value: Value) => boolean>> = {
  "SIMPLE-VECTOR": (value) =>
    value instanceof Vec && value.dims === null && isSimple(value) && value.elementType === T,
  STRING: isString,
  "BASE-STRING": isString,
  "SIMPLE-STRING": (value) => isString(value) && isSimple(value),
  "SIMPLE-BASE-STRING": (value) => isString(value) && isSimple(value),
  "BIT-VECTOR": isBits,
  "SIMPLE-BIT-VECTOR": (value) => isBits(value) && isSimple(value),
};

export function defineTypeTable(): void {
  for (const [name, predicate] of Object.entries(plainTypes)) defineType(name, predicate);
  for (const [name, holds] of Object.entries(sizedTypes)) defineType(name, sized(holds));
  defineType("AND", (m, value, args) => args.every((type) => typep(m, value, type)));
  defineType("OR", (m, value, args) => args.some((type) => typep(m, value, type)));
  defineType("NOT", (m, value, [type]) => !typep(m, value, type ?? NIL));
  defineType("MEMBER", (_, value, args) => args.some((item) => eql(item, value)));
  defineType("EQL", (_, value, [item]) => item !== undefined && eql(item, value));
  defineType(
    "SATISFIES",
    (m, value, [predicate]) => m.call1(m.fn(predicate ?? NIL), value) !== NIL,
  );
  defineType(
    "CONS",
    (m, value, [car = any, cdr = any]) =>
      value instanceof Cons &&
      (car === any || typep(m, value.car, car)) &&
      (cdr === any || typep(m, value.cdr, cdr)),
  );
  defineType("INTEGER", ranged(isInteger));
  defineType("RATIONAL", ranged(isRational));
  defineType("REAL", ranged(isReal));
  for (const name of ["FLOAT", "DOUBLE-FLOAT", "SINGLE-FLOAT", "SHORT-FLOAT", "LONG-FLOAT"])
    defineType(name, ranged(isFloat));
  defineType(
    "MOD",
    (m, value, [limit]) =>
      isInteger(value) &&
      compare(m, value, 0) >= 0 &&
      (limit === undefined || compare(m, value, limit) < 0),
  );
  defineType(
    "UNSIGNED-BYTE",
    (m, value, [bits]) =>
      isInteger(value) && compare(m, value, 0) >= 0 && fitsBits(m, value, bits, false),
  );
  defineType(
    "SIGNED-BYTE",
    (m, value, [bits]) => isInteger(value) && fitsBits(m, value, bits, true),
  );
  defineType("ARRAY", (m, value, [element, dims]) => isArrayOf(m, value, element, dims));
  defineType(
    "SIMPLE-ARRAY",
    (m, value, [element, dims]) => isSimple(value) && isArrayOf(m, value, element, dims),
  );
  defineType(
    "VECTOR",
    (m, value, [element, size = any]) =>
      (value instanceof Str || (value instanceof Vec && value.dims === null)) &&
      isArrayOf(m, value, element, size === any ? any : m.list([size])),
  );
  for (const name of ["FUNCTION", "COMPILED-FUNCTION"])
    defineType(name, (m, value, args) =>
      args.length === 0 ? value instanceof Fn : m.fail("typep cannot tell the type of a function"),
    );
}

function fitsBits(m: Machine, value: Value, bits: Value | undefined, signed: boolean): boolean {
  if (typeof bits !== "number") return true;
  m.checkBits(bits);
  const size = BigInt(Math.max(0, bits));
  const integer = BigInt(value as number | bigint);
  return signed ? BigInt.asIntN(bits, integer) === integer : integer < 1n << size;
}
