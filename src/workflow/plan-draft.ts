import { plural } from "../base/text.ts";
import type { Constitution } from "./constitution.ts";
import { namedIn } from "./manifest.ts";
import { oneLine } from "./markdown.ts";
import type { Spec } from "./spec.ts";
import { hasFigure } from "./spec-draft.ts";
import type { Survey } from "./survey.ts";

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

/** Neither the spec nor the repository says it; a person decides before it is built. */
export interface OpenPoint {
  readonly id: string;
  readonly subject: Subject;
  readonly text: string;
}

type Subject = "language" | "storage" | "testing" | "interface" | "performance";

export function draftPlan(input: PlanInput): PlanDrafts {
  const context = readContext(input);
  return {
    plan: writePlan(input, context),
    research: writeResearch(input, context),
    dataModel: input.spec.entities.length > 0 ? writeDataModel(input.spec) : undefined,
    quickstart: writeQuickstart(input),
  };
}

interface TechnicalContext {
  readonly language: { readonly name: string; readonly from: string } | undefined;
  readonly technologies: Survey["technologies"];
  readonly projectType: string | undefined;
  readonly open: readonly OpenPoint[];
}

const caller = "the caller";

function readContext({ spec, survey, technology }: PlanInput): TechnicalContext {
  const named = namedIn(technology);
  const [main] = survey.languages;
  const [asked] = named.languages;
  const repository = main && { name: main.name, from: plural(main.files, "file") };
  const language = asked === undefined ? repository : { name: asked, from: caller };
  const technologies = [
    ...named.technologies.map((known) => ({
      ...known,
      dependency: known.name,
      version: "",
      from: caller,
    })),
    ...survey.technologies.filter(
      ({ name }) => !named.technologies.some((known) => known.name === name),
    ),
  ];
  const known = { language, technologies, projectType: survey.projectType };
  return { ...known, open: findOpenPoints(spec, survey, known) };
}

function findOpenPoints(
  spec: Spec,
  survey: Survey,
  { language, technologies, projectType }: Omit<TechnicalContext, "open">,
): readonly OpenPoint[] {
  const has = (role: string): boolean => technologies.some((known) => known.role === role);
  const hasInterface = projectType !== undefined || ["web", "cli", "ui"].some(has);
  const points: (readonly [boolean, Subject, string])[] = [
    [!language, "language", "the repository has no source files"],
    [
      spec.entities.length > 0 && !has("storage"),
      "storage",
      `no manifest names a store for ${spec.entities.map(({ name }) => name).join(", ")}`,
    ],
    [!has("test") && !survey.commands.test, "testing", "no test tool or test command was found"],
    [!hasInterface, "interface", "the repository does not show how people reach the feature"],
    [
      ![...spec.criteria, ...spec.requirements].some(({ text }) => hasFigure(text)),
      "performance",
      "the spec names no figure for speed or size",
    ],
  ];
  return points
    .filter(([isOpen]) => isOpen)
    .map(([, subject, text], at) => ({ id: `O${at + 1}`, subject, text }));
}

/** Open points of research.md without a decision. */
export function openPointsOf(research: string): readonly Pick<OpenPoint, "id" | "text">[] {
  return [...research.matchAll(/^- \*\*(O\d+)\*\* \(\w+\): (.+?)\.? Decision: open\.?$/gm)].map(
    ([, id = "", text = ""]) => ({ id, text }),
  );
}

function writePlan(input: PlanInput, context: TechnicalContext): string {
  const { spec, survey, folder, branch, date, constitution } = input;
  const gate = writeGate(constitution);
  const documents = [
    "spec.md",
    "plan.md",
    "research.md",
    ...(spec.entities.length > 0 ? ["data-model.md"] : []),
    "quickstart.md",
  ];
  return `# Implementation Plan: ${spec.title}

**Branch**: \`${branch}\` | **Date**: ${date} | **Spec**: [spec.md](./spec.md)
**Input**: Feature specification from \`${folder}/spec.md\`

## Summary

${summarize(input, context)}

## Technical Context

${technicalFields(input, context)
  .map(([name, value]) => `**${name}**: ${value}`)
  .join("\n")}

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

**Structure Decision**: ${describeStructure(survey)}

## Complexity Tracking

${writeComplexity(context)}
`;
}

function summarize({ spec, survey }: PlanInput, { open }: TechnicalContext): string {
  const counts = `${plural(spec.requirements.length, "requirement")} in ${plural(spec.stories.length, "user story", "user stories")}`;
  const where = survey.sourceFolder === "" ? "" : `; source code is in \`${survey.sourceFolder}/\``;
  const points = open.map(({ id, subject }) => `${id} (${subject})`).join(", ");
  const undecided =
    points === "" ? "" : `\n\nOpen points, listed in [research.md](./research.md): ${points}.`;
  return `${spec.title}: ${counts}${where}.${undecided}`;
}

function technicalFields(
  { spec, survey }: PlanInput,
  context: TechnicalContext,
): readonly (readonly [string, string])[] {
  const using = (...roles: string[]): string =>
    context.technologies
      .filter(({ role }) => roles.includes(role))
      .map((known) => `${nameWithVersion(known)} (${known.from})`)
      .join(", ");
  const open = (subject: Subject): string => markOf(context, subject);
  const { test } = survey.commands;
  const testing = [
    using("test"),
    test ? `\`${test.text}\` (${test.from})` : "",
    survey.tests
      ? `${plural(survey.tests.files, "test file")}, such as ${survey.tests.example}`
      : "",
  ].filter((part) => part !== "");
  const goals = [...spec.criteria, ...spec.requirements].filter(({ text }) => hasFigure(text));

  return [
    ["Language/Version", describeLanguage(survey, context) || open("language")],
    ["Primary Dependencies", using("web", "ui", "cli", "messaging") || "none found"],
    ["Storage", using("storage") || open("storage") || "none found"],
    ["Testing", testing.join("; ") || open("testing")],
    ["Target Platform", describePlatform(survey)],
    ["Project Type", context.projectType ?? (open("interface") || "as the caller named")],
    ["Performance Goals", listItems(goals) || open("performance")],
    ["Constraints", "see the requirements in [spec.md](./spec.md)"],
    [
      "Scale/Scope",
      `the repository has ${survey.isCut ? "more than " : ""}${plural(survey.fileCount, "file")}`,
    ],
  ];
}

function listItems(items: readonly { readonly id: string; readonly text: string }[]): string {
  return items.map(({ id, text }) => `${id}: ${oneLine(text)}`).join(" ");
}

/** Empty if nothing is open about the subject. */
function markOf({ open }: TechnicalContext, subject: Subject): string {
  const point = open.find((candidate) => candidate.subject === subject);
  return point ? `[NEEDS CLARIFICATION: ${point.text} (${point.id})]` : "";
}

function describeLanguage(survey: Survey, { language }: TechnicalContext): string {
  if (!language) return "";
  const { runtime } = survey;
  const shown = `${language.name} (${language.from})`;
  if (!runtime) return shown;
  const isSame = runtime.text.startsWith(`${language.name} `);
  return `${isSame ? "" : `${shown}, `}${runtime.text} (${runtime.from})`;
}

function nameWithVersion({ name, dependency, version }: Survey["technologies"][number]): string {
  if (version === "") return name;
  return dependency.toLowerCase() === name.toLowerCase()
    ? `${name} ${version}`
    : `${name} by ${dependency} ${version}`;
}

function describePlatform({ runtime, deployment }: Survey): string {
  const parts = [
    ...(runtime ? [runtime.text] : []),
    ...(deployment.length > 0 ? [`deployed by ${deployment.join(", ")}`] : []),
  ];
  return parts.join("; ") || "the repository does not say";
}

const principleCharactersMax = 160;

/** A person ticks each principle; nothing here can judge it. */
function writeGate(constitution: Constitution | undefined): string {
  if (!constitution || constitution.principles.length === 0)
    return "No gate: `.specify/memory/constitution.md` has no principles.";
  return constitution.principles
    .map(({ name, text }) => {
      const words = oneLine(text);
      const isLong = words.length > principleCharactersMax;
      const shown = isLong ? `${words.slice(0, principleCharactersMax)} …` : words;
      return `- [ ] ${name}: ${shown || "see the constitution"}`;
    })
    .join("\n");
}

const foldersShownMax = 30;

function listFolders({ folders }: Survey): string {
  const lines = folders
    .slice(0, foldersShownMax)
    .map(({ path, files }) => `${`${path}/ `.padEnd(40)}# ${plural(files, "source file")}`);
  return lines.join("\n") || "# no folders with source files yet";
}

function describeStructure({ sourceFolder, tests }: Survey): string {
  if (sourceFolder === "")
    return "No folder is chosen yet; whoever builds the feature names the files.";
  const testFolder = tests?.folder ? `, tests in \`${tests.folder}/\`` : "";
  return `The feature goes into \`${sourceFolder}/\`${testFolder}; no files are named yet.`;
}

function writeComplexity({ technologies }: TechnicalContext): string {
  const added = technologies.filter(({ from }) => from === caller);
  if (added.length === 0) return "Nothing to justify: the plan adds no dependency.";
  const rows = added.map(({ name }) => `| ${name} | asked for by the caller | not examined |`);
  return `| Addition | Why Needed | Simpler Alternative Rejected Because |\n|---|---|---|\n${rows.join("\n")}`;
}

function writeResearch(
  { spec, branch, date }: PlanInput,
  { language, technologies, open }: TechnicalContext,
): string {
  const sourceOf = (from: string, what: string): string =>
    from === caller ? "The caller asked for it." : what;
  const decisions = [
    ...(language
      ? [
          [
            `Language: ${language.name}`,
            sourceOf(language.from, `The repository has ${language.from} of it.`),
          ] as const,
        ]
      : []),
    ...technologies.map(
      (known) =>
        [nameWithVersion(known), sourceOf(known.from, `Already in ${known.from}.`)] as const,
    ),
  ].map(
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
  const kinds = ["install", "build", "test", "run"] as const;
  const commands = kinds.flatMap((kind) => {
    const command = survey.commands[kind];
    return command ? [`${command.text.padEnd(36)}# ${kind}, from ${command.from}`] : [];
  });
  const stories = spec.stories.map(({ number, title, independentTest, scenarios }) =>
    [
      `### User Story ${number}: ${title}`,
      ...(independentTest === "" ? [] : [independentTest]),
      scenarios.map((scenario, at) => `${at + 1}. ${scenario}`).join("\n") || "No scenarios yet.",
    ].join("\n\n"),
  );
  return `# Quickstart: ${spec.title}

How to check \`${branch}\` from a fresh checkout.

## Prepare

${commands.length > 0 ? `\`\`\`sh\n${commands.join("\n")}\n\`\`\`` : "The repository names no commands."}

## Check

${stories.join("\n\n") || "The spec has no user stories."}
`;
}
