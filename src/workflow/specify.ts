import { basename, join } from "node:path";
import { readInside } from "./artefacts.ts";
import { writeRequirementsChecklist } from "./checklist.ts";
import { setActive } from "./feature.ts";
import { specForm } from "./forms.ts";
import { findOpenQuestions, parseSpec } from "./spec.ts";
import { draftSpec, type SpecInput, writeSpec } from "./spec-draft.ts";
import { dateOf, type StepFunction, writeDocuments } from "./step.ts";
import { writeByForm } from "./writer.ts";

/** Writes spec.md and its checklist from a description. */
export const specify: StepFunction = async (input) => {
  const { place, args, run, settings } = input;
  const description = String(args.feature_description);
  const date = dateOf(settings.now());
  run.report(10, "Reading the description");

  const before = await readInside(place, join(place.path, "spec.md"));
  // The date of the first version stays.
  const created = /^\*\*Created\*\*: (\S+)$/m.exec(before ?? "")?.[1] ?? date;
  const specInput: SpecInput = { description, branch: basename(place.path), date: created };
  const draft = writeSpec(draftSpec(specInput), specInput);
  const background = `# The feature\n\n${description}\n\nA specification says what and why, never with which technology.`;
  const { texts, notes, forModel } = await writeByForm(
    input,
    [specForm(specInput, draft)],
    background,
  );
  const specText = texts["spec.md"] ?? draft;

  run.report(80, "Checking the requirements");
  const path = "checklists/requirements.md";
  const text = writeRequirementsChecklist({
    title: parseSpec(specText).title,
    date,
    specText,
    before: await readInside(place, join(place.path, path)),
  });

  run.report(90, "Writing spec.md");
  const drafts = [
    { path: "spec.md", text: specText },
    { path, text },
  ];
  const written = await writeDocuments("Specification", drafts, input);
  await setActive(place);

  const after = (await readInside(place, join(place.path, "spec.md"))) ?? specText;
  const questions = findOpenQuestions(after);
  const listed = questions.map((question) => `- ${question}`);
  return {
    text: [written.text, ...(listed.length > 0 ? ["", "Open questions:", ...listed] : [])].join(
      "\n",
    ),
    files: written.files,
    notes,
    forModel,
    next: questions.length > 0 ? "clarify" : "plan",
    details: { questions, stories: parseSpec(specText).stories.length },
  };
};
