// Conditionals, loops and other common macros. Variables with % cannot clash with those of programs.

import { trace } from "../budgets.ts";
import {
  defineFunction,
  defineMacro,
  defineValues,
  form,
  fresh,
  lisp,
  type Template,
} from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { expandOnce } from "../places.ts";
import { offering } from "../restarts.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Cons, itemsOf, listOf, type Opaque, type Value } from "../values.ts";

const operands = (whole: Cons): Value[] => itemsOf(whole.cdr);

export function defineMacros(): void {
  for (const name of ["WHEN", "UNLESS"])
    defineMacro(name, (whole, _, m) => {
      const [test, ...body] = operands(whole);
      if (test === undefined) return m.programError(`${m.show(whole.car)} needs a test`);
      return name === "WHEN"
        ? lisp`(if ${test} ${progn(body)} nil)`
        : lisp`(if ${test} nil ${progn(body)})`;
    });
  defineMacro("AND", (whole) => {
    const items = operands(whole);
    const last = items.pop() ?? T;
    return items.reduceRight((rest, item) => lisp`(if ${item} ${rest} nil)`, last);
  });
  // The compiler knows these three; the macros are for programs that expand forms themselves.
  defineMacro("OR", (whole) => {
    const [first, ...rest] = operands(whole);
    if (rest.length === 0) return first ?? NIL;
    return lisp`(let ((%value ${first})) (if %value %value (or @${rest})))`;
  });
  defineMacro("MULTIPLE-VALUE-LIST", (whole) => {
    return lisp`(multiple-value-call #'list @${operands(whole)})`;
  });
  defineMacro("MULTIPLE-VALUE-BIND", (whole) => {
    const [variables, values, ...body] = operands(whole);
    const optional = itemsOf(variables ?? NIL);
    return lisp`(multiple-value-call
      (lambda (&optional @${optional} &rest %rest) (declare (ignore %rest)) @${body}) ${values})`;
  });
  defineMacro("COND", expandCond);
  defineMacro("RETURN", (whole) => lisp`(return-from nil @${operands(whole)})`);
  defineMacro("PROG1", (whole) => {
    const [first, ...rest] = operands(whole);
    return lisp`(let ((%value ${first})) @${rest} %value)`;
  });
  defineMacro("PROG2", (whole) => {
    const [first, ...rest] = operands(whole);
    return lisp`(progn ${first} (prog1 @${rest}))`;
  });
  defineMacro("DO", (whole, _, m) => expandDo(m, whole, "LET", "PSETQ"));
  defineMacro("DO*", (whole, _, m) => expandDo(m, whole, "LET*", "SETQ"));
  defineMacro("DOLIST", (whole, _, m) => {
    const { variable, over, result, declarations, rest } = iteration(m, whole);
    const answer =
      result === undefined
        ? NIL
        : lisp`(let ((${variable} nil)) @${declarations} ${variable} ${result})`;
    return lisp`(block nil
      (let ((%at ${over}))
        (tagbody %top
          (if (endp %at) (go %done) nil)
          (let ((${variable} (car %at))) @${declarations} (tagbody @${rest}))
          (setq %at (cdr %at))
          (go %top)
          %done)
        ${answer}))`;
  });
  defineMacro("DOTIMES", (whole, _, m) => {
    const { variable, over, result, declarations, rest } = iteration(m, whole);
    return lisp`(block nil
      (let ((%limit ${over}) (${variable} 0))
        @${declarations}
        (tagbody %top
          (if (>= ${variable} %limit) (go %done) nil)
          (tagbody @${rest})
          (setq ${variable} (1+ ${variable}))
          (go %top)
          %done)
        ${result}))`;
  });
  defineMacro("PSETQ", expandPsetq);
  defineMacro("NTH-VALUE", (whole) => {
    const [index, values] = operands(whole);
    return lisp`(nth ${index} (multiple-value-list ${values}))`;
  });
  defineMacro("TIME", (whole) => lisp`(%time (lambda () @${operands(whole)}))`);
  defineValues("%TIME thunk", (m, body: Fn) => {
    const [began, steps] = [m.host.timer(), m.stepsUsed()];
    const value = m.call0(body);
    const { mv } = m;
    const took = `${(m.host.timer() - began).toFixed(1)} ms and ${m.stepsUsed() - steps} steps`;
    trace(m, `Evaluation took ${took}.\n`);
    m.mv = mv;
    return value;
  });
}

export const progn = (body: readonly Value[]): Value =>
  body.length === 1 ? (body[0] as Value) : lisp`(progn @${body})`;

function expandCond(whole: Cons, _: Opaque, m: Machine): Value {
  return operands(whole).reduceRight((rest, clause) => {
    if (!(clause instanceof Cons))
      return m.programError(`${m.show(clause)} is not a clause of cond`);
    const body = itemsOf(clause.cdr);
    if (body.length === 0) return lisp`(or ${clause.car} ${rest})`;
    return clause.car === T ? progn(body) : lisp`(if ${clause.car} ${progn(body)} ${rest})`;
  }, NIL);
}

export function declarationsOf(body: readonly Value[]): { declarations: Value[]; rest: Value[] } {
  const isDeclaration = (item: Value): boolean =>
    item instanceof Cons && item.car instanceof Sym && item.car.name === "DECLARE";
  const until = body.findIndex((item) => !isDeclaration(item));
  const at = until < 0 ? body.length : until;
  return { declarations: body.slice(0, at), rest: body.slice(at) };
}

function expandDo(m: Machine, whole: Cons, binder: string, setter: string): Value {
  const [variables, end, ...body] = operands(whole);
  if (variables === undefined || !(end instanceof Cons))
    return m.programError(`${m.show(whole.car)} needs variables and (end-test result …)`);
  const { declarations, rest } = declarationsOf(body);
  const specs = itemsOf(variables).map((spec) => (spec instanceof Cons ? itemsOf(spec) : [spec]));
  const bindings = specs.map(([name, init]) => lisp`(${name} ${init})`);
  const steps = specs.flatMap(([name, , step]) =>
    step === undefined ? [] : [name as Value, step],
  );
  const next = steps.length === 0 ? [] : [[setter, ...steps]];
  return lisp`(block nil
    (${binder} ${bindings}
      @${declarations}
      (tagbody %top (if ${end.car} (go %done) nil) (tagbody @${rest}) @${next} (go %top) %done)
      (progn @${itemsOf(end.cdr)})))`;
}

/** The parts of `(dolist (variable list result) body)`. */
function iteration(m: Machine, whole: Cons) {
  const [spec = NIL, ...body] = operands(whole);
  const [variable, over, result] = itemsOf(spec);
  if (variable === undefined || over === undefined)
    return m.programError(
      `${m.show(whole.car)} needs (variable ${whole.car === form("DOLIST") ? "list" : "count"})`,
    );
  return { variable, over, result, ...declarationsOf(body) };
}

function expandPsetq(whole: Cons, env: Opaque, m: Machine): Value {
  const items = operands(whole);
  // The parts of symbol macros are evaluated in order, too.
  if (items.some((item, at) => at % 2 === 0 && expandOnce(m, item, env) !== undefined))
    return lisp`(psetf @${items})`;
  if (items.length % 2 === 1) return m.programError("psetq takes names and values in pairs");
  if (items.length === 2) return lisp`(progn (setq @${items}) nil)`;
  const names = items.filter((_, index) => index % 2 === 0);
  const held = names.map(() => fresh("NEW"));
  const bindings = held.map((name, index) => [name, items[2 * index + 1] as Value]);
  const sets = names.flatMap((name, index) => [name, held[index] as Value]);
  return lisp`(let ${bindings} (setq @${sets}) nil)`;
}

// case and typecase with their e- and c- variants.

export function defineCases(): void {
  for (const prefix of ["", "E", "C"]) {
    defineMacro(`${prefix}CASE`, (whole, _, m) => expandCase(m, whole, prefix, false));
    defineMacro(`${prefix}TYPECASE`, (whole, _, m) => expandCase(m, whole, prefix, true));
  }
  defineFunction("%CASE-FAILED name datum expected possibilities", (m, ...args) => {
    const [name, datum, expected, possibilities] = args;
    const slots = { NAME: name, DATUM: datum, POSSIBILITIES: possibilities };
    return m.error("%CASE-FAILURE", { ...slots, "EXPECTED-TYPE": expected });
  });
  defineFunction("%WITH-STORE-VALUE signaller", (m, signaller: Fn) =>
    offering(m, "STORE-VALUE", "Supply a new value.", () => m.call0(signaller)),
  );
}

const isOtherwise = (keys: Value): boolean =>
  keys === T ||
  (keys instanceof Sym && keys.name === "OTHERWISE" && keys.pkg?.name === "COMMON-LISP");

function expandCase(m: Machine, whole: Cons, prefix: string, isTypecase: boolean): Value {
  const [key = NIL, ...items] = operands(whole);
  const clauses = items.map((item) =>
    item instanceof Cons
      ? { keys: item.car, body: item.cdr === NIL ? [NIL] : itemsOf(item.cdr) }
      : m.programError(`${m.show(item)} is not a clause`),
  );
  const wanted = clauses.flatMap(({ keys }) => {
    if (isTypecase) return [keys];
    return keys instanceof Cons || keys === NIL ? itemsOf(keys) : [keys];
  });
  const expected: Template = [isTypecase ? "OR" : "MEMBER", ...wanted];
  const signal = lisp`(%case-failed '${whole.car} %key '${expected} '${listOf(wanted)})`;
  const correct = lisp`(progn (setf ${key} (%with-store-value (lambda () ${signal}))) (go %again))`;
  const failures: Readonly<Record<string, Value>> = { "": NIL, E: signal, C: correct };
  const chosen = clauses.reduceRight((rest, { keys, body }, index) => {
    const isLast = isTypecase || index === clauses.length - 1;
    if (prefix === "" && isOtherwise(keys) && isLast) return progn(body);
    const test = isTypecase ? lisp`(typep %key '${keys})` : keyTest(keys);
    return lisp`(if ${test} ${progn(body)} ${rest})`;
  }, failures[prefix] as Value);
  if (prefix !== "C") return lisp`(let ((%key ${key})) ${chosen})`;
  return lisp`(block %answer (tagbody %again (let ((%key ${key})) (return-from %answer ${chosen}))))`;
}

function keyTest(keys: Value): Value {
  if (keys === NIL) return NIL;
  if (!(keys instanceof Cons)) return lisp`(eql %key '${keys})`;
  return lisp`(or @${itemsOf(keys).map((key) => lisp`(eql %key '${key})`)})`;
}
