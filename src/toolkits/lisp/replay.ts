import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import type { EvaluationRun } from "./evaluator.ts";
import { createReplay, type Entry } from "./journal.ts";
import type { Evaluation, HallRequest } from "./protocol.ts";
import { createLispThread } from "./thread.ts";

/** An evaluation gone through again, with what the hall answered then. Calls nobody. */
export interface ReplayedEvaluation {
  readonly evaluation: Evaluation;
  /** Where it went another way, in words; empty when it is the same. */
  readonly differences: readonly string[];
}

/** `runs` are those of its session up to it, oldest first. Throws NOT_FOUND where one was not kept whole. */
export async function replayEvaluation(runs: readonly EvaluationRun[], worker?: URL): Promise<ReplayedEvaluation> {
  const last = runs.at(-1);
  const missing = runs.find(({ entry }) => entry === undefined);
  if (!last || missing)
    throw new HallError("NOT_FOUND", `the run ${missing?.id ?? ""} was too large to be kept whole`, { hint: "What needs it can be shown, not replayed." });
  const tools = [...new Map(runs.flatMap((run) => run.tools).map((tool) => [tool.fullName, tool])).values()];
  const differences: string[] = [];
  const thread = createLispThread({ worker, seed: last.seed });
  try {
    let evaluation = last.evaluation;
    for (const [index, { entry }] of runs.entries()) {
      const { order, answers } = entry as Entry;
      const replay = createReplay(answers);
      const serve = async (request: HallRequest): Promise<unknown> => {
        if (request.kind === "show") return true;
        const found = replay(request);
        if (found) return found.value;
        const what = request.kind === "call" ? request.name : request.kind;
        differences.push(`${what} was not asked like this`);
        throw new HallError("UNAVAILABLE", `the record has no answer for ${what}`);
      };
      ({ evaluation } = await thread.run({ ...order, tools: index === 0 ? tools : undefined }, "evaluated", { scope: new Scope(), serve }));
    }
    return { evaluation, differences: [...differences, ...compare(last.evaluation, evaluation)] };
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
