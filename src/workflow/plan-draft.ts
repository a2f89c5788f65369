import type { Draft } from "./artefacts.ts";
import type { Constitution } from "./constitution-file.ts";
import { draftContract } from "./contract-draft.ts";
import { draftDataModel } from "./data-model-draft.ts";
import { type Design, type DesignedAction, nameWithVersion } from "./design.ts";
import { clip, countOf } from "./english.ts";
import { oneLine } from "./markdown.ts";
import { findOpenPoints, namesFigure, type OpenPoint, tellOpen } from "./open-points.ts";
import { draftQuickstart } from "./quickstart-draft.ts";
import { draftResearch } from "./research-draft.ts";
import { pluralOf } from "./statement.ts";
import { providing } from "./story-draft.ts";

/** plan.md and what belongs to it, from the spec and the repository. What neither says is an open point with a number, never a guess. */
export interface PlanInput {
  readonly design: Design;
  readonly constitution: Constitution | undefined;
  /** The feature's folder, from the project's on: "specs/001-x". */
  readonly folder: string;
  readonly branch: string;
  readonly date: string;
}

export interface PlanDrafts {
  readonly plan: string;
  readonly research: string;
  readonly dataModel: string | undefined;
  readonly contracts: string | undefined;
  readonly quickstart: string;
}

/** The drafts as files. */
export function planFiles({
  plan,
  research,
  dataModel,
  contracts,
  quickstart,
}: PlanDrafts): readonly Draft[] {
  return [
    { path: "plan.md", text: plan },
    { path: "research.md", text: research },
    ...(dataModel === undefined ? [] : [{ path: "data-model.md", text: dataModel }]),
    ...(contracts === undefined ? [] : [{ path: "contracts/actions.md", text: contracts }]),
    { path: "quickstart.md", text: quickstart },
  ];
}

export function draftPlan(input: PlanInput): PlanDrafts {
  const points = findOpenPoints(input.design);
  return {
    plan: writePlan(input, points),
    research: draftResearch(input, points),
    dataModel: input.design.entities.length > 0 ? draftDataModel(input.design) : undefined,
    contracts: input.design.actions.length > 0 ? draftContract(input.design) : undefined,
    quickstart: draftQuickstart(input, points),
  };
}

function writePlan(input: PlanInput, points: readonly OpenPoint[]): string {
  const { design, folder, branch, date, constitution } = input;
  const { spec, survey, technologies, language, projectType, actions, entities } = design;
  const role = (...roles: string[]): string =>
    technologies
      .filter((technology) => roles.includes(technology.role))
      .map(describeTechnology)
      .join(", ");
  const isNamedTwice =
    language !== undefined && survey.runtime?.text.startsWith(`${language.name} `);
  const typescript =
    language?.name === "TypeScript" ? findDependency(survey, "typescript") : undefined;
  const named =
    language &&
    (typescript ? `TypeScript ${typescript.version} (${typescript.from})` : language.name);
  const versions = [
    isNamedTwice ? undefined : named,
    survey.runtime ? `${survey.runtime.text} (${survey.runtime.from})` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(", ");
  const fields: readonly (readonly [string, string])[] = [
    [
      "Language/Version",
      language
        ? `${versions}${survey.runtime || typescript ? "" : ` (${language.from}; no manifest names a version)`}`
        : tellOpen(points, "language"),
    ],
    [
      "Primary Dependencies",
      role("web", "ui", "cli", "messaging") || "None of note in the manifests; the plan adds none",
    ],
    ["Storage", role("storage") || tellOpen(points, "storage") || "None: nothing has to be kept"],
    [
      "Testing",
      [
        role("test"),
        survey.commands.test
          ? `\`${survey.commands.test.text}\` (${survey.commands.test.from})`
          : "",
        survey.tests
          ? `${countOf(survey.tests.files, "test file", "test files")}, such as ${survey.tests.example}`
          : "",
      ]
        .filter((part) => part !== "")
        .join("; ") || tellOpen(points, "testing"),
    ],
    ["Target Platform", describePlatform(design)],
    ["Project Type", projectType ?? tellOpen(points, "interface")],
    [
      "Performance Goals",
      (spec.criteria.some(({ text }) => namesFigure(text)) ? spec.criteria : spec.requirements)
        .filter(({ text }) => namesFigure(text))
        .map(({ id, text }) => `${id}: ${oneLine(text)}`)
        .join(" ") || tellOpen(points, "performance"),
    ],
    [
      "Constraints",
      design.rules.map(({ id }) => id).join(", ")
        ? `What holds throughout: ${design.rules.map(({ id }) => id).join(", ")}`
        : "None beyond the requirements",
    ],
    [
      "Scale/Scope",
      `${countOf(spec.stories.length, "user story", "user stories")}, ${countOf(spec.requirements.length, "requirement", "requirements")}, ${countOf(entities.length, "entity", "entities")}; the repository has ${survey.isCut ? "more than " : ""}${countOf(survey.fileCount, "file", "files")}`,
    ],
  ];
  return `# Implementation Plan: ${spec.title}

**Branch**: \`${branch}\` | **Date**: ${date} | **Spec**: [spec.md](./spec.md)
**Input**: Feature specification from \`${folder}/spec.md\`

## Summary

${summarize(design)}${points.length > 0 ? `\n\nTo decide before it is built: ${points.map(({ id, subject }) => `${id} (${subject})`).join(", ")}; see [research.md](./research.md).` : ""}

## Technical Context

${fields.map(([name, value]) => `**${name}**: ${value}`).join("\n")}

## Constitution Check

*GATE: must pass before research, and again after the design.*

### Before research

${writeGate(constitution)}

### After design

${writeGate(constitution)}

## Project Structure

### Documentation (this feature)

\`\`\`text
${folder}/
├── spec.md
├── plan.md
├── research.md
${entities.length > 0 ? "├── data-model.md\n" : ""}${actions.length > 0 ? "├── contracts/actions.md\n" : ""}├── quickstart.md
└── tasks.md            # written by the tasks step
\`\`\`

### Source Code (repository root)

\`\`\`text
${writeTree(design)}
\`\`\`

**Structure Decision**: ${decideStructure(design)}

## Complexity Tracking

${writeComplexity(design)}
`;
}

function findDependency(
  { manifests }: Design["survey"],
  wanted: string,
): { readonly version: string; readonly from: string } | undefined {
  return manifests
    .flatMap(({ path, dependencies }) =>
      dependencies.map(({ name, version }) => ({ name, version, from: path })),
    )
    .find(({ name, version }) => name === wanted && version !== "");
}

function describeTechnology(technology: Design["technologies"][number]): string {
  return `${nameWithVersion(technology)} (${technology.from})`;
}

function summarize({ spec, actions, entities, survey, language }: Design): string {
  const what =
    actions.length > 0
      ? `Build ${countOf(actions.length, "action", "actions")} (${actions.map(({ name }) => clip(name, 40)).join("; ")})`
      : `Build ${countOf(spec.stories.length, "user story", "user stories")}`;
  const on = entities.length > 0 ? ` over ${entities.map(({ name }) => name).join(", ")}` : "";
  const where =
    language && survey.fileCount > 0
      ? ` in the existing ${language.name} code${survey.sourceFolder === "" ? "" : ` under \`${survey.sourceFolder}/\``}`
      : "";
  return `${what}${on}${where}, story by story in the order of their priority.`;
}

function describePlatform({ survey, language }: Design): string {
  const runtime =
    survey.runtime?.text ??
    (language && survey.fileCount > 0
      ? `wherever the existing ${language.name} code runs`
      : undefined);
  const deployed =
    survey.deployment.length > 0 ? `deployed by ${survey.deployment.join(", ")}` : "";
  return (
    [runtime, deployed].filter((part) => part !== undefined && part !== "").join("; ") ||
    "Open: follows from the language"
  );
}

/** Which principle holds is for a person to say; what can be seen is said beside it. */
function writeGate(constitution: Constitution | undefined): string {
  if (!constitution || constitution.principles.length === 0)
    return "No principles: `.specify/memory/constitution.md` has none, so there is no gate.";
  return constitution.principles
    .map(
      ({ name, text }) =>
        `- [ ] ${name}: ${oneLine(clip(text, 160)) || "the constitution says nothing more"}`,
    )
    .join("\n");
}

const foldersShownMax = 30;

function writeTree(design: Design): string {
  const { survey, layout, actions, entities } = design;
  const planned = [
    ...new Set([
      ...entities.map(({ name }) => layout.fileFor("model", name)),
      ...actions.map((action) => layout.fileFor("service", serviceName(action, design))),
      ...actions.map((action) => layout.fileFor("interface", interfaceName(action, design))),
    ]),
  ].sort();
  const [top = ""] = survey.sourceFolder.split("/");
  const shown = survey.folders.filter(
    ({ path }) => !path.includes("/") || (top !== "" && path.startsWith(`${top}/`)),
  );
  const known = shown
    .slice(0, foldersShownMax)
    .map(
      ({ path, files }) =>
        `${`${path}/ `.padEnd(40)}# ${countOf(files, "source file", "source files")}`,
    );
  const added = planned.map(
    (path) =>
      `${path} `.padEnd(40) +
      (path.endsWith("/") ? "# new; file names follow from the language" : "# new"),
  );
  return [...known, ...added].join("\n") || "# nothing yet";
}

/** Services are cut by entity; what has none is a service by itself. */
export function serviceName({ entity, story }: DesignedAction, design: Design): string {
  return entity === undefined ? nameOfStory(story, design) : `${entity} service`;
}

export function interfaceName({ entity, story }: DesignedAction, design: Design): string {
  if (entity !== undefined) return pluralOf(entity);
  const kinds: Readonly<Record<string, string>> = {
    "command-line tool": "command",
    "web service": "route",
    library: "api",
  };
  return `${nameOfStory(story, design)} ${kinds[design.projectType ?? ""] ?? "entry"}`;
}

/** Its first action, in two or three words. */
function nameOfStory(story: number | undefined, { actions }: Design): string {
  const first =
    actions.find((candidate) => candidate.story === story && candidate.entity === undefined) ??
    actions[0];
  if (first && providing.test(first.action.verb) && first.action.things[0] !== undefined)
    return first.action.things[0];
  return first
    ? `${first.action.verb} ${first.action.things[0] ?? first.action.rest.split(" ").slice(0, 2).join(" ")}`.trim()
    : "feature";
}

function decideStructure({ survey, layout, language }: Design): string {
  if (!language)
    return "The files are named when the language is decided; until then the folders above stand for them.";
  const own = layout.newFolders[0];
  return own === undefined
    ? "The feature goes into the folders the repository already has for such files."
    : `The feature gets a folder of its own, \`${own}/\`, as the repository has no folders by role${survey.naming ? `; files are named in ${survey.naming} case like the others` : ""}.`;
}

function writeComplexity({ technologies, layout }: Design): string {
  const said = technologies.filter(({ from }) => from === "the caller");
  if (said.length === 0)
    return `Nothing to justify: the plan adds no project, no service and no dependency${layout.newFolders.length > 0 ? ", only files" : ""}.`;
  return `| Addition | Why Needed | Simpler Alternative Rejected Because |\n|---|---|---|\n${said.map(({ name }) => `| ${name} | asked for by the caller | not examined |`).join("\n")}`;
}
