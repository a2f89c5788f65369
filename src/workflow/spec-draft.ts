import { type Description, readDescription, titleOf } from "./description.ts";
import { findOpenQuestions, markOf } from "./spec.ts";

export interface SpecInput {
  readonly description: string;
  /** The name of the feature's folder. */
  readonly branch: string;
  readonly date: string;
}

/** The parts of spec.md by heading, each as Markdown. A model may write some of them instead. */
export type SpecParts = Readonly<
  Record<
    "title" | "stories" | "edgeCases" | "requirements" | "entities" | "criteria" | "assumptions",
    string
  >
>;

/** spec-kit allows three marks in a spec. */
export const openQuestionsMax = 3;

const resultQuestion = "What can be seen when this story works?";
const successQuestion = "Which figure shows that the feature succeeds?";
const accessQuestion = "Who may use this feature?";
const failureQuestion = "What happens when an action fails, or its input is missing or wrong?";

/** Answers to the questions of a draft; the first one is recommended. */
export const usualAnswers: ReadonlyMap<string, readonly string[]> = new Map([
  [resultQuestion, ["The result is as described"]],
  [successQuestion, ["All acceptance scenarios pass"]],
  [
    accessQuestion,
    ["Everyone who can reach it", "Only people who are signed in", "Only administrators"],
  ],
  [failureQuestion, ["It is refused with a message, and nothing changes"]],
]);

const accessWords =
  /\b(?:only|owners?|roles?|permissions?|admin\w*|signed[- ]in|everyone|anyone|public|private)\b|\bas an? [^,]+,/i;

/**
 * Quotes the description under the headings of spec.md. Parts that the description leaves out are open questions; the most
 * important three are marked, the author's own first.
 */
export function draftSpec({ description }: SpecInput): SpecParts {
  const said = readDescription(description);
  const open = [
    ...said.questions,
    ...(said.scenarios.length === 0 ? [resultQuestion] : []),
    ...(said.criteria.length === 0 ? [successQuestion] : []),
    ...(accessWords.test(description) ? [] : [accessQuestion]),
    ...(said.edgeCases.length === 0 ? [failureQuestion] : []),
  ];
  const room = Math.max(0, openQuestionsMax - findOpenQuestions(description).length);
  const marked = open.slice(0, room);

  const requirements = said.requirements.length > 0 ? said.requirements : [said.title];
  const questions = said.questions.filter((question) => marked.includes(question));
  const isUnasked = (question: string): boolean => !marked.includes(question);
  return {
    title: said.title,
    stories: writeStories(said, marked.includes(resultQuestion)),
    edgeCases: bulletsOr(
      said.edgeCases,
      marked.includes(failureQuestion)
        ? `When an action fails, or its input is missing or wrong: ${markOf(failureQuestion)}`
        : "Open: the description names no edge case.",
    ),
    requirements: numberItems("FR", [
      ...requirements,
      ...questions.map((question) => `${question} ${markOf(question)}`),
      ...(marked.includes(accessQuestion)
        ? [`The feature MUST be available to: ${markOf(accessQuestion)}`]
        : []),
    ]),
    entities: bulletsOr(said.entities.map(writeEntity), "Open: the description lists no entities."),
    criteria: numberItems("SC", writeCriteria(said, marked.includes(successQuestion))),
    assumptions: bulletsOr([
      ...said.assumptions,
      ...said.questions.filter(isUnasked).map((question) => `Open: ${question}`),
      "Assumed: anything the description does not mention is out of scope.",
    ]),
  };
}

/** The stories the author wrote, or the whole description as one. */
function writeStories(said: Description, isMarked: boolean): string {
  const { stories, requirements, title } = said;
  const all = stories.length > 0 ? stories : [requirements.join(" ") || title];
  return all
    .map((text, at) => {
      const name = stories.length > 0 ? titleOf(text) : title;
      const scenarios = at === 0 ? said.scenarios.map(emphasizeSteps) : [];
      const result =
        at === 0 && isMarked
          ? markOf(resultQuestion)
          : "the result is open: the description does not name it";
      const open = `**Given** this story is in place, **When** it is used as described, **Then** ${result}`;
      return `### User Story ${at + 1} - ${name} (Priority: P${Math.min(at + 1, 9)})

${text}

**Why this priority**: It is story ${at + 1} of ${all.length} in the description.

**Independent Test**: Go through the acceptance scenarios of this story alone.

**Acceptance Scenarios**:

${numberLines(scenarios.length > 0 ? scenarios : [open])}`;
    })
    .join("\n\n---\n\n");
}

function writeCriteria({ criteria }: Description, isMarked: boolean): readonly string[] {
  if (criteria.length > 0) return criteria;
  return isMarked
    ? [`Success is measured by: ${markOf(successQuestion)}`]
    : ["All acceptance scenarios pass (assumed: the description names no figure)."];
}

function emphasizeSteps(scenario: string): string {
  return scenario.replace(
    /\b(given|when|then)\b/gi,
    (word) => `**${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}**`,
  );
}

/** "Album: a list of photos", "Album (name, owner)" or just "Album". */
function writeEntity(line: string): string {
  const [, name = line, text = ""] = /^([^:(–]+)[:–]?\s*(.*)$/.exec(line) ?? [];
  return `**${name.replace(/[.*]/g, "").trim()}**: ${text || "named in the description"}`;
}

function bulletsOr(lines: readonly string[], otherwise = ""): string {
  return (lines.length > 0 ? lines : [otherwise]).map((line) => `- ${line}`).join("\n");
}

function numberLines(lines: readonly string[]): string {
  return lines.map((line, at) => `${at + 1}. ${line}`).join("\n");
}

function numberItems(prefix: "FR" | "SC", texts: readonly string[]): string {
  return texts
    .map((text, at) => `- **${prefix}-${String(at + 1).padStart(3, "0")}**: ${text}`)
    .join("\n");
}

export function writeSpec(parts: SpecParts, { description, branch, date }: SpecInput): string {
  return `# Feature Specification: ${parts.title}

**Feature Branch**: \`${branch}\`
**Created**: ${date}
**Status**: Draft
**Input**: User description: "${description.replace(/\s+/g, " ").trim().replaceAll('"', "'")}"

## User Scenarios & Testing *(mandatory)*

${parts.stories}

### Edge Cases

${parts.edgeCases}

## Requirements *(mandatory)*

### Functional Requirements

${parts.requirements}

### Key Entities

${parts.entities}

## Success Criteria *(mandatory)*

### Measurable Outcomes

${parts.criteria}

## Assumptions

${parts.assumptions}
`;
}
