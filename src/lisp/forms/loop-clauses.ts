// The grammar of extended `loop`.
import { form, type Template } from "../define.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym, T, words } from "../symbol.ts";
import { Cons, Float, type Value } from "../values.ts";
import { Clauses, hidden, type LoopPlan, noStep, readIteration } from "./loop-iteration.ts";

interface Reading {
  readonly clauses: Clauses;
  readonly plan: LoopPlan;
  readonly accumulators: Accumulators;
}

export function readLoop(forms: readonly Value[], m: Machine): LoopPlan {
  const clauses = new Clauses(forms, m);
  const plan: LoopPlan = {
    name: NIL,
    bindings: [],
    iterations: [],
    prologue: [],
    body: [],
    epilogue: [],
    result: NIL,
  };
  const accumulators = new Accumulators(plan);
  if (clauses.accept("NAMED")) plan.name = clauses.take("the loop's name");
  while (!clauses.isAtEnd) readClause({ clauses, plan, accumulators });
  if (accumulators.isContradictory)
    m.programError("LOOP cannot return what it gathers if ALWAYS, NEVER or THEREIS decide");
  plan.result = accumulators.result();
  return plan;
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
  const targets: { target: Value; value: Template; holder: Sym }[] = [];
  do {
    const target = clauses.take("a variable");
    const type = clauses.type();
    const initial = target instanceof Cons ? blanks(target, type) : numberOf(type);
    const value = clauses.accept("=") ? clauses.take("a value") : initial;
    const holder = target instanceof Sym && target !== NIL ? target : hidden("WHOLE");
    targets.push({ target, value, holder });
  } while (clauses.accept("AND"));
  plan.bindings.push(targets.map(({ holder, value }) => ({ variable: holder, value })));
  for (const { target, holder } of targets) bindParts(target, holder, plan);
}

/** The initial values of a tree of variables, as a form. */
function blanks(target: Value, type: Value): Template {
  if (!(target instanceof Cons)) return target === NIL ? NIL : numberOf(type);
  const [first, rest] = type instanceof Cons ? [type.car, type.cdr] : [type, type];
  return ["CONS", blanks(target.car, first), blanks(target.cdr, rest)];
}

/** Destructures `whole` into the variables of a tree. */
function bindParts(target: Value, whole: Template, plan: LoopPlan): void {
  if (!(target instanceof Cons)) return;
  for (const [part, access] of [
    [target.car, ["CAR", whole]] as const,
    [target.cdr, ["CDR", whole]] as const,
  ]) {
    if (part === NIL) continue;
    const holder = part instanceof Sym ? part : hidden("PART");
    plan.bindings.push([{ variable: holder, value: access }]);
    bindParts(part, holder, plan);
  }
}

function readRepeat(clauses: Clauses, plan: LoopPlan): void {
  const left = hidden("LEFT");
  plan.bindings.push([{ variable: left, value: clauses.take("how often to repeat") }]);
  const step = {
    ...noStep,
    endWhenBefore: [["<=", left, 0]],
    advance: [["SETQ", left, ["1-", left]]],
  };
  plan.iterations.push([{ first: step, rest: step }]);
}

/** A clause of the body. `it` is the variable for the value of the surrounding condition, made on demand. */
function readAction(reading: Reading, it?: It): Template[] {
  const { clauses, plan, accumulators } = reading;
  const word = clauses.word();
  const leave = (value: Template): Template => ["RETURN-FROM", plan.name, value];
  if (clauses.accept("DO", "DOING")) return clauses.compound("DO");
  if (clauses.accept("WHILE")) return [["IF", clauses.take("a test"), NIL, ["GO", "%LOOP-END"]]];
  if (clauses.accept("UNTIL")) return [["IF", clauses.take("a test"), ["GO", "%LOOP-END"]]];
  if (clauses.accept("WHEN", "IF"))
    return [readCondition(reading, (then, otherwise) => [then, otherwise])];
  if (clauses.accept("UNLESS"))
    return [readCondition(reading, (then, otherwise) => [otherwise, then])];
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
  return accumulators.add(word, value, into, numberOf(clauses.type()), clauses);
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

function readCondition(
  reading: Reading,
  order: (then: Template, otherwise: Template) => Template[],
): Template {
  const { clauses } = reading;
  const test = clauses.take("a test");
  const it: It = { variable: hidden("IT"), isUsed: false };
  const then = readJoined(reading, it);
  const otherwise = clauses.accept("ELSE") ? readJoined(reading, it) : [];
  clauses.accept("END");
  const branches = order(["PROGN", ...then], ["PROGN", ...otherwise]);
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

// Accumulation clauses: `collect`, `sum`, `maximize` and others.

type Kind = "list" | "number" | "extreme";

interface Accumulator {
  readonly kind: Kind;
  /** The loop's result, or the variable of `into`. */
  readonly variable: Sym;
  /** For lists: the cell before the first, and the last. For extremes: whether there was one yet (`last`). */
  readonly head: Sym;
  readonly last: Sym;
  readonly isNamed: boolean;
}

interface Accumulation {
  readonly kind: Kind;
  /** The forms that accumulate `value`. */
  readonly take: (to: Accumulator, value: Template) => Template[];
}

const gather =
  (helper: string): Accumulation["take"] =>
  ({ variable, head, last, isNamed }, value) => [
    ["SETQ", last, [helper, last, value]],
    ...(isNamed ? [["SETQ", variable, ["CDR", head]]] : []),
  ];

const extreme =
  (comparison: string): Accumulation["take"] =>
  ({ variable, last }, value) => {
    const found = hidden("FOUND");
    const first: Template = ["SETQ", variable, ["MAX", found], last, "T"];
    return [
      [
        "LET",
        [[found, value]],
        ["IF", last, ["IF", [comparison, found, variable], ["SETQ", variable, found]], first],
      ],
    ];
  };

const sum: Accumulation["take"] = ({ variable }, value) => [
  ["SETQ", variable, ["+", variable, value]],
];
const count: Accumulation["take"] = ({ variable }, value) => [
  ["IF", value, ["SETQ", variable, ["1+", variable]]],
];

const accumulations: ReadonlyMap<string, Accumulation> = new Map(
  Object.entries<Accumulation>({
    "COLLECT COLLECTING": { kind: "list", take: gather("%LOOP-COLLECT") },
    "APPEND APPENDING": { kind: "list", take: gather("%LOOP-APPEND") },
    "NCONC NCONCING": { kind: "list", take: gather("%LOOP-NCONC") },
    "SUM SUMMING": { kind: "number", take: sum },
    "COUNT COUNTING": { kind: "number", take: count },
    "MAXIMIZE MAXIMIZING": { kind: "extreme", take: extreme(">") },
    "MINIMIZE MINIMIZING": { kind: "extreme", take: extreme("<") },
  }).flatMap(([names, one]) => words(names).map((name) => [name, one] as const)),
);

class Accumulators {
  /** True if there is an `always` or `never` clause, so that a complete loop returns T. */
  decides = false;
  /** True if there is a `thereis` clause. */
  finds = false;
  readonly #plan: LoopPlan;
  readonly #named = new Map<Sym, Accumulator>();
  #unnamed: Accumulator | null = null;

  constructor(plan: LoopPlan) {
    this.#plan = plan;
  }

  /** The forms that accumulate a value; clauses of the same kind may share a variable. */
  add(
    word: string,
    value: Value,
    into: Value | null,
    initial: Template,
    clauses: Clauses,
  ): Template[] {
    const accumulation = accumulations.get(word) as Accumulation;
    if (into !== null && !(into instanceof Sym))
      return clauses.refuse("LOOP accumulates INTO a variable only");
    const known = into === null ? this.#unnamed : (this.#named.get(into) ?? null);
    if (known !== null && known.kind !== accumulation.kind)
      clauses.refuse(`LOOP cannot ${word} where it gathers something of another kind`);
    return accumulation.take(known ?? this.#create(accumulation.kind, into, initial), value);
  }

  get isContradictory(): boolean {
    return this.#unnamed !== null && (this.decides || this.finds);
  }

  result(): Template {
    if (this.#unnamed === null) return this.decides ? T : NIL;
    const { kind, head, variable } = this.#unnamed;
    return kind === "list" ? ["CDR", head] : variable;
  }

  #create(kind: Kind, into: Sym | null, initial: Template): Accumulator {
    const made = {
      kind,
      variable: into ?? hidden("RESULT"),
      head: hidden("HEAD"),
      last: hidden("LAST"),
      isNamed: into !== null,
    };
    if (into === null) this.#unnamed = made;
    else this.#named.set(into, made);
    const bind = (variable: Sym, value: Template) =>
      this.#plan.bindings.push([{ variable, value }]);
    if (kind === "list") {
      bind(made.head, ["LIST", NIL]);
      bind(made.last, made.head);
      if (into !== null) bind(into, NIL);
    } else bind(made.variable, initial instanceof Float ? initial : 0);
    if (kind === "extreme") bind(made.last, NIL);
    return made;
  }
}
