// Inlined predicates as JS booleans, for tests.
import { eql } from "../equality.ts";
import type { Machine } from "../machine.ts";
import { compare, equalNumbers, isZero, real } from "../numbers.ts";
import { Char, Str } from "../string.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";
import type { Emitter } from "./emit.ts";
import { plainSlot } from "./emit-variables.ts";
import type { Node, NodeOf, Run, Test } from "./nodes.ts";

/** Null if there is no inline version. */
export function inlineTest(e: Emitter, node: NodeOf<"call-native">): Test | null {
  const { name } = node.fn.code;
  if (!(name instanceof Sym)) return null;
  const [left, right] = node.args;
  if (node.args.length === 2) return two.get(name.name)?.(e, left as Node, right as Node) ?? null;
  if (node.args.length !== 1) return null;
  const negated = negatedBy(node);
  if (negated !== null) return e.test(negated, false);
  const check = one.get(name.name);
  if (check === undefined) return null;
  const run = e.run(left as Node);
  return check(e, run);
}

/** The argument of `not` or `null`. */
export function negatedBy(node: Node): Node | null {
  if (node.kind !== "call-native" || node.args.length !== 1) return null;
  const { name } = node.fn.code;
  const negates = name instanceof Sym && (name.name === "NOT" || name.name === "NULL");
  return negates ? (node.args[0] as Node) : null;
}

const one = new Map<string, (e: Emitter, run: Run) => Test>([
  ["CONSP", (_, run) => (f) => run(f) instanceof Cons],
  ["ATOM", (_, run) => (f) => !(run(f) instanceof Cons)],
  ["SYMBOLP", (_, run) => (f) => run(f) instanceof Sym],
  ["STRINGP", (_, run) => (f) => run(f) instanceof Str],
  [
    "LISTP",
    (_, run) => (f) => {
      const value = run(f);
      return value === NIL || value instanceof Cons;
    },
  ],
  [
    "ENDP",
    (e, run) => (f) => {
      const value = run(f);
      return value === NIL || (value instanceof Cons ? false : e.m.typeError(value, "LIST"));
    },
  ],
  [
    "INTEGERP",
    (_, run) => (f) => {
      const value = run(f);
      return typeof value === "number" || typeof value === "bigint";
    },
  ],
  [
    "ZEROP",
    (e, run) => (f) => {
      const value = run(f);
      return typeof value === "number" ? value === 0 : isZero(real(e.m, value, "NUMBER"));
    },
  ],
  [
    "PLUSP",
    (e, run) => (f) => {
      const value = run(f);
      return typeof value === "number" ? value > 0 : compare(e.m, value, 0) > 0;
    },
  ],
  [
    "MINUSP",
    (e, run) => (f) => {
      const value = run(f);
      return typeof value === "number" ? value < 0 : compare(e.m, value, 0) < 0;
    },
  ],
  [
    "EVENP",
    (e, run) => (f) => {
      const value = run(f);
      if (typeof value === "number") return value % 2 === 0;
      return typeof value === "bigint" ? value % 2n === 0n : e.m.typeError(value, "INTEGER");
    },
  ],
  [
    "ODDP",
    (e, run) => (f) => {
      const value = run(f);
      if (typeof value === "number") return value % 2 !== 0;
      return typeof value === "bigint" ? value % 2n !== 0n : e.m.typeError(value, "INTEGER");
    },
  ],
]);

type Two = (e: Emitter, left: Node, right: Node) => Test;

const two = new Map<string, Two>([
  ["EQ", identity],
  [
    "EQL",
    (e, left, right) => {
      if (isIdentity(left) || isIdentity(right)) return identity(e, left, right);
      const [a, b] = [e.run(left), e.run(right)];
      return (f) => eql(a(f), b(f));
    },
  ],
  ["=", comparison("=")],
  ["/=", comparison("/=")],
  ["<", comparison("<")],
  [">", comparison(">")],
  ["<=", comparison("<=")],
  [">=", comparison(">=")],
]);

/** Constants that eql compares by identity. */
const isIdentity = (node: Node): boolean =>
  node.kind === "constant" &&
  (typeof node.value === "number" ||
    node.value instanceof Sym ||
    (node.value instanceof Char && node.value.code < 0x3000));

function identity(e: Emitter, left: Node, right: Node): Test {
  const a = e.run(left);
  if (right.kind === "constant") {
    const { value } = right;
    return (f) => a(f) === value;
  }
  const b = e.run(right);
  return (f) => a(f) === b(f);
}

type Order = "<" | ">" | "<=" | ">=" | "=" | "/=";

/** Loops and recursions mostly compare a variable with a constant or another value. */
function comparison(order: Order): Two {
  return (e, left, right) => {
    const { m } = e;
    const slot = plainSlot(e, left);
    const b = e.run(right);
    if (slot !== null && right.kind === "constant" && typeof right.value === "number") {
      const limit = right.value;
      return (f) => {
        const x = f[slot] as Value;
        return typeof x === "number" ? holds(order, x, limit) : holdsAny(m, order, x, limit);
      };
    }
    if (slot !== null) {
      return (f) => {
        const x = f[slot] as Value;
        const y = b(f);
        return typeof x === "number" && typeof y === "number"
          ? holds(order, x, y)
          : holdsAny(m, order, x, y);
      };
    }
    const a = e.run(left);
    return (f) => {
      const x = a(f);
      const y = b(f);
      return typeof x === "number" && typeof y === "number"
        ? holds(order, x, y)
        : holdsAny(m, order, x, y);
    };
  };
}

/** Branches on the order are cheaper than calls of one function for each. */
function holds(order: Order, x: number, y: number): boolean {
  if (order === "<") return x < y;
  if (order === "=") return x === y;
  if (order === ">") return x > y;
  if (order === ">=") return x >= y;
  return order === "<=" ? x <= y : x !== y;
}

function holdsAny(m: Machine, order: Order, x: Value, y: Value): boolean {
  if (order === "=") return equalNumbers(m, x, y);
  if (order === "/=") return !equalNumbers(m, x, y);
  const side = compare(m, x, y);
  return holds(order, side, 0);
}
