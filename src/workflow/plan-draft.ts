import type { Draft } from "./artefacts.ts";
import type { Constitution } from "./constitution-file.ts";
import { draftContract } from "./contract-draft.ts";
import { type Design, type DesignedAction, outcomeOf } from "./design.ts";
import { clip, lowerCase } from "./english.ts";
import { oneLine } from "./markdown.ts";
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
export function planFiles({ plan, research, dataModel, contracts, quickstart }: PlanDrafts): readonly Draft[] {
  return [
    { path: "plan.md", text: plan },
    { path: "research.md", text: research },
    ...(dataModel === undefined ? [] : [{ path: "data-model.md", text: dataModel }]),
    ...(contracts === undefined ? [] : [{ path: "contracts/actions.md", text: contracts }]),
    { path: "quickstart.md", text: quickstart },
  ];
}

export function draftPlan(input: PlanInput): PlanDrafts {
  const points = findOpenPoints(input);
  return {
    plan: writePlan(input, points),
    research: writeResearch(input, points),
    dataModel: input.design.entities.length > 0 ? writeDataModel(input) : undefined,
    contracts: input.design.actions.length > 0 ? draftContract(input.design) : undefined,
    quickstart: writeQuickstart(input, points),
  };
}

/** Something a person decides before it is built. */
interface OpenPoint {
  readonly id: string;
  readonly subject: Subject;
  readonly text: string;
}
type Subject = "language" | "storage" | "testing" | "interface" | "performance";

function findOpenPoints({ design: { language, entities, technologies, survey, projectType, spec } }: PlanInput): readonly OpenPoint[] {
  const has = (role: string): boolean => technologies.some((technology) => technology.role === role);
  const points: [Subject, string][] = [];
  if (!language) points.push(["language", "the folder has no source files, and nothing says which language the feature is written in"]);
  if (entities.length > 0 && !has("storage"))
    points.push(["storage", `${entities.map(({ name }) => name).join(", ")} must be kept, and no manifest names a database or another store`]);
  if (!has("test") && survey.commands.test === undefined) points.push(["testing", "no test tool and no test command was found"]);
  if (projectType === undefined) points.push(["interface", "nothing says how people reach the feature: a web page, an API, a command, a library"]);
  if (![...spec.criteria, ...spec.requirements].some(({ text }) => namesFigure(text)))
    points.push(["performance", "the spec names no figure for speed or size"]);
  return points.map(([subject, text], at) => ({ id: `O${at + 1}`, subject, text }));
}

/** A figure for speed or size, as criteria or answers give one. */
function namesFigure(text: string): boolean {
  const plain = text.replace(/\b(?:FR|SC)-\d+|User Story \d+/g, "");
  return (
    /\d\s?(?:ms|s\b|sec|min|hour|%|percent|kb|mb|gb|requests|per )|\b(?:up to|at most|under|within|this many [^:]+):? \d|\bwithin:? an? (?:second|minute|hour)/i.test(
      plain,
    ) || /\bmillions\b/i.test(plain)
  );
}

function open(points: readonly OpenPoint[], subject: Subject): string {
  const point = points.find((candidate) => candidate.subject === subject);
  return point ? `Open (${point.id}): ${point.text}` : "";
}

function writePlan(input: PlanInput, points: readonly OpenPoint[]): string {
  const { design, folder, branch, date, constitution } = input;
  const { spec, survey, technologies, language, projectType, actions, entities } = design;
  const role = (...roles: string[]): string =>
    technologies
      .filter((technology) => roles.includes(technology.role))
      .map(describeTechnology)
      .join(", ");
  const isNamedTwice = language !== undefined && survey.runtime?.text.startsWith(`${language.name} `);
  const typescript = language?.name === "TypeScript" ? findDependency(survey, "typescript") : undefined;
  const named = language && (typescript ? `TypeScript ${typescript.version} (${typescript.from})` : language.name);
  const versions = [isNamedTwice ? undefined : named, survey.runtime ? `${survey.runtime.text} (${survey.runtime.from})` : undefined]
    .filter((part) => part !== undefined)
    .join(", ");
  const fields: readonly (readonly [string, string])[] = [
    [
      "Language/Version",
      language ? `${versions}${survey.runtime || typescript ? "" : ` (${language.from}; no manifest names a version)`}` : open(points, "language"),
    ],
    ["Primary Dependencies", role("web", "ui", "cli", "messaging") || "None of note in the manifests; the plan adds none"],
    ["Storage", role("storage") || open(points, "storage") || "None: nothing has to be kept"],
    [
      "Testing",
      [
        role("test"),
        survey.commands.test ? `\`${survey.commands.test.text}\` (${survey.commands.test.from})` : "",
        survey.tests ? `${count(survey.tests.files, "test file", "test files")}, such as ${survey.tests.example}` : "",
      ]
        .filter((part) => part !== "")
        .join("; ") || open(points, "testing"),
    ],
    ["Target Platform", describePlatform(design)],
    ["Project Type", projectType ?? open(points, "interface")],
    [
      "Performance Goals",
      (spec.criteria.some(({ text }) => namesFigure(text)) ? spec.criteria : spec.requirements)
        .filter(({ text }) => namesFigure(text))
        .map(({ id, text }) => `${id}: ${oneLine(text)}`)
        .join(" ") || open(points, "performance"),
    ],
    [
      "Constraints",
      design.rules.map(({ id }) => id).join(", ") ? `What holds throughout: ${design.rules.map(({ id }) => id).join(", ")}` : "None beyond the requirements",
    ],
    [
      "Scale/Scope",
      `${count(spec.stories.length, "user story", "user stories")}, ${count(spec.requirements.length, "requirement", "requirements")}, ${count(entities.length, "entity", "entities")}; the repository has ${survey.isCut ? "more than " : ""}${count(survey.fileCount, "file", "files")}`,
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

function findDependency({ manifests }: Design["survey"], wanted: string): { readonly version: string; readonly from: string } | undefined {
  return manifests
    .flatMap(({ path, dependencies }) => dependencies.map(({ name, version }) => ({ name, version, from: path })))
    .find(({ name, version }) => name === wanted && version !== "");
}

function describeTechnology(technology: Design["technologies"][number]): string {
  return `${nameWithVersion(technology)} (${technology.from})`;
}

/** The version is the package's: "PostgreSQL by pg 8.13.1". */
function nameWithVersion({ name, dependency, version }: Design["technologies"][number]): string {
  if (version === "") return name;
  return dependency.toLowerCase() === name.toLowerCase() ? `${name} ${version}` : `${name} by ${dependency} ${version}`;
}

function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

function summarize({ spec, actions, entities, survey, language }: Design): string {
  const what =
    actions.length > 0
      ? `Build ${count(actions.length, "action", "actions")} (${actions.map(({ name }) => clip(name, 40)).join("; ")})`
      : `Build ${count(spec.stories.length, "user story", "user stories")}`;
  const on = entities.length > 0 ? ` over ${entities.map(({ name }) => name).join(", ")}` : "";
  const where =
    language && survey.fileCount > 0 ? ` in the existing ${language.name} code${survey.sourceFolder === "" ? "" : ` under \`${survey.sourceFolder}/\``}` : "";
  return `${what}${on}${where}, story by story in the order of their priority.`;
}

function describePlatform({ survey, language }: Design): string {
  const runtime = survey.runtime?.text ?? (language && survey.fileCount > 0 ? `wherever the existing ${language.name} code runs` : undefined);
  const deployed = survey.deployment.length > 0 ? `deployed by ${survey.deployment.join(", ")}` : "";
  return [runtime, deployed].filter((part) => part !== undefined && part !== "").join("; ") || "Open: follows from the language";
}

/** Which principle holds is for a person to say; what can be seen is said beside it. */
function writeGate(constitution: Constitution | undefined): string {
  if (!constitution || constitution.principles.length === 0) return "No principles: `.specify/memory/constitution.md` has none, so there is no gate.";
  return constitution.principles.map(({ name, text }) => `- [ ] ${name}: ${oneLine(clip(text, 160)) || "the constitution says nothing more"}`).join("\n");
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
  const shown = survey.folders.filter(({ path }) => !path.includes("/") || (top !== "" && path.startsWith(`${top}/`)));
  const known = shown.slice(0, foldersShownMax).map(({ path, files }) => `${`${path}/ `.padEnd(40)}# ${count(files, "source file", "source files")}`);
  const added = planned.map((path) => `${path} `.padEnd(40) + (path.endsWith("/") ? "# new; file names follow from the language" : "# new"));
  return [...known, ...added].join("\n") || "# nothing yet";
}

/** Services are cut by entity; what has none is a service by itself. */
export function serviceName({ entity, story }: DesignedAction, design: Design): string {
  return entity === undefined ? nameOfStory(story, design) : `${entity} service`;
}

export function interfaceName({ entity, story }: DesignedAction, design: Design): string {
  if (entity !== undefined) return pluralOf(entity);
  const kinds: Readonly<Record<string, string>> = { "command-line tool": "command", "web service": "route", library: "api" };
  return `${nameOfStory(story, design)} ${kinds[design.projectType ?? ""] ?? "entry"}`;
}

/** Its first action, in two or three words. */
function nameOfStory(story: number | undefined, { actions }: Design): string {
  const first = actions.find((candidate) => candidate.story === story && candidate.entity === undefined) ?? actions[0];
  if (first && providing.test(first.action.verb) && first.action.things[0] !== undefined) return first.action.things[0];
  return first ? `${first.action.verb} ${first.action.things[0] ?? first.action.rest.split(" ").slice(0, 2).join(" ")}`.trim() : "feature";
}

function decideStructure({ survey, layout, language }: Design): string {
  if (!language) return "The files are named when the language is decided; until then the folders above stand for them.";
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

function writeResearch({ design, branch, date }: PlanInput, points: readonly OpenPoint[]): string {
  const { language, survey, technologies } = design;
  const decided = [
    ...(language
      ? [
          decision(
            `Language: ${language.name}`,
            language.from === "the caller"
              ? "The caller asked for it."
              : `The repository has ${language.from} of it${
                  survey.languages.length > 1
                    ? `, and ${survey.languages
                        .slice(1, 3)
                        .map(({ name, files }) => `${files} of ${name}`)
                        .join(", ")}`
                    : ""
                }.`,
            "None were examined: a second language would stand beside the first.",
          ),
        ]
      : []),
    ...technologies
      .filter(({ role }) => role !== "test")
      .map((technology) =>
        decision(
          nameWithVersion(technology),
          technology.from === "the caller" ? "The caller asked for it." : `Already a dependency (${technology.from}).`,
          "None were examined: the plan adds nothing where something is there.",
        ),
      ),
    ...technologies
      .filter(({ role }) => role === "test")
      .map(({ name, from }) =>
        decision(
          `Tests with ${name}`,
          from === "the caller"
            ? "The caller asked for it."
            : `Already a dependency (${from})${survey.tests ? `; there ${survey.tests.files === 1 ? "is" : "are"} ${count(survey.tests.files, "test file", "test files")}` : ""}.`,
          "None were examined.",
        ),
      ),
  ];
  return `# Research: ${design.spec.title}

**Feature**: \`${branch}\` | **Date**: ${date}

## Decisions

${decided.join("\n\n") || "None could be taken from the repository."}

## Open points

${points.map(({ id, subject, text }) => `- **${id}** (${subject}): ${text}. Decision: open.`).join("\n") || "None about the technology."}${leftOpen(design)}
`;
}

/** What other documents leave to whoever builds it. */
function leftOpen({ entities, actions }: Design): string {
  const unseen = actions.filter(({ action }) => outcomeOf(action) === undefined).map(({ id }) => id);
  const lines = [
    ...(entities.length > 0
      ? [`- What tells two of a kind apart (${entities.map(({ name }) => name).join(", ")}): see [data-model.md](./data-model.md).`]
      : []),
    ...(unseen.length > 0 ? [`- What can be seen after ${unseen.join(", ")}: see [contracts/actions.md](./contracts/actions.md).`] : []),
  ];
  return lines.length > 0 ? `\n\nLeft to whoever builds it:\n\n${lines.join("\n")}` : "";
}

function decision(what: string, why: string, others: string): string {
  return `### ${what}\n\n- **Decision**: ${what}\n- **Rationale**: ${why}\n- **Alternatives considered**: ${others}`;
}

function writeDataModel({ design: { entities, actions, rules, spec } }: PlanInput): string {
  const sections = entities.map(({ name, attributes, partOf, stories, text }) => {
    const own = actions.filter(({ entity, action: { kind } }) => entity === name && kind !== "view" && kind !== "find" && kind !== "export");
    const rows = attributes.map((attribute) => `| ${oneLine(attribute)} | named in the spec |`);
    const relation = partOf === undefined ? (/\bcontains (.+?)[;.]/.exec(text)?.[1] ?? "") : "";
    const validations = rules.filter((rule) => rule.text.toLowerCase().includes(name.toLowerCase().split(" ").at(-1) ?? ""));
    return `## ${name}

${rows.length > 0 ? `| Field | From |\n|---|---|\n${rows.join("\n")}` : "Fields: open; the spec names none."}

- **Identity**: open; the spec names nothing that tells two ${pluralOf(lowerCase(name))} apart.
- **Relations**: ${partOf !== undefined ? `belongs to ${partOf}` : relation !== "" ? `contains ${relation}` : "none named"}
- **Changed by**: ${own.length > 0 ? own.map(({ id, action }) => `${action.verb} (${id})`).join(", ") : "no action of this feature"}
- **Rules**: ${validations.length > 0 ? validations.map(({ id }) => id).join(", ") : "none named"}
- **Used in**: ${stories.length > 0 ? stories.map((number) => `User Story ${number}`).join(", ") : "no story by name"}`;
  });
  return `# Data Model: ${spec.title}\n\n${sections.join("\n\n")}\n`;
}

function writeQuickstart({ design, branch }: PlanInput, points: readonly OpenPoint[]): string {
  const { survey, spec } = design;
  const kinds = ["install", "build", "test", "run"] as const;
  const commands = kinds.flatMap((kind) => {
    const command = survey.commands[kind];
    return command ? [`${command.text.padEnd(36)}# ${kind}, from ${command.from}`] : [];
  });
  const stories = spec.stories.map(
    ({ number, title, independentTest, scenarios }) =>
      `### User Story ${number}: ${title}\n\n${independentTest === "" ? "" : `${independentTest}\n\n`}${scenarios.map((scenario, at) => `${at + 1}. ${scenario}`).join("\n") || "The spec has no scenarios for it."}`,
  );
  return `# Quickstart: ${spec.title}

How to see that \`${branch}\` works, from a fresh checkout.

## Prepare

${commands.length > 0 ? `\`\`\`sh\n${commands.join("\n")}\n\`\`\`` : `No commands were found in the repository${points.some(({ subject }) => subject === "language") ? "; they follow from the language (see research.md)" : ""}.`}

## Check

${stories.join("\n\n")}
`;
}
