import { HallError } from "../../base/errors.ts";
import { Scope } from "../../base/scope.ts";
import { writeFailure } from "./answer-text.ts";
import { createReplay } from "./journal.ts";
import { type EvaluationRun, type KeptEntry, keyOf } from "./kept-run.ts";
import type { Evaluation, HallRequest } from "./protocol.ts";
import { createLispThread } from "./thread.ts";

/** An evaluation gone through again, with what the hall answered then. Calls nobody. */
export interface ReplayedEvaluation {
  readonly evaluation: Evaluation;
  /** Where it went another way, in words; empty when it is the same. */
  readonly differences: readonly string[];
}

/** `runs` are those of its session up to it, oldest first. Throws NOT_FOUND where one was not kept whole. */
export async function replayEvaluation(
  runs: readonly EvaluationRun[],
  worker?: URL,
): Promise<ReplayedEvaluation> {
  const last = runs.at(-1);
  const missing = runs.find(({ entry }) => entry === undefined);
  if (!last || missing)
    throw new HallError(
      "NOT_FOUND",
      `the run ${missing?.id ?? ""} was too large to be kept whole`,
      { hint: "What needs it can be shown, not replayed." },
    );
  const tools = [
    ...new Map(runs.flatMap((run) => run.tools).map((tool) => [tool.fullName, tool])).values(),
  ];
  const differences: string[] = [];
  const thread = createLispThread({ worker, seed: last.seed });
  try {
    let evaluation = last.evaluation;
    for (const [index, { entry }] of runs.entries()) {
      const { order, answers, readings } = entry as KeptEntry;
      const replay = createReplay(
        answers.map(({ key, ...answer }) => ({ request: key, answer: JSON.stringify(answer) })),
      );
      const serve = async (request: string): Promise<string> =>
        replay(keyOf(request)) ?? answerUnknown(request, differences);
      const again = { ...order, readings, tools: index === 0 ? tools : undefined };
      ({ evaluation } = await thread.run(again, "evaluated", { scope: new Scope(), serve }));
    }
    differences.push(...compare(last.evaluation, evaluation));
    const scrubbed = runs.filter(({ isScrubbed }) => isScrubbed).map(({ id }) => id);
    if (differences.length > 0 && scrubbed.length > 0)
      differences.push(
        `secrets were taken out of ${scrubbed.join(", ")}, and what depends on them cannot be repeated`,
      );
    return { evaluation, differences };
  } finally {
    await thread.close();
  }
}

function answerUnknown(text: string, differences: string[]): string {
  const request = JSON.parse(text) as HallRequest;
  // Nobody sees it, and nothing depends on it.
  if (request.kind === "show") return '{"value":true}';
  const what = request.kind === "call" ? request.name : request.kind;
  differences.push(`${what} was not asked like this`);
  return writeFailure(new HallError("UNAVAILABLE", `the record has no answer for ${what}`));
}

function compare(before: Evaluation, now: Evaluation): string[] {
  const parts = ["values", "stdout", "stderr", "warnings"] as const;
  const differences: string[] = parts
    .filter((part) => JSON.stringify(before[part]) !== JSON.stringify(now[part]))
    .map((part) => `its ${part} differ`);
  if (before.condition?.type !== now.condition?.type)
    differences.push(
      `it ended with ${now.condition?.type ?? "values"}, then with ${before.condition?.type ?? "values"}`,
    );
  return differences;
}
