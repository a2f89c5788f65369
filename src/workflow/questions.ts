import type { Spec } from "./spec.ts";

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
