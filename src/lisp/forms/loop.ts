// `loop`. The extended form is parsed clause by clause into a plan, which becomes one block:
//
//   (block name (let* (bindings) prologue (tagbody first-steps next body next-steps (go next) %loop-end) epilogue result))
//
// All loops use the same end tag, so `loop-finish` is an ordinary macro that finds the innermost one.
import { defineFunction, defineMacro, form, lisp, type Template } from "../define.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym, T, words } from "../symbol.ts";
import { Cons, Float, itemsOf, Table, type Value } from "../values.ts";
import {
  Clauses,
  hidden,
  type LoopBinding,
  type LoopPlan,
  readIteration,
  type Step,
} from "./loop-iteration.ts";

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
  if (forms.every((item) => item instanceof Cons)) {
    const next = hidden("NEXT-LOOP");
    return lisp`(block nil (tagbody ${next} @${forms} (go ${next})))`;
  }
  const clauses = new Clauses(forms, m);
  const plan: LoopPlan = {
    name: clauses.accept("NAMED") ? clauses.take("the loop's name") : NIL,
    bindings: [],
    iterations: [],
    prologue: [],
    body: [],
    epilogue: [],
  };
  const accumulators = new Accumulators(plan, clauses);
  while (!clauses.isAtEnd) readClause({ clauses, plan, accumulators });
  const result = accumulators.result();
  const names = plan.bindings.flat().map(([variable]) => variable);
  const twice = names.find((name, at) => name.pkg !== null && names.indexOf(name) !== at);
  if (twice !== undefined) m.programError(`LOOP binds ${m.show(twice)} twice`);
  return assemble(plan, result);
}

// ---- clauses

interface Reading {
  readonly clauses: Clauses;
  readonly plan: LoopPlan;
  readonly accumulators: Accumulators;
}

function readClause(reading: Reading): void {
  const { clauses, plan } = reading;
  if (clauses.accept("FOR", "AS")) readIteration(clauses, plan);
  else if (clauses.accept("WITH")) readWith(clauses, plan);
  else if (clauses.accept("REPEAT")) readRepeat(clauses, plan);
  else if (clauses.accept("INITIALLY")) plan.prologue.push(...clauses.compound("INITIALLY"));
  else if (clauses.accept("FINALLY")) plan.epilogue.push(...readFinally(clauses, plan));
  else plan.body.push(...readAction(reading));
}

function readFinally(clauses: Clauses, plan: LoopPlan): Template[] {
  if (clauses.accept("RETURN"))
    return [["RETURN-FROM", plan.name, clauses.take("a value to return")]];
  clauses.accept("DO", "DOING");
  return clauses.compound("FINALLY");
}

function readWith(clauses: Clauses, plan: LoopPlan): void {
  const group: LoopBinding[] = [];
  const parts: LoopBinding[] = [];
  do {
    const target = clauses.take("a variable");
    const type = clauses.type();
    const value = clauses.accept("=") ? clauses.take("a value") : blanks(target, type);
    const holder = target instanceof Sym && target !== NIL ? target : hidden("WHOLE");
    group.push([holder, value]);
    parts.push(...partsOf(target, holder));
  } while (clauses.accept("AND"));
  plan.bindings.push(group, ...parts.map((part) => [part]));
}

/** The initial values of a tree of variables, as a form. */
function blanks(target: Value, type: Value): Template {
  if (!(target instanceof Cons)) return target === NIL ? NIL : numberOf(type);
  const [first, rest] = type instanceof Cons ? [type.car, type.cdr] : [type, type];
  return ["CONS", blanks(target.car, first), blanks(target.cdr, rest)];
}

/** Takes `whole` apart into the variables of a tree. */
function partsOf(target: Value, whole: Sym): LoopBinding[] {
  if (!(target instanceof Cons)) return [];
  return (["CAR", "CDR"] as const).flatMap((name): LoopBinding[] => {
    const part = name === "CAR" ? target.car : target.cdr;
    if (part === NIL) return [];
    const holder = part instanceof Sym ? part : hidden("PART");
    return [[holder, [name, whole]], ...partsOf(part, holder)];
  });
}

function readRepeat(clauses: Clauses, plan: LoopPlan): void {
  const left = hidden("LEFT");
  const step: Step = {
    endWhenBefore: [["<=", left, 0]],
    advance: [["SETQ", left, ["1-", left]]],
  };
  plan.bindings.push([[left, clauses.take("how often to repeat")]]);
  plan.iterations.push([{ hidden: [], bindings: [], first: step, rest: step }]);
}

/** A clause of the body. `it` is the variable for the value of the surrounding condition, made on demand. */
function readAction(reading: Reading, it?: It): Template[] {
  const { clauses, plan, accumulators } = reading;
  const word = clauses.word();
  const leave = (value: Template): Template => ["RETURN-FROM", plan.name, value];
  if (clauses.accept("DO", "DOING")) return clauses.compound("DO");
  if (clauses.accept("WHILE")) return [endUnless(clauses.take("a test"))];
  if (clauses.accept("UNTIL")) return [endWhen(clauses.take("a test"))];
  if (clauses.accept("WHEN", "IF", "UNLESS")) return [readCondition(reading, word === "UNLESS")];
  if (clauses.accept("RETURN")) return [leave(takeForm(clauses, it))];
  if (clauses.accept("ALWAYS", "NEVER")) {
    accumulators.decides = true;
    const test = clauses.take("a test");
    return [word === "ALWAYS" ? ["IF", test, NIL, leave(NIL)] : ["IF", test, leave(NIL)]];
  }
  if (clauses.accept("THEREIS")) {
    accumulators.finds = true;
    const found = hidden("FOUND");
    return [["LET", [[found, clauses.take("a test")]], ["IF", found, leave(found)]]];
  }
  if (word === undefined || !accumulations.has(word)) return clauses.refuseNext("a clause");
  clauses.take("a clause");
  const value = takeForm(clauses, it);
  const into = clauses.accept("INTO") ? clauses.take("a variable") : null;
  return accumulators.add(word, value, into, numberOf(clauses.type()));
}

interface It {
  readonly variable: Sym;
  isUsed: boolean;
}

function takeForm(clauses: Clauses, it: It | undefined): Value {
  if (it === undefined || !clauses.accept("IT")) return clauses.take("a form");
  it.isUsed = true;
  return it.variable;
}

function readCondition(reading: Reading, isNegated: boolean): Template {
  const { clauses } = reading;
  const test = clauses.take("a test");
  const it: It = { variable: hidden("IT"), isUsed: false };
  const then = readJoined(reading, it);
  const otherwise = clauses.accept("ELSE") ? readJoined(reading, it) : [];
  clauses.accept("END");
  const branches: Template[] = [
    ["PROGN", ...then],
    ["PROGN", ...otherwise],
  ];
  if (isNegated) branches.reverse();
  return it.isUsed
    ? ["LET", [[it.variable, test]], ["IF", it.variable, ...branches]]
    : ["IF", test, ...branches];
}

function readJoined(reading: Reading, it: It): Template[] {
  const forms = readAction(reading, it);
  // Only the first clause may say IT; later it is an ordinary variable.
  while (reading.clauses.accept("AND")) forms.push(...readAction(reading));
  return forms;
}

/** The initial value of a variable of this type. */
function numberOf(type: Value): Template {
  const specifier = type instanceof Cons ? type.car : type;
  const name = specifier instanceof Sym ? specifier.name : "";
  if (["FLOAT", "DOUBLE-FLOAT", "SINGLE-FLOAT"].includes(name)) return new Float(0);
  return ["FIXNUM", "INTEGER", "NUMBER", "REAL", "RATIONAL"].includes(name) ? 0 : form("NIL");
}

// ---- accumulation: `collect`, `sum`, `maximize` and others

interface Accumulator {
  readonly accumulation: Accumulation;
  /** The loop's result, or the variable of `into`. */
  readonly variable: Sym;
  /** For lists: the cell before the first, and the last. For extremes: whether there was one yet (`last`). */
  readonly head: Sym;
  readonly last: Sym;
  readonly isNamed: boolean;
}

interface Accumulation {
  readonly kind: "list" | "number" | "extreme";
  /** The forms that accumulate `value`. */
  readonly take: (to: Accumulator, value: Template) => Template[];
}

const gather = (helper: string): Accumulation => ({
  kind: "list",
  take: ({ variable, head, last, isNamed }, value) => [
    ["SETQ", last, [helper, last, value]],
    ...(isNamed ? [["SETQ", variable, ["CDR", head]]] : []),
  ],
});

const extreme = (comparison: string): Accumulation => ({
  kind: "extreme",
  take: ({ variable, last }, value) => {
    const found = hidden("FOUND");
    return [
      lisp`(let ((${found} ${value}))
        (if ${last}
          (if (${comparison} ${found} ${variable}) (setq ${variable} ${found}))
          (setq ${variable} (max ${found}) ${last} t)))`,
    ];
  },
});

const accumulations: ReadonlyMap<string, Accumulation> = new Map(
  Object.entries<Accumulation>({
    "COLLECT COLLECTING": gather("%LOOP-COLLECT"),
    "APPEND APPENDING": gather("%LOOP-APPEND"),
    "NCONC NCONCING": gather("%LOOP-NCONC"),
    "SUM SUMMING": {
      kind: "number",
      take: ({ variable }, value) => [["SETQ", variable, ["+", variable, value]]],
    },
    "COUNT COUNTING": {
      kind: "number",
      take: ({ variable }, value) => [["IF", value, ["SETQ", variable, ["1+", variable]]]],
    },
    "MAXIMIZE MAXIMIZING": extreme(">"),
    "MINIMIZE MINIMIZING": extreme("<"),
  }).flatMap(([names, one]) => words(names).map((name) => [name, one] as const)),
);

class Accumulators {
  /** True if there is an `always` or `never` clause, so that a complete loop returns T. */
  decides = false;
  /** True if there is a `thereis` clause. */
  finds = false;
  readonly #plan: LoopPlan;
  readonly #clauses: Clauses;
  /** By the variable of `into`; null for the result. */
  readonly #known = new Map<Sym | null, Accumulator>();

  constructor(plan: LoopPlan, clauses: Clauses) {
    this.#plan = plan;
    this.#clauses = clauses;
  }

  /** The forms that accumulate a value; clauses of the same kind may share a variable. */
  add(word: string, value: Value, into: Value | null, initial: Template): Template[] {
    const accumulation = accumulations.get(word) as Accumulation;
    if (into !== null && !(into instanceof Sym))
      return this.#clauses.refuse("LOOP accumulates INTO a variable only");
    const to = this.#known.get(into) ?? this.#create(accumulation, into, initial);
    if (to.accumulation.kind !== accumulation.kind)
      this.#clauses.refuse(`LOOP cannot ${word} where it gathers something of another kind`);
    return accumulation.take(to, value);
  }

  result(): Template {
    const unnamed = this.#known.get(null);
    if (unnamed === undefined) return this.decides ? T : NIL;
    if (this.decides || this.finds)
      this.#clauses.refuse("LOOP cannot return what it gathers if ALWAYS, NEVER or THEREIS decide");
    const { accumulation, head, variable } = unnamed;
    return accumulation.kind === "list" ? ["CDR", head] : variable;
  }

  #create(accumulation: Accumulation, into: Sym | null, initial: Template): Accumulator {
    const made = {
      accumulation,
      variable: into ?? hidden("RESULT"),
      head: hidden("HEAD"),
      last: hidden("LAST"),
      isNamed: into !== null,
    };
    this.#known.set(into, made);
    const { kind } = accumulation;
    const bind = (variable: Sym, value: Template) => this.#plan.bindings.push([[variable, value]]);
    if (kind === "list") {
      bind(made.head, ["LIST", NIL]);
      bind(made.last, made.head);
      if (into !== null) bind(into, NIL);
    } else bind(made.variable, initial instanceof Float ? initial : 0);
    if (kind === "extreme") bind(made.last, NIL);
    return made;
  }
}

// ---- the form

/**
 * Starts an iteration with the tests if possible, because that shape compiles best. Clauses whose first step
 * is like the others can be at the head; a counter must come first, because it steps at the end of an
 * iteration, before the tests of the others.
 */
function assemble({ name, bindings, iterations, ...plan }: LoopPlan, result: Template): Value {
  const isRotated =
    iterations.length > 0 &&
    iterations.every((group, index) =>
      group.every(
        ({ first, rest }) =>
          first === rest || (index === 0 && group.length === 1 && first.sets === undefined),
      ),
    );
  const first = iterations.flatMap((group) => stepForms(group.map((one) => one.first)));
  const rest = isRotated
    ? iterations
        .flat()
        .filter((one) => one.first !== one.rest)
        .flatMap((one) => stepForms([{ ...one.rest, endWhenAfter: [] }]))
    : iterations.flatMap((group) => stepForms(group.map((one) => one.rest)));
  const next = hidden("NEXT-LOOP");
  const [before, head] = isRotated ? [[], first] : [first, []];
  const turns = [...before, next, ...head, ...plan.body, ...rest, ["GO", next], "%LOOP-END"];
  const body = [...plan.prologue, ["TAGBODY", ...turns], ...plan.epilogue, result];
  return form(["BLOCK", name, ...bound(bindings, body)]);
}

/** Steps joined by `and` test first and then assign in parallel. */
function stepForms(group: readonly Step[]): Template[] {
  return [
    ...group.flatMap(({ endWhenBefore = [] }) => endWhenBefore.map(endWhen)),
    ...assignments(group.flatMap(({ sets = [] }) => sets)),
    ...group.flatMap(({ advance = [] }) => advance),
    ...group.flatMap(({ endWhenAfter = [] }) => endWhenAfter.map(endWhen)),
  ];
}

const endWhen = (test: Template): Template => ["IF", test, ["GO", "%LOOP-END"]];
const endUnless = (test: Template): Template => ["IF", test, NIL, ["GO", "%LOOP-END"]];

function assignments(sets: readonly (readonly [target: Value, value: Template])[]): Template[] {
  if (sets.length < 2) return sets.flatMap(([target, value]) => assign(target, value));
  const held = sets.map(([target, value]) => ({ target, value, holder: hidden("HELD") }));
  const values = held.map(({ holder, value }) => [holder, value]);
  return [["LET", values, ...held.flatMap(({ target, holder }) => assign(target, holder))]];
}

/** `target` is a variable or a tree of them; NIL in it skips a place. */
function assign(target: Value, value: Template): Template[] {
  if (target === NIL) return [value];
  if (!(target instanceof Cons)) return [["SETQ", target, value]];
  const whole = hidden("WHOLE");
  return [["LET", [[whole, value]], ...takeApart(target, whole)]];
}

function takeApart({ car, cdr }: Cons, whole: Sym): Template[] {
  const forms = car === NIL ? [] : assign(car, ["CAR", whole]);
  if (cdr instanceof Cons)
    return [...forms, ["SETQ", whole, ["CDR", whole]], ...takeApart(cdr, whole)];
  return cdr === NIL ? forms : [...forms, ...assign(cdr, ["CDR", whole])];
}

/** The body in the bindings: groups by LET, single ones together by LET*. */
function bound(groups: readonly (readonly LoopBinding[])[], body: Template[]): Template[] {
  let [forms, run]: [Template[], readonly LoopBinding[]] = [body, []];
  const close = (): Template[] => (run.length === 0 ? forms : [["LET*", run, ...forms]]);
  for (const group of groups.toReversed()) {
    if (group.length < 2) run = [...group, ...run];
    else [forms, run] = [[["LET", group, ...close()]], []];
  }
  return close();
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
