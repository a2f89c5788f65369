import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { readInside, writeInside } from "./artefacts.ts";
import { cleanName } from "./feature-name.ts";
import { bodyUnder } from "./markdown.ts";
import { findOpenQuestions, isMeasurable, parseSpec, type Spec, vagueWords } from "./spec.ts";
import { unnamedResult } from "./spec-draft.ts";
import { dateOf, needDocument, type StepFunction } from "./step.ts";

/** Appends questions about the quality of the requirements to `checklists/<domain>.md`. */
export const checklist: StepFunction = async (input) => {
  const { place, args, run, settings } = input;
  const spec = parseSpec(await needDocument(input, "spec.md", "specify"));
  const domain = cleanName(typeof args.domain === "string" ? args.domain : "") || "quality";
  if (domain === "requirements")
    throw new HallError(
      "VALIDATION",
      'domain "requirements" is reserved for the checklist of speckit.specify',
    );

  run.report(30, `Reading ${spec.requirements.length} requirements`);
  const path = `checklists/${domain}.md`;
  const file = join(place.path, path);
  const before = await readInside(place, file);
  const plain = before?.replaceAll("\r\n", "\n") ?? "";
  const items = findItems(spec, domain).filter((item) => !plain.includes(item));
  if (items.length === 0)
    return { text: `Nothing to add to ${file}`, files: [], details: { added: 0 } };

  const date = dateOf(settings.now());
  const name = domain.charAt(0).toUpperCase() + domain.slice(1);
  const head =
    plain === ""
      ? `# ${name} Checklist: ${spec.title}\n\n**Purpose**: Check the quality of the requirements (${domain}), not of the code.\n**Created**: ${date}\n**Feature**: [spec.md](../spec.md)\n`
      : plain.replace(/\n*$/, "\n");
  const used = [...plain.matchAll(/\bCHK(\d{3,})\b/g)].map((found) => Number(found[1]));
  const first = Math.max(0, ...used) + 1;
  const lines = items.map(
    (item, at) => `- [ ] CHK${String(first + at).padStart(3, "0")} ${item}\n`,
  );
  const after = `${head}\n## Requirement Quality (${date})\n\n${lines.join("")}`;
  await writeInside(place, file, before?.includes("\r\n") ? after.replaceAll("\n", "\r\n") : after);
  return {
    text: `${items.length} items added to ${file}`,
    files: [{ path, change: before === undefined ? "created" : "updated" }],
    details: { added: items.length },
  };
};

/** Topics that the requirements of a domain should cover. */
const domains: Readonly<Record<string, readonly string[]>> = {
  security: [
    "who may do what",
    "which sensitive actions are logged",
    "how long data is kept",
    "what happens after several failed attempts",
  ],
  ux: [
    "what an empty state shows",
    "how long waits are shown",
    "how failures are shown",
    "how keyboards and screen readers are supported",
  ],
  api: [
    "how failures are reported to the caller",
    "which rate limits apply",
    "how changes stay compatible",
    "which calls are safe to repeat",
  ],
  performance: [
    "how fast an action must be",
    "how much load is expected",
    "what happens above that load",
  ],
};

const usualTopics = [
  "who may use the feature",
  "what happens when an action fails, or its input is missing or wrong",
];

const itemsMax = 40;

function findItems({ requirements, criteria, edgeCases }: Spec, domain: string): readonly string[] {
  const topics = Object.hasOwn(domains, domain) ? domains[domain] : undefined;
  const vague = [...requirements, ...criteria].flatMap(({ id, text }) => {
    const word = vagueWords.exec(text)?.[0].toLowerCase();
    return word === undefined ? [] : [`Is “${word}” measurable? [Clarity, Spec ${id}]`];
  });
  return [
    ...(topics ?? usualTopics).map((topic) => `Do the requirements say ${topic}? [Gap]`),
    ...vague,
    ...criteria
      .filter(({ text }) => !isMeasurable(text))
      .map(({ id }) => `Is ${id} measurable? [Measurability, Spec ${id}]`),
    ...edgeCases
      .filter((edge) => edge.includes("?"))
      .map((edge) => `Is this edge case answered: ${edge} [Coverage, Edge Case]`),
  ].slice(0, itemsMax);
}

/** An item of `checklists/requirements.md` and the rule that ticks it. Without a rule, only a person can. */
type RequirementsItem = readonly [text: string, judge?: (spec: Spec, text: string) => boolean];

const forPerson = "(checked by a person)";

const requirementsItems: Readonly<Record<string, readonly RequirementsItem[]>> = {
  "Content Quality": [
    ["No implementation details (languages, frameworks, APIs)"],
    ["Focused on user value and business needs"],
    ["Written for non-technical stakeholders"],
    ["All mandatory sections completed", hasSections],
  ],
  "Requirement Completeness": [
    ["No [NEEDS CLARIFICATION] markers remain", ({ openQuestions }) => openQuestions.length === 0],
    ["Requirements are testable and unambiguous"],
    [
      "Success criteria are measurable",
      ({ criteria }) => criteria.length > 0 && criteria.every(({ text }) => isMeasurable(text)),
    ],
    ["Success criteria are technology-agnostic"],
    ["All acceptance scenarios are defined", hasScenarios],
    ["Edge cases are identified"],
    ["Scope is clearly bounded"],
    ["Dependencies and assumptions identified"],
  ],
  "Feature Readiness": [
    ["All functional requirements have clear acceptance criteria"],
    ["User scenarios cover primary flows"],
    ["Feature meets measurable outcomes defined in Success Criteria"],
    ["No implementation details leak into specification"],
  ],
};

function hasScenarios({ stories }: Spec): boolean {
  const isOpen = (line: string): boolean =>
    findOpenQuestions(line).length > 0 || line.includes(unnamedResult);
  return (
    stories.length > 0 &&
    stories.every(({ scenarios }) => scenarios.length > 0 && !scenarios.some(isOpen))
  );
}

function hasSections(_spec: Spec, text: string): boolean {
  const mandatory = [/^User Scenarios & Testing/i, /^Requirements/i, /^Success Criteria/i];
  return mandatory.every((title) => bodyUnder(text, title) !== "");
}

/** `checklists/requirements.md`: rules tick what they can judge, a person ticks the rest. */
export function writeRequirementsChecklist({
  title,
  date,
  specText,
  before = "",
}: {
  readonly title: string;
  readonly date: string;
  readonly specText: string;
  /** The checklist so far: items that a person ticked stay ticked. */
  readonly before: string | undefined;
}): string {
  const text = specText.replaceAll("\r\n", "\n");
  const spec = parseSpec(text);
  const created = /\*\*Created\*\*:\s*(\S+)/.exec(before)?.[1] ?? date;
  const ticked = before.split("\n").filter((line) => /^- \[[xX]\] /.test(line));
  const writeItem = ([words, judge]: RequirementsItem): string => {
    const isTicked = judge ? judge(spec, text) : ticked.some((line) => line.includes(words));
    return `- [${isTicked ? "x" : " "}] ${words}${judge ? "" : ` ${forPerson}`}`;
  };
  const body = Object.entries(requirementsItems).map(
    ([group, items]) => `## ${group}\n\n${items.map(writeItem).join("\n")}`,
  );
  return `# Specification Quality Checklist: ${title}

**Purpose**: Check that the specification is complete enough to plan from
**Created**: ${created}
**Feature**: [spec.md](../spec.md)

${body.join("\n\n")}

## Notes

- Rules tick what they can judge; a person ticks items that end in "${forPerson}".
`;
}

export interface ChecklistState {
  readonly name: string;
  readonly total: number;
  readonly checked: number;
  /** Unchecked items that only a person can tick. */
  readonly forPerson: number;
}

export function countChecklist(name: string, text: string): ChecklistState {
  const boxes = text.match(/^\s*- \[[ xX]\].*$/gm) ?? [];
  const open = boxes.filter((box) => /^\s*- \[ \]/.test(box));
  // Checklists of earlier versions end such items in "(a person says)".
  const isForPerson = (box: string): boolean =>
    /\((?:checked by a person|a person says)\)\s*$/.test(box);
  return {
    name,
    total: boxes.length,
    checked: boxes.length - open.length,
    forPerson: open.filter(isForPerson).length,
  };
}
