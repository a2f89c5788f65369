import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { type FeaturePlace, readInside, writeInside } from "./artefacts.ts";
import { bodyOf, bodyUnder, findSection, oneLine, sectionsOf } from "./markdown.ts";
import { dateOf, type StepFunction, type StepInput, stringsOf } from "./step.ts";

/** `.specify/memory/constitution.md`: the principles that every plan is checked against. */
export interface Constitution {
  readonly text: string;
  readonly version: string | undefined;
  readonly principles: readonly Principle[];
  /** Placeholders of the template that are not filled in. */
  readonly blanks: readonly string[];
}

export interface Principle {
  readonly name: string;
  readonly text: string;
}

function constitutionPath({ project }: Pick<FeaturePlace, "project">): string {
  return join(project, ".specify", "memory", "constitution.md");
}

export async function readConstitution(place: FeaturePlace): Promise<Constitution | undefined> {
  const text = await readInside(place, constitutionPath(place));
  return text === undefined ? undefined : parseConstitution(text.replaceAll("\r\n", "\n"));
}

function parseConstitution(text: string): Constitution {
  const withoutComments = (part: string): string => part.replace(/<!--[\s\S]*?-->/g, "");
  const core = findSection(text, /^Core Principles/i);
  const heads = sectionsOf(text).filter(
    (section) =>
      core && section.level === core.level + 1 && section.from > core.from && section.to <= core.to,
  );
  return {
    text,
    version: /\*\*Version\*\*:\s*(\d+\.\d+\.\d+)/.exec(text)?.[1],
    principles: heads
      .map((section) => ({
        name: section.title.replace(/^(?:[IVX]+|\d+)\.\s*/, ""),
        text: withoutComments(bodyOf(text, section)).trim(),
      }))
      .filter(({ name }) => !/^\[[A-Z0-9_]+\]$/.test(name)),
    blanks: [...new Set(withoutComments(text).match(/\[[A-Z][A-Z0-9_]{2,}\]/g) ?? [])],
  };
}

/** Writes or amends the constitution from given principles, or from rules in the project's notes. */
export const constitution: StepFunction = async (input) => {
  const { place, args, run, settings } = input;
  run.report(20, "Reading the project's principles");
  const file = constitutionPath(place);
  const before = await readConstitution(place);
  const given = stringsOf(args.principles)
    .filter((text) => text.trim() !== "")
    .map(readPrinciple);
  const isEmpty = given.length === 0 && !before?.principles.length;
  const noted = isEmpty ? await findInNotes(input) : [];
  const principles = mergePrinciples(before?.principles ?? [], [...given, ...noted]);
  if (principles.length === 0)
    throw new HallError(
      "EXECUTION",
      "no principles given, and none found in AGENTS.md, CLAUDE.md or CONTRIBUTING.md",
      { hint: 'Give principles such as "Small: changes stay under 400 lines".' },
    );

  const date = dateOf(settings.now());
  const version = nextVersion(before, principles);
  const details = { version, principles: principles.map(({ name }) => name) };
  const isComplete = before !== undefined && before.blanks.length === 0;
  if (isComplete && version === before.version)
    return {
      text: `No change: ${file} is version ${version}`,
      files: [],
      next: "specify",
      details,
    };

  const name =
    typeof args.project_name === "string" && args.project_name.trim() !== ""
      ? args.project_name
      : nameOf(before, place.project);
  const text =
    isComplete && before.principles.length > 0
      ? amend(before, { principles, version, date })
      : writeNew(name, before, { principles, version, date });
  run.report(80, "Writing the constitution");
  await writeInside(place, file, text);
  return {
    text: `Constitution version ${version} written to ${file}`,
    files: [{ path: file, change: before ? "updated" : "created" }],
    notes:
      noted.length > 0
        ? ["the principles were found in the project's notes; review them before you rely on them"]
        : [],
    next: "specify",
    details,
  };
};

/** "Test first: tests are written before the code". */
function readPrinciple(text: string): Principle {
  const found = /^([^:.]{2,60}):\s+([\s\S]+)$/.exec(text.trim());
  return found
    ? { name: oneLine(found[1] ?? ""), text: (found[2] ?? "").trim() }
    : { name: oneLine(text).split(" ").slice(0, 6).join(" "), text: text.trim() };
}

const principlesMax = 12;

const ruleHeading = /^(?:rules?|principles?|conventions?|guidelines?|regeln)\b/i;
const ruleWords = /\b(?:must|never|always|shall|no skipped|do not)\b/i;

/** Rules in the project's notes: the bullets under a heading such as "Rules", and other lines that state one. */
async function findInNotes({ place }: StepInput): Promise<readonly Principle[]> {
  const files = ["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"];
  const texts = await Promise.all(
    files.map(async (file) => (await readInside(place, join(place.project, file))) ?? ""),
  );
  const found = files.flatMap((file, at) => {
    const text = (texts[at] ?? "").replaceAll("\r\n", "\n").replace(/^```[\s\S]*?^```/gm, "");
    const listed = joinedBullets(bodyUnder(text, ruleHeading));
    const stated = joinedBullets(text).filter((line) => line.length > 12 && ruleWords.test(line));
    return [...new Set([...listed, ...stated])].map((rule) => ({ rule, file }));
  });
  return found.slice(0, principlesMax).map(({ rule, file }) => {
    const { name, text } = readPrinciple(rule);
    return { name: name.replace(/[`*]/g, ""), text: `${text} (from ${file})` };
  });
}

/** Bullets and lines, with wrapped lines joined to their bullet. */
function joinedBullets(text: string): readonly string[] {
  return text
    .replace(/\n[ \t]+(?![-*\s])/g, " ")
    .split("\n")
    .map((line) => line.replace(/^\s*(?:[-*]|\d+\.)\s+/, "").trim())
    .filter((line) => line !== "" && line.length < 300 && !line.startsWith("#"));
}

function mergePrinciples(
  known: readonly Principle[],
  added: readonly Principle[],
): readonly Principle[] {
  const byName = new Map(known.map((principle) => [principle.name.toLowerCase(), principle]));
  for (const principle of added) byName.set(principle.name.toLowerCase(), principle);
  return [...byName.values()];
}

/** Minor if a principle is new, patch if only words changed. Principles are never removed here. */
function nextVersion(before: Constitution | undefined, principles: readonly Principle[]): string {
  if (!before?.version) return "1.0.0";
  const [major = 0, minor = 0, patch = 0] = before.version.split(".").map(Number);
  const old = principles.map(({ name }) => before.principles.find(isNamed(name)));
  if (old.includes(undefined)) return `${major}.${minor + 1}.0`;
  const isReworded = principles.some(({ text }, at) => old[at]?.text.trim() !== text.trim());
  return isReworded || before.blanks.length > 0 ? `${major}.${minor}.${patch + 1}` : before.version;
}

function nameOf(before: Constitution | undefined, project: string): string {
  const titled = /^# (.+?) Constitution$/m.exec(before?.text ?? "")?.[1];
  return titled && !titled.startsWith("[") ? titled : (project.split(/[/\\]/).at(-1) ?? "Project");
}

interface Edition {
  readonly principles: readonly Principle[];
  readonly version: string;
  readonly date: string;
}

const numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/** The principles as sections, numbered after those that exist. */
function writePrinciples(principles: readonly Principle[], existing = 0): string {
  return principles
    .map(({ name, text }, at) => {
      const number = existing + at;
      return `### ${numerals[number] ?? number + 1}. ${name}\n\n${text}\n`;
    })
    .join("\n");
}

const isNamed = (name: string) => (principle: Principle) =>
  principle.name.toLowerCase() === name.toLowerCase();

function writeNew(name: string, before: Constitution | undefined, edition: Edition): string {
  const { principles, version, date } = edition;
  return `${writeReport(before, edition)}
# ${name} Constitution

## Core Principles

${writePrinciples(principles)}
## Governance

Every plan is checked against these principles. A change is a new version: major if a principle is removed, minor if one is
added, patch if only the wording changes.

**Version**: ${version} | **Ratified**: ${date} | **Last Amended**: ${date}
`;
}

/** Changes principles in place and adds new ones after the last; the rest of the text stays. */
function amend(before: Constitution, edition: Edition): string {
  const { principles, version, date } = edition;
  let text = before.text.replace(/^<!--\s*Sync Impact Report[\s\S]*?-->\n?/, "");
  const added = principles.filter(({ name }) => !before.principles.some(isNamed(name)));
  for (const { name, text: words } of principles) {
    const old = before.principles.find(isNamed(name));
    if (old && old.text !== words && old.text !== "") text = text.replace(old.text, () => words);
  }
  if (added.length > 0) {
    const blocks = writePrinciples(added, before.principles.length);
    const at = text.search(/^## (?!Core Principles)/m);
    text =
      at < 0
        ? `${text.trimEnd()}\n\n${blocks}`
        : `${text.slice(0, at)}${blocks}\n${text.slice(at)}`;
  }
  text = text
    .replace(/(\*\*Version\*\*:\s*)\d+\.\d+\.\d+/, `$1${version}`)
    .replace(/(\*\*Last Amended\*\*:\s*)\S+/, `$1${date}`);
  return `${writeReport(before, edition)}\n${text}`;
}

function writeReport(before: Constitution | undefined, { principles, version }: Edition): string {
  const added = principles
    .filter(({ name }) => !before?.principles.some(isNamed(name)))
    .map(({ name }) => name.replaceAll("--", "- -"));
  return `<!--
Sync Impact Report
Version: ${before?.version ?? "none"} → ${version}
Added: ${added.join("; ") || "none"}
Review: the Constitution Check of unfinished plans
-->`;
}
