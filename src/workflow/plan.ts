import { basename } from "node:path";
import { HallError } from "../base/errors.ts";
import { readConstitution } from "./constitution.ts";
import {
  checkPlan,
  contractTemplate,
  dataModelTemplate,
  planTemplate,
  researchTemplate,
} from "./forms.ts";
import { draftPlan, openPointsOf, type PlanDrafts } from "./plan-draft.ts";
import { parseSpec, type Spec } from "./spec.ts";
import {
  dateOf,
  folderOf,
  needDocument,
  type StepFunction,
  type StepInput,
  writeDocuments,
} from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { type DocumentForm, writeByForm } from "./writer.ts";

/** Writes plan.md, research.md, quickstart.md and data-model.md; a model may also write the contract. */
export const plan: StepFunction = async (input) => {
  const { place, args, context, run, settings } = input;
  const specText = await needDocument(input, "spec.md", "specify");
  const spec = parseSpec(specText);
  refuseOpenQuestions(spec, input);

  run.report(10, "Reading the repository");
  const survey = await surveyRepository(place.project, context.scope);
  const languages = survey.languages.map(({ name }) => name).join(", ") || "no source code";
  run.report(40, `Found ${survey.fileCount} files (${languages})`);

  const technology = typeof args.technical_context === "string" ? args.technical_context : "";
  const drafts = draftPlan({
    spec,
    survey,
    technology: technology.trim(),
    constitution: await readConstitution(place),
    folder: folderOf(place),
    branch: basename(place.path),
    date: dateOf(settings.now()),
  });
  const background = `# The specification\n\n${specText}`;
  const { texts, notes, forModel } = await writeByForm(input, planForms(drafts), background);

  run.report(90, "Writing plan.md");
  const documents = Object.entries({ ...texts, "quickstart.md": drafts.quickstart }).flatMap(
    ([path, text]) => (text === undefined ? [] : [{ path, text }]),
  );
  const written = await writeDocuments("Plan", documents, input);
  const openPoints = openPointsOf(texts["research.md"] ?? "");
  const listed = openPoints.map(({ id, text }) => `- ${id}: ${text}`);
  return {
    text: [written.text, ...(listed.length > 0 ? ["", "Open points:", ...listed] : [])].join("\n"),
    files: written.files,
    notes,
    forModel,
    next: "tasks",
    details: { openPoints, entities: spec.entities.length },
  };
};

/** Without a model there is no contract: the requirements alone do not say what is called and how. */
function planForms(drafts: PlanDrafts): readonly DocumentForm[] {
  const model = { path: "data-model.md", template: dataModelTemplate, draft: drafts.dataModel };
  return [
    { path: "plan.md", template: planTemplate, draft: drafts.plan, check: checkPlan },
    { path: "research.md", template: researchTemplate, draft: drafts.research },
    ...(drafts.dataModel === undefined ? [] : [model]),
    { path: "contracts/actions.md", template: contractTemplate, draft: undefined },
  ];
}

function refuseOpenQuestions({ openQuestions }: Spec, { place }: StepInput): void {
  if (openQuestions.length === 0) return;
  const listed = openQuestions.map((question) => `“${question}”`).join(", ");
  throw new HallError("EXECUTION", `spec.md has open questions: ${listed}`, {
    next: [{ do: "run-step", step: "clarify", arguments: { spec_directory: place.path } }],
    details: { questions: openQuestions },
  });
}
