import { findRun, type KeptRun, listRuns, type RunOutline } from "../../agents/runs.ts";
import { onlyOutline, type ReplayedRun, replayKept } from "../runs.ts";
import type { Area, PageParts } from "./area.ts";

/** The recorded runs of agents and programs. */
export interface RunMethods {
  /** Newest first. */
  runs: { params: Record<string, never>; result: { readonly runs: readonly RunOutline[] } };
  run: { params: { readonly id: string }; result: KeptRun };
  /** Calls no tool and no model. */
  replayRun: { params: { readonly id: string }; result: ReplayedRun };
}

const runsMax = 500;

export function runArea({ hall }: PageParts): Area<RunMethods> {
  const shelf = hall.store.runs;
  async function get(id: string): Promise<KeptRun> {
    const found = await findRun(shelf, id);
    if (found) return found;
    throw onlyOutline(id);
  }
  return {
    runs: {
      scope: "read",
      async run() {
        await hall.store.flush().catch(() => {});
        return { runs: (await listRuns(shelf)).slice(0, runsMax) };
      },
    },
    run: { scope: "read", fields: { id: "string" }, run: ({ id }) => get(id) },
    replayRun: {
      scope: "call",
      fields: { id: "string" },
      run: async ({ id }) => replayKept(shelf, await get(id)),
    },
  };
}
