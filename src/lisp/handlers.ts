// Handlers around a piece of work. The host's own trouble (its stack, mostly) becomes a condition here, where handlers can see it.
import type { Stepping } from "./compile/stepping.ts";
import type { Handler } from "./conditions.ts";
import type { Machine } from "./machine.ts";
import type { Instance } from "./object.ts";
import { dynamicState, restoreState, Transfer } from "./transfer.ts";
import { asCondition, isHostTrouble } from "./trouble.ts";
import type { Value } from "./values.ts";

export function withHandlers(m: Machine, handlers: readonly Handler[], body: () => Value): Value {
  const state = dynamicState(m);
  const cluster = { handlers, outer: m.handlers };
  m.handlers = cluster;
  try {
    return body();
  } catch (thrown) {
    if (!isHostTrouble(thrown)) throw thrown;
    restoreState(m, state);
    m.handlers = cluster;
    return asCondition(m, thrown);
  } finally {
    m.handlers = state.handlers;
  }
}

/** The same for a branch that may wait inside. */
export function* stepWithHandlers(
  m: Machine,
  handlers: readonly Handler[],
  body: () => Stepping,
): Stepping {
  const state = dynamicState(m);
  const cluster = { handlers, outer: m.handlers };
  m.handlers = cluster;
  try {
    return yield* body();
  } catch (thrown) {
    if (!isHostTrouble(thrown)) throw thrown;
    restoreState(m, state);
    m.handlers = cluster;
    return asCondition(m, thrown);
  } finally {
    m.handlers = state.handlers;
  }
}

/** One clause of `handler-case`. */
export interface Clause {
  readonly matches: Handler["matches"];
  readonly run: (condition: Instance) => Value;
}

/** The first clause that takes a condition runs after everything inside was left. */
export function handlingCases(m: Machine, clauses: readonly Clause[], body: () => Value): Value {
  const target: Caught = { chosen: null };
  const state = dynamicState(m);
  try {
    return withHandlers(m, leaving(clauses, target), body);
  } catch (thrown) {
    if (!(thrown instanceof Transfer) || thrown.target !== target) throw thrown;
    restoreState(m, state);
    return (target.chosen as Clause).run(thrown.value as Instance);
  }
}

export function* stepHandlingCases(
  m: Machine,
  clauses: readonly Clause[],
  body: () => Stepping,
): Stepping {
  const target: Caught = { chosen: null };
  const state = dynamicState(m);
  try {
    return yield* stepWithHandlers(m, leaving(clauses, target), body);
  } catch (thrown) {
    if (!(thrown instanceof Transfer) || thrown.target !== target) throw thrown;
    restoreState(m, state);
    return (target.chosen as Clause).run(thrown.value as Instance);
  }
}

interface Caught {
  chosen: Clause | null;
}

function leaving(clauses: readonly Clause[], target: Caught): Handler[] {
  return clauses.map((clause) => ({
    matches: clause.matches,
    run: (_, condition) => {
      target.chosen = clause;
      throw new Transfer(target, condition, null);
    },
  }));
}
