import type { JsonObject } from "../base/json.ts";
import type { Log, Secrets } from "../base/log.ts";
import { redact } from "../gateway/redact.ts";
import type { DocumentStore } from "../store/store.ts";
import type { Outcome } from "../tool.ts";
import type { EvaluationRun } from "../toolkits/lisp/recording.ts";
import type { OfferedTool, PlannerKind, Step, StopReason } from "./planner.ts";
import type { EndedRun, RunRequest, RunUsage, TraceEvent } from "./run.ts";

/** The runs of a hall, as they are kept: an outline of each for lists, and the whole of it, to be shown and replayed. */
export interface Runs {
  /** Returns at once; nobody waits for it to be written. */
  keep(record: KeptRun): void;
}

export type KeptRun = RunRecord | EvaluationRecord;

/** What a list says of a run. */
export interface RunOutline {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly agent: string;
  /** Its beginning; empty where texts are not kept. */
  readonly task: string;
  readonly caller: string;
  /** `lisp` for a program, which is its own plan. */
  readonly planner: PlannerKind | "lisp";
  readonly stopped: StopReason;
  readonly ms: number;
  readonly tools: readonly string[];
  readonly usage: RunUsage;
}

/** A program that was evaluated. */
export interface EvaluationRecord {
  readonly outline: RunOutline;
  readonly evaluation: EvaluationRun;
}

export interface RunRecord {
  readonly outline: RunOutline & { readonly planner: PlannerKind };
  readonly request: RunRequest;
  readonly answer: string;
  readonly problem?: string | undefined;
  readonly steps: readonly Step[];
  readonly results: readonly Outcome[];
  readonly trace: readonly TraceEvent[];
  /** What models said, turn by turn. */
  readonly said: readonly JsonObject[];
  /** The tools that were offered, and those that were found later. */
  readonly offered: RecordedOffer;
  readonly finds: readonly { readonly query: string; readonly tools: readonly RecordedTool[] }[];
}

export type RecordedTool = Omit<OfferedTool, "target">;

export interface RecordedOffer {
  readonly tools: readonly RecordedTool[];
  readonly fits: boolean;
  readonly toolCount: number;
  readonly better?: string | undefined;
}

export interface RunsOptions {
  readonly shelf: DocumentStore;
  /** `outline` keeps no texts: who was asked, which tools, how it ended, what it cost. Default `full`. */
  readonly keep?: "full" | "outline" | undefined;
  /** Days an outline is kept; the rest of a run is kept for seven at most. Default 30. */
  readonly keepDays?: number | undefined;
  readonly secrets: Secrets;
  readonly log: Pick<Log, "warn">;
}

const dayMs = 86_400_000;
const wholeDaysMax = 7;
/** Of one hall; a store in memory would otherwise only grow. */
const keptMax = 500;

export function createRuns({
  shelf,
  keep = "full",
  keepDays = 30,
  secrets,
  log,
}: RunsOptions): Runs {
  const kept: string[] = [];

  function clean(value: unknown): string {
    const text = redact(value);
    const scrubbed = secrets.scrub(text);
    // What was taken out may have been more than a text: better no record than one that nobody can read.
    if (scrubbed !== text) JSON.parse(scrubbed);
    return scrubbed;
  }

  async function write(record: KeptRun): Promise<void> {
    const { outline } = record;
    const shown = keep === "full" ? outline : { ...outline, task: "" };
    // Handed over at once: a hall that closes writes what waits, and nothing that comes later.
    const writes = [
      shelf.putText(outlineKey(outline.id), clean(shown), { ttlMs: keepDays * dayMs }),
    ];
    if (keep === "full")
      writes.push(
        shelf.putText(wholeKey(outline.id), makeFit(record, clean), {
          ttlMs: Math.min(keepDays, wholeDaysMax) * dayMs,
        }),
      );
    await Promise.all(writes);
    kept.push(outline.id);
    for (const id of kept.splice(0, Math.max(0, kept.length - keptMax))) {
      await shelf.remove(outlineKey(id));
      await shelf.remove(wholeKey(id));
    }
  }

  return {
    keep: (record) =>
      void write(record).catch((err: unknown) =>
        log.warn({ err }, `the run ${record.outline.id} was not kept`),
      ),
  };
}

/** A run too large to keep whole is kept without what its tools gave: it can be shown, and not replayed. */
function makeFit(record: KeptRun, clean: (value: unknown) => string): string {
  const whole = clean(record);
  const isCut = whole.startsWith('{"cut":');
  if ("evaluation" in record) {
    const { evaluation } = record;
    if (isCut)
      return clean({ ...record, evaluation: { ...evaluation, entry: undefined, tools: [] } });
    // Where known secrets were taken out as well, a replay has to know.
    return whole === JSON.stringify(record)
      ? whole
      : clean({ ...record, evaluation: { ...evaluation, isScrubbed: true } });
  }
  return isCut
    ? clean({
        ...record,
        results: [],
        said: [],
        finds: [],
        offered: { ...record.offered, tools: [] },
      })
    : whole;
}

const outlinePrefix = "run/";
const outlineKey = (id: string): string => `${outlinePrefix}${id}`;
const wholeKey = (id: string): string => `whole/${id}`;

/** Newest first. */
export async function listRuns(shelf: DocumentStore): Promise<readonly RunOutline[]> {
  const rows = await shelf.list(outlinePrefix);
  return rows.map(({ value }) => value as unknown as RunOutline).sort((a, b) => b.at - a.at);
}

/** Undefined where there is none, or only its outline is left. */
export async function findRun(shelf: DocumentStore, id: string): Promise<KeptRun | undefined> {
  return (await shelf.find(wholeKey(id))) as unknown as KeptRun | undefined;
}

/** What an evaluation leaves behind. */
export function recordEvaluation(evaluation: EvaluationRun): EvaluationRecord {
  const { id, startedAt, caller, calls, entry, evaluation: ended } = evaluation;
  const outline: RunOutline = {
    id,
    at: startedAt,
    agent: "evaluate-lisp",
    task: (entry?.order.code ?? "").replace(/\s+/g, " ").trim().slice(0, 200),
    caller,
    planner: "lisp",
    stopped: ended.condition ? "failed" : "done",
    ms: ended.ms,
    tools: [...new Set(calls.map(({ name }) => name))],
    usage: { turns: 0, inputTokens: 0, outputTokens: 0 },
  };
  return { outline, evaluation };
}

/** What a run leaves behind. */
export function recordRun(
  ended: EndedRun,
  {
    outline,
    request,
    said,
    offered,
    finds,
  }: Pick<RunRecord, "request" | "said"> & {
    readonly outline: Omit<RunRecord["outline"], "stopped" | "tools" | "usage" | "task" | "agent">;
    readonly offered: Omit<RecordedOffer, "tools"> & { readonly tools: readonly OfferedTool[] };
    readonly finds: readonly { readonly query: string; readonly tools: readonly OfferedTool[] }[];
  },
): RunRecord {
  const { answer, problem, steps, results, trace, stopped, usage } = ended;
  const { fits, toolCount, better } = offered;
  return {
    outline: {
      ...outline,
      agent: request.agent,
      task: request.task.slice(0, 200),
      stopped,
      tools: [...new Set(steps.map(({ tool }) => tool))],
      usage,
    },
    request,
    answer,
    problem,
    steps,
    results,
    trace,
    said,
    offered: { tools: offered.tools.map(withoutTarget), fits, toolCount, better },
    finds: finds.map(({ query, tools }) => ({ query, tools: tools.map(withoutTarget) })),
  };
}

function withoutTarget({ target: _target, ...tool }: OfferedTool): RecordedTool {
  return tool;
}
