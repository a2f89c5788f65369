import {
  type EvaluationRecord,
  findRun,
  type KeptRun,
  listRuns,
  type RunOutline,
  type RunRecord,
} from "../../agents/runs.ts";
import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear, formatTime } from "../../base/text.ts";
import { openProjectStore, withProjectStore } from "../../hall/project-store.ts";
import type { Store } from "../../store/store.ts";
import type { EvaluationResult } from "../../toolkits/lisp/protocol.ts";
import type { EvaluationRun } from "../../toolkits/lisp/recording.ts";
import { paint, print, table } from "../print.ts";

export interface RunsOptions {
  readonly limit?: string;
  readonly json?: boolean;
}

/** Lists the runs of agents, newest first. */
export async function runRunsList({ limit = "20", json }: RunsOptions): Promise<void> {
  const countMax = Number(limit);
  if (!Number.isInteger(countMax) || countMax < 1)
    throw new HallError(
      "INVALID_PARAMS",
      `invalid --limit "${limit}" (expected: a whole number of at least 1)`,
    );
  const store = await openProjectStore();
  const runs = store ? (await listRuns(store.runs)).slice(0, countMax) : [];
  await store?.close();
  const rows = runs.map(({ id, at, agent, planner, stopped, ms, task }) => [
    id,
    formatTime(at),
    agent,
    planner,
    stopped,
    `${(ms / 1_000).toFixed(1)} s`,
    task,
  ]);
  print(
    { runs },
    {
      json,
      text: () =>
        rows.length > 0
          ? table(["run", "time", "agent", "planner", "ended", "took", "task"], rows)
          : "no runs yet",
    },
  );
}

export async function runRunsShow(id: string, { json }: RunsOptions): Promise<void> {
  const record = await withProjectStore((store) => getRun(store, id));
  print(record, { json, text: () => describe(record) });
}

/** Repeats a run with its recorded answers. Fails if it differs. */
export async function runRunsReplay(id: string, { json }: RunsOptions): Promise<void> {
  const record = await withProjectStore((store) => getRun(store, id));
  if ("evaluation" in record)
    return replayProgram(await withProjectStore((store) => listBefore(store, record)), json);
  const { replayRun } = await import("../../agents/replay.ts");
  const { ended, differences } = await replayRun(record);
  const isSame = differences.length === 0;
  print(
    {
      run: record.outline.id,
      same: isSame,
      differences,
      steps: ended.steps,
      trace: ended.trace,
      stopped_because: ended.stopped,
      answer: ended.answer,
    },
    {
      json,
      text: () =>
        `${describeTrace(ended.trace)}\n\n${isSame ? paint("green", "same trace") : "different trace"}`,
      failure: differs(differences),
    },
  );
}

/** The runs of its session up to this one, oldest first. Throws NOT_FOUND if one is missing. */
async function listBefore(
  store: Store,
  { evaluation }: EvaluationRecord,
): Promise<readonly EvaluationRun[]> {
  const runs = [evaluation];
  for (let { before } = evaluation; before !== undefined; ) {
    const record = await findRun(store.runs, before);
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

async function replayProgram(
  runs: readonly EvaluationRun[],
  json: boolean | undefined,
): Promise<void> {
  const { replayEvaluation } = await import("../../toolkits/lisp/recording.ts");
  const { evaluation, differences } = await replayEvaluation(runs);
  const run = runs.at(-1) as EvaluationRun;
  const isSame = differences.length === 0;
  const { values, stdout, condition } = evaluation;
  print(
    { run: run.id, same: isSame, differences, calls: run.calls, values, stdout, condition },
    {
      json,
      text: () =>
        `${describeEvaluation(evaluation)}\n\n${isSame ? paint("green", "same result") : "different result"}`,
      failure: differs(differences),
    },
  );
}

function differs(differences: readonly string[]): HallError | undefined {
  if (differences.length === 0) return undefined;
  return new HallError("EXECUTION", `the replay differs: ${differences.join("; ")}`, {
    hint: "Guildhall or its planner has changed since that run.",
  });
}

/** By id or the end of it. Throws NOT_FOUND. */
async function getRun(store: Store, id: string): Promise<KeptRun> {
  const runs = await listRuns(store.runs);
  const matching = runs.filter((run) => run.id === id || run.id.endsWith(id));
  const outline: RunOutline | undefined =
    runs.find((run) => run.id === id) ?? (matching.length === 1 ? matching[0] : undefined);
  const record = outline && (await findRun(store.runs, outline.id));
  if (record) return record;
  if (outline)
    throw new HallError("NOT_FOUND", `only the outline of run ${outline.id} is still stored`, {
      hint: "Whole runs are kept for seven days; see store.runs in the config.",
    });
  const near = findNear(
    id,
    runs.map((run) => run.id),
  );
  throw new HallError(
    "NOT_FOUND",
    `unknown run "${id}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    {
      next: [{ do: "run-command", command: "runs list" }],
    },
  );
}

function describe(record: KeptRun): string {
  return "evaluation" in record ? describeProgram(record) : describeAgentRun(record);
}

function describeProgram({
  outline: { id, ms },
  evaluation: { entry, before, calls, evaluation },
}: EvaluationRecord): string {
  return [
    paint("bold", `${id}  evaluate-lisp`),
    `${(ms / 1_000).toFixed(1)} s, ${before === undefined ? "first of its session" : `after ${before}`}`,
    visibleLines(entry?.order.code ?? "(code too long to store)"),
    calls
      .map(({ name, ms: took, status }) => `${String(took).padStart(6)} ms  ${name} ${status}`)
      .join("\n"),
    describeEvaluation(evaluation),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function describeEvaluation({ stdout, values, condition }: EvaluationResult): string {
  const ended = condition
    ? [`[ERROR] ${condition.type}: ${condition.message}`]
    : values.map((value) => `=> ${value}`);
  return visibleLines([...(stdout === "" ? [] : [stdout]), ...ended].join("\n"));
}

function describeAgentRun({ outline, request, trace, answer, problem }: RunRecord): string {
  const { id, agent, planner, stopped, ms, usage } = outline;
  const cost =
    usage.turns === 0
      ? ""
      : `, ${usage.turns} turns, ${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
  return [
    paint("bold", `${id}  ${agent}`),
    `${planner} planner, ended: ${stopped}${problem === undefined ? "" : ` (${visible(problem)})`}, ${(ms / 1_000).toFixed(1)} s${cost}`,
    `task: ${visible(request.task)}`,
    describeTrace(trace),
    visibleLines(answer),
  ].join("\n\n");
}

function describeTrace(trace: RunRecord["trace"]): string {
  return trace
    .map(
      ({ ms, phase, text, step }) =>
        `${String(ms).padStart(6)} ms  ${phase.padEnd(8)}${step === undefined ? "   " : `${step}.`.padEnd(3)} ${visible(text)}`,
    )
    .join("\n");
}
