import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { readInside, replaceFile } from "./artefacts.ts";
import { findDoubts } from "./doubts.ts";
import { cleanName } from "./numbering.ts";
import { checkInside } from "./place.ts";
import { parseSpec, type Spec } from "./spec.ts";
import { dateOf, needDocument, type Step } from "./step.ts";

/** Questions about how good the requirements are, for one domain; appended to what is there, never in its place. */
export const checklist: Step = async (input) => {
  const { place, args, run, settings } = input;
  const spec = parseSpec(await needDocument(input, "spec.md", "specify"));
  const domain = cleanName(typeof args.domain === "string" ? args.domain : "") || "quality";
  if (domain === "requirements")
    throw new HallError(
      "VALIDATION",
      "checklists/requirements.md is written by speckit.specify; choose another domain",
    );
  run.say(30, `Looking at ${spec.requirements.length} requirements`);
  const file = join(place.path, "checklists", `${domain}.md`);
  const before = await readInside(place, file);
  const plain = before?.replaceAll("\r\n", "\n") ?? "";
  const items = findItems(spec, domain).filter(({ text }) => !plain.includes(text));
  if (items.length === 0)
    return { text: `Nothing to add to ${file}`, files: [], details: { added: 0 } };
  const first =
    Math.max(0, ...[...plain.matchAll(/\bCHK(\d{3,})\b/g)].map((found) => Number(found[1]))) + 1;
  const date = dateOf(settings.now());
  const head =
    before === undefined
      ? `# ${domain.charAt(0).toUpperCase()}${domain.slice(1)} Checklist: ${spec.title}\n\n**Purpose**: Are the requirements good enough, as to ${domain}? Each item asks about the requirements, not about the code.\n**Created**: ${date}\n**Feature**: [spec.md](../spec.md)\n`
      : plain.replace(/\n*$/, "\n");
  const groups = [...new Set(items.map(({ group }) => group))];
  let number = first;
  const body = groups.map(
    (group) =>
      `\n## ${group}${before === undefined ? "" : ` (${date})`}\n\n${items
        .filter((item) => item.group === group)
        .map(({ text }) => `- [ ] CHK${String(number++).padStart(3, "0")} ${text}`)
        .join("\n")}\n`,
  );
  const after = `${head}${body.join("")}`;
  await checkInside(place, file);
  await replaceFile(file, before?.includes("\r\n") ? after.replaceAll("\n", "\r\n") : after);
  return {
    text: `${items.length} items added to ${file}`,
    files: [
      { path: `checklists/${domain}.md`, change: before === undefined ? "created" : "updated" },
    ],
    details: { added: items.length },
  };
};

interface Item {
  readonly group: string;
  readonly text: string;
}

const itemsMax = 40;

/** What each domain's requirements say, by the words they would have. */
const domains: Readonly<Record<string, readonly (readonly [string, RegExp])[]>> = {
  security: [
    ["who may do what", /\b(?:only|owner|role|permission|signed in|admin)/i],
    ["what is logged of sensitive actions", /\b(?:log|audit|history)/i],
    ["how long data is kept", /\b(?:kept|retention|deleted after)/i],
    ["what happens after several failed attempts", /\b(?:failed attempts|lock)/i],
  ],
  ux: [
    ["what is shown while there is nothing yet", /\b(?:empty|no .+ yet)/i],
    ["what is shown while something takes long", /\b(?:progress|loading|wait)/i],
    ["how a person learns that something failed", /\b(?:error|fail|refused|says why)/i],
    ["how it is used with a keyboard or a screen reader", /\b(?:keyboard|accessib|screen reader)/i],
  ],
  api: [
    ["how failures are told to the caller", /\b(?:error|fail|refused|status)/i],
    ["how often it may be called", /\b(?:rate|limit|per (?:second|minute|hour))/i],
    ["how changes stay compatible", /\b(?:version|compatib)/i],
    ["whether a call may safely be repeated", /\b(?:idempot|twice|once|again)/i],
  ],
  performance: [
    ["how fast an action must be", /\b\d[\d.,]*\s?(?:ms|s|seconds?|minutes?)\b/i],
    [
      "how much it must cope with",
      /\b\d[\d.,]*\s?(?:users|items|requests|gb|mb|records)|\b(?:thousand|million)/i,
    ],
    ["what happens past that", /\b(?:limit|exceed|overload|refused)/i],
  ],
};

function findItems(spec: Spec, domain: string): readonly Item[] {
  const all = [...spec.requirements, ...spec.criteria];
  const text = [...all.map((item) => item.text), ...spec.edgeCases].join("\n");
  const asked = (domains[domain] ?? [])
    .filter(([, words]) => !words.test(text))
    .map(([what]) => ({ group: "Completeness", text: `Do the requirements say ${what}? [Gap]` }));
  const doubts = findDoubts(spec).map(({ question }) => ({
    group: "Completeness",
    text: `Is this decided: ${question} [Gap]`,
  }));
  const vague = all.flatMap(({ id, text: words }) =>
    [
      ...words.matchAll(
        /\b(fast|quickly|easy|easily|simple|intuitive|secure|scalable|robust|reliable|modern|appropriate|reasonable)\b/gi,
      ),
    ].map((found) => ({
      group: "Clarity",
      text: `Is “${found[1]?.toLowerCase()}” said in terms one can check? [Clarity, Spec ${id}]`,
    })),
  );
  const unmeasured = spec.criteria
    .filter((item) => !/\d|\ball\b|\bevery\b/i.test(item.text))
    .map(({ id }) => ({
      group: "Measurability",
      text: `Can ${id} be measured by somebody who did not build the feature? [Measurability, Spec ${id}]`,
    }));
  const scenarios = spec.stories.flatMap(({ number, scenarios: known }) =>
    known.some((scenario) => /refus|fail|not |no longer|error/i.test(scenario))
      ? []
      : [
          {
            group: "Coverage",
            text: `Does User Story ${number} say what happens when it fails? [Coverage, Spec US${number}]`,
          },
        ],
  );
  const edges = spec.edgeCases
    .filter((edge) => edge.includes("?"))
    .map((edge) => ({
      group: "Coverage",
      text: `Is this edge case answered: ${edge} [Coverage, Edge Case]`,
    }));
  return [...asked, ...doubts, ...vague, ...unmeasured, ...scenarios, ...edges].slice(0, itemsMax);
}
