// What a machine has around it: the library above, and whoever runs it.
import type { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import type { Value } from "./values.ts";

/** What the machine needs of the library above it. */
export interface Services {
  /** `prin1` when `readably`, else `princ`. */
  readonly print: (m: Machine, value: Value, readably: boolean) => string;
  /** `(apply #'format nil control arguments)`. */
  readonly format: (m: Machine, control: Value, args: Value) => string;
  readonly typep: (m: Machine, value: Value, type: Value) => boolean;
  /** Compiles a lambda expression in the null lexical environment. */
  readonly compile: (m: Machine, lambda: Value) => Fn;
  readonly evaluate: (m: Machine, form: Value) => Value;
}

export interface Host {
  /** Milliseconds, any origin: what budgets are measured with. */
  readonly now: () => number;
  /** The same as programs read it. A host that runs a program again hands out what it read the first time. */
  readonly timer: () => number;
  /** Seconds since 1970, as programs read them. */
  readonly clock: () => number;
  /** For `(random …)` in a session that was not seeded. */
  readonly seed: () => number;
  /** Asked every few thousand steps. */
  readonly isInterrupted: () => boolean;
  /** Blocks until one of them is done. Only powers that `start` need it. */
  readonly waitAny: (pendings: readonly { readonly done: boolean }[]) => void;
  /** Blocks for that long, or until interrupted. */
  readonly sleep: (ms: number) => void;
}
