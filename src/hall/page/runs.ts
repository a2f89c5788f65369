import { findRun, type KeptRun, listRuns } from "../../agents/runs.ts";
import { onlyOutline, replayKept } from "../runs.ts";
import { method, type PageParts } from "./area.ts";

const runsMax = 500;

/** The recorded runs of agents and programs. */
export function runArea({ hall }: PageParts) {
  const documents = hall.store.runs;
  async function get(id: string): Promise<KeptRun> {
    const found = await findRun(documents, id);
    if (found) return found;
    throw onlyOutline(id);
  }
  return {
    /** Newest first. */
    runs: method("read", {}, async () => {
      await hall.store.flush().catch(() => {});
      return { runs: (await listRuns(documents)).slice(0, runsMax) };
    }),
    run: method("read", { id: "string" }, ({ id }) => get(id)),
    /** Calls no tool and no model. */
    replayRun: method("call", { id: "string" }, async ({ id }) =>
      replayKept(documents, await get(id)),
    ),
  };
}
