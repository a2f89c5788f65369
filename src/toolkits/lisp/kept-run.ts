import { hashOf } from "../../base/hash.ts";
import type { CallReport } from "./answer.ts";
import type { Answered, Entry, EvaluateOrder } from "./journal.ts";
import { lispName } from "./names.ts";
import { hideSecrets } from "./program-secrets.ts";
import type { Answer, ClockReadings, Evaluation, ToolEntry } from "./protocol.ts";

/** One evaluation: enough, with those before it, to show it and to run it again. Holds no secret that its program named as one. */
export interface EvaluationRun {
  readonly id: string;
  readonly session: string;
  /** What the client calls itself. */
  readonly caller: string;
  readonly seed: number;
  readonly startedAt: number;
  /** The run before it in its session: to go through this one again, that one comes first. */
  readonly before?: string | undefined;
  /** Undefined when it was too much to keep: then it can be shown, and not gone through again. */
  readonly entry?: KeptEntry | undefined;
  /** Whether something was taken out of it: what depends on that comes otherwise when it is gone through again. */
  readonly isScrubbed?: boolean | undefined;
  /** The tools that the program names. */
  readonly tools: readonly ToolEntry[];
  readonly evaluation: Evaluation;
  readonly calls: readonly CallReport[];
}

export interface KeptEntry {
  readonly order: EvaluateOrder;
  readonly answers: readonly KeptAnswer[];
  readonly readings?: ClockReadings | undefined;
}

/** `key` stands for the request: what was in it is not kept. */
export type KeptAnswer = { readonly key: string } & Answer;

export interface EndedEvaluation
  extends Pick<
    EvaluationRun,
    "id" | "session" | "caller" | "seed" | "startedAt" | "before" | "tools" | "evaluation" | "calls"
  > {
  readonly entry: Entry;
}

/** Past it a run can be shown, not replayed. */
const keptCharactersMax = 262_144;

export function createRun({ entry, tools, ...ended }: EndedEvaluation): EvaluationRun {
  const { order, answers, readings } = entry;
  const text = order.code.toUpperCase();
  const run = {
    ...ended,
    tools: tools.filter(({ toolkit }) => text.includes(lispName(toolkit))),
    // A program that read the clock too often takes other ways the next time.
    entry:
      readings && sizeOf(entry) <= keptCharactersMax
        ? { order, answers: answers.map(keep), readings }
        : undefined,
  };
  return hideSecrets(run, order.code, answers);
}

function sizeOf({ order, answers }: Entry): number {
  return answers.reduce((sum, { answer }) => sum + answer.length, order.code.length);
}

function keep({ request, answer }: Answered): KeptAnswer {
  return { key: keyOf(request), ...(JSON.parse(answer) as Answer) };
}

export function keyOf(request: string): string {
  return hashOf(request);
}
