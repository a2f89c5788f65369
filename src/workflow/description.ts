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
export function titleOf(sentence: string): string {
  const plain = withoutStop(sentence.replace(/\s+/g, " ").replace(/^[#*\s]+/, ""));
  if (plain.length <= titleCharactersMax) return plain;
  return `${plain.slice(0, titleCharactersMax).replace(/\s+\S*$/, "")} …`;
}

function withoutStop(sentence: string): string {
  return sentence.trim().replace(/[.。:]+$/, "");
}
