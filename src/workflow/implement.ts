import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { readInside, replaceFile } from "./artefacts.ts";
import { checkInside } from "./place.ts";
import { type ChecklistState, countChecklist } from "./requirements-checklist.ts";
import { needDocument, type Step, type StepInput } from "./step.ts";
import { filterTasks } from "./task-filter.ts";
import { describeTask, runTask, type TaskEnd, type TellShare } from "./task-work.ts";
import { countTasks, markTask, parseTasks, type Task } from "./tasks.ts";

/**
 * Does the tasks in their order: commands by themselves, the rest through an agent, or by giving them back to the caller, who does them and
 * says so. Each is marked as it is done, so that whatever ends a run, the next one goes on behind the last mark.
 */
export const implement: Step = async (input) => {
  const { place, args, run } = input;
  await needDocument(input, "spec.md", "specify");
  await needDocument(input, "plan.md", "plan");
  const text = await needDocument(input, "tasks.md", "tasks");
  const { tasks, faults } = parseTasks(text);
  if (tasks.length === 0) {
    throw new HallError(
      "EXECUTION",
      `tasks.md has no tasks${faults.length > 0 ? `: ${faults[0]}` : ""}; run speckit.tasks first`,
      {
        hint: "Call speckit.tasks with the same spec_directory.",
      },
    );
  }
  const notes = [...faults.map((fault) => `tasks.md: ${fault}`), ...(await findIgnoreGaps(input))];
  // Whoever reports what is done has begun already: the gate is before the work, not behind it.
  const isReport = await takeReport(input, tasks);
  if (!isReport) notes.push(...(await passChecklists(input)));
  const current = parseTasks(await needDocument(input, "tasks.md", "tasks")).tasks;
  const chosen =
    typeof args.task_filter === "string" && args.task_filter.trim() !== ""
      ? filterTasks(current, args.task_filter)
      : current;
  const pending = chosen.filter(({ isDone }) => !isDone);
  run.say(10, `${pending.length} of ${chosen.length} tasks are open`);
  const { forCaller, done, failed } = await workThrough(pending, input);
  const after = parseTasks(await needDocument(input, "tasks.md", "tasks")).tasks;
  const count = countTasks(after);
  const head = `${count.done} of ${count.total} tasks are done in ${join(place.path, "tasks.md")}`;
  if (failed.length > 0) {
    const reasons = failed.map(({ task, reason }) => `${task.id} (${reason})`).join("; ");
    throw new HallError(
      "EXECUTION",
      [`${head}; failed: ${reasons}`, ...tellReports(failed)].join("\n\n"),
      {
        hint: "Mend what failed, then call speckit.implement again: it goes on with what is not marked.",
        details: {
          failed: failed.map(({ task, reason, report }) => ({
            id: task.id,
            reason,
            ...(report === undefined ? {} : { report }),
          })),
          done: count.done,
          total: count.total,
        },
      },
    );
  }
  const isOver = count.done === count.total;
  return {
    text: [
      isOver ? `${head}; the feature is complete` : head,
      ...tellReports(done),
      ...(forCaller.length > 0 ? [tellTasks(forCaller, input)] : []),
    ].join("\n\n"),
    files: [
      {
        path: "tasks.md",
        change: after.every((task, at) => task.isDone === tasks[at]?.isDone)
          ? "unchanged"
          : "updated",
      },
    ],
    notes,
    next: isOver ? undefined : "implement",
    isPaused: forCaller.length > 0,
    details: {
      done: count.done,
      total: count.total,
      tasks: forCaller.map(describeTask),
      reports: done.map(({ task, report }) => ({ id: task.id, report: report ?? "" })),
    },
  };
};

interface Reported {
  readonly task: Task;
  readonly report?: string | undefined;
}

interface Failure extends Reported {
  readonly reason: string;
}

interface Worked {
  readonly forCaller: readonly Task[];
  readonly done: readonly Reported[];
  readonly failed: readonly Failure[];
}

async function workThrough(pending: readonly Task[], input: StepInput): Promise<Worked> {
  const done: Reported[] = [];
  const failed: Failure[] = [];
  const batches = batchesOf(pending);
  let begun = 0;
  for (const batch of batches) {
    const percentAt = (tasks: number): number => 10 + (85 * (begun + tasks)) / pending.length;
    input.run.say(
      percentAt(0),
      batch.length === 1
        ? `${batch[0]?.id}: ${batch[0]?.text}`
        : `${batch.map(({ id }) => id).join(", ")} beside each other`,
    );
    const ends = await runBatch(batch, input, (share, message) =>
      input.run.tell(percentAt(share), message),
    );
    begun += batch.length;
    for (const [at, end] of ends.entries()) {
      const task = batch[at];
      if (task && end.kind === "done") done.push({ task, report: end.report });
      if (task && end.kind === "failed")
        failed.push({ task, reason: end.reason, report: end.report });
    }
    const forCaller = batch.filter((_task, at) => ends[at]?.kind === "caller");
    if (forCaller.length > 0) return { forCaller, done, failed };
    // One that others may run beside is not what they wait for.
    if (failed.some(({ task }) => !task.isParallel)) break;
  }
  return { forCaller: [], done, failed };
}

const besideMax = 4;

/** One task, or several of one phase that may run beside each other: marked so, and with no file in common. */
function batchesOf(tasks: readonly Task[]): readonly (readonly Task[])[] {
  const batches: Task[][] = [];
  for (const task of tasks) {
    const last = batches.at(-1);
    const first = last?.[0];
    const isBeside =
      task.isParallel &&
      last !== undefined &&
      last.length < besideMax &&
      first?.isParallel &&
      first.phase.number === task.phase.number &&
      task.command === undefined &&
      first.command === undefined &&
      !last.some((other) => shareFile(other, task));
    if (isBeside) last.push(task);
    else batches.push([task]);
  }
  return batches;
}

/** Documents a task refers to are only read. */
function shareFile(a: Task, b: Task): boolean {
  return a.paths.some((path) => !path.endsWith(".md") && b.paths.includes(path));
}

async function runBatch(
  batch: readonly Task[],
  input: StepInput,
  tell: TellShare,
): Promise<readonly TaskEnd[]> {
  let marking = Promise.resolve();
  return Promise.all(
    batch.map(async (task) => {
      const end = await runTask(task, input, tell);
      // One mark after the other: two at once would each miss what the other wrote.
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

/** A paragraph for each task, as many as fit; the log has all of them. */
function tellReports(reported: readonly Reported[]): readonly string[] {
  let characters = 0;
  return reported.flatMap(({ task, report = "" }) => {
    characters += report.length;
    return report.trim() === "" || characters > reportsCharactersMax
      ? []
      : [`${task.id}: ${report}`];
  });
}

/** The file is read again for each mark: others may be editing it. */
async function markDone(ids: readonly string[], { place }: StepInput): Promise<void> {
  const file = join(place.path, "tasks.md");
  const text = await readInside(place, file);
  if (text === undefined)
    throw new HallError("EXECUTION", "tasks.md was removed while its tasks were being done");
  await checkInside(place, file);
  await replaceFile(
    file,
    ids.reduce((marked, id) => markTask(marked, id), text),
  );
}

/** What the caller says of tasks it was given; false where it says nothing. */
export async function takeReport(input: StepInput, tasks: readonly Task[]): Promise<boolean> {
  const { args, run } = input;
  const completed = Array.isArray(args.completed) ? args.completed.map(String) : [];
  const unknown = completed.filter((id) => !tasks.some((task) => task.id === id));
  if (unknown.length > 0)
    throw new HallError(
      "VALIDATION",
      `completed names ${unknown.join(", ")}, which tasks.md does not have`,
    );
  if (completed.length === 0) return false;
  await markDone(completed, input);
  run.note(`the caller has done ${completed.join(", ")}`);
  return true;
}

/**
 * Checklists are read, never changed. Open items hold the work up until a person, or `force`, says to go on; those that only a person can tick
 * are in every feature, so they are told and hold up nothing.
 */
async function passChecklists(input: StepInput): Promise<readonly string[]> {
  const { place, args, context, run } = input;
  const names = (await readdir(join(place.path, "checklists")).catch(() => []))
    .filter((name) => name.endsWith(".md"))
    .sort();
  const states: readonly ChecklistState[] = await Promise.all(
    names.map(async (name) =>
      countChecklist(name, (await readInside(place, join(place.path, "checklists", name))) ?? ""),
    ),
  );
  const open = states.filter(({ total, checked, forPerson }) => checked + forPerson < total);
  const told = states
    .filter(({ forPerson }) => forPerson > 0)
    .map(
      ({ name, forPerson }) =>
        `checklists/${name}: ${forPerson} ${forPerson === 1 ? "item waits" : "items wait"} for a person to tick`,
    );
  for (const { name, total, checked } of states)
    run.note(`checklist ${name}: ${checked} of ${total}`);
  if (open.length === 0 || args.force === true) return told;
  const table = `| Checklist | Total | Checked | Unchecked |\n|---|---|---|---|\n${states.map(({ name, total, checked }) => `| ${name} | ${total} | ${checked} | ${total - checked} |`).join("\n")}`;
  const elicitation = context.capabilities?.elicitation;
  if (isObject(elicitation) && (isObject(elicitation.form) || !isObject(elicitation.url))) {
    const params = {
      mode: "form",
      message: `Some checklists have open items. Go on?\n\n${table}`,
      requestedSchema: {
        type: "object",
        properties: {
          proceed: { type: "boolean", title: "Go on although items are open", default: false },
        },
        required: ["proceed"],
      },
    };
    const { checklists } = await context.ask({
      checklists: { method: "elicitation/create", params },
    });
    if (
      checklists?.action === "accept" &&
      isObject(checklists.content) &&
      checklists.content.proceed === true
    )
      return told;
  }
  throw new HallError(
    "EXECUTION",
    `checklists have open items: ${open.map(({ name, total, checked, forPerson }) => `${name} (${total - checked - forPerson})`).join(", ")}`,
    {
      hint: "Check the items in the files, or call again with force: true to go on as they are.",
      details: { checklists: states },
    },
  );
}

/** What should not be committed, by what the project is made of. Told, not written. */
async function findIgnoreGaps({ place }: StepInput): Promise<readonly string[]> {
  const entries = new Set(await readdir(place.project).catch(() => []));
  if (!entries.has(".git")) return [];
  const ignored = (await readInside(place, join(place.project, ".gitignore"))) ?? "";
  const wanted: readonly (readonly [string, string])[] = [
    ["package.json", "node_modules"],
    ["pyproject.toml", "__pycache__"],
    ["requirements.txt", "__pycache__"],
    ["Cargo.toml", "target"],
    ["pom.xml", "target"],
  ];
  const missing = wanted
    .filter(([file, pattern]) => entries.has(file) && !ignored.includes(pattern))
    .map(([, pattern]) => pattern);
  return missing.length > 0 ? [`.gitignore does not name ${[...new Set(missing)].join(", ")}`] : [];
}

/** The tasks that are next for whoever does them by hand. */
export function tellNext(
  tasks: readonly Task[],
  input: StepInput,
): { readonly tasks: readonly JsonObject[]; readonly text: string } {
  const [batch = []] = batchesOf(tasks.filter(({ isDone }) => !isDone));
  return { tasks: batch.map(describeTask), text: batch.length > 0 ? tellTasks(batch, input) : "" };
}

function tellTasks(tasks: readonly Task[], { settings, place }: StepInput): string {
  const lines = tasks.map(
    (task) =>
      `- ${task.id}${task.isParallel ? " [P]" : ""}${task.story === undefined ? "" : ` [${task.story}]`} ${task.text}`,
  );
  const command =
    tasks.some((task) => task.command !== undefined) && !settings.commands
      ? "\n\nCommands are yours to run: `workflow.commands` is off."
      : "";
  const ids = tasks.map(({ id }) => `"${id}"`).join(", ");
  return `Do ${tasks.length === 1 ? "this task" : "these tasks, which may run beside each other"}, reading the documents in ${place.path}:\n\n${lines.join("\n")}${command}\n\nThen call speckit.implement again with completed: [${ids}].`;
}
