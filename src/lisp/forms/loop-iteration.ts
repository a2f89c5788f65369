// The iteration clauses `for` and `as` of `loop`. This file also has `Clauses`, which reads the forms of any clause,
// and `LoopPlan`, which all clauses fill in; loop.ts reads the other clauses and turns the plan into a form.
import type { Template } from "../define.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym, T, words } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

export type LoopBinding = readonly [variable: Sym, value: Template];

/** How an iteration clause steps its variables. */
export interface Step {
  /** End tests before the variables are set. */
  readonly endWhenBefore?: readonly Template[];
  readonly sets?: readonly (readonly [target: Value, value: Template])[];
  /** Hidden variables, stepped after that. */
  readonly advance?: readonly Template[];
  /** End tests after the variables are set. */
  readonly endWhenAfter?: readonly Template[];
}

export interface Iteration {
  /** Hidden variables; each may use those before it. */
  readonly hidden: readonly LoopBinding[];
  readonly bindings: readonly LoopBinding[];
  readonly first: Step;
  readonly rest: Step;
}

export interface LoopPlan {
  name: Value;
  /** Groups in the order of binding; the members of a group are bound in parallel. */
  readonly bindings: (readonly LoopBinding[])[];
  /** Groups of clauses joined by `and`. */
  readonly iterations: Iteration[][];
  readonly prologue: Template[];
  readonly body: Template[];
  readonly epilogue: Template[];
}

/** A variable that programs cannot name. */
export const hidden = (name: string): Sym => new Sym(name, null);

export function readIteration(clauses: Clauses, plan: LoopPlan): void {
  const group: Iteration[] = [];
  do {
    clauses.accept("FOR", "AS");
    group.push(readFor(clauses));
  } while (clauses.accept("AND"));
  plan.iterations.push(group);
  const alone = (binding: LoopBinding): LoopBinding[] => [binding];
  plan.bindings.push(...group.flatMap((one) => one.hidden.map(alone)));
  // Clauses joined by `and` must not see each other's variables in their initial forms.
  const bindings = group.flatMap((one) => one.bindings);
  plan.bindings.push(...(group.length > 1 ? [bindings] : bindings.map(alone)));
}

function readFor(clauses: Clauses): Iteration {
  const target = clauses.take("a variable");
  clauses.type();
  if (clauses.accept("=")) return equals(target, clauses);
  if (clauses.accept("IN")) return overList(target, clauses.take("a list"), clauses);
  if (clauses.accept("ON"))
    return overList(target, clauses.take("a list"), clauses, (list) => list, "ATOM");
  if (clauses.accept("ACROSS")) return across(target, clauses);
  if (clauses.accept("BEING")) return being(target, clauses);
  return numeric(target, clauses);
}

const variablesOf = (target: Value): LoopBinding[] => {
  if (target instanceof Cons) return [...variablesOf(target.car), ...variablesOf(target.cdr)];
  return target instanceof Sym && target !== NIL ? [[target, NIL]] : [];
};

function equals(target: Value, clauses: Clauses): Iteration {
  const value = clauses.take("a value");
  const first: Step = { sets: [[target, value]] };
  const rest = clauses.accept("THEN")
    ? { sets: [[target, clauses.take("the next value")] as const] }
    : first;
  return { hidden: [], bindings: variablesOf(target), first, rest };
}

/** A clause whose first step is the same as all later ones. */
const steady = (hidden: readonly LoopBinding[], step: Step): Iteration => ({
  hidden,
  bindings: (step.sets ?? []).flatMap(([target]) => variablesOf(target)),
  first: step,
  rest: step,
});

function overList(
  target: Value,
  value: Template,
  clauses: Clauses,
  item = (list: Sym): Template => ["CAR", list],
  ended = "ENDP",
): Iteration {
  const list = hidden("LIST");
  const held: LoopBinding[] = [[list, value]];
  const next: Template = clauses.accept("BY")
    ? stepped(clauses.take("a function"), list, held)
    : ["CDR", list];
  return steady(held, {
    endWhenBefore: [[ended, list]],
    sets: [[target, item(list)]],
    advance: [["SETQ", list, next]],
  });
}

/** The step of `by`. `#'cddr` is called by its name; other functions are kept in a hidden variable. */
function stepped(by: Value, list: Sym, held: LoopBinding[]): Template {
  const [operator, name] = itemsOf(by);
  if (operator instanceof Sym && operator.name === "FUNCTION" && name instanceof Sym)
    return [name, list];
  const variable = hidden("BY");
  held.push([variable, by]);
  return ["FUNCALL", variable, list];
}

function across(target: Value, clauses: Clauses): Iteration {
  const [vector, index, length] = [hidden("VECTOR"), hidden("INDEX"), hidden("LENGTH")];
  const value = clauses.take("a vector");
  return steady(
    [
      [vector, value],
      [length, ["LENGTH", vector]],
      [index, 0],
    ],
    {
      endWhenBefore: [[">=", index, length]],
      sets: [[target, ["AREF", vector, index]]],
      advance: [["SETQ", index, ["1+", index]]],
    },
  );
}

function being(target: Value, clauses: Clauses): Iteration {
  if (!clauses.accept("THE", "EACH")) clauses.refuseNext("THE or EACH");
  const what = clauses.accept(...iterated);
  if (what === undefined) return clauses.refuseNext("HASH-KEYS, HASH-VALUES or SYMBOLS");
  const isGiven = clauses.accept("OF", "IN") !== undefined;
  if (what.includes("SYMBOL")) {
    const kind = `:${what.replace(/S?$/, "").replace(/-?SYMBOL$/, "") || "ACCESSIBLE"}`;
    const pkg = isGiven ? clauses.take("a package") : "*PACKAGE*";
    return overList(target, ["%PACKAGE-SYMBOLS", pkg, kind], clauses);
  }
  if (!isGiven) clauses.refuseNext("OF and a hash table");
  return entries(target, what.startsWith("HASH-KEY"), clauses);
}

const iterated = words(`HASH-KEY HASH-KEYS HASH-VALUE HASH-VALUES SYMBOL SYMBOLS PRESENT-SYMBOL
  PRESENT-SYMBOLS EXTERNAL-SYMBOL EXTERNAL-SYMBOLS`);

function entries(target: Value, byKey: boolean, clauses: Clauses): Iteration {
  const list = hidden("ENTRIES");
  const table = clauses.take("a hash table");
  const other = clauses.accept("USING") ? usingVariable(clauses) : NIL;
  const [one, two] = byKey ? ["CAR", "CADR"] : ["CADR", "CAR"];
  return steady([[list, ["%LOOP-ENTRIES", table]]], {
    endWhenBefore: [["ENDP", list]],
    sets: [[target, [one, list]], ...(other === NIL ? [] : [[other, [two, list]] as const])],
    advance: [["SETQ", list, ["CDDR", list]]],
  });
}

function usingVariable(clauses: Clauses): Value {
  const [word, variable] = itemsOf(clauses.take("(HASH-KEY variable) or (HASH-VALUE variable)"));
  const isKnown = word instanceof Sym && ["HASH-KEY", "HASH-VALUE"].includes(word.name);
  return isKnown && variable !== undefined
    ? variable
    : clauses.refuse("LOOP expects USING (HASH-KEY variable) or (HASH-VALUE variable)");
}

/** Start, limit and step are evaluated in the order in which the program writes them. */
function numeric(target: Value, clauses: Clauses): Iteration {
  if (!(target instanceof Sym)) return clauses.refuse("LOOP counts with one variable only");
  const variable = target === NIL ? hidden("COUNT") : target;
  const held: LoopBinding[] = [];
  const number = (name: string): Value => {
    const value = clauses.take("a number");
    if (typeof value === "number") return value;
    const holder = hidden(name);
    held.push([holder, value]);
    return holder;
  };
  let [from, by, limit]: [Value, Value, Value | null] = [0, 1, null];
  let [isDown, isStrict] = [false, false];
  let word = clauses.accept(...prepositions);
  if (word === undefined)
    return clauses.refuseNext("=, IN, ON, ACROSS, BEING or FROM after the variable");
  for (; word !== undefined; word = clauses.accept(...prepositions)) {
    if (word.startsWith("DOWN") || word === "ABOVE") isDown = true;
    if (word.endsWith("FROM")) from = number("FROM");
    else if (word === "BY") by = number("BY");
    else {
      limit = number("LIMIT");
      isStrict = word === "BELOW" || word === "ABOVE";
    }
  }
  const test = `${isDown ? "<" : ">"}${isStrict ? "=" : ""}`;
  const endWhenAfter = limit === null ? [] : [[test, variable, limit]];
  const sign = isDown ? "-" : "+";
  const move: Template = by === 1 ? [`1${sign}`, variable] : [sign, variable, by];
  const rest = { sets: [[variable, move] as const], endWhenAfter };
  return { hidden: held, bindings: [[variable, from]], first: { endWhenAfter }, rest };
}

const prepositions = words("FROM UPFROM DOWNFROM TO UPTO DOWNTO BELOW ABOVE BY");

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
    const found = this.peek() ?? this.refuseNext(what);
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
    const isType =
      [NIL, T].includes(this.peek() as Sym) || /^(FIXNUM|FLOAT)$/.test(this.word() ?? "");
    return isType ? this.take("a type") : T;
  }

  refuse(text: string): never {
    return this.#m.programError(text);
  }

  refuseNext(wanted: string): never {
    const next = this.peek();
    if (next === undefined) return this.refuse(`LOOP ends where ${wanted} should be`);
    return this.refuse(`LOOP expects ${wanted}, not ${this.#m.show(next)}`);
  }
}
