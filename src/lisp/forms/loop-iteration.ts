// The iteration clauses `for` and `as` of `loop`. This file also has `Clauses`, which reads the
// forms of any clause, and `LoopPlan`, which all clauses fill in. loop-clauses.ts reads the other
// clauses; loop.ts turns the plan into a form.
import type { Template } from "../define.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym, T, words } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

interface Read {
  /** Hidden variables; each may use those before it. */
  readonly hidden: LoopBinding[];
  readonly bindings: LoopBinding[];
  readonly iteration: Iteration;
}

export function readIteration(clauses: Clauses, plan: LoopPlan): void {
  const group: Read[] = [];
  do {
    clauses.accept("FOR", "AS");
    group.push(readFor(clauses));
  } while (clauses.accept("AND"));
  plan.iterations.push(group.map(({ iteration }) => iteration));
  plan.bindings.push(...group.flatMap((one) => one.hidden.map((binding) => [binding])));
  // Clauses joined by `and` must not see each other's variables in their initial forms.
  plan.bindings.push(
    ...(group.length > 1
      ? [group.flatMap(({ bindings }) => bindings)]
      : group.flatMap(({ bindings }) => bindings.map((binding) => [binding]))),
  );
}

function readFor(clauses: Clauses): Read {
  const target = clauses.take("a variable");
  clauses.type();
  if (clauses.accept("=")) return equals(target, clauses);
  if (clauses.accept("IN"))
    return overList(target, clauses.take("a list"), clauses, (list) => ["CAR", list], "ENDP");
  if (clauses.accept("ON"))
    return overList(target, clauses.take("a list"), clauses, (list) => list, "ATOM");
  if (clauses.accept("ACROSS")) return across(target, clauses);
  if (clauses.accept("BEING")) return being(target, clauses);
  return numeric(target, clauses);
}

const variablesOf = (target: Value): LoopBinding[] => {
  if (target instanceof Cons) return [...variablesOf(target.car), ...variablesOf(target.cdr)];
  return target instanceof Sym && target !== NIL ? [{ variable: target, value: NIL }] : [];
};

function equals(target: Value, clauses: Clauses): Read {
  const value = clauses.take("a value");
  const then = clauses.accept("THEN") ? clauses.take("the next value") : value;
  const set = (form: Value): Step => ({ ...noStep, sets: [{ target, value: form }] });
  const first = set(value);
  return {
    hidden: [],
    bindings: variablesOf(target),
    iteration: { first, rest: then === value ? first : set(then) },
  };
}

/** A clause whose first step is the same as all later ones. */
function steady(
  hidden: LoopBinding[],
  targets: readonly Value[],
  step: Omit<Step, "endWhenAfter">,
): Read {
  const each = { ...noStep, ...step };
  return {
    hidden,
    bindings: targets.flatMap(variablesOf),
    iteration: { first: each, rest: each },
  };
}

function overList(
  target: Value,
  value: Template,
  clauses: Clauses,
  item: (list: Sym) => Template,
  ended: string,
): Read {
  const list = hidden("LIST");
  const held: LoopBinding[] = [{ variable: list, value }];
  const by = clauses.accept("BY")
    ? stepper(clauses.take("a function"), held)
    : (at: Sym): Template => ["CDR", at];
  return steady(held, [target], {
    endWhenBefore: [[ended, list]],
    sets: [{ target, value: item(list) }],
    advance: [["SETQ", list, by(list)]],
  });
}

/** The step of `by`. `#'cddr` is called by its name; other functions are kept in a hidden variable. */
function stepper(by: Value, bindings: LoopBinding[]): (at: Sym) => Template {
  if (
    by instanceof Cons &&
    by.car instanceof Sym &&
    by.car.name === "FUNCTION" &&
    by.cdr instanceof Cons &&
    by.cdr.car instanceof Sym
  ) {
    const { car: name } = by.cdr;
    return (at) => [name, at];
  }
  const variable = hidden("BY");
  bindings.push({ variable, value: by });
  return (at) => ["FUNCALL", variable, at];
}

function across(target: Value, clauses: Clauses): Read {
  const [vector, index, length] = [hidden("VECTOR"), hidden("INDEX"), hidden("LENGTH")];
  const held: LoopBinding[] = [
    { variable: vector, value: clauses.take("a vector") },
    { variable: length, value: ["LENGTH", vector] },
    { variable: index, value: 0 },
  ];
  return steady(held, [target], {
    endWhenBefore: [[">=", index, length]],
    sets: [{ target, value: ["AREF", vector, index] }],
    advance: [["SETQ", index, ["1+", index]]],
  });
}

function being(target: Value, clauses: Clauses): Read {
  if (!clauses.accept("THE", "EACH")) clauses.refuseNext("THE or EACH");
  const what = clauses.accept(...iterated);
  if (what === undefined) return clauses.refuseNext("HASH-KEYS, HASH-VALUES or SYMBOLS");
  const isGiven = clauses.accept("OF", "IN") !== undefined;
  if (what.includes("SYMBOL")) {
    const kind = `:${what.replace(/S?$/, "").replace(/-?SYMBOL$/, "") || "ACCESSIBLE"}`;
    const pkg = isGiven ? clauses.take("a package") : "*PACKAGE*";
    return overList(
      target,
      ["%PACKAGE-SYMBOLS", pkg, kind],
      clauses,
      (list) => ["CAR", list],
      "ENDP",
    );
  }
  if (!isGiven) clauses.refuseNext("OF and a hash table");
  return entries(target, what.startsWith("HASH-KEY"), clauses);
}

const iterated = words(`HASH-KEY HASH-KEYS HASH-VALUE HASH-VALUES SYMBOL SYMBOLS PRESENT-SYMBOL
  PRESENT-SYMBOLS EXTERNAL-SYMBOL EXTERNAL-SYMBOLS`);

function entries(target: Value, byKey: boolean, clauses: Clauses): Read {
  const list = hidden("ENTRIES");
  const table = clauses.take("a hash table");
  const other = clauses.accept("USING") ? usingVariable(clauses) : NIL;
  const sets = [
    { target, value: [byKey ? "CAR" : "CADR", list] },
    ...(other === NIL ? [] : [{ target: other, value: [byKey ? "CADR" : "CAR", list] }]),
  ];
  const held = [{ variable: list, value: ["%LOOP-ENTRIES", table] }];
  return steady(held, [target, other], {
    endWhenBefore: [["ENDP", list]],
    sets,
    advance: [["SETQ", list, ["CDDR", list]]],
  });
}

function usingVariable(clauses: Clauses): Value {
  const [word, variable] = itemsOf(clauses.take("(HASH-KEY variable) or (HASH-VALUE variable)"));
  if (
    !(word instanceof Sym) ||
    !["HASH-KEY", "HASH-VALUE"].includes(word.name) ||
    variable === undefined
  )
    return clauses.refuse("LOOP expects USING (HASH-KEY variable) or (HASH-VALUE variable)");
  return variable;
}

/** Start, limit and step are evaluated in the order in which the program writes them. */
function numeric(target: Value, clauses: Clauses): Read {
  if (!(target instanceof Sym)) return clauses.refuse("LOOP counts with one variable only");
  const variable = target === NIL ? hidden("COUNT") : target;
  const held: LoopBinding[] = [];
  let from: Value = 0;
  const hold = (value: Value, name: string): Value => {
    if (typeof value === "number") return value;
    const holder = hidden(name);
    held.push({ variable: holder, value });
    return holder;
  };
  let [isDown, limit, isStrict]: [boolean, Template | null, boolean] = [false, null, false];
  let by: Template = 1;
  let word = clauses.accept(...prepositions);
  if (word === undefined)
    return clauses.refuseNext("=, IN, ON, ACROSS, BEING or FROM after the variable");
  for (; word !== undefined; word = clauses.accept(...prepositions)) {
    if (word.startsWith("DOWN") || word === "ABOVE") isDown = true;
    if (word.endsWith("FROM")) from = hold(clauses.take("a number"), "FROM");
    else if (word === "BY") by = hold(clauses.take("a number"), "BY");
    else {
      limit = hold(clauses.take("a number"), "LIMIT");
      isStrict = word === "BELOW" || word === "ABOVE";
    }
  }
  const ended: Template[] =
    limit === null ? [] : [[`${isDown ? "<" : ">"}${isStrict ? "=" : ""}`, variable, limit]];
  const move: Template =
    by === 1 ? [isDown ? "1-" : "1+", variable] : [isDown ? "-" : "+", variable, by];
  return {
    hidden: held,
    bindings: [{ variable, value: from }],
    iteration: {
      first: { ...noStep, endWhenAfter: ended },
      rest: { ...noStep, sets: [{ target: variable, value: move }], endWhenAfter: ended },
    },
  };
}

const prepositions = words("FROM UPFROM DOWNFROM TO UPTO DOWNTO BELOW ABOVE BY");

// The plan of a loop, built from its clauses before it becomes a form.

export interface LoopBinding {
  readonly variable: Sym;
  readonly value: Template;
}

/** How an iteration clause steps its variables. */
export interface Step {
  /** End tests before the variables are set. */
  readonly endWhenBefore: readonly Template[];
  readonly sets: readonly { readonly target: Value; readonly value: Template }[];
  /** Hidden variables, stepped after that. */
  readonly advance: readonly Template[];
  /** End tests after the variables are set. */
  readonly endWhenAfter: readonly Template[];
}

export const noStep: Step = { endWhenBefore: [], sets: [], advance: [], endWhenAfter: [] };

export interface Iteration {
  readonly first: Step;
  readonly rest: Step;
}

export interface LoopPlan {
  name: Value;
  /** Groups in the order of binding; the members of a group are bound in parallel. */
  readonly bindings: LoopBinding[][];
  /** Groups of clauses joined by `and`. */
  readonly iterations: Iteration[][];
  readonly prologue: Template[];
  readonly body: Template[];
  readonly epilogue: Template[];
  result: Template;
}

/** A variable that programs cannot name. */
export const hidden = (name: string): Sym => new Sym(name, null);

// Reads the forms of a `loop`. Loop keywords are compared by name, regardless of their package.

/** The remaining clauses. */
export class Clauses {
  readonly #forms: readonly Value[];
  readonly #m: Machine;
  #at = 0;

  constructor(forms: readonly Value[], m: Machine) {
    this.#forms = forms;
    this.#m = m;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#forms.length;
  }

  peek(): Value | undefined {
    return this.#forms[this.#at];
  }

  /** The next form; `what` is for the error message. */
  take(what: string): Value {
    const found = this.#forms[this.#at];
    if (found === undefined) return this.refuse(`LOOP ends where ${what} should be`);
    this.#at++;
    return found;
  }

  /** The name of the next form if it is a symbol. */
  word(): string | undefined {
    const next = this.peek();
    return next instanceof Sym && next !== NIL ? next.name : undefined;
  }

  /** Consumes the next word if it is one of these. */
  accept(...words: readonly string[]): string | undefined {
    const word = this.word();
    if (word === undefined || !words.includes(word)) return undefined;
    this.#at++;
    return word;
  }

  /** The forms up to the next word; at least one. */
  compound(after: string): Value[] {
    const forms: Value[] = [];
    while (this.peek() instanceof Cons) forms.push(this.take(after));
    if (forms.length === 0) this.refuse(`LOOP expects a form after ${after}`);
    return forms;
  }

  /** `of-type type`, or one of the types that may stand alone. */
  type(): Value {
    if (this.accept("OF-TYPE")) return this.take("a type");
    const next = this.peek();
    if (next === NIL || next === T || ["FIXNUM", "FLOAT"].includes(this.word() ?? ""))
      return this.take("a type");
    return T;
  }

  refuse(text: string): never {
    return this.#m.programError(text);
  }

  refuseNext(wanted: string): never {
    const next = this.peek();
    return this.refuse(
      next === undefined
        ? `LOOP ends where ${wanted} should be`
        : `LOOP expects ${wanted}, not ${this.#m.show(next)}`,
    );
  }
}
