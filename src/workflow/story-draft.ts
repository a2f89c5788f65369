import { article, clip, joinWords } from "./english.ts";
import { oneLine } from "./markdown.ts";
import {
  type Action,
  determiners,
  pluralOf,
  type Statement,
  splitDetails,
  upperFirst,
} from "./statement.ts";
import { meanings, thirdPerson, type VerbMeaning } from "./verbs.ts";

/** One thing somebody can do, and what must be so while they do. */
export interface Told {
  readonly statement: Statement;
  readonly actor: string;
  readonly isActorNamed: boolean;
  readonly actions: readonly Action[];
}

export interface Numbered extends Told {
  readonly number: number;
}

const storiesMax = 8;

export function findStories(statements: readonly Statement[]): readonly Told[] {
  const named = statements.find(({ actor }) => actor !== undefined)?.actor;
  const told = statements
    .filter(
      ({ kind, isForbidden, actions }) =>
        kind === "capability" && !isForbidden && actions.length > 0,
    )
    .slice(0, storiesMax)
    .map((statement) => ({
      statement,
      actor: statement.actor ?? named ?? guessActor(statements),
      isActorNamed: statement.actor !== undefined,
      actions: statement.actions,
    }));
  const [first] = statements;
  return told.length > 0 || !first
    ? told
    : [{ statement: first, actor: guessActor(statements), isActorNamed: false, actions: [] }];
}

/** Who it must be, where only one kind of person can do such a thing. */
function guessActor(statements: readonly Statement[]): string {
  const text = statements.map((statement) => statement.text).join(" ");
  if (
    /\b(?:fix|refactor|flaky|test suite|dependenc(?:y|ies)|upgrade|migrate|ci pipeline)\b/i.test(
      text,
    )
  )
    return "developer";
  if (/\b(command|cli|terminal|flag|script)\b|--\w/i.test(text)) return "person at the terminal";
  if (/\b(api|endpoint|webhook|http)\b/i.test(text)) return "caller of the API";
  return "person who uses it";
}

/** What others work on comes before them; otherwise as told. */
export function orderStories(stories: readonly Told[]): readonly Told[] {
  const makes = (story: Told): readonly string[] =>
    story.actions
      .filter(({ kind }) => kind === "create" || kind === "upload")
      .flatMap(({ things }) => things.map(headOf));
  const uses = (story: Told): readonly string[] =>
    story.actions.flatMap(({ things }) => things.map(headOf));
  const left = [...stories];
  const ordered: Told[] = [];
  while (left.length > 0) {
    const at = left.findIndex(
      (story) =>
        !left.some(
          (other) =>
            other !== story &&
            makes(other).some(
              (thing) => uses(story).includes(thing) && !makes(story).includes(thing),
            ),
        ),
    );
    ordered.push(...left.splice(Math.max(0, at), 1));
  }
  return ordered;
}

function headOf(thing: string): string {
  return thing.split(" ").at(-1) ?? thing;
}

export function titleOf(story: Told | undefined, description: string): string {
  const text = story && story.actions.length > 0 ? describeActions(story.actions) : description;
  return upperFirst(clip(oneLine(text).replace(/[.;:]+$/, ""), 70));
}

/** "create, edit and delete book records". */
export function describeActions(actions: readonly Action[]): string {
  const groups: { verbs: string[]; rest: string }[] = [];
  for (const { verb, rest } of actions) {
    const last = groups.at(-1);
    if (last && plainOf(last.rest) === plainOf(rest)) last.verbs.push(verb);
    else groups.push({ verbs: [verb], rest: shorten(rest, last?.rest) });
  }
  return joinWords(groups.map(({ verbs, rest }) => `${joinWords(verbs)} ${plainOf(rest)}`.trim()));
}

/** What was named just before is "them". */
function shorten(rest: string, before: string | undefined): string {
  const named = before?.replace(determiners, "");
  if (named === undefined || named === "" || !(rest === named || rest.startsWith(`${named} `)))
    return rest;
  return `them${rest.slice(named.length)}`;
}

function plainOf(rest: string): string {
  return rest.split(/ with | so that /)[0] ?? rest;
}

export function writeStory(
  story: Numbered,
  all: readonly Numbered[],
  statements: readonly Statement[],
): string {
  const { number, statement, actor, actions } = story;
  const title = clip(
    upperFirst(actions.length > 0 ? describeActions(actions) : statement.text),
    80,
  );
  const scenarios = [
    ...actions.flatMap((action) =>
      story.isActorNamed ? [writeScenario(action, actor)] : writeSystemScenarios(action, story),
    ),
    ...findConditions(story, all, statements),
  ];
  const body =
    scenarios.length > 0
      ? scenarios
      : [
          `**Given** ${article(actor)} reaches it, **When** they use it, **Then** what they see is open: the description names no action`,
        ];
  const purpose = statement.purpose === undefined ? "" : ` What it is for: ${statement.purpose}.`;
  return `### User Story ${number} - ${title} (Priority: P${Math.min(number, 9)})

${upperFirst(statement.text)}.

**Why this priority**: ${whyFirst(story, all)}${purpose}

**Independent Test**: ${writeTest(story)}

**Acceptance Scenarios**:

${body.map((text, at) => `${at + 1}. ${text}.`).join("\n")}`;
}

/** A meaning of the table's, about what an action is done to. */
export function fill(text: string, { things, verb }: Action): string {
  const one = things[0] ?? `result of "${verb}"`;
  const many = things.length > 0 ? joinWords(things.map(pluralOf)) : `results of "${verb}"`;
  return text
    .replaceAll("a {one}", article(one))
    .replaceAll("{one}", one)
    .replaceAll("{many}", many);
}

/** A verb says what can be seen where it is done to something, or needs nothing it is done to. */
export function meaningOf({ kind, things }: Action): VerbMeaning | undefined {
  return kind && (things.length > 0 || !meanings[kind].keeps) ? meanings[kind] : undefined;
}

function writeScenario(action: Action, actor: string): string {
  const meaning = meaningOf(action);
  const condition = tellCondition(action);
  if (condition !== undefined && meaning) {
    const then =
      action.kind === "receive"
        ? `${article(actor)} ${thirdPerson(action.verb)} ${action.rest}`
        : `${article(actor)} can ${action.verb} ${action.rest}`;
    return `**Given** ${fill(meaning.given, action)}, **When** ${condition}, **Then** ${then}, and ${fill(meaning.outcome, action)}`;
  }
  if (!meaning) {
    return `**Given** ${article(actor)} who may do it, **When** they ${action.verb} ${action.rest}, **Then** what can be seen afterwards is open: the description does not say`;
  }
  return `**Given** ${fill(meaning.given, action)}, **When** ${article(actor)} ${thirdPerson(action.verb)} ${action.rest}, **Then** ${fill(meaning.outcome, action)}`;
}

function tellCondition({ condition }: Action): string | undefined {
  return condition?.startsWith("not: ") ? `it is not so that ${condition.slice(5)}` : condition;
}

export const providing =
  /^(?:add|introduce|implement|provide|build|create|make|have|support|include|offer|use)$/;

/** What the system does, where the description names nobody who does it. */
function writeSystemScenarios(action: Action, { actor, statement }: Told): readonly string[] {
  const { verb, rest } = action;
  if (providing.test(verb)) {
    const details = splitDetails(statement.text);
    const then =
      details.length > 0
        ? details.map((detail) => `this holds: ${detail}`)
        : ["what they see is open: the description does not say"];
    return then.map(
      (outcome) =>
        `**Given** ${rest.replace(/ to (?=the |an? )/, " for ")} in place, **When** ${article(actor)} makes use of it, **Then** ${outcome}`,
    );
  }
  const meaning = meaningOf(action);
  if (action.kind === "repair" && meaning)
    return [
      `**Given** ${meaning.given}, **When** ${article(actor)} repeats them, **Then** ${meaning.outcome}`,
    ];
  const does = `the system ${thirdPerson(verb)} ${rest}`.trim();
  const when = tellCondition(action) ?? `${article(actor)} asks for it`;
  if (!meaning)
    return [
      `**Given** the feature in place, **When** ${when}, **Then** ${does}; how they see it is open: the description does not say`,
    ];
  return [
    `**Given** ${fill(meaning.given, action)}, **When** ${when}, **Then** ${does}: ${fill(meaning.outcome, action)}`,
  ];
}

/** Rules with a condition belong to the story whose things they name, else to the first. */
function findConditions(
  story: Numbered,
  all: readonly Numbered[],
  statements: readonly Statement[],
): readonly string[] {
  return statements
    .filter((statement) => statement.condition !== undefined && statement.kind === "rule")
    .filter((statement) => {
      const home =
        all.find(({ actions }) =>
          actions.some(({ things }) =>
            things.some((thing) => statement.text.toLowerCase().includes(headOf(thing))),
          ),
        ) ?? all[0];
      return home?.number === story.number;
    })
    .map((statement) => {
      const rest = statement.text
        .replace(/^(?:when|if|whenever|once|after) .+?, (?:then )?/i, "")
        .replace(/,? (?:when|if|whenever|unless) .+$/i, "");
      return `**Given** ${article(story.actor)} at work, **When** ${statement.condition}, **Then** ${rest}`;
    });
}

function whyFirst(story: Numbered, all: readonly Numbered[]): string {
  const made = new Set(
    story.actions
      .filter(({ kind }) => kind === "create" || kind === "upload")
      .flatMap(({ things }) => things.map(headOf)),
  );
  const users = all.filter(
    (other) =>
      other.number > story.number &&
      other.actions.some(({ things }) => things.some((thing) => made.has(headOf(thing)))),
  );
  const needed = all.filter(
    (other) =>
      other.number < story.number &&
      other.actions.some(
        ({ kind, things }) =>
          (kind === "create" || kind === "upload") &&
          things.some((thing) =>
            story.actions.some((action) => action.things.map(headOf).includes(headOf(thing))),
          ),
      ),
  );
  if (users.length > 0)
    return `User ${users.length === 1 ? "Story" : "Stories"} ${joinWords(users.map(({ number }) => String(number)))} work${users.length === 1 ? "s" : ""} on what it creates.`;
  if (needed.length > 0)
    return `It works on what User ${needed.length === 1 ? "Story" : "Stories"} ${joinWords(needed.map(({ number }) => String(number)))} create${needed.length === 1 ? "s" : ""}.`;
  return story.number === 1
    ? "It is what the description names first."
    : `The description names it after User Story ${story.number - 1}; nothing else depends on it.`;
}

function writeTest({ actions, actor, isActorNamed }: Numbered): string {
  const [action] = actions;
  const meaning = action && meaningOf(action);
  if (!action || !meaning || !isActorNamed)
    return `${upperFirst(article(actor))} goes through the scenarios below with nothing else of this feature in place.`;
  const needs =
    action.kind === "create" || action.kind === "upload"
      ? "starting from nothing"
      : `with ${pluralOf(action.things[0] ?? "example")} prepared by hand`;
  return `${upperFirst(needs)}, ${article(actor)} can ${action.verb} ${action.rest}, and ${fill(meaning.outcome, action)}.`;
}

/** What can go wrong with each kind of action, once. */
export function findEdges(stories: readonly Numbered[]): readonly string[] {
  const edges = stories.flatMap(({ number, actions }) =>
    actions.flatMap((action) => {
      const meaning = meaningOf(action);
      return meaning ? [`${fill(meaning.edge, action)} (User Story ${number})`] : [];
    }),
  );
  const seen = new Set<string>();
  const unique = edges.filter((edge) => {
    const words = edge.replace(/ \(User Story \d+\)$/, "");
    return !seen.has(words) && seen.add(words);
  });
  return unique.length > 0
    ? unique.slice(0, 8)
    : ["Open: the description names no action whose failure could be described."];
}
