import { join } from "node:path";
import { readInside, writeArtefacts } from "./artefacts.ts";
import { readConstitution } from "./constitution-file.ts";
import { type Design, designFeature } from "./design.ts";
import { takeReport, tellNext } from "./implement.ts";
import { openPointsOf } from "./plan.ts";
import { parseSpec } from "./spec.ts";
import { readTemplate } from "./specify.ts";
import {
  folderOf,
  needDocument,
  type Step,
  type StepAnswer,
  type StepInput,
  tellFiles,
  tellWritten,
} from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { countTasks, parseTasks, type Task } from "./tasks.ts";
import { draftTasks, type TasksInput } from "./tasks-draft.ts";
import { writeSection } from "./writer.ts";

/** tasks.md from the spec and the plan. */
export const breakDown: Step = async (input) => {
  const { place, args, context, run, memory } = input;
  const specText = await needDocument(input, "spec.md", "specify");
  const planText = await needDocument(input, "plan.md", "plan");
  if (Array.isArray(args.completed) && args.completed.length > 0) return takeDone(input);
  run.say(10, "Reading the plan");
  const [research, dataModel, contracts] = await Promise.all(
    ["research.md", "data-model.md", "contracts/actions.md"].map((name) =>
      readInside(place, join(place.path, name)),
    ),
  );
  const survey = await surveyRepository(place.project, context.scope);
  // The plan may name technology that no file shows yet.
  const technology =
    /\*\*(?:Language\/Version|Primary Dependencies)\*\*:[\s\S]{0,400}?(?=\n\*\*Storage|\n\n|$)/.exec(
      planText,
    )?.[0] ?? "";
  const design = designFeature({
    spec: parseSpec(specText),
    survey,
    technology: /\bOpen \(/.test(technology) ? undefined : technology,
  });
  const tasksInput: TasksInput = {
    design,
    folder: folderOf(place),
    documents: [
      "spec.md",
      "plan.md",
      ...(research ? ["research.md"] : []),
      ...(dataModel ? ["data-model.md"] : []),
      ...(contracts ? ["contracts/"] : []),
    ],
    openPoints: openPointsOf(research ?? ""),
    tests: await whoAskedForTests(input, specText),
  };
  run.say(50, `Deriving tasks from ${design.spec.stories.length} stories`);
  const { text, notes } = await writeTasks(draftTasks(tasksInput), {
    input,
    design,
    specText,
    planText,
  });
  run.say(90, "Writing tasks.md");
  const files = await writeArtefacts([{ path: "tasks.md", text }], {
    place,
    memory,
    force: args.force === true,
    blanks: await readTemplate(place, "tasks"),
  });
  const { tasks } = parseTasks(text);
  const counts = countByStory(tasks);
  const mvp = tasks.find(({ story }) => story !== undefined)?.story;
  return {
    text: `${tellWritten(`${tasks.length} tasks`, files, join(place.path, "tasks.md"))}\n${tellFiles(files, place)}\n\n${counts.map(({ story, count }) => `- ${story}: ${count}`).join("\n")}${mvp === undefined ? "" : `\n\nMVP: Setup, Foundational and ${mvp}.`}`,
    files,
    notes,
    next: "implement",
    details: {
      tasks: tasks.length,
      stories: Object.fromEntries(counts.map(({ story, count }) => [story, count])),
      parallel: tasks.filter(({ isParallel }) => isParallel).length,
      mvp: mvp ?? null,
    },
  };
};

/** Marks what was done by hand. Unlike `implement` it does nothing itself, so nobody has to allow it. */
async function takeDone(input: StepInput): Promise<StepAnswer> {
  const before = parseTasks(await needDocument(input, "tasks.md", "tasks")).tasks;
  await takeReport(input, before);
  const { tasks } = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  const { done, total } = countTasks(tasks);
  const next = tellNext(tasks, input);
  const isOver = done === total;
  return {
    text: `${done} of ${total} tasks are done in ${join(input.place.path, "tasks.md")}${isOver ? "; the feature is complete" : `\n\n${next.text}`}`,
    files: [
      {
        path: "tasks.md",
        change: tasks.every((task, at) => task.isDone === before[at]?.isDone)
          ? "unchanged"
          : "updated",
      },
    ],
    next: isOver ? undefined : "implement",
    isPaused: !isOver,
    details: { done, total, tasks: next.tasks },
  };
}

/** Test tasks only where somebody wants them. */
async function whoAskedForTests(
  { args, place }: StepInput,
  specText: string,
): Promise<string | undefined> {
  if (args.tests === true) return "by the caller";
  if (args.tests === false) return undefined;
  const input = parseSpec(specText).input;
  if (
    /\b(?:tests?|tdd|test-driven|test-first)\b/i.test(
      input.replace(/\btest (?:data|account|user)s?\b/gi, ""),
    ) &&
    !/\b(?:fix|flaky)\b/i.test(input)
  )
    return "in the description";
  const constitution = await readConstitution(place);
  const principle = constitution?.principles.find(({ name, text }) =>
    /\btest[- ]first\b|\btdd\b|tests? (?:must|are) .{0,20}(?:first|before)/i.test(
      `${name} ${text}`,
    ),
  );
  return principle ? `by the constitution (${principle.name})` : undefined;
}

interface Writing {
  readonly input: StepInput;
  readonly design: Design;
  readonly specText: string;
  readonly planText: string;
}

async function writeTasks(
  draft: string,
  { input: { context, run, settings }, design, specText, planText }: Writing,
): Promise<{ readonly text: string; readonly notes: readonly string[] }> {
  const writer = await settings.writer(context);
  const from = draft.indexOf("## Phase 1:");
  const to = draft.indexOf("\n---\n\n## Dependencies");
  if (!writer || from < 0 || to < 0) return { text: draft, notes: [] };
  run.say(60, "Writing: the phases");
  const { text, by, faults } = await writeSection(
    {
      name: "Phases and tasks",
      ask: "Phases `## Phase N: Title` – 1 Setup, 2 Foundational, then one for each user story by priority, last Polish & Cross-Cutting Concerns – each with its purpose or goal, and tasks like `- [ ] T001 [P] [US1] Text with a file path`. Ids without gaps; [US1] only in the phase of that story; [P] only where no other task of the phase names the same file.",
      draft: draft.slice(from, to).trim(),
      check: (candidate) => checkTasks(candidate, design),
    },
    {
      writer,
      background: `# The specification\n\n${specText}\n\n# The plan\n\n${planText}`,
      scope: context.scope,
      note: run.note,
    },
  );
  const notes =
    by === "rule"
      ? [
          `the tasks are the draft made by rule: the model's text did not fit (${faults.join("; ")})`,
        ]
      : [];
  return { text: `${draft.slice(0, from)}${text}\n${draft.slice(to)}`, notes };
}

/** What the grammar and the spec ask of a list of tasks. */
function checkTasks(text: string, { spec }: Design): readonly string[] {
  const { tasks, phases, faults } = parseTasks(text);
  const isInOrder = tasks.every(({ id }, at) => Number(id.slice(1)) === at + 1);
  const storyOf = (title: string): string | undefined => {
    const number = /^User Story (\d+)/i.exec(title)?.[1];
    return number === undefined ? undefined : `US${number}`;
  };
  return [
    ...faults,
    ...(tasks.length === 0 ? ["it has no tasks"] : []),
    ...(isInOrder ? [] : ["the ids must be T001, T002 … without gaps"]),
    ...(phases.every(({ number }, at) => number === at + 1)
      ? []
      : ["the phases must be numbered 1, 2, 3 …"]),
    ...tasks
      .filter(({ paths, command }) => paths.length === 0 && command === undefined)
      .map(({ id }) => `${id} names no file`),
    ...tasks
      .filter(({ story, phase }) => story !== storyOf(phase.title))
      .map(
        ({ id, phase }) =>
          `${id} must ${storyOf(phase.title) === undefined ? "have no story label" : `be labelled [${storyOf(phase.title)}]`}`,
      ),
    ...spec.stories
      .filter(({ number }) => !tasks.some(({ story }) => story === `US${number}`))
      .map(({ number }) => `User Story ${number} has no tasks`),
    ...sharedFiles(tasks),
  ];
}

function sharedFiles(tasks: readonly Task[]): readonly string[] {
  return tasks.flatMap((task, at) => {
    if (!task.isParallel) return [];
    const other = tasks
      .slice(0, at)
      .find(
        (before) =>
          before.isParallel &&
          before.phase.number === task.phase.number &&
          before.paths.some((path) => !path.endsWith(".md") && task.paths.includes(path)),
      );
    return other ? [`${other.id} and ${task.id} are both [P] and name the same file`] : [];
  });
}

function countByStory(
  tasks: readonly Task[],
): readonly { readonly story: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const { story, phase } of tasks) {
    const key = story ?? phase.title;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([story, count]) => ({ story, count }));
}
