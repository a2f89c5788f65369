// What the clauses of a loop add up to, before it becomes a form.
import type { Template } from "../define.ts";
import { Sym } from "../symbol.ts";
import type { Value } from "../values.ts";

export interface Binding {
  readonly variable: Sym;
  readonly value: Template;
}

/** How one iteration clause gets its variables ready for a turn. */
export interface Step {
  /** The loop ends when one of these is true; asked before the variables are set. */
  readonly endWhenBefore: readonly Template[];
  readonly sets: readonly { readonly target: Value; readonly value: Template }[];
  /** Hidden variables moved on after that. */
  readonly advance: readonly Template[];
  /** Asked after the variables are set. */
  readonly endWhenAfter: readonly Template[];
}

export const noStep: Step = { endWhenBefore: [], sets: [], advance: [], endWhenAfter: [] };

export interface Iteration {
  readonly first: Step;
  readonly rest: Step;
}

export interface LoopPlan {
  name: Value;
  /** Groups in the order of binding; the members of a group are bound at once. */
  readonly bindings: Binding[][];
  /** Groups of clauses joined by `and`. */
  readonly iterations: Iteration[][];
  readonly prologue: Template[];
  readonly body: Template[];
  readonly epilogue: Template[];
  result: Template;
}

/** A variable no program can name. */
export const hidden = (name: string): Sym => new Sym(name, null);
