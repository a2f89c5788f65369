import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { readInside, readTemplate, writeArtefacts } from "./artefacts.ts";
import { writeRequirementsChecklist } from "./checklist.ts";
import { listFeatureNames, readNumbering, setActive } from "./feature.ts";
import { cleanName, isFeatureName, nameFeature, numberOf, shortNameOf } from "./feature-name.ts";
import { type FeaturePlace, findPlace } from "./place.ts";
import { findOpenQuestions, parseSpec } from "./spec.ts";
import { draftSpec, type SpecInput, type SpecParts, writeSpec } from "./spec-draft.ts";
import { specSections } from "./spec-sections.ts";
import { dateOf, describeWritten, listWritten, type Step, type StepInput } from "./step.ts";
import { surveyRepository } from "./survey.ts";
import { writeSection } from "./writer.ts";

/** Writes spec.md and its checklist from a description. */
export const specify: Step = async (input) => {
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
  { place, context, run, settings }: StepInput,
): Promise<{ readonly parts: SpecParts; readonly notes: readonly string[] }> {
  const writer = await settings.writer(context);
  if (!writer) return { parts: drafted, notes: [] };

  run.report(20, "Reading the repository");
  const survey = await surveyRepository(place.project, context.scope);
  const facts = survey.languages.map(({ name, files }) => `${name} (${files} files)`).join(", ");
  const background = `# The feature\n\n${specInput.description}\n\n# The repository\n\n${facts || "No source files"}. This is for orientation only: a specification says what and why, never with which technology.`;

  const notes: string[] = [];
  let parts = drafted;
  const sections = specSections(drafted, specInput);
  for (const [at, { key, section }] of sections.entries()) {
    run.report(25 + (50 * at) / sections.length, `Writing: ${section.name}`);
    const current = parts;
    const checked = {
      ...section,
      check: (text: string) => section.check(text, { ...current, [key]: text }),
    };
    const { text, note } = await writeSection(checked, {
      writer,
      background,
      scope: context.scope,
      note: run.note,
    });
    if (note !== undefined) notes.push(note);
    parts = { ...parts, [key]: text };
  }
  return { parts, notes };
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
    const { name, warning } = await chooseName(args, description, { place: given, wanted, now });
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

interface NameWish {
  readonly place: FeaturePlace;
  /** The folder name that was asked for. */
  readonly wanted: string | undefined;
  readonly now: Date;
}

async function chooseName(
  args: JsonObject,
  description: string,
  { place, wanted, now }: NameWish,
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
  return nameFeature({ taken, shortName: named || shortNameOf(description), number, style, now });
}
