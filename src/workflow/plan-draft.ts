import { plural, shortenLine } from "../base/text.ts";
import type { Constitution } from "./constitution.ts";
import { performance } from "./description.ts";
import { oneLine } from "./markdown.ts";
import { markOf, type Spec } from "./spec.ts";
import { commandKinds, findRelated, type Survey } from "./survey.ts";

/** The facts a plan is written from: the spec, the repository, and the technology the caller named. */
export interface PlanInput {
  readonly spec: Spec;
  readonly survey: Survey;
  /** Such as "TypeScript with Fastify". */
  readonly technology: string;
  readonly constitution: Constitution | undefined;
  /** The feature's folder in the project: "specs/001-x". */
  readonly folder: string;
  readonly branch: string;
  readonly date: string;
}

export interface PlanDrafts {
  readonly plan: string;
  readonly research: string;
  /** Only if the spec names entities. */
  readonly dataModel: string | undefined;
  readonly quickstart: string;
}

export function draftPlan(input: PlanInput): PlanDrafts {
  const open = findOpenPoints(input);
  return {
    plan: writePlan(input, open),
    research: writeResearch(input, open),
    dataModel: input.spec.entities.length > 0 ? writeDataModel(input.spec) : undefined,
    quickstart: writeQuickstart(input),
  };
}

/** Neither the spec nor the repository says it; a person decides before it is built. */
export interface OpenPoint {
  readonly id: string;
  readonly text: string;
}

interface SubjectPoint extends OpenPoint {
  readonly subject: Subject;
}

type Subject = "language" | "storage" | "testing";

function findOpenPoints({ spec, survey, technology }: PlanInput): readonly SubjectPoint[] {
  const { entities } = spec;
  const names = entities.map(({ name }) => name).join(", ");
  const isOpen: Readonly<Record<Subject, boolean>> = {
    language: technology === "" && survey.languages.length === 0,
    storage: technology === "" && entities.length > 0,
    testing: !survey.tests && !survey.commands.test,
  };
  const texts: Readonly<Record<Subject, string>> = {
    language: "the language, as no source files were found",
    storage: `where to store ${names}`,
    testing: "how to test, as no tests and no test command were found",
  };
  return (Object.keys(texts) as Subject[])
    .filter((subject) => isOpen[subject])
    .map((subject, at) => ({ id: `O${at + 1}`, subject, text: texts[subject] }));
}

/** Criteria with a figure for speed or success, quoted. */
function goalsOf({ criteria }: Spec): string {
  const goals = criteria.filter(({ text }) => performance.test(text));
  return goals.map(({ id, text }) => `${id}: ${oneLine(text)}`).join(" ");
}

/** Open points of research.md without a decision. */
export function openPointsOf(research: string): readonly OpenPoint[] {
  return [...research.matchAll(/^- \*\*(O\d+)\*\* \(\w+\): (.+?)\.? Decision: open\.?$/gm)].map(
    ([, id = "", text = ""]) => ({ id, text }),
  );
}

function writePlan(input: PlanInput, open: readonly SubjectPoint[]): string {
  const { spec, survey, folder, branch, date, constitution } = input;
  const gate = writeGate(constitution);
  const documents = [
    "spec.md",
    "plan.md",
    "research.md",
    ...(spec.entities.length > 0 ? ["data-model.md"] : []),
    "quickstart.md",
  ];
  const points = open.map(({ id, subject }) => `${id} (${subject})`).join(", ");
  const counts = `${plural(spec.requirements.length, "requirement")} in ${plural(spec.stories.length, "user story", "user stories")}`;
  return `# Implementation Plan: ${spec.title}

**Branch**: \`${branch}\` | **Date**: ${date} | **Spec**: [spec.md](./spec.md)
**Input**: Feature specification from \`${folder}/spec.md\`

## Summary

${spec.stories[0]?.text || spec.title}

${counts}.${points && `\n\nOpen points, listed in [research.md](./research.md): ${points}.`}

## Technical Context

${writeContext(input, open)}

## Constitution Check

*GATE: must pass before research, and again after the design.*

### Before research

${gate}

### After design

${gate}

## Project Structure

### Documentation (this feature)

\`\`\`text
${folder}/
${documents.map((name) => `├── ${name}`).join("\n")}
└── tasks.md            # written by speckit.tasks
\`\`\`

### Source Code (repository root)

\`\`\`text
${listFolders(survey)}
\`\`\`

**Structure Decision**: ${decideStructure(input)}

## Complexity Tracking

Nothing to justify yet.
`;
}

const dependenciesShownMax = 30;

function writeContext(
  { spec, survey, technology }: PlanInput,
  open: readonly SubjectPoint[],
): string {
  const openMark = (subject: Subject): string => {
    const point = open.find((candidate) => candidate.subject === subject);
    return point ? markOf(`${point.text} (${point.id})`) : "";
  };
  const { runtime, tests, commands, manifests } = survey;
  const [main] = survey.languages;
  const asked = technology && `${oneLine(technology)} (named by the caller)`;
  const language = [
    asked,
    main && `${main.name} (${plural(main.files, "file")})`,
    runtime && `${runtime.text} (${runtime.from})`,
  ];
  const testing = [
    commands.test && `\`${commands.test.text}\` (${commands.test.from})`,
    tests && `${plural(tests.files, "test file")}, such as ${tests.example}`,
  ];
  const dependencies = manifests
    .flatMap(({ path, dependencies: names }) => names.map((name) => `${name} (${path})`))
    .slice(0, dependenciesShownMax);
  const join = (parts: readonly (string | undefined)[]): string => parts.filter(Boolean).join("; ");

  const fields: Readonly<Record<string, string>> = {
    "Language/Version": join(language) || openMark("language"),
    "Primary Dependencies": dependencies.join(", ") || "none found",
    Storage: openMark("storage") || asked || "the spec lists nothing to store",
    Testing: join(testing) || openMark("testing"),
    "Target Platform": runtime?.text ?? "the repository does not say",
    "Project Type": openMark("language") || "as in the repository",
    "Performance Goals": goalsOf(spec) || "the spec names none",
    Constraints: "see the requirements in [spec.md](./spec.md)",
    "Scale/Scope": `the repository has ${survey.isCut ? "more than " : ""}${plural(survey.fileCount, "file")}`,
  };
  return Object.entries(fields)
    .map(([name, value]) => `**${name}**: ${value}`)
    .join("\n");
}

const principleCharactersMax = 160;

/** A person ticks each principle; nothing here can judge it. */
function writeGate(constitution: Constitution | undefined): string {
  if (!constitution || constitution.principles.length === 0)
    return "No gate: `.specify/memory/constitution.md` has no principles.";
  return constitution.principles
    .map(({ name, text }) => {
      const shown = shortenLine(oneLine(text), principleCharactersMax);
      return text.startsWith(name) ? `- [ ] ${shown}` : `- [ ] ${name}: ${shown}`;
    })
    .join("\n");
}

/** Files are named only if they exist; the author of the code chooses new ones. */
function decideStructure({ spec, survey }: PlanInput): string {
  if (survey.sources.length === 0) return "Open: there is no source code yet.";
  const related = findRelated(survey, spec.input);
  const named = related.length > 0 ? ` Files named like the feature: ${related.join(", ")}.` : "";
  return `The feature goes into the existing folders.${named}`;
}

const foldersShownMax = 30;

function listFolders({ folders }: Survey): string {
  const lines = folders
    .slice(0, foldersShownMax)
    .map(({ name, files }) => `${`${name}/ `.padEnd(40)}# ${plural(files, "source file")}`);
  return lines.join("\n") || "# no folders with source files yet";
}

function writeResearch(
  { spec, survey, technology, branch, date }: PlanInput,
  open: readonly SubjectPoint[],
): string {
  const [main] = survey.languages;
  const facts: (readonly [string, string])[] = [];
  if (technology !== "") facts.push([oneLine(technology), "The caller asked for it."]);
  else if (main) facts.push([main.name, `The repository has ${plural(main.files, "file")} of it.`]);
  const decisions = facts.map(
    ([what, why]) =>
      `### ${what}\n\n- **Decision**: ${what}\n- **Rationale**: ${why}\n- **Alternatives considered**: none`,
  );
  const points = open.map(
    ({ id, subject, text }) => `- **${id}** (${subject}): ${text}. Decision: open.`,
  );
  return `# Research: ${spec.title}

**Feature**: \`${branch}\` | **Date**: ${date}

## Decisions

${decisions.join("\n\n") || "None: the repository shows no technology."}

## Open points

${points.join("\n") || "None."}
`;
}

/** The entities in the words of the spec. */
function writeDataModel({ title, entities }: Spec): string {
  const sections = entities.map(({ name, text }) => `## ${name}\n\n${text || "No details yet."}`);
  return `# Data Model: ${title}\n\n${sections.join("\n\n")}\n`;
}

function writeQuickstart({ spec, survey, branch }: PlanInput): string {
  const commands = commandKinds.flatMap((kind) => {
    const command = survey.commands[kind];
    return command ? [`${command.text.padEnd(36)}# ${kind}, from ${command.from}`] : [];
  });
  const stories = spec.stories.map(({ number, title, independentTest, scenarios }) => {
    const steps = scenarios.map((scenario, at) => `${at + 1}. ${scenario}`).join("\n");
    return [`### User Story ${number}: ${title}`, independentTest, steps || "No scenarios yet."]
      .filter((part) => part !== "")
      .join("\n\n");
  });
  return `# Quickstart: ${spec.title}

How to check \`${branch}\` from a fresh checkout.

## Prepare

${commands.length > 0 ? `\`\`\`sh\n${commands.join("\n")}\n\`\`\`` : "The repository names no commands."}

## Check

${stories.join("\n\n") || "The spec has no user stories."}
`;
}
