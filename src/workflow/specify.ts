import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import {
  type FeaturePlace,
  findPlace,
  readInside,
  readTemplate,
  writeArtefacts,
} from "./artefacts.ts";
import { writeRequirementsChecklist } from "./checklist.ts";
import {
  cleanName,
  isFeatureName,
  listFeatureNames,
  nameFeature,
  numberOf,
  readNumbering,
  setActive,
  shortNameOf,
} from "./feature.ts";
import { findOpenQuestions, parseSpec, type Spec } from "./spec.ts";
import {
  draftSpec,
  openQuestionsMax,
  type SpecInput,
  type SpecParts,
  writeSpec,
} from "./spec-draft.ts";
import { dateOf, describeWritten, listWritten, type StepFunction, type StepInput } from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { SectionWriter } from "./writer.ts";

/** Writes spec.md and its checklist from a description. */
export const specify: StepFunction = async (input) => {
  const { place, args, run, memory, settings } = input;
  const description = String(args.feature_description);
  const date = dateOf(settings.now());
  run.report(10, "Reading the description");

  const before = await readInside(place, join(place.path, "spec.md"));
  // The date of the first version stays.
  const created = /^\*\*Created\*\*: (\S+)$/m.exec(before ?? "")?.[1] ?? date;
  const specInput: SpecInput = { description, branch: basename(place.path), date: created };
  const { parts, notes } = await writeParts(draftSpec(specInput), specInput, input);
  const text = writeSpec(parts, specInput);

  run.report(80, "Checking the requirements");
  const checklist = writeRequirementsChecklist({
    title: parts.title,
    date,
    specText: text,
    before: await readInside(place, join(place.path, "checklists", "requirements.md")),
  });

  run.report(90, "Writing spec.md");
  const files = await writeArtefacts(
    [
      { path: "spec.md", text },
      { path: "checklists/requirements.md", text: checklist },
    ],
    { place, memory, force: args.force === true, blanks: await readTemplate(place, "spec") },
  );
  await setActive(place);

  const open = findOpenQuestions((await readInside(place, join(place.path, "spec.md"))) ?? text);
  return {
    text: [
      describeWritten("Specification", files, join(place.path, "spec.md")),
      listWritten(files, place),
      ...(open.length > 0 ? ["", "Open questions:", ...open.map((line) => `- ${line}`)] : []),
    ].join("\n"),
    files,
    notes,
    next: open.length > 0 ? "clarify" : "plan",
    details: { questions: open, stories: parseSpec(text).stories.length },
  };
};

/** Lets a model rewrite the draft section by section, where one is configured. */
async function writeParts(
  drafted: SpecParts,
  specInput: SpecInput,
  input: StepInput,
): Promise<{ readonly parts: SpecParts; readonly notes: readonly string[] }> {
  const { place, context, run, settings } = input;
  const model = await settings.writer(context);
  if (!model) return { parts: drafted, notes: [] };

  run.report(20, "Reading the repository");
  const survey = await surveyRepository(place.project, context.scope);
  const facts = survey.languages.map(({ name, files }) => `${name} (${files} files)`).join(", ");
  const background = `# The feature\n\n${specInput.description}\n\n# The repository\n\n${facts || "No source files"}. This is for orientation only: a specification says what and why, never with which technology.`;

  const writer = new SectionWriter(input, model, background);
  let parts = drafted;
  for (const [at, { key, name, ask, check }] of forms.entries()) {
    const others = parts;
    const text = await writer.write(25 + (50 * at) / forms.length, {
      name,
      ask,
      draft: drafted[key],
      check(candidate) {
        const whole = writeSpec({ ...others, [key]: candidate }, specInput);
        return [...check(candidate, parseSpec(whole), specInput), ...checkWhole(candidate, whole)];
      },
    });
    parts = { ...parts, [key]: text };
  }
  return { parts, notes: writer.notes };
}

function checkWhole(text: string, whole: string): readonly string[] {
  const count = findOpenQuestions(whole).length;
  return [
    ...(/^#{1,2} /m.test(text) ? ["it must have no headings of level 1 or 2"] : []),
    ...(count > openQuestionsMax
      ? [`the specification has ${count} open questions; at most 3 are allowed`]
      : []),
  ];
}

export interface NewPlace {
  readonly place: FeaturePlace;
  readonly warning?: string | undefined;
  /** The folder did not exist before. */
  readonly isNew?: boolean;
}

const attemptsMax = 20;

/**
 * The folder of a feature: the one that was named, or the next number in `specs`. It is created at once, so that two calls
 * at the same time get two folders.
 */
export async function placeFeature(
  args: JsonObject,
  roots: readonly string[],
  now: Date,
): Promise<NewPlace> {
  const description = String(args.feature_description ?? "").trim();
  if (description === "") throw new HallError("VALIDATION", "feature_description is empty");

  const given = await findPlace(String(args.spec_directory), roots);
  const found = await stat(given.path).catch(() => undefined);
  if (found && !found.isDirectory())
    throw new HallError("VALIDATION", `spec_directory "${given.path}" is a file, not a folder`);

  const isParent = basename(given.path) === "specs" || given.path === given.project;
  if (!isParent && (found || !isFeatureName(basename(given.path)))) {
    await mkdir(given.path, { recursive: true });
    return { place: given, isNew: found === undefined };
  }

  const parent = parentOf(given, isParent);
  await findPlace(parent, roots);
  await mkdir(parent, { recursive: true });
  const wanted = isParent ? undefined : basename(given.path);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { name, warning } = await chooseName(args, given, wanted, now);
    const path = join(parent, name);
    if (await createFolder(path)) return { place: { ...given, path }, warning, isNew: true };
    if (name === wanted) return { place: { ...given, path } };
  }
  throw new HallError("EXECUTION", `could not create a new folder in "${parent}"`);
}

function parentOf({ path, project }: FeaturePlace, isParent: boolean): string {
  if (path === project) return join(path, "specs");
  return isParent ? path : dirname(path);
}

/** False if another process created it first. */
function createFolder(path: string): Promise<boolean> {
  return mkdir(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

/** `wanted` is the folder name that was asked for. */
async function chooseName(
  args: JsonObject,
  place: FeaturePlace,
  wanted: string | undefined,
  now: Date,
): Promise<{ readonly name: string; readonly warning?: string | undefined }> {
  const taken = await listFeatureNames(place.project);
  const style = await readNumbering(place);
  if (wanted !== undefined) {
    const number = numberOf(wanted);
    if (number === undefined) return { name: wanted };
    const shortName = wanted.replace(/^\d+-/, "");
    return nameFeature({ taken, shortName, number, style, now });
  }

  const named = typeof args.short_name === "string" ? cleanName(args.short_name) : "";
  const number = typeof args.number === "number" ? args.number : undefined;
  const shortName = named || shortNameOf(String(args.feature_description));
  return nameFeature({ taken, shortName, number, style, now });
}

/** A section of spec.md that a model may write, and the form it must have. */
interface SectionForm {
  readonly key: keyof SpecParts;
  readonly name: string;
  readonly ask: string;
  check(text: string, spec: Spec, input: SpecInput): readonly string[];
}

const forms: readonly SectionForm[] = [
  {
    key: "stories",
    name: "User stories",
    ask: "Each as `### User Story N - Title (Priority: Pn)`, then a paragraph, `**Why this priority**: …`, `**Independent Test**: …`, `**Acceptance Scenarios**:` and a numbered list `1. **Given** …, **When** …, **Then** ….` Number them from 1, most important first, with `---` between two stories.",
    check: checkStories,
  },
  {
    key: "edgeCases",
    name: "Edge cases",
    ask: "Bullets, each a question about a boundary or a failure.",
    check: checkBullets,
  },
  {
    key: "requirements",
    name: "Functional requirements",
    ask: "Bullets `- **FR-001**: …`, each testable, each with MUST. Mark what must not be guessed with [NEEDS CLARIFICATION: question], at most three in the whole document.",
    check: (text, { requirements }, { description }) => [
      ...checkBullets(text),
      ...checkIds(
        requirements.map(({ id }) => id),
        "FR",
      ),
      ...requirements
        .filter((item) => !/\bMUST\b|NEEDS CLARIFICATION/.test(item.text))
        // The author's own sentences are left as they are.
        .filter((item) => !description.replace(/\s+/g, " ").includes(item.text))
        .map(({ id }) => `${id} needs the word MUST`),
    ],
  },
  {
    key: "entities",
    name: "Key entities",
    ask: "Bullets `- **Name**: what it is, its attributes and relations`, without technology.",
    check: checkBullets,
  },
  {
    key: "criteria",
    name: "Success criteria",
    ask: "Bullets `- **SC-001**: …`, each measurable with a figure, none naming a technology.",
    check: (text, { criteria }) => [
      ...checkBullets(text),
      ...checkIds(
        criteria.map(({ id }) => id),
        "SC",
      ),
    ],
  },
  {
    key: "assumptions",
    name: "Assumptions",
    ask: "Bullets: the assumptions that were made, and what is out of scope.",
    check: checkBullets,
  },
];

function checkStories(text: string, { stories }: Spec): readonly string[] {
  const reasons = (text.match(/\*\*Why this priority\*\*:/g) ?? []).length;
  return [
    ...(stories.length === 0 ? ["it needs `### User Story 1 - Title (Priority: P1)`"] : []),
    ...(reasons === stories.length ? [] : ["every story needs **Why this priority**: …"]),
    ...stories.flatMap(({ number, scenarios, independentTest }, at) => [
      ...(number === at + 1 ? [] : [`User Story ${number} must have the number ${at + 1}`]),
      ...(scenarios.length > 0
        ? []
        : [`User Story ${number} needs a numbered scenario with **Given**, **When** and **Then**`]),
      ...(independentTest === "" ? [`User Story ${number} needs an **Independent Test**`] : []),
    ]),
  ];
}

function checkBullets(text: string): readonly string[] {
  const isList = text
    .split("\n")
    .every((line) => line.trim() === "" || /^(?:- |\s{2,})/.test(line));
  return isList ? [] : ["every line must be a bullet that begins with `- `"];
}

function checkIds(found: readonly string[], prefix: string): readonly string[] {
  if (found.length === 0) return [`it needs bullets like \`- **${prefix}-001**: …\``];
  const isInOrder = found.every((id, at) => Number(id.slice(3)) === at + 1);
  return isInOrder ? [] : [`the ids must be ${prefix}-001, ${prefix}-002 … without gaps`];
}
