import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { type Draft, readInside, writeArtefacts } from "./artefacts.ts";
import { listFeatureNames, readNumbering, setActive } from "./feature.ts";
import { cleanName, isFeatureName, nameFeature, numberOf, shortNameOf } from "./numbering.ts";
import { findPlace, type Place } from "./place.ts";
import { writeRequirementsChecklist } from "./requirements-checklist.ts";
import { findOpenQuestions, parseSpec } from "./spec.ts";
import { draftSpec, markDoubts, type SpecInput, type SpecParts, writeSpec } from "./spec-draft.ts";
import { saysSomething } from "./statement.ts";
import { dateOf, type Step, type StepInput, tellFiles, tellWritten } from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { type Section, writeSection } from "./writer.ts";

export interface NewPlace {
  readonly place: Place;
  readonly warning?: string | undefined;
  /** It was made just now. */
  readonly isNew?: boolean;
}

/** The folder a new feature gets: the one that was named, or the next number in a folder `specs`. Made at once, so that two at a time get two. */
export async function placeFeature(
  args: JsonObject,
  roots: readonly string[],
  now: Date,
): Promise<NewPlace> {
  const description = String(args.feature_description ?? "").trim();
  if (description === "")
    throw new HallError(
      "VALIDATION",
      "feature_description is empty: say what the feature is to do",
    );
  const given = await findPlace(String(args.spec_directory), roots);
  const found = await stat(given.path).catch(() => undefined);
  if (found && !found.isDirectory())
    throw new HallError("VALIDATION", `${given.path} is a file; spec_directory must name a folder`);
  const isShelf = basename(given.path) === "specs" || given.path === given.project;
  if (!isShelf && (found || !isFeatureName(basename(given.path)))) {
    await mkdir(given.path, { recursive: true });
    return { place: given, isNew: found === undefined };
  }
  const shelf =
    given.path === given.project
      ? join(given.path, "specs")
      : isShelf
        ? given.path
        : dirname(given.path);
  await findPlace(shelf, roots);
  await mkdir(shelf, { recursive: true });
  const wanted = isShelf ? undefined : basename(given.path);
  // Somebody else may make the same folder at this moment.
  for (let attempt = 0; attempt < 20; attempt++) {
    const { name, warning } =
      wanted !== undefined && numberOf(wanted) === undefined
        ? { name: wanted }
        : await chooseName(args, description, { place: given, wanted, now });
    const path = join(shelf, name);
    const isOurs = await mkdir(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return false;
        throw error;
      },
    );
    if (isOurs) return { place: { ...given, path }, warning, isNew: true };
    if (wanted !== undefined && name === wanted) return { place: { ...given, path } };
  }
  throw new HallError("EXECUTION", `no folder could be made in ${shelf}`, {
    hint: "Try again; others are making folders there.",
  });
}

async function chooseName(
  args: JsonObject,
  description: string,
  {
    place,
    wanted,
    now,
  }: { readonly place: Place; readonly wanted: string | undefined; readonly now: Date },
): Promise<{ readonly name: string; readonly warning?: string | undefined }> {
  const named = typeof args.short_name === "string" ? cleanName(args.short_name) : "";
  return nameFeature({
    taken: await listFeatureNames(place.project),
    shortName:
      wanted === undefined ? named || shortNameOf(description) : wanted.replace(/^\d+-/, ""),
    number:
      wanted === undefined
        ? typeof args.number === "number"
          ? args.number
          : undefined
        : numberOf(wanted),
    style: await readNumbering(place),
    now,
  });
}

/** spec.md and its checklist, from a description. */
export const specify: Step = async (input) => {
  const { place, args, run, memory, settings } = input;
  const description = String(args.feature_description);
  const date = dateOf(settings.now());
  const specInput: SpecInput = { description, branch: basename(place.path), date };
  run.say(10, "Reading the description");
  const before = await readInside(place, join(place.path, "spec.md"));
  // A model may make something of what the rules do not understand.
  if (!saysSomething(description) && !(await settings.writer(input.context))) {
    throw new HallError(
      "VALIDATION",
      "the description names nothing that anybody does and nothing that must hold, so no spec was written",
      {
        hint: 'Say in English who can do what, and which rules hold, such as: "Users can upload photos and organize them into albums. Albums are grouped by date."',
      },
    );
  }
  const drafted = markDoubts(draftSpec(specInput), specInput);
  const { parts, notes } = await writeParts(drafted, specInput, input);
  // A spec keeps the day it was begun.
  const created = /^\*\*Created\*\*: (\S+)$/m.exec(before ?? "")?.[1] ?? date;
  const text = writeSpec(parts, { ...specInput, date: created });
  run.say(80, "Checking the requirements");
  const checklist = writeRequirementsChecklist({
    title: parts.title,
    date,
    specText: text,
    before: await readInside(place, join(place.path, "checklists", "requirements.md")),
  });
  const drafts: readonly Draft[] = [
    { path: "spec.md", text },
    { path: "checklists/requirements.md", text: checklist },
  ];
  run.say(90, "Writing spec.md");
  const files = await writeArtefacts(drafts, {
    place,
    memory,
    force: args.force === true,
    blanks: await readTemplate(place, "spec"),
  });
  await setActive(place);
  const open = findOpenQuestions((await readInside(place, join(place.path, "spec.md"))) ?? text);
  return {
    text: `${tellWritten("Specification", files, join(place.path, "spec.md"))}\n${tellFiles(files, place)}${open.length > 0 ? `\n\nTo be decided:\n${open.map((question) => `- ${question}`).join("\n")}` : ""}`,
    files,
    notes,
    next: open.length > 0 ? "clarify" : "plan",
    details: { questions: open, stories: parseSpec(text).stories.length },
  };
};

/** A template that was copied and not filled in is nobody's work. */
export async function readTemplate(place: Place, name: string): Promise<readonly string[]> {
  const text = await readInside(
    place,
    join(place.project, ".specify", "templates", `${name}-template.md`),
  );
  return text === undefined ? [] : [text.replaceAll("\r\n", "\n")];
}

async function writeParts(
  drafted: SpecParts,
  specInput: SpecInput,
  { place, context, run, settings }: StepInput,
): Promise<{ readonly parts: SpecParts; readonly notes: readonly string[] }> {
  const writer = await settings.writer(context);
  if (!writer) return { parts: drafted, notes: [] };
  run.say(20, "Looking at the repository");
  const survey = await surveyRepository(place.project, context.scope);
  const facts = survey.languages
    .map(({ name, files }) => `${name} (${files === 1 ? "1 file" : `${files} files`})`)
    .join(", ");
  const background = `# What the feature is to do\n\n${specInput.description}\n\n# The repository\n\n${facts || "no source files"}. It is named for orientation only: a specification says what and why, never with which technology.`;
  const notes: string[] = [];
  let parts = drafted;
  const sections = sectionsOf(drafted, specInput);
  for (const [at, { key, section }] of sections.entries()) {
    run.say(25 + (50 * at) / sections.length, `Writing: ${section.name}`);
    const { text, by, faults } = await writeSection(
      {
        ...section,
        check: (candidate) => [
          ...section.check(candidate),
          ...tooManyQuestions({ ...parts, [key]: candidate }, specInput),
        ],
      },
      { writer, background, scope: context.scope, note: run.note },
    );
    if (by === "rule")
      notes.push(
        `"${section.name}" is the draft made by rule: the model's text did not fit (${faults.join("; ")})`,
      );
    parts = { ...parts, [key]: text };
  }
  return { parts, notes };
}

function tooManyQuestions(parts: SpecParts, input: SpecInput): readonly string[] {
  const count = findOpenQuestions(writeSpec(parts, input)).length;
  return count > 3
    ? [
        `the specification has ${count} marks [NEEDS CLARIFICATION: …]; at most 3 are allowed, so decide some`,
      ]
    : [];
}

interface KeyedSection {
  readonly key: keyof SpecParts;
  readonly section: Section;
}

function sectionsOf(parts: SpecParts, input: SpecInput): readonly KeyedSection[] {
  const parsed = (key: keyof SpecParts, text: string) =>
    parseSpec(writeSpec({ ...parts, [key]: text }, input));
  const bullets = (text: string): readonly string[] =>
    text.split("\n").every((line) => line.trim() === "" || /^(?:- |\s{2,})/.test(line))
      ? []
      : ["every line must be a bullet beginning with `- `"];
  const noHeadings = (text: string): readonly string[] =>
    /^#{1,2} /m.test(text) ? ["it must have no headings of the first or second level"] : [];
  const ids = (found: readonly string[], prefix: string): readonly string[] => {
    if (found.length === 0) return [`it needs bullets like \`- **${prefix}-001**: …\``];
    const isInOrder = found.every((id, at) => Number(id.slice(3)) === at + 1);
    return isInOrder ? [] : [`the ids must be ${prefix}-001, ${prefix}-002 … without gaps`];
  };
  return [
    {
      key: "stories",
      section: {
        name: "User stories",
        ask: "Each as `### User Story N - Title (Priority: Pn)`, then a paragraph, `**Why this priority**: …`, `**Independent Test**: …`, `**Acceptance Scenarios**:` and a numbered list `1. **Given** …, **When** …, **Then** ….` Numbers from 1 on, most important first, `---` between two.",
        draft: parts.stories,
        check: (text) => {
          const { stories } = parsed("stories", text);
          return [
            ...noHeadings(text),
            ...(stories.length === 0
              ? ["it needs at least one `### User Story 1 - Title (Priority: P1)`"]
              : []),
            ...stories.flatMap(({ number, scenarios, independentTest }, at) => [
              ...(number === at + 1 ? [] : [`User Story ${number} must be number ${at + 1}`]),
              ...(scenarios.length > 0
                ? []
                : [
                    `User Story ${number} needs a numbered scenario with **Given**, **When** and **Then**`,
                  ]),
              ...(independentTest !== ""
                ? []
                : [`User Story ${number} needs an **Independent Test**`]),
            ]),
            ...((text.match(/\*\*Why this priority\*\*:/g) ?? []).length === stories.length
              ? []
              : ["every story needs **Why this priority**: …"]),
          ];
        },
      },
    },
    {
      key: "edgeCases",
      section: {
        name: "Edge cases",
        ask: "Bullets, each a question about what happens at a boundary or when something fails.",
        draft: parts.edgeCases,
        check: (text) => [...noHeadings(text), ...bullets(text)],
      },
    },
    {
      key: "requirements",
      section: {
        name: "Functional requirements",
        ask: "Bullets `- **FR-001**: …`, each testable, each with MUST. What cannot be known and must not be guessed is marked [NEEDS CLARIFICATION: question], at most three in the whole document.",
        draft: parts.requirements,
        check: (text) => {
          const { requirements } = parsed("requirements", text);
          return [
            ...noHeadings(text),
            ...bullets(text),
            ...ids(
              requirements.map(({ id }) => id),
              "FR",
            ),
            ...requirements
              .filter((item) => !/\bMUST\b|NEEDS CLARIFICATION/.test(item.text))
              .map(({ id }) => `${id} says nowhere what MUST hold`),
          ];
        },
      },
    },
    {
      key: "entities",
      section: {
        name: "Key entities",
        ask: "Bullets `- **Name**: what it is, what it has, what it belongs to`; without technology.",
        draft: parts.entities,
        check: (text) => [...noHeadings(text), ...bullets(text)],
      },
    },
    {
      key: "criteria",
      section: {
        name: "Success criteria",
        ask: "Bullets `- **SC-001**: …`, each measurable with a figure, none naming a technology.",
        draft: parts.criteria,
        check: (text) => [
          ...noHeadings(text),
          ...bullets(text),
          ...ids(
            parsed("criteria", text).criteria.map(({ id }) => id),
            "SC",
          ),
        ],
      },
    },
    {
      key: "assumptions",
      section: {
        name: "Assumptions",
        ask: "Bullets: what was taken for granted, and what is out of scope.",
        draft: parts.assumptions,
        check: (text) => [...noHeadings(text), ...bullets(text)],
      },
    },
  ];
}
