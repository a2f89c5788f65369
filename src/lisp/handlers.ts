// Handlers around a piece of work. The host's own trouble (its stack, mostly) becomes a condition here, where handlers can see it.
import type { Handler } from "./conditions.ts";
import type { Machine } from "./machine.ts";
import { dynamicState, restoreState, Transfer } from "./transfer.ts";
import { asCondition, isHostTrouble } from "./trouble.ts";
import type { Instance, Value } from "./values.ts";

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

/** One clause of `handler-case`. */
export interface Clause {
  readonly matches: Handler["matches"];
  readonly run: (condition: Instance) => Value;
}

/** The first clause that takes a condition runs after everything inside was left. */
export function handlingCases(m: Machine, clauses: readonly Clause[], body: () => Value): Value {
  const target = {};
  const state = dynamicState(m);
  let chosen: Clause | null = null;
  let caught: Instance | null = null;
  const handlers = clauses.map(
    (clause): Handler => ({
      matches: clause.matches,
      run: (_, condition) => {
        chosen = clause;
        caught = condition;
        throw new Transfer(target, condition, null);
      },
    }),
  );
  try {
    return withHandlers(m, handlers, body);
  } catch (thrown) {
    if (!(thrown instanceof Transfer) || thrown.target !== target) throw thrown;
    restoreState(m, state);
  }
  return (chosen as unknown as Clause).run(caught as unknown as Instance);
}
