import type { CallRow } from "../store/store.ts";
import { type Counted, count, createTally, type Tally, unknownName } from "../store/tally.ts";

/** Call counters since the hall opened. They only grow, as metrics collectors expect. */
export interface Meter {
  count(row: Counted & Pick<CallRow, "toolkit" | "tool">): void;
  all(): Iterable<Metered>;
}

export interface Metered {
  readonly toolkit: string;
  readonly tool: string;
  readonly tally: Tally;
  /** Calls by outcome: ok, error, or the error code. */
  readonly outcomes: ReadonlyMap<string, number>;
}

export function createMeter(): Meter {
  const byTool = new Map<string, Metered & { readonly outcomes: Map<string, number> }>();
  return {
    count(row) {
      const tool = row.toolkit === null ? unknownName : row.tool;
      let metered = byTool.get(tool);
      if (!metered) {
        metered = {
          toolkit: row.toolkit ?? unknownName,
          tool,
          tally: createTally(),
          outcomes: new Map(),
        };
        byTool.set(tool, metered);
      }
      count(metered.tally, row);
      const outcome = row.code ?? row.outcome;
      metered.outcomes.set(outcome, (metered.outcomes.get(outcome) ?? 0) + 1);
    },
    all: () => byTool.values(),
  };
}
