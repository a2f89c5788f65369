import { shortenLine } from "../base/text.ts";

/**
 * A feature description as its author wrote it, sentence by sentence, sorted under the headings of spec.md. Every sentence
 * is a quotation: nothing is reworded, and a sentence that fits no other heading is a requirement.
 */
export type Description = Readonly<Record<Heading, readonly string[]>> & { readonly title: string };

type Heading =
  | "stories"
  | "scenarios"
  | "edgeCases"
  | "requirements"
  | "entities"
  | "criteria"
  | "assumptions"
  /** Questions of the author, and parts they left undecided. */
  | "questions";

/** Labels by which authors sort a description themselves, such as "Out of scope: video". */
const labels: Readonly<Record<Heading, RegExp>> = {
  stories: /^(?:user )?(?:story|stories|scenarios?)$/i,
  scenarios: /^acceptance (?:criteria|scenarios?|tests?)$/i,
  edgeCases: /^(?:edge cases?|errors?|failures?)$/i,
  requirements: /^(?:(?:functional )?requirements?|must have)$/i,
  entities: /^(?:(?:key )?entit(?:y|ies)|data model)$/i,
  criteria: /^(?:success(?: criteria)?|goals?|metrics|performance)$/i,
  assumptions: /^(?:assumptions?|constraints?|out of scope|non-goals?)$/i,
  questions: /^(?:(?:open )?questions?|to be decided|tbd)$/i,
};

type Sorted = Record<Heading, string[]>;

export function readDescription(text: string): Description {
  const found = Object.fromEntries(
    Object.keys(labels).map((key) => [key, []]),
  ) as unknown as Sorted;
  let title: string | undefined;
  let current: Label | undefined;

  for (const block of blocksOf(text)) {
    const named = labelOf(block.text);
    if (block.isHeading || named?.rest === "") {
      if (!named) title ??= block.text;
      current = named;
      continue;
    }
    if (block.startsParagraph && !block.isBullet) current = undefined;

    const label = named ?? current;
    const words = named ? named.rest : block.text;
    if (!label) for (const sentence of sentencesOf(words)) sort(sentence, found);
    // A scope label is part of the sentence; others only name the heading.
    else if (label.heading === "assumptions") found.assumptions.push(`${label.label}: ${words}`);
    else found[label.heading].push(...sentencesOf(words));
    if (label?.heading === "stories") found.requirements.push(...sentencesOf(words));
  }
  return { title: titleOf(title ?? found.stories[0] ?? found.requirements[0] ?? text), ...found };
}

const storyForm = /^(?:as an? |as the |als |en tant qu|como |come )[^,]+,/i;
const scenarioForm = /^given\b.+\bwhen\b.+\bthen\b/is;
const condition = /^(?:if|when|unless|in case|wenn|falls|si|quand|cuando|quando|se) /i;
const undecided =
  /^(?:maybe|perhaps|possibly|vielleicht|eventuell|peut-être|quizás|talvez|forse)(?=[\s,])|\b(?:tbd|to be decided|not sure)\b/i;
/** A number with the unit it counts in. */
export const figure =
  /\d[\d.,]*\s?(?:%|percent|prozent|ms\b|s\b|sec|sek|min|hours?\b|stunden|days?\b|tage|kb\b|mb\b|gb\b|tb\b|requests?|users?\b|items?\b|per\b)/i;

function sort(sentence: string, found: Sorted): void {
  if (/[?？]$/.test(sentence)) found.questions.push(sentence);
  else if (undecided.test(sentence))
    found.questions.push(`Is “${withoutStop(sentence)}” part of this feature?`);
  else if (scenarioForm.test(sentence)) found.scenarios.push(sentence);
  else {
    found.requirements.push(sentence);
    if (storyForm.test(sentence)) found.stories.push(sentence);
    if (condition.test(sentence)) found.edgeCases.push(sentence);
    if (figure.test(sentence)) found.criteria.push(sentence);
  }
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
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    const [, mark, words = trimmed] = /^(#{1,6}|[-*+•]|\d{1,3}[.)])\s+(.+)$/.exec(trimmed) ?? [];
    const last = blocks.at(-1);
    const isContinued = mark === undefined && !wasBlank && last && !last.isHeading;
    if (isContinued && trimmed !== "" && !/[:：]$/.test(last.text))
      blocks[blocks.length - 1] = { ...last, text: `${last.text} ${trimmed}` };
    else if (trimmed !== "")
      blocks.push({
        text: words,
        isHeading: mark?.startsWith("#") === true,
        isBullet: mark !== undefined,
        startsParagraph: wasBlank,
      });
    wasBlank = trimmed === "";
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
  const heading = (Object.keys(labels) as Heading[]).find((key) => labels[key].test(plain));
  return heading && { heading, label: plain, rest: rest.trim() };
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
export function titleOf(sentence: string): string {
  return shortenLine(withoutStop(sentence.replace(/^[#*\s]+/, "")), titleCharactersMax);
}

function withoutStop(sentence: string): string {
  return sentence.trim().replace(/[.。:]+$/, "");
}
