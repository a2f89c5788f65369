import { type Doubt, findDoubts } from "./doubts.ts";
import { article, clip, joinWords } from "./english.ts";
import { findEntities, writeEntity } from "./entity-draft.ts";
import { oneLine } from "./markdown.ts";
import { findRequirements } from "./requirement-draft.ts";
import { parseSpec } from "./spec.ts";
import { parseStatements } from "./statement.ts";
import {
  findEdges,
  findStories,
  type Numbered,
  orderStories,
  titleOf,
  writeStory,
} from "./story-draft.ts";

/** A spec from a description alone: every sentence of it says something the description says, or something that follows from one of its verbs. */
export interface SpecInput {
  readonly description: string;
  /** The folder's name. */
  readonly branch: string;
  readonly date: string;
}

/** The parts of a spec, by heading, each as Markdown: a model may write some of them instead. */
export interface SpecParts {
  readonly title: string;
  readonly stories: string;
  readonly edgeCases: string;
  readonly requirements: string;
  readonly entities: string;
  readonly criteria: string;
  readonly assumptions: string;
}

export function draftSpec({ description }: Pick<SpecInput, "description">): SpecParts {
  // What is said to be undecided is asked about, not required.
  const statements = parseStatements(description).filter(
    ({ text }) => !/^(?:maybe|perhaps|possibly|tbd)\b/i.test(text),
  );
  const stories = orderStories(findStories(statements));
  const requirements = findRequirements(statements);
  const entities = findEntities(stories, statements);
  const titled = stories.map((story, at) => ({ ...story, number: at + 1 }));
  const edges = findEdges(titled);
  return {
    title: titleOf(stories[0], description),
    stories: titled.map((story) => writeStory(story, titled, statements)).join("\n\n---\n\n"),
    edgeCases: edges.map((edge) => `- ${edge}`).join("\n"),
    requirements: requirements.map((text, at) => `- **${idOf("FR", at)}**: ${text}`).join("\n"),
    entities:
      entities.map((entity) => writeEntity(entity, titled)).join("\n") ||
      "- None: the description names nothing that has to be kept.",
    criteria: writeCriteria(titled, requirements),
    assumptions: writeAssumptions(titled),
  };
}

export function writeSpec(parts: SpecParts, { description, branch, date }: SpecInput): string {
  return `# Feature Specification: ${parts.title}

**Feature Branch**: \`${branch}\`
**Created**: ${date}
**Status**: Draft
**Input**: User description: "${oneLine(description).replaceAll("\\|", "|").replaceAll('"', "'")}"

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

const openQuestionsMax = 3;
/** What must not be guessed: who, who may, what was left undecided. */
const markWeight = 50;

/** The questions that have to be answered before anybody can plan, in the requirements; at most three. */
export function markDoubts(parts: SpecParts, input: SpecInput): SpecParts {
  const spec = parseSpec(writeSpec(parts, input));
  const marked: readonly Doubt[] = findDoubts(spec)
    .filter(({ weight }) => weight >= markWeight)
    .slice(0, openQuestionsMax - spec.openQuestions.length);
  if (marked.length === 0) return parts;
  const first = spec.requirements.length;
  const lines = marked.map(
    ({ question, statement }, at) =>
      `- **${idOf("FR", first + at)}**: ${statement(`[NEEDS CLARIFICATION: ${question}]`)}`,
  );
  return { ...parts, requirements: [parts.requirements, ...lines].join("\n") };
}

function idOf(prefix: "FR" | "SC", at: number): string {
  return `${prefix}-${String(at + 1).padStart(3, "0")}`;
}

const figure =
  /\d[\d.,]*\s?(?:%|percent|ms|milliseconds?|s\b|sec\w*|min\w*|hours?|days?|weeks?|months?|years?|kb|mb|gb|tb|users?|requests?|items?|files?|people|times?|pages?|rows?|records?|entries|per\b)/i;

function writeCriteria(stories: readonly Numbered[], requirements: readonly string[]): string {
  const measured = requirements.flatMap((text, at) =>
    figure.test(text)
      ? [`The figure in ${idOf("FR", at)} holds in every measured case: ${figureOf(text)}`]
      : [],
  );
  const passed = stories.map(
    ({ number }) =>
      `All acceptance scenarios of User Story ${number} pass when somebody who did not build it goes through them`,
  );
  return [...measured, ...passed].map((text, at) => `- **${idOf("SC", at)}**: ${text}.`).join("\n");
}

/** The figure with the words that bind it. */
function figureOf(text: string): string {
  const around =
    /(?:(?:within|under|up to|at most|at least|less than|more than|no more than|below|above|over|every|in) )*\d[\d.,]*\s?[^.,;:]*/i.exec(
      text,
    )?.[0] ?? text;
  return clip(around.trim().replace(/\.$/, ""), 80);
}

function writeAssumptions(stories: readonly Numbered[]): string {
  const unnamed = stories.filter(({ isActorNamed }) => !isActorNamed);
  const lines = [
    "Whatever the description does not name is out of scope.",
    ...(unnamed.length > 0 && stories.length > 0
      ? [
          `The description does not say who acts in User Story ${joinWords(unnamed.map(({ number }) => String(number)))}; ${article(unnamed[0]?.actor ?? "person")} is taken to.`,
        ]
      : []),
    ...(stories.length > 1 ? ["The order of the stories is the order they are built in."] : []),
  ];
  return lines.map((line) => `- ${line}`).join("\n");
}
