import { bodyOf, bulletsOf, findSection, type MarkdownSection, sectionsOf } from "./markdown.ts";

/** A parsed spec.md: ours, one of spec-kit, or one written by hand. Missing parts are empty. */
export interface Spec {
  readonly title: string;
  readonly input: string;
  readonly stories: readonly Story[];
  readonly edgeCases: readonly string[];
  readonly requirements: readonly Item[];
  readonly entities: readonly Entity[];
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

export interface Entity {
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

function parseEntity(bullet: string): Entity[] {
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
