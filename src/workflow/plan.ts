import { basename, join } from "node:path";
import { writeArtefacts } from "./artefacts.ts";
import { refuseOpenQuestions } from "./clarify.ts";
import { readConstitution } from "./constitution-file.ts";
import { type Design, designFeature } from "./design.ts";
import { bodyOf, findSection } from "./markdown.ts";
import { draftPlan, type PlanDrafts, type PlanInput, planFiles } from "./plan-draft.ts";
import { parseSpec } from "./spec.ts";
import { readTemplate } from "./specify.ts";
import {
  dateOf,
  folderOf,
  needDocument,
  type Step,
  type StepInput,
  tellFiles,
  tellWritten,
} from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { type Section, writeSection } from "./writer.ts";

/** plan.md, research.md, data-model.md, contracts and quickstart.md, from the spec and the repository. */
export const plan: Step = async (input) => {
  const { place, args, context, run, memory, settings } = input;
  const specText = await needDocument(input, "spec.md", "specify");
  refuseOpenQuestions(specText);
  run.say(10, "Looking at the repository");
  const survey = await surveyRepository(place.project, context.scope);
  run.say(
    40,
    `Found ${survey.fileCount} files, ${survey.languages.map(({ name }) => name).join(", ") || "no source"}`,
  );
  const technology =
    typeof args.technical_context === "string" ? args.technical_context : undefined;
  const design = designFeature({ spec: parseSpec(specText), survey, technology });
  const planInput: PlanInput = {
    design,
    constitution: await readConstitution(place),
    folder: folderOf(place),
    branch: basename(place.path),
    date: dateOf(settings.now()),
  };
  const { drafts, notes } = await writeDrafts(draftPlan(planInput), { input, design });
  run.say(90, "Writing plan.md");
  const files = await writeArtefacts(planFiles(drafts), {
    place,
    memory,
    force: args.force === true,
    blanks: await readTemplate(place, "plan"),
  });
  const openPoints = openPointsOf(drafts.research);
  return {
    text: `${tellWritten("Plan", files, join(place.path, "plan.md"))}\n${tellFiles(files, place)}${openPoints.length > 0 ? `\n\nTo be decided before it is built:\n${openPoints.map(({ id, text }) => `- ${id}: ${text}`).join("\n")}` : ""}`,
    files,
    notes,
    next: "tasks",
    details: { openPoints, actions: design.actions.length, entities: design.entities.length },
  };
};

/** Points of research.md that nobody has decided yet. */
export function openPointsOf(
  research: string,
): readonly { readonly id: string; readonly text: string }[] {
  return [...research.matchAll(/^- \*\*(O\d+)\*\* \(\w+\): (.+?)\.? Decision: open\.?$/gm)].map(
    ([, id = "", text = ""]) => ({ id, text }),
  );
}

interface Drafting {
  readonly input: StepInput;
  readonly design: Design;
}

/** Facts of the repository stay as they were found; a model writes what needs judgement. */
async function writeDrafts(
  drafts: PlanDrafts,
  { input, design }: Drafting,
): Promise<{ readonly drafts: PlanDrafts; readonly notes: readonly string[] }> {
  const { context, run, settings, args } = input;
  const writer = await settings.writer(context);
  if (!writer) return { drafts, notes: [] };
  const notes: string[] = [];
  const spec = design.spec;
  const background = `# The specification\n\n${await needDocument(input, "spec.md", "specify")}\n\n# The plan so far\n\n${drafts.plan}${typeof args.technical_context === "string" ? `\n\n# What the caller says\n\n${args.technical_context}` : ""}`;
  const write = async (percent: number, section: Section): Promise<string> => {
    run.say(percent, `Writing: ${section.name}`);
    const { text, by, faults } = await writeSection(section, {
      writer,
      background,
      scope: context.scope,
      note: run.note,
    });
    if (by === "rule")
      notes.push(
        `"${section.name}" is the draft made by rule: the model's text did not fit (${faults.join("; ")})`,
      );
    return text;
  };
  const under = (text: string, title: RegExp): string => {
    const section = findSection(text, title);
    return section ? bodyOf(text, section).trim() : "";
  };
  const oldSummary = under(drafts.plan, /^Summary$/);
  const summary = await write(45, {
    name: "Summary",
    ask: "One or two paragraphs: what is built and how, from the specification and the facts. No headings, at most 1,500 characters.",
    draft: oldSummary,
    check: (text) => [
      ...(/^#/m.test(text) ? ["it must have no headings"] : []),
      ...(text.length > 1_500 ? ["it is longer than 1,500 characters"] : []),
    ],
  });
  const oldDecisions = under(drafts.research, /^Decisions$/);
  const decisions = await write(55, {
    name: "Research decisions",
    ask: "For each decision `### Title` and bullets `- **Decision**: …`, `- **Rationale**: …`, `- **Alternatives considered**: …`. Keep what the draft found in the repository.",
    draft: oldDecisions,
    check: (text) => {
      const titles = (text.match(/^### /gm) ?? []).length;
      const complete = ["Decision", "Rationale", "Alternatives considered"].every(
        (field) =>
          (text.match(new RegExp(`^- \\*\\*${field}\\*\\*:`, "gm")) ?? []).length === titles,
      );
      return [
        ...(titles === 0 || !complete
          ? [
              "every decision needs `### Title`, **Decision**, **Rationale** and **Alternatives considered**",
            ]
          : []),
        ...(/^## /m.test(text) ? ["it must have no headings of the second level"] : []),
      ];
    },
  });
  const dataModel =
    drafts.dataModel &&
    (await write(65, {
      name: "Data model",
      ask: "One section `## Entity` for each entity of the specification: a table of fields, relations, rules, states. No field without a reason in the specification.",
      draft: drafts.dataModel.replace(/^# .+\n\n/, ""),
      check: (text) =>
        design.entities
          .filter(({ name }) => !new RegExp(`^## .*${name}`, "mi").test(text))
          .map(({ name }) => `it needs a section \`## ${name}\``),
    }));
  const contracts =
    drafts.contracts &&
    (await write(75, {
      name: "Contract",
      ask: "One section `## A1: name` for each action, with what it covers, takes, gives and how it fails.",
      draft: drafts.contracts.replace(/^# .+\n\n/, ""),
      check: (text) => [
        ...design.actions
          .filter(({ id }) => !new RegExp(`^## ${id}:`, "m").test(text))
          .map(({ id }) => `it needs a section \`## ${id}: …\``),
        ...[...text.matchAll(/\bFR-\d{3,}\b/g)]
          .map(([id]) => id)
          .filter((id) => !spec.requirements.some((item) => item.id === id))
          .map((id) => `${id} is not in the specification`),
      ],
    }));
  return {
    drafts: {
      ...drafts,
      plan: drafts.plan.replace(oldSummary, () => summary),
      research: drafts.research.replace(oldDecisions, () => decisions),
      dataModel: dataModel && `# Data Model: ${spec.title}\n\n${dataModel}\n`,
      contracts: contracts && `# Contract: ${spec.title}\n\n${contracts}\n`,
    },
    notes,
  };
}
