import { makeCondition } from "./conditions.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";

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

export type BudgetKind = "STEP" | "CELL" | "DEPTH" | "OUTPUT" | "TIME" | "INTERRUPT";

/** The grace for cleanup after a budget ran out. */
export const grace = {
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
  m.raise(makeCondition(name, { TEXT: new Str(budgetTexts[kind]) }));
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
    m.raise(makeCondition("GUILDHALL:DEPTH-BUDGET-EXCEEDED", { TEXT: new Str(budgetTexts.DEPTH) }));
  } finally {
    m.depthMax = max;
  }
}
