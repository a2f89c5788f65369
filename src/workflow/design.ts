import { type Layout, layoutOf } from "./layout.ts";
import type { Entity, Item, Spec, Story } from "./spec.ts";
import { type Action, pluralOf, readAction } from "./statement.ts";
import { fill, meaningOf } from "./story-draft.ts";
import type { Survey } from "./survey.ts";
import { namedIn, type Technology } from "./technologies.ts";
import { isVerb } from "./verbs.ts";

/** What follows from a spec and a repository: the actions to be built, the entities behind them, and where their files go. Plan and tasks are written from it. */
export interface Design {
  readonly spec: Spec;
  readonly survey: Survey;
  readonly layout: Layout;
  readonly actions: readonly DesignedAction[];
  readonly entities: readonly DesignedEntity[];
  /** Requirements that are no action: rules that hold for some or all of them. */
  readonly rules: readonly (Item & { readonly story: number | undefined })[];
  readonly technologies: readonly (Technology & {
    readonly dependency: string;
    readonly from: string;
    readonly version: string;
  })[];
  readonly language: { readonly name: string; readonly from: string } | undefined;
  readonly projectType: string | undefined;
}

export interface DesignedAction {
  /** "A1". */
  readonly id: string;
  /** "upload photos". */
  readonly name: string;
  readonly action: Action;
  readonly requirement: Item;
  /** Undefined when it belongs to no story in particular. */
  readonly story: number | undefined;
  readonly entity: string | undefined;
}

export interface DesignedEntity {
  readonly name: string;
  readonly text: string;
  readonly attributes: readonly string[];
  /** Another entity it is part of. */
  readonly partOf: string | undefined;
  readonly stories: readonly number[];
}

export interface DesignOptions {
  readonly spec: Spec;
  readonly survey: Survey;
  /** What the caller says of technology, such as "TypeScript with Fastify". */
  readonly technology?: string | undefined;
}

export function designFeature({ spec, survey, technology = "" }: DesignOptions): Design {
  const said = namedIn(technology);
  const [found] = survey.languages;
  const language =
    said.languages[0] !== undefined
      ? { name: said.languages[0], from: "the caller" }
      : found && { name: found.name, from: found.files === 1 ? "1 file" : `${found.files} files` };
  const technologies = [
    ...said.technologies.map((named) => ({
      ...named,
      dependency: named.name,
      from: "the caller",
      version: "",
    })),
    ...survey.technologies.filter(
      ({ name }) => !said.technologies.some((named) => named.name === name),
    ),
  ];
  const entities = spec.entities
    .filter(({ name }) => !/^none\b/i.test(name))
    .map((entity) => designEntity(entity, spec));
  const actions: DesignedAction[] = [];
  const rules: (Item & { story: number | undefined })[] = [];
  for (const requirement of spec.requirements) {
    const action = actionOf(requirement.text);
    const story = findStory(requirement, spec.stories);
    if (!action) rules.push({ ...requirement, story });
    else
      actions.push({
        id: `A${actions.length + 1}`,
        name: `${action.verb} ${action.rest}`.trim(),
        action,
        requirement,
        story,
        entity: findEntity(action, entities),
      });
  }
  const topic = entities[0] ? pluralOf(entities[0].name.toLowerCase()) : undefined;
  const role = said.technologies.find(
    (named) => named.role === "web" || named.role === "cli" || named.role === "ui",
  )?.role;
  const projectType =
    role === "web"
      ? "web service"
      : role === "cli"
        ? "command-line tool"
        : role === "ui"
          ? "web application"
          : survey.projectType;
  return {
    spec,
    survey,
    layout: layoutOf({ survey, language: language?.name, topic }),
    actions,
    entities,
    rules,
    technologies,
    language,
    projectType,
  };
}

/** "Users MUST be able to upload photos" asks for an action; "Albums MUST be grouped by date" is a rule. */
function actionOf(text: string): Action | undefined {
  const found =
    /^(?:(?:When|Unless) .+?, )?[^.]*?\b(?:MUST|SHOULD|SHALL)\s+(?:be able to\s+|allow (?:users|them|people) to\s+)?([A-Za-z-]+)\s*(.*?)[.\s]*$/.exec(
      text.replace(/\[NEEDS CLARIFICATION[^\]]*\]/g, ""),
    );
  const verb = found?.[1]?.toLowerCase();
  if (
    verb === undefined ||
    verb === "not" ||
    verb === "be" ||
    verb === "have" ||
    !isVerb(verb) ||
    /^(?:keep|handle|use|support|ensure|hold)$/.test(verb) ||
    /^sure\b/.test(found?.[2] ?? "")
  )
    return undefined;
  return readAction(verb, found?.[2] ?? "");
}

/** The story that shares most words with it. */
function findStory(requirement: Item, stories: readonly Story[]): number | undefined {
  const wanted = wordsOf(requirement.text);
  const scored = stories.map((story) => {
    const has = wordsOf(`${story.title} ${story.text} ${story.scenarios.join(" ")}`);
    return { number: story.number, score: [...wanted].filter((word) => has.has(word)).length };
  });
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return best < 2 ? undefined : scored.find(({ score }) => score === best)?.number;
}

const common = new Set(
  "must able system with that this when from into have will user the and for are not limited clarification needs".split(
    " ",
  ),
);

function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return new Set(
    words
      .map((word) => word.replace(/(?:ies|es|s|ed|ing)$/, ""))
      .filter((word) => word.length > 2 && !common.has(word)),
  );
}

function designEntity({ name, text }: Entity, { stories }: Spec): DesignedEntity {
  const listed =
    /\b(?:has|have|with|attributes?:|fields?:|includes?:?)\s+(.+?)(?:[;.]|$)/i.exec(text)?.[1] ??
    /\(([^)]+)\)/.exec(text)?.[1] ??
    "";
  const attributes = listed
    .split(/,\s*(?:and\s+)?|\s+and\s+/)
    .map((part) => part.replace(/^(?:an?|the|its)\s+/i, "").trim())
    .filter((part) => part !== "" && part.split(" ").length <= 4);
  const named = [...text.matchAll(/User Story (\d+)/g)].map((found) => Number(found[1]));
  const head = name.toLowerCase().split(" ").at(-1) ?? "";
  const mentioned = stories
    .filter((story) =>
      `${story.title} ${story.text} ${story.scenarios.join(" ")}`.toLowerCase().includes(head),
    )
    .map(({ number }) => number);
  return {
    name,
    text,
    attributes,
    partOf:
      /\b(?:belongs to|part of)\s+(?:an? |the |one or more )?([A-Z][\w-]*(?: [A-Z][\w-]*)*)/.exec(
        text,
      )?.[1],
    stories: [...new Set(named.length > 0 ? named : mentioned)].sort((a, b) => a - b),
  };
}

function findEntity(
  { things, into }: Action,
  entities: readonly DesignedEntity[],
): string | undefined {
  const heads = [...things, ...(into === undefined ? [] : [into])].map(
    (thing) => thing.toLowerCase().split(" ").at(-1) ?? "",
  );
  const fronts = things.map((thing) => thing.toLowerCase().split(" ")[0] ?? "");
  return (
    entities.find(({ name }) => heads.includes(name.toLowerCase().split(" ").at(-1) ?? ""))?.name ??
    entities.find(({ name }) => fronts.includes(name.toLowerCase()))?.name
  );
}

/** What can be seen after an action, as far as its verb says. */
export function outcomeOf(action: Action): string | undefined {
  const meaning = meaningOf(action);
  return meaning && fill(meaning.outcome, action);
}

/** The version is the package's: "PostgreSQL by pg 8.13.1". */
export function nameWithVersion({
  name,
  dependency,
  version,
}: Design["technologies"][number]): string {
  if (version === "") return name;
  return dependency.toLowerCase() === name.toLowerCase()
    ? `${name} ${version}`
    : `${name} by ${dependency} ${version}`;
}
