// The public interface: a session and its evaluations. Sessions share nothing that a program can change.
import { type Budgets, createRoom, defaultBudgets, showValues } from "./budgets.ts";
import { compileLambda, evaluateForm } from "./compile/compile.ts";
import { reportOf, Unhandled } from "./conditions.ts";
import { type ConditionReport, reportCondition } from "./core/handling.ts";
import { named, nativeFunction } from "./define.ts";
import { formatText } from "./format/format.ts";
import { type Host, Machine } from "./machine.ts";
import {
  addPackage,
  currentPackage,
  type DefinitionKind,
  findPackage,
  intern,
  openPackages,
  packageVariable,
  shadowExtras,
} from "./packages.ts";
import { printText } from "./printer.ts";
import { type Position, Reader } from "./reader.ts";
import { defineStandard } from "./standard.ts";
import { Str } from "./string.ts";
import { NIL, Package } from "./symbol.ts";
import { typep } from "./types.ts";
import { Cons, Stream, type Value } from "./values.ts";

export interface LispOptions {
  readonly budgets?: Partial<Budgets>;
  readonly host?: Partial<Host>;
  /** Prints values for reading: long or deep ones are cut, hash tables show their contents. Default false. */
  readonly brief?: boolean;
}

export interface EvaluateOptions {
  readonly budgets?: Partial<Budgets>;
  /** The initial package. Default: that of the end of the last evaluation. */
  readonly package?: string | undefined;
}

export interface Evaluation {
  /** Printed readably. Empty after an error. */
  readonly values: readonly string[];
  readonly results: readonly Value[];
  readonly output: string;
  readonly errorOutput: string;
  readonly warnings: readonly string[];
  readonly condition: ConditionReport | null;
  readonly package: string;
  readonly steps: number;
  readonly cells: number;
  readonly elapsedMs: number;
}

/** A host function for programs. It may block; `m.waitFor` lets parallel branches wait together. */
export interface HostFunction {
  readonly lambdaList?: string;
  readonly documentation?: string;
  readonly call: (m: Machine, args: Value[]) => Value;
}

export interface Definition {
  readonly kind: DefinitionKind;
  readonly name: string;
}

export interface Lisp {
  readonly machine: Machine;
  evaluate(text: string, options?: EvaluateOptions): Evaluation;
  /** Defines an exported function; makes the package if needed. */
  define(packageName: string, name: string, fn: HostFunction): void;
  /** The program's definitions in order. */
  definitions(): readonly Definition[];
  /** Ends the current evaluation; may be called from a host function. */
  interrupt(): void;
}

export function createLisp(options: LispOptions = {}): Lisp {
  defineStandard();
  let interrupted = false;
  const host: Host = {
    ...plainHost,
    ...options.host,
    isInterrupted: () => interrupted || (options.host?.isInterrupted?.() ?? false),
  };
  const machine = new Machine(
    { print: printText, format: formatText, typep, compile: compileLambda, evaluate: evaluateForm },
    host,
  );
  openPackages(machine);
  machine.initialise();
  const budgets = { ...defaultBudgets, ...options.budgets };
  return {
    machine,
    evaluate: (text, how = {}) => {
      interrupted = false;
      return evaluate(machine, text, {
        budgets: { ...budgets, ...how.budgets },
        packageName: how.package,
        brief: options.brief ?? false,
      });
    },
    define: (packageName, name, fn) => defineHostFunction(machine, packageName, name, fn),
    definitions: () =>
      [...machine.definitions.values()].map(({ kind, name }) => ({
        kind,
        name: machine.show(name),
      })),
    interrupt: () => {
      interrupted = true;
    },
  };
}

const plainHost: Host = {
  now: () => performance.now(),
  timer: () => performance.now(),
  clock: () => Date.now() / 1000,
  seed: () => Math.floor(Math.random() * 2 ** 32),
  isInterrupted: () => false,
  wait: () => {
    throw new Error("this session cannot wait");
  },
  sleep: (ms) => {
    // Busy waiting, because there is no way to block here.
    const end = performance.now() + ms;
    while (performance.now() < end);
  },
};

interface How {
  readonly budgets: Budgets;
  readonly packageName: string | undefined;
  readonly brief: boolean;
}

function evaluate(m: Machine, text: string, { budgets, packageName, brief }: How): Evaluation {
  const began = m.host.now();
  const output: string[] = [];
  const errors: string[] = [];
  return m.enter(budgets, () => {
    redirect("*STANDARD-OUTPUT*", output);
    m.errorStream = redirect("*ERROR-OUTPUT*", errors);
    redirect("*TRACE-OUTPUT*", output);
    redirect("*TERMINAL-IO*", output).source = [];
    let results: Value[] = [];
    let condition: ConditionReport | null = null;
    const reading: Reading = { position: null };
    try {
      if (packageName !== undefined) enterPackage(m, packageName);
      results = evaluateAll(m, text, reading);
    } catch (thrown) {
      condition = { ...reportCondition(m, thrown), ...reading };
    }
    const used = { steps: m.stepsUsed(), cells: budgets.cells - m.cellsLeft };
    const room = createRoom(m);
    return {
      values: condition === null ? showValues(m, results, brief, room) : [],
      results,
      output: output.join(""),
      errorOutput: errors.join(""),
      warnings: [...m.warnings],
      condition: condition && { ...condition, message: room(condition.message) },
      package: currentPackage(m).name,
      ...used,
      elapsedMs: m.host.now() - began,
    };
  });
}

function redirect(name: string, into: string[]): Stream {
  const stream = new Stream(
    (text) => void into.push(text),
    name === "*TERMINAL-IO*" ? "TWO-WAY-STREAM" : "STREAM",
  );
  stream.isOutput = true;
  named(name).value = stream;
  return stream;
}

function enterPackage(m: Machine, name: string): void {
  const found = findPackage(m, new Str(name)) ?? findPackage(m, new Str(name.toUpperCase()));
  if (found === undefined)
    m.error("PACKAGE-ERROR", { PACKAGE: new Str(name), TEXT: `unknown package ${name}` });
  packageVariable.value = found;
}

/** The form being evaluated. */
interface Reading {
  position: Position | null;
}

function evaluateAll(m: Machine, text: string, reading: Reading): Value[] {
  const reader = new Reader(m, text);
  let results: Value[] = [];
  for (let form = reader.next(); form !== undefined; form = reader.next()) {
    reading.position = form instanceof Cons ? (m.positions.get(form) ?? null) : null;
    shadowExtras(m, form);
    named("-").value = form;
    const first = evaluateForm(m, form);
    results = m.allValues(first);
    remember(m, form, results);
    reading.position = null;
  }
  return results;
}

/** Updates `*`, `+` and `/` and their previous values. */
function remember(m: Machine, form: Value, results: Value[]): void {
  for (const [name, value] of [
    ["*", results[0] ?? NIL],
    ["/", m.list(results)],
    ["+", form],
  ] as const) {
    const [latest, before, earlier] = [named(name), named(name.repeat(2)), named(name.repeat(3))];
    earlier.value = before.value;
    before.value = latest.value;
    latest.value = value;
  }
}

function defineHostFunction(
  m: Machine,
  packageName: string,
  name: string,
  host: HostFunction,
): void {
  let pkg = m.packages.get(packageName);
  if (pkg === undefined) {
    pkg = new Package(packageName);
    addPackage(m, pkg);
  }
  const sym = intern(m, pkg, name);
  pkg.external.add(name);
  const lambdaList = host.lambdaList ?? "&rest arguments";
  const fn = nativeFunction(sym, "&rest arguments", (inner, args: Value[]) =>
    host.call(inner, args),
  );
  fn.code.lambdaList = lambdaList;
  fn.code.documentation = host.documentation ?? null;
  sym.fn = fn;
}

/** The result of reading a text without running it. */
export type SyntaxCheck =
  | { readonly kind: "whole"; readonly forms: number }
  /** It ends inside a form. */
  | { readonly kind: "unfinished"; readonly problem: string }
  | { readonly kind: "wrong"; readonly problem: string };

let syntaxSession: Lisp | undefined;

export function checkSyntax(code: string): SyntaxCheck {
  syntaxSession ??= createLisp();
  const { machine } = syntaxSession;
  return machine.enter({ ...defaultBudgets, timeMs: 2_000 }, (): SyntaxCheck => {
    const reader = new Reader(machine, code);
    // Packages that the program would make need not exist.
    reader.suppress = true;
    let forms = 0;
    try {
      while (reader.next() !== undefined) forms++;
      return { kind: "whole", forms };
    } catch (thrown) {
      // A circular list, or one too deep for the stack.
      if (thrown instanceof RangeError)
        return { kind: "wrong", problem: "the code is too long or too deep to read" };
      if (!(thrown instanceof Unhandled)) throw thrown;
      const { condition } = thrown;
      const isUnfinished = condition.cls.precedence.some(({ name }) => name.name === "END-OF-FILE");
      return { kind: isUnfinished ? "unfinished" : "wrong", problem: reportOf(machine, condition) };
    }
  });
}
