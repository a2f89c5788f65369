import { shortenLine } from "../base/text.ts";

/**
 * A feature description as its author wrote it, sentence by sentence, sorted under the headings of
 * spec.md. Every sentence is a quotation: nothing is reworded, and a sentence that fits no other
 * heading is a requirement.
 */
export type Description = Readonly<Record<Heading, readonly string[]>> & { readonly title: string };

type Heading =
  /** A story, with the sentences that belong to it. Empty if the description tells only one. */
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
const labels: Readonly<Record<Heading | "title", RegExp>> = {
  title: /^(?:subject|title|feature|betreff|titel)$/i,
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
  const found: Sorted = {
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
  let current: Label | undefined;
  const told: string[] = [];

  const blocks = blocksOf(text);
  for (const [at, block] of blocks.entries()) {
    const named = labelOf(block.text);
    const isTitle = at === 0 && blocks[1]?.startsParagraph && !/[.!?。！？:：]$/.test(block.text);
    if (block.isHeading || named?.rest === "" || named?.heading === "title" || isTitle) {
      if (!named || named.heading === "title") title ??= named?.rest || block.text;
      current = named;
      continue;
    }
    if (block.startsParagraph && !block.isBullet) current = undefined;

    const label = named ?? current;
    const words = named ? named.rest : block.text;
    if (!label || label.heading === "title") told.push(...sortSentences(sentencesOf(words), found));
    // A scope label is part of the sentence; others only name the heading.
    else if (label.heading === "assumptions") found.assumptions.push(`${label.label}: ${words}`);
    else if (named && label.heading === "entities") found.entities.push(...words.split(listComma));
    else found[label.heading].push(...sentencesOf(words));
    if (label?.heading === "stories") found.requirements.push(...sentencesOf(words));
  }
  found.stories.push(...splitStories(told));
  // A question alone, such as "Can we have dark mode?", is what the author wants.
  if (found.requirements.length === 0) found.requirements.push(...found.questions.splice(0));
  return { title: titleOf(title ?? found.requirements[0] ?? text), ...found };
}

/** A comma that is not inside parentheses. */
const listComma = /,\s*(?![^()]*\))/;

const storyForm = /^(?:as [^,]+, (?:i|we)\b|(?:als |en tant qu|como |come )[^,]+,)/i;
const scenarioForm = /^given\b.+\bwhen\b.+\bthen\b/is;
/** "If the payment fails, the order stays open". */
const condition =
  /^(?:if|when|whenever|unless|in case|wenn|falls|sobald|si|quand|lorsque|cuando|quando|se) (.+?)(?:, (?:then |dann )?(.+))?$/i;
const undecided =
  /^(?:maybe|perhaps|possibly|vielleicht|eventuell|peut-être|quizás|talvez|forse)(?=[\s,])|\b(?:tbd|to be decided|not sure)\b/i;
/** A figure for speed or availability. */
export const performance =
  /\d\s?(?:ms\b|s\b|seconds?\b|sekunden|secondes|segundos|secondi|секунд)|\b(?:per|pro|par) (?:second|sekunde|seconde)\b|\d\s?%.*\b(?:uptime|availability)\b/i;
/** A figure for success. Other figures, such as "within 30 days", are rules of the feature. */
const success = /\d\s?(?:%|percent|prozent)/i;

/** Sorts sentences under their headings, and returns those that say what is to be built. */
function sortSentences(sentences: readonly string[], found: Sorted): readonly string[] {
  const told: string[] = [];
  for (const sentence of sentences) {
    if (/[?？؟]$/.test(sentence)) found.questions.push(sentence);
    else if (undecided.test(sentence))
      found.questions.push(`Is “${withoutStop(sentence)}” part of this feature?`);
    else if (scenarioForm.test(sentence)) found.scenarios.push(sentence);
    else {
      found.requirements.push(sentence);
      told.push(sentence);
      if (performance.test(sentence) || success.test(sentence)) found.criteria.push(sentence);
      const [, when, then] = condition.exec(sentence) ?? [];
      if (when !== undefined) found.edgeCases.push(sentence);
      if (then !== undefined)
        found.scenarios.push(`Given the feature is in place, when ${when}, then ${then}`);
    }
  }
  return told;
}

const person =
  "(customer|user|member|visitor|guest|admin|administrator|manager|editor|author|reader|reviewer|moderator|operator|employee|clerk|accountant|staff|teacher|student|parent|patient|doctor|nurse|driver|seller|buyer|supplier|tenant|landlord|librarian|organi[sz]er|participant|player|coach|volunteer|developer|maintainer|supervisor|subscriber)s?";
const actors: readonly RegExp[] = [
  // "Members of a club can book …", not "A deleted user can be restored".
  new RegExp(
    `^(?:only |all |any |every |each |the |an? )*(?:[\\w-]+ )?${person}(?: (?:of|in|at) [^,]{1,40}?)? (?:(?:can|may|must|should|will)(?! be\\b)|wants? to|needs? to|gets?|receives?)\\b`,
    "i",
  ),
  new RegExp(`\\bonly by (?:the |an? )?(?:[\\w-]+ )?${person}\\b`, "i"),
];

/** The person who acts in a sentence. */
function actorOf(sentence: string): string | undefined {
  const [, named] = /^as (?:the |an? )?(?:[\w-]+ )*?([\w-]+), (?:i|we)\b/i.exec(sentence) ?? [];
  const found = named ?? actors.map((form) => form.exec(sentence)?.[1]).find(Boolean);
  return found?.toLowerCase();
}

/**
 * A story begins with a sentence of the form "As a …, I want" or with a person who has not acted
 * yet. Every other sentence belongs to the story of its person, else to the one it shares most
 * words with, else to the one before it.
 */
function splitStories(sentences: readonly string[]): readonly string[] {
  const stories: { readonly actor: string | undefined; text: string }[] = [];
  const before: string[] = [];
  for (const sentence of sentences) {
    const actor = actorOf(sentence);
    const isForm = storyForm.test(sentence);
    const own = isForm ? undefined : stories.find((story) => actor && story.actor === actor);
    if (isForm || (actor !== undefined && !own)) stories.push({ actor, text: sentence });
    else if (stories.length === 0) before.push(sentence);
    else {
      const last = stories.length - 1;
      const texts = stories.map(({ text }) => text);
      const home = own ?? stories[findNearest(sentence, texts, last)];
      if (home) home.text += ` ${sentence}`;
    }
  }
  const isTold = stories.length > 1 || sentences.some((sentence) => storyForm.test(sentence));
  return isTold
    ? stories.map(({ text }, at) => (at === 0 ? [...before, text].join(" ") : text))
    : [];
}

/** The text that shares most words with the sentence; else the one at `otherwise`. */
export function findNearest(sentence: string, texts: readonly string[], otherwise: number): number {
  const words = new Set(longWordsOf(sentence));
  const shared = texts.map((text) => longWordsOf(text).filter((word) => words.has(word)).length);
  const most = Math.max(...shared);
  return most === 0 ? otherwise : shared.indexOf(most);
}

function longWordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
}

interface Block {
  readonly text: string;
  readonly isHeading: boolean;
  readonly isBullet: boolean;
  readonly startsParagraph: boolean;
}

/** A line this long was wrapped by the author's editor; the next one continues it. */
const wrappedCharactersMin = 60;
const greeting =
  /^(?:hi|hello|hey|dear|hallo|thanks|thank you|cheers|regards|best|kind regards|danke|merci|grüße)\b.{0,30}$/i;

/** Headings, bullets and paragraphs; wrapped lines are joined, greetings left out. */
function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let before = "";
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    const isSaid = trimmed !== "" && (!greeting.test(trimmed) || text.trim() === trimmed);
    const [, mark, words = trimmed] = /^(#{1,6}|[-*+•]|\d{1,3}[.)])\s+(.+)$/.exec(trimmed) ?? [];
    const last = blocks.at(-1);
    const mayContinue =
      mark === undefined && before !== "" && last && !last.isHeading && !labelOf(trimmed);
    const isContinued = before.length >= wrappedCharactersMin || /^(?:\p{Ll}|\s)/u.test(line);
    if (isSaid && mayContinue && isContinued && !/[:：]$/.test(last.text))
      blocks[blocks.length - 1] = { ...last, text: `${last.text} ${trimmed}` };
    else if (isSaid)
      blocks.push({
        text: words,
        isHeading: mark?.startsWith("#") === true,
        isBullet: mark !== undefined,
        startsParagraph: before === "",
      });
    before = isSaid ? trimmed : "";
  }
  return blocks;
}

interface Label {
  readonly heading: Heading | "title";
  readonly label: string;
  readonly rest: string;
}

function labelOf(text: string): Label | undefined {
  const [, label = text, rest = ""] = /^([^:：]{2,40})[:：]\s*(.*)$/s.exec(text) ?? [];
  const plain = label.replaceAll("*", "").trim();
  const heading = (Object.keys(labels) as Label["heading"][]).find((key) =>
    labels[key].test(plain),
  );
  return heading && { heading, label: plain, rest: rest.trim() };
}

const sentenceEnd =
  /(?<=[.!?؟])(?<!\b(?:e\.g|i\.e|etc|vs|approx|z\.B|d\.h|bzw|ca|Nr|No|Dr|Mr|Mrs)\.)\s+|(?<=[。！？])\s*/iu;

function sentencesOf(text: string): readonly string[] {
  return text
    .replace(/\s+/g, " ")
    .split(sentenceEnd)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

const titleCharactersMax = 80;
const wish = /^as [^,]+, (?:i|we) (?:want|need|would like)(?: to)? (.+?)(?:,? so that .*)?$/is;

/** The first sentence as a heading: as many of its clauses as fit in one line, without the full stop. */
export function titleOf(sentence: string): string {
  const [first = sentence] = sentencesOf(sentence.replace(/^[#*\s]+/, ""));
  const plain = withoutStop(first);
  const wanted = wish.exec(plain)?.[1];
  const whole = wanted ? wanted.charAt(0).toUpperCase() + wanted.slice(1) : plain;
  const clauses = whole.split(/(?<=[,;]) /);
  while (clauses.length > 1 && clauses.join(" ").length > titleCharactersMax) clauses.pop();
  return shortenLine(clauses.join(" ").replace(/[,;]$/, ""), titleCharactersMax);
}

function withoutStop(sentence: string): string {
  return sentence.trim().replace(/[.。:]+$/, "");
}
