// The lexical environment during compilation: a chain of entries, where inner ones hide outer ones.

import { named } from "../define.ts";
import type { Macro } from "../function.ts";
import { Str } from "../string.ts";
import { Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import type { Analyser, Place } from "./analyse.ts";
import type { Lambda, Node } from "./nodes.ts";

/** A lexical variable; local functions are variables, too. */
export class Variable {
  readonly name: Value;
  readonly owner: Lambda;
  readonly slot: number;
  /** A closure refers to it. */
  captured = false;
  /** It is set after its binding. */
  assigned = false;
  constructor(name: Value, owner: Lambda, slot: number) {
    this.name = name;
    this.owner = owner;
    this.slot = slot;
  }
  /** Closures copy captured variables; only those assigned later need a box. */
  get boxed(): boolean {
    return this.captured && this.assigned;
  }
}

/** The target of `return-from` or `go`. */
export class Target {
  readonly name: Value;
  readonly owner: Lambda;
  /** Tags of a tagbody with the index of the following statement; empty for a block. */
  readonly tags = new Map<Value, number>();
  /** Set if an exit cannot return EXIT: the variable of the token for throwing. */
  token: Variable | null = null;
  /** The number of exits that return EXIT. */
  hasDirect = false;
  constructor(name: Value, owner: Lambda) {
    this.name = name;
    this.owner = owner;
  }
}

export type Entry =
  | { readonly kind: "variable"; readonly name: Sym; readonly variable: Variable }
  | { readonly kind: "special"; readonly name: Sym }
  | { readonly kind: "symbol-macro"; readonly name: Sym; readonly expansion: Value }
  | {
      readonly kind: "function";
      readonly name: Sym;
      readonly setter: boolean;
      readonly variable: Variable;
    }
  | { readonly kind: "macro"; readonly name: Sym; readonly macro: Macro }
  | { readonly kind: "block"; readonly name: Sym; readonly target: Target }
  | { readonly kind: "tags"; readonly target: Target };

export class Scope {
  readonly lambda: Lambda;
  readonly entry: Entry | null;
  readonly outer: Scope | null;
  /** The first free slot of the frame. */
  readonly free: number;
  constructor(lambda: Lambda, entry: Entry | null, outer: Scope | null, free: number) {
    this.lambda = lambda;
    this.entry = entry;
    this.outer = outer;
    this.free = free;
  }

  with(entry: Entry, free = this.free): Scope {
    return new Scope(this.lambda, entry, this, free);
  }

  /** A scope inside a new function. */
  inside(lambda: Lambda): Scope {
    return new Scope(lambda, null, this, 1);
  }

  /** The same names, with slots below `free` in use. */
  above(free: number): Scope {
    return new Scope(this.lambda, null, this, free);
  }

  findVariable(
    name: Sym,
  ): Extract<Entry, { kind: "variable" | "special" | "symbol-macro" }> | undefined {
    for (let at: Scope | null = this; at !== null; at = at.outer) {
      const { entry } = at;
      if (
        entry !== null &&
        (entry.kind === "variable" || entry.kind === "special" || entry.kind === "symbol-macro") &&
        entry.name === name
      )
        return entry;
    }
    return undefined;
  }

  findFunction(
    name: Sym,
    setter = false,
  ): Extract<Entry, { kind: "function" | "macro" }> | undefined {
    for (let at: Scope | null = this; at !== null; at = at.outer) {
      const { entry } = at;
      if (entry?.kind === "function" && entry.name === name && entry.setter === setter)
        return entry;
      if (entry?.kind === "macro" && entry.name === name && !setter) return entry;
    }
    return undefined;
  }

  findBlock(name: Sym): Target | undefined {
    for (let at: Scope | null = this; at !== null; at = at.outer)
      if (at.entry?.kind === "block" && at.entry.name === name) return at.entry.target;
    return undefined;
  }

  findTag(tag: Value): Target | undefined {
    for (let at: Scope | null = this; at !== null; at = at.outer)
      if (at.entry?.kind === "tags" && at.entry.target.tags.has(tag)) return at.entry.target;
    return undefined;
  }
}

// The head of a body: declarations and a documentation string.

export interface Body {
  readonly forms: Value;
  readonly documentation: string | null;
  readonly specials: readonly Sym[];
}

const declare = named("DECLARE");
const special = named("SPECIAL");

/** Only `special` changes the meaning of a program; other declarations are ignored. */
export function splitBody(body: Value, takesDocumentation: boolean): Body {
  let documentation: string | null = null;
  const specials: Sym[] = [];
  let at = body;
  for (; at instanceof Cons; at = at.cdr) {
    const first: Value = at.car;
    if (first instanceof Cons && first.car === declare) specials.push(...specialsOf(first));
    else if (
      takesDocumentation &&
      first instanceof Str &&
      documentation === null &&
      at.cdr instanceof Cons
    )
      documentation = first.toString();
    else break;
  }
  return { forms: at, documentation, specials };
}

function specialsOf(declaration: Cons): Sym[] {
  return itemsOf(declaration.cdr).flatMap((specifier) =>
    specifier instanceof Cons && specifier.car === special
      ? itemsOf(specifier.cdr).filter((name) => name instanceof Sym)
      : [],
  );
}

// The special forms by name.

/** `operands` is the rest of the form. */
export type AnalyseSpecial = (
  analyser: Analyser,
  operands: Value,
  scope: Scope,
  place: Place,
  form: Cons,
) => Node;

const table = new Map<Sym, AnalyseSpecial>();

export function defineSpecial(name: string, analyse: AnalyseSpecial): void {
  table.set(named(name), analyse);
}

export function findSpecial(name: Sym): AnalyseSpecial | undefined {
  return table.get(name);
}
