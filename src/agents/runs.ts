import type { Log, Secrets } from "../base/log.ts";
import { redact } from "../gateway/record.ts";
import type { DocumentStore } from "../store/store.ts";
import type { Language } from "../toolkits/programs/protocol.ts";
import type { EvaluationRun } from "../toolkits/programs/recording.ts";
import type { PlannerKind, RunRequest, StopReason, ToolOffer } from "./planner.ts";
import type { EndedRun, RunUsage } from "./run.ts";

/** The records of runs: an outline for lists, and the whole run to show and replay. */
export interface Runs {
  /** Writes in the background. */
  keep(record: KeptRun): void;
}

export type KeptRun = RunRecord | EvaluationRecord;

/** A run in a list. */
export interface RunOutline {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly agent: string;
  /** The beginning of the task; empty if texts are not kept. */
  readonly task: string;
  readonly caller: string;
  /** The language of a program. */
  readonly planner: PlannerKind | Language;
  readonly stopped: StopReason;
  readonly ms: number;
  readonly tools: readonly string[];
  readonly usage: RunUsage;
}

/** An evaluated program. */
export interface EvaluationRecord {
  readonly outline: RunOutline;
  readonly evaluation: EvaluationRun;
}

type RecordedParts = "answer" | "problem" | "steps" | "results" | "trace" | "turns" | "finds";

export interface RunRecord extends Pick<EndedRun, RecordedParts> {
  readonly outline: RunOutline & { readonly planner: PlannerKind };
  readonly request: RunRequest;
  /** The tools offered at the start; `finds` has those found later. */
  readonly offered: ToolOffer;
}

export interface RunStoreOptions {
  readonly documents: DocumentStore;
  /** `outline` keeps no texts, only agent, tools, outcome and cost. Default `full`. */
  readonly keep?: "full" | "outline" | undefined;
  /** Days an outline is kept; whole runs are kept for seven at most. Default 30. */
  readonly keepDays?: number | undefined;
  readonly secrets: Secrets;
  readonly log: Pick<Log, "warn">;
}

const dayMs = 86_400_000;
const wholeDaysMax = 7;
/** Per hall: a store in memory must not grow forever. */
const keptMax = 500;

export function createRuns({
  documents,
  keep = "full",
  keepDays = 30,
  secrets,
  log,
}: RunStoreOptions): Runs {
  const kept: string[] = [];

  function clean(value: unknown): string {
    const text = redact(value);
    const scrubbed = secrets.scrub(text);
    // Scrubbing may have broken the JSON: no record is better than an unreadable one.
    if (scrubbed !== text) JSON.parse(scrubbed);
    return scrubbed;
  }

  async function write(record: KeptRun): Promise<void> {
    const { outline } = record;
    const shown = keep === "full" ? outline : { ...outline, task: "" };
    // Both writes are queued at once: a closing hall still writes what is queued.
    const writes = [
      documents.putText(outlineKey(outline.id), clean(shown), { ttlMs: keepDays * dayMs }),
    ];
    if (keep === "full")
      writes.push(
        documents.putText(wholeKey(outline.id), makeFit(record, clean), {
          ttlMs: Math.min(keepDays, wholeDaysMax) * dayMs,
        }),
      );
    await Promise.all(writes);
    kept.push(outline.id);
    for (const id of kept.splice(0, Math.max(0, kept.length - keptMax))) {
      await documents.remove(outlineKey(id));
      await documents.remove(wholeKey(id));
    }
  }

  return {
    keep: (record) =>
      void write(record).catch((err: unknown) =>
        log.warn({ err }, `run ${record.outline.id} was not recorded`),
      ),
  };
}

/** A run that is too large is kept without its results: it can be shown but not replayed. */
function makeFit(record: KeptRun, clean: (value: unknown) => string): string {
  const whole = clean(record);
  const isCut = whole.startsWith('{"cut":');
  if ("evaluation" in record) {
    const { evaluation } = record;
    if (isCut)
      return clean({ ...record, evaluation: { ...evaluation, entry: undefined, tools: [] } });
    // A replay has to know that secrets were removed.
    return whole === JSON.stringify(record)
      ? whole
      : clean({ ...record, evaluation: { ...evaluation, isScrubbed: true } });
  }
  return isCut
    ? clean({
        ...record,
        results: [],
        turns: [],
        finds: [],
        offered: { ...record.offered, tools: [] },
      })
    : whole;
}

const outlinePrefix = "run/";
const outlineKey = (id: string): string => `${outlinePrefix}${id}`;
const wholeKey = (id: string): string => `whole/${id}`;

/** Newest first. */
export async function listRuns(documents: DocumentStore): Promise<readonly RunOutline[]> {
  const rows = await documents.list(outlinePrefix);
  return rows.map(({ value }) => value as unknown as RunOutline).sort((a, b) => b.at - a.at);
}

/** Undefined if there is none, or only its outline is left. */
export async function findRun(documents: DocumentStore, id: string): Promise<KeptRun | undefined> {
  return (await documents.find(wholeKey(id))) as unknown as KeptRun | undefined;
}

/** The record of an evaluation. */
export function recordEvaluation(evaluation: EvaluationRun): EvaluationRecord {
  const { id, startedAt, caller, calls, entry, language, program, evaluation: ended } = evaluation;
  const outline: RunOutline = {
    id,
    at: startedAt,
    agent: program ?? `evaluate-${language ?? "lisp"}`,
    task: (entry?.order.code ?? "").replace(/\s+/g, " ").trim().slice(0, 200),
    caller,
    planner: language ?? "lisp",
    stopped: ended.condition ? "failed" : "done",
    ms: ended.ms,
    tools: [...new Set(calls.map(({ name }) => name))],
    usage: { turns: 0, inputTokens: 0, outputTokens: 0 },
  };
  return { outline, evaluation };
}

/** The record of a run. */
export function recordRun(
  ended: EndedRun,
  { id, at, ms, caller, request, offer }: RunFacts,
): RunRecord {
  const { planner, stopped, usage, steps } = ended;
  const { agent, task } = request;
  const { tools, fits, toolCount, better } = offer;
  return {
    outline: {
      id,
      at,
      ms,
      caller,
      planner,
      agent,
      task: task.slice(0, 200),
      stopped,
      tools: [...new Set(steps.map(({ tool }) => tool))],
      usage,
    },
    request,
    offered: { tools, fits, toolCount, better },
    answer: ended.answer,
    problem: ended.problem,
    steps,
    results: ended.results,
    trace: ended.trace,
    turns: ended.turns,
    finds: ended.finds,
  };
}

interface RunFacts extends Pick<RunOutline, "id" | "at" | "ms" | "caller"> {
  readonly request: RunRequest;
  readonly offer: ToolOffer;
}
