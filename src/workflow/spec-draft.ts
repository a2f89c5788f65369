import { type Description, findNearest, readDescription, titleOf } from "./description.ts";
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
const failureQuestion = "What happens when an action fails, or its input is missing or wrong?";

/** Answers to the questions of a draft; the first one is recommended. */
export const usualAnswers: ReadonlyMap<string, readonly string[]> = new Map([
  [resultQuestion, ["Every requirement of this story holds"]],
  [successQuestion, ["All acceptance scenarios pass"]],
  [failureQuestion, ["It is refused with a message, and nothing changes"]],
]);

/**
 * Quotes the description under the headings of spec.md. Parts that the description leaves out are
 * open questions; the most important three are marked, the author's own first.
 */
export function draftSpec({ description }: SpecInput): SpecParts {
  const said = readDescription(description);
  const open = [
    ...said.questions,
    ...(said.scenarios.length === 0 ? [resultQuestion] : []),
    ...(said.criteria.length === 0 ? [successQuestion] : []),
    ...(said.edgeCases.length === 0 ? [failureQuestion] : []),
  ];
  const room = Math.max(0, openQuestionsMax - findOpenQuestions(description).length);
  const marked = open.slice(0, room);
  const markOr = (question: string, otherwise: string): string =>
    marked.includes(question) ? markOf(question) : otherwise;

  const requirements = said.requirements.length > 0 ? said.requirements : [said.title];
  const success = markOr(successQuestion, "all acceptance scenarios pass (assumed)");
  return {
    title: said.title,
    stories: writeStories(said, markOr(resultQuestion, unnamedResult)),
    edgeCases: bulletsOr(
      said.edgeCases,
      `If an action fails, or its input is missing or wrong: ${markOr(failureQuestion, "open")}`,
    ),
    requirements: numberItems("FR", requirements),
    entities: bulletsOr(said.entities.map(writeEntity), "Open: none is listed."),
    criteria: numberItems(
      "SC",
      said.criteria.length > 0 ? said.criteria : [`Success is measured by: ${success}`],
    ),
    assumptions: bulletsOr([
      ...said.assumptions,
      ...said.questions.map((question) => markOr(question, `Open: ${question}`)),
      "Assumed: anything the description does not mention is out of scope.",
    ]),
  };
}

/** The result of a scenario that the description does not name; the checklist counts it as open. */
export const unnamedResult = "the result is open: the description does not name it";
const assumed = "every requirement of this story holds (assumed)";

/** The stories the author wrote, or the whole description as one. */
function writeStories(said: Description, result: string): string {
  const { requirements, title } = said;
  const stories = said.stories.length > 0 ? said.stories : [joinSentences(requirements) || title];
  const scenarios = stories.map((): string[] => []);
  for (const scenario of said.scenarios)
    scenarios[findNearest(scenario, stories, 0)]?.push(emphasizeSteps(scenario));
  const place = (at: number): string =>
    stories.length === 1 ? "the only story" : `story ${at + 1} of ${stories.length}`;

  return stories
    .map((text, at) => {
      const own = scenarios[at] ?? [];
      const open = `**Given** the feature is in place, **When** it is used as the story says, **Then** ${at === 0 ? result : assumed}`;
      const lines = (own.length > 0 ? own : [open]).map((line, index) => `${index + 1}. ${line}`);
      return `### User Story ${at + 1} - ${said.stories.length > 0 ? titleOf(text) : title} (Priority: P${Math.min(at + 1, 9)})

${text}

**Why this priority**: It is ${place(at)} in the description.

**Independent Test**: Go through the acceptance scenarios of this story alone.

**Acceptance Scenarios**:

${lines.join("\n")}`;
    })
    .join("\n\n---\n\n");
}

/** Bullets become sentences of one paragraph. */
function joinSentences(sentences: readonly string[]): string {
  const isOpen = (sentence: string): boolean => !/[.!?。！？…:]$/.test(sentence);
  return sentences
    .map((sentence, at) =>
      at < sentences.length - 1 && isOpen(sentence) ? `${sentence}.` : sentence,
    )
    .join(" ");
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
  return `**${name.replace(/[.*]/g, "").trim()}**: ${text || "no details yet"}`;
}

function bulletsOr(lines: readonly string[], otherwise = ""): string {
  return (lines.length > 0 ? lines : [otherwise]).map((line) => `- ${line}`).join("\n");
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
