/** Records of evaluations: the history that lets a session resume, and the saved runs that `runs replay` repeats. */
import { HallError } from "../../base/errors.ts";
import { hashOf } from "../../base/json.ts";
import { Scope } from "../../base/scope.ts";
import type { CallReport } from "./answer.ts";
import { camelName, lispName } from "./names.ts";
import { hideSecrets } from "./program-secrets.ts";
import {
  type ClockReadings,
  type EvaluationResult,
  findFailure,
  type HallAnswer,
  type HallRequest,
  type Language,
  type ThreadOrder,
  type ToolEntry,
  type ToolFailure,
  writeFailure,
} from "./protocol.ts";
import { ProgramThread } from "./thread.ts";

/** One evaluation with everything it got from outside: enough to repeat it with the same results. */
export interface HistoryEntry {
  readonly order: EvaluateOrder;
  readonly answers: RecordedAnswer[];
  readings?: ClockReadings | undefined;
}

export type EvaluateOrder = Omit<Extract<ThreadOrder, { kind: "evaluate" }>, "tools" | "readings">;

/** A request of the program and its answer, both as the JSON that crossed between the threads. */
export interface RecordedAnswer {
  readonly request: string;
  readonly answer: string;
}

const entriesMax = 500;
const charactersMax = 8 * 1024 * 1024;
const readingCharacters = 16;

/** Everything needed to rebuild a session. Bounded; a longer session cannot be resumed. */
export class SessionHistory {
  readonly entries: HistoryEntry[] = [];
  #characters = 0;
  #isComplete = true;

  /** False once the history exceeded its bounds. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  begin(order: EvaluateOrder): HistoryEntry {
    const entry: HistoryEntry = { order, answers: [] };
    if (this.#grow(order.code.length)) this.entries.push(entry);
    return entry;
  }

  add(entry: HistoryEntry, answer: RecordedAnswer): void {
    if (this.#grow(answer.request.length + answer.answer.length)) entry.answers.push(answer);
  }

  /** `readings` is undefined if the program read the clock too often. */
  end(entry: HistoryEntry, readings: ClockReadings | undefined): void {
    const size = readings
      ? (readings.clock.length + readings.timer.length) * readingCharacters
      : Number.POSITIVE_INFINITY;
    if (this.#grow(size)) entry.readings = readings;
  }

  #grow(size: number): boolean {
    this.#characters += size;
    this.#isComplete &&= this.#characters <= charactersMax && this.entries.length < entriesMax;
    // A history that cannot be replayed needs no memory.
    if (!this.#isComplete) this.entries.length = 0;
    return this.#isComplete;
  }
}

/** The answers without failures that may turn out differently the next time. */
export function withoutFailures(
  answers: readonly RecordedAnswer[],
  codes: ReadonlySet<ToolFailure["code"]>,
): readonly RecordedAnswer[] {
  return answers.filter(({ answer }) => {
    const failure = findFailure(answer);
    return !failure || !codes.has(failure.code);
  });
}

/** Returns the recorded answer, or undefined. A request made twice has two answers, returned in order. */
export type FindRecorded = (request: string) => string | undefined;

export function createReplay(answers: readonly RecordedAnswer[]): FindRecorded {
  const left = new Map<string, string[]>();
  for (const { request, answer } of answers) {
    const same = left.get(request);
    if (same) same.push(answer);
    else left.set(request, [answer]);
  }
  return (request) => left.get(request)?.shift();
}

/** A saved evaluation. With the runs before it, enough to show and repeat it; secrets are removed. */
export interface EvaluationRun {
  readonly id: string;
  readonly session: string;
  /** Absent in runs that version 0.1 saved: `lisp`. */
  readonly language?: Language;
  /** The full name of the saved program that ran. */
  readonly program?: string | undefined;
  /** The client's name. */
  readonly caller: string;
  readonly seed: number;
  readonly startedAt: number;
  /** The previous run of the session, which a replay needs first. */
  readonly before?: string | undefined;
  /** Undefined if it was too large: such a run can be shown but not replayed. */
  readonly entry?: SavedEntry | undefined;
  /** True if secrets were removed; a replay differs where the program depends on them. */
  readonly isScrubbed?: boolean | undefined;
  /** The tools that the program names. */
  readonly tools: readonly ToolEntry[];
  readonly evaluation: EvaluationResult;
  readonly calls: readonly CallReport[];
}

interface SavedEntry {
  readonly order: EvaluateOrder;
  readonly answers: readonly SavedAnswer[];
  readonly readings?: ClockReadings | undefined;
}

/** `key` is a hash of the request, whose text is not saved. */
type SavedAnswer = { readonly key: string } & HallAnswer;

export type FinishedEvaluation = Omit<EvaluationRun, "entry" | "isScrubbed"> & {
  readonly entry: HistoryEntry;
};

/** Larger runs can be shown but not replayed. */
const savedCharactersMax = 262_144;

export function createRun({ entry, tools, ...finished }: FinishedEvaluation): EvaluationRun {
  const { order, answers, readings } = entry;
  const size = answers.reduce((sum, { answer }) => sum + answer.length, order.code.length);
  // Without all clock readings a program would take other branches the next time.
  const canReplay = readings !== undefined && size <= savedCharactersMax;
  const run: EvaluationRun = {
    ...finished,
    tools: tools.filter(isNamedIn(order.code, finished.language)),
    entry: canReplay ? { order, answers: answers.map(saveAnswer), readings } : undefined,
  };
  return hideSecrets(run, order.code, answers);
}

function isNamedIn(code: string, language: Language | undefined): (tool: ToolEntry) => boolean {
  if (language === "js")
    return ({ toolkit }) => code.includes(toolkit) || code.includes(camelName(toolkit));
  const text = code.toUpperCase();
  return ({ toolkit }) => text.includes(lispName(toolkit));
}

function saveAnswer({ request, answer }: RecordedAnswer): SavedAnswer {
  return { key: hashOf(request), ...(JSON.parse(answer) as HallAnswer) };
}

export interface ReplayedEvaluation {
  readonly evaluation: EvaluationResult;
  /** In words; empty if the result is the same. */
  readonly differences: readonly string[];
}

/**
 * Repeats an evaluation with the recorded answers; calls no tool. `runs` are those of its session up to
 * it, oldest first. Throws NOT_FOUND if one of them is incomplete.
 */
export async function replayEvaluation(
  runs: readonly EvaluationRun[],
  workers?: URL,
): Promise<ReplayedEvaluation> {
  const last = runs.at(-1);
  if (!last) throw new HallError("NOT_FOUND", "no run to replay");
  const tools = [
    ...new Map(runs.flatMap((run) => run.tools).map((tool) => [tool.fullName, tool])).values(),
  ];
  const differences: string[] = [];
  const thread = new ProgramThread({
    language: last.language ?? "lisp",
    workers,
    seed: last.seed,
  });
  try {
    let evaluation = last.evaluation;
    for (const [index, run] of runs.entries()) {
      const { order, answers, readings } = savedEntry(run);
      const replay = createReplay(
        answers.map(({ key, ...answer }) => ({ request: key, answer: JSON.stringify(answer) })),
      );
      const serve = async (request: string): Promise<string> =>
        replay(hashOf(request)) ?? answerUnknown(request, differences);
      const again = { ...order, readings, tools: index === 0 ? tools : undefined };
      ({ evaluation } = await thread.run(again, "evaluated", { scope: new Scope(), serve }));
    }

    differences.push(...compare(last.evaluation, evaluation));
    const scrubbed = runs.filter(({ isScrubbed }) => isScrubbed).map(({ id }) => id);
    if (differences.length > 0 && scrubbed.length > 0)
      differences.push(`the saved run has no secrets (removed from ${scrubbed.join(", ")})`);
    return { evaluation, differences };
  } finally {
    await thread.close();
  }
}

function savedEntry({ id, entry }: EvaluationRun): SavedEntry {
  if (entry) return entry;
  throw new HallError("NOT_FOUND", `run ${id} was too large to be saved completely`, {
    hint: "It can be shown, but neither it nor later runs of its session can be replayed.",
  });
}

function answerUnknown(text: string, differences: string[]): string {
  const request = JSON.parse(text) as HallRequest;
  // Shown content has no influence on the program.
  if (request.kind === "show") return '{"value":true}';
  const what = request.kind === "call" ? request.name : request.kind;
  differences.push(`${what} was not called with these arguments`);
  return writeFailure(new HallError("UNAVAILABLE", `no recorded answer for ${what}`));
}

function compare(before: EvaluationResult, now: EvaluationResult): string[] {
  const parts = ["values", "stdout", "stderr", "warnings"] as const;
  const differences: string[] = parts
    .filter((part) => JSON.stringify(before[part]) !== JSON.stringify(now[part]))
    .map((part) => `${part} differ`);
  if (before.condition?.type !== now.condition?.type)
    differences.push(
      `ended with ${now.condition?.type ?? "values"} instead of ${before.condition?.type ?? "values"}`,
    );
  return differences;
}
