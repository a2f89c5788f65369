// Inlined natives: arithmetic on small integers, and access to conses. Their names are in a locked package, so a
// compiled program cannot see them change.

import { magnitude, modulo, remainder } from "../arithmetic.ts";
import { exceed } from "../budgets.ts";
import { designated } from "../core/signalling.ts";
import { named } from "../define.ts";
import { add, multiply, subtract } from "../numbers.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Cons, Table, type Value, Vec } from "../values.ts";
import type { Emitter } from "./emit.ts";
import { inlineTest } from "./inline-tests.ts";
import type { Node, NodeOf, Run } from "./nodes.ts";

/** Null if a call is as fast. */
export function inlineNative(e: Emitter, node: NodeOf<"call-native">): Run | null {
  const { name } = node.fn.code;
  const text = name instanceof Sym ? name.name : "";
  const inliner = inliners[`${text} ${node.args.length}`] ?? inliners[`${text} *`];
  const inlined = inliner?.(e, node.args);
  if (inlined) return inlined;
  const test = inlineTest(e, node);
  return test === null ? null : (f) => (test(f) ? T : NIL);
}

/** For natives with several values if only the first is needed. Null if a call is as fast. */
export function inlineFirst(e: Emitter, node: NodeOf<"call-native">): Run | null {
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

type Inliner = (e: Emitter, args: readonly Node[]) => Run | null;

const one: Node = { kind: "constant", value: 1 };

const isSmall = (node: Node): node is Node & { value: number } =>
  node.kind === "constant" && typeof node.value === "number";

const sum =
  (subtracts: boolean): Inliner =>
  (e, args) => {
    const { m } = e;
    const [left, right] = args as [Node, Node];
    if (isSmall(left) && !isSmall(right) && !subtracts) return sum(false)(e, [right, left]);
    const slow = subtracts ? subtract : add;
    const [[sa, a], [sb, b]] = e.operands(args);
    if (isSmall(right)) {
      const constant = subtracts ? -right.value : right.value;
      return (f) => {
        const x = sa > 0 ? (f[sa] as Value) : a(f);
        if (typeof x === "number") {
          const total = x + constant;
          if (total <= max && total >= -max) return total;
        }
        return add(m, x, constant);
      };
    }
    return (f) => {
      const x = sa > 0 ? (f[sa] as Value) : a(f);
      const y = sb > 0 ? (f[sb] as Value) : b(f);
      if (typeof x === "number" && typeof y === "number") {
        const total = subtracts ? x - y : x + y;
        if (total <= max && total >= -max) return total;
      }
      return slow(m, x, y);
    };
  };

/** By name and number of arguments; `*` stands for any number. */
const inliners: Readonly<Record<string, Inliner>> = {
  "+ *": (e, args) => chainOf(e, args, add),
  "- *": (e, args) => chainOf(e, args, subtract),
  "+ 2": sum(false),
  "- 2": sum(true),
  "1+ 1": (e, [arg]) => sum(false)(e, [arg as Node, one]),
  "1- 1": (e, [arg]) => sum(true)(e, [arg as Node, one]),
  "* 2": product,
  "* *": (e, args) => chainOf(e, args, multiply),
  "MOD 2": (e, args) => remainderOf(e, args, modulo),
  "REM 2": (e, args) => remainderOf(e, args, remainder),
  "ABS 1": absoluteOf,
  "CAR 1": carOf,
  "FIRST 1": carOf,
  "CDR 1": cdrOf,
  "REST 1": cdrOf,
  "CONS 2": consOf,
  "IDENTITY 1": (e, [arg]) => e.run(arg as Node),
  "AREF 2": elementOf,
  "AREF 3": cellOf,
  "SVREF 2": elementOf,
  "ERROR *": signalOf,
};

/** A sum that is stored in a variable, as counters and totals of loops are; null for any other value. */
export function storedSum(e: Emitter, slot: number, value: Node): Run | null {
  if (value.kind !== "call-native") return null;
  const { m } = e;
  const { name } = value.fn.code;
  const operation = name instanceof Sym ? `${name.name} ${value.args.length}` : "";
  if (operation !== "1+ 1" && operation !== "+ 2") return null;
  const [left, right = one] = value.args as [Node, Node?];
  const [[sa, a], [sb, b]] = e.operands([left, right]);
  if (isSmall(right)) {
    const constant = right.value;
    return (f) => {
      const x = sa > 0 ? (f[sa] as Value) : a(f);
      if (typeof x === "number") {
        const total = x + constant;
        if (total <= max && total >= -max) {
          f[slot] = total;
          return total;
        }
      }
      const total = add(m, x, constant);
      f[slot] = total;
      return total;
    };
  }
  return (f) => {
    const x = sa > 0 ? (f[sa] as Value) : a(f);
    const y = sb > 0 ? (f[sb] as Value) : b(f);
    if (typeof x === "number" && typeof y === "number") {
      const total = x + y;
      if (total <= max && total >= -max) {
        f[slot] = total;
        return total;
      }
    }
    const total = add(m, x, y);
    f[slot] = total;
    return total;
  };
}

function product(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [left, right] = args as [Node, Node];
  if (isSmall(left) && !isSmall(right)) return product(e, [right, left]);
  const [[sa, a], [sb, b]] = e.operands(args);
  if (isSmall(right)) {
    const constant = right.value;
    return (f) => {
      const x = sa > 0 ? (f[sa] as Value) : a(f);
      if (typeof x === "number") {
        const total = x * constant;
        if (total <= max && total >= -max) return total + 0;
      }
      return multiply(m, x, constant);
    };
  }
  return (f) => {
    const x = sa > 0 ? (f[sa] as Value) : a(f);
    const y = sb > 0 ? (f[sb] as Value) : b(f);
    if (typeof x === "number" && typeof y === "number") {
      const total = x * y;
      // Adding zero turns -0 into 0.
      if (total <= max && total >= -max) return total + 0;
    }
    return multiply(m, x, y);
  };
}

/** For non-negative integers both equal the host's %. */
function remainderOf(e: Emitter, args: readonly Node[], slow: typeof modulo): Run {
  const { m } = e;
  const [[sa, a], [sb, b]] = e.operands(args);
  return (f) => {
    const x = sa > 0 ? (f[sa] as Value) : a(f);
    const y = sb > 0 ? (f[sb] as Value) : b(f);
    return typeof x === "number" && typeof y === "number" && x >= 0 && y > 0
      ? x % y
      : slow(m, x, y);
  };
}

function absoluteOf(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a]] = e.operands(args);
  return (f) => {
    const x = sa > 0 ? (f[sa] as Value) : a(f);
    return typeof x === "number" ? Math.abs(x) : magnitude(m, x);
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

function carOf(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a]] = e.operands(args);
  return (f) => {
    const value = sa > 0 ? (f[sa] as Value) : a(f);
    if (value instanceof Cons) return value.car;
    return value === NIL ? NIL : m.typeError(value, "LIST");
  };
}

function cdrOf(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a]] = e.operands(args);
  return (f) => {
    const value = sa > 0 ? (f[sa] as Value) : a(f);
    if (value instanceof Cons) return value.cdr;
    return value === NIL ? NIL : m.typeError(value, "LIST");
  };
}

function consOf(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a], [sb, b]] = e.operands(args);
  return (f) => {
    const car = sa > 0 ? (f[sa] as Value) : a(f);
    const cdr = sb > 0 ? (f[sb] as Value) : b(f);
    if (--m.cellsLeft < 0) exceed(m, "CELL");
    return new Cons(car, cdr);
  };
}

/** One subscript into a simple vector; other cases take the general path. */
function elementOf(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a], [sb, b]] = e.operands(args);
  return (f) => {
    const vector = sa > 0 ? (f[sa] as Value) : a(f);
    const index = sb > 0 ? (f[sb] as Value) : b(f);
    if (vector instanceof Vec && vector.dims === null && typeof index === "number") {
      const item = vector.items[index];
      if (item !== undefined) return item;
    }
    return slowElement.fn === null
      ? m.typeError(vector, "ARRAY")
      : m.call2(slowElement.fn, vector, index);
  };
}

/** Two subscripts into a matrix. */
function cellOf(e: Emitter, args: readonly Node[]): Run {
  const { m } = e;
  const [[sa, a], [sb, b], [sc, c]] = e.operands(args);
  return (f) => {
    const matrix = sa > 0 ? (f[sa] as Value) : a(f);
    const row = sb > 0 ? (f[sb] as Value) : b(f);
    const column = sc > 0 ? (f[sc] as Value) : c(f);
    if (matrix instanceof Vec && typeof row === "number" && typeof column === "number") {
      const { dims } = matrix;
      if (dims !== null && dims.length === 2) {
        const width = dims[1] as number;
        if (row >= 0 && row < (dims[0] as number) && column >= 0 && column < width)
          return matrix.items[row * width + column] as Value;
      }
    }
    return slowElement.fn === null
      ? m.typeError(matrix, "ARRAY")
      : m.call3(slowElement.fn, matrix, row, column);
  };
}

/** Throws here, not in a function below: each frame that a throw passes takes time. */
function signalOf(e: Emitter, args: readonly Node[]): Run | null {
  if (args.length === 0) return null;
  const { m } = e;
  const [datum, ...rest] = args.map((arg) => e.run(arg)) as [Run, ...Run[]];
  return (f) => {
    const first = datum(f);
    const given = rest.map((run) => run(f));
    throw m.exitOf(designated(m, first, given, "SIMPLE-ERROR"));
  };
}
