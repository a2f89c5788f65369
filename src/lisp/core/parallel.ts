// pmap and in-parallel: branches that wait at the same time.
import { type Stepping, stepCall } from "../compile/stepping.ts";
import { defineFunction, defineMacro, form, nativeFunction } from "../define.ts";
import type { Fn, Frame, Pending } from "../function.ts";
import type { Machine } from "../machine.ts";
import { elements } from "../sequences.ts";
import { NIL, type Sym } from "../symbol.ts";
import { itemsOf, type Value } from "../values.ts";

export function defineParallel(): void {
  defineFunction("GUILDHALL:PMAP", "function list &rest more-lists", pmap, {
    documentation:
      "Like mapcar, but up to 8 tool calls wait at the same time. Takes lists and vectors; answers a list.",
  });
  defineFunction("%IN-PARALLEL", "&rest thunks", (m, thunks: Value[]) =>
    m.list(runParallel(m, thunks as Fn[])),
  );
  defineMacro(
    "GUILDHALL:IN-PARALLEL",
    (whole) => form(["%IN-PARALLEL", ...itemsOf(whole.cdr).map((one) => ["LAMBDA", [], one])]),
    "Evaluates the forms with their tool calls side by side; answers the list of their values.",
  );
}

function pmap(m: Machine, designator: Value, first: Value, more: Value[]): Value {
  const fn = m.fn(designator);
  const columns = [first, ...more].map((sequence) => elements(m, sequence, undefined, undefined));
  const count = Math.min(...columns.map((column) => column.length));
  m.alloc(count * 4);
  const branches: Fn[] = [];
  for (let at = 0; at < count; at++) {
    const args = columns.map((column) => column[at] ?? NIL);
    branches.push(
      nativeFunction(fn.code.name, "", (inner) => inner.apply(fn, [...args]), {
        values: true,
        step: (inner) => stepCall(inner, fn, [...args]),
      }),
    );
  }
  return m.list(runParallel(m, branches));
}

// While one branch waits for a tool, the others run. There is one thread, so only the waiting is concurrent; each
// branch has its own dynamic bindings, handlers and restarts.

const together = 8;

/** The first value of each function, in order. A throw in one branch ends the others. */
function runParallel(m: Machine, functions: readonly Fn[]): Value[] {
  const base = baseOf(m);
  const results: Value[] = new Array(functions.length);
  const active: Branch[] = [];
  let next = 0;
  try {
    while (next < functions.length || active.length > 0) {
      while (active.length < together && next < functions.length)
        active.push(new Branch(m, base, functions[next] as Fn, next++));
      for (const branch of active.filter((one) => one.isReady))
        if (branch.resume(results)) active.splice(active.indexOf(branch), 1);
      waitForOne(m, active);
    }
  } finally {
    for (const branch of active) branch.cancel();
  }
  return results;
}

function waitForOne(m: Machine, active: readonly Branch[]): void {
  if (active.length === 0 || active.some((branch) => branch.isReady)) return;
  m.host.waitAny(active.map((branch) => branch.waitingFor as Pending));
  // Time passed without steps, so check the clock here.
  m.look();
}

/** The dynamic state at the start of every branch. */
interface Base {
  readonly depth: number;
  readonly handlers: Machine["handlers"];
  readonly restarts: Machine["restarts"];
  readonly bindings: number;
  readonly catchTags: number;
}

function baseOf(m: Machine): Base {
  return {
    depth: m.depth,
    handlers: m.handlers,
    restarts: m.restarts,
    bindings: m.bindings.length,
    catchTags: m.catchTags.length,
  };
}

class Branch {
  waitingFor: Pending | null = null;
  readonly #m: Machine;
  readonly #base: Base;
  readonly #index: number;
  readonly #steps: Stepping;
  // The branch's state above the base when it last stopped.
  #bindings: { readonly sym: Sym; readonly value: Value | undefined }[] = [];
  #catchTags: unknown[] = [];
  #frames: Frame[] = [];
  #depth: number;
  #handlers: Machine["handlers"];
  #restarts: Machine["restarts"];

  constructor(m: Machine, base: Base, fn: Fn, index: number) {
    this.#m = m;
    this.#base = base;
    this.#index = index;
    this.#steps = stepCall(m, fn, []);
    this.#depth = base.depth;
    this.#handlers = base.handlers;
    this.#restarts = base.restarts;
  }

  get isReady(): boolean {
    return this.waitingFor === null || this.waitingFor.done;
  }

  /** Runs until the branch waits or is done; true if done. */
  resume(results: Value[]): boolean {
    this.#install();
    try {
      const step = this.#steps.next();
      if (step.done) {
        results[this.#index] = step.value;
        this.waitingFor = null;
        return true;
      }
      this.waitingFor = step.value;
      return false;
    } finally {
      this.#remove();
    }
  }

  /** Runs its cleanup forms and cancels its call. */
  cancel(): void {
    if (this.waitingFor !== null && !this.waitingFor.done) this.waitingFor.cancel();
    this.#install();
    try {
      this.#steps.return(0);
    } finally {
      this.#remove();
    }
  }

  #install(): void {
    const m = this.#m;
    m.depth = this.#depth;
    m.handlers = this.#handlers;
    m.restarts = this.#restarts;
    for (const { sym, value } of this.#bindings) m.bind(sym, value);
    m.catchTags.push(...this.#catchTags);
    this.#frames.forEach((frame, index) => {
      m.stack[this.#base.depth + 1 + index] = frame;
    });
  }

  #remove(): void {
    const m = this.#m;
    const base = this.#base;
    this.#depth = m.depth;
    this.#handlers = m.handlers;
    this.#restarts = m.restarts;
    this.#frames = m.stack.slice(base.depth + 1, m.depth + 1);
    this.#catchTags = m.catchTags.splice(base.catchTags);
    this.#bindings = [];
    for (let at = m.bindings.length - 2; at >= base.bindings; at -= 2) {
      const sym = m.bindings[at] as Sym;
      this.#bindings.unshift({ sym, value: sym.value });
      sym.value = m.bindings[at + 1];
    }
    m.bindings.length = base.bindings;
    m.depth = base.depth;
    m.handlers = base.handlers;
    m.restarts = base.restarts;
  }
}
