import { adviceForModel, contentForModel } from "../base/advice.ts";
import type { Outcome } from "../tool.ts";
import type { RunStep, StopReason } from "./planner.ts";
import type { EndedRun } from "./run.ts";

/** The answer of a run: text for people and models, and the same as data with its evidence. */
export function answerRun(
  run: EndedRun,
  { agent, id }: { readonly agent: string; readonly id: string },
): Outcome {
  const { steps, stopped, usage, approvals, conclusion } = run;
  const isPartial = stopped !== "done" && stopped !== "not sure";
  const isObtained = run.answer.trim() !== "" || steps.some(({ outcome }) => outcome === "ok");
  const answer = run.answer.trim() === "" ? describeSteps(steps) : run.answer;
  const calls = [...(conclusion?.next ?? []), ...run.next];
  // The gateway words the approvals for the model.
  const next = [...calls, ...approvals.flatMap((approval) => approval.next)];
  return {
    content: [
      { type: "text", text: writeText(run, { answer, isPartial, isObtained }) },
      ...(conclusion?.carried ?? []),
      ...(calls.length > 0 ? [contentForModel(adviceForModel(calls))] : []),
    ],
    structuredContent: {
      answer,
      steps,
      tools_used: [...new Set(steps.map(({ tool }) => tool))],
      planner: run.planner,
      stopped_because: stopped,
      usage,
      approvals_needed: approvals,
      partial: isPartial,
      agent,
      run: id,
      ...(run.problem === undefined ? {} : { problem: run.problem }),
      ...(run.limitations.length > 0 ? { limitations: run.limitations } : {}),
      ...(conclusion?.result === undefined ? {} : { result: conclusion.result }),
      ...conclusion?.details,
      ...(next.length > 0 ? { next } : {}),
    },
    // A run that stopped without any result failed.
    ...(isPartial && !isObtained ? { isError: true } : {}),
  };
}

const reasons: Readonly<Record<Exclude<StopReason, "done" | "not sure">, string>> = {
  turns: "the planner had no turns left",
  steps: "the limit of tool calls was reached",
  tokens: "the token limit was reached",
  bytes: "the size limit for results was reached",
  time: "the time limit was reached",
  length: "the model's answer exceeded its maximum length",
  filter: "the provider's filter withheld the model's answer",
  failed: "the planner failed",
  cancelled: "the caller cancelled the run",
};

interface AnswerFacts {
  readonly answer: string;
  readonly isPartial: boolean;
  readonly isObtained: boolean;
}

/** The answer, then its limits. */
function writeText(
  { steps, stopped, problem, hint, limitations }: EndedRun,
  { answer, isPartial, isObtained }: AnswerFacts,
): string {
  const why = stopped === "done" || stopped === "not sure" ? "" : reasons[stopped];
  const missing = limitations.filter((text) => !answer.includes(text));
  const end = [
    `Not finished: ${why}${problem === undefined ? "" : ` (${problem})`}.`,
    isObtained ? "The results so far are above." : "",
    hint ?? "",
  ];
  return [
    answer,
    isPartial ? end.filter(Boolean).join(" ") : "",
    missing.length > 0 ? `Limited: could not use ${missing.join("; ")}.` : "",
    steps.length > 0
      ? `Tools used: ${[...new Set(steps.map(({ tool }) => tool))].join(", ")}.`
      : "",
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** For a planner that was stopped before its answer. */
function describeSteps(steps: readonly RunStep[]): string {
  return steps.map(({ tool, outcome, excerpt }) => `- ${tool} (${outcome}): ${excerpt}`).join("\n");
}
