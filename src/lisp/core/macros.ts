// Conditionals, loops and other common macros.

import { defineMacro, defineValues, form, type Template } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { trace } from "../output.ts";
import { expandOnce } from "../places.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Cons, itemsOf, type Opaque, type Value } from "../values.ts";

export function defineMacros(): void {
  defineMacro("WHEN", (whole, _, m) =>
    ifForm(m, whole, (test, body) => form(["IF", test, progn(body), "NIL"])),
  );
  defineMacro("UNLESS", (whole, _, m) =>
    ifForm(m, whole, (test, body) => form(["IF", test, "NIL", progn(body)])),
  );
  defineMacro("AND", expandAnd);
  defineMacro("COND", expandCond);
  defineMacro("RETURN", (whole) => form(["RETURN-FROM", "NIL", ...operands(whole)]));
  defineMacro("PROG1", (whole) => holding(whole, 0));
  defineMacro("PROG2", (whole) => holding(whole, 1));
  defineMacro("PROG", (whole) => prog(whole, "LET"));
  defineMacro("PROG*", (whole) => prog(whole, "LET*"));
  defineMacro("DO", (whole, _, m) => expandDo(m, whole, "LET", "PSETQ"));
  defineMacro("DO*", (whole, _, m) => expandDo(m, whole, "LET*", "SETQ"));
  defineMacro("DOLIST", expandDolist);
  defineMacro("DOTIMES", expandDotimes);
  defineMacro("PSETQ", expandPsetq);
  defineMacro("MULTIPLE-VALUE-SETQ", expandValuesSetq);
  defineMacro("NTH-VALUE", (whole) => {
    const [index, values] = operands(whole) as [Value, Value];
    return form(["NTH", index, ["MULTIPLE-VALUE-LIST", values]]);
  });
  defineMacro("TIME", (whole) => form(["%TIME", ["LAMBDA", [], ...operands(whole)]]));
  defineValues("%TIME thunk", timed);
}

const operands = (whole: Cons): Value[] => itemsOf(whole.cdr);

export const progn = (body: readonly Value[]): Template =>
  body.length === 1 ? (body[0] as Value) : ["PROGN", ...body];

/** A symbol that programs cannot name. */
export const fresh = (name: string): Sym => new Sym(name, null);

function ifForm(m: Machine, whole: Cons, make: (test: Value, body: Value[]) => Value): Value {
  const [test, ...body] = operands(whole);
  return test === undefined
    ? m.programError(`${m.show(whole.car)} needs a test`)
    : make(test, body);
}

function expandAnd(whole: Cons): Value {
  const items = operands(whole);
  const last = items.pop() ?? T;
  return form(items.reduceRight<Template>((rest, item) => ["IF", item, rest, "NIL"], last));
}

function expandCond(whole: Cons, _: Opaque, m: Machine): Value {
  const clauses = operands(whole).map((clause) => {
    if (!(clause instanceof Cons))
      return m.programError(`${m.show(clause)} is not a clause of cond`);
    return clause;
  });
  return form(
    clauses.reduceRight<Template>((rest, clause) => {
      const body = itemsOf(clause.cdr);
      if (body.length === 0) return ["OR", clause.car, rest];
      if (clause.car === T) return progn(body);
      return ["IF", clause.car, progn(body), rest];
    }, NIL),
  );
}

/** Evaluates all, returns the value of the one at `index`. */
function holding(whole: Cons, index: number): Value {
  const items = operands(whole);
  const value = fresh("VALUE");
  return form([
    "PROGN",
    ...items.slice(0, index),
    ["LET", [[value, items[index] ?? NIL]], ...items.slice(index + 1), value],
  ]);
}

function declarationsOf(body: readonly Value[]): { declarations: Value[]; rest: Value[] } {
  const isDeclaration = (item: Value): boolean =>
    item instanceof Cons && item.car instanceof Sym && item.car.name === "DECLARE";
  const until = body.findIndex((item) => !isDeclaration(item));
  const at = until < 0 ? body.length : until;
  return { declarations: body.slice(0, at), rest: body.slice(at) };
}

function prog(whole: Cons, binder: string): Value {
  const [bindings, ...body] = operands(whole);
  const { declarations, rest } = declarationsOf(body);
  return form(["BLOCK", "NIL", [binder, bindings ?? NIL, ...declarations, ["TAGBODY", ...rest]]]);
}

function expandDo(m: Machine, whole: Cons, binder: string, setter: string): Value {
  const [variables, end, ...body] = operands(whole);
  if (variables === undefined || !(end instanceof Cons))
    return m.programError(`${m.show(whole.car)} needs variables and (end-test result …)`);
  const { declarations, rest } = declarationsOf(body);
  const specs = itemsOf(variables).map((spec) => (spec instanceof Cons ? itemsOf(spec) : [spec]));
  const steps = specs
    .filter((spec) => spec.length > 2)
    .flatMap((spec) => [spec[0] as Value, spec[2] as Value]);
  const [top, done] = [fresh("TOP"), fresh("DONE")];
  return form([
    "BLOCK",
    "NIL",
    [
      binder,
      specs.map((spec) => [spec[0] as Value, spec[1] ?? NIL]),
      ...declarations,
      [
        "TAGBODY",
        top,
        ["IF", end.car, ["GO", done], "NIL"],
        ["TAGBODY", ...rest],
        ...(steps.length === 0 ? [] : [[setter, ...steps]]),
        ["GO", top],
        done,
      ],
      ["PROGN", ...itemsOf(end.cdr)],
    ],
  ]);
}

function expandDolist(whole: Cons, _: Opaque, m: Machine): Value {
  const [spec, ...body] = operands(whole);
  const [variable, list, result] = spec === undefined ? [] : itemsOf(spec);
  if (variable === undefined || list === undefined)
    return m.programError("dolist needs (variable list)");
  const { declarations, rest } = declarationsOf(body);
  const [at, top, done] = [fresh("AT"), fresh("TOP"), fresh("DONE")];
  return form([
    "BLOCK",
    "NIL",
    [
      "LET",
      [[at, list]],
      [
        "TAGBODY",
        top,
        ["IF", ["ENDP", at], ["GO", done], "NIL"],
        ["LET", [[variable, ["CAR", at]]], ...declarations, ["TAGBODY", ...rest]],
        ["SETQ", at, ["CDR", at]],
        ["GO", top],
        done,
      ],
      ...(result === undefined ? ["NIL"] : [["LET", [[variable, "NIL"]], variable, result]]),
    ],
  ]);
}

function expandDotimes(whole: Cons, _: Opaque, m: Machine): Value {
  const [spec, ...body] = operands(whole);
  const [variable, count, result] = spec === undefined ? [] : itemsOf(spec);
  if (variable === undefined || count === undefined)
    return m.programError("dotimes needs (variable count)");
  const { declarations, rest } = declarationsOf(body);
  const [limit, top, done] = [fresh("LIMIT"), fresh("TOP"), fresh("DONE")];
  return form([
    "BLOCK",
    "NIL",
    [
      "LET",
      [
        [limit, count],
        [variable, 0],
      ],
      ...declarations,
      [
        "TAGBODY",
        top,
        ["IF", [">=", variable, limit], ["GO", done], "NIL"],
        ["TAGBODY", ...rest],
        ["SETQ", variable, ["1+", variable]],
        ["GO", top],
        done,
      ],
      result ?? NIL,
    ],
  ]);
}

function expandPsetq(whole: Cons, env: Opaque, m: Machine): Value {
  const items = operands(whole);
  // The parts of symbol macros are evaluated in order, too.
  if (items.some((item, at) => at % 2 === 0 && expandOnce(m, item, env) !== undefined))
    return form(["PSETF", ...items]);
  if (items.length % 2 === 1) return m.programError("psetq takes names and values in pairs");
  if (items.length === 2) return form(["PROGN", ["SETQ", ...items], "NIL"]);
  const pairs = items.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, value: items[index + 1] as Value, held: fresh("NEW") }] : [],
  );
  return form([
    "LET",
    pairs.map(({ held, value }) => [held, value]),
    ...pairs.map(({ name, held }) => ["SETQ", name, held]),
    "NIL",
  ]);
}

function expandValuesSetq(whole: Cons): Value {
  const [names, values] = operands(whole) as [Value, Value];
  const all = itemsOf(names);
  if (all.length === 0) return form(["VALUES", values]);
  const held = all.map(() => fresh("NEW"));
  return form([
    "MULTIPLE-VALUE-BIND",
    held,
    values,
    ...all.map((name, index) => ["SETF", name, held[index] as Value]),
    held[0] as Value,
  ]);
}

function timed(m: Machine, body: Value): Value {
  const began = m.host.timer();
  const steps = m.stepsUsed();
  const value = m.call0(body as Fn);
  const { mv } = m;
  trace(
    m,
    `Evaluation took ${(m.host.timer() - began).toFixed(1)} ms and ${m.stepsUsed() - steps} steps.\n`,
  );
  m.mv = mv;
  return value;
}
