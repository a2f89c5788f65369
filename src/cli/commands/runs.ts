import {
  type EvaluationRecord,
  findRun,
  type KeptRun,
  listRuns,
  type RunRecord,
} from "../../agents/runs.ts";
import { HallError } from "../../base/errors.ts";
import { visible, visibleLines } from "../../base/sanitize.ts";
import { findNear, formatTime } from "../../base/text.ts";
import { openProjectStore, withProjectStore } from "../../hall/project-store.ts";
import { onlyOutline, replayKept } from "../../hall/runs.ts";
import type { Store } from "../../store/store.ts";
import type { EvaluationResult } from "../../toolkits/programs/protocol.ts";
import type { JsonOption } from "../declaration.ts";
import { unknownName } from "../hall.ts";
import { paint, print, table } from "../print.ts";

interface RunsListOptions extends JsonOption {
  readonly limit?: number;
}

/** Lists the runs of agents, newest first. */
export async function runRunsList({ limit = 20, json }: RunsListOptions): Promise<void> {
  const store = await openProjectStore();
  const runs = store ? (await listRuns(store.runs)).slice(0, limit) : [];
  await store?.close();
  const rows = runs.map(({ id, at, agent, planner, stopped, ms, task }) => [
    id,
    formatTime(at),
    agent,
    planner,
    stopped,
    formatSeconds(ms),
    task,
  ]);
  const head = ["run", "time", "agent", "planner", "ended", "took", "task"];
  print({ runs }, table(head, rows, { empty: "no runs yet", extra: ["planner", "took", "time"] }), {
    json,
  });
}

export async function runRunsShow(id: string, options: JsonOption): Promise<void> {
  const record = await withProjectStore((store) => getRun(store, id));
  const text = "evaluation" in record ? describeProgram(record) : describeAgentRun(record);
  print(record, text, options);
}

/** Repeats a run with its recorded answers. Fails if it differs. */
export async function runRunsReplay(id: string, options: JsonOption): Promise<void> {
  const { record, replayed } = await withProjectStore(async (store) => {
    const kept = await getRun(store, id);
    return { record: kept, replayed: await replayKept(store.runs, kept) };
  });
  const { differences } = replayed;
  const run = record.outline.id;
  if (replayed.kind === "agent") {
    const { steps, trace, stopped, answer } = replayed.ended;
    const details = { steps, trace, stopped_because: stopped, answer };
    const text = describeTrace(trace);
    return printReplay({ run, differences, details, text, what: "trace" }, options);
  }
  const { values, stdout, condition } = replayed.evaluation;
  const calls = "evaluation" in record ? record.evaluation.calls : [];
  const details = { calls, values, stdout, condition };
  const text = describeEvaluation(replayed.evaluation);
  printReplay({ run, differences, details, text, what: "result" }, options);
}

interface Replay {
  readonly run: string;
  readonly differences: readonly string[];
  readonly details: object;
  readonly text: string;
  /** The noun for what was compared. */
  readonly what: string;
}

/** Throws EXECUTION if the replay differs. */
function printReplay({ run, differences, details, text, what }: Replay, options: JsonOption): void {
  const same = differences.length === 0;
  const verdict = same ? paint("green", `same ${what}`) : `different ${what}`;
  const failure = same
    ? undefined
    : new HallError("EXECUTION", `the replay differs: ${differences.join("; ")}`, {
        hint: "Guildhall or its planner has changed since that run.",
      });
  const value = { run, same, differences, ...details };
  print(value, `${text}\n\n${verdict}`, { ...options, failure });
}

/** By id or the end of it. Throws NOT_FOUND. */
async function getRun(store: Store, id: string): Promise<KeptRun> {
  const runs = await listRuns(store.runs);
  const matching = runs.filter((run) => run.id === id || run.id.endsWith(id));
  const outline =
    runs.find((run) => run.id === id) ?? (matching.length === 1 ? matching[0] : undefined);
  const record = outline && (await findRun(store.runs, outline.id));
  if (record) return record;
  if (outline) throw onlyOutline(outline.id);
  const ids = runs.map((run) => run.id);
  throw unknownName("run", id, { near: findNear(id, ids), command: "runs list" });
}

function describeProgram({
  outline: { id, ms, agent },
  evaluation: { entry, before, calls, evaluation },
}: EvaluationRecord): string {
  return [
    paint("bold", `${id}  ${agent}`),
    `${formatSeconds(ms)}, ${before === undefined ? "first of its session" : `after ${before}`}`,
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
    `${planner} planner, ended: ${stopped}${problem === undefined ? "" : ` (${visible(problem)})`}, ${formatSeconds(ms)}${cost}`,
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

function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
