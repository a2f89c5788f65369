// Analysis of the special forms.
import { form as makeForm, named } from "../define.ts";
import type { Machine } from "../machine.ts";
import { refuseLocked } from "../packages.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import {
  type Analyser,
  elsewhere,
  inside,
  type Place,
  setterName,
  withSpecials,
} from "./analyse.ts";
import { compileMacro } from "./compile.ts";
import { analyseLambda, closeBlock } from "./lambda.ts";
import type { Node } from "./nodes.ts";
import {
  type AnalyseSpecial,
  defineSpecial,
  ExitTarget,
  type LexicalScope,
  splitBody,
} from "./nodes.ts";

export function defineSpecialForms(): void {
  defineSpecial("QUOTE", (a, operands) => ({
    kind: "constant",
    value: exactly(a.m, "quote", operands, 1)[0] as Value,
  }));
  defineSpecial("FUNCTION", (a, operands, scope) =>
    functionNode(a, exactly(a.m, "function", operands, 1)[0] as Value, scope),
  );
  defineSpecial("IF", analyseIf);
  defineSpecial("PROGN", (a, operands, scope, place) => a.body(operands, scope, place));
  defineSpecial("LOCALLY", (a, operands, scope, place) => a.declaredBody(operands, scope, place));
  defineSpecial("LET", analyseLet("let"));
  defineSpecial("LET*", analyseLet("let*"));
  defineSpecial("SETQ", analyseSetq);
  defineSpecial("OR", analyseOr);
  defineSpecial("FLET", analyseFunctions("flet"));
  defineSpecial("LABELS", analyseFunctions("labels"));
  defineSpecial("MACROLET", analyseMacrolet);
  defineSpecial("SYMBOL-MACROLET", analyseSymbolMacrolet);
  defineSpecial("BLOCK", analyseBlock);
  defineSpecial("RETURN-FROM", analyseReturn);
  defineSpecial("TAGBODY", analyseTagbody);
  defineSpecial("GO", analyseGo);
  defineSpecial("MULTIPLE-VALUE-CALL", analyseValuesCall);
  defineSpecial("MULTIPLE-VALUE-LIST", (a, operands, scope) => ({
    kind: "values-list",
    form: a.form(exactly(a.m, "multiple-value-list", operands, 1)[0] as Value, scope),
  }));
  defineSpecial("MULTIPLE-VALUE-PROG1", analyseValuesProg1);
  defineSpecial("MULTIPLE-VALUE-BIND", analyseValuesBind);
  defineSpecial("THE", (a, operands, scope, place) =>
    a.form(exactly(a.m, "the", operands, 2)[1] as Value, scope, place),
  );
  defineSpecial("%HANDLER-CASE", analyseHandlerCase);
  defineSpecial("EVAL-WHEN", analyseEvalWhen);
  defineSpecial("LOAD-TIME-VALUE", (a, operands) => ({
    kind: "constant",
    value: a.m.services.evaluate(a.m, atLeast(a.m, "load-time-value", operands, 1).car),
  }));
  defineSpecial("DECLARE", (a) =>
    a.m.programError("misplaced declare: it belongs at the head of a body"),
  );
}

/** The operands as an array; checks their number. */
function exactly(m: Machine, name: string, operands: Value, count: number): Value[] {
  const items = itemsOf(operands);
  if (items.length !== count)
    m.programError(`${name} takes ${count} operand${count === 1 ? "" : "s"}, not ${items.length}`);
  return items;
}

function atLeast(m: Machine, name: string, operands: Value, count: number): Cons {
  const length = itemsOf(operands).length;
  if (length < count || !(operands instanceof Cons))
    return m.programError(
      `${name} takes at least ${count} operand${count === 1 ? "" : "s"}, not ${length}`,
    );
  return operands;
}

function nameOf(m: Machine, value: Value, what: string): Sym {
  return value instanceof Sym
    ? value
    : m.programError(`${m.show(value)} cannot be the name of a ${what}`);
}

function functionNode(a: Analyser, name: Value, scope: LexicalScope): Node {
  if (name instanceof Cons && name.car === named("LAMBDA")) return a.lambdaForm(name, scope);
  if (name instanceof Cons && name.car === named("%NAMED-LAMBDA"))
    return namedLambda(a, name, scope);
  const setter = setterName(name);
  const sym = setter ?? nameOf(a.m, name, "function");
  const found = scope.findFunction(sym, setter !== null);
  if (found?.kind === "function") return { kind: "local", variable: a.use(found.variable, scope) };
  if (found?.kind === "macro" || (setter === null && sym.macro !== null))
    a.m.error("UNDEFINED-FUNCTION", { NAME: sym });
  if (setter === null && sym.pkg?.locked && sym.fn !== null)
    return { kind: "constant", value: sym.fn };
  return { kind: "function", sym, setter: setter !== null };
}

/** `(function (%named-lambda name (…) …))`: a lambda with a name and a block of that name. */
function namedLambda(a: Analyser, form: Cons, scope: LexicalScope): Node {
  const [name, lambdaList] = itemsOf(form.cdr) as [Value, Value];
  const block = setterName(name) ?? (name instanceof Sym ? name : null);
  const body = ((form.cdr as Cons).cdr as Cons).cdr;
  return { kind: "lambda", lambda: analyseLambda(a, lambdaList, body, scope, { name, block }) };
}

function analyseIf(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const [test, then, otherwise, ...more] = itemsOf(operands);
  if (test === undefined || then === undefined || more.length > 0)
    return a.m.programError("if takes a test, a form and an optional second form");
  return {
    kind: "if",
    test: a.form(test, scope),
    when: a.form(then, scope, place),
    otherwise: a.form(otherwise ?? NIL, scope, place),
  };
}

function analyseOr(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  if (operands === NIL) return { kind: "constant", value: NIL };
  const items: Node[] = [];
  for (let at = operands; at instanceof Cons; at = at.cdr) {
    if (at.cdr === NIL && items.length === 0) return a.form(at.car, scope, place);
    a.m.tick(1);
    if (items.length === 1_000_000) a.m.programError("circular or form");
    // The last form may exit directly, because its result is passed on.
    items.push(a.form(at.car, scope, at.cdr === NIL ? place : elsewhere));
  }
  return { kind: "or", items };
}

const analyseLet =
  (name: "let" | "let*"): AnalyseSpecial =>
  (a, operands, scope, place) => {
    const { car: list, cdr: body } = atLeast(a.m, name, operands, 1);
    const names = itemsOf(list).map((item) => {
      if (!(item instanceof Cons)) return { name: nameOf(a.m, item, "variable"), init: NIL };
      const [variable, init, ...more] = itemsOf(item) as [Value, Value?, ...Value[]];
      if (more.length > 0) a.m.programError(`too many forms in the binding ${a.m.show(item)}`);
      return { name: nameOf(a.m, variable, "variable"), init: init ?? NIL };
    });
    if (list !== NIL && !(list instanceof Cons))
      a.m.programError(`${name} needs a list of bindings, not ${a.m.show(list)}`);
    return a.bindings(names, body, scope, place, name === "let*");
  };

function analyseSetq(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const items = itemsOf(operands);
  if (items.length % 2 === 1) a.m.programError("setq takes names and values in pairs");
  const nodes: Node[] = [];
  for (let at = 0; at < items.length; at += 2) {
    const name = nameOf(a.m, items[at] as Value, "variable");
    nodes.push(setNode(a, name, items[at + 1] as Value, scope, place));
  }
  if (nodes.length === 1) return nodes[0] as Node;
  return nodes.length === 0 ? { kind: "constant", value: NIL } : { kind: "progn", body: nodes };
}

function setNode(a: Analyser, name: Sym, value: Value, scope: LexicalScope, place: Place): Node {
  const found = scope.findVariable(name);
  const expansion = found === undefined ? a.m.symbolMacros.get(name) : undefined;
  if (found?.kind === "symbol-macro" || expansion !== undefined) {
    const target = found?.kind === "symbol-macro" ? found.expansion : (expansion as Value);
    return a.form(makeForm(["SETF", target, value]), scope, place);
  }
  const node = a.form(value, scope);
  if (found?.kind === "variable") {
    found.variable.assigned = true;
    return { kind: "set-local", variable: a.use(found.variable, scope), value: node };
  }
  if (name.kind === "constant")
    return a.m.programError(`${a.m.show(name)} is a constant and cannot be set`);
  if (name.kind === "lexical") refuseLocked(a.m, name, "set");
  return { kind: "set-special", sym: name, value: node };
}

const analyseFunctions =
  (form: "flet" | "labels"): AnalyseSpecial =>
  (a, operands, scope, place) => {
    const { car: definitions, cdr: body } = atLeast(a.m, form, operands, 1);
    const made = itemsOf(definitions).map((definition, index) => {
      if (!(definition instanceof Cons) || !(definition.cdr instanceof Cons))
        return a.m.programError(`${a.m.show(definition)} is not a function definition`);
      const setter = setterName(definition.car);
      const name = setter ?? nameOf(a.m, definition.car, "function");
      const variable = a.variable(definition.car, scope, scope.free + index);
      return { name, setter: setter !== null, definition, variable };
    });
    const free = scope.free + made.length;
    const inner = made
      .reduce(
        (outer, { name, setter, variable }) =>
          outer.with({ kind: "function", name, setter, variable }),
        scope,
      )
      .above(free);
    const around = form === "labels" ? inner : scope.above(free);
    const functions = made.map(({ name, definition, variable }) => {
      const { car: lambdaList, cdr: forms } = definition.cdr as Cons;
      const how = { name: definition.car, block: name };
      return { variable, lambda: analyseLambda(a, lambdaList, forms, around, how) };
    });
    return { kind: "labels", functions, body: a.declaredBody(body, inner, place) };
  };

function analyseMacrolet(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const { car: definitions, cdr: body } = atLeast(a.m, "macrolet", operands, 1);
  const inner = itemsOf(definitions).reduce<LexicalScope>((outer, definition) => {
    const { car: name, cdr: rest } = atLeast(a.m, "a local macro", definition, 2);
    const { car: lambdaList, cdr: forms } = rest as Cons;
    const macro = compileMacro(a.m, name, lambdaList, forms, scope);
    return outer.with({ kind: "macro", name: nameOf(a.m, name, "macro"), macro });
  }, scope);
  return a.declaredBody(body, inner, place);
}

function analyseSymbolMacrolet(
  a: Analyser,
  operands: Value,
  scope: LexicalScope,
  place: Place,
): Node {
  const { car: definitions, cdr: body } = atLeast(a.m, "symbol-macrolet", operands, 1);
  const { specials } = splitBody(body, false);
  const inner = itemsOf(definitions).reduce<LexicalScope>((outer, definition) => {
    const [name, expansion] = exactly(a.m, "a symbol macro", definition, 2) as [Value, Value];
    const sym = nameOf(a.m, name, "symbol macro");
    if (a.isSpecial(sym, specials))
      a.m.programError(`${a.m.show(sym)} is special, so it cannot be a symbol macro`);
    return outer.with({ kind: "symbol-macro", name: sym, expansion });
  }, scope);
  return a.declaredBody(body, inner, place);
}

function analyseBlock(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const { car: name, cdr: body } = atLeast(a.m, "block", operands, 1);
  const target = new ExitTarget(name, scope.lambda);
  const inner = scope.with({ kind: "block", name: nameOf(a.m, name, "block"), target });
  // Reserve a slot for the token, in case a closure exits the block.
  const node = a.body(body, inner.above(scope.free + 1), {
    direct: [...place.direct, target],
    tail: [...place.tail, target],
  });
  return closeBlock(target, node);
}

function analyseReturn(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const [name, value, ...more] = itemsOf(operands);
  if (name === undefined || more.length > 0)
    return a.m.programError("return-from takes the name of a block and an optional form");
  const target = scope.findBlock(nameOf(a.m, name, "block"));
  if (target === undefined)
    return a.m.programError(`return-from ${a.m.show(name)} is not inside a block of that name`);
  if (place.tail.includes(target)) return a.form(value ?? NIL, scope, place);
  const direct = place.direct.includes(target);
  const node: Node = { kind: "return", target, value: a.form(value ?? NIL, scope), direct };
  aim(a, target, direct, scope);
  return node;
}

/** An exit that cannot return EXIT throws to a token made at the target. */
function aim(a: Analyser, target: ExitTarget, direct: boolean, scope: LexicalScope): void {
  if (direct) {
    target.hasDirect = true;
    scope.lambda.exits++;
    return;
  }
  target.token ??= a.variable(target.name, scopeOf(target, scope), tokenSlot(target, scope));
  a.use(target.token, scope);
}

function scopeOf(target: ExitTarget, scope: LexicalScope): LexicalScope {
  for (let at: LexicalScope | null = scope; at !== null; at = at.outer)
    if (at.lambda === target.owner) return at;
  return scope;
}

/** The slot that `analyseBlock`, `analyseTagbody` and `analyseLambda` reserved. */
function tokenSlot(target: ExitTarget, scope: LexicalScope): number {
  for (let at: LexicalScope | null = scope; at !== null; at = at.outer) {
    const { entry } = at;
    if ((entry?.kind === "block" || entry?.kind === "tags") && entry.target === target)
      return at.free;
  }
  throw new Error("an exit without a target");
}

function analyseTagbody(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const target = new ExitTarget(NIL, scope.lambda);
  const items = itemsOf(operands);
  const forms: Value[] = [];
  for (const item of items) {
    if (item instanceof Cons) forms.push(item);
    else if (item instanceof Sym || typeof item === "number" || typeof item === "bigint")
      target.tags.set(item, forms.length);
    else a.m.programError(`${a.m.show(item)} is neither a tag nor a form`);
  }
  const inner = scope.with({ kind: "tags", target }).above(scope.free + 1);
  const direct = { direct: [...place.direct, target], tail: [] };
  const statements = forms.map((form) => a.form(form, inner, direct));
  return { kind: "tagbody", target, statements };
}

function analyseGo(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const tag = exactly(a.m, "go", operands, 1)[0] as Value;
  const target = scope.findTag(tag);
  if (target === undefined)
    return a.m.programError(`go ${a.m.show(tag)} is not inside a tagbody with that tag`);
  const direct = place.direct.includes(target);
  aim(a, target, direct, scope);
  return { kind: "go", target, index: target.tags.get(tag) as number, direct };
}

function analyseValuesCall(a: Analyser, operands: Value, scope: LexicalScope): Node {
  const { car: fn, cdr: forms } = atLeast(a.m, "multiple-value-call", operands, 1);
  return { kind: "values-call", fn: a.form(fn, scope), args: a.args(forms, scope) };
}

function analyseValuesProg1(a: Analyser, operands: Value, scope: LexicalScope): Node {
  const { car: first, cdr: rest } = atLeast(a.m, "multiple-value-prog1", operands, 1);
  return { kind: "values-prog1", first: a.form(first, scope), rest: a.body(rest, scope) };
}

function analyseValuesBind(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const { car: list, cdr: more } = atLeast(a.m, "multiple-value-bind", operands, 2);
  const { car: form, cdr: body } = more as Cons;
  const { forms, specials } = splitBody(body, false);
  const node = a.form(form, scope);
  let inner = scope;
  let free = scope.free;
  const variables = itemsOf(list).map((item) => {
    const name = nameOf(a.m, item, "variable");
    if (a.isSpecial(name, specials)) return name;
    const variable = a.variable(name, scope, free++);
    inner = inner.with({ kind: "variable", name, variable });
    return variable;
  });
  const place_ = variables.some((one) => one instanceof Sym) ? inside(place) : place;
  return {
    kind: "values-let",
    variables,
    form: node,
    body: a.body(forms, withSpecials(inner, specials).above(free), place_),
  };
}

/** `(%handler-case variable form (type form)…)`. A clause runs where the form was left, so it may be a tail. */
function analyseHandlerCase(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const [name, body, ...clauses] = itemsOf(operands) as [Sym, Value, ...Value[]];
  const condition = a.variable(name, scope);
  const free = scope.free + 1;
  const inner = scope.with({ kind: "variable", name, variable: condition }, free);
  return {
    kind: "handler-case",
    condition,
    body: a.form(body, scope.above(free), inside(place)),
    clauses: clauses.map((clause) => {
      const [type, form] = itemsOf(clause) as [Value, Value];
      return { type, body: a.form(form, inner, place) };
    }),
  };
}

const evaluating = new Set(["EXECUTE", "EVAL"]);

/** Programs are evaluated form by form, so only `:execute` (or the old name `eval`) matters. */
function analyseEvalWhen(a: Analyser, operands: Value, scope: LexicalScope, place: Place): Node {
  const { car: situations, cdr: body } = atLeast(a.m, "eval-when", operands, 1);
  const runs = itemsOf(situations).some(
    (situation) => situation instanceof Sym && evaluating.has(situation.name),
  );
  return runs ? a.body(body, scope, place) : { kind: "constant", value: NIL };
}
