import { join } from "node:path";
import { readInside, readTemplate, writeArtefacts } from "./artefacts.ts";
import { readConstitution } from "./constitution.ts";
import { describeNext, markReported } from "./implement.ts";
import { oneLine } from "./markdown.ts";
import { type OpenPoint, openPointsOf } from "./plan-draft.ts";
import { type Item, parseSpec, type Spec, type Story } from "./spec.ts";
import {
  describeWritten,
  folderOf,
  listWritten,
  needDocument,
  type StepAnswer,
  type StepFunction,
  type StepInput,
} from "./step.ts";
import { type Survey, surveyRepository } from "./survey.ts";
import { countTasks, parseTasks, shareFile, type Task } from "./tasks.ts";
import { SectionWriter } from "./writer.ts";

/** Writes tasks.md from the spec and the plan, or ticks the tasks that the caller has done. */
export const writeTasks: StepFunction = async (input) => {
  const { place, args, context, run, memory } = input;
  const specText = await needDocument(input, "spec.md", "specify");
  const planText = await needDocument(input, "plan.md", "plan");
  if (Array.isArray(args.completed) && args.completed.length > 0) return markCompleted(input);

  run.report(10, "Reading the plan");
  const names = ["research.md", "data-model.md", "contracts/actions.md"];
  const texts = await Promise.all(names.map((name) => readInside(place, join(place.path, name))));
  const spec = parseSpec(specText);
  const draft = draftTasks({
    spec,
    survey: await surveyRepository(place.project, context.scope),
    folder: folderOf(place),
    documents: ["spec.md", "plan.md", ...names.filter((_name, at) => texts[at] !== undefined)],
    openPoints: openPointsOf(texts[0] ?? ""),
    tests: await findTestWish(input, spec),
  });

  run.report(50, "Writing the tasks");
  const background = `# The specification\n\n${specText}\n\n# The plan\n\n${planText}`;
  const { text, notes } = await rewritePhases(draft, input, { spec, background });
  run.report(90, "Writing tasks.md");
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
    text: [
      describeWritten(`${tasks.length} tasks`, files, join(place.path, "tasks.md")),
      listWritten(files, place),
      "",
      ...[...counts].map(([story, count]) => `- ${story}: ${count}`),
    ].join("\n"),
    files,
    notes,
    next: "implement",
    details: {
      tasks: tasks.length,
      stories: Object.fromEntries(counts),
      parallel: tasks.filter(({ isParallel }) => isParallel).length,
      mvp: mvp ?? null,
    },
  };
};

/** Ticks tasks only. Unlike `implement` it runs nothing, so it needs no approval. */
async function markCompleted(input: StepInput): Promise<StepAnswer> {
  const before = parseTasks(await needDocument(input, "tasks.md", "tasks")).tasks;
  await markReported(input, before);
  const { tasks } = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  const { done, total } = countTasks(tasks);
  const isComplete = done === total;
  const { text, tasks: left, ...next } = describeNext(tasks, input);
  const head = `${done} of ${total} tasks are done in ${join(input.place.path, "tasks.md")}`;
  const isChanged = tasks.some((task, at) => task.isDone !== before[at]?.isDone);
  return {
    text: isComplete ? `${head}; the feature is complete` : `${head}\n\n${text}`,
    files: [{ path: "tasks.md", change: isChanged ? "updated" : "unchanged" }],
    ...next,
    isPaused: !isComplete,
    details: { done, total, tasks: left },
  };
}

/** Test tasks are written only if the caller, the description or the constitution asks for them. */
async function findTestWish({ args, place }: StepInput, spec: Spec): Promise<string | undefined> {
  if (args.tests === true) return "by the caller";
  if (args.tests === false) return undefined;
  if (/\b(?:tdd|test-driven|test-first|with tests)\b/i.test(spec.input))
    return "in the description";

  const constitution = await readConstitution(place);
  const principle = constitution?.principles.find(({ name, text }) =>
    /\btest[- ]first\b|\btdd\b|tests? (?:must|are) .{0,20}(?:first|before)/i.test(
      `${name} ${text}`,
    ),
  );
  return principle ? `by the constitution (${principle.name})` : undefined;
}

/** Lets a model write the phases, where one is configured. */
async function rewritePhases(
  draft: string,
  input: StepInput,
  { spec, background }: { readonly spec: Spec; readonly background: string },
): Promise<{ readonly text: string; readonly notes: readonly string[] }> {
  const model = await input.settings.writer(input.context);
  if (!model) return { text: draft, notes: [] };

  const writer = new SectionWriter(input, model, background);
  const from = draft.indexOf("## Phase 1:");
  const to = draft.indexOf("\n---\n\n## Dependencies");
  const text = await writer.write(50, {
    name: "Phases and tasks",
    ask: "Phases `## Phase N: Title`: 1 Setup, 2 Foundational, then one for each user story by priority, last Polish & Cross-Cutting Concerns. Each has its purpose or goal, and tasks like `- [ ] T001 [P] [US1] Text with a file path`. Ids without gaps; [US1] only in the phase of that story; [P] only if no other task of the phase names the same file.",
    draft: draft.slice(from, to).trim(),
    check: (candidate) => checkTasks(candidate, spec),
  });
  return { text: `${draft.slice(0, from)}${text}\n${draft.slice(to)}`, notes: writer.notes };
}

/** The faults of a task list by the form of tasks.md and the stories of the spec. */
function checkTasks(text: string, { stories }: Spec): readonly string[] {
  const { tasks, phases, faults } = parseTasks(text);
  const idsFit = tasks.every(({ id }, at) => Number(id.slice(1)) === at + 1);
  const phasesFit = phases.every(({ number }, at) => number === at + 1);
  return [
    ...faults,
    ...(tasks.length === 0 ? ["it has no tasks"] : []),
    ...(idsFit ? [] : ["the ids must be T001, T002 … without gaps"]),
    ...(phasesFit ? [] : ["the phases must be numbered 1, 2, 3 …"]),
    ...tasks
      .filter(({ paths, command }) => paths.length === 0 && command === undefined)
      .map(({ id }) => `${id} names no file`),
    ...tasks.flatMap(checkLabel),
    ...stories
      .filter(({ number }) => !tasks.some(({ story }) => story === `US${number}`))
      .map(({ number }) => `User Story ${number} has no tasks`),
    ...tasks.flatMap((task, at) => checkParallel(task, tasks.slice(0, at))),
  ];
}

function checkLabel({ id, story, phase }: Task): readonly string[] {
  const number = /^User Story (\d+)/i.exec(phase.title)?.[1];
  const expected = number === undefined ? undefined : `US${number}`;
  if (story === expected) return [];
  return [expected === undefined ? `${id} must have no story label` : `${id} needs [${expected}]`];
}

function checkParallel(task: Task, before: readonly Task[]): readonly string[] {
  if (!task.isParallel) return [];
  const other = before.find(
    (earlier) =>
      earlier.isParallel && earlier.phase.number === task.phase.number && shareFile(earlier, task),
  );
  return other ? [`${other.id} and ${task.id} are both [P] and name the same file`] : [];
}

function countByStory(tasks: readonly Task[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { story, phase } of tasks) {
    const key = story ?? phase.title;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

export interface TasksInput {
  readonly spec: Spec;
  readonly survey: Survey;
  /** The feature's folder in the project. */
  readonly folder: string;
  /** Documents the tasks are made from. */
  readonly documents: readonly string[];
  readonly openPoints: readonly Pick<OpenPoint, "id" | "text">[];
  /** Who asked for tests; undefined if nobody did. */
  readonly tests: string | undefined;
}

interface Phase {
  readonly title: string;
  readonly head: string;
  readonly tasks: readonly string[];
  readonly story?: number;
  readonly checkpoint?: string;
}

/**
 * One task for each open point, requirement and test. Tasks name folders and files the project has; the author of the code
 * chooses the new ones.
 */
export function draftTasks(input: TasksInput): string {
  const { spec, folder, documents, openPoints, tests } = input;
  const stories = [...spec.stories].sort(
    (a, b) => a.priority.localeCompare(b.priority) || a.number - b.number,
  );
  const phases: readonly Phase[] = [
    {
      title: "Setup",
      head: "**Purpose**: Decide what is open.",
      tasks: openPoints.map(
        ({ id, text }) => `Decide ${id} and write the decision into ${folder}/research.md: ${text}`,
      ),
    },
    {
      title: "Foundational",
      head: "**Purpose**: Requirements that belong to no single story.\n\n**⚠️ CRITICAL**: No story begins before this phase is complete.",
      tasks: spec.requirements
        .filter((item) => storyOf(item, stories) === undefined)
        .map((item) => implementTask(item, input)),
      checkpoint: "Stories may begin.",
    },
    ...stories.map((story) => storyPhase(story, input, stories)),
    {
      title: "Polish & Cross-Cutting Concerns",
      head: "**Purpose**: Concerns of all stories.",
      tasks: polishTasks(input),
    },
  ];
  const mvp = stories[0] ? `, User Story ${stories[0].number} alone` : "";

  return `# Tasks: ${spec.title}

**Input**: Design documents from \`${folder}/\`
**Prerequisites**: ${documents.join(", ")}
**Tests**: ${tests === undefined ? "not asked for" : `asked for ${tests}`}

**Format**: \`[ID] [P?] [Story] Description\`. [P]: may run in parallel with other tasks of its phase.

${writePhases(phases)}

---

## Dependencies & Execution Order

Phases run in order, and so do the tasks of a phase. Tasks marked [P] may run in parallel.

## Parallel Example

No task is marked [P]: which files the tasks touch is not known yet.

## Implementation Strategy

- **MVP**: Phases 1 to 3${mvp}. Check it by its Independent Test.
- **After it**: One story at a time, in the order above.
`;
}

function writePhases(phases: readonly Phase[]): string {
  let next = 1;
  return phases
    .map(({ title, head, tasks, story, checkpoint }, at) => {
      const label = story === undefined ? "" : ` [US${story}]`;
      const lines = tasks.map((task) => {
        const id = `T${String(next++).padStart(3, "0")}`;
        return `- [ ] ${id}${label} ${oneLine(task).replaceAll("\\|", "|")}`;
      });
      return [
        `## Phase ${at + 1}: ${title}`,
        head,
        lines.join("\n") || "No tasks.",
        ...(checkpoint === undefined ? [] : [`**Checkpoint**: ${checkpoint}`]),
      ].join("\n\n");
    })
    .join("\n\n---\n\n");
}

function storyPhase(story: Story, input: TasksInput, stories: readonly Story[]): Phase {
  const { number, title, priority, text, independentTest, scenarios } = story;
  const { survey, folder, tests, spec } = input;
  const testPlace = survey.tests?.folder ? `${survey.tests.folder}/` : `${folder}/quickstart.md`;
  const own = spec.requirements.filter((item) => storyOf(item, stories) === number);
  const implement =
    own.length > 0
      ? own.map((item) => implementTask(item, input))
      : [`Implement User Story ${number} of ${folder}/spec.md${placeOf(survey)}`];
  return {
    title: `User Story ${number} - ${title} (Priority: ${priority})${story === stories[0] ? " 🎯 MVP" : ""}`,
    head: `**Goal**: ${text.split("\n")[0] || title}\n\n**Independent Test**: ${independentTest || "Go through its acceptance scenarios."}`,
    story: number,
    tasks: [
      ...(tests === undefined
        ? []
        : scenarios.map(
            (scenario, at) =>
              `Write a failing test for scenario ${at + 1} in ${testPlace}: ${shorten(scenario)}`,
          )),
      ...implement,
    ],
    checkpoint: `User Story ${number} works on its own.`,
  };
}

/** The story that quotes the requirement; the only story there is; else none. */
function storyOf({ text }: Item, stories: readonly Story[]): number | undefined {
  const plain = text.toLowerCase();
  const quoting = stories.find((story) => story.text.toLowerCase().includes(plain));
  return (quoting ?? (stories.length === 1 ? stories[0] : undefined))?.number;
}

function implementTask({ id, text }: Item, { folder, survey }: TasksInput): string {
  return `Implement ${id} of ${folder}/spec.md${placeOf(survey)}: ${text}`;
}

/** The folder for source code, if the repository has one. */
function placeOf({ sourceFolder }: Survey): string {
  return sourceFolder === "" ? "" : ` in ${sourceFolder}/`;
}

const scenarioCharactersMax = 160;

function shorten(scenario: string): string {
  const plain = scenario.replaceAll("**", "");
  if (plain.length <= scenarioCharactersMax) return plain;
  return `${plain.slice(0, scenarioCharactersMax).replace(/\s+\S*$/, "")} …`;
}

function polishTasks({ survey, folder }: TasksInput): readonly string[] {
  const commands = (["lint", "test"] as const).flatMap((kind) => survey.commands[kind] ?? []);
  return [
    ...(survey.readme === undefined ? [] : [`Describe the feature in ${survey.readme}`]),
    ...commands.map(({ text, from }) => `Run \`${text}\` (from ${from}) and fix what fails`),
    `Go through ${folder}/quickstart.md from a fresh checkout`,
  ];
}
