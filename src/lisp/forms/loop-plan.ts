// The plan of a loop, built from its clauses before it becomes a form.
import type { Template } from "../define.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";

export interface Binding {
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
  readonly bindings: Binding[][];
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
