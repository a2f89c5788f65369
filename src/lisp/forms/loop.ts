// `loop`. The extended form is parsed clause by clause (loop-clauses.ts) into a plan, which becomes one block:
//
//   (block name (let* (bindings) prologue (tagbody first-steps next body next-steps (go next) %loop-end) epilogue result))
//
// All loops use the same end tag, so `loop-finish` is an ordinary macro that finds the innermost one.
import { defineFunction, defineMacro, form, type Template } from "../define.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, itemsOf, Table, type Value } from "../values.ts";
import { readLoop } from "./loop-clauses.ts";
import type { LoopBinding, LoopPlan, Step } from "./loop-iteration.ts";

export function defineLoop(): void {
  defineMacro(
    "LOOP",
    (whole, _, m) => expandLoop(itemsOf(whole.cdr), m),
    "Repeats its forms; with loop keywords, iterates, tests and accumulates.",
  );
  defineMacro(
    "LOOP-FINISH",
    () => form(["GO", "%LOOP-END"]),
    "Ends the innermost loop normally: its finally clauses run.",
  );
  defineFunction("%LOOP-COLLECT tail item", (m, tail: Cons, item) => {
    const last = m.cons(item, NIL);
    tail.cdr = last;
    return last;
  });
  defineFunction("%LOOP-APPEND tail items", appendTo);
  defineFunction("%LOOP-NCONC tail items", (_, tail: Cons, items) => {
    tail.cdr = items;
    return lastOf(tail);
  });
  defineFunction("%LOOP-ENTRIES table", entriesOf);
}

function expandLoop(forms: Value[], m: Machine): Value {
  if (forms.every((item) => item instanceof Cons)) return simpleLoop(forms);
  const plan = readLoop(forms, m);
  const names = plan.bindings.flat().map(({ variable }) => variable);
  const twice = names.find((name, at) => name.pkg !== null && names.indexOf(name) !== at);
  if (twice !== undefined) m.programError(`LOOP binds ${m.show(twice)} twice`);
  return assemble(plan);
}

function simpleLoop(forms: Value[]): Value {
  const next = new Sym("NEXT-LOOP", null);
  return form(["BLOCK", NIL, ["TAGBODY", next, ...forms, ["GO", next]]]);
}

function assemble(plan: LoopPlan): Value {
  const next = new Sym("NEXT-LOOP", null);
  const { before, head, tail } = isRotated(plan) ? rotated(plan) : straight(plan);
  const turns: Template = [
    "TAGBODY",
    ...before,
    next,
    ...head,
    ...plan.body,
    ...tail,
    ["GO", next],
    "%LOOP-END",
  ];
  return form([
    "BLOCK",
    plan.name,
    bind(plan.bindings, [...plan.prologue, turns, ...plan.epilogue, plan.result]),
  ]);
}

interface Turns {
  readonly before: Template[];
  readonly head: Template[];
  readonly tail: Template[];
}

const straight = ({ iterations }: LoopPlan): Turns => ({
  before: iterations.flatMap((group) => stepForms(group.map(({ first }) => first))),
  head: [],
  tail: iterations.flatMap((group) => stepForms(group.map(({ rest }) => rest))),
});

/**
 * Starts an iteration with the tests if possible, because that shape compiles best. Clauses whose first step
 * is like the others can be at the head; a counter must come first, because it steps at the end of an
 * iteration, before the tests of the others.
 */
function isRotated({ iterations }: LoopPlan): boolean {
  return (
    iterations.length > 0 &&
    iterations.every((group, index) =>
      group.every(
        ({ first, rest }) =>
          first === rest || (index === 0 && group.length === 1 && first === testsOf(first)),
      ),
    )
  );
}

function rotated({ iterations }: LoopPlan): Turns {
  return {
    before: [],
    head: iterations.flatMap((group) => stepForms(group.map(({ first }) => first))),
    tail: iterations.flatMap((group) =>
      group.flatMap(({ first, rest }) =>
        first === rest ? [] : stepForms([{ ...rest, endWhenAfter: [] }]),
      ),
    ),
  };
}

const testsOf = (step: Step): Step | null =>
  step.sets.length === 0 && step.advance.length === 0 && step.endWhenBefore.length === 0
    ? step
    : null;

/** Steps joined by `and` test first and then assign in parallel. */
function stepForms(group: readonly Step[]): Template[] {
  const before = group.flatMap(({ endWhenBefore }) => endWhenBefore.map(endWhen));
  const after = group.flatMap(({ advance }) => advance);
  const tests = group.flatMap(({ endWhenAfter }) => endWhenAfter.map(endWhen));
  return [...before, ...assignments(group.flatMap(({ sets }) => sets)), ...after, ...tests];
}

const endWhen = (test: Template): Template => ["IF", test, ["GO", "%LOOP-END"]];

function assignments(sets: readonly { target: Value; value: Template }[]): Template[] {
  const [only] = sets;
  if (only === undefined) return [];
  if (sets.length === 1) return assign(only.target, only.value);
  const held = sets.map(({ target, value }) => ({ target, value, holder: new Sym("HELD", null) }));
  return [
    [
      "LET",
      held.map(({ holder, value }) => [holder, value]),
      ...held.flatMap(({ target, holder }) => assign(target, holder)),
    ],
  ];
}

/** `target` is a variable or a tree of them; NIL in it skips a place. */
function assign(target: Value, value: Template): Template[] {
  if (target === NIL) return [value];
  if (!(target instanceof Cons)) return [["SETQ", target, value]];
  const whole = new Sym("WHOLE", null);
  return [["LET", [[whole, value]], ...takeApart(target, whole)]];
}

function takeApart(target: Cons, whole: Sym): Template[] {
  const forms = target.car === NIL ? [] : assign(target.car, ["CAR", whole]);
  const { cdr } = target;
  if (cdr instanceof Cons)
    return [...forms, ["SETQ", whole, ["CDR", whole]], ...takeApart(cdr, whole)];
  return cdr === NIL ? forms : [...forms, ...assign(cdr, ["CDR", whole])];
}

function bind(groups: readonly (readonly LoopBinding[])[], body: Template[]): Template {
  const made = groups.reduceRight<{ sequential: LoopBinding[]; body: Template[] }>(
    (inner, group) => {
      if (group.length < 2)
        return { sequential: [...group, ...inner.sequential], body: inner.body };
      return {
        sequential: [],
        body: [["LET", group.map(({ variable, value }) => [variable, value]), ...wrap(inner)]],
      };
    },
    { sequential: [], body },
  );
  const [first, ...more] = wrap(made);
  return more.length === 0 && first !== undefined ? first : ["PROGN", ...wrap(made)];
}

function wrap({ sequential, body }: { sequential: LoopBinding[]; body: Template[] }): Template[] {
  return sequential.length === 0
    ? body
    : [["LET*", sequential.map(({ variable, value }) => [variable, value]), ...body]];
}

function appendTo(m: Machine, tail: Cons, items: Value): Value {
  let last = tail;
  let at = items;
  for (; at instanceof Cons; at = at.cdr) {
    const copy = m.cons(at.car, NIL);
    last.cdr = copy;
    last = copy;
  }
  if (at !== NIL) last.cdr = at;
  return last;
}

function lastOf(cell: Cons): Cons {
  let last = cell;
  while (last.cdr instanceof Cons) last = last.cdr;
  return last;
}

/** A snapshot of keys and values, because the body may change the table. */
function entriesOf(m: Machine, table: Value): Value {
  if (!(table instanceof Table)) return m.typeError(table, "HASH-TABLE");
  const items: Value[] = [];
  for (const { key, value } of table.entries.values()) items.push(key, value);
  return m.list(items);
}
