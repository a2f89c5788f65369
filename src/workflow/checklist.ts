import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { readInside, writeInside } from "./artefacts.ts";
import { cleanName } from "./feature.ts";
import { namedIn } from "./manifest.ts";
import { bodyOf, findSection } from "./markdown.ts";
import { findOpenTopics, parseSpec, type Spec } from "./spec.ts";
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
  const file = join(place.path, "checklists", `${domain}.md`);
  const before = await readInside(place, file);
  const plain = before?.replaceAll("\r\n", "\n") ?? "";
  const items = findItems(spec, domain).filter(([, text]) => !plain.includes(text));
  if (items.length === 0)
    return { text: `Nothing to add to ${file}`, files: [], details: { added: 0 } };

  const after = appendItems(items, plain, {
    domain,
    title: spec.title,
    date: dateOf(settings.now()),
  });
  await writeInside(place, file, before?.includes("\r\n") ? after.replaceAll("\n", "\r\n") : after);
  return {
    text: `${items.length} items added to ${file}`,
    files: [
      { path: `checklists/${domain}.md`, change: before === undefined ? "created" : "updated" },
    ],
    details: { added: items.length },
  };
};

type QualityItem = readonly [group: string, text: string];

/** `plain` is the checklist so far; empty for a new one. */
function appendItems(
  items: readonly QualityItem[],
  plain: string,
  {
    domain,
    title,
    date,
  }: { readonly domain: string; readonly title: string; readonly date: string },
): string {
  const name = domain.charAt(0).toUpperCase() + domain.slice(1);
  const head =
    plain === ""
      ? `# ${name} Checklist: ${title}\n\n**Purpose**: Check the quality of the requirements (${domain}), not of the code.\n**Created**: ${date}\n**Feature**: [spec.md](../spec.md)\n`
      : plain.replace(/\n*$/, "\n");
  const used = [...plain.matchAll(/\bCHK(\d{3,})\b/g)].map((found) => Number(found[1]));
  let number = Math.max(0, ...used) + 1;

  const body = [...new Set(items.map(([group]) => group))].map((group) => {
    const lines = items
      .filter((item) => item[0] === group)
      .map(([, text]) => `- [ ] CHK${String(number++).padStart(3, "0")} ${text}`);
    return `\n## ${group}${plain === "" ? "" : ` (${date})`}\n\n${lines.join("\n")}\n`;
  });
  return `${head}${body.join("")}`;
}

const itemsMax = 40;

/** Topics each domain's requirements should cover, with the words that show they do. */
const domains: Readonly<Record<string, readonly (readonly [string, RegExp])[]>> = {
  security: [
    ["who may do what", /\b(?:only|owner|role|permission|signed in|admin)/i],
    ["which sensitive actions are logged", /\b(?:log|audit|history)/i],
    ["how long data is kept", /\b(?:kept|retention|deleted after)/i],
    ["what happens after several failed attempts", /\b(?:failed attempts|lock)/i],
  ],
  ux: [
    ["what an empty state shows", /\b(?:empty|no .+ yet)/i],
    ["how long waits are shown", /\b(?:progress|loading|wait)/i],
    ["how failures are shown", /\b(?:error|fail|refused)/i],
    ["how keyboards and screen readers are supported", /\b(?:keyboard|accessib|screen reader)/i],
  ],
  api: [
    ["how failures are reported to the caller", /\b(?:error|fail|refused|status)/i],
    ["which rate limits apply", /\b(?:rate|limit|per (?:second|minute|hour))/i],
    ["how changes stay compatible", /\b(?:version|compatib)/i],
    ["which calls are safe to repeat", /\b(?:idempot|twice|once|again)/i],
  ],
  performance: [
    ["how fast an action must be", /\b\d[\d.,]*\s?(?:ms|s|seconds?|minutes?)\b/i],
    ["how much load is expected", /\b\d[\d.,]*\s?(?:users|items|requests|gb|mb|records)/i],
    ["what happens above that load", /\b(?:limit|exceed|overload|refused)/i],
  ],
};

export const vagueWords =
  /\b(?:fast|quickly|easy|easily|simple|intuitive|user-friendly|secure|scalable|robust|reliable|modern|nice|appropriate|reasonable|etc|and so on)\b/i;

function findItems(spec: Spec, domain: string): readonly QualityItem[] {
  const all = [...spec.requirements, ...spec.criteria];
  const text = [...all.map((item) => item.text), ...spec.edgeCases].join("\n");
  const gaps = [
    ...(domains[domain] ?? [])
      .filter(([, words]) => !words.test(text))
      .map(([what]) => `Do the requirements say ${what}?`),
    ...findOpenTopics(spec).map(({ question }) => `Is this decided: ${question}`),
  ];
  const vague = all.flatMap(({ id, text: words }) => {
    const word = vagueWords.exec(words)?.[0];
    return word === undefined
      ? []
      : [`Is “${word.toLowerCase()}” measurable? [Clarity, Spec ${id}]`];
  });
  const unmeasured = spec.criteria
    .filter((criterion) => !/\d|\ball\b|\bevery\b/i.test(criterion.text))
    .map(({ id }) => `Is ${id} measurable? [Measurability, Spec ${id}]`);
  const uncovered = [
    ...spec.stories
      .filter(({ scenarios }) => !scenarios.some((line) => /refus|fail|not |error/i.test(line)))
      .map(
        ({ number }) => `Does User Story ${number} cover failures? [Coverage, Spec US${number}]`,
      ),
    ...spec.edgeCases
      .filter((edge) => edge.includes("?"))
      .map((edge) => `Is this edge case answered: ${edge} [Coverage, Edge Case]`),
  ];
  return [
    ...gaps.map((question) => ["Completeness", `${question} [Gap]`] as const),
    ...vague.map((question) => ["Clarity", question] as const),
    ...unmeasured.map((question) => ["Measurability", question] as const),
    ...uncovered.map((question) => ["Coverage", question] as const),
  ].slice(0, itemsMax);
}

/** An item of `checklists/requirements.md` and the rule that ticks it. Without a rule, only a person can. */
type RequirementsItem = readonly [text: string, judge?: (spec: Spec, text: string) => boolean];

const forPerson = "(checked by a person)";
const isFreeOfTechnology = (spec: Spec): boolean => !namesTechnology(textOf(spec));

const requirementsItems: Readonly<Record<string, readonly RequirementsItem[]>> = {
  "Content Quality": [
    ["No implementation details (languages, frameworks, APIs)", isFreeOfTechnology],
    ["Focused on user value and business needs"],
    ["Written for non-technical stakeholders"],
    ["All mandatory sections completed", hasSections],
  ],
  "Requirement Completeness": [
    ["No [NEEDS CLARIFICATION] markers remain", ({ openQuestions }) => openQuestions.length === 0],
    [
      "Requirements are testable and unambiguous",
      ({ requirements }) =>
        requirements.length > 0 &&
        !requirements.some(({ text }) => vagueWords.test(text) || isMarked(text)),
    ],
    [
      "Success criteria are measurable",
      ({ criteria }) =>
        criteria.length > 0 &&
        criteria.every(({ text }) => /\d|\ball\b|\bevery\b|\bno\b/i.test(text)),
    ],
    [
      "Success criteria are technology-agnostic",
      ({ criteria }) => !namesTechnology(criteria.map(({ text }) => text).join("\n")),
    ],
    [
      "All acceptance scenarios are defined",
      ({ stories }) =>
        stories.length > 0 &&
        stories.every(
          ({ scenarios }) =>
            scenarios.length > 0 &&
            !scenarios.some((line) => isMarked(line) || /\bis open: /.test(line)),
        ),
    ],
    [
      "Edge cases are identified",
      ({ edgeCases }) => edgeCases.some((edge) => !edge.startsWith("Open:")),
    ],
    [
      "Scope is clearly bounded",
      ({ assumptions }) => assumptions.some((line) => /\bscope\b/i.test(line)),
    ],
    ["Dependencies and assumptions identified", ({ assumptions }) => assumptions.length > 0],
  ],
  "Feature Readiness": [
    ["All functional requirements have clear acceptance criteria"],
    ["User scenarios cover primary flows"],
    ["Feature meets measurable outcomes defined in Success Criteria"],
    ["No implementation details leak into specification", isFreeOfTechnology],
  ],
};

function isMarked(text: string): boolean {
  return text.includes("[NEEDS CLARIFICATION");
}

/** Technologies whose names are also everyday words. */
const everyday = /^(?:Click|Express|Echo|Fiber|Rocket|Solid|Next|C|Go|Rust|Shell|Swift|Dart)$/i;

function namesTechnology(text: string): boolean {
  const { languages, technologies } = namedIn(text);
  return [...languages, ...technologies.map(({ name }) => name)].some(
    (name) => !everyday.test(name),
  );
}

function textOf({ requirements, stories, criteria }: Spec): string {
  return [
    ...[...requirements, ...criteria].map(({ text }) => text),
    ...stories.map(({ title, text }) => `${title}\n${text}`),
  ].join("\n");
}

function hasSections(_spec: Spec, text: string): boolean {
  return [/^User Scenarios & Testing/i, /^Requirements/i, /^Success Criteria/i].every((title) => {
    const section = findSection(text, title);
    return section !== undefined && bodyOf(text, section).trim() !== "";
  });
}

export interface RequirementsChecklistInput {
  readonly title: string;
  readonly date: string;
  readonly specText: string;
  /** The checklist so far: items that a person ticked stay ticked. */
  readonly before: string | undefined;
}

/** `checklists/requirements.md`: rules tick what they can judge, a person ticks the rest. */
export function writeRequirementsChecklist({
  title,
  date,
  specText,
  before = "",
}: RequirementsChecklistInput): string {
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
  return {
    name,
    total: boxes.length,
    checked: boxes.length - open.length,
    // Checklists of earlier versions end such items in "(a person says)".
    forPerson: open.filter((box) => /\((?:checked by a person|a person says)\)\s*$/.test(box))
      .length,
  };
}
