import { findOpenQuestions, parseSpec, type Spec } from "./spec.ts";
import { openQuestionsMax, type SpecInput, type SpecParts, writeSpec } from "./spec-draft.ts";

/** A section of spec.md that a model may write, and the form it must have. */
export interface SpecSection {
  readonly name: string;
  readonly ask: string;
  readonly draft: string;
  check(text: string, parts: SpecParts): readonly string[];
}

export function specSections(
  parts: SpecParts,
  input: SpecInput,
): readonly { readonly key: keyof SpecParts; readonly section: SpecSection }[] {
  return forms.map(({ key, name, ask, check }) => ({
    key,
    section: {
      name,
      ask,
      draft: parts[key],
      check(text, changed) {
        const whole = writeSpec(changed, input);
        const count = findOpenQuestions(whole).length;
        return [
          ...(/^#{1,2} /m.test(text) ? ["it must have no headings of level 1 or 2"] : []),
          ...check(text, parseSpec(whole), input),
          ...(count > openQuestionsMax
            ? [`the specification has ${count} open questions; at most 3 are allowed`]
            : []),
        ];
      },
    },
  }));
}

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
