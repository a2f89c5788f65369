// The forms of a `loop` as its grammar reads them. Words are known by their names, whatever package they are in.
import type { Machine } from "../machine.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";

/** The clauses not read yet, and what went wrong where. */
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

  /** The next form; `what` names it should it be missing. */
  take(what: string): Value {
    const found = this.#forms[this.#at];
    if (found === undefined) return this.refuse(`LOOP ends where ${what} should be`);
    this.#at++;
    return found;
  }

  /** The name of the next form when it is a symbol. */
  word(): string | undefined {
    const next = this.peek();
    return next instanceof Sym && next !== NIL ? next.name : undefined;
  }

  /** Takes the next word if it is one of these. */
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
    if (forms.length === 0) this.refuse(`LOOP wants a form after ${after}`);
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
        : `LOOP wants ${wanted}, not ${this.#m.show(next)}`,
    );
  }
}
