// handler-bind, handler-case, ignore-errors, and the report of an unhandled condition.

import type { Backtrace } from "../backtrace.ts";
import { asCondition, budgetTexts, Ended, isHostTrouble, safely } from "../budgets.ts";
import { classNamed, findClass, setSlots } from "../classes.ts";
import { type HandlerCluster, reportOf, Unhandled } from "../conditions.ts";
import { defineFunction, defineMacro, defineValues, lisp, named } from "../define.ts";
import { precedenceOf, registerClass } from "../forms/class-table.ts";
import { addAccessors, expandInitargs, expandSlot, initargsOf, slotOf } from "../forms/defclass.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { refuseLocked } from "../packages.ts";
import type { Position } from "../reader.ts";
import { dynamicState, restoreState } from "../restarts.ts";
import { Str } from "../string.ts";
import { isKeyword, NIL, Sym } from "../symbol.ts";
import {
  type Cons,
  gatheringStream,
  type Instance,
  itemsOf,
  LispClass,
  type Opaque,
  type Value,
} from "../values.ts";
import { thunk } from "./control.ts";

export function defineHandling(): void {
  defineValues("%HANDLER-BIND types functions thunk", handlerBind);
  defineMacro("HANDLER-BIND", (whole, _, m) => {
    const [bindings, ...body] = itemsOf(whole.cdr);
    const clauses = itemsOf(bindings ?? NIL).map((binding) => {
      const [type, fn] = itemsOf(binding);
      return type === undefined || fn === undefined
        ? m.programError(`${m.show(binding)} is not a handler binding`)
        : { type, fn };
    });
    const types = clauses.map(({ type }) => type);
    const functions = clauses.map(({ fn }) => fn);
    return lisp`(%handler-bind '${types} (list @${functions}) ${thunk(body)})`;
  });
  defineMacro("HANDLER-CASE", expandHandlerCase);
  defineMacro("IGNORE-ERRORS", (whole) => {
    const body = itemsOf(whole.cdr);
    return lisp`(handler-case (progn @${body}) (error (%condition) (values nil %condition)))`;
  });
}

function expandHandlerCase(whole: Cons, _: unknown, m: Machine): Value {
  const [expression = NIL, ...items] = itemsOf(whole.cdr);
  const clauses = items.map((item) => {
    const [type, lambdaList, ...body] = itemsOf(item);
    return type === undefined || lambdaList === undefined
      ? m.programError(`${m.show(item)} is not a clause of handler-case`)
      : { type, lambdaList, body };
  });
  const isNoError = ({ type }: { type: Value }): boolean =>
    type instanceof Sym && type.name === "NO-ERROR" && type.kind === "constant";
  const noError = clauses.find(isNoError);
  const handling = clauses.filter((clause) => !isNoError(clause));
  const forms = handling.map(({ type, lambdaList, body }) => {
    const bindings = itemsOf(lambdaList).map((name) => [name, "%CONDITION"]);
    return lisp`(${type} (let ${bindings} @${body}))`;
  });
  const around = (inner: Value): Value => lisp`(%handler-case %condition ${inner} @${forms})`;
  if (noError === undefined) return around(expression);
  return lisp`(block %failed
    (multiple-value-call (lambda ${noError.lambdaList} @${noError.body})
      (block %fine
        (return-from %failed ${around(lisp`(return-from %fine ${expression})`)}))))`;
}

function handlerBind(m: Machine, specifiers: Value, functions: Value, body: Fn): Value {
  const state = dynamicState(m);
  const types = itemsOf(specifiers);
  const fns = itemsOf(functions).map((fn) => m.fn(fn));
  const cluster: HandlerCluster = {
    outer: m.handlers,
    handle: (_, condition) => {
      for (const [at, type] of types.entries())
        if (m.services.typep(m, condition, type)) m.call1(fns[at] as Fn, condition);
      return null;
    },
  };
  m.handlers = cluster;
  try {
    return m.call0(body);
  } catch (thrown) {
    if (!isHostTrouble(thrown)) throw thrown;
    restoreState(m, state);
    m.handlers = cluster;
    return asCondition(m, thrown);
  } finally {
    m.handlers = state.handlers;
  }
}

export interface ConditionReport {
  /** `DIVISION-BY-ZERO` */
  readonly type: string;
  /** The type and its supertypes, without `T`. */
  readonly types: readonly string[];
  readonly message: string;
  readonly restarts: readonly string[];
  readonly backtrace: Backtrace;
  /** The start of the evaluated form; null if it could not be read. */
  readonly position: Position | null;
  /** Null if the grace of a budget was used up as well. */
  readonly value: Instance | null;
}

/** Reports the condition that ended an evaluation. */
export function reportCondition(m: Machine, thrown: unknown): Omit<ConditionReport, "position"> {
  let known = thrown;
  if (!(thrown instanceof Unhandled) && !(thrown instanceof Ended)) {
    try {
      asCondition(m, thrown);
    } catch (raised) {
      known = raised;
    }
  }
  if (known instanceof Unhandled) {
    const { condition, backtrace, restarts } = known;
    // Internal classes are reported as their standard superclass.
    const types = condition.cls.precedence
      .map((cls) => cls.name.name)
      .filter((name) => name !== "T" && !name.startsWith("%"));
    const [type = "CONDITION"] = types;
    return { type, types, message: messageOf(m, condition), restarts, backtrace, value: condition };
  }
  if (!(known instanceof Ended)) throw known;
  const type = known.kind === "INTERRUPT" ? "INTERRUPTED" : `${known.kind}-BUDGET-EXCEEDED`;
  const types = [type, "BUDGET-EXCEEDED", "STORAGE-CONDITION", "SERIOUS-CONDITION", "CONDITION"];
  const message = budgetTexts[known.kind];
  return { type, types, message, restarts: [], backtrace: [], value: null };
}

/** A value that contains itself is printed with labels. */
function messageOf(m: Machine, condition: Instance): string {
  const mark = m.bindings.length;
  const circle = named("*PRINT-CIRCLE*");
  if (circle.value === NIL) m.bind(circle, named("%CYCLES"));
  const text = safely(() => reportOf(m, condition));
  m.unbindTo(mark);
  return text;
}

// define-condition.

export function defineConditionForms(): void {
  defineMacro("DEFINE-CONDITION", expand);
  defineFunction(
    "%DEFINE-CONDITION name supers slots report initargs documentation",
    (m, name: Sym, supers, slots, report, initargs, documentation) => {
      refuseLocked(m, name, "define");
      const above = itemsOf(supers).map(
        (one) => findClass(m, one as Sym) ?? m.fail(`unknown condition ${m.show(one)}`),
      );
      const direct = above.length === 0 ? [classNamed("CONDITION")] : above;
      const cls = new LispClass(name, "condition", direct);
      cls.precedence =
        precedenceOf(cls) ?? m.fail(`the supertypes of ${m.show(name)} have an inconsistent order`);
      setSlots(cls, itemsOf(slots).map(itemsOf).map(slotOf));
      cls.report = reporter(report);
      cls.defaultInitargs = [
        ...initargsOf(initargs),
        ...above.flatMap((one) => one.defaultInitargs),
      ];
      cls.documentation = documentation instanceof Str ? documentation.toString() : null;
      registerClass(m, cls);
      addAccessors(m, name, slots);
      return name;
    },
  );
  defineFunction(
    "GUILDHALL:CONDITION-REPORT condition",
    (m, condition) => m.string(reportOf(m, condition as Instance)),
    "What a condition says, as a string.",
  );
}

function expand(whole: Cons, _: Opaque, m: Machine): Value {
  const [name, supers, slots = NIL, ...options] = itemsOf(whole.cdr);
  if (!(name instanceof Sym)) return m.programError("define-condition needs a name");
  const option = (key: string): Value[] =>
    itemsOf(
      (options.find((one) => isKeyword((one as Cons).car, key)) as Cons | undefined)?.cdr ?? NIL,
    );
  const [report = NIL] = option("REPORT");
  const reporting = report === NIL || report instanceof Str ? report : lisp`#'${report}`;
  const described = itemsOf(slots).map((slot) => expandSlot(m, slot));
  const defaults = expandInitargs(option("DEFAULT-INITARGS"));
  return lisp`(%define-condition '${name} '${supers} (list @${described}) ${reporting}
    (list @${defaults}) ${option("DOCUMENTATION")[0]})`;
}

function reporter(report: Value): LispClass["report"] {
  if (report instanceof Str) return () => report.toString();
  if (report === NIL) return null;
  return (m, condition) => {
    const stream = gatheringStream();
    m.call2(m.fn(report), condition, stream);
    return stream.gathered;
  };
}
