import { join } from "node:path";
import { HallError } from "../base/errors.ts";
import { readInside, replaceFile } from "./artefacts.ts";
import {
  type Constitution,
  constitutionPath,
  type Principle,
  parseConstitution,
} from "./constitution-file.ts";
import { oneLine } from "./markdown.ts";
import { checkInside } from "./place.ts";
import { dateOf, type Step, type StepInput } from "./step.ts";

/** What every plan is held against: principles a person gives, or the rules that the project's notes already state. */
export const constitution: Step = async (input) => {
  const { place, args, run, settings } = input;
  run.say(20, "Reading what the project says of itself");
  const file = constitutionPath(place);
  const found = await readInside(place, file);
  const before =
    found === undefined ? undefined : parseConstitution(found.replaceAll("\r\n", "\n"));
  const given = Array.isArray(args.principles)
    ? args.principles
        .map(String)
        .filter((text) => text.trim() !== "")
        .map(readPrinciple)
    : [];
  const noted =
    given.length > 0 || (before && before.principles.length > 0) ? [] : await findInNotes(input);
  const principles = mergePrinciples(before?.principles ?? [], [...given, ...noted]);
  if (principles.length === 0) {
    throw new HallError(
      "EXECUTION",
      "there are no principles: neither `principles` nor AGENTS.md, CLAUDE.md or CONTRIBUTING.md names any",
      {
        hint: 'Call speckit.constitution with principles: ["Name: what must hold", …].',
      },
    );
  }
  const date = dateOf(settings.now());
  const version = nextVersion(before, principles);
  if (before && version === before.version && before.blanks.length === 0) {
    return {
      text: `Nothing to change: ${file} is version ${version}`,
      files: [],
      next: "specify",
      details: { version, principles: principles.map(({ name }) => name) },
    };
  }
  const name =
    typeof args.project_name === "string" && args.project_name.trim() !== ""
      ? args.project_name
      : nameOf(before, place.project);
  const text =
    before && before.principles.length > 0 && before.blanks.length === 0
      ? amend(before, principles, { version, date })
      : write({ name, principles, version, date, before });
  await checkInside(place, file);
  run.say(80, "Writing the constitution");
  await replaceFile(file, text);
  return {
    text: `Constitution version ${version} written at ${file}${noted.length > 0 ? `\nIts principles are rules found in the project's notes; read them before you rely on them.` : ""}`,
    files: [{ path: file, change: before ? "updated" : "created" }],
    next: "specify",
    details: { version, principles: principles.map((principle) => principle.name) },
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

/** Rules a project's notes state in so many words. */
async function findInNotes({ place }: StepInput): Promise<readonly Principle[]> {
  const files = ["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"];
  const texts = await Promise.all(
    files.map(async (file) => ({
      file,
      text: (await readInside(place, join(place.project, file))) ?? "",
    })),
  );
  return texts
    .flatMap(({ file, text }) =>
      text
        .replace(/^```[\s\S]*?^```/gm, "")
        .split("\n")
        .map((line) => line.replace(/^\s*[-*]\s+/, "").trim())
        .filter(
          (line) =>
            line.length > 12 &&
            line.length < 300 &&
            /\b(?:must|never|always|shall|no skipped|do not)\b/i.test(line),
        )
        .map((line) => ({
          name: oneLine(line).replace(/[`*]/g, "").split(" ").slice(0, 6).join(" "),
          text: `${line} (from ${file})`,
        })),
    )
    .slice(0, principlesMax);
}

function mergePrinciples(
  known: readonly Principle[],
  added: readonly Principle[],
): readonly Principle[] {
  const byName = new Map(known.map((principle) => [principle.name.toLowerCase(), principle]));
  for (const principle of added) byName.set(principle.name.toLowerCase(), principle);
  return [...byName.values()];
}

/** Major when one is gone or was turned round, minor when one is new, patch when words changed. */
function nextVersion(before: Constitution | undefined, principles: readonly Principle[]): string {
  if (!before?.version) return "1.0.0";
  const [major = 0, minor = 0, patch = 0] = before.version.split(".").map(Number);
  const names = new Set(before.principles.map(({ name }) => name.toLowerCase()));
  if (principles.some(({ name }) => !names.has(name.toLowerCase())))
    return `${major}.${minor + 1}.0`;
  const isReworded = principles.some(({ name, text }) =>
    before.principles.some(
      (old) => old.name.toLowerCase() === name.toLowerCase() && old.text.trim() !== text.trim(),
    ),
  );
  return isReworded || before.blanks.length > 0 ? `${major}.${minor}.${patch + 1}` : before.version;
}

function nameOf(before: Constitution | undefined, project: string): string {
  const titled = /^# (.+?) Constitution$/m.exec(before?.text ?? "")?.[1];
  return titled && !titled.startsWith("[") ? titled : (project.split(/[/\\]/).at(-1) ?? "Project");
}

interface Writing {
  readonly name: string;
  readonly principles: readonly Principle[];
  readonly version: string;
  readonly date: string;
  readonly before: Constitution | undefined;
}

const numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

function write({ name, principles, version, date, before }: Writing): string {
  return `${report({ principles, version, before })}
# ${name} Constitution

## Core Principles

${principles.map((principle, at) => `### ${numerals[at] ?? at + 1}. ${principle.name}\n\n${principle.text}`).join("\n\n")}

## Governance

The plan of every feature is checked against these principles, twice. A change of them is a new version: the first number when a principle goes, the
second when one comes, the third when only words change.

**Version**: ${version} | **Ratified**: ${date} | **Last Amended**: ${date}
`;
}

/** What others wrote stays; new principles come behind the last, changed ones in their place. */
function amend(
  before: Constitution,
  principles: readonly Principle[],
  { version, date }: { readonly version: string; readonly date: string },
): string {
  let text = before.text.replace(/^<!--\s*Sync Impact Report[\s\S]*?-->\n?/, "");
  const added = principles.filter(
    ({ name }) => !before.principles.some((old) => old.name.toLowerCase() === name.toLowerCase()),
  );
  for (const { name, text: words } of principles) {
    const old = before.principles.find((known) => known.name.toLowerCase() === name.toLowerCase());
    if (old && old.text !== words && old.text !== "") text = text.replace(old.text, () => words);
  }
  if (added.length > 0) {
    const blocks = added
      .map(
        (principle, at) =>
          `### ${numerals[before.principles.length + at] ?? before.principles.length + at + 1}. ${principle.name}\n\n${principle.text}\n`,
      )
      .join("\n");
    const at = text.search(/^## (?!Core Principles)/m);
    text =
      at < 0
        ? `${text.trimEnd()}\n\n${blocks}`
        : `${text.slice(0, at)}${blocks}\n${text.slice(at)}`;
  }
  text = text
    .replace(/(\*\*Version\*\*:\s*)\d+\.\d+\.\d+/, `$1${version}`)
    .replace(/(\*\*Last Amended\*\*:\s*)\S+/, `$1${date}`);
  return `${report({ principles, version, before })}\n${text}`;
}

function report({
  principles,
  version,
  before,
}: Pick<Writing, "principles" | "version" | "before">): string {
  const known = new Set(before?.principles.map(({ name }) => name.toLowerCase()) ?? []);
  const added = principles
    .filter(({ name }) => !known.has(name.toLowerCase()))
    .map(({ name }) => name);
  const list = (names: readonly string[]): string =>
    names.map((name) => name.replaceAll("--", "- -")).join("; ") || "none";
  return `<!--
Sync Impact Report
Version: ${before?.version ?? "none"} → ${version}
Added: ${list(added)}
To look at again: the Constitution Check of plans that are not finished
-->`;
}
