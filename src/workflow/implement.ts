import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { readInside, writeInside } from "./artefacts.ts";
import { type ChecklistState, countChecklist } from "./checklist.ts";
import {
  askForm,
  needDocument,
  type StepAnswer,
  type StepFunction,
  type StepInput,
  stringsOf,
} from "./step.ts";
import { describeTask, type ReportShare, runTask, type TaskEnd } from "./task-work.ts";
import { countTasks, filterTasks, markTask, parseTasks, shareFile, type Task } from "./tasks.ts";

/**
 * Works through tasks.md: commands run by themselves, an agent does the rest, or they are returned
 * to the caller. Each task is ticked as soon as it is done, so that an interrupted run continues
 * after the last tick.
 */
export const implement: StepFunction = async (input) => {
  const { args, run } = input;
  await needDocument(input, "spec.md", "specify");
  await needDocument(input, "plan.md", "plan");
  const { tasks, faults } = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  if (tasks.length === 0) {
    const message = ["tasks.md has no tasks", ...faults.slice(0, 1)].join(": ");
    throw new HallError("EXECUTION", message, {
      next: [{ do: "run-step", step: "tasks", arguments: { spec_directory: input.place.path } }],
    });
  }

  const notes = faults.map((fault) => `tasks.md: ${fault}`);
  // A report of finished tasks means the work has begun: checklists are checked before that.
  const isReport = await markReported(input, tasks);
  if (!isReport) notes.push(...(await passChecklists(input)));

  const current = parseTasks(await needDocument(input, "tasks.md", "tasks")).tasks;
  const filter = typeof args.task_filter === "string" ? args.task_filter.trim() : "";
  // A report may have ticked the last task that the filter matched.
  const isAll = filter === "" || (isReport && current.every(({ isDone }) => isDone));
  const chosen = isAll ? current : filterTasks(current, filter);
  const pending = chosen.filter(({ isDone }) => !isDone);
  run.report(10, `${pending.length} of ${plural(chosen.length, "task")} to do`);
  const work = await workThrough(pending, input);
  return { ...(await describeWork(work, tasks, input)), notes };
};

interface Reported {
  readonly task: Task;
  readonly report?: string | undefined;
}

interface Failure extends Reported {
  readonly reason: string;
}

interface Work {
  readonly forCaller: readonly Task[];
  readonly done: readonly Reported[];
  readonly failed: readonly Failure[];
}

/** The state of the tasks, and those for the caller. Throws EXECUTION if a task failed. */
export async function describeWork(
  { forCaller, done, failed }: Work,
  before: readonly Task[],
  input: StepInput,
): Promise<StepAnswer> {
  const after = parseTasks(await needDocument(input, "tasks.md", "tasks")).tasks;
  const count = countTasks(after);
  const file = join(input.place.path, "tasks.md");
  const head = `${count.done} of ${count.total} tasks are done in ${file}`;
  if (failed.length > 0) {
    const reasons = failed.map(({ task, reason }) => `${task.id} (${reason})`).join("; ");
    const message = [`${head}; failed: ${reasons}`, ...listReports(failed)].join("\n\n");
    throw new HallError("EXECUTION", message, {
      hint: "Fix the cause, then repeat the step: it continues with the tasks that are not ticked.",
      details: {
        failed: failed.map(({ task, reason, report }) => ({ id: task.id, reason, report })),
        ...count,
      },
    });
  }

  const isComplete = count.done === count.total;
  const isPaused = forCaller.length > 0;
  const isChanged = after.some((task, at) => task.isDone !== before[at]?.isDone);
  return {
    text: [
      isComplete ? `${head}; the feature is complete` : head,
      ...listReports(done),
      ...(isPaused ? [listTasks(forCaller, input)] : []),
    ].join("\n\n"),
    files: [{ path: "tasks.md", change: isChanged ? "updated" : "unchanged" }],
    next: isComplete ? undefined : "implement",
    nextArguments: isPaused ? { completed: forCaller.map(({ id }) => id) } : undefined,
    forModel: isPaused ? "Do these tasks first." : undefined,
    isPaused,
    details: {
      ...count,
      tasks: forCaller.map(describeTask),
      reports: done.map(({ task, report = "" }) => ({ id: task.id, report })),
    },
  };
}

async function workThrough(pending: readonly Task[], input: StepInput): Promise<Work> {
  const done: Reported[] = [];
  const failed: Failure[] = [];
  let begun = 0;
  for (const batch of batchesOf(pending)) {
    const percentAt = (tasks: number): number => 10 + (85 * (begun + tasks)) / pending.length;
    const [first] = batch;
    const ids = batch.map(({ id }) => id).join(", ");
    const message = batch.length === 1 ? `${ids}: ${first?.text}` : `${ids} in parallel`;
    input.run.report(percentAt(0), message);
    const ends = await runBatch(batch, input, (share, details) =>
      input.run.progress(percentAt(share), details),
    );
    begun += batch.length;

    for (const [at, task] of batch.entries()) {
      const end = ends[at];
      if (end?.kind === "done") done.push({ task, report: end.report });
      if (end?.kind === "failed") failed.push({ task, reason: end.reason, report: end.report });
    }
    const forCaller = batch.filter((_task, at) => ends[at]?.kind === "caller");
    if (forCaller.length > 0) return { forCaller, done, failed };
    // Later tasks do not depend on a failed parallel task.
    if (failed.some(({ task }) => !task.isParallel)) break;
  }
  return { forCaller: [], done, failed };
}

/** The tasks to begin with: one, or several that may run in parallel. */
export function nextBatch(tasks: readonly Task[]): readonly Task[] {
  return batchesOf(tasks.filter(({ isDone }) => !isDone))[0] ?? [];
}

const parallelMax = 4;

/** Single tasks, and groups of parallel tasks of one phase that share no file. */
function batchesOf(tasks: readonly Task[]): readonly (readonly Task[])[] {
  const batches: Task[][] = [];
  for (const task of tasks) {
    const last = batches.at(-1);
    if (last && mayJoin(task, last)) last.push(task);
    else batches.push([task]);
  }
  return batches;
}

function mayJoin(task: Task, batch: readonly Task[]): boolean {
  const isFree = (one: Task): boolean =>
    one.isParallel && one.command === undefined && one.phase.number === task.phase.number;
  const isApart = batch.every((other) => isFree(other) && !shareFile(other, task));
  return batch.length < parallelMax && isFree(task) && isApart;
}

async function runBatch(
  batch: readonly Task[],
  input: StepInput,
  report: ReportShare,
): Promise<readonly TaskEnd[]> {
  let marking = Promise.resolve();
  return Promise.all(
    batch.map(async (task) => {
      const end = await runTask(task, input, report);
      // Two ticks at the same time would overwrite each other.
      if (end.kind === "done") {
        marking = marking.then(() => markDone([task.id], input));
        await marking;
      }
      input.run.note(`${task.id}: ${end.kind}${end.kind === "failed" ? ` (${end.reason})` : ""}`);
      return end;
    }),
  );
}

const reportsCharactersMax = 8_000;

/** As many reports as fit; the log has all of them. */
function listReports(reported: readonly Reported[]): readonly string[] {
  let characters = 0;
  return reported.flatMap(({ task, report = "" }) => {
    characters += report.length;
    const isShown = report.trim() !== "" && characters <= reportsCharactersMax;
    return isShown ? [`${task.id}: ${report}`] : [];
  });
}

/** Reads the file again for each tick: someone may be editing it. */
async function markDone(ids: readonly string[], { place }: StepInput): Promise<void> {
  const file = join(place.path, "tasks.md");
  const text = await readInside(place, file);
  if (text === undefined) throw new HallError("EXECUTION", "tasks.md was removed during the step");
  await writeInside(place, file, ids.reduce(markTask, text));
}

/** Ticks the tasks in `completed`; false if there are none. */
export async function markReported(input: StepInput, tasks: readonly Task[]): Promise<boolean> {
  const { args, run } = input;
  const completed = stringsOf(args.completed);
  const unknown = completed.filter((id) => !tasks.some((task) => task.id === id));
  if (unknown.length > 0)
    throw new HallError("VALIDATION", `unknown tasks in completed: ${unknown.join(", ")}`);
  if (completed.length === 0) return false;

  await markDone(completed, input);
  run.note(`reported as done: ${completed.join(", ")}`);
  return true;
}

/**
 * Open items stop the step, unless the user or `force` says to continue. Items that only a person can tick are in every
 * feature, so they are reported and stop nothing. Checklists are never changed here.
 */
async function passChecklists(input: StepInput): Promise<readonly string[]> {
  const { place, args, run } = input;
  const names = (await readdir(join(place.path, "checklists")).catch(() => []))
    .filter((name) => name.endsWith(".md"))
    .sort();
  const states = await Promise.all(
    names.map(async (name) =>
      countChecklist(name, (await readInside(place, join(place.path, "checklists", name))) ?? ""),
    ),
  );
  for (const { name, total, checked } of states)
    run.note(`checklist ${name}: ${checked} of ${total}`);

  const notes = states.flatMap(({ name, forPerson }) => {
    const left = `checklists/${name}: ${plural(forPerson, "item")} left for a person to tick`;
    return forPerson > 0 ? [left] : [];
  });
  const list = states.flatMap(({ name, total, checked, forPerson }) => {
    const open = total - checked - forPerson;
    return open > 0 ? [`${name} (${open})`] : [];
  });
  if (list.length === 0 || args.force === true) return notes;
  if (await confirmOpen(states, input)) return notes;
  throw new HallError("EXECUTION", `checklists have open items: ${list.join(", ")}`, {
    hint: "Tick the items in the files, or repeat the step with force.",
    details: { checklists: states },
  });
}

/** Asks the user, if the client can ask. */
async function confirmOpen(
  states: readonly ChecklistState[],
  { context }: StepInput,
): Promise<boolean> {
  const rows = states.map(
    ({ name, total, checked }) => `| ${name} | ${total} | ${checked} | ${total - checked} |`,
  );
  const table = `| Checklist | Total | Checked | Unchecked |\n|---|---|---|---|\n${rows.join("\n")}`;
  const reply = await askForm(context, "checklists", {
    message: `Some checklists have open items. Continue?\n\n${table}`,
    properties: { proceed: { type: "boolean", title: "Continue with open items", default: false } },
    required: "proceed",
  });
  return reply?.proceed === true;
}

function listTasks(tasks: readonly Task[], { settings }: StepInput): string {
  const lines = tasks.map(({ id, isParallel, story, text }) => {
    const labels = `${isParallel ? " [P]" : ""}${story === undefined ? "" : ` [${story}]`}`;
    return `- ${id}${labels} ${text}`;
  });
  if (!settings.commands && tasks.some(({ command }) => command !== undefined))
    lines.push('Run the command yourself: "workflow.commands" is off.');
  const head = tasks.length === 1 ? "Next task:" : "Next tasks, which may run in parallel:";
  return [head, ...lines].join("\n");
}
