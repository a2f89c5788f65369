// pmap and in-parallel. While a branch waits for the host, the next branches start on top of it on the same
// stack, so the first host calls of all branches wait at the same time. Only the innermost branch can continue;
// each outer one continues when those above it have ended.
import { asCondition } from "../budgets.ts";
import { defineFunction, defineMacro, form } from "../define.ts";
import type { Fn, Pending } from "../function.ts";
import type { Machine } from "../machine.ts";
import { type DynamicState, dynamicState, restoreState } from "../restarts.ts";
import { elements } from "../sequences.ts";
import { NIL, type Sym } from "../symbol.ts";
import { itemsOf, type Value } from "../values.ts";

export function defineParallel(): void {
  defineFunction(
    "GUILDHALL:PMAP function list &rest more-lists",
    pmap,
    "Like mapcar, but up to 8 tool calls wait at the same time: the first call of each branch; later calls of a branch take turns. Takes lists and vectors; answers a list.",
  );
  defineFunction("%IN-PARALLEL &rest thunks", (m, thunks) =>
    runAll(
      m,
      (thunks as Fn[]).map((thunk) => () => m.call0(thunk)),
    ),
  );
  defineMacro(
    "GUILDHALL:IN-PARALLEL",
    (whole) => form(["%IN-PARALLEL", ...itemsOf(whole.cdr).map((one) => ["LAMBDA", [], one])]),
    "Evaluates the forms with their first tool calls side by side; answers the list of their values.",
  );
}

function pmap(m: Machine, designator: Value, first: Value, more: Value[]): Value {
  const fn = m.fn(designator);
  const columns = [first, ...more].map((sequence) => elements(m, sequence));
  const count = Math.min(...columns.map((column) => column.length));
  m.alloc(count * 4);
  const branches = Array.from({ length: count }, (_, at) => {
    const args = columns.map((column) => column[at] ?? NIL);
    return () => m.apply(fn, args);
  });
  return runAll(m, branches);
}

type Branch = () => Value;

const together = 8;

/** The first value of each branch, in order. A throw in one branch unwinds the waiting ones below it. */
function runAll(m: Machine, branches: readonly Branch[]): Value {
  const outside = m.crew;
  const crew = new Crew(m, branches);
  m.crew = crew;
  try {
    return m.list(crew.run());
  } finally {
    m.crew = outside;
  }
}

class Crew {
  readonly #m: Machine;
  readonly #branches: readonly Branch[];
  /** The dynamic state in which every branch starts. */
  readonly #base: DynamicState;
  readonly #results: Value[];
  #next = 0;
  #active = 0;

  constructor(m: Machine, branches: readonly Branch[]) {
    this.#m = m;
    this.#branches = branches;
    this.#base = dynamicState(m);
    this.#results = new Array(branches.length);
  }

  run(): readonly Value[] {
    while (this.#next < this.#branches.length) this.#start();
    return this.#results;
  }

  /** Starts further branches on top of the one that waits, with the dynamic state of their own start. */
  workWhile(pending: Pending): void {
    const m = this.#m;
    if (!this.#canStart(pending)) return;
    const { depth, handlers, restarts } = m;
    const bindings = takeBindings(m, this.#base.bindings);
    const catchTags = m.catchTags.splice(this.#base.catchTags);
    try {
      while (this.#canStart(pending)) {
        restoreState(m, { ...this.#base, depth });
        this.#start();
      }
    } finally {
      restoreState(m, { ...this.#base, depth, handlers, restarts });
      for (const { sym, value } of bindings) m.bind(sym, value);
      m.catchTags.push(...catchTags);
    }
  }

  #canStart(pending: Pending): boolean {
    return !pending.done && this.#next < this.#branches.length && this.#active < together;
  }

  #start(): void {
    const index = this.#next++;
    const { depth } = this.#m;
    this.#active++;
    try {
      this.#results[index] = (this.#branches[index] as Branch)();
    } catch (thrown) {
      if (!(thrown instanceof Error)) throw thrown;
      // A stack overflow is a condition here, because the handlers below belong to other branches.
      restoreState(this.#m, { ...this.#base, depth });
      asCondition(this.#m, thrown);
    } finally {
      this.#active--;
    }
  }
}

/** Undoes the bindings above a mark; what they were is returned, the oldest first. */
function takeBindings(m: Machine, mark: number): { sym: Sym; value: Value | undefined }[] {
  const taken: { sym: Sym; value: Value | undefined }[] = [];
  while (m.bindings.length > mark) {
    const sym = m.bindings.at(-2) as Sym;
    taken.unshift({ sym, value: sym.value });
    m.unbindTo(m.bindings.length - 2);
  }
  return taken;
}
