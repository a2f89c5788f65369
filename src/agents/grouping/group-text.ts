// Names and descriptions of groups: the domain, the actions, the servers. People and models may
// rewrite them; they must be good enough to choose an agent by.

import type { CorpusSnapshot } from "../../ranking/corpus.ts";
import type { ToolkitText } from "../../ranking/document.ts";
import { likenessOf, profileOf, profileOfText, type TextProfile } from "../../ranking/likeness.ts";
import type { Vectors } from "../../ranking/vectors.ts";
import { verbClassesOf } from "../../ranking/verbs.ts";
import { splitRuns } from "../../ranking/words.ts";
import { groupBy } from "../groups.ts";
import { vagueNouns } from "./actions.ts";
import { type Domain, domains, readServerName } from "./domains.ts";
import {
  type ActionOptions,
  chooseActions,
  formatActions,
  joinWords,
  type Member,
  thin,
} from "./group-actions.ts";
import { pluralOf, readUsage, uncounted } from "./usage.ts";

/** The documents of a group; an existing group has a name. */
export interface Part {
  readonly documents: readonly number[];
  readonly name?: string | undefined;
  /** The name follows the tools. Default: an existing name stays. */
  readonly mayBeRenamed?: boolean | undefined;
}

export interface GroupText {
  /** Unique, in lower case with underscores: `browser_automation`. */
  readonly name: string;
  /** "Specialized agent for …; can …. Works with …." */
  readonly description: string;
}

export interface TextSources {
  readonly reading: CorpusSnapshot;
  readonly toolkits: readonly ToolkitText[];
  readonly vectors?: Vectors | undefined;
}

export function describeGroups(
  parts: readonly Part[],
  { reading, toolkits, vectors }: TextSources,
): GroupText[] {
  const usage = readUsage({
    texts: toolkits.flatMap(({ tools }) => tools.map(({ description }) => description ?? "")),
    names: new Set(toolkits.flatMap(({ id }) => id.toLowerCase().split(/[^a-z0-9]+/))),
    common: new Set(domains.flatMap(({ words }) => words.split(" "))),
  });
  const texts = new Map(
    toolkits.flatMap(({ id, tools }) =>
      tools.map(({ name, description }) => [`${id}.${name}`, description] as const),
    ),
  );
  const known = domains.map((domain) => ({
    ...domain,
    profile: profileOfText(domain.words, reading, vectors),
  }));
  const names = new Set(parts.flatMap(({ name }) => name ?? []));
  const groups = parts.map(({ documents }) =>
    byToolkit(documents.map((document) => readTool(document, reading, texts))),
  );
  return groups.map((toolkitsIn, at) => {
    const found = findDomains(byToolkit(thin(toolkitsIn.flat(), votersMax)), known);
    const { name: before, mayBeRenamed } = parts[at] as Part;
    const propose = (taken: ReadonlySet<string>): string =>
      productName(toolkitsIn, groups, taken) ??
      findName(found, toolkitsIn, { taken, topics: topicsOf(toolkitsIn, groups) });
    const free = propose(names);
    const isOutdated =
      mayBeRenamed && !sharesWord(before, propose(new Set())) && !sharesWord(before, free);
    const name = before === undefined || isOutdated ? free : before;
    names.add(name);
    return { name, description: describe(toolkitsIn, found, { reading, vectors, usage }) };
  });
}

/**
 * True if the old name shares a word with the proposed one. The group then keeps its name, because callers know
 * it.
 */
function sharesWord(name = "", proposed: string): boolean {
  const words = proposed.split("_").filter((word) => word !== "and");
  return name.split("_").some((word) => words.includes(word));
}

function readTool(
  document: number,
  reading: CorpusSnapshot,
  texts: ReadonlyMap<string, string | undefined>,
): Member {
  const { entry, at } = reading.locate(document);
  return {
    toolkit: entry.id,
    name: entry.tools[at] as string,
    description: texts.get(entry.names[at] as string),
    profile: profileOf([document], reading),
  };
}

/** Largest first. */
function byToolkit(tools: readonly Member[]): Member[][] {
  const members = groupBy(tools, ({ toolkit }) => toolkit);
  return [...members.values()].sort((a, b) => b.length - a.length);
}

/** A main domain is part of the group's name, unless the first covers the group. */
type Found = Domain & { readonly isMain: boolean; readonly covers: boolean };

const foundMax = 3;
/** A sample of a large group is enough. */
const votersMax = 300;
/**
 * Shares of the votes that a domain needs: to be mentioned, to be in the name beside the first, to
 * be its only name, and to describe a single toolkit; and the share of the tools with which a
 * toolkit or a topic gives the name alone.
 */
const shares = { named: 0.15, besideFirst: 0.5, covers: 0.6, alone: 0.3, fills: 0.8, most: 0.5 };

/** Weight of what the server's name says. */
const serverNameWeight = 0.5;
/** Weight of a tool's siblings: `create_page` of a notebook is about notes. */
const siblingsShare = 1;

/**
 * Each tool votes for the domain nearest to it and its siblings. The weight of a toolkit grows with
 * the square root of its size.
 */
function findDomains(
  toolkits: readonly (readonly Member[])[],
  known: readonly (Domain & { readonly profile: TextProfile })[],
): Found[] {
  const votes = new Map<Domain, number>();
  let total = 0;
  for (const members of toolkits) {
    const weight = 1 / Math.sqrt(members.length);
    const likeness = members.map(({ profile }) =>
      known.map((domain) => likenessOf(profile, domain.profile)),
    );
    const domain = readServerName(members[0]?.toolkit ?? "")?.domain;
    const siblings = known.map(
      ({ name }, at) =>
        (name === domain ? serverNameWeight : 0) +
        (siblingsShare * likeness.reduce((sum, own) => sum + (own[at] as number), 0)) /
          members.length,
    );
    for (const own of likeness) {
      const [nearest] = known
        .map((domain, at) => ({ domain, likeness: (own[at] as number) + (siblings[at] as number) }))
        .sort((a, b) => b.likeness - a.likeness);
      if (nearest !== undefined && nearest.likeness > 0)
        votes.set(nearest.domain, (votes.get(nearest.domain) ?? 0) + weight);
      total += weight;
    }
  }
  const sorted = [...votes].sort((a, b) => b[1] - a[1]);
  const most = sorted[0]?.[1] ?? 0;
  const isAlone = toolkits.length === 1;
  if (isAlone && most < shares.alone * total) return [];
  return sorted
    .filter(
      ([, share], at) =>
        at === 0 || share >= (isAlone ? shares.besideFirst * most : shares.named * total),
    )
    .slice(0, foundMax)
    .map(([domain, share]) => ({
      ...domain,
      isMain: share >= shares.besideFirst * most,
      covers: share >= shares.covers * total,
    }));
}

/**
 * The product that fills a group, such as `github`. If other groups have tools of it too, a topic is added:
 * `github_issues`.
 */
function productName(
  [only, ...others]: readonly (readonly Member[])[],
  groups: readonly (readonly (readonly Member[])[])[],
  taken: ReadonlySet<string>,
): string | undefined {
  const id = only?.[0]?.toolkit ?? "";
  if (readServerName(id)?.product === undefined || others.length > 0) return undefined;
  const name = toName(shortId(id));
  const topics = topicsOf(only === undefined ? [] : [only], groups);
  const wishes = [...topics.map(({ topic }) => `${name}_${topic}`), name];
  return wishes.find((wish) => isNameable.test(wish) && !taken.has(wish));
}

/** The topics of a part of one toolkit, if its other tools are in other groups. */
function topicsOf(
  [only, ...others]: readonly (readonly Member[])[],
  groups: readonly (readonly (readonly Member[])[])[],
): readonly Topic[] {
  if (only === undefined || others.length > 0) return [];
  const elsewhere = groups
    .flat()
    .filter((members) => members !== only && members[0]?.toolkit === only[0]?.toolkit)
    .flat();
  return elsewhere.length === 0 ? [] : findTopics(only, elsewhere);
}

interface Topic {
  readonly topic: string;
  /** Of the tools. */
  readonly share: number;
}

const topicShareMin = 0.3;
/** "pull requests" says more than "pulls", even if it is a little rarer. */
const weightOf = ({ noun, score }: { readonly noun: string; readonly score: number }): number =>
  score * (noun.includes("_") ? 1.5 : 1);

/**
 * Nouns that many of the tools have in their names and few of the others, the most telling first:
 * `issues`, `pull_requests`.
 */
function findTopics(members: readonly Member[], others: readonly Member[]): Topic[] {
  const shareOf = (noun: string, among: readonly Member[]): number =>
    among.filter((member) => nounsOf(member).includes(noun)).length / among.length;
  const nouns = [...new Set(members.flatMap(nounsOf))];
  return nouns
    .map((noun) => ({
      noun,
      share: shareOf(noun, members),
      score: shareOf(noun, members) - shareOf(noun, others),
    }))
    .filter(({ share, score }) => share >= topicShareMin && score > 0)
    .sort((a, b) => weightOf(b) - weightOf(a) || b.noun.length - a.noun.length)
    .map(({ noun, share }) => ({ topic: uncounted.has(noun) ? noun : pluralOf(noun), share }));
}

/** The nouns of a tool's name, alone and with the noun that follows: neither verbs nor products, but `helm_chart`. */
function nounsOf({ name, toolkit }: Member): readonly string[] {
  const own = splitRuns(toolkit);
  const words = splitRuns(name).map((word) => {
    const isNoun = word.length > 2 && verbClassesOf([word]).length === 0 && !own.includes(word);
    return isNoun ? word.replace(/ies$/, "y").replace(/(?<=[^s])s$/, "") : "";
  });
  return words.flatMap((word, at) => {
    const next = words[at + 1] ?? "";
    const isTopic = !vagueNouns.has(word) && readServerName(word)?.product === undefined;
    if (word === "") return [];
    return [...(isTopic ? [word] : []), ...(next === "" ? [] : [`${word}_${next}`])];
  });
}

/** Named after its domains, else after its toolkits. */
function findName(
  found: readonly Found[],
  toolkits: readonly (readonly Member[])[],
  { taken, topics }: { readonly taken: ReadonlySet<string>; readonly topics: readonly Topic[] },
): string {
  const [first, ...others] = [...found].sort((a, b) => Number(b.isMain) - Number(a.isMain));
  const ids = toolkits.map(([member]) => toName(shortId(member?.toolkit ?? "")));
  const beside = (words: readonly string[]): string[] =>
    first === undefined ? [] : words.map((word) => `${first.short ?? first.name}_and_${word}`);
  const shorts = others.map(({ name, short }) => short ?? name);
  const wishes = [
    ...(others[0]?.isMain && !first?.covers ? beside(shorts.slice(0, 1)) : []),
    ...(first === undefined ? [] : [first.name]),
    ...topics.flatMap(({ topic, share }) =>
      share < shares.most && first !== undefined ? beside([topic]) : [`${ids[0]}_${topic}`],
    ),
    ...(isFilledByFirst(toolkits) ? ids.slice(0, 1) : []),
    ...beside(shorts),
    ids.slice(0, 2).join("_and_"),
    ...beside(ids),
    ...ids,
  ];
  const isTaken = (wish: string): boolean =>
    taken.has(wish) || taken.has(wish.split("_and_").reverse().join("_and_"));
  const free = wishes.find((wish) => isNameable.test(wish) && !isTaken(wish));
  if (free !== undefined) return free;
  const stem = first?.name ?? "tools";
  let number = first === undefined ? 1 : 2;
  while (taken.has(`${stem}_${number}`)) number++;
  return `${stem}_${number}`;
}

/** True if nearly all tools are of the largest toolkit. */
function isFilledByFirst(toolkits: readonly (readonly Member[])[]): boolean {
  return (toolkits[0]?.length ?? 0) >= shares.fills * toolkits.flat().length;
}

const isNameable = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$(?<=^.{3,48})/;

const toName = (id: string): string =>
  id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");

/** `@owner/mcp-server-chart` becomes `chart`. */
function shortId(id: string): string {
  const [owner = "", name = id] = /^@[^/]+\/./.test(id) ? id.slice(1).split("/") : ["", id];
  const short = name
    .replace(/(?:^|[-_ ])(?:mcp|server)(?=$|[-_ ])/gi, "")
    .replace(/^[-_ ]+|[-_ ]+$/g, "");
  return short || owner || id;
}

/** A client reads up to ten descriptions, so they are short. */
const charactersMax = { all: 350, toolkits: 90 };

function describe(
  toolkits: readonly (readonly Member[])[],
  found: readonly Found[],
  parts: Omit<ActionOptions, "charactersMax">,
): string {
  const ids = [...new Set(toolkits.map(([member]) => shortId(member?.toolkit ?? "")))].filter(
    (id) => id !== "",
  );
  const subjects =
    found.length > 0
      ? joinWords(found.flatMap((domain) => domain.subjects))
      : `the tools of ${listToolkits(ids)}`;
  const opening = `Specialized agent for ${ids.length > 0 ? subjects : "general tasks"}`;
  const ending = found.length > 0 && ids.length > 0 ? ` Works with ${listToolkits(ids)}.` : "";
  const room = charactersMax.all - `${opening}; can .${ending}`.length;
  const actions = chooseActions(toolkits.flat(), { ...parts, charactersMax: room });
  const text = (): string =>
    `${opening}${actions.length > 0 ? `; can ${formatActions(actions)}` : ""}.${ending}`;
  // The words between the phrases count as well.
  while (text().length > charactersMax.all && actions.length > 0) actions.pop();
  return text();
}

/** As many as fit. */
function listToolkits(ids: readonly string[]): string {
  let count = 1;
  while (count < ids.length && ids.slice(0, count + 1).join(", ").length <= charactersMax.toolkits)
    count++;
  const rest = ids.length - count;
  return joinWords([
    ...ids.slice(0, count).map((id) => id.slice(0, charactersMax.toolkits)),
    ...(rest > 0 ? [`${rest} more`] : []),
  ]);
}
