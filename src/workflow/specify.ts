import { basename, join } from "node:path";
import { readInside } from "./artefacts.ts";
import { writeRequirementsChecklist } from "./checklist.ts";
import { setActive } from "./feature.ts";
import { findOpenQuestions, type Item, parseSpec, type Spec } from "./spec.ts";
import {
  draftSpec,
  openQuestionsMax,
  type SpecInput,
  type SpecParts,
  writeSpec,
} from "./spec-draft.ts";
import { dateOf, type StepFunction, type StepInput, writeDocuments } from "./step.ts";
import { faultIf, openSectionWriter } from "./writer.ts";

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
  const { parts, notes } = await rewriteParts(draftSpec(specInput), specInput, input);
  const specText = writeSpec(parts, specInput);

  run.report(80, "Checking the requirements");
  const path = "checklists/requirements.md";
  const text = writeRequirementsChecklist({
    title: parts.title,
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
    next: questions.length > 0 ? "clarify" : "plan",
    details: { questions, stories: parseSpec(specText).stories.length },
  };
};

/** Lets a model rewrite the draft section by section, where one is configured. */
async function rewriteParts(
  drafted: SpecParts,
  specInput: SpecInput,
  input: StepInput,
): Promise<{ readonly parts: SpecParts; readonly notes: readonly string[] }> {
  const background = `# The feature\n\n${specInput.description}\n\nA specification says what and why, never with which technology.`;
  const writer = await openSectionWriter(input, background);
  if (!writer) return { parts: drafted, notes: [] };

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
  const tooMany = `the specification has ${count} open questions; at most 3 are allowed`;
  return [
    ...faultIf(/^#{1,2} /m.test(text), "it must have no headings of level 1 or 2"),
    ...faultIf(count > openQuestionsMax, tooMany),
  ];
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
      ...checkIds(requirements, "FR"),
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
    check: (text, { criteria }) => [...checkBullets(text), ...checkIds(criteria, "SC")],
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
    ...faultIf(stories.length === 0, "it needs `### User Story 1 - Title (Priority: P1)`"),
    ...faultIf(reasons !== stories.length, "every story needs **Why this priority**: …"),
    ...stories.flatMap(({ number, scenarios, independentTest }, at) => [
      ...faultIf(number !== at + 1, `User Story ${number} must have the number ${at + 1}`),
      ...faultIf(
        scenarios.length === 0,
        `User Story ${number} needs a numbered scenario with **Given**, **When** and **Then**`,
      ),
      ...faultIf(independentTest === "", `User Story ${number} needs an **Independent Test**`),
    ]),
  ];
}

function checkBullets(text: string): readonly string[] {
  const isBullet = (line: string): boolean => line.trim() === "" || /^(?:- |\s{2,})/.test(line);
  const isList = text.split("\n").every(isBullet);
  return faultIf(!isList, "every line must be a bullet that begins with `- `");
}

function checkIds(items: readonly Item[], prefix: string): readonly string[] {
  const isInOrder = items.every(({ id }, at) => Number(id.slice(3)) === at + 1);
  return [
    ...faultIf(items.length === 0, `it needs bullets like \`- **${prefix}-001**: …\``),
    ...faultIf(!isInOrder, `the ids must be ${prefix}-001, ${prefix}-002 … without gaps`),
  ];
}
