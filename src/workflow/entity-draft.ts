import { joinWords, titleCase } from "./english.ts";
import { type Action, determiners, pluralOf, type Statement, singularOf } from "./statement.ts";
import { type Numbered, providing, type Told } from "./story-draft.ts";
import { meanings, pastForm } from "./verbs.ts";

interface KeptThing {
  readonly name: string;
  /** What else it is called. */
  readonly aliases: readonly string[];
  readonly attributes: readonly string[];
  readonly partOf: string | undefined;
  readonly has: readonly string[];
}

/** Things that actions keep, by their last word: a shared album is an album, a book record a book. */
export function findEntities(
  stories: readonly Told[],
  statements: readonly Statement[],
): readonly KeptThing[] {
  const actions = stories.flatMap(({ actions: told, isActorNamed }) =>
    told.filter(
      (action) =>
        action.kind && meanings[action.kind].keeps && (isActorNamed || !providesOne(action)),
    ),
  );
  const names = new Set(
    actions.flatMap(({ things, into }) => [...things, ...(into === undefined ? [] : [into])]),
  );
  const canonical = (name: string): string => {
    const parts = name.split(" ");
    const head = parts.at(-1) ?? name;
    if (parts.length > 1 && names.has(head)) return head;
    const [front = ""] = parts;
    return parts.length > 1 &&
      /^(?:record|entry|item|object|detail)$/.test(head) &&
      names.has(front)
      ? front
      : name;
  };
  return [...new Set([...names].map(canonical))].map((name) => ({
    name,
    aliases: [...names].filter((other) => canonical(other) === name),
    attributes: [
      ...new Set([
        ...actions
          .filter(({ things }) => things.map(canonical).includes(name))
          .flatMap(({ attributes }) => attributes),
        ...statements.flatMap((statement) => attributesSaid(statement, name)),
      ]),
    ],
    partOf: actions
      .filter(({ things, into }) => into !== undefined && things.map(canonical).includes(name))
      .map(({ into }) => canonical(into ?? ""))[0],
    has: [
      ...new Set(
        actions
          .filter(({ into }) => into !== undefined && canonical(into) === name)
          .flatMap(({ things }) => things.map(canonical)),
      ),
    ],
  }));
}

/** "Add dark mode to the settings page" makes one thing, once: nothing of it is kept. "Add comments to posts" makes many. */
function providesOne({ verb, rest, things }: Action): boolean {
  return (
    providing.test(verb) &&
    !things.some((thing) => rest.toLowerCase().includes(pluralOf(thing).toLowerCase()))
  );
}

/** "Albums are grouped by date", "Each task has a title and a due date". */
function attributesSaid({ kind, subject, text }: Statement, name: string): readonly string[] {
  if (
    kind !== "rule" ||
    subject === undefined ||
    singularOf(subject.replace(determiners, "")) !== name
  )
    return [];
  const listed = /\b(?:has|have) (?:an? |the )?(.+)$/i.exec(text)?.[1];
  const sorted = /\b(?:grouped|sorted|ordered|listed|shown) by (\w+)/i.exec(text)?.[1];
  const parts =
    listed === undefined
      ? []
      : listed
          .split(/,\s*(?:and\s+)?|\s+and\s+/)
          .map((part) => part.replace(determiners, "").trim());
  return [...parts, ...(sorted === undefined ? [] : [sorted])].filter(
    (part) => part !== "" && part.split(" ").length <= 3,
  );
}

export function writeEntity(
  { name, aliases, attributes, partOf, has }: KeptThing,
  stories: readonly Numbered[],
): string {
  const uses = stories.flatMap(({ number, actions }) => {
    const verbs = actions
      .filter(({ things, into }) =>
        [...things, into ?? ""].some((thing) => aliases.includes(thing)),
      )
      .map(({ verb }) => pastForm(verb));
    return verbs.length > 0 ? [`${joinWords([...new Set(verbs)])} in User Story ${number}`] : [];
  });
  const facts = [
    attributes.length > 0 ? `has ${joinWords(attributes)}` : "",
    partOf === undefined || partOf === name ? "" : `belongs to ${titleCase(partOf)}`,
    has.length > 0
      ? `contains ${joinWords(has.filter((thing) => thing !== name).map((thing) => titleCase(pluralOf(thing))))}`
      : "",
    ...uses,
  ];
  return `- **${titleCase(name)}**: ${facts.filter((fact) => fact !== "").join("; ")}.`;
}
