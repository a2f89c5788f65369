import { adviceForModel, contentForModel } from "../base/advice.ts";
import type { Outcome } from "../tool.ts";
import type { PlannerKind, Step, StopReason } from "./planner.ts";
import type { EndedRun } from "./run.ts";

/** What a caller reads of a run: text for a model, and the same as data, evidence included. */
export function answerRun(
  run: EndedRun,
  {
    agent,
    id,
    planner,
  }: { readonly agent: string; readonly id: string; readonly planner: PlannerKind },
): Outcome {
  const { steps, stopped, usage, approvals, conclusion } = run;
  const isPartial = stopped !== "done" && stopped !== "not sure";
  const isObtained = run.answer.trim() !== "" || steps.some(({ outcome }) => outcome === "ok");
  const answer = run.answer.trim() === "" ? describeSteps(steps) : run.answer;
  const calls = conclusion?.next ?? [];
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
      planner,
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
    // Stopped with nothing in hand is a failure, not an empty success.
    ...(isPartial && !isObtained ? { isError: true } : {}),
  };
}

const reasons: Readonly<Record<Exclude<StopReason, "done" | "not sure">, string>> = {
  turns: "the planner had no turns left",
  steps: "no more calls were allowed",
  tokens: "no tokens were left",
  bytes: "the results were too large in all",
  time: "the time was up",
  length: "the model's answer was cut at its greatest length",
  filter: "the model's answer was withheld by its provider's filter",
  failed: "the planner could not go on",
  cancelled: "the caller no longer waited",
};

interface Told {
  readonly answer: string;
  readonly isPartial: boolean;
  readonly isObtained: boolean;
}

/** The answer first; then what a reader must know to trust it no more than it deserves. */
function writeText(
  { steps, stopped, problem, hint, limitations }: EndedRun,
  { answer, isPartial, isObtained }: Told,
): string {
  const why = stopped === "done" || stopped === "not sure" ? "" : reasons[stopped];
  const missing = limitations.filter((text) => !answer.includes(text));
  const end = [
    `Not finished: ${why}${problem === undefined ? "" : ` (${problem})`}.`,
    isObtained ? "What was obtained is above." : "",
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

/** For a planner that was stopped before it could say anything. */
function describeSteps(steps: readonly Step[]): string {
  return steps.map(({ tool, outcome, excerpt }) => `- ${tool} (${outcome}): ${excerpt}`).join("\n");
}
