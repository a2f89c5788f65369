// What names mean at a place in the program, while it is compiled. A scope is a chain of entries; inner ones hide outer ones.
import type { Macro } from "../function.ts";
import type { Sym } from "../symbol.ts";
import type { Value } from "../values.ts";
import type { Lambda } from "./nodes.ts";

/** A lexical variable, or a local function, which is a variable that holds a function. */
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
  /** Closures copy what they capture; only what changes afterwards needs a place of its own. */
  get boxed(): boolean {
    return this.captured && this.assigned;
  }
}

/** Where `return-from` or `go` leads. */
export class Target {
  readonly name: Value;
  readonly owner: Lambda;
  /** Tags of a tagbody by index of the statement they stand before; empty for a block. */
  readonly tags = new Map<Value, number>();
  /** Set once an exit cannot be made by answering EXIT: it holds what is thrown to. */
  token: Variable | null = null;
  /** Exits that answer EXIT. */
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
