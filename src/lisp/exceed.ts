// What happens when a budget has run out: its condition, once, with a little grace for cleanup; then the end, whatever the program would catch.
import { type BudgetKind, budgetTexts, Ended, grace } from "./budgets.ts";
import { makeCondition } from "./conditions.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";

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
