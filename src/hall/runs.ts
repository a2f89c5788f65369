import type { EndedRun } from "../agents/run.ts";
import { type EvaluationRecord, findRun, type KeptRun } from "../agents/runs.ts";
import { HallError } from "../base/errors.ts";
import type { DocumentStore } from "../store/store.ts";
import type { EvaluationResult } from "../toolkits/programs/protocol.ts";
import type { EvaluationRun } from "../toolkits/programs/recording.ts";

/** A recorded run that was repeated with its recorded answers: no tool and no model was called. */
export type ReplayedRun = {
  /** Where it differs from the record; empty if it is the same. */
  readonly differences: readonly string[];
} & (
  | { readonly kind: "agent"; readonly ended: EndedRun }
  | { readonly kind: "program"; readonly evaluation: EvaluationResult }
);

/** Throws NOT_FOUND if the record is incomplete. */
export async function replayKept(documents: DocumentStore, record: KeptRun): Promise<ReplayedRun> {
  if ("evaluation" in record) {
    const { replayEvaluation } = await import("../toolkits/programs/recording.ts");
    const { evaluation, differences } = await replayEvaluation(await listBefore(documents, record));
    return { kind: "program", evaluation, differences };
  }
  const { replayRun } = await import("../agents/replay.ts");
  const { ended, differences } = await replayRun(record);
  return { kind: "agent", ended, differences };
}

/** The runs of its session up to this one, oldest first. Throws NOT_FOUND if one is missing. */
async function listBefore(
  documents: DocumentStore,
  { evaluation }: EvaluationRecord,
): Promise<readonly EvaluationRun[]> {
  const runs = [evaluation];
  for (let { before } = evaluation; before !== undefined; ) {
    const record = await findRun(documents, before);
    if (!record || !("evaluation" in record)) {
      throw new HallError(
        "NOT_FOUND",
        `run ${before}, an earlier one of the same session, is no longer stored`,
        { hint: "Whole runs are kept for seven days." },
      );
    }
    runs.unshift(record.evaluation);
    ({ before } = record.evaluation);
  }
  return runs;
}

/** The record is whole for a week at most; see store.runs in the config. */
export function onlyOutline(id: string): HallError {
  return new HallError("NOT_FOUND", `only the outline of run ${id} is still stored`, {
    hint: "Whole runs are kept for seven days; see store.runs in the config.",
  });
}
