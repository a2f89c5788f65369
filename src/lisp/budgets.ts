import { makeCondition } from "./conditions.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";

// What one evaluation may use up. A budget that runs out signals its own condition, once, and leaves a little grace so that
// handlers and cleanup forms can run; when that is gone too the evaluation ends, whatever the program would catch.

export interface Budgets {
  /** Function calls and turns of loops. Default 50,000,000. */
  readonly steps: number;
  /** Conses, elements of vectors and tables; eight characters count as one. Default 20,000,000. */
  readonly cells: number;
  /** Calls inside calls. Default 100,000; the host's stack may end earlier, with the same condition. */
  readonly depth: number;
  /** Characters of what is read afterwards: what was written, warnings, and how it ended. Default 1,000,000. */
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

/** What is left for cleanup after a budget ran out. */
export const grace = {
  steps: 200_000,
  cells: 50_000,
  depth: 200,
  output: 2_000,
  timeMs: 50,
} as const;

export const budgetTexts: Record<BudgetKind, string> = {
  STEP: "the evaluation used up its steps; look for a loop that does not end, or do less at a time",
  CELL: "the evaluation used up its memory; keep less at a time",
  DEPTH:
    "calls are nested too deeply; look for a recursion that does not end, or make it a tail call or a loop",
  OUTPUT: "the evaluation wrote too much; print less",
  TIME: "the evaluation took too long; look for a loop that does not end, or raise the time limit",
  INTERRUPT: "the evaluation was interrupted",
};

/** Thrown when the grace is gone. No form of a program catches it, and cleanup forms do not run again. */
export class Ended {
  readonly kind: BudgetKind;
  constructor(kind: BudgetKind) {
    this.kind = kind;
  }
}

// What happens when a budget has run out: its condition, once, with a little grace for cleanup; then the end, whatever the program would catch.

export function exceed(m: Machine, kind: BudgetKind): never {
  if (kind === "DEPTH") return exceedDepth(m);
  if (m.spent.has(kind)) throw new Ended(kind);
  m.spent.add(kind);
  grant(m, kind);
  const name = kind === "INTERRUPT" ? "GUILDHALL:INTERRUPTED" : `GUILDHALL:${kind}-BUDGET-EXCEEDED`;
  m.raise(makeCondition(name, { TEXT: new Str(budgetTexts[kind]) }));
}

function grant(m: Machine, kind: BudgetKind): void {
  // Whatever ran out, what follows is cleanup: no budget may be large any more.
  m.stepsLeft = Math.min(Math.max(m.stepsLeft, grace.steps), grace.steps);
  if (kind === "CELL") m.cellsLeft = grace.cells;
  if (kind === "OUTPUT") m.outputLeft = grace.output;
  if (kind === "TIME" || kind === "INTERRUPT") m.deadline = m.host.now() + grace.timeMs;
  m.spent.add("STEP");
  m.refill();
}

/** May be caught as often as a program likes: steps bound that. Handlers get some room above the limit. */
function exceedDepth(m: Machine): never {
  const max = m.depthMax;
  m.depthMax = Math.max(max, m.depth) + grace.depth;
  try {
    m.raise(makeCondition("GUILDHALL:DEPTH-BUDGET-EXCEEDED", { TEXT: new Str(budgetTexts.DEPTH) }));
  } finally {
    m.depthMax = max;
  }
}
