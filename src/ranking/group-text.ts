// Names and descriptions of groups, made from the words of their tools. A person may rewrite them, and a model may; they must only be good enough to
// choose by, so every toolkit of a group is heard, the largest first.

import type { Reading } from "./corpus.ts";
import type { ToolkitText, ToolText } from "./document.ts";
import { domains } from "./group-domains.ts";
import { spellingsOf, wordsOf } from "./words.ts";

/** Some documents that make a group; it has a name already if it is an old one. */
export interface Part {
  readonly documents: readonly number[];
  readonly name?: string | undefined;
}

export interface GroupText {
  /** Lower case with underscores, unlike every other group's: `browser_automation`. */
  readonly name: string;
  /** "Specialized agent for …; can …" */
  readonly description: string;
}

const limits = { domains: 3, actions: 12, topics: 24, toolkits: 12, characters: 900 };
/** A further field is named when at least this share of the tools belongs to it. */
const shareLeast = 0.15;

export function describeGroups(parts: readonly Part[], reading: Reading, toolkits: readonly ToolkitText[]): GroupText[] {
  const texts = new Map(toolkits.flatMap(({ id, tools }) => tools.map((tool) => [`${id}.${tool.name}`, tool] as const)));
  const groups = parts.map(({ documents }) => documents.map((document) => readTool(document, reading, texts)));
  const commonness = countHolders(groups.flat());
  const names = new Set(parts.flatMap(({ name }) => name ?? []));
  return groups.map((tools) => {
    const topics = findTopics(tools, commonness, groups.flat().length);
    const fields = findDomains(tools, commonness, groups.flat().length);
    const name = uniqueName(fields, topics, names);
    names.add(name);
    return { name, description: describe(tools, fields, topics) };
  });
}

interface ToolWords {
  readonly toolkit: string;
  readonly name: string;
  /** Stems of name and description, with how they were written. */
  readonly words: ReadonlyMap<string, string>;
  readonly nameWords: ReadonlySet<string>;
}

function readTool(document: number, reading: Reading, texts: ReadonlyMap<string, ToolText>): ToolWords {
  const { entry, at } = reading.locate(document);
  const name = entry.tools[at] as string;
  const description = texts.get(entry.names[at] as string)?.description ?? "";
  return { toolkit: entry.id, name, words: spellingsOf(`${name}\n${description.slice(0, 600)}`), nameWords: new Set(wordsOf(name)) };
}

function countHolders(tools: readonly ToolWords[]): Map<string, number> {
  const holders = new Map<string, number>();
  for (const { words } of tools) for (const word of words.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  return holders;
}

/** How much more usual a word is among some tools than among all; 0 when it is not. */
function lift(holding: number, among: number, everywhere: number, total: number): number {
  return Math.max(0, Math.log((holding / among) * (total / Math.max(1, everywhere))));
}

const domainWords = domains.map((domain) => ({ ...domain, stems: new Set(wordsOf(domain.words)) }));
type Found = (typeof domainWords)[number];

/** The fields that cover the most tools, each counted for the tools the ones before it left. A tool belongs to a field when two words say so, or its name. */
function findDomains(tools: readonly ToolWords[], commonness: ReadonlyMap<string, number>, total: number): Found[] {
  const found: Found[] = [];
  let left = tools;
  while (found.length < limits.domains && left.length >= shareLeast * tools.length) {
    const scored = domainWords
      .filter((domain) => !found.includes(domain))
      .map((domain) => ({ domain, tools: left.filter((tool) => belongs(tool, domain)), weight: weigh(left, domain, commonness, total) }))
      .sort((a, b) => b.weight - a.weight);
    const best = scored[0];
    if (best === undefined || best.tools.length < shareLeast * tools.length) break;
    found.push(best.domain);
    left = left.filter((tool) => !best.tools.includes(tool));
  }
  return found;
}

function belongs({ words, nameWords }: ToolWords, { stems }: Found): boolean {
  let hits = 0;
  for (const stem of stems) if (words.has(stem)) hits += nameWords.has(stem) ? 2 : 1;
  return hits >= 2;
}

/** What a word of a field counts even where every group has it. */
const aloneWeight = 0.2;

function weigh(tools: readonly ToolWords[], { stems }: Found, commonness: ReadonlyMap<string, number>, total: number): number {
  let sum = 0;
  for (const stem of stems) {
    const holding = tools.filter(({ words }) => words.has(stem)).length;
    if (holding > 0) sum += (holding / tools.length) * (aloneWeight + lift(holding, tools.length, commonness.get(stem) ?? 0, total));
  }
  return sum;
}

/** What each toolkit speaks of more than others do, the toolkits taking turns. */
function findTopics(tools: readonly ToolWords[], commonness: ReadonlyMap<string, number>, total: number): string[] {
  const lists = byToolkit(tools).map((members) => {
    const holders = countHolders(members);
    return [...holders]
      .filter(([word]) => word.length > 2 && !/\d/.test(word) && !empty.has(word))
      .map(([word, holding]) => ({
        word,
        weight: Math.sqrt(holding) * lift(holding, members.length, commonness.get(word) ?? 0, total) * nameShare(word, members),
      }))
      .sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1))
      .slice(0, limits.topics)
      .map(({ word }) => usualSpelling(word, members));
  });
  return takeTurns(lists, limits.topics);
}

/** Said of a tool is good, being its name is better. */
const nameShare = (word: string, members: readonly ToolWords[]): number => 1 + members.filter(({ nameWords }) => nameWords.has(word)).length / members.length;

function usualSpelling(word: string, members: readonly ToolWords[]): string {
  const counts = new Map<string, number>();
  for (const { words } of members) {
    const written = words.get(word);
    if (written !== undefined) counts.set(written, (counts.get(written) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0] ?? word;
}

/** Words of descriptions that name nothing. */
const empty = new Set(
  wordsOf(`get set list tool tools use used using default optional required return returns specified provided given include including based available example args
    parameter parameters value values name names type types id ids string number true false none null input output result results information info detail details
    all one two more new first last also only other each both like e g etc not mcp server api request response current specific multiple single various through
    need want make allow provide support enable call run following about without`),
);

/** The toolkits of a group, those with more tools first. */
function byToolkit(tools: readonly ToolWords[]): ToolWords[][] {
  const members = new Map<string, ToolWords[]>();
  for (const tool of tools) members.set(tool.toolkit, [...(members.get(tool.toolkit) ?? []), tool]);
  return [...members.values()].sort((a, b) => b.length - a.length);
}

function takeTurns(lists: readonly (readonly string[])[], countMax: number): string[] {
  const taken = new Set<string>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let at = 0; at < longest && taken.size < countMax; at++) {
    for (const list of lists) {
      const item = list[at];
      if (item !== undefined && taken.size < countMax) taken.add(item);
    }
  }
  return [...taken];
}

/** What the tools' own names say they do: those that begin with a verb. */
function findActions(tools: readonly ToolWords[]): string[] {
  const lists = byToolkit(tools).map((members) => members.flatMap(({ name }) => actionOf(name) ?? []));
  return takeTurns(lists, limits.actions);
}

function actionOf(name: string): string | undefined {
  const words = name
    .replace(/([a-z0-9])(?=[A-Z])/g, "$1 ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
  const verb = words.findIndex((word) => verbs.has(word));
  const phrase = verb === -1 || verb > 1 ? [] : [...words.slice(verb), ...words.slice(0, verb)].filter((word) => word !== "mcp" && word !== "tool");
  return phrase.length < 2 || phrase.length > 6 ? undefined : phrase.join(" ");
}

const verbs = new Set(
  `add analyze append apply assign book build calculate call cancel capture check click clone close compare compile complete compute configure connect
  convert copy count crawl create decode delete deploy describe detect disable download draft draw edit enable encode estimate evaluate execute explain explore export
  extract fetch fill filter find follow format forward generate geocode get import insert inspect install invite launch like list load lock log lookup manage
  merge modify monitor move navigate open order parse pause place play plot post predict press preview process publish push put query read record
  reload remove rename render reorder replace reply reset resolve restart restore resume retrieve review rotate run save scan schedule scrape
  search select send set share show sort split start stop store submit subscribe suggest summarize switch sync take test track train transcribe translate trigger type
  unlock update upload validate verify view visualize wait watch write`.split(/\s+/),
);

/** After its fields, or after what it speaks of; where that is taken, with a word more. */
function uniqueName(fields: readonly Found[], topics: readonly string[], taken: ReadonlySet<string>): string {
  const [first, second] = fields.map(({ name }) => name);
  const words = topics.map((topic) => topic.replace(/[^a-z0-9]+/g, "")).filter((word) => word.length > 2);
  const wishes = [
    ...(first !== undefined && second !== undefined ? [`${first}_and_${second}`] : []),
    ...(first !== undefined ? [first, ...words.map((word) => `${first}_${word}`)] : [words.slice(0, 2).join("_")]),
  ];
  const free = wishes.find((wish) => wish !== "" && wish.length <= nameCharactersMax && !taken.has(wish));
  if (free !== undefined) return free;
  let number = 1;
  while (taken.has(`tools_${number}`)) number++;
  return `tools_${number}`;
}

const nameCharactersMax = 48;

function describe(tools: readonly ToolWords[], fields: readonly Found[], topics: readonly string[]): string {
  const purpose = fields.length > 0 ? fields.map(({ phrase }) => phrase) : topics.slice(0, 3);
  const actions = findActions(tools);
  const owners = byToolkit(tools).map((members) => members[0]?.toolkit ?? "");
  const more = owners.length > limits.toolkits ? ` and ${owners.length - limits.toolkits} more` : "";
  const sentences = [
    `Specialized agent for ${purpose.length > 0 ? join(purpose) : "general tasks"}${actions.length > 0 ? `; can ${join(actions)}` : ""}.`,
    ...(topics.length > 0 ? [`Topics: ${topics.join(", ")}.`] : []),
    `Works with ${owners.slice(0, limits.toolkits).join(", ")}${more}.`,
  ];
  return sentences.join(" ").slice(0, limits.characters);
}

function join(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}
