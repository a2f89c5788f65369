import { join } from "node:path";
import { readInside } from "./artefacts.ts";
import { readConstitution } from "./constitution.ts";
import { checkTasks, tasksTemplate } from "./forms.ts";
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
import { parseTasks } from "./tasks.ts";
import { draftTasks } from "./tasks-draft.ts";
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
