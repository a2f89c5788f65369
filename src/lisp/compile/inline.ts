// Inlined natives: arithmetic on small integers, and access to conses. Their names are in a locked package, so a
// compiled program cannot see them change.

import { modulo, remainder } from "../arithmetic.ts";
import { exceed } from "../budgets.ts";
import { named } from "../define.ts";
import { add, multiply, subtract } from "../numbers.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Cons, Table, type Value, Vec } from "../values.ts";
import type { Emitter } from "./emit.ts";
import { plainSlot } from "./emit-variables.ts";
import { inlineTest } from "./inline-tests.ts";
import type { Node, Run } from "./nodes.ts";

type NativeNode = Extract<Node, { kind: "call-native" }>;

/** Null if a call is as fast. */
export function inlineNative(e: Emitter, node: NativeNode): Run | null {
  const { name } = node.fn.code;
  const inliner =
    typeof name === "object" && "name" in name && typeof name.name === "string"
      ? inliners.get(name.name)
      : undefined;
  const inlined = inliner?.(e, node.args);
  if (inlined) return inlined;
  const test = inlineTest(e, node);
  return test === null ? null : (f) => (test(f) ? T : NIL);
}

/** For natives with several values if only the first is needed. Null if a call is as fast. */
export function inlineFirst(e: Emitter, node: NativeNode): Run | null {
  if (node.fn !== gethash.fn || node.args.length < 2 || node.args.length > 3) return null;
  const { m } = e;
  const [a, b, c] = node.args.map((arg) => e.run(arg)) as [Run, Run, Run | undefined];
  return (f) => {
    const key = a(f);
    const table = b(f);
    const missing = c === undefined ? NIL : c(f);
    // These keys are their own map keys in every table.
    if (table instanceof Table && (typeof key === "number" || key instanceof Sym))
      return table.entries.get(key)?.value ?? missing;
    return m.call3(node.fn, key, table, missing);
  };
}

const gethash = named("GETHASH");
const slowElement = named("AREF");
const max = Number.MAX_SAFE_INTEGER;

const inliners = new Map<string, (e: Emitter, args: readonly Node[]) => Run | null>([
  ["+", (e, args) => (args.length === 2 ? sum(e, args) : chainOf(e, args, add))],
  ["-", (e, args) => (args.length === 2 ? difference(e, args) : chainOf(e, args, subtract))],
  ["*", (e, args) => (args.length === 2 ? product(e, args) : chainOf(e, args, multiply))],
  [
    "1+",
    (e, args) =>
      args.length === 1 ? sum(e, [args[0] as Node, { kind: "constant", value: 1 }]) : null,
  ],
  [
    "1-",
    (e, args) =>
      args.length === 1 ? difference(e, [args[0] as Node, { kind: "constant", value: 1 }]) : null,
  ],
  ["MOD", (e, args) => (args.length === 2 ? remainderOf(e, args, "MOD") : null)],
  ["REM", (e, args) => (args.length === 2 ? remainderOf(e, args, "REM") : null)],
  ["CAR", (e, args) => (args.length === 1 ? carOf(e, args[0] as Node) : null)],
  ["FIRST", (e, args) => (args.length === 1 ? carOf(e, args[0] as Node) : null)],
  ["CDR", (e, args) => (args.length === 1 ? cdrOf(e, args[0] as Node) : null)],
  ["REST", (e, args) => (args.length === 1 ? cdrOf(e, args[0] as Node) : null)],
  ["CONS", (e, args) => (args.length === 2 ? consOf(e, args) : null)],
  ["IDENTITY", (e, args) => (args.length === 1 ? e.run(args[0] as Node) : null)],
  ["AREF", (e, args) => (args.length === 2 ? elementOf(e, args) : null)],
  ["SVREF", (e, args) => (args.length === 2 ? elementOf(e, args) : null)],
]);

const isSmall = (node: Node): node is Node & { value: number } =>
  node.kind === "constant" && typeof node.value === "number";

function sum(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [left, right] = args as [Node, Node];
  if (isSmall(left) && !isSmall(right)) return sum(e, [right, left]);
  const slot = plainSlot(e, left);
  if (isSmall(right)) {
    const constant = right.value;
    const a = e.run(left);
    if (slot !== null) {
      return (f) => {
        const x = f[slot] as Value;
        if (typeof x === "number") {
          const total = x + constant;
          if (total <= max && total >= -max) return total;
        }
        return add(m, x, constant);
      };
    }
    return (f) => {
      const x = a(f);
      if (typeof x === "number") {
        const total = x + constant;
        if (total <= max && total >= -max) return total;
      }
      return add(m, x, constant);
    };
  }
  const a = e.run(left);
  const b = e.run(right);
  return (f) => {
    const x = a(f);
    const y = b(f);
    if (typeof x === "number" && typeof y === "number") {
      const total = x + y;
      if (total <= max && total >= -max) return total;
    }
    return add(m, x, y);
  };
}

function difference(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [left, right] = args as [Node, Node];
  const slot = plainSlot(e, left);
  const a = e.run(left);
  if (isSmall(right)) {
    const constant = right.value;
    if (slot !== null) {
      return (f) => {
        const x = f[slot] as Value;
        if (typeof x === "number") {
          const total = x - constant;
          if (total <= max && total >= -max) return total;
        }
        return subtract(m, x, constant);
      };
    }
  }
  const b = e.run(right);
  return (f) => {
    const x = a(f);
    const y = b(f);
    if (typeof x === "number" && typeof y === "number") {
      const total = x - y;
      if (total <= max && total >= -max) return total;
    }
    return subtract(m, x, y);
  };
}

function product(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [a, b] = args.map((arg) => e.run(arg)) as [Run, Run];
  return (f) => {
    const x = a(f);
    const y = b(f);
    if (typeof x === "number" && typeof y === "number") {
      const total = x * y;
      // Adding zero turns -0 into 0.
      if (total <= max && total >= -max) return total + 0;
    }
    return multiply(m, x, y);
  };
}

/** For non-negative integers both equal the host's %. */
function remainderOf(e: Emitter, args: readonly Node[], name: "MOD" | "REM"): Run {
  const { m } = e;
  const [a, b] = args.map((arg) => e.run(arg)) as [Run, Run];
  const slow = name === "MOD" ? modulo : remainder;
  return (f) => {
    const x = a(f);
    const y = b(f);
    return typeof x === "number" && typeof y === "number" && x >= 0 && y > 0
      ? x % y
      : slow(m, x, y);
  };
}

function chainOf(e: Emitter, args: readonly Node[], combine: typeof add): Run | null {
  if (args.length < 3) return null;
  const { m } = e;
  const [first, ...rest] = args.map((arg) => e.run(arg)) as [Run, ...Run[]];
  return (f) => {
    let total = first(f);
    for (const run of rest) total = combine(m, total, run(f));
    return total;
  };
}

function carOf(e: Emitter, arg: Node): Run {
  const { m } = e;
  const run = e.run(arg);
  return (f) => {
    const value = run(f);
    if (value instanceof Cons) return value.car;
    return value === NIL ? NIL : m.typeError(value, "LIST");
  };
}

function cdrOf(e: Emitter, arg: Node): Run {
  const { m } = e;
  const run = e.run(arg);
  return (f) => {
    const value = run(f);
    if (value instanceof Cons) return value.cdr;
    return value === NIL ? NIL : m.typeError(value, "LIST");
  };
}

function consOf(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [a, b] = args.map((arg) => e.run(arg)) as [Run, Run];
  return (f) => {
    const car = a(f);
    const cdr = b(f);
    if (--m.cellsLeft < 0) exceed(m, "CELL");
    return new Cons(car, cdr);
  };
}

/** One subscript into a simple vector; other cases take the general path. */
function elementOf(e: Emitter, args: readonly Node[]): Run | null {
  const { m } = e;
  const [a, b] = args.map((arg) => e.run(arg)) as [Run, Run];
  return (f) => {
    const vector = a(f);
    const index = b(f);
    if (vector instanceof Vec && vector.dims === null && typeof index === "number") {
      const item = vector.items[index];
      if (item !== undefined) return item;
    }
    return slowElement.fn === null
      ? m.typeError(vector, "ARRAY")
      : m.call2(slowElement.fn, vector, index);
  };
}
