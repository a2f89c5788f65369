/** `subtypep`: decided for classes, ranges and common combinations; otherwise "unknown", as the standard permits. */
import { findClass } from "../classes.ts";
import { equal } from "../equality.ts";
import type { Machine } from "../machine.ts";
import { compare, isNumber } from "../numbers.ts";
import { cl, NIL, Sym, T } from "../symbol.ts";
import { expandType, isAtomicType, typep } from "../types.ts";
import { Cons, itemsOf, LispClass, type Value } from "../values.ts";

export type Answer = "yes" | "no" | "unknown";

export function isSubtype(m: Machine, type1: Value, type2: Value): Answer {
  const a = simplify(m, type1);
  const b = simplify(m, type2);
  m.tick(4);
  if (equal(m, a, b) || a === NIL || b === T) return "yes";
  const left = operatorOf(a);
  const right = operatorOf(b);
  if (left === "OR") return every(argsOf(a).map((part) => isSubtype(m, part, b)));
  if (right === "AND") return every(argsOf(b).map((part) => isSubtype(m, a, part)));
  if (left === "MEMBER" || left === "EQL")
    return argsOf(a).every((value) => typep(m, value, b)) ? "yes" : "no";
  if (right === "OR") return some(argsOf(b).map((part) => isSubtype(m, a, part)));
  if (left === "AND")
    return argsOf(a).some((part) => isSubtype(m, part, b) === "yes") ? "yes" : "unknown";
  if (right === "NOT") return isDisjoint(m, a, argsOf(b)[0] ?? NIL);
  if (left === "NOT") {
    if (b === T) return "yes";
    return isKnown(m, argsOf(a)[0] ?? NIL) && isKnown(m, b) ? "no" : "unknown";
  }
  if (left === "SATISFIES" || right === "SATISFIES") return "unknown";
  if (right === "MEMBER" || right === "EQL") return isKnown(m, a) ? "no" : "unknown";
  return compareNamed(m, a, b);
}

function every(answers: readonly Answer[]): Answer {
  if (answers.every((answer) => answer === "yes")) return "yes";
  return answers.includes("no") ? "no" : "unknown";
}

function some(answers: readonly Answer[]): Answer {
  if (answers.includes("yes")) return "yes";
  return answers.every((answer) => answer === "no") ? "no" : "unknown";
}

function operatorOf(type: Value): string {
  return type instanceof Cons && type.car instanceof Sym ? type.car.name : "";
}

function argsOf(type: Value): Value[] {
  return type instanceof Cons ? itemsOf(type.cdr) : [];
}

/** Expands derived types, and replaces classes by their names. */
function simplify(m: Machine, type: Value): Value {
  const expanded = expandType(m, type);
  if (expanded instanceof LispClass) return expanded.name;
  const list = (...parts: Value[]) => m.list(parts);
  const name = expanded instanceof Sym ? expanded.name : operatorOf(expanded);
  const [first] = argsOf(expanded);
  const size =
    typeof first === "number" && first >= 0 && first <= 10_000 ? 2n ** BigInt(first) : undefined;
  switch (name) {
    case "BIT":
      return list(cl("INTEGER"), 0, 1);
    case "FIXNUM":
      return list(cl("INTEGER"), -(2n ** 62n), 2n ** 62n - 1n);
    case "UNSIGNED-BYTE":
      return size === undefined
        ? list(cl("INTEGER"), 0, cl("*"))
        : list(cl("INTEGER"), 0, size - 1n);
    case "SIGNED-BYTE":
      return size === undefined ? cl("INTEGER") : list(cl("INTEGER"), -size / 2n, size / 2n - 1n);
    case "MOD":
      return list(cl("INTEGER"), 0, list(first ?? 0));
    case "BOOLEAN":
      return list(cl("MEMBER"), NIL, T);
    case "LONG-FLOAT":
      return cl("DOUBLE-FLOAT");
    case "COMPILED-FUNCTION":
      return cl("FUNCTION");
    case "ATOM":
      return list(cl("NOT"), cl("CONS"));
    case "NULL":
      return expanded;
    case "LIST":
      return list(cl("OR"), cl("CONS"), cl("NULL"));
    case "NIL":
      return NIL;
    default:
      return expanded;
  }
}

/** The superclasses of type names without a class. */
const above = new Map<string, readonly string[]>([
  ["BIGNUM", ["INTEGER"]],
  ["STANDARD-CHAR", ["BASE-CHAR", "CHARACTER"]],
  ["BASE-CHAR", ["CHARACTER"]],
  ["EXTENDED-CHAR", ["CHARACTER"]],
  ["SIMPLE-VECTOR", ["SIMPLE-ARRAY", "VECTOR"]],
  ["SIMPLE-STRING", ["SIMPLE-ARRAY", "STRING"]],
  ["BASE-STRING", ["STRING"]],
  ["SIMPLE-BASE-STRING", ["SIMPLE-STRING", "BASE-STRING"]],
  ["SIMPLE-BIT-VECTOR", ["SIMPLE-ARRAY", "BIT-VECTOR"]],
  ["SIMPLE-ARRAY", ["ARRAY"]],
  ["SINGLE-FLOAT", ["FLOAT"]],
  ["SHORT-FLOAT", ["SINGLE-FLOAT"]],
  ["STRING-STREAM", ["STREAM"]],
]);

function isKnown(m: Machine, type: Value): boolean {
  if (type instanceof Cons)
    return argsOf(type).every(
      (part) => !(part instanceof Sym) || part === cl("*") || isKnown(m, part),
    );
  return type instanceof Sym && (isAtomicType(type) || findClass(m, type) !== undefined);
}

function compareNamed(m: Machine, a: Value, b: Value): Answer {
  const [left, right] = [headOf(a), headOf(b)];
  if (left === undefined || right === undefined || !isKnown(m, left) || !isKnown(m, right))
    return "unknown";
  if (!ancestors(m, left).has(right.name) && right !== T) return "no";
  if (!(b instanceof Cons)) return "yes";
  if (isNumericName(right.name)) return isRangeWithin(m, argsOf(a), argsOf(b)) ? "yes" : "no";
  return "unknown";
}

function headOf(type: Value): Sym | undefined {
  const head = type instanceof Cons ? type.car : type;
  return head instanceof Sym ? head : undefined;
}

function ancestors(m: Machine, sym: Sym): Set<string> {
  const names = new Set([sym.name]);
  for (const cls of findClass(m, sym)?.precedence ?? []) names.add(cls.name.name);
  for (const parent of above.get(sym.name) ?? [])
    for (const name of ancestors(m, cl(parent))) names.add(name);
  return names;
}

const numericNames = new Set([
  "INTEGER",
  "RATIONAL",
  "REAL",
  "FLOAT",
  "DOUBLE-FLOAT",
  "SINGLE-FLOAT",
]);

function isNumericName(name: string): boolean {
  return numericNames.has(name);
}

function isRangeWithin(m: Machine, inner: readonly Value[], outer: readonly Value[]): boolean {
  return isBoundWithin(m, inner[0], outer[0], 1) && isBoundWithin(m, inner[1], outer[1], -1);
}

/** True if the inner bound is not outside the outer one; `sign` is 1 for lower bounds. */
function isBoundWithin(
  m: Machine,
  inner: Value | undefined,
  outer: Value | undefined,
  sign: 1 | -1,
): boolean {
  if (outer === undefined || outer === cl("*")) return true;
  if (inner === undefined || inner === cl("*")) return false;
  const [a, b] = [limitOf(inner), limitOf(outer)];
  if (!isNumber(a.value) || !isNumber(b.value)) return false;
  const order = compare(m, a.value, b.value) * sign;
  return order > 0 || (order === 0 && (a.isOpen || !b.isOpen));
}

function limitOf(bound: Value): { value: Value; isOpen: boolean } {
  return bound instanceof Cons
    ? { value: bound.car, isOpen: true }
    : { value: bound, isOpen: false };
}

function isDisjoint(m: Machine, a: Value, b: Value): Answer {
  if (isSubtype(m, a, b) === "yes") return "no";
  const [left, right] = [headOf(simplify(m, a)), headOf(simplify(m, b))];
  if (left === undefined || right === undefined || !isKnown(m, left) || !isKnown(m, right))
    return "unknown";
  return ancestors(m, left).has(right.name) || ancestors(m, right).has(left.name)
    ? "unknown"
    : "yes";
}
