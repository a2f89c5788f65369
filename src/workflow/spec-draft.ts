import { type Doubt, findDoubts } from "./doubts.ts";
import { oneLine } from "./markdown.ts";
import { parseSpec } from "./spec.ts";
import { type Action, determiners, parseStatements, pluralOf, type Statement, singularOf, upperFirst } from "./statement.ts";
import { meanings, pastForm, thirdPerson, type VerbMeaning } from "./verbs.ts";

/** A spec from a description alone: every sentence of it says something the description says, or something that follows from one of its verbs. */
export interface SpecInput {
  readonly description: string;
  /** The folder's name. */
  readonly branch: string;
  readonly date: string;
}

/** The parts of a spec, by heading, each as Markdown: a model may write some of them instead. */
export interface SpecParts {
  readonly title: string;
  readonly stories: string;
  readonly edgeCases: string;
  readonly requirements: string;
  readonly entities: string;
  readonly criteria: string;
  readonly assumptions: string;
}

export function draftSpec({ description }: Pick<SpecInput, "description">): SpecParts {
  // What is said to be undecided is asked about, not required.
  const statements = parseStatements(description).filter(({ text }) => !/^(?:maybe|perhaps|possibly|tbd)\b/i.test(text));
  const stories = orderStories(findStories(statements));
  const requirements = findRequirements(statements);
  const entities = findEntities(stories, statements);
  const titled = stories.map((story, at) => ({ ...story, number: at + 1 }));
  const edges = findEdges(titled);
  return {
    title: titleOf(stories[0], description),
    stories: titled.map((story) => writeStory(story, titled, statements)).join("\n\n---\n\n"),
    edgeCases: edges.map((edge) => `- ${edge}`).join("\n"),
    requirements: requirements.map((text, at) => `- **${idOf("FR", at)}**: ${text}`).join("\n"),
    entities: entities.map((entity) => writeEntity(entity, titled)).join("\n") || "- None: the description names nothing that has to be kept.",
    criteria: writeCriteria(titled, requirements),
    assumptions: writeAssumptions(titled),
  };
}

export function writeSpec(parts: SpecParts, { description, branch, date }: SpecInput): string {
  return `# Feature Specification: ${parts.title}

**Feature Branch**: \`${branch}\`
**Created**: ${date}
**Status**: Draft
**Input**: User description: "${oneLine(description).replaceAll("\\|", "|").replaceAll('"', "'")}"

## User Scenarios & Testing *(mandatory)*

${parts.stories}

### Edge Cases

${parts.edgeCases}

## Requirements *(mandatory)*

### Functional Requirements

${parts.requirements}

### Key Entities

${parts.entities}

## Success Criteria *(mandatory)*

### Measurable Outcomes

${parts.criteria}

## Assumptions

${parts.assumptions}
`;
}

const openQuestionsMax = 3;
/** What must not be guessed: who, who may, what was left undecided. */
const markWeight = 50;

/** The questions that have to be answered before anybody can plan, in the requirements; at most three. */
export function markDoubts(parts: SpecParts, input: SpecInput): SpecParts {
  const spec = parseSpec(writeSpec(parts, input));
  const marked: readonly Doubt[] = findDoubts(spec)
    .filter(({ weight }) => weight >= markWeight)
    .slice(0, openQuestionsMax - spec.openQuestions.length);
  if (marked.length === 0) return parts;
  const first = spec.requirements.length;
  const lines = marked.map(({ question, statement }, at) => `- **${idOf("FR", first + at)}**: ${statement(`[NEEDS CLARIFICATION: ${question}]`)}`);
  return { ...parts, requirements: [parts.requirements, ...lines].join("\n") };
}

function idOf(prefix: "FR" | "SC", at: number): string {
  return `${prefix}-${String(at + 1).padStart(3, "0")}`;
}

/** One thing somebody can do, and what must be so while they do. */
interface Told {
  readonly statement: Statement;
  readonly actor: string;
  readonly isActorNamed: boolean;
  readonly actions: readonly Action[];
}

interface Numbered extends Told {
  readonly number: number;
}

const storiesMax = 8;

function findStories(statements: readonly Statement[]): readonly Told[] {
  const named = statements.find(({ actor }) => actor !== undefined)?.actor;
  const told = statements
    .filter(({ kind, isForbidden, actions }) => kind === "capability" && !isForbidden && actions.length > 0)
    .slice(0, storiesMax)
    .map((statement) => ({
      statement,
      actor: statement.actor ?? named ?? guessActor(statements),
      isActorNamed: statement.actor !== undefined,
      actions: statement.actions,
    }));
  const [first] = statements;
  return told.length > 0 || !first ? told : [{ statement: first, actor: guessActor(statements), isActorNamed: false, actions: [] }];
}

/** Who it must be, where only one kind of person can do such a thing. */
function guessActor(statements: readonly Statement[]): string {
  const text = statements.map((statement) => statement.text).join(" ");
  if (/\b(?:fix|refactor|flaky|test suite|dependenc(?:y|ies)|upgrade|migrate|ci pipeline)\b/i.test(text)) return "developer";
  if (/\b(command|cli|terminal|flag|script)\b|--\w/i.test(text)) return "person at the terminal";
  if (/\b(api|endpoint|webhook|http)\b/i.test(text)) return "caller of the API";
  return "person who uses it";
}

/** What others work on comes before them; otherwise as told. */
function orderStories(stories: readonly Told[]): readonly Told[] {
  const makes = (story: Told): readonly string[] =>
    story.actions.filter(({ kind }) => kind === "create" || kind === "upload").flatMap(({ things }) => things.map(headOf));
  const uses = (story: Told): readonly string[] => story.actions.flatMap(({ things }) => things.map(headOf));
  const left = [...stories];
  const ordered: Told[] = [];
  while (left.length > 0) {
    const at = left.findIndex(
      (story) => !left.some((other) => other !== story && makes(other).some((thing) => uses(story).includes(thing) && !makes(story).includes(thing))),
    );
    ordered.push(...left.splice(Math.max(0, at), 1));
  }
  return ordered;
}

function headOf(thing: string): string {
  return thing.split(" ").at(-1) ?? thing;
}

function titleOf(story: Told | undefined, description: string): string {
  const text = story && story.actions.length > 0 ? describeActions(story.actions) : description;
  return upperFirst(clip(oneLine(text).replace(/[.;:]+$/, ""), 70));
}

/** "create, edit and delete book records". */
function describeActions(actions: readonly Action[]): string {
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
  if (named === undefined || named === "" || !(rest === named || rest.startsWith(`${named} `))) return rest;
  return `them${rest.slice(named.length)}`;
}

function plainOf(rest: string): string {
  return rest.split(/ with | so that /)[0] ?? rest;
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** At the end of a word. */
function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).replace(/\s+\S*$/, "")} …`;
}

function writeStory(story: Numbered, all: readonly Numbered[], statements: readonly Statement[]): string {
  const { number, statement, actor, actions } = story;
  const title = clip(upperFirst(actions.length > 0 ? describeActions(actions) : statement.text), 80);
  const scenarios = [
    ...actions.flatMap((action) => (story.isActorNamed ? [writeScenario(action, actor, statement.condition)] : writeSystemScenarios(action, story))),
    ...findConditions(story, all, statements),
  ];
  const body =
    scenarios.length > 0
      ? scenarios
      : [`**Given** ${article(actor)} reaches it, **When** they use it, **Then** what they see is open: the description names no action`];
  const purpose = statement.purpose === undefined ? "" : ` What it is for: ${statement.purpose}.`;
  return `### User Story ${number} - ${title} (Priority: P${Math.min(number, 9)})

${upperFirst(statement.text)}.

**Why this priority**: ${whyFirst(story, all)}${purpose}

**Independent Test**: ${writeTest(story)}

**Acceptance Scenarios**:

${body.map((text, at) => `${at + 1}. ${text}.`).join("\n")}`;
}

function article(noun: string): string {
  if (/staff$/.test(noun)) return `a member of the ${noun}`;
  return `${/^[aeiou]/i.test(noun) && !/^(?:user|uni|one)/i.test(noun) ? "an" : "a"} ${noun}`;
}

function fill(text: string, { things, verb }: Action): string {
  const one = things[0] ?? `result of "${verb}"`;
  const many = things.length > 0 ? joinWords(things.map(pluralOf)) : `results of "${verb}"`;
  return text.replaceAll("{one}", one).replaceAll("{many}", many);
}

/** A verb says what can be seen where it is done to something, or needs nothing it is done to. */
function meaningOf({ kind, things }: Action): VerbMeaning | undefined {
  return kind && (things.length > 0 || !meanings[kind].keeps) ? meanings[kind] : undefined;
}

function writeScenario(action: Action, actor: string, condition: string | undefined): string {
  const meaning = meaningOf(action);
  if (condition !== undefined && meaning) {
    const then =
      action.kind === "receive" ? `${article(actor)} ${thirdPerson(action.verb)} ${action.rest}` : `${article(actor)} can ${action.verb} ${action.rest}`;
    return `**Given** ${fill(meaning.given, action)}, **When** ${condition}, **Then** ${then}, and ${fill(meaning.outcome, action)}`;
  }
  if (!meaning) {
    return `**Given** ${article(actor)} who may do it, **When** they ${action.verb} ${action.rest}, **Then** what can be seen afterwards is open: the description does not say`;
  }
  return `**Given** ${fill(meaning.given, action)}, **When** ${article(actor)} ${thirdPerson(action.verb)} ${action.rest}, **Then** ${fill(meaning.outcome, action)}`;
}

const providing = /^(?:add|introduce|implement|provide|build|create|make|have|support|include|offer|use)$/;

/** What the system does, where the description names nobody who does it. */
function writeSystemScenarios(action: Action, { actor, statement }: Told): readonly string[] {
  const { verb, rest } = action;
  if (providing.test(verb)) {
    const details = splitDetails(statement.text);
    const then = details.length > 0 ? details.map((detail) => `this holds: ${detail}`) : ["what they see is open: the description does not say"];
    return then.map(
      (outcome) => `**Given** ${rest.replace(/ to (?=the |an? )/, " for ")} in place, **When** ${article(actor)} makes use of it, **Then** ${outcome}`,
    );
  }
  const meaning = meaningOf(action);
  if (action.kind === "repair" && meaning) return [`**Given** ${meaning.given}, **When** ${article(actor)} repeats them, **Then** ${meaning.outcome}`];
  const does = `the system ${thirdPerson(verb)} ${rest}`;
  if (!meaning)
    return [`**Given** the feature in place, **When** ${article(actor)} asks for it, **Then** ${does}; how they see it is open: the description does not say`];
  return [`**Given** ${fill(meaning.given, action)}, **When** ${article(actor)} asks for it, **Then** ${does}: ${fill(meaning.outcome, action)}`];
}

/** Rules with a condition belong to the story whose things they name, else to the first. */
function findConditions(story: Numbered, all: readonly Numbered[], statements: readonly Statement[]): readonly string[] {
  return statements
    .filter((statement) => statement.condition !== undefined && statement.kind === "rule")
    .filter((statement) => {
      const home =
        all.find(({ actions }) => actions.some(({ things }) => things.some((thing) => statement.text.toLowerCase().includes(headOf(thing))))) ?? all[0];
      return home?.number === story.number;
    })
    .map((statement) => {
      const rest = statement.text.replace(/^(?:when|if|whenever|once|after) .+?, (?:then )?/i, "").replace(/,? (?:when|if|whenever|unless) .+$/i, "");
      return `**Given** ${article(story.actor)} at work, **When** ${statement.condition}, **Then** ${rest}`;
    });
}

function whyFirst(story: Numbered, all: readonly Numbered[]): string {
  const made = new Set(story.actions.filter(({ kind }) => kind === "create" || kind === "upload").flatMap(({ things }) => things.map(headOf)));
  const users = all.filter((other) => other.number > story.number && other.actions.some(({ things }) => things.some((thing) => made.has(headOf(thing)))));
  const needed = all.filter(
    (other) =>
      other.number < story.number &&
      other.actions.some(
        ({ kind, things }) =>
          (kind === "create" || kind === "upload") && things.some((thing) => story.actions.some((action) => action.things.map(headOf).includes(headOf(thing)))),
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
  if (!action || !meaning || !isActorNamed) return `${upperFirst(article(actor))} goes through the scenarios below with nothing else of this feature in place.`;
  const needs =
    action.kind === "create" || action.kind === "upload" ? "starting from nothing" : `with ${pluralOf(action.things[0] ?? "example")} prepared by hand`;
  return `${upperFirst(needs)}, ${article(actor)} can ${action.verb} ${action.rest}, and ${fill(meaning.outcome, action)}.`;
}

/** What can go wrong with each kind of action, once. */
function findEdges(stories: readonly Numbered[]): readonly string[] {
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
  return unique.length > 0 ? unique.slice(0, 8) : ["Open: the description names no action whose failure could be described."];
}

function findRequirements(statements: readonly Statement[]): readonly string[] {
  return statements
    .flatMap((statement) => (statement.kind === "capability" ? requireCapability(statement) : [requireRule(statement)]))
    .map((text) => `${text}.`);
}

function requireCapability(statement: Statement): readonly string[] {
  const { actor, actions, condition, isForbidden, text } = statement;
  const when = condition === undefined ? "" : `When ${condition}, `;
  const details = splitDetails(text);
  const own = actions.map(({ verb, kind, rest }) => {
    if (actor !== undefined && /^(?:get|receive)$/.test(verb))
      return `${when}${when === "" ? upperFirst(pluralOf(actor)) : pluralOf(actor)} MUST ${verb} ${rest}`;
    if (actor !== undefined)
      return `${when}${when === "" ? upperFirst(pluralOf(actor)) : pluralOf(actor)} ${isForbidden ? "MUST NOT" : "MUST"} be able to ${verb} ${rest}`.trim();
    const system = `${when}${when === "" ? "The" : "the"} system ${isForbidden ? "MUST NOT" : "MUST"}`;
    if (kind === "repair") return upperFirst(`${rest} MUST be ${pastForm(verb)}`);
    if (providing.test(verb)) return `${system} provide ${rest.replace(/ to (?=the |an? )/, " for ")}`;
    return `${system} ${verb} ${rest}`.trim();
  });
  return [...own, ...details.map((detail) => `For “${clip(describeActions(actions), 60)}” this MUST hold: ${detail}`)];
}

/** What follows a colon. */
function splitDetails(text: string): readonly string[] {
  const behind = /:\s+(.+)$/.exec(text)?.[1];
  return behind === undefined ? [] : behind.split(/[,;]\s+(?:then\s+|and\s+)?/).filter((detail) => detail.trim() !== "");
}

function requireRule({ text, isForbidden }: Statement): string {
  if (/^only /i.test(text)) {
    return /\b(?:can|may)\b/.test(text)
      ? text.replace(/\b(?:can|may)\b/, "MUST be able to")
      : `The system MUST make sure that ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  }
  const subjectFirst = text.replace(/^It\b/, "The feature");
  const modal = /\b(?:must not|must|shall not|shall|should not|should|will not|will|needs? to|cannot|can't|never|may not)\b/i.exec(subjectFirst);
  if (modal) return subjectFirst.replace(modal[0], isForbidden ? (/^cannot|can't$/i.test(modal[0]) ? "MUST NOT be able to" : "MUST NOT") : "MUST");
  if (/\b(?:is|are)\b/.test(subjectFirst)) return subjectFirst.replace(/\b(?:is|are)\b( not)?/, (_found, not?: string) => `MUST${not ? " NOT" : ""} be`);
  if (/\b(?:has|have)\b/.test(subjectFirst)) return subjectFirst.replace(/\b(?:has|have)\b/, "MUST have");
  if (/\bcontains?\b/.test(subjectFirst)) return subjectFirst.replace(/\bcontains?\b/, "MUST contain");
  const isPhrase = !/\b\w+s\b \w/.test(subjectFirst) || subjectFirst.split(" ").length <= 8;
  return isPhrase ? `The system MUST provide ${subjectFirst.charAt(0).toLowerCase()}${subjectFirst.slice(1)}` : `The system MUST satisfy: ${subjectFirst}`;
}

interface KeptThing {
  readonly name: string;
  /** What else it is called. */
  readonly aliases: readonly string[];
  readonly attributes: readonly string[];
  readonly partOf: string | undefined;
  readonly has: readonly string[];
}

/** Things that actions keep, by their last word: a shared album is an album, a book record a book. */
function findEntities(stories: readonly Told[], statements: readonly Statement[]): readonly KeptThing[] {
  const actions = stories.flatMap((story) => story.actions).filter(({ kind }) => kind && meanings[kind].keeps);
  const names = new Set(actions.flatMap(({ things, into }) => [...things, ...(into === undefined ? [] : [into])]));
  const canonical = (name: string): string => {
    const parts = name.split(" ");
    const head = parts.at(-1) ?? name;
    if (parts.length > 1 && names.has(head)) return head;
    const [front = ""] = parts;
    return parts.length > 1 && /^(?:record|entry|item|object|detail)$/.test(head) && names.has(front) ? front : name;
  };
  return [...new Set([...names].map(canonical))].map((name) => ({
    name,
    aliases: [...names].filter((other) => canonical(other) === name),
    attributes: [
      ...new Set([
        ...actions.filter(({ things }) => things.map(canonical).includes(name)).flatMap(({ attributes }) => attributes),
        ...statements.flatMap((statement) => attributesSaid(statement, name)),
      ]),
    ],
    partOf: actions.filter(({ things, into }) => into !== undefined && things.map(canonical).includes(name)).map(({ into }) => canonical(into ?? ""))[0],
    has: [...new Set(actions.filter(({ into }) => into !== undefined && canonical(into) === name).flatMap(({ things }) => things.map(canonical)))],
  }));
}

/** "Albums are grouped by date", "Each task has a title and a due date". */
function attributesSaid({ kind, subject, text }: Statement, name: string): readonly string[] {
  if (kind !== "rule" || subject === undefined || singularOf(subject.replace(determiners, "")) !== name) return [];
  const listed = /\b(?:has|have) (?:an? |the )?(.+)$/i.exec(text)?.[1];
  const sorted = /\b(?:grouped|sorted|ordered|listed|shown) by (\w+)/i.exec(text)?.[1];
  const parts = listed === undefined ? [] : listed.split(/,\s*(?:and\s+)?|\s+and\s+/).map((part) => part.replace(determiners, "").trim());
  return [...parts, ...(sorted === undefined ? [] : [sorted])].filter((part) => part !== "" && part.split(" ").length <= 3);
}

function writeEntity({ name, aliases, attributes, partOf, has }: KeptThing, stories: readonly Numbered[]): string {
  const uses = stories.flatMap(({ number, actions }) => {
    const verbs = actions.filter(({ things, into }) => [...things, into ?? ""].some((thing) => aliases.includes(thing))).map(({ verb }) => pastForm(verb));
    return verbs.length > 0 ? [`${joinWords([...new Set(verbs)])} in User Story ${number}`] : [];
  });
  const facts = [
    attributes.length > 0 ? `has ${joinWords(attributes)}` : "",
    partOf === undefined || partOf === name ? "" : `belongs to ${titleCase(partOf)}`,
    has.length > 0 ? `contains ${joinWords(has.filter((thing) => thing !== name).map((thing) => titleCase(pluralOf(thing))))}` : "",
    ...uses,
  ];
  return `- **${titleCase(name)}**: ${facts.filter((fact) => fact !== "").join("; ")}.`;
}

export function titleCase(text: string): string {
  return text.replace(/(^|[\s-])(\p{L})/gu, (_found, before: string, letter: string) => `${before}${letter.toUpperCase()}`);
}

const figure =
  /\d[\d.,]*\s?(?:%|percent|ms|milliseconds?|s\b|sec\w*|min\w*|hours?|days?|weeks?|months?|years?|kb|mb|gb|tb|users?|requests?|items?|files?|people|times?|pages?|rows?|records?|entries|per\b)/i;

function writeCriteria(stories: readonly Numbered[], requirements: readonly string[]): string {
  const measured = requirements.flatMap((text, at) =>
    figure.test(text) ? [`The figure in ${idOf("FR", at)} holds in every measured case: ${figureOf(text)}`] : [],
  );
  const passed = stories.map(({ number }) => `All acceptance scenarios of User Story ${number} pass when somebody who did not build it goes through them`);
  return [...measured, ...passed].map((text, at) => `- **${idOf("SC", at)}**: ${text}.`).join("\n");
}

/** The figure with the words that bind it. */
function figureOf(text: string): string {
  const around =
    /(?:(?:within|under|up to|at most|at least|less than|more than|no more than|below|above|over|every|in) )*\d[\d.,]*\s?[^.,;:]*/i.exec(text)?.[0] ?? text;
  return clip(around.trim().replace(/\.$/, ""), 80);
}

function writeAssumptions(stories: readonly Numbered[]): string {
  const unnamed = stories.filter(({ isActorNamed }) => !isActorNamed);
  const lines = [
    "Whatever the description does not name is out of scope.",
    ...(unnamed.length > 0 && stories.length > 0
      ? [
          `The description does not say who acts in User Story ${joinWords(unnamed.map(({ number }) => String(number)))}; ${article(unnamed[0]?.actor ?? "person")} is taken to.`,
        ]
      : []),
    ...(stories.length > 1 ? ["The order of the stories is the order they are built in."] : []),
  ];
  return lines.map((line) => `- ${line}`).join("\n");
}
