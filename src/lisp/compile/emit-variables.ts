// Variables, closures and bindings.
import { Box, Fn, type Frame } from "../function.ts";
import { EXIT, NIL, Sym } from "../symbol.ts";
import type { Value } from "../values.ts";
import type { Emitter } from "./emit.ts";
import { storedSum } from "./inline.ts";
import {
  type Lambda,
  type Mode,
  type Node,
  type NodeOf,
  notTail,
  type Run,
  Variable,
} from "./nodes.ts";

/** The contents of the variable's slot: the value or its box. */
function readPlace(e: Emitter, variable: Variable): Run {
  const { slot } = variable;
  if (variable.owner === e.lambda) return (f) => f[slot] as Value;
  const index = e.lambda.captures.indexOf(variable);
  return (f) => (f[0] as Fn).env[index] as Value;
}

export function readVariable(e: Emitter, variable: Variable): Run {
  const { slot } = variable;
  const mine = variable.owner === e.lambda;
  const index = e.lambda.captures.indexOf(variable);
  if (!variable.boxed) return readPlace(e, variable);
  if (mine) return (f) => (f[slot] as unknown as Box).value;
  return (f) => ((f[0] as Fn).env[index] as unknown as Box).value;
}

/** The slot, if it holds the value itself. */
export function plainSlot(e: Emitter, node: Node): number | null {
  return node.kind === "local" && node.variable.owner === e.lambda && !node.variable.boxed
    ? node.variable.slot
    : null;
}

export function emitSetLocal(e: Emitter, node: NodeOf<"set-local">): Run {
  const { variable } = node;
  const { slot } = variable;
  const isPlain = variable.owner === e.lambda && !variable.boxed;
  const stored = isPlain ? storedSum(e, slot, node.value) : null;
  if (stored !== null) return stored;
  const run = e.run(node.value);
  if (isPlain) {
    return (f) => {
      const value = run(f);
      f[slot] = value;
      return value;
    };
  }
  const place = readPlace(e, variable);
  return (f) => {
    const value = run(f);
    (place(f) as unknown as Box).value = value;
    return value;
  };
}

/** Initialises a variable. */
export function bindVariable(variable: Variable): (f: Frame, value: Value) => void {
  const { slot } = variable;
  if (!variable.boxed) {
    return (f, value) => {
      f[slot] = value;
    };
  }
  return (f, value) => {
    f[slot] = new Box(value) as unknown as Value;
  };
}

export function emitLet(e: Emitter, node: NodeOf<"let">, mode: Mode): Run {
  const lexical = node.bindings.every(({ to }) => to instanceof Variable);
  if (!lexical) return emitSpecialLet(e, node, mode);
  const body = e.run(node.body, mode);
  const exits = node.bindings.some(({ init }) => e.exits(init));
  const plain = node.bindings.every(({ to }) => to instanceof Variable && !to.boxed);
  if (!exits && plain && node.bindings.length <= 2) return emitPlainLet(e, node, body);
  const binders = node.bindings.map(({ to, init }) => ({
    init: e.run(init),
    bind: bindVariable(to as Variable),
  }));
  return (f) => {
    for (const { init, bind } of binders) {
      const value = init(f);
      if (value === undefined) return EXIT;
      bind(f, value);
    }
    return body(f);
  };
}

function emitPlainLet(e: Emitter, { bindings }: NodeOf<"let">, body: Run): Run {
  const [first, second] = bindings.map(({ to, init }) => ({
    slot: (to as Variable).slot,
    init: e.run(init),
  }));
  const { slot: slotA, init: initA } = first as { slot: number; init: Run };
  if (second === undefined) {
    return (f) => {
      f[slotA] = initA(f);
      return body(f);
    };
  }
  const { slot: slotB, init: initB } = second;
  return (f) => {
    f[slotA] = initA(f);
    f[slotB] = initB(f);
    return body(f);
  };
}

function emitSpecialLet(e: Emitter, node: NodeOf<"let">, mode: Mode): Run {
  const { m } = e;
  const body = e.run(node.body, notTail(mode));
  const steps = node.bindings.map(({ to, init }) => ({
    init: e.run(init),
    sym: to instanceof Sym ? to : null,
    bind: to instanceof Variable ? bindVariable(to) : null,
  }));
  const { sequential } = node;
  return (f) => {
    const mark = m.bindings.length;
    try {
      const later: Value[] = [];
      for (const { init, sym, bind } of steps) {
        const value = init(f);
        if (value === undefined) return EXIT;
        if (bind !== null) bind(f, value);
        else if (sequential) m.bind(sym as Sym, value);
        else later.push(sym as Sym, value);
      }
      for (let at = 0; at < later.length; at += 2) m.bind(later[at] as Sym, later[at + 1]);
      return body(f);
    } finally {
      m.unbindTo(mark);
    }
  };
}

export function emitValuesLet(e: Emitter, node: NodeOf<"values-let">, mode: Mode): Run {
  const { m } = e;
  const special = node.variables.some((one) => one instanceof Sym);
  const form = e.run(node.form, "values");
  const body = e.run(node.body, special ? notTail(mode) : mode);
  const binders = node.variables.map((one) =>
    one instanceof Sym ? (_: Frame, value: Value) => m.bind(one, value) : bindVariable(one),
  );
  const bindAll = (f: Frame): void => {
    const first = form(f);
    const { mv } = m;
    for (let at = 0; at < binders.length; at++) {
      const single = at === 0 ? first : NIL;
      const value = mv === null ? single : (mv[at] ?? NIL);
      (binders[at] as (f: Frame, value: Value) => void)(f, value);
    }
  };
  if (!special) {
    return (f) => {
      bindAll(f);
      return body(f);
    };
  }
  return (f) => {
    const mark = m.bindings.length;
    try {
      bindAll(f);
      return body(f);
    } finally {
      m.unbindTo(mark);
    }
  };
}

export function emitLambda(e: Emitter, lambda: Lambda): Run {
  const { m } = e;
  const code = e.code(m, lambda);
  const captures = lambda.captures.map((variable) => readPlace(e, variable));
  if (captures.length === 0) {
    const fn = new Fn(code, []);
    return () => fn;
  }
  return (f) => {
    m.alloc(1 + captures.length);
    return new Fn(
      code,
      captures.map((read) => read(f)),
    );
  };
}

/** `flet` and `labels`: makes all functions before one captures another. */
export function emitLabels(e: Emitter, node: NodeOf<"labels">, mode: Mode): Run {
  const { m } = e;
  const functions = node.functions.map(({ variable, lambda }) => ({
    code: e.code(m, lambda),
    bind: bindVariable(variable),
    captures: lambda.captures.map((captured) => readPlace(e, captured)),
  }));
  const body = e.run(node.body, mode);
  return (f) => {
    const made = functions.map(({ code, bind }) => {
      const fn = new Fn(code, []);
      bind(f, fn);
      return fn;
    });
    functions.forEach(({ captures }, index) => {
      const { env } = made[index] as Fn;
      for (const read of captures) env.push(read(f));
    });
    return body(f);
  };
}
