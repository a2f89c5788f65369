import { bodyOf, findSection } from "./markdown.ts";
import { parseSpec, type Spec } from "./spec.ts";
import { namedIn } from "./technologies.ts";

/** `checklists/requirements.md`: is the spec good enough to plan from? What a rule can judge is judged; the rest waits for a person, whose marks stay. */
interface Item {
  readonly text: string;
  /** Undefined for what only a person can say. */
  readonly judge?: (spec: Spec, text: string) => boolean;
}

const personSays = "(a person says)";
const vague =
  /\b(?:fast|quickly|easy|easily|simple|intuitive|user-friendly|secure|scalable|robust|reliable|modern|nice|etc|and so on)\b/i;

const groups: readonly { readonly title: string; readonly items: readonly Item[] }[] = [
  {
    title: "Content Quality",
    items: [
      {
        text: "No implementation details (languages, frameworks, databases)",
        judge: (spec) => !namesTechnology(requirementsText(spec)),
      },
      { text: "Focused on what users gain and the business needs" },
      { text: "Understandable for people who do not program" },
      { text: "All mandatory sections are filled in", judge: hasSections },
    ],
  },
  {
    title: "Requirement Completeness",
    items: [
      {
        text: "No [NEEDS CLARIFICATION] marks remain",
        judge: ({ openQuestions }) => openQuestions.length === 0,
      },
      {
        text: "Requirements are testable and unambiguous",
        judge: ({ requirements }) =>
          requirements.length > 0 &&
          !requirements.some(
            ({ text }) => vague.test(text) || text.includes("[NEEDS CLARIFICATION"),
          ),
      },
      {
        text: "Success criteria are measurable",
        judge: ({ criteria }) =>
          criteria.length > 0 &&
          criteria.every(({ text }) => /\d|\ball\b|\bevery\b|\bno\b/i.test(text)),
      },
      {
        text: "Success criteria name no technology",
        judge: ({ criteria }) => !namesTechnology(criteria.map(({ text }) => text).join("\n")),
      },
      {
        text: "All acceptance scenarios are defined",
        judge: ({ stories }) =>
          stories.length > 0 &&
          stories.every(
            ({ scenarios }) =>
              scenarios.length > 0 && !scenarios.some((scenario) => /\bis open: /.test(scenario)),
          ),
      },
      {
        text: "Edge cases are identified",
        judge: ({ edgeCases }) => edgeCases.some((edge) => !/^Open:/.test(edge)),
      },
      {
        text: "Scope is bounded",
        judge: ({ assumptions }) => assumptions.some((line) => /\bscope\b/i.test(line)),
      },
      {
        text: "Dependencies and assumptions are named",
        judge: ({ assumptions }) => assumptions.length > 0,
      },
    ],
  },
  {
    title: "Feature Readiness",
    items: [
      {
        text: "Every functional requirement has acceptance criteria",
        judge: ({ requirements, stories }) =>
          requirements.length > 0 &&
          stories.some(({ scenarios }) => scenarios.length > 0) &&
          stories.flatMap(({ scenarios }) => scenarios).length +
            requirements.filter(({ text }) => /MUST be|MUST NOT|hold|limited|accepted/i.test(text))
              .length >=
            requirements.length,
      },
      { text: "User scenarios cover the primary flows" },
      { text: "The feature meets the outcomes in Success Criteria" },
      {
        text: "No implementation details leak into the specification",
        judge: (spec) => !namesTechnology(requirementsText(spec)),
      },
    ],
  },
];

function namesTechnology(text: string): boolean {
  const { languages, technologies } = namedIn(text);
  // C, Go and Rust are words too.
  return (
    technologies.some(
      ({ name }) => !/^(?:Click|Express|Echo|Fiber|Rocket|Solid|Next)$/i.test(name),
    ) || languages.some((name) => !/^(?:C|Go|Rust|Shell|Swift|Dart)$/.test(name))
  );
}

function requirementsText({ requirements, stories, criteria }: Spec): string {
  return [...requirements, ...criteria]
    .map(({ text }) => text)
    .concat(stories.map(({ title, text }) => `${title}\n${text}`))
    .join("\n");
}

function hasSections(_spec: Spec, text: string): boolean {
  return [/^User Scenarios & Testing/i, /^Requirements/i, /^Success Criteria/i].every((title) => {
    const section = findSection(text, title);
    return section !== undefined && bodyOf(text, section).trim() !== "";
  });
}

export interface ChecklistInput {
  readonly title: string;
  readonly date: string;
  readonly specText: string;
  /** The checklist as it is, for the marks of people. */
  readonly before: string | undefined;
}

export function writeRequirementsChecklist({
  title,
  date,
  specText,
  before = "",
}: ChecklistInput): string {
  const text = specText.replaceAll("\r\n", "\n");
  const spec = parseSpec(text);
  const created = /\*\*Created\*\*:\s*(\S+)/.exec(before)?.[1] ?? date;
  const body = groups.map(
    ({ title: group, items }) =>
      `## ${group}\n\n${items.map((item) => writeItem(item, { spec, text, before })).join("\n")}`,
  );
  return `# Specification Quality Checklist: ${title}

**Purpose**: Is the specification complete and good enough to plan from?
**Created**: ${created}
**Feature**: [spec.md](../spec.md)

${body.join("\n\n")}

## Notes

- Marked by rule where a rule can tell; items ending in "${personSays}" wait for one.
`;
}

function writeItem(
  { text, judge }: Item,
  {
    spec,
    text: specText,
    before,
  }: { readonly spec: Spec; readonly text: string; readonly before: string },
): string {
  const shown = judge ? text : `${text} ${personSays}`;
  const wasMarked = before
    .split("\n")
    .some((line) => /^- \[[xX]\] /.test(line) && line.includes(text));
  return `- [${(judge ? judge(spec, specText) : wasMarked) ? "x" : " "}] ${shown}`;
}

export interface ChecklistState {
  readonly name: string;
  readonly total: number;
  readonly checked: number;
  /** Unchecked ones that no rule can tell and only a person ticks. */
  readonly forPerson: number;
}

export function countChecklist(name: string, text: string): ChecklistState {
  const boxes = text.match(/^\s*- \[[ xX]\].*$/gm) ?? [];
  const open = boxes.filter((box) => /^\s*- \[ \]/.test(box));
  return {
    name,
    total: boxes.length,
    checked: boxes.length - open.length,
    forPerson: open.filter((box) => box.trimEnd().endsWith(personSays)).length,
  };
}
