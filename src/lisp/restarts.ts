// Restarts, innermost first, and non-local exits.
import { makeCondition } from "./conditions.ts";
import { named } from "./define.ts";
import type { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { setFunction, setGlobal } from "./packages.ts";
import { NIL, type Sym } from "./symbol.ts";
import { type Instance, listOf, Opaque, type Value } from "./values.ts";

export interface Restart {
  readonly name: Sym;
  readonly outer: Restart | null;
  /** Runs at the point of invocation; most transfer control to where the restart was established. */
  readonly invoke: (m: Machine, args: Value[]) => Value;
  readonly report: ((m: Machine) => string) | null;
  /** Supplies the arguments for `invoke-restart-interactively`. */
  readonly interactive: ((m: Machine) => Value[]) | null;
  /** True if it applies to a condition. */
  readonly test: ((m: Machine, condition: Instance | null) => boolean) | null;
  /** The associated conditions; empty means any. */
  readonly conditions: Instance[];
  readonly handle: Opaque;
}

export type RestartSpec = Pick<Restart, "name" | "invoke"> &
  Partial<Pick<Restart, "report" | "interactive" | "test">>;

/** Runs `body` with additional restarts; the first is the innermost. */
export function withRestarts<Result>(
  m: Machine,
  specs: readonly RestartSpec[],
  body: () => Result,
): Result {
  const outside = m.restarts;
  let inner = outside;
  for (const spec of [...specs].reverse()) inner = makeRestart(spec, inner);
  m.restarts = inner;
  try {
    return body();
  } finally {
    m.restarts = outside;
  }
}

function makeRestart(spec: RestartSpec, outer: Restart | null): Restart {
  const content: { restart: Restart | null } = { restart: null };
  const made: Restart = {
    name: spec.name,
    invoke: spec.invoke,
    outer,
    report: spec.report ?? null,
    interactive: spec.interactive ?? null,
    test: spec.test ?? null,
    conditions: [],
    handle: new Opaque("RESTART", content, (m) => spec.report?.(m) ?? spec.name.name),
  };
  content.restart = made;
  return made;
}

/** The active restarts for a condition (or for any), innermost first. */
export function activeRestarts(m: Machine, condition: Instance | null): Restart[] {
  const found: Restart[] = [];
  for (let at = m.restarts; at !== null; at = at.outer) {
    const associated =
      at.conditions.length === 0 || condition === null || at.conditions.includes(condition);
    if (associated && (at.test === null || at.test(m, condition))) found.push(at);
  }
  return found;
}

/** By name, or by the object from `compute-restarts`. */
export function findRestart(
  m: Machine,
  designator: Value,
  condition: Instance | null,
): Restart | undefined {
  return activeRestarts(m, condition).find(
    (restart) => restart.name === designator || restart.handle === designator,
  );
}

/** Signals UNBOUND-VARIABLE or UNDEFINED-FUNCTION with restarts to use or store a value; returns that value. */
function askForValue(
  m: Machine,
  className: "UNBOUND-VARIABLE" | "UNDEFINED-FUNCTION",
  name: Value,
): Value {
  const isVariable = className === "UNBOUND-VARIABLE";
  const sym = name as Sym;
  const again = (): Value => (isVariable ? sym.value : sym.fn) ?? askForValue(m, className, name);
  const store = (value: Value): Value => {
    if (isVariable) setGlobal(m, sym, value);
    else setFunction(m, name, m.fn(value));
    return value;
  };
  return transferOut(m, (leave) => {
    const restart = (
      title: string,
      report: () => string,
      choose: (value: Value) => Value,
    ): RestartSpec => ({
      name: named(title),
      report,
      invoke: (_, args) => leave(choose(args[0] ?? NIL)),
    });
    const specs = [
      restart("CONTINUE", () => `Try ${m.show(name)} again.`, again),
      restart(
        "USE-VALUE",
        () => `Use a value instead of ${m.show(name)}.`,
        (value) => value,
      ),
      restart("STORE-VALUE", () => `Give ${m.show(name)} a value and use it.`, store),
    ];
    return withRestarts(m, specs, () => m.raise(makeCondition(className, { NAME: name })));
  });
}

/** The function that a restart supplies for an undefined one. */
export function undefinedFunction(m: Machine, name: Value): Fn {
  return m.fn(askForValue(m, "UNDEFINED-FUNCTION", name));
}

export function undefinedSetter(m: Machine, sym: Sym): Fn {
  return undefinedFunction(m, listOf([named("SETF"), sym]));
}

export function unboundVariable(m: Machine, name: Sym): Value {
  return askForValue(m, "UNBOUND-VARIABLE", name);
}

// Non-local exits: a transfer is thrown at the point of exit and caught at its target, which first restores
// the machine's dynamic state.

/** Not an Error, because capturing a stack trace is expensive. */
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

/** Runs `body`; a call of `leave(value)` inside it, however deep, returns `value`. */
export function transferOut(m: Machine, body: (leave: (value: Value) => never) => Value): Value {
  const target = {};
  return catching(m, target, () =>
    body((value) => {
      throw new Transfer(target, value, m.mv);
    }),
  );
}

/** Runs `body` with a restart that returns its argument from here, or NIL. */
export function offering(m: Machine, name: string, report: string, body: () => Value): Value {
  return transferOut(m, (leave) => {
    const invoke = (_: Machine, args: Value[]) => leave(args[0] ?? NIL);
    return withRestarts(m, [{ name: named(name), report: () => report, invoke }], body);
  });
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

/** The state that an exit restores. Absolute, so that repeating it is harmless. */
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
  // Setting the length is slow, even to what it is.
  if (m.catchTags.length > state.catchTags) m.catchTags.length = state.catchTags;
}
