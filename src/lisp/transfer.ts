// Leaving early through other calls: a transfer is thrown at the point of exit and caught where it was aimed at, which first puts
// the machine's dynamic state back.
import type { Machine } from "./machine.ts";
import type { Value } from "./values.ts";

/** Not an Error: nobody wants its stack, and making one is dear. */
export class Transfer {
  readonly target: object;
  readonly value: Value;
  readonly mv: Value[] | null;
  constructor(target: object, value: Value, mv: Value[] | null) {
    this.target = target;
    this.value = value;
    this.mv = mv;
  }
}

/** Runs `body`; `leave(value)` inside it, however deep, makes `value` the answer. */
export function transferOut(m: Machine, body: (leave: (value: Value) => never) => Value): Value {
  const target = {};
  return catching(m, target, () =>
    body((value) => {
      throw new Transfer(target, value, m.mv);
    }),
  );
}

export function catching(m: Machine, target: object, body: () => Value): Value {
  const state = dynamicState(m);
  try {
    return body();
  } catch (thrown) {
    restoreState(m, state);
    if (!(thrown instanceof Transfer) || thrown.target !== target) throw thrown;
    m.mv = thrown.mv;
    return thrown.value;
  }
}

/** What an exit has to put back. Absolute, so that repeating it is harmless. */
export interface DynamicState {
  readonly depth: number;
  readonly handlers: Machine["handlers"];
  readonly restarts: Machine["restarts"];
  readonly bindings: number;
  readonly catchTags: number;
}

export function dynamicState(m: Machine): DynamicState {
  return {
    depth: m.depth,
    handlers: m.handlers,
    restarts: m.restarts,
    bindings: m.bindings.length,
    catchTags: m.catchTags.length,
  };
}

export function restoreState(m: Machine, state: DynamicState): void {
  m.depth = state.depth;
  m.handlers = state.handlers;
  m.restarts = state.restarts;
  if (m.bindings.length > state.bindings) m.unbindTo(state.bindings);
  m.catchTags.length = state.catchTags;
}
