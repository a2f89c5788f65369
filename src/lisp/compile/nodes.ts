// Nodes: analysed forms with resolved names and expanded macros. `emit` turns them into closures.

import { named } from "../define.ts";
import type { Fn, Frame, Macro } from "../function.ts";
import type { Position } from "../reader.ts";
import { Str } from "../string.ts";
import { Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import type { Analyser, Place } from "./analyse.ts";

export type Node =
  | { readonly kind: "constant"; readonly value: Value }
  | { readonly kind: "local"; readonly variable: Variable }
  | { readonly kind: "set-local"; readonly variable: Variable; readonly value: Node }
  | { readonly kind: "special"; readonly sym: Sym }
  | { readonly kind: "set-special"; readonly sym: Sym; readonly value: Node }
  | { readonly kind: "if"; readonly test: Node; readonly when: Node; readonly otherwise: Node }
  | { readonly kind: "or"; readonly items: readonly Node[] }
  | { readonly kind: "progn"; readonly body: readonly Node[] }
  | {
      readonly kind: "let";
      readonly bindings: readonly Binding[];
      readonly sequential: boolean;
      readonly body: Node;
    }
  | {
      readonly kind: "values-let";
      readonly variables: readonly (Variable | Sym)[];
      readonly form: Node;
      readonly body: Node;
    }
  | { readonly kind: "lambda"; readonly lambda: Lambda }
  | { readonly kind: "function"; readonly sym: Sym; readonly setter: boolean }
  | {
      readonly kind: "labels";
      readonly functions: readonly { readonly variable: Variable; readonly lambda: Lambda }[];
      readonly body: Node;
    }
  | {
      readonly kind: "call";
      readonly sym: Sym;
      readonly setter: boolean;
      readonly args: readonly Node[];
    }
  | { readonly kind: "call-local"; readonly variable: Variable; readonly args: readonly Node[] }
  | { readonly kind: "call-native"; readonly fn: Fn; readonly args: readonly Node[] }
  | { readonly kind: "funcall"; readonly fn: Node; readonly args: readonly Node[] }
  | { readonly kind: "values-call"; readonly fn: Node; readonly args: readonly Node[] }
  | { readonly kind: "values-list"; readonly form: Node }
  | { readonly kind: "values-prog1"; readonly first: Node; readonly rest: Node }
  | { readonly kind: "block"; readonly target: Target; readonly body: Node }
  | {
      readonly kind: "return";
      readonly target: Target;
      readonly value: Node;
      readonly direct: boolean;
    }
  | { readonly kind: "tagbody"; readonly target: Target; readonly statements: readonly Node[] }
  | {
      readonly kind: "go";
      readonly target: Target;
      readonly index: number;
      readonly direct: boolean;
    }
  | {
      readonly kind: "handler-case";
      /** Holds the condition for the clauses. */
      readonly condition: Variable;
      readonly body: Node;
      readonly clauses: readonly { readonly type: Value; readonly body: Node }[];
    };

/** A lexical variable or a special one. */
export interface Binding {
  readonly to: Variable | Sym;
  readonly init: Node;
}

/** An analysed function. */
export interface Lambda {
  readonly parent: Lambda | null;
  name: Value;
  lambdaList: string;
  documentation: string | null;
  /** The position of its definition. */
  position: Position | null;
  required: Variable[];
  optional: OptionalParameter[];
  rest: Variable | null;
  keys: KeyParameter[];
  hasKeys: boolean;
  allowOtherKeys: boolean;
  /** Parameters that are special variables, bound as soon as they have their value. */
  readonly dynamic: Map<Variable, Sym>;
  body: Node;
  /** Variables of outer functions, in the order of the closure's `env`. */
  readonly captures: Variable[];
  frameSize: number;
  /** The number of direct exits so far; tells whether a form contains one. */
  exits: number;
  /** Nodes that may return EXIT. */
  readonly exiting: Set<Node>;
}

export interface OptionalParameter {
  readonly variable: Variable;
  readonly init: Node;
  readonly supplied: Variable | null;
}

export interface KeyParameter extends OptionalParameter {
  readonly key: Sym;
}

// Closures of nodes and their modes; see `emit.ts`.

export type Run = (frame: Frame) => Value;
export type Test = (frame: Frame) => boolean;
export type Mode = "single" | "values" | "tail";

/** The mode of a body that is not last. */
export const notTail = (mode: Mode): Mode => (mode === "tail" ? "values" : mode);
// The lexical environment during compilation: a chain of entries, where inner ones hide outer ones.

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
