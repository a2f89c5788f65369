// restart-case, restart-bind, and finding and invoking restarts.
import { findSpecial } from "../compile/nodes.ts";
import { isCondition, makeCondition } from "../conditions.ts";
import { defineFunction, defineMacro, defineValues, lisp, named } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { expandOnce } from "../places.ts";
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
import { keyword, NIL, Sym } from "../symbol.ts";
import { Cons, gatheringStream, type Instance, itemsOf, Opaque, type Value } from "../values.ts";

export function defineRestarting(): void {
  defineMacro("RESTART-CASE", expandRestartCase);
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
  for (const name of ["ABORT", "MUFFLE-WARNING"])
    defineValues(`${name} &optional condition`, (m, condition) =>
      invokeNamed(m, name, [], condition, true),
    );
  defineValues("CONTINUE &optional condition", (m, condition) =>
    invokeNamed(m, "CONTINUE", [], condition, false),
  );
  for (const name of ["USE-VALUE", "STORE-VALUE"])
    defineValues(`${name} value &optional condition`, (m, value, condition) =>
      invokeNamed(m, name, [value], condition, false),
    );
}

const options = new Map([
  [keyword("REPORT"), "report"],
  [keyword("INTERACTIVE"), "interactive"],
  [keyword("TEST"), "test"],
] as const);

function expandRestartCase(whole: Cons, env: Opaque, m: Machine): Value {
  const [first = NIL, ...clauses] = itemsOf(whole.cdr);
  const expression = associated(expandAll(m, first, env), clauses.length);
  const specs = clauses.map((clause) => {
    const [name, lambdaList = NIL, ...rest] = itemsOf(clause);
    if (!(name instanceof Sym))
      return m.programError(`${m.show(clause)} is not a clause of restart-case`);
    const given = { report: NIL as Value, interactive: NIL as Value, test: NIL as Value };
    while (rest[0] instanceof Sym && options.has(rest[0]) && rest.length > 1) {
      const option = options.get(rest.shift() as Sym) as keyof typeof given;
      given[option] = rest.shift() as Value;
    }
    const [report, interactive, test] = [given.report, given.interactive, given.test].map(
      designator,
    );
    return lisp`(list '${name} (lambda ${lambdaList} @${rest}) ${report} ${interactive} ${test})`;
  });
  return lisp`(%restart-case (list @${specs}) (lambda () ${expression}))`;
}

function expandAll(m: Machine, expression: Value, env: Opaque): Value {
  if (expression instanceof Cons && findSpecial(expression.car as Sym)) return expression;
  const expanded = expandOnce(m, expression, env);
  return expanded === undefined ? expression : expandAll(m, expanded, env);
}

const signallers = new Map([
  [named("SIGNAL"), "SIMPLE-CONDITION"],
  [named("ERROR"), "SIMPLE-ERROR"],
  [named("CERROR"), "SIMPLE-ERROR"],
  [named("WARN"), "SIMPLE-WARNING"],
]);

/** An expression that only signals: its condition gets the restarts, so that others do not use them. */
function associated(expression: Value, count: number): Value {
  const [operator, ...args] = expression instanceof Cons ? itemsOf(expression) : [];
  const simple = signallers.get(operator as Sym);
  if (operator === undefined || simple === undefined) return expression;
  const isCerror = operator === named("CERROR");
  const [datum = NIL, ...more] = isCerror ? args.slice(1) : args;
  const signal = isCerror
    ? lisp`(cerror %control %condition @${more})`
    : lisp`(${operator} %condition)`;
  return lisp`(let* ((%control ${isCerror ? args[0] : NIL})
                     (%condition (%condition '${simple} ${datum} @${more})))
    (%associate ${count} %condition (lambda () ${signal})))`;
}

/** A string, or a function. */
function designator(value: Value): Value {
  return value === NIL || value instanceof Str ? value : lisp`#'${value}`;
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

function invokeNamed(
  m: Machine,
  name: string,
  args: Value[],
  condition: Value | undefined,
  must: boolean,
): Value {
  const restart = findRestart(m, named(name), conditionIn(condition));
  if (restart !== undefined) return restart.invoke(m, args);
  return must ? invoke(m, named(name), args) : m.values(NIL);
}
