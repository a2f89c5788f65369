import { join } from "node:path";
import { readInside } from "./artefacts.ts";
import { readConstitution } from "./constitution.ts";
import { describeWork, markReported, nextBatch } from "./implement.ts";
import { openPointsOf } from "./plan-draft.ts";
import { parseSpec, type Spec } from "./spec.ts";
import {
  folderOf,
  needDocument,
  type StepAnswer,
  type StepFunction,
  type StepInput,
  stringsOf,
  writeDocuments,
} from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { parseTasks, shareFile, type Task } from "./tasks.ts";
import { draftTasks } from "./tasks-draft.ts";
import { faultIf, openSectionWriter } from "./writer.ts";

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
  const { text, notes } = await rewritePhases(draft, spec, { input, background });
  const { tasks } = parseTasks(text);
  run.report(90, "Writing tasks.md");
  const documents = [{ path: "tasks.md", text }];
  const written = await writeDocuments(`${tasks.length} tasks`, documents, input);
  return { ...written, notes, next: "implement", details: { tasks: tasks.length } };
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

/** Lets a model write the phases, where one is configured. */
async function rewritePhases(
  draft: string,
  spec: Spec,
  { input, background }: { readonly input: StepInput; readonly background: string },
): Promise<{ readonly text: string; readonly notes: readonly string[] }> {
  const writer = await openSectionWriter(input, background);
  if (!writer) return { text: draft, notes: [] };

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
    ...faultIf(tasks.length === 0, "it has no tasks"),
    ...faultIf(!idsFit, "the ids must be T001, T002 … without gaps"),
    ...faultIf(!phasesFit, "the phases must be numbered 1, 2, 3 …"),
    ...stories
      .filter(({ number }) => !tasks.some(({ story }) => story === `US${number}`))
      .map(({ number }) => `User Story ${number} has no tasks`),
    ...tasks.flatMap((task, at) => checkTask(task, tasks.slice(0, at))),
  ];
}

function checkTask(task: Task, before: readonly Task[]): readonly string[] {
  const { id, paths, command, story, phase, isParallel } = task;
  const number = /^User Story (\d+)/i.exec(phase.title)?.[1];
  const expected = number && `US${number}`;
  const label = expected ? `${id} needs [${expected}]` : `${id} must have no story label`;
  const rival = before.find(
    (other) => other.isParallel && other.phase.number === phase.number && shareFile(other, task),
  );
  return [
    ...faultIf(paths.length === 0 && command === undefined, `${id} names no file`),
    ...faultIf(story !== expected, label),
    ...faultIf(
      isParallel && rival !== undefined,
      `${rival?.id} and ${id} are both [P] and name the same file`,
    ),
  ];
}
