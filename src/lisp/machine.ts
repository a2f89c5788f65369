// The state of one session and the services for natives. A machine runs one evaluation at a time, synchronously.
//
// Multiple values: a function returns its first value and leaves all of them in `mv`. `mv` is valid only right
// after code that sets it (`Code.single` false); null means exactly one value.
import { takeBacktrace } from "./backtrace.ts";
import { type BudgetKind, type Budgets, dearSteps, defaultBudgets, exceed } from "./budgets.ts";
import { enter0, enter1, enter2, enter3 } from "./calls.ts";
import {
  type ConditionSlots,
  type HandlerCluster,
  makeCondition,
  runHandlers,
  Unhandled,
} from "./conditions.ts";
import { named, sharedVariables, typeNamed } from "./define.ts";
import { Fn, type Frame, type Pending } from "./function.ts";
import type { DefinitionKind } from "./packages.ts";
import { type Restart, type Transfer, undefinedFunction } from "./restarts.ts";
import { Str } from "./string.ts";
import { NIL, type Package, Sym } from "./symbol.ts";
import { Cons, type Instance, type LispClass, listOf, type Stream, type Value } from "./values.ts";

/** Steps between two checks of the clock: about two milliseconds. */
const slice = 20_000;
/** For work of the host between evaluations. A small integer, so that counters stay small integers. */
const plenty = 1_000_000_000;

export class Machine {
  mv: Value[] | null = null;
  // The pending tail call while TAIL is returned.
  tailFn: Fn | null = null;
  tailCount = 0;
  tail0: Value = NIL;
  tail1: Value = NIL;
  tail2: Value = NIL;
  tailArgs: Value[] = [];
  // The pending local exit while EXIT is returned.
  exitTarget: unknown = null;
  exitValue: Value = NIL;
  exitTag = 0;

  fuel = slice;
  stepsLeft = plenty;
  cellsLeft = plenty;
  outputLeft = plenty;
  depth = 0;
  depthMax = plenty;
  deadline = Number.POSITIVE_INFINITY;
  readonly stack: Frame[] = [];

  handlers: HandlerCluster | null = null;
  restarts: Restart | null = null;
  /** Saved dynamic values: symbol, value, symbol, value … */
  readonly bindings: (Sym | Value | undefined)[] = [];
  readonly catchTags: unknown[] = [];
  /** The parallel branches that run now. */
  crew: { workWhile(pending: Pending): void } | null = null;

  readonly classes = new Map<Sym, LispClass>();
  readonly plists = new Map<Sym, Value>();
  readonly packages = new Map<string, Package>();
  /** Session data of definition modules: methods, types, setf expanders … one key each. */
  readonly kept = new Map<string, unknown>();
  readonly warnings: string[] = [];
  /** The error output of the current evaluation. */
  errorStream: Stream | null = null;
  readonly documentation = new Map<Sym, string>();
  readonly symbolMacros = new Map<Sym, Value>();
  /** The program's definitions in order. */
  readonly definitions = new Map<string, { readonly kind: DefinitionKind; readonly name: Value }>();
  /** The positions of lists in the program text. */
  readonly positions = new WeakMap<Cons, { readonly line: number; readonly column: number }>();
  readonly services: Services;
  readonly host: Host;
  budgets: Budgets = defaultBudgets;
  /** This session's values of the library's variables, in the order of `sharedVariables`. */
  #saved: (Value | undefined)[] = [];
  #isBusy = false;
  /** Budgets that ran out in this evaluation. */
  readonly spent = new Set<BudgetKind>();
  #sliceSize = slice;
  /** Without those of the current slice. */
  #stepsTaken = 0;

  constructor(services: Services, host: Host) {
    this.services = services;
    this.host = host;
  }

  /** Initialises the library's variables. Called after the packages exist. */
  initialise(): void {
    this.#saved = sharedVariables().map(({ initial }) =>
      typeof initial === "function" ? initial(this) : initial,
    );
  }

  // A session may be entered from inside another (by a host function that evaluates).
  /** Runs `work` with this session's own values of the library's variables. */
  enter<Result>(budgets: Budgets, work: () => Result): Result {
    if (this.#isBusy)
      throw new Error("this session is already evaluating; wait for it, or use another session");
    this.#isBusy = true;
    const variables = sharedVariables();
    const outside = variables.map(({ sym }) => sym.value);
    variables.forEach(({ sym }, index) => {
      sym.value = this.#saved[index];
    });
    this.#begin(budgets);
    try {
      return work();
    } finally {
      this.#isBusy = false;
      this.unbindTo(0);
      // Old frames would keep garbage alive.
      this.stack.length = 0;
      this.cellsLeft = plenty;
      this.stepsLeft = plenty;
      this.outputLeft = plenty;
      this.deadline = Number.POSITIVE_INFINITY;
      this.#saved = variables.map(({ sym }) => sym.value);
      variables.forEach(({ sym }, index) => {
        sym.value = outside[index];
      });
    }
  }

  #begin(budgets: Budgets): void {
    this.budgets = budgets;
    this.stepsLeft = budgets.steps;
    this.cellsLeft = budgets.cells;
    this.outputLeft = budgets.output;
    this.depthMax = budgets.depth;
    this.deadline = this.host.now() + budgets.timeMs;
    this.spent.clear();
    this.refill();
    this.#stepsTaken = 0;
    this.depth = 0;
    this.handlers = null;
    this.restarts = null;
    this.mv = null;
    this.warnings.length = 0;
    this.catchTags.length = 0;
  }

  /** The session's data under a key, made on first use. */
  keep<Data>(key: string, make: () => Data): Data {
    const known = this.kept.get(key) as Data | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.kept.set(key, made);
    return made;
  }

  // ---- budgets

  /** Takes the next slice of the remaining steps. */
  refill(): void {
    this.#countSlice();
    // A small integer, because the counter is decremented everywhere.
    this.#sliceSize = Math.min(slice, this.stepsLeft) | 0;
    this.fuel = this.#sliceSize;
  }

  /** Counts steps. Natives with long loops call it; compiled code counts by itself. */
  tick(steps: number): void {
    this.fuel -= steps;
    if (this.fuel < 0) this.refuel();
  }

  /** At the end of a slice: checks the clock and the remaining steps. */
  refuel(): void {
    this.#countSlice();
    this.look();
    if (this.stepsLeft <= 0) exceed(this, "STEP");
    this.refill();
  }

  /** Blocks until the host is done. In a parallel branch, the next branches start meanwhile. */
  waitFor(pending: Pending): void {
    this.crew?.workWhile(pending);
    while (!pending.done) {
      this.host.wait(pending);
      // Time passed without steps, so check the clock here.
      this.look();
    }
  }

  /** Checks the clock and for an interrupt. */
  look(): void {
    if (this.host.isInterrupted()) exceed(this, "INTERRUPT");
    if (this.host.now() > this.deadline) exceed(this, "TIME");
  }

  stepsUsed(): number {
    return this.#stepsTaken + this.#sliceSize - this.fuel;
  }

  #countSlice(): void {
    const steps = this.#sliceSize - this.fuel;
    this.#stepsTaken += steps;
    this.stepsLeft -= steps;
    this.fuel = 0;
    this.#sliceSize = 0;
  }

  /** Counts cells before they are allocated. */
  alloc(cells: number): void {
    this.cellsLeft -= cells;
    if (this.cellsLeft < 0) exceed(this, "CELL");
    if (cells > 1000) this.tick(cells >> 3);
  }

  /** Refuses an integer that would be too large. */
  checkBits(bits: number): void {
    if (bits > this.budgets.integerBits) exceed(this, "CELL");
    if (bits > 4096) this.tick(bits >> 6);
  }

  // ---- values

  /** Returns several values: `return m.values(quotient, remainder)`. */
  values(...all: Value[]): Value {
    this.mv = all.length === 1 ? null : all;
    return all[0] ?? NIL;
  }

  /** All values of the last call, which must have set `mv`. */
  allValues(first: Value): Value[] {
    return this.mv ?? [first];
  }

  cons(car: Value, cdr: Value): Cons {
    if (--this.cellsLeft < 0) exceed(this, "CELL");
    return new Cons(car, cdr);
  }

  list(items: readonly Value[], tail: Value = NIL): Value {
    this.alloc(items.length);
    return listOf(items, tail);
  }

  string(text: string): Str {
    this.alloc((text.length >> 3) + 1);
    return new Str(text);
  }

  // ---- calling

  /** A function designator as a function. */
  fn(designator: Value): Fn {
    if (designator instanceof Fn) return designator;
    if (designator instanceof Sym) return designator.fn ?? undefinedFunction(this, designator);
    if (
      designator instanceof Cons &&
      designator.cdr instanceof Cons &&
      designator.car === named("SETF") &&
      designator.cdr.car instanceof Sym
    )
      return designator.cdr.car.setter ?? undefinedFunction(this, designator);
    if (designator instanceof Cons && designator.car === named("LAMBDA"))
      return this.services.compile(this, designator);
    return this.typeError(designator, "(OR FUNCTION SYMBOL)");
  }

  call0(fn: Fn): Value {
    const answer = enter0(this, fn);
    return answer === null ? this.bounce() : this.#settle(fn, answer);
  }

  call1(fn: Fn, a: Value): Value {
    const answer = enter1(this, fn, a);
    return answer === null ? this.bounce() : this.#settle(fn, answer);
  }

  call2(fn: Fn, a: Value, b: Value): Value {
    const answer = enter2(this, fn, a, b);
    return answer === null ? this.bounce() : this.#settle(fn, answer);
  }

  call3(fn: Fn, a: Value, b: Value, c: Value): Value {
    const answer = enter3(this, fn, a, b, c);
    return answer === null ? this.bounce() : this.#settle(fn, answer);
  }

  apply(fn: Fn, args: Value[]): Value {
    const answer = fn.code.cn(this, fn, args);
    return answer === null ? this.bounce() : this.#settle(fn, answer);
  }

  #settle(fn: Fn, answer: Value): Value {
    if (fn.code.single) this.mv = null;
    return answer;
  }

  /** Runs pending tail calls until one returns a value. */
  bounce(): Value {
    for (;;) {
      const fn = this.tailFn as Fn;
      let answer: Value;
      switch (this.tailCount) {
        case 0:
          answer = enter0(this, fn);
          break;
        case 1:
          answer = enter1(this, fn, this.tail0);
          break;
        case 2:
          answer = enter2(this, fn, this.tail0, this.tail1);
          break;
        case 3:
          answer = enter3(this, fn, this.tail0, this.tail1, this.tail2);
          break;
        default:
          answer = fn.code.cn(this, fn, this.tailArgs);
      }
      if (answer !== null) return this.#settle(fn, answer);
    }
  }

  // ---- dynamic variables

  bind(sym: Sym, value: Value | undefined): void {
    this.bindings.push(sym, sym.value);
    sym.value = value;
  }

  /** Undoes bindings down to a mark of `bindings.length`. Safe to repeat, also after a stack overflow. */
  unbindTo(mark: number): void {
    const { bindings } = this;
    while (bindings.length > mark) {
      const value = bindings.pop() as Value | undefined;
      (bindings.pop() as Sym).value = value;
    }
  }

  // ---- signalling

  /** Signals a condition; without a handler it ends the evaluation. */
  raise(condition: Instance): never {
    throw this.exitOf(condition);
  }

  /** Signals a condition; returns what to throw. */
  exitOf(condition: Instance): Transfer | Unhandled {
    // Signalling costs far more than a call, and steps decide when the clock is checked.
    this.tick(dearSteps);
    const exit = runHandlers(this, condition);
    if (exit !== null) return exit;
    const restarts: string[] = [];
    for (let at = this.restarts; at !== null; at = at.outer) restarts.push(at.name.name);
    return new Unhandled(condition, takeBacktrace(this), restarts);
  }

  /** Signals a standard condition: `m.error("DIVISION-BY-ZERO", { OPERATION: …, OPERANDS: … })`. */
  error(className: string, slots: ConditionSlots = {}): never {
    this.raise(makeCondition(className, slots));
  }

  /** Signals a SIMPLE-ERROR. */
  fail(text: string): never {
    this.error("SIMPLE-ERROR", { "FORMAT-CONTROL": text.replaceAll("~", "~~") });
  }

  /** `expected` is a type or its text: `m.typeError(x, "list")`; a format control replaces the usual report. */
  typeError(datum: Value, expected: Value | string, control?: string, ...args: Value[]): never {
    const type = typeof expected === "string" ? typeNamed(expected) : expected;
    const slots = { DATUM: datum, "EXPECTED-TYPE": type };
    if (control === undefined) this.error("TYPE-ERROR", slots);
    const report = { "FORMAT-CONTROL": control, "FORMAT-ARGUMENTS": this.list(args) };
    this.error("SIMPLE-TYPE-ERROR", { ...slots, ...report });
  }

  programError(text: string): never {
    this.error("PROGRAM-ERROR", { TEXT: text });
  }

  wrongCount(fn: Fn, count: number): never {
    const expected = fn.code.lambdaList === "" ? "()" : `(${fn.code.lambdaList})`;
    this.programError(
      `${this.show(fn.code.name)} was called with ${count} argument${count === 1 ? "" : "s"}; it takes ${expected}`,
    );
  }

  /** For features that are absent on purpose; `text` names an alternative. */
  unavailable(name: Sym, text: string): never {
    this.error("GUILDHALL:NOT-AVAILABLE", { NAME: name, TEXT: text });
  }

  // ---- text

  /** As `prin1` prints it. */
  show(value: Value): string {
    return this.services.print(this, value, true);
  }

  formatted(control: Value, args: Value): string {
    return this.services.format(this, control, args);
  }
}

/** The parts of the library that the machine uses. */
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
  /** Milliseconds from any origin, for budgets. */
  readonly now: () => number;
  /** The same for programs; a replay returns the recorded readings. */
  readonly timer: () => number;
  /** Seconds since 1970, for programs. */
  readonly clock: () => number;
  /** For `(random …)` without a seed. */
  readonly seed: () => number;
  /** Checked every few thousand steps. */
  readonly isInterrupted: () => boolean;
  /** Blocks until it is done, the program is stopped, or its time is up. Needed only for `waitFor`. */
  readonly wait: (pending: Pending) => void;
  /** Blocks for that time, or until interrupted. */
  readonly sleep: (ms: number) => void;
}
