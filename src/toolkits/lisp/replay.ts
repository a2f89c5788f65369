import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import type { EvaluationRun } from "./evaluator.ts";
import { createReplay } from "./journal.ts";
import type { Evaluation } from "./protocol.ts";
import { createLispThread } from "./thread.ts";

/** An evaluation gone through again, with what the hall answered then. Calls nobody. */
export interface ReplayedEvaluation {
  readonly evaluation: Evaluation;
  /** Where it went another way, in words; empty when it is the same. */
  readonly differences: readonly string[];
}

/** Throws NOT_FOUND where the record is not whole. */
export async function replayEvaluation(run: EvaluationRun, worker?: URL): Promise<ReplayedEvaluation> {
  if (run.entries.length === 0)
    throw new HallError("NOT_FOUND", `the run ${run.id} was too large to be kept whole`, { hint: "It can be shown, not replayed." });
  const thread = createLispThread({ worker, seed: run.seed });
  const missing: string[] = [];
  try {
    let evaluation: Evaluation | undefined;
    for (const [index, { order, answers }] of run.entries.entries()) {
      const replay = createReplay(answers);
      const serve = async (request: Parameters<typeof replay>[0]): Promise<unknown> => {
        if (request.kind === "show") return true;
        const found = replay(request);
        if (found) return found.value;
        const what = request.kind === "call" ? request.name : request.kind;
        missing.push(`${what} was not asked like this`);
        throw new HallError("UNAVAILABLE", `the record has no answer for ${what}`);
      };
      ({ evaluation } = await thread.run({ ...order, tools: index === 0 ? run.tools : undefined }, "evaluated", { scope: new Scope(), serve }));
    }
    if (!evaluation) throw new HallError("INTERNAL", "nothing was evaluated");
    return { evaluation, differences: [...missing, ...compare(run.evaluation, evaluation)] };
  } finally {
    await thread.close();
  }
}

function compare(before: Evaluation, now: Evaluation): string[] {
  const parts = ["values", "stdout", "stderr", "warnings"] as const;
  const differences: string[] = parts.filter((part) => JSON.stringify(before[part]) !== JSON.stringify(now[part])).map((part) => `its ${part} differ`);
  if (before.condition?.type !== now.condition?.type)
    differences.push(`it ended with ${now.condition?.type ?? "values"}, then with ${before.condition?.type ?? "values"}`);
  return differences;
}
