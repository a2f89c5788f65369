// handler-bind, handler-case, ignore-errors.
import { stepCall } from "../compile/stepping.ts";
import type { Handler } from "../conditions.ts";
import { defineFunction, defineMacro, form, type Template } from "../define.ts";
import type { Fn } from "../function.ts";
import {
  type Clause,
  handlingCases,
  stepHandlingCases,
  stepWithHandlers,
  withHandlers,
} from "../handlers.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym } from "../symbol.ts";
import { type Cons, itemsOf, type Value } from "../values.ts";
import { thunk } from "./control.ts";
import { fresh } from "./macros.ts";

export function defineHandling(): void {
  defineFunction("%HANDLER-BIND", "types functions thunk", handlerBind, {
    values: true,
    step: (m, [specifiers, functions, body]) =>
      stepWithHandlers(m, handlersOf(m, specifiers as Value, functions as Value), () =>
        stepCall(m, body as Fn, []),
      ),
  });
  defineFunction("%HANDLER-CASE", "types functions thunk", handlerCase, {
    values: true,
    step: (m, [specifiers, functions, body]) =>
      stepHandlingCases(m, clausesOf(m, specifiers as Value, functions as Value), () =>
        stepCall(m, body as Fn, []),
      ),
  });
  defineMacro("HANDLER-BIND", (whole, _, m) => {
    const [bindings, ...body] = itemsOf(whole.cdr);
    const clauses = itemsOf(bindings ?? NIL).map((binding) => {
      const [type, fn] = itemsOf(binding);
      return type === undefined || fn === undefined
        ? m.programError(`${m.show(binding)} is no handler binding`)
        : { type, fn };
    });
    return form([
      "%HANDLER-BIND",
      types(clauses),
      ["LIST", ...clauses.map(({ fn }) => fn)],
      thunk(body),
    ]);
  });
  defineMacro("HANDLER-CASE", expandHandlerCase);
  defineMacro("IGNORE-ERRORS", (whole) => {
    const condition = fresh("CONDITION");
    return form([
      "HANDLER-CASE",
      ["PROGN", ...itemsOf(whole.cdr)],
      ["ERROR", [condition], ["VALUES", "NIL", condition]],
    ]);
  });
}

const types = (clauses: readonly { readonly type: Value }[]): Template => [
  "QUOTE",
  form(clauses.map(({ type }) => type)),
];

function expandHandlerCase(whole: Cons, _: unknown, m: Machine): Value {
  const [expression, ...items] = itemsOf(whole.cdr);
  const clauses = items.map((item) => {
    const [type, lambdaList, ...body] = itemsOf(item);
    return type === undefined || lambdaList === undefined
      ? m.programError(`${m.show(item)} is no clause of handler-case`)
      : { type, lambdaList, body };
  });
  const isNoError = ({ type }: { type: Value }): boolean =>
    type instanceof Sym && type.name === "NO-ERROR" && type.kind === "constant";
  const noError = clauses.find(isNoError);
  const handling = clauses.filter((clause) => !isNoError(clause));
  const functions = handling.map(({ lambdaList, body }): Template => {
    // A clause without a variable still gets the condition.
    const unused = fresh("CONDITION");
    return lambdaList === NIL
      ? ["LAMBDA", [unused], ["DECLARE", ["IGNORE", unused]], ...body]
      : ["LAMBDA", lambdaList, ...body];
  });
  const around = (inner: Template): Template => [
    "%HANDLER-CASE",
    types(handling),
    ["LIST", ...functions],
    ["LAMBDA", [], inner],
  ];
  if (noError === undefined) return form(around(expression ?? NIL));
  const [failed, fine] = [fresh("FAILED"), fresh("FINE")];
  return form([
    "BLOCK",
    failed,
    [
      "MULTIPLE-VALUE-CALL",
      ["LAMBDA", noError.lambdaList, ...noError.body],
      ["BLOCK", fine, ["RETURN-FROM", failed, around(["RETURN-FROM", fine, expression ?? NIL])]],
    ],
  ]);
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
