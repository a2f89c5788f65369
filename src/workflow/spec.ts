import { escapePattern } from "../base/text.ts";
import { bodyOf, bodyUnder, bulletsOf, type MarkdownSection, sectionsOf } from "./markdown.ts";

/** A parsed spec.md: ours, one of spec-kit, or one written by hand. Missing parts are empty. */
export interface Spec {
  readonly title: string;
  readonly input: string;
  readonly stories: readonly Story[];
  readonly edgeCases: readonly string[];
  readonly requirements: readonly Item[];
  readonly entities: readonly { readonly name: string; readonly text: string }[];
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

export function parseSpec(text: string): Spec {
  const plain = text.replaceAll("\r\n", "\n");
  const sections = sectionsOf(plain);
  const title = /^#\s+Feature Specification:\s*(.+)$/m.exec(plain)?.[1]?.trim();
  return {
    title: title ?? sections[0]?.title ?? "",
    input: /\*\*Input\*\*:\s*(.+)$/m.exec(plain)?.[1]?.trim() ?? "",
    stories: sections
      .filter((section) => storyTitle.test(section.title))
      .map((section) => parseStory(plain, section)),
    edgeCases: bulletsOf(bodyUnder(plain, /^Edge Cases/i)),
    requirements: itemsOf(bodyUnder(plain, /^Requirements/i), "FR"),
    entities: bulletsOf(bodyUnder(plain, /^Key Entities/i)).flatMap(parseEntity),
    criteria: itemsOf(bodyUnder(plain, /^Success Criteria/i), "SC"),
    assumptions: bulletsOf(bodyUnder(plain, /^Assumptions/i)),
    openQuestions: findOpenQuestions(plain),
  };
}

const storyTitle = /^User Story (\d+)\s*[-–—:]\s*(.+?)\s*(?:\(Priority:\s*(P\d+)\))?\s*(?:🎯.*)?$/i;

function parseStory(text: string, section: MarkdownSection): Story {
  const [, number = "0", title = "", priority = "P3"] = storyTitle.exec(section.title) ?? [];
  const body = bodyOf(text, section);
  const scenarios = body.matchAll(/^\s*\d+\.\s+(\*\*Given\*\*.+(?:\n\s{2,}\S.*)*)$/gm);
  return {
    number: Number(number),
    title,
    priority: priority.toUpperCase(),
    text: body.trim().split("\n\n")[0]?.trim() ?? "",
    independentTest: /\*\*Independent Test\*\*:\s*(.+)$/m.exec(body)?.[1]?.trim() ?? "",
    scenarios: [...scenarios].map(([, scenario = ""]) => scenario.replace(/\s+/g, " ")),
  };
}

/** `- **FR-001**: text`. */
function itemsOf(body: string, prefix: "FR" | "SC"): readonly Item[] {
  const form = `^\\s*[-*]\\s+\\*{0,2}(${prefix}-\\d{3,}[a-z]?)\\*{0,2}:?\\*{0,2}:?\\s*(.+)$`;
  return [...body.matchAll(new RegExp(form, "gm"))].map(([, id = "", text = ""]) => ({
    id,
    text: text.trim(),
  }));
}

/** `**Album**: a named list of photos`. */
function parseEntity(bullet: string): Spec["entities"] {
  const [, name, text = ""] = /^\*\*(.+?):?\*\*:?\s*(.*)$/.exec(bullet) ?? [];
  return name === undefined ? [] : [{ name: name.trim(), text: text.trim() }];
}

/** Stands for a mark without a question. */
const unspecified = "unspecified";

/** The open questions marked in a text. Comments and code are skipped. */
export function findOpenQuestions(text: string): readonly string[] {
  const read = text
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, "")
    .replace(/`[^`\n]*`/g, "");
  const marks = read.matchAll(/\[NEEDS CLARIFICATION(?::\s*([^\]]*))?\]/g);
  return [...marks].map(([, question]) => question?.trim() || unspecified);
}

export function markOf(question: string): string {
  return `[NEEDS CLARIFICATION: ${question.replaceAll("]", ")")}]`;
}

/** Replaces the first mark with this question by an answer. */
export function answerOpenQuestion(text: string, question: string, answer: string): string {
  const escaped = question === unspecified ? "" : `:\\s*${escapePattern(question)}\\s*`;
  return text.replace(new RegExp(`\\[NEEDS CLARIFICATION${escaped}\\]`), () => answer);
}

/** Words that cannot be checked without a figure. */
export const vagueWords =
  /\b(?:fast|quickly|easy|easily|simple|intuitive|user-friendly|secure|scalable|robust|reliable|modern|nice|appropriate|reasonable|etc|and so on)\b/i;

/** A figure, or a word that can be counted. */
export function isMeasurable(text: string): boolean {
  return /\d|\ball\b|\bevery\b|\bno\b/i.test(text);
}
