// handler-bind, handler-case, ignore-errors, and the report of an unhandled condition.
import { budgetTexts, Ended, exceed, safely } from "../budgets.ts";
import { classNamed, findClass, setSlots } from "../classes.ts";
import { type Handler, reportOf, Unhandled } from "../conditions.ts";
import {
  defineFunction,
  defineMacro,
  defineValues,
  form,
  lisp,
  named,
  type Template,
} from "../define.ts";
import { precedenceOf, registerClass } from "../forms/class-table.ts";
import { addReader, addWriter } from "../forms/defclass.ts";
import { Fn } from "../function.ts";
import { type Backtrace, dearSteps, type Machine } from "../machine.ts";
import { refuseLocked } from "../packages.ts";
import type { Position } from "../reader.ts";
import { dynamicState, restoreState, Transfer } from "../restarts.ts";
import { Str } from "../string.ts";
import { keyword, NIL, Sym, T } from "../symbol.ts";
import {
  Cons,
  type Instance,
  itemsOf,
  LispClass,
  list,
  listOf,
  type Opaque,
  type Slot,
  Stream,
  type Value,
} from "../values.ts";
import { thunk } from "./control.ts";

export function defineHandling(): void {
  defineValues("%HANDLER-BIND types functions thunk", handlerBind);
  defineValues("%HANDLER-CASE types functions thunk", handlerCase);
  defineMacro("HANDLER-BIND", (whole, _, m) => {
    const [bindings, ...body] = itemsOf(whole.cdr);
    const clauses = itemsOf(bindings ?? NIL).map((binding) => {
      const [type, fn] = itemsOf(binding);
      return type === undefined || fn === undefined
        ? m.programError(`${m.show(binding)} is not a handler binding`)
        : { type, fn };
    });
    const functions = clauses.map(({ fn }) => fn);
    return lisp`(%handler-bind '${types(clauses)} (list @${functions}) ${thunk(body)})`;
  });
  defineMacro("HANDLER-CASE", expandHandlerCase);
  defineMacro("IGNORE-ERRORS", (whole) => {
    const body = itemsOf(whole.cdr);
    return lisp`(handler-case (progn @${body}) (error (%condition) (values nil %condition)))`;
  });
}

const types = (clauses: readonly { readonly type: Value }[]): Value =>
  listOf(clauses.map(({ type }) => type));

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
  const functions = handling.map(({ lambdaList, body }) =>
    // A clause without a variable still gets the condition.
    lambdaList === NIL
      ? lisp`(lambda (%condition) (declare (ignore %condition)) @${body})`
      : lisp`(lambda ${lambdaList} @${body})`,
  );
  const around = (inner: Value): Value =>
    lisp`(%handler-case '${types(handling)} (list @${functions}) (lambda () ${inner}))`;
  if (noError === undefined) return around(expression);
  return lisp`(block %failed
    (multiple-value-call (lambda ${noError.lambdaList} @${noError.body})
      (block %fine
        (return-from %failed ${around(lisp`(return-from %fine ${expression})`)}))))`;
}

const ofType = (type: Value) => (m: Machine, condition: Value) =>
  m.services.typep(m, condition, type);

function handlersOf(m: Machine, specifiers: Value, functions: Value): Handler[] {
  const fns = itemsOf(functions).map((fn) => m.fn(fn));
  return itemsOf(specifiers).map((type, index) => ({
    matches: ofType(type),
    run: (inner, condition) => void inner.call1(fns[index] as Fn, condition),
  }));
}

function clausesOf(m: Machine, specifiers: Value, functions: Value): Clause[] {
  const fns = itemsOf(functions) as Fn[];
  return itemsOf(specifiers).map((type, index) => ({
    matches: ofType(type),
    run: (condition) => m.call1(fns[index] as Fn, condition),
  }));
}

function handlerBind(m: Machine, specifiers: Value, functions: Value, body: Fn): Value {
  return withHandlers(m, handlersOf(m, specifiers, functions), () => m.call0(body));
}

function handlerCase(m: Machine, specifiers: Value, functions: Value, body: Fn): Value {
  return handlingCases(m, clausesOf(m, specifiers, functions), () => m.call0(body));
}

// Runs work with handlers. Errors of the host, mostly stack overflows, become conditions here.

function withHandlers(m: Machine, handlers: readonly Handler[], body: () => Value): Value {
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

/** The first matching clause runs after the body was left. */
function handlingCases(m: Machine, clauses: readonly Clause[], body: () => Value): Value {
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

// Errors of the host as conditions: stack overflows, texts that are too long, and internal errors.

/** Signals the condition for an error of the host; rethrows anything else. */
export function asCondition(m: Machine, thrown: unknown): never {
  if (thrown instanceof Transfer || thrown instanceof Unhandled || thrown instanceof Ended)
    throw thrown;
  m.tick(dearSteps);
  if (thrown instanceof RangeError) exceed(m, isOverflow(thrown) ? "DEPTH" : "CELL");
  m.fail(`internal error: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}

function isHostTrouble(thrown: unknown): boolean {
  return thrown instanceof Error;
}

const isOverflow = (thrown: RangeError): boolean => thrown.message.includes("call stack");

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
    return {
      type: types[0] ?? "CONDITION",
      types,
      message: safely(() => reportOf(m, condition)),
      restarts,
      backtrace,
      value: condition,
    };
  }
  if (known instanceof Ended) {
    const type = known.kind === "INTERRUPT" ? "INTERRUPTED" : `${known.kind}-BUDGET-EXCEEDED`;
    return {
      type,
      types: [type, "BUDGET-EXCEEDED", "STORAGE-CONDITION", "SERIOUS-CONDITION", "CONDITION"],
      message: budgetTexts[known.kind],
      restarts: [],
      backtrace: [],
      value: null,
    };
  }
  throw known;
}
// define-condition.

export function defineConditionForms(): void {
  defineMacro("DEFINE-CONDITION", expand);
  defineFunction("%DEFINE-CONDITION name supers slots report initargs documentation", define);
  defineFunction(
    "GUILDHALL:CONDITION-REPORT condition",
    (m, condition) => m.string(reportOf(m, condition as Instance)),
    "What a condition says, as a string.",
  );
}

function expand(whole: Cons, _: Opaque, m: Machine): Value {
  const [name, supers = NIL, slots = NIL, ...options] = itemsOf(whole.cdr);
  if (!(name instanceof Sym)) return m.programError("define-condition needs a name");
  const option = (key: string): Value[] =>
    itemsOf(
      (options.find((one) => one instanceof Cons && one.car === keyword(key)) as Cons | undefined)
        ?.cdr ?? NIL,
    );
  const [report] = option("REPORT");
  const defaults = option("DEFAULT-INITARGS");
  const initargs = defaults.flatMap((item, index): Template[] =>
    index % 2 === 0
      ? [
          ["QUOTE", item],
          ["LAMBDA", [], defaults[index + 1] ?? NIL],
        ]
      : [],
  );
  return form([
    "%DEFINE-CONDITION",
    ["QUOTE", name],
    ["QUOTE", supers],
    ["LIST", ...itemsOf(slots).map(slotForm)],
    reportForm(report),
    ["LIST", ...initargs],
    option("DOCUMENTATION")[0] ?? "NIL",
  ]);
}

function reportForm(report: Value | undefined): Template {
  if (report === undefined) return "NIL";
  return report instanceof Str ? report : ["FUNCTION", report];
}

/** `(name initargs init-function readers writers)`. */
function slotForm(slot: Value): Template {
  const [name, ...options] = slot instanceof Cons ? itemsOf(slot) : [slot];
  const all = (...keys: string[]): Value[] =>
    options.flatMap((item, index) =>
      index % 2 === 1 && keys.some((key) => options[index - 1] === keyword(key)) ? [item] : [],
    );
  const [initform] = all("INITFORM");
  const writers = [
    ...all("WRITER"),
    ...all("ACCESSOR").map((accessor) => list(named("SETF"), accessor)),
  ];
  return [
    "LIST",
    ["QUOTE", name as Value],
    ["QUOTE", form(all("INITARG"))],
    initform === undefined ? "NIL" : ["LAMBDA", [], initform],
    ["QUOTE", form(all("READER", "ACCESSOR"))],
    ["QUOTE", form(writers)],
  ];
}

function define(
  m: Machine,
  name: Value,
  supers: Value,
  slots: Value,
  report: Value,
  initargs: Value,
  documentation: Value,
): Value {
  const sym = name as Sym;
  refuseLocked(m, sym, "define");
  const above = itemsOf(supers).map(
    (one) => findClass(m, one as Sym) ?? m.fail(`unknown condition ${m.show(one)}`),
  );
  const cls = new LispClass(
    sym,
    "condition",
    above.length === 0 ? [classNamed("CONDITION")] : above,
  );
  const precedence = precedenceOf(cls);
  if (precedence === undefined)
    return m.fail(`the supertypes of ${m.show(sym)} have an inconsistent order`);
  cls.precedence = precedence;
  setSlots(cls, itemsOf(slots).map(slotOf));
  cls.report = reporter(report);
  cls.defaultInitargs = [
    ...initargsOf(itemsOf(initargs)),
    ...above.flatMap((one) => one.defaultInitargs),
  ];
  cls.documentation = documentation instanceof Str ? documentation.toString() : null;
  registerClass(m, cls);
  for (const slot of itemsOf(slots)) {
    const [slotName, , , readers = NIL, writers = NIL] = itemsOf(slot);
    for (const reader of itemsOf(readers)) addReader(m, reader, sym, slotName as Sym);
    for (const writer of itemsOf(writers)) addWriter(m, writer, sym, slotName as Sym);
  }
  return sym;
}

function slotOf(slot: Value): Slot {
  const [name, initargs = NIL, init] = itemsOf(slot);
  return {
    name: name as Sym,
    initargs: itemsOf(initargs) as Sym[],
    init: init instanceof Fn ? (m) => m.call0(init) : null,
    shared: null,
    type: T,
    documentation: null,
    readOnly: false,
  };
}

function initargsOf(items: readonly Value[]): LispClass["defaultInitargs"] {
  return items.flatMap((item, index) =>
    index % 2 === 0 ? [{ key: item as Sym, init: (m) => m.call0(items[index + 1] as Fn) }] : [],
  );
}

function reporter(report: Value): LispClass["report"] {
  if (report instanceof Str) return () => report.toString();
  if (report === NIL) return null;
  return (m, condition) => {
    const stream = new Stream();
    let text = "";
    stream.sink = (more) => {
      text += more;
    };
    m.call2(m.fn(report), condition, stream);
    return text;
  };
}
