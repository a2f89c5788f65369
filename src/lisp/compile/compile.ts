// Compiles forms: analysis, then closures.
import { fresh, lisp, named } from "../define.ts";
import { Fn, type Macro } from "../function.ts";
import type { Machine } from "../machine.ts";
import { destructure } from "../places.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, itemsOf, listOf, type Value } from "../values.ts";
import { Analyser, outermost } from "./analyse.ts";
import { makeCode } from "./function-entry.ts";
import { analyseLambda, emptyLambda } from "./lambda.ts";
import { type LexicalScope, splitBody } from "./nodes.ts";

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
  const lambda = analyseLambda(new Analyser(m), lambdaList, listOf(body), outermost(holder), {
    name,
    block: null,
  });
  return new Fn(makeCode(m, lambda), []);
}

/** The expander of a macro as a lambda expression, which gets the form and the environment. */
export function macroLambda(
  m: Machine,
  name: Value,
  lambdaList: Value,
  body: Value,
): { readonly lambda: Value; readonly documentation: string | null } {
  const [whole, env] = [fresh("WHOLE"), fresh("ENVIRONMENT")];
  const { forms, documentation } = splitBody(body, true);
  const declarations = itemsOf(body).filter(
    (item) => item instanceof Cons && item.car === named("DECLARE"),
  );
  const operands = lisp`(cdr ${whole})`;
  const bindings = destructure(m, lambdaList, { whole, operands, env, what: name });
  const block = name instanceof Sym ? name : NIL;
  const lambda = lisp`(lambda (${whole} ${env})
    (declare (ignorable ${whole} ${env}))
    (let* ${bindings} @${declarations} (block ${block} @${itemsOf(forms)})))`;
  return { lambda, documentation };
}

/** The expander of `macrolet`. It may use outer macros, but no variables. */
export function compileMacro(
  m: Machine,
  name: Value,
  lambdaList: Value,
  body: Value,
  scope: LexicalScope,
): Macro {
  const { lambda, documentation } = macroLambda(m, name, lambdaList, body);
  const around = macrosOnly(scope, outermost(emptyLambda(null, topName)));
  const [, parameters, ...forms] = itemsOf(lambda) as [Value, Value, ...Value[]];
  const analysed = analyseLambda(new Analyser(m), parameters, listOf(forms), around, {
    name,
    block: null,
  });
  return macroOf(new Fn(makeCode(m, analysed), []), documentation);
}

export const macroOf = (fn: Fn, documentation: string | null): Macro => ({
  expand: (form, environment, m) => m.call2(fn, form, environment),
  documentation,
});

function macrosOnly(scope: LexicalScope, base: LexicalScope): LexicalScope {
  const outer = scope.outer === null ? base : macrosOnly(scope.outer, base);
  return scope.entry?.kind === "macro" || scope.entry?.kind === "symbol-macro"
    ? outer.with(scope.entry)
    : outer;
}
