import { type HandlerCluster, makeCondition, Unhandled } from "./conditions.ts";
import { named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { Transfer } from "./restarts.ts";
import { T } from "./symbol.ts";
import { Stream, type Value } from "./values.ts";

// The budgets of an evaluation. One that runs out signals its condition once and leaves a small grace for
// handlers and cleanup forms; after that the evaluation ends, and the program cannot catch it.

export interface Budgets {
  /** Function calls and loop iterations. Default 50,000,000. */
  readonly steps: number;
  /** Conses, elements of vectors and tables; eight characters count as one. Default 20,000,000. */
  readonly cells: number;
  /** Nested calls. Default 100,000; the host's stack may overflow earlier, with the same condition. */
  readonly depth: number;
  /** Characters of output, warnings and results. Default 1,000,000. */
  readonly output: number;
  /** Wall time in milliseconds. Default 30,000. */
  readonly timeMs: number;
  /** Bits of one integer. Default 1,000,000. */
  readonly integerBits: number;
}

export const defaultBudgets: Budgets = {
  steps: 50_000_000,
  cells: 20_000_000,
  depth: 100_000,
  output: 1_000_000,
  timeMs: 30_000,
  integerBits: 1_000_000,
};

/** The steps that a non-local exit takes. */
export const dearSteps = 200;

export type BudgetKind = "STEP" | "CELL" | "DEPTH" | "OUTPUT" | "TIME" | "INTERRUPT";

/** The grace for cleanup after a budget ran out. */
const grace = {
  steps: 200_000,
  cells: 50_000,
  depth: 200,
  output: 2_000,
  timeMs: 50,
} as const;

export const budgetTexts: Record<BudgetKind, string> = {
  STEP: "the evaluation exceeded its step limit; look for an endless loop, or do less at a time",
  CELL: "the evaluation exceeded its memory limit; keep less data at a time",
  DEPTH: "calls are nested too deeply; look for an endless recursion, or use a tail call or a loop",
  OUTPUT: "the evaluation exceeded its output limit; print less",
  TIME: "the evaluation exceeded its time limit; look for an endless loop, or raise the limit",
  INTERRUPT: "the evaluation was interrupted",
};

/** Thrown when the grace is used up. Programs cannot catch it, and cleanup forms do not run again. */
export class Ended {
  readonly kind: BudgetKind;
  constructor(kind: BudgetKind) {
    this.kind = kind;
  }
}

export function exceed(m: Machine, kind: BudgetKind): never {
  if (kind === "DEPTH") return exceedDepth(m);
  if (m.spent.has(kind)) throw new Ended(kind);
  m.spent.add(kind);
  grant(m, kind);
  const name = kind === "INTERRUPT" ? "GUILDHALL:INTERRUPTED" : `GUILDHALL:${kind}-BUDGET-EXCEEDED`;
  m.raise(makeCondition(name, { TEXT: budgetTexts[kind] }));
}

function grant(m: Machine, kind: BudgetKind): void {
  // Only cleanup follows, so the other budgets shrink, too.
  m.stepsLeft = Math.min(Math.max(m.stepsLeft, grace.steps), grace.steps);
  if (kind === "CELL") m.cellsLeft = grace.cells;
  if (kind === "OUTPUT") m.outputLeft = grace.output;
  if (kind === "TIME" || kind === "INTERRUPT") m.deadline = m.host.now() + grace.timeMs;
  m.spent.add("STEP");
  m.refill();
}

/** Can be handled repeatedly, because steps bound that. Handlers get some depth above the limit. */
function exceedDepth(m: Machine): never {
  const max = m.depthMax;
  m.depthMax = Math.max(max, m.depth) + grace.depth;
  try {
    m.raise(makeCondition("GUILDHALL:DEPTH-BUDGET-EXCEEDED", { TEXT: budgetTexts.DEPTH }));
  } finally {
    m.depthMax = max;
  }
}
// Output of programs, counted against the budgets, and the printed results.

/** Writes to a stream and counts the characters. */
export function write(m: Machine, stream: Stream, text: string): void {
  if (stream.sink === null) m.typeError(stream, "output-stream");
  if (stream.isOutput) countOutput(m, stream.sink, text, text.length);
  else m.alloc((text.length >> 3) + 1);
  stream.sink(text);
  const line = lastLine(text);
  stream.column = line < 0 ? stream.column + text.length : text.length - line - 1;
}

/** Records a warning; it counts as output, including its newline. */
export function keepWarning(m: Machine, text: string): void {
  const keep = (part: string): void => void m.warnings.push(part);
  countOutput(m, keep, text, text.length + 1);
  keep(text);
}

/** Writes to `*trace-output*`. */
export function trace(m: Machine, text: string): void {
  const stream = named("*TRACE-OUTPUT*").value ?? named("*STANDARD-OUTPUT*").value;
  if (stream instanceof Stream) write(m, stream, text);
}

/** Writes the part that fits before it signals the condition. */
function countOutput(m: Machine, sink: (text: string) => void, text: string, length: number): void {
  m.outputLeft -= length;
  if (m.outputLeft >= 0) return;
  sink(text.slice(0, Math.max(0, text.length + m.outputLeft)));
  exceed(m, "OUTPUT");
}

/** The index of the last newline. A loop is faster than `lastIndexOf` for short texts. */
function lastLine(text: string): number {
  if (text.length > 40) return text.lastIndexOf("\n");
  let at = text.length - 1;
  while (at >= 0 && text.charCodeAt(at) !== 10) at--;
  return at;
}

// The printed values or condition of a finished program. They count as output, so they are cut to fit.

/** Counts a text as output, and returns the part that fits. */
export type Room = (text: string) => string;

/** Always leaves a little, so that a program over its budget still reports that. */
export function createRoom({ outputLeft }: Machine): Room {
  let left = Math.max(outputLeft, grace.output);
  return (text) => {
    const fitting = Math.min(text.length, Math.max(0, left));
    // The newline counts, too, because many empty texts are long as well.
    left -= fitting + 1;
    return fitting === text.length
      ? text
      : `${text.slice(0, fitting)}… (${text.length - fitting} more characters)`;
  };
}

/** As the session prints them, or shortened (`brief`). */
export function showValues(
  m: Machine,
  values: readonly Value[],
  brief: boolean,
  room: Room,
): string[] {
  const shown = values.slice(0, valuesShown).map((value) => room(shownValue(m, value, brief)));
  return values.length > valuesShown
    ? [...shown, `… (${values.length - valuesShown} more values)`]
    : shown;
}

const valuesShown = 100;

/** Falls back to the short form for values that cannot be printed, such as circular ones. */
function shownValue(m: Machine, value: Value, brief: boolean): string {
  if (brief) return shortValue(m, value);
  try {
    return m.show(value);
  } catch {
    return shortValue(m, value);
  }
}

function shortValue(m: Machine, value: Value): string {
  const mark = m.bindings.length;
  for (const [name, setting] of shortened) m.bind(named(name), setting);
  const text = safely(() => m.show(value));
  m.unbindTo(mark);
  return text;
}

const shortened = [
  ["*PRINT-CIRCLE*", named("%CYCLES")],
  ["*PRINT-LENGTH*", 100],
  ["*PRINT-LEVEL*", 10],
  ["GUILDHALL:*PRINT-TABLES*", T],
] as const;

/** Printing may run the program's code and fail; the evaluation must still return a result. */
export function safely(print: () => string): string {
  try {
    return print();
  } catch (thrown) {
    if (thrown instanceof Unhandled) return `#<unprintable: ${thrown.condition.cls.name.name}>`;
    if (thrown instanceof Ended) return `#<unprintable: ${thrown.kind}-BUDGET-EXCEEDED>`;
    return "#<unprintable>";
  }
}

// Errors of the host as conditions: stack overflows, texts that are too long, and internal errors.

/** Signals an error of the host, mostly a stack overflow, to the handlers; returns the exit that they took. */
export function troubleIn(m: Machine, cluster: HandlerCluster, trouble: unknown): unknown {
  m.handlers = cluster;
  try {
    return asCondition(m, trouble);
  } catch (thrown) {
    return thrown;
  }
}

/** Signals the condition for an error of the host; rethrows anything else. */
export function asCondition(m: Machine, thrown: unknown): never {
  if (thrown instanceof Transfer || thrown instanceof Unhandled || thrown instanceof Ended)
    throw thrown;
  m.tick(dearSteps);
  if (thrown instanceof RangeError) exceed(m, isOverflow(thrown) ? "DEPTH" : "CELL");
  m.fail(`internal error: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}

export function isHostTrouble(thrown: unknown): boolean {
  return thrown instanceof Error;
}

const isOverflow = (thrown: RangeError): boolean => thrown.message.includes("call stack");
