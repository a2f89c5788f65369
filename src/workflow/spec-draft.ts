import { oneLine } from "./markdown.ts";
import { access, findOpenTopics, parseSpec, success } from "./spec.ts";

export interface SpecInput {
  readonly description: string;
  /** The name of the feature's folder. */
  readonly branch: string;
  readonly date: string;
}

/** The parts of spec.md by heading, each as Markdown. A model may write some of them instead. */
export interface SpecParts {
  readonly title: string;
  readonly stories: string;
  readonly edgeCases: string;
  readonly requirements: string;
  readonly entities: string;
  readonly criteria: string;
  readonly assumptions: string;
}

export const noEdgeCase = "Open: the description names no edge case.";

/** spec-kit allows three marks in a spec. */
export const openQuestionsMax = 3;

/**
 * Quotes the description under the headings of spec.md. What the description does not say is an open question; the most
 * important three are marked, the author's own first.
 */
export function draftSpec(input: SpecInput): SpecParts {
  const described = readDescription(input.description);
  const parts = writeParts(described, []);
  const given = findMarks(input.description);
  const budget = Math.max(0, openQuestionsMax - given);

  const topics = findOpenTopics(parseSpec(writeSpec(parts, input)));
  const needsResult = described.scenarios.length === 0;
  const wanted: readonly Mark[] = [
    ...described.questions.map((question): Mark => ({ kind: "author", question })),
    ...(needsResult ? [{ kind: "result" } as const] : []),
    ...(described.criteria.length === 0 ? [{ kind: "success" } as const] : []),
    ...(topics.includes(access) ? [{ kind: "access" } as const] : []),
  ];
  return writeParts(described, wanted.slice(0, budget));
}

type Mark =
  | { readonly kind: "author"; readonly question: string }
  | { readonly kind: "result" }
  | { readonly kind: "success" }
  | { readonly kind: "access" };

function findMarks(text: string): number {
  return (text.match(/\[NEEDS CLARIFICATION/g) ?? []).length;
}

function writeParts(described: Description, marks: readonly Mark[]): SpecParts {
  const has = (kind: Mark["kind"]): boolean => marks.some((mark) => mark.kind === kind);
  const asked = marks.flatMap((mark) => (mark.kind === "author" ? [mark.question] : []));
  const requirements = [
    ...described.requirements.map(emphasizeMust),
    ...asked.map((question) => `${question} ${markOf(question)}`),
    ...(has("access") ? [access.statement(markOf(access.question))] : []),
  ];
  const criteria = has("success")
    ? [success.statement(markOf(success.question))]
    : described.criteria;
  const unasked = described.questions.filter((question) => !asked.includes(question));

  return {
    title: described.title,
    stories: writeStories(described, has("result")),
    edgeCases: bulletsOr(described.edgeCases, noEdgeCase),
    requirements: numberItems("FR", requirements.length > 0 ? requirements : [described.title]),
    entities: bulletsOr(
      described.entities.map(writeEntity),
      "Open: the description lists no entities.",
    ),
    criteria: numberItems(
      "SC",
      criteria.length > 0
        ? criteria
        : ["All acceptance scenarios pass (assumed: the description names no figure)."],
    ),
    assumptions: bulletsOr(
      [
        ...described.assumptions,
        ...unasked.map((question) => `Open: ${question}`),
        "Assumed: anything the description does not mention is out of scope.",
      ],
      "",
    ),
  };
}

/** The stories the author wrote, or the whole description as one. */
function writeStories(described: Description, isMarked: boolean): string {
  const { stories, requirements, title } = described;
  const all = stories.length > 0 ? stories : [requirements.join(" ") || title];
  return all
    .map((text, at) => {
      const name = stories.length > 0 ? titleOf(text) : title;
      return `### User Story ${at + 1} - ${name} (Priority: P${Math.min(at + 1, 9)})

${text}

**Why this priority**: ${whyPriority(at, all.length)}

**Independent Test**: Go through the acceptance scenarios of this story alone.

**Acceptance Scenarios**:

${writeScenarios(described.scenarios, { at, name, isMarked })}`;
    })
    .join("\n\n---\n\n");
}

function whyPriority(at: number, total: number): string {
  if (total === 1) return "It is the only story of the description.";
  return at === 0
    ? "The description names it first."
    : `The description names it as number ${at + 1} of ${total}.`;
}

interface StoryFacts {
  readonly at: number;
  readonly name: string;
  readonly isMarked: boolean;
}

function writeScenarios(scenarios: readonly string[], { at, name, isMarked }: StoryFacts): string {
  if (at === 0 && scenarios.length > 0)
    return scenarios
      .map((scenario, index) => `${index + 1}. ${emphasizeSteps(scenario)}`)
      .join("\n");

  const result =
    at === 0 && isMarked
      ? markOf(resultQuestion(name))
      : "the result is open: the description does not name it";
  return `1. **Given** this story is in place, **When** it is used as described, **Then** ${result}`;
}

/** Asked in the first story, whose scenario has a mark in the place of its result. */
export function resultQuestion(title: string): string {
  return `What can be seen when “${title.replaceAll("]", ")")}” works?`;
}

function markOf(question: string): string {
  return `[NEEDS CLARIFICATION: ${question.replaceAll("]", ")")}]`;
}

function emphasizeMust(sentence: string): string {
  return sentence.replace(/\bmust\b/g, "MUST");
}

function emphasizeSteps(scenario: string): string {
  return scenario.replace(
    /\b(given|when|then)\b/gi,
    (word) => `**${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}**`,
  );
}

/** "Album: a list of photos", "Album (name, owner)" or just "Album". */
function writeEntity(line: string): string {
  const [, name = line, rest = ""] = /^([^:(–]+?)\s*(?:[:–]\s*(.+)|(?=\())/.exec(line) ?? [];
  const text = rest !== "" ? rest : line.slice(name.length).trim();
  return `**${name.replace(/[.*]/g, "").trim()}**: ${text || "named in the description"}`;
}

function bulletsOr(lines: readonly string[], otherwise: string): string {
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

/**
 * A feature description as its author wrote it, sentence by sentence, sorted under the headings of spec.md. Every sentence
 * is a quotation: nothing is reworded, and a sentence that fits no other heading is a requirement.
 */
export interface Description {
  readonly title: string;
  readonly stories: readonly string[];
  readonly scenarios: readonly string[];
  readonly edgeCases: readonly string[];
  readonly requirements: readonly string[];
  readonly entities: readonly string[];
  readonly criteria: readonly string[];
  readonly assumptions: readonly string[];
  /** Questions of the author, and parts they left undecided. */
  readonly questions: readonly string[];
}

type Heading = Exclude<keyof Description, "title">;

/** Labels by which authors sort a description themselves, such as "Out of scope: video". */
const labels: readonly (readonly [Heading, RegExp])[] = [
  ["stories", /^(?:user )?(?:story|stories|scenarios?)$/i],
  ["scenarios", /^acceptance (?:criteria|scenarios?|tests?)$/i],
  ["edgeCases", /^(?:edge cases?|errors?|failures?)$/i],
  ["requirements", /^(?:(?:functional )?requirements?|must have)$/i],
  ["entities", /^(?:(?:key )?entit(?:y|ies)|data model)$/i],
  ["criteria", /^(?:success(?: criteria)?|goals?|metrics|performance)$/i],
  ["assumptions", /^(?:assumptions?|constraints?|out of scope|non-goals?)$/i],
  ["questions", /^(?:(?:open )?questions?|to be decided|tbd)$/i],
];

export function readDescription(text: string): Description {
  const found: Record<Heading, string[]> = {
    stories: [],
    scenarios: [],
    edgeCases: [],
    requirements: [],
    entities: [],
    criteria: [],
    assumptions: [],
    questions: [],
  };
  let title: string | undefined;
  let heading: Heading | undefined;
  let label = "";

  for (const block of blocksOf(text)) {
    const named = labelOf(block.text);
    if (named?.rest === "" || (block.isHeading && named)) {
      heading = named.heading;
      label = named.label;
      continue;
    }
    if (block.isHeading) {
      title ??= block.text;
      heading = undefined;
      continue;
    }
    if (block.startsParagraph && !block.isBullet) heading = undefined;

    const known = named?.heading ?? heading;
    if (known === undefined) for (const sentence of sentencesOf(block.text)) sort(sentence, found);
    // A scope label is part of what is said; others only name the heading.
    else if (known === "assumptions")
      found.assumptions.push(named ? block.text : `${label}: ${block.text}`);
    else {
      const sentences = sentencesOf(named ? named.rest : block.text);
      found[known].push(...sentences);
      if (known === "stories") found.requirements.push(...sentences);
    }
  }
  return { title: titleOf(title ?? found.stories[0] ?? found.requirements[0] ?? text), ...found };
}

const storyForm = /^(?:as an? |as the |als |en tant qu|como |come )[^,]+,/i;
const scenarioForm = /^given\b.+\bwhen\b.+\bthen\b/is;
const condition = /^(?:if|when|unless|in case|wenn|falls|si|quand|cuando|quando|se) /i;
const undecided =
  /^(?:maybe|perhaps|possibly|vielleicht|eventuell|peut-être|quizás|talvez|forse)(?=[\s,])|\b(?:tbd|to be decided|not sure)\b/i;
/** A number with the unit it counts in. */
const figure =
  /\d[\d.,]*\s?(?:%|percent|prozent|ms\b|s\b|sec|sek|min|hours?\b|stunden|days?\b|tage|kb\b|mb\b|gb\b|tb\b|requests?|users?\b|items?\b|per\b)/i;

export function hasFigure(text: string): boolean {
  return figure.test(text.replace(/\b(?:FR|SC)-\d+|User Story \d+/g, ""));
}

function sort(sentence: string, found: Record<Heading, string[]>): void {
  if (/[?？]$/.test(sentence)) {
    found.questions.push(sentence);
    return;
  }
  if (undecided.test(sentence)) {
    found.questions.push(`Is “${withoutStop(sentence)}” part of this feature?`);
    return;
  }
  if (scenarioForm.test(sentence)) {
    found.scenarios.push(sentence);
    return;
  }
  found.requirements.push(sentence);
  if (storyForm.test(sentence)) found.stories.push(sentence);
  if (condition.test(sentence)) found.edgeCases.push(sentence);
  if (figure.test(sentence)) found.criteria.push(sentence);
}

interface Block {
  readonly text: string;
  readonly isHeading: boolean;
  readonly isBullet: boolean;
  readonly startsParagraph: boolean;
}

/** Headings, bullets and paragraphs; wrapped lines are joined. */
function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let wasBlank = true;
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    const trimmed = line.trim();
    if (trimmed === "") {
      wasBlank = true;
      continue;
    }
    const [, mark, words = trimmed] = /^(#{1,6}|[-*+•]|\d{1,3}[.)])\s+(.+)$/.exec(trimmed) ?? [];
    const last = blocks.at(-1);
    const isContinued = mark === undefined && !wasBlank && last && !last.isHeading;
    if (isContinued && !/[:：]$/.test(last.text)) {
      blocks[blocks.length - 1] = { ...last, text: `${last.text} ${trimmed}` };
    } else {
      blocks.push({
        text: words,
        isHeading: mark?.startsWith("#") === true,
        isBullet: mark !== undefined,
        startsParagraph: wasBlank,
      });
    }
    wasBlank = false;
  }
  return blocks;
}

interface Label {
  readonly heading: Heading;
  readonly label: string;
  readonly rest: string;
}

function labelOf(text: string): Label | undefined {
  const [, label = text, rest = ""] = /^([^:：]{2,40})[:：]\s*(.*)$/s.exec(text) ?? [];
  const plain = label.replaceAll("*", "").trim();
  const found = labels.find(([, form]) => form.test(plain));
  return found && { heading: found[0], label: plain, rest: rest.trim() };
}

const sentenceEnd =
  /(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc|vs|approx|z\.B|d\.h|bzw|ca|Nr|No|Dr|Mr|Mrs)\.)\s+|(?<=[。！？])\s*/iu;

function sentencesOf(text: string): readonly string[] {
  return text
    .replace(/\s+/g, " ")
    .split(sentenceEnd)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

const titleCharactersMax = 80;

/** A sentence as a heading: one line, without its full stop. */
function titleOf(sentence: string): string {
  const plain = withoutStop(sentence.replace(/\s+/g, " ").replace(/^[#*\s]+/, ""));
  if (plain.length <= titleCharactersMax) return plain;
  return `${plain.slice(0, titleCharactersMax).replace(/\s+\S*$/, "")} …`;
}

function withoutStop(sentence: string): string {
  return sentence.trim().replace(/[.。:]+$/, "");
}
