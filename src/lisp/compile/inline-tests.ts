// Inlined predicates as JS booleans, for tests.
import { eql } from "../equality.ts";
import type { Machine } from "../machine.ts";
import { compare, equalNumbers } from "../numbers.ts";
import { Char, Str } from "../string.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";
import type { Emitter } from "./emit.ts";
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
  const sign = signs.get(name.name);
  if (sign !== undefined) return comparison(sign)(e, left as Node, zero);
  const check = one.get(name.name);
  if (check === undefined) return null;
  const [[slot, run]] = e.operands(node.args);
  return check(e, slot, run);
}

/** The argument of `not` or `null`. */
export function negatedBy(node: Node): Node | null {
  if (node.kind !== "call-native" || node.args.length !== 1) return null;
  const { name } = node.fn.code;
  const negates = name instanceof Sym && (name.name === "NOT" || name.name === "NULL");
  return negates ? (node.args[0] as Node) : null;
}

const one = new Map<string, (e: Emitter, slot: number, run: Run) => Test>([
  ["CONSP", (_, slot, run) => (f) => (slot > 0 ? (f[slot] as Value) : run(f)) instanceof Cons],
  ["ATOM", (_, slot, run) => (f) => !((slot > 0 ? (f[slot] as Value) : run(f)) instanceof Cons)],
  ["SYMBOLP", (_, slot, run) => (f) => (slot > 0 ? (f[slot] as Value) : run(f)) instanceof Sym],
  ["STRINGP", (_, slot, run) => (f) => (slot > 0 ? (f[slot] as Value) : run(f)) instanceof Str],
  [
    "LISTP",
    (_, slot, run) => (f) => {
      const value = slot > 0 ? (f[slot] as Value) : run(f);
      return value === NIL || value instanceof Cons;
    },
  ],
  [
    "ENDP",
    (e, slot, run) => (f) => {
      const value = slot > 0 ? (f[slot] as Value) : run(f);
      return value === NIL || (value instanceof Cons ? false : e.m.typeError(value, "LIST"));
    },
  ],
  [
    "INTEGERP",
    (_, slot, run) => (f) => {
      const value = slot > 0 ? (f[slot] as Value) : run(f);
      return typeof value === "number" || typeof value === "bigint";
    },
  ],
  ["EVENP", parity(true)],
  ["ODDP", parity(false)],
]);

function parity(isEven: boolean): (e: Emitter, slot: number, run: Run) => Test {
  return (e, slot, run) => (f) => {
    const value = slot > 0 ? (f[slot] as Value) : run(f);
    if (typeof value === "number") return (value % 2 === 0) === isEven;
    return typeof value === "bigint"
      ? (value % 2n === 0n) === isEven
      : e.m.typeError(value, "INTEGER");
  };
}

const signs = new Map<string, Order>([
  ["ZEROP", "="],
  ["PLUSP", ">"],
  ["MINUSP", "<"],
]);

const zero: Node = { kind: "constant", value: 0 };

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
  const [[sa, a], [sb, b]] = e.operands([left, right]);
  if (right.kind === "constant") {
    const { value } = right;
    return (f) => (sa > 0 ? f[sa] : a(f)) === value;
  }
  return (f) => (sa > 0 ? f[sa] : a(f)) === (sb > 0 ? f[sb] : b(f));
}

type Order = "<" | ">" | "<=" | ">=" | "=" | "/=";

function comparison(order: Order): Two {
  return (e, left, right) => {
    const { m } = e;
    const [[sa, a], [sb, b]] = e.operands([left, right]);
    return (f) => {
      const x = sa > 0 ? (f[sa] as Value) : a(f);
      const y = sb > 0 ? (f[sb] as Value) : b(f);
      return typeof x === "number" && typeof y === "number"
        ? holds(order, x, y)
        : holdsAny(m, order, x, y);
    };
  };
}

/** `if` of a comparison as one closure; null if the test is no comparison. */
export function comparingIf(e: Emitter, test: Node, then: Run, otherwise: Run): Run | null {
  if (test.kind !== "call-native" || test.args.length !== 2) return null;
  const { name } = test.fn.code;
  if (!(name instanceof Sym) || !orders.has(name.name)) return null;
  const order = name.name as Order;
  const { m } = e;
  const [[sa, a], [sb, b]] = e.operands(test.args);
  const [, right] = test.args;
  if (right?.kind === "constant" && typeof right.value === "number") {
    const limit = right.value;
    return (f) => {
      const x = sa > 0 ? (f[sa] as Value) : a(f);
      const truth = typeof x === "number" ? holds(order, x, limit) : holdsAny(m, order, x, limit);
      return truth ? then(f) : otherwise(f);
    };
  }
  return (f) => {
    const x = sa > 0 ? (f[sa] as Value) : a(f);
    const y = sb > 0 ? (f[sb] as Value) : b(f);
    const truth =
      typeof x === "number" && typeof y === "number"
        ? holds(order, x, y)
        : holdsAny(m, order, x, y);
    return truth ? then(f) : otherwise(f);
  };
}

const orders = new Set(["<", ">", "<=", ">=", "=", "/="]);

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
