import { basename } from "node:path";
import { HallError } from "../base/errors.ts";
import { readConstitution } from "./constitution.ts";
import { bodyUnder } from "./markdown.ts";
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
import { type DraftSection, faultIf, openSectionWriter } from "./writer.ts";

/** Writes plan.md, research.md, quickstart.md and data-model.md; a model also writes the contract. */
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
  const background = `# The specification\n\n${specText}\n\n# The plan so far\n\n${drafts.plan}`;
  const { texts, notes } = await rewriteDrafts(drafts, spec, { input, background });

  run.report(90, "Writing plan.md");
  const documents = Object.entries(texts).flatMap(([path, text]) =>
    text === undefined ? [] : [{ path, text }],
  );
  const written = await writeDocuments("Plan", documents, input);
  const openPoints = openPointsOf(drafts.research);
  const listed = openPoints.map(({ id, text }) => `- ${id}: ${text}`);
  return {
    text: [written.text, ...(listed.length > 0 ? ["", "Open points:", ...listed] : [])].join("\n"),
    files: written.files,
    notes,
    next: "tasks",
    details: { openPoints, entities: spec.entities.length },
  };
};

function refuseOpenQuestions({ openQuestions }: Spec, { place }: StepInput): void {
  if (openQuestions.length === 0) return;
  const listed = openQuestions.map((question) => `“${question}”`).join(", ");
  throw new HallError("EXECUTION", `spec.md has open questions: ${listed}`, {
    next: [{ do: "run-step", step: "clarify", arguments: { spec_directory: place.path } }],
    details: { questions: openQuestions },
  });
}

interface Rewritten {
  /** By file; undefined for files that are not written. */
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly notes: readonly string[];
}

/** Facts of the repository stay as they are; a model writes the parts that need judgement. */
async function rewriteDrafts(
  { plan: planText, research, dataModel, quickstart }: PlanDrafts,
  spec: Spec,
  { input, background }: { readonly input: StepInput; readonly background: string },
): Promise<Rewritten> {
  const drafted = {
    "plan.md": planText,
    "research.md": research,
    "data-model.md": dataModel,
    "quickstart.md": quickstart,
  };
  const writer = await openSectionWriter(input, background);
  if (!writer) return { texts: drafted, notes: [] };

  const summary = summarySection(bodyUnder(planText, /^Summary$/));
  const decisions = decisionsSection(bodyUnder(research, /^Decisions$/));
  const newSummary = await writer.write(45, summary);
  const newDecisions = await writer.write(55, decisions);
  const model =
    dataModel === undefined ? "" : await writer.write(65, dataModelSection(dataModel, spec));
  const contract = await writer.write(75, contractSection(spec));
  return {
    texts: {
      ...drafted,
      "plan.md": planText.replace(summary.draft, () => newSummary),
      "research.md": research.replace(decisions.draft, () => newDecisions),
      "data-model.md": model === "" ? undefined : `# Data Model: ${spec.title}\n\n${model}\n`,
      "contracts/actions.md":
        contract === "" ? undefined : `# Contract: ${spec.title}\n\n${contract}\n`,
    },
    notes: writer.notes,
  };
}

const summaryCharactersMax = 1_500;

function summarySection(draft: string): DraftSection {
  return {
    name: "Summary",
    ask: "One or two paragraphs: what is built and how. No headings, at most 1,500 characters.",
    draft,
    check: (text) => [
      ...faultIf(/^#/m.test(text), "it must have no headings"),
      ...faultIf(text.length > summaryCharactersMax, "it is longer than 1,500 characters"),
    ],
  };
}

const decisionFields = ["Decision", "Rationale", "Alternatives considered"];

function decisionsSection(draft: string): DraftSection {
  return {
    name: "Research decisions",
    ask: "For each decision `### Title` and bullets `- **Decision**: …`, `- **Rationale**: …`, `- **Alternatives considered**: …`. Keep the facts of the draft.",
    draft,
    check(text) {
      const count = (form: RegExp): number => (text.match(form) ?? []).length;
      const titles = count(/^### /gm);
      const isComplete = decisionFields.every(
        (field) => count(new RegExp(`^- \\*\\*${field}\\*\\*:`, "gm")) === titles,
      );
      return [
        ...faultIf(
          !isComplete || titles === 0,
          "every decision needs `### Title`, Decision, Rationale and Alternatives considered",
        ),
        ...faultIf(/^## /m.test(text), "it must have no headings of level 2"),
      ];
    },
  };
}

function dataModelSection(draft: string, { entities }: Spec): DraftSection {
  return {
    name: "Data model",
    ask: "One section `## Entity` for each entity of the specification: a table of fields, relations, rules, states. No field without a reason in the specification.",
    draft: draft.replace(/^# .+\n\n/, "").trim(),
    check: (text) =>
      entities
        .filter(({ name }) => !text.toLowerCase().includes(`## ${name.toLowerCase()}`))
        .map(({ name }) => `it needs a section \`## ${name}\``),
  };
}

/** Without a model there is no contract: the requirements alone do not say what is called and how. */
function contractSection({ requirements }: Spec): DraftSection {
  return {
    name: "Contract",
    ask: "The interface of the feature: one section `## FR-001: name` for each requirement that needs one, with its input, its result and its failures.",
    draft: "",
    check(text) {
      const ids = [...text.matchAll(/\bFR-\d{3,}\b/g)].map(([id]) => id);
      const unknown = ids.filter((id) => !requirements.some((item) => item.id === id));
      return [
        ...faultIf(!/^## FR-\d{3,}/m.test(text), "it needs sections `## FR-001: …`"),
        ...unknown.map((id) => `${id} is not in the specification`),
      ];
    },
  };
}
