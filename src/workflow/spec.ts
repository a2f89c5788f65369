import { bodyOf, bulletsOf, findSection, type MarkdownSection, sectionsOf } from "./markdown.ts";

/** A parsed spec.md: ours, one of spec-kit, or one written by hand. Missing parts are empty. */
export interface Spec {
  readonly title: string;
  readonly input: string;
  readonly stories: readonly Story[];
  readonly edgeCases: readonly string[];
  readonly requirements: readonly Item[];
  readonly entities: readonly SpecEntity[];
  readonly criteria: readonly Item[];
  readonly assumptions: readonly string[];
  readonly openQuestions: readonly string[];
}

export interface Story {
  readonly number: number;
  readonly title: string;
  /** "P1". */
  readonly priority: string;
  readonly text: string;
  readonly independentTest: string;
  readonly scenarios: readonly string[];
}

export interface Item {
  readonly id: string;
  readonly text: string;
}

export interface SpecEntity {
  readonly name: string;
  readonly text: string;
}

export function parseSpec(text: string): Spec {
  const plain = text.replaceAll("\r\n", "\n");
  const bodyUnder = (title: RegExp): string => {
    const section = findSection(plain, title);
    return section ? bodyOf(plain, section) : "";
  };
  return {
    title:
      /^#\s+Feature Specification:\s*(.+)$/m.exec(plain)?.[1]?.trim() ??
      sectionsOf(plain)[0]?.title ??
      "",
    input: /\*\*Input\*\*:\s*(.+)$/m.exec(plain)?.[1]?.trim() ?? "",
    stories: sectionsOf(plain)
      .filter(({ title }) => storyTitle.test(title))
      .map((section) => parseStory(plain, section)),
    edgeCases: bulletsOf(bodyUnder(/^Edge Cases/i)),
    requirements: itemsOf(bodyUnder(/^Requirements/i), "FR"),
    entities: bulletsOf(bodyUnder(/^Key Entities/i)).flatMap(parseEntity),
    criteria: itemsOf(bodyUnder(/^Success Criteria/i), "SC"),
    assumptions: bulletsOf(bodyUnder(/^Assumptions/i)),
    openQuestions: findOpenQuestions(plain),
  };
}

const storyTitle = /^User Story (\d+)\s*[-–—:]\s*(.+?)\s*(?:\(Priority:\s*(P\d+)\))?\s*(?:🎯.*)?$/i;

function parseStory(text: string, section: MarkdownSection): Story {
  const [, number = "0", title = "", priority = "P3"] = storyTitle.exec(section.title) ?? [];
  const body = bodyOf(text, section);
  return {
    number: Number(number),
    title,
    priority: priority.toUpperCase(),
    text: body.trim().split("\n\n")[0]?.trim() ?? "",
    independentTest: /\*\*Independent Test\*\*:\s*(.+)$/m.exec(body)?.[1]?.trim() ?? "",
    scenarios: [...body.matchAll(/^\s*\d+\.\s+(\*\*Given\*\*.+(?:\n\s{2,}\S.*)*)$/gm)].map(
      (match) => (match[1] ?? "").replace(/\s+/g, " "),
    ),
  };
}

/** `- **FR-001**: text`. */
function itemsOf(body: string, prefix: "FR" | "SC"): readonly Item[] {
  return [
    ...body.matchAll(
      new RegExp(
        `^\\s*[-*]\\s+\\*{0,2}(${prefix}-\\d{3,}[a-z]?)\\*{0,2}:?\\*{0,2}:?\\s*(.+)$`,
        "gm",
      ),
    ),
  ].map(([, id = "", item = ""]) => ({
    id,
    text: item.trim(),
  }));
}

function parseEntity(bullet: string): SpecEntity[] {
  const found = /^\*\*(.+?)\*\*:?\s*(.*)$/.exec(bullet);
  if (!found) return [];
  const [, name = "", text = ""] = found;
  return [{ name: name.replace(/:$/, "").trim(), text: text.replace(/^:\s*/, "").trim() }];
}

/** Stands for a mark without a question. */
const unspecified = "unspecified";
const mark = /\[NEEDS CLARIFICATION(?::\s*([^\]]*))?\]/g;

/** The open questions marked in a text. Comments and code are skipped. */
export function findOpenQuestions(text: string): readonly string[] {
  const read = text
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, "")
    .replace(/`[^`\n]*`/g, "");
  return [...read.matchAll(mark)].map((found) => found[1]?.trim() || unspecified);
}

/** Replaces the first mark with this question by an answer. */
export function answerOpenQuestion(text: string, question: string, answer: string): string {
  const escaped =
    question === unspecified ? "" : `:\\s*${question.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*`;
  return text.replace(new RegExp(`\\[NEEDS CLARIFICATION${escaped}\\]`), () => answer);
}

/** Something a spec does not say and that changes what is built. */
export interface OpenTopic {
  readonly question: string;
  /** The first one is recommended. */
  readonly options: readonly string[];
  /** The section of spec.md that takes the answer. */
  readonly section: TopicSection;
  /** The sentence for that section. */
  statement(answer: string): string;
}

export type TopicSection = "requirements" | "edgeCases" | "criteria" | "assumptions";

export const access: OpenTopic = {
  question: "Who may use this feature?",
  options: ["Everyone who can reach it", "Only people who are signed in", "Only administrators"],
  section: "requirements",
  statement: (answer) => `The feature MUST be available to: ${answer}`,
};

export const success: OpenTopic = {
  question: "Which figure shows that the feature succeeds?",
  options: ["All acceptance scenarios pass"],
  section: "criteria",
  statement: (answer) => `Success is measured by: ${answer}`,
};

const failure: OpenTopic = {
  question: "What happens when an action fails, or its input is missing or wrong?",
  options: ["It is refused with a message, and nothing changes", "It is tried again"],
  section: "edgeCases",
  statement: (answer) => `When an action fails, or its input is missing or wrong: ${answer}`,
};

/** Topics that drafts mark in the text. */
export const markedTopics: readonly OpenTopic[] = [access, success];

export const resultOptions: readonly string[] = ["The result is as described"];

const accessWords =
  /\b(?:only|owners?|roles?|permissions?|admin\w*|signed[- ]in|everyone|anyone|public|private)\b|available to:/i;
const vagueWord =
  /\b(fast|quick|quickly|instantly|responsive|scalable|secure|securely|robust|reliable|easy|easily|intuitive|user-friendly|simple|modern)\b/gi;
const vagueMax = 2;

/** Topics that nothing in the spec covers. The same spec gives the same topics in the same order. */
export function findOpenTopics(spec: Spec): readonly OpenTopic[] {
  const items = [...spec.requirements, ...spec.criteria].map(({ text }) => text);
  const text = [spec.input, ...items, ...spec.edgeCases, ...spec.assumptions].join("\n");
  const isNamed = ({ question }: OpenTopic): boolean => text.includes(question);

  const topics = [
    ...(accessWords.test(text) || hasRoles(spec) ? [] : [access]),
    ...(spec.criteria.some((item) => /\d|\ball\b|\bevery\b/i.test(item.text)) ? [] : [success]),
    ...findVague(items),
    ...(spec.edgeCases.some((edge) => !edge.startsWith("Open:")) ? [] : [failure]),
  ];
  return topics.filter((topic) => !isNamed(topic));
}

/** "As a librarian, I want …" says who uses it. */
function hasRoles({ stories }: Spec): boolean {
  return stories.some(({ text }) => /^as an? [^,]+,/i.test(text));
}

function findVague(texts: readonly string[]): readonly OpenTopic[] {
  const words = texts
    .filter((text) => !text.includes("MUST mean:"))
    .flatMap((text) => [...text.matchAll(vagueWord)].map((found) => found[0].toLowerCase()));
  return [...new Set(words)].slice(0, vagueMax).map((word) => ({
    question: `What does “${word}” mean here, so that it can be checked?`,
    options: ["Nothing that is checked in this feature"],
    section: "criteria",
    statement: (answer) => `“${word}” MUST mean: ${answer}`,
  }));
}

/** Answers that a question lists itself: "Which colour: red, blue or green?" */
export function optionsIn(question: string): readonly string[] | undefined {
  const listed = /[:–—-]\s*(.+?)\??$/.exec(question)?.[1] ?? question.replace(/\?$/, "");
  const parts = listed.split(/,\s*(?:or\s+)?|\s+or\s+/).map((part) => part.trim());
  const isList =
    parts.length >= 2 &&
    parts.length <= 5 &&
    parts.every((part) => part !== "" && part.split(" ").length <= 8);
  return isList ? parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)) : undefined;
}
