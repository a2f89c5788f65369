// Compiles forms: analysis, then closures.
import { form as makeForm, named } from "../define.ts";
import { Fn, type Macro } from "../function.ts";
import type { Machine } from "../machine.ts";
import { destructure } from "../places.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import { Analyser, outermost } from "./analyse.ts";
import { makeCode } from "./function-entry.ts";
import { analyseLambda, emptyLambda } from "./lambda.ts";
import { type Scope, splitBody } from "./nodes.ts";

const topName = named("%TOP-LEVEL");
const progn = named("PROGN");

/** Evaluates a form; a top-level `progn` form by form, so that each sees the earlier definitions. */
export function evaluateForm(m: Machine, form: Value): Value {
  const a = new Analyser(m);
  a.position = form instanceof Cons ? (m.positions.get(form) ?? null) : null;
  let expanded = form;
  while (expanded instanceof Cons && expanded.car instanceof Sym && expanded.car.macro !== null) {
    expanded = a.expand(expanded.car.macro, expanded, outermost(emptyLambda(null, topName)));
  }
  if (expanded instanceof Cons && expanded.car === progn) {
    const forms = itemsOf(expanded.cdr);
    const last = forms.pop() ?? NIL;
    for (const one of forms) evaluateForm(m, one);
    return evaluateForm(m, last);
  }
  const lambda = emptyLambda(null, topName);
  lambda.body = a.form(expanded, outermost(lambda));
  return m.call0(new Fn(makeCode(m, lambda), []));
}

/** A lambda expression in the null lexical environment. */
export function compileLambda(m: Machine, expression: Value, name: Value = named("LAMBDA")): Fn {
  const holder = emptyLambda(null, topName);
  const [, lambdaList, ...body] = itemsOf(expression) as [Value, Value, ...Value[]];
  const lambda = analyseLambda(new Analyser(m), lambdaList, makeForm(body), outermost(holder), {
    name,
    block: null,
  });
  return new Fn(makeCode(m, lambda), []);
}

/** The expander of `defmacro` and `macrolet`. Inside `macrolet` it may use outer macros, but no variables. */
export function compileMacro(
  m: Machine,
  name: Value,
  lambdaList: Value,
  body: Value,
  scope: Scope | null = null,
): Macro {
  const whole = new Sym("WHOLE", null);
  const env = new Sym("ENVIRONMENT", null);
  const { forms, documentation } = splitBody(body, true);
  const declarations = itemsOf(body).filter(
    (item) => item instanceof Cons && item.car === named("DECLARE"),
  );
  const bindings = destructure(m, lambdaList, {
    whole,
    operands: makeForm(["CDR", whole]),
    env,
    what: name,
  });
  const block = name instanceof Sym ? name : NIL;
  const inner = makeForm([
    "LET*",
    makeForm(bindings),
    ...declarations,
    ["BLOCK", block, ...itemsOf(forms)],
  ]);
  const holder = emptyLambda(null, topName);
  const around = scope === null ? outermost(holder) : macrosOnly(scope, outermost(holder));
  const lambda = analyseLambda(
    new Analyser(m),
    makeForm([whole, env]),
    makeForm([["DECLARE", ["IGNORABLE", whole, env]], inner]),
    around,
    { name, block: null },
  );
  const fn = new Fn(makeCode(m, lambda), []);
  return {
    expand: (form, environment, machine) => machine.call2(fn, form, environment),
    documentation,
  };
}

function macrosOnly(scope: Scope, base: Scope): Scope {
  const outer = scope.outer === null ? base : macrosOnly(scope.outer, base);
  return scope.entry?.kind === "macro" || scope.entry?.kind === "symbol-macro"
    ? outer.with(scope.entry)
    : outer;
}
