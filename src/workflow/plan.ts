import { basename, join } from "node:path";
import { type Draft, readTemplate, writeArtefacts } from "./artefacts.ts";
import { refuseOpenQuestions } from "./clarify.ts";
import { readConstitution } from "./constitution.ts";
import { bodyOf, findSection } from "./markdown.ts";
import { draftPlan, openPointsOf, type PlanDrafts, type PlanInput } from "./plan-draft.ts";
import { parseSpec, type Spec } from "./spec.ts";
import {
  dateOf,
  describeWritten,
  folderOf,
  listWritten,
  needDocument,
  type StepFunction,
  type StepInput,
} from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { type DraftSection, SectionWriter } from "./writer.ts";

/** Writes plan.md, research.md, quickstart.md and data-model.md; a model also writes the contract. */
export const plan: StepFunction = async (input) => {
  const { place, args, context, run, memory, settings } = input;
  const specText = await needDocument(input, "spec.md", "specify");
  refuseOpenQuestions(specText, place);

  run.report(10, "Reading the repository");
  const survey = await surveyRepository(place.project, context.scope);
  const languages = survey.languages.map(({ name }) => name).join(", ") || "no source code";
  run.report(40, `Found ${survey.fileCount} files (${languages})`);

  const spec = parseSpec(specText);
  const technology = typeof args.technical_context === "string" ? args.technical_context : "";
  const drafts = draftPlan({
    spec,
    survey,
    technology,
    constitution: await readConstitution(place),
    folder: folderOf(place),
    branch: basename(place.path),
    date: dateOf(settings.now()),
  });
  const { documents, notes } = await writeDocuments(drafts, input, { spec, specText, technology });

  run.report(90, "Writing plan.md");
  const files = await writeArtefacts(documents, {
    place,
    memory,
    force: args.force === true,
    blanks: await readTemplate(place, "plan"),
  });
  const openPoints = openPointsOf(drafts.research);
  return {
    text: [
      describeWritten("Plan", files, join(place.path, "plan.md")),
      listWritten(files, place),
      ...(openPoints.length > 0
        ? ["", "Open points:", ...openPoints.map(({ id, text }) => `- ${id}: ${text}`)]
        : []),
    ].join("\n"),
    files,
    notes,
    next: "tasks",
    details: { openPoints, entities: spec.entities.length },
  };
};

interface Documents {
  readonly documents: readonly Draft[];
  readonly notes: readonly string[];
}

/** Facts of the repository stay as they are; a model writes the parts that need judgement. */
async function writeDocuments(
  drafts: PlanDrafts,
  input: StepInput,
  { spec, specText, technology }: Pick<PlanInput, "spec" | "technology"> & { specText: string },
): Promise<Documents> {
  const model = await input.settings.writer(input.context);
  if (!model) return { documents: filesOf(drafts, undefined), notes: [] };

  const said = technology === "" ? "" : `\n\n# Technology the caller named\n\n${technology}`;
  const background = `# The specification\n\n${specText}\n\n# The plan so far\n\n${drafts.plan}${said}`;
  const writer = new SectionWriter(input, model, background);
  const rewrite = async (text: string, percent: number, section: DraftSection): Promise<string> => {
    const written = await writer.write(percent, section);
    return text.replace(section.draft, () => written);
  };

  const plan = await rewrite(drafts.plan, 45, summarySection(drafts));
  const research = await rewrite(drafts.research, 55, decisionsSection(drafts));
  const dataModel =
    drafts.dataModel &&
    `# Data Model: ${spec.title}\n\n${await writer.write(65, dataModelSection(drafts.dataModel, spec))}\n`;
  const contract = await writer.write(75, contractSection(spec));
  return {
    documents: filesOf(
      { ...drafts, plan, research, dataModel },
      contract === "" ? undefined : `# Contract: ${spec.title}\n\n${contract}\n`,
    ),
    notes: writer.notes,
  };
}

function filesOf(drafts: PlanDrafts, contract: string | undefined): readonly Draft[] {
  const files: readonly (readonly [string, string | undefined])[] = [
    ["plan.md", drafts.plan],
    ["research.md", drafts.research],
    ["data-model.md", drafts.dataModel],
    ["contracts/actions.md", contract],
    ["quickstart.md", drafts.quickstart],
  ];
  return files.flatMap(([path, text]) => (text === undefined ? [] : [{ path, text }]));
}

function bodyUnder(text: string, title: RegExp): string {
  const section = findSection(text, title);
  return section ? bodyOf(text, section).trim() : "";
}

const summaryCharactersMax = 1_500;

function summarySection({ plan }: PlanDrafts): DraftSection {
  return {
    name: "Summary",
    ask: "One or two paragraphs: what is built and how. No headings, at most 1,500 characters.",
    draft: bodyUnder(plan, /^Summary$/),
    check: (text) => [
      ...(/^#/m.test(text) ? ["it must have no headings"] : []),
      ...(text.length > summaryCharactersMax ? ["it is longer than 1,500 characters"] : []),
    ],
  };
}

const decisionFields = ["Decision", "Rationale", "Alternatives considered"];

function decisionsSection({ research }: PlanDrafts): DraftSection {
  return {
    name: "Research decisions",
    ask: "For each decision `### Title` and bullets `- **Decision**: …`, `- **Rationale**: …`, `- **Alternatives considered**: …`. Keep the facts of the draft.",
    draft: bodyUnder(research, /^Decisions$/),
    check(text) {
      const count = (form: RegExp): number => (text.match(form) ?? []).length;
      const titles = count(/^### /gm);
      const isComplete = decisionFields.every(
        (field) => count(new RegExp(`^- \\*\\*${field}\\*\\*:`, "gm")) === titles,
      );
      return [
        ...(isComplete && titles > 0
          ? []
          : ["every decision needs `### Title`, Decision, Rationale and Alternatives considered"]),
        ...(/^## /m.test(text) ? ["it must have no headings of level 2"] : []),
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
      const unknown = [...text.matchAll(/\bFR-\d{3,}\b/g)]
        .map(([id]) => id)
        .filter((id) => !requirements.some((item) => item.id === id));
      return [
        ...(/^## FR-\d{3,}/m.test(text) ? [] : ["it needs sections `## FR-001: …`"]),
        ...unknown.map((id) => `${id} is not in the specification`),
      ];
    },
  };
}
