import { join } from "node:path";
import { shortenLine } from "../base/text.ts";
import { readInside } from "./artefacts.ts";
import { readConstitution } from "./constitution.ts";
import { checkTasks, tasksTemplate } from "./forms.ts";
import { describeWork, markReported, nextBatch } from "./implement.ts";
import { type OpenPoint, openPointsOf, type PlanInput } from "./plan-draft.ts";
import { type Item, parseSpec, type Spec, type Story } from "./spec.ts";
import {
  folderOf,
  needDocument,
  type StepAnswer,
  type StepFunction,
  type StepInput,
  stringsOf,
  writeDocuments,
} from "./step.ts";
import { findRelated, type Survey, surveyRepository } from "./survey.ts";
import { parseTasks } from "./tasks.ts";
import { writeByForm } from "./writer.ts";

/** Writes tasks.md from the spec and the plan, or ticks the tasks that the caller has done. */
export const writeTasks: StepFunction = async (input) => {
  const { place, args, context, run } = input;
  const specText = await needDocument(input, "spec.md", "specify");
  const planText = await needDocument(input, "plan.md", "plan");
  if (stringsOf(args.completed).length > 0) return markCompleted(input);

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
  const form = { path: "tasks.md", template: tasksTemplate, draft, check: checkTasks(spec) };
  const { texts: written, notes, forModel } = await writeByForm(input, [form], background);
  const text = written["tasks.md"] ?? draft;
  const { tasks } = parseTasks(text);
  run.report(90, "Writing tasks.md");
  const documents = [{ path: "tasks.md", text }];
  const answer = await writeDocuments(`${tasks.length} tasks`, documents, input);
  return { ...answer, notes, forModel, next: "implement", details: { tasks: tasks.length } };
};

/** Ticks tasks only. Unlike `implement` it runs nothing, so it needs no approval. */
async function markCompleted(input: StepInput): Promise<StepAnswer> {
  const before = parseTasks(await needDocument(input, "tasks.md", "tasks")).tasks;
  await markReported(input, before);
  const { tasks } = parseTasks(await needDocument(input, "tasks.md", "tasks"));
  return describeWork({ forCaller: nextBatch(tasks), done: [], failed: [] }, before, input);
}

/** Test tasks are written only if the caller, the description or the constitution asks for them. */
async function findTestWish({ args, place }: StepInput, spec: Spec): Promise<string | undefined> {
  if (args.tests === true) return "by the caller";
  if (args.tests === false) return undefined;
  if (/\b(?:tdd|test-driven|test-first|with tests)\b/i.test(spec.input))
    return "in the description";

  const constitution = await readConstitution(place);
  const principle = constitution?.principles.find(({ name, text }) =>
    /\b(?:test[- ]first|test-driven|tdd)\b/i.test(`${name} ${text}`),
  );
  return principle && `by the constitution (${principle.name})`;
}

interface TasksInput extends Pick<PlanInput, "spec" | "survey" | "folder"> {
  /** Documents the tasks are made from. */
  readonly documents: readonly string[];
  readonly openPoints: readonly OpenPoint[];
  /** The source of the request for tests; undefined if there was none. */
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
 * One task for each open point, requirement and test. Tasks name folders and files the project has;
 * the author of the code chooses the new ones.
 */
function draftTasks(input: TasksInput): string {
  const { spec, folder, documents, openPoints, tests } = input;
  const stories = [...spec.stories].sort(
    (a, b) => a.priority.localeCompare(b.priority) || a.number - b.number,
  );
  const phases: readonly Phase[] = [
    {
      title: "Setup",
      head: "**Purpose**: Decide what is open.",
      tasks: openPoints.map(({ id, text }) => `Decide ${id} in ${folder}/research.md: ${text}`),
    },
    {
      title: "Foundational",
      head: "**Purpose**: Requirements that belong to no single story.\n\n**⚠️ CRITICAL**: No story begins before this phase is complete.",
      tasks: spec.requirements
        .filter((item) => storyOf(item, stories) === undefined)
        .map((item) => implementTask(item, input)),
      checkpoint: "Stories may begin.",
    },
    ...stories.map((story) => storyPhase(story, stories, input)),
    {
      title: "Polish & Cross-Cutting Concerns",
      head: "**Purpose**: Concerns of all stories.",
      tasks: polishTasks(input),
    },
  ];

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

- **MVP**: Phases 1 to 3. Check it by the Independent Test of its story.
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
        return `- [ ] ${id}${label} ${task.replace(/\s+/g, " ").trim()}`;
      });
      const parts = [`## Phase ${at + 1}: ${title}`, head, lines.join("\n") || "No tasks."];
      if (checkpoint !== undefined) parts.push(`**Checkpoint**: ${checkpoint}`);
      return parts.join("\n\n");
    })
    .join("\n\n---\n\n");
}

const scenarioCharactersMax = 160;

function storyPhase(story: Story, stories: readonly Story[], input: TasksInput): Phase {
  const { number, title, priority, text, independentTest, scenarios } = story;
  const { survey, folder, tests, spec } = input;
  const example = survey.tests ? `, like ${survey.tests.example}` : "";
  const testTasks = scenarios.map((scenario, at) => {
    const words = shortenLine(scenario.replaceAll("**", ""), scenarioCharactersMax);
    return `Write a failing test for scenario ${at + 1} of ${folder}/spec.md${example}: ${words}`;
  });
  const own = spec.requirements.filter((item) => storyOf(item, stories) === number);
  const whole = `Implement User Story ${number} of ${folder}/spec.md${placeOf(survey)}`;
  const isFirst = story === stories[0];
  return {
    title: `User Story ${number} - ${title} (Priority: ${priority})${isFirst ? " 🎯 MVP" : ""}`,
    head: `**Goal**: ${text.split("\n")[0] || title}\n\n**Independent Test**: ${independentTest || "Go through its acceptance scenarios."}`,
    story: number,
    tasks: [
      ...(tests === undefined ? [] : testTasks),
      ...(own.length > 0 ? own.map((item) => implementTask(item, input)) : [whole]),
    ],
    checkpoint: `User Story ${number} works on its own.`,
  };
}

/** The story that quotes the requirement; the only story there is; else none. */
function storyOf({ text }: Item, stories: readonly Story[]): number | undefined {
  const [first, ...others] = stories;
  const quoting = stories.find((story) => story.text.includes(text));
  return (quoting ?? (others.length === 0 ? first : undefined))?.number;
}

function implementTask({ id, text }: Item, { folder, survey }: TasksInput): string {
  const related = findRelated(survey, text);
  const place = related.length > 0 ? `, see ${related.join(", ")}` : placeOf(survey);
  return `Implement ${id} of ${folder}/spec.md${place}: ${text}`;
}

/** The folder for source code, if the repository has one. */
function placeOf({ sourceFolder }: Survey): string {
  return sourceFolder === "" ? "" : ` in ${sourceFolder}/`;
}

function polishTasks({ survey, folder }: TasksInput): readonly string[] {
  const commands = (["lint", "test"] as const).flatMap((kind) => survey.commands[kind] ?? []);
  return [
    ...(survey.readme === undefined ? [] : [`Describe the feature in ${survey.readme}`]),
    ...commands.map(({ text, from }) => `Run \`${text}\` (from ${from}) and fix what fails`),
    `Go through ${folder}/quickstart.md from a fresh checkout`,
  ];
}
