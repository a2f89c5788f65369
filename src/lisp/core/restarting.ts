// restart-case, restart-bind, and finding and invoking restarts.
import { isCondition, makeCondition } from "../conditions.ts";
import { defineFunction, defineValues } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import {
  activeRestarts,
  dynamicState,
  findRestart,
  type Restart,
  type RestartSpec,
  restoreState,
  Transfer,
  withRestarts,
} from "../restarts.ts";
import { Str } from "../string.ts";
import { NIL, type Sym } from "../symbol.ts";
import { gatheringStream, type Instance, itemsOf, Opaque, type Value } from "../values.ts";

export function defineRestarting(): void {
  defineValues("%RESTART-CASE specs thunk", restartCase);
  defineValues("%RESTART-BIND specs thunk", restartBind);
  defineValues("%WITH-CONDITION-RESTARTS condition restarts thunk", withConditionRestarts);
  defineValues("%ASSOCIATE count condition thunk", (m, count: number, condition, body: Fn) => {
    const innermost: Restart[] = [];
    for (let at = m.restarts; at !== null && innermost.length < count; at = at.outer)
      innermost.push(at);
    return associate(m, innermost, condition, body);
  });
  defineFunction("COMPUTE-RESTARTS &optional condition", (m, condition) =>
    m.list(activeRestarts(m, conditionIn(condition)).map(({ handle }) => handle)),
  );
  defineFunction(
    "FIND-RESTART name &optional condition",
    (m, name, condition) => findRestart(m, name, conditionIn(condition))?.handle ?? NIL,
  );
  defineFunction("RESTART-NAME restart", (m, restart) => restartIn(m, restart).name);
  defineValues("INVOKE-RESTART restart &rest arguments", (m, restart, args) =>
    invoke(m, restart, args),
  );
  defineValues("INVOKE-RESTART-INTERACTIVELY restart", (m, restart) =>
    invoke(m, restart, found(m, restart).interactive?.(m) ?? []),
  );
}

function specOf(m: Machine, spec: Value, invokeIt: (fn: Fn, args: Value[]) => Value): RestartSpec {
  const [name, fn, report = NIL, interactive = NIL, test = NIL] = itemsOf(spec) as [
    Sym,
    Value,
    Value,
    Value,
    Value,
  ];
  const callee = m.fn(fn);
  return {
    name,
    invoke: (_, args) => invokeIt(callee, args),
    report:
      report === NIL
        ? null
        : (inner) => (report instanceof Str ? report.toString() : written(inner, report)),
    interactive:
      interactive === NIL ? null : (inner) => itemsOf(inner.call0(inner.fn(interactive))),
    test:
      test === NIL
        ? null
        : (inner, condition) => inner.call1(inner.fn(test), condition ?? NIL) !== NIL,
  };
}

function written(m: Machine, report: Value): string {
  const stream = gatheringStream();
  m.call1(m.fn(report), stream);
  return stream.gathered;
}

interface Invoked {
  fn: Fn | null;
  args: Value[];
}

/** Restarts that first exit to `target` and then run their function. */
function leavingRestarts(m: Machine, specs: Value, target: Invoked): RestartSpec[] {
  const leave = (fn: Fn, args: Value[]): never => {
    target.fn = fn;
    target.args = args;
    throw new Transfer(target, NIL, null);
  };
  return itemsOf(specs).map((spec) => specOf(m, spec, leave));
}

function restartCase(m: Machine, specs: Value, body: Fn): Value {
  const target: Invoked = { fn: null, args: [] };
  const state = dynamicState(m);
  try {
    return withRestarts(m, leavingRestarts(m, specs, target), () => m.call0(body));
  } catch (thrown) {
    if (!(thrown instanceof Transfer) || thrown.target !== target) throw thrown;
    restoreState(m, state);
    return m.apply(target.fn as Fn, target.args);
  }
}

function restartBind(m: Machine, specs: Value, body: Fn): Value {
  const restarts = itemsOf(specs).map((spec) => specOf(m, spec, (fn, args) => m.apply(fn, args)));
  return withRestarts(m, restarts, () => m.call0(body));
}

function withConditionRestarts(m: Machine, condition: Value, restarts: Value, body: Fn): Value {
  const all = itemsOf(restarts).map((restart) => restartIn(m, restart));
  return associate(m, all, condition, body);
}

function associate(m: Machine, restarts: readonly Restart[], condition: Value, body: Fn): Value {
  const associated = restarts.map(({ conditions }) => conditions);
  for (const conditions of associated) conditions.push(condition as Instance);
  try {
    return m.call0(body);
  } finally {
    for (const conditions of associated)
      conditions.splice(conditions.indexOf(condition as Instance), 1);
  }
}

const conditionIn = (value: Value | undefined): Instance | null =>
  value !== undefined && isCondition(value) ? value : null;

function restartIn(m: Machine, value: Value): Restart {
  if (value instanceof Opaque && value.label === "RESTART")
    return (value.content as { restart: Restart }).restart;
  return m.typeError(value, "RESTART");
}

function found(m: Machine, designated: Value): Restart {
  const restart = findRestart(m, designated, null);
  return (
    restart ??
    m.raise(
      makeCondition("CONTROL-ERROR", {
        TEXT: m.string(`no restart ${m.show(designated)} is active`),
      }),
    )
  );
}

function invoke(m: Machine, designated: Value, args: Value[]): Value {
  return found(m, designated).invoke(m, args);
}
