// Nodes: analysed forms with resolved names and expanded macros. `emit` turns them into closures.

import { named } from "../define.ts";
import type { Fn, Frame, Macro } from "../function.ts";
import type { Position } from "../reader.ts";
import { Str } from "../string.ts";
import { Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import type { Analyser, Place } from "./analyse.ts";

/** The parts of a node by its kind. */
interface Parts {
  constant: { value: Value };
  local: { variable: Variable };
  "set-local": { variable: Variable; value: Node };
  special: { sym: Sym };
  "set-special": { sym: Sym; value: Node };
  if: { test: Node; when: Node; otherwise: Node };
  or: { items: readonly Node[] };
  progn: { body: readonly Node[] };
  let: { bindings: readonly Binding[]; sequential: boolean; body: Node };
  "values-let": { variables: readonly (Variable | Sym)[]; form: Node; body: Node };
  lambda: { lambda: Lambda };
  function: { sym: Sym; setter: boolean };
  labels: { functions: readonly { variable: Variable; lambda: Lambda }[]; body: Node };
  call: { sym: Sym; setter: boolean; args: readonly Node[] };
  "call-local": { variable: Variable; args: readonly Node[] };
  "call-native": { fn: Fn; args: readonly Node[] };
  funcall: { fn: Node; args: readonly Node[] };
  "values-call": { fn: Node; args: readonly Node[] };
  "values-list": { form: Node };
  "values-prog1": { first: Node; rest: Node };
  block: { target: ExitTarget; body: Node };
  return: { target: ExitTarget; value: Node; direct: boolean };
  tagbody: { target: ExitTarget; statements: readonly Node[] };
  go: { target: ExitTarget; index: number; direct: boolean };
  /** The variable holds the condition for the clauses. */
  "handler-case": {
    condition: Variable;
    body: Node;
    clauses: readonly { type: Value; body: Node }[];
  };
}

export type Kind = keyof Parts;
export type NodeOf<Wanted extends Kind> = {
  [One in Wanted]: { readonly kind: One } & Readonly<Parts[One]>;
}[Wanted];
export type Node = NodeOf<Kind>;

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
export class ExitTarget {
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
  | { readonly kind: "block"; readonly name: Sym; readonly target: ExitTarget }
  | { readonly kind: "tags"; readonly target: ExitTarget };

export class LexicalScope {
  readonly lambda: Lambda;
  readonly entry: Entry | null;
  readonly outer: LexicalScope | null;
  /** The first free slot of the frame. */
  readonly free: number;
  constructor(lambda: Lambda, entry: Entry | null, outer: LexicalScope | null, free: number) {
    this.lambda = lambda;
    this.entry = entry;
    this.outer = outer;
    this.free = free;
  }

  with(entry: Entry, free = this.free): LexicalScope {
    return new LexicalScope(this.lambda, entry, this, free);
  }

  /** A scope inside a new function. */
  inside(lambda: Lambda): LexicalScope {
    return new LexicalScope(lambda, null, this, 1);
  }

  /** The same names, with slots below `free` in use. */
  above(free: number): LexicalScope {
    return new LexicalScope(this.lambda, null, this, free);
  }

  findVariable(
    name: Sym,
  ): Extract<Entry, { kind: "variable" | "special" | "symbol-macro" }> | undefined {
    return this.#find(
      (entry) =>
        (entry.kind === "variable" || entry.kind === "special" || entry.kind === "symbol-macro") &&
        entry.name === name,
    );
  }

  findFunction(
    name: Sym,
    setter = false,
  ): Extract<Entry, { kind: "function" | "macro" }> | undefined {
    return this.#find((entry) =>
      entry.kind === "function"
        ? entry.name === name && entry.setter === setter
        : entry.kind === "macro" && entry.name === name && !setter,
    );
  }

  findBlock(name: Sym): ExitTarget | undefined {
    return this.#find<"block">((entry) => entry.kind === "block" && entry.name === name)?.target;
  }

  findTag(tag: Value): ExitTarget | undefined {
    return this.#find<"tags">((entry) => entry.kind === "tags" && entry.target.tags.has(tag))
      ?.target;
  }

  #find<Wanted extends Entry["kind"]>(
    fits: (entry: Entry) => boolean,
  ): Extract<Entry, { kind: Wanted }> | undefined {
    for (let at: LexicalScope | null = this; at !== null; at = at.outer)
      if (at.entry !== null && fits(at.entry)) return at.entry as Extract<Entry, { kind: Wanted }>;
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
  scope: LexicalScope,
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
