// Groups tools: a toolkit stays whole if it fits, groups have similar sizes, and earlier groups keep their tools.

import { cluster } from "../../ranking/clusters.ts";
import { type CorpusSnapshot, createCorpus } from "../../ranking/corpus.ts";
import type { ToolkitText } from "../../ranking/document.ts";
import { likenessOf, profileOf, type TextProfile } from "../../ranking/likeness.ts";
import { splitDocuments } from "../../ranking/split.ts";
import type { Vectors } from "../../ranking/vectors.ts";
import { readServerName } from "./domains.ts";
import { describeGroups, type GroupText, type Part } from "./group-text.ts";

export interface GroupToolsOptions {
  readonly vectors?: Vectors | undefined;
  /**
   * Default: chosen by the number of tools. There may be fewer if one would be too small, or more
   * to keep toolkits whole.
   */
  readonly count?: number | undefined;
  /** Existing groups. Their tools stay; only new tools are placed. */
  readonly previous?: readonly PreviousGroup[] | undefined;
}

export interface PreviousGroup {
  readonly name: string;
  /** The name was not chosen by a person: it follows the tools once a third of them are new. Default: false. */
  readonly mayBeRenamed?: boolean | undefined;
  /** Full names. */
  readonly tools: readonly string[];
}

export interface ProposedGroup extends GroupText {
  /** Full names, in the order of toolkit ids. */
  readonly tools: readonly string[];
}

/** Smaller groups are not worth an agent; larger ones are hard to choose from. */
export const groupSize = { least: 5, usual: 12, most: 20 };
/** Above `few` groups they are filled up to three quarters of the largest size. */
export const groupCount = { least: 3, few: 10, most: 25 };
/** A group may be this much larger than the mean. */
const sizeSlack = 1.7;
const evenSlack = 1.2;
const fillShare = 0.75;

/** Every tool is in exactly one group. The order of the toolkits does not matter. */
export function groupTools(
  toolkits: readonly ToolkitText[],
  { vectors, count, previous = [] }: GroupToolsOptions = {},
): ProposedGroup[] {
  const corpus = createCorpus(vectors);
  for (const toolkit of [...toolkits].sort((a, b) => (a.id < b.id ? -1 : 1))) corpus.set(toolkit);
  if (corpus.size === 0) return [];
  const snapshot = corpus.read();
  const parts =
    previous.length > 0
      ? place(snapshot, previous, count)
      : partition(snapshot, count ?? chooseCount(corpus.size));
  const texts = describeGroups(parts, { reading: snapshot, toolkits, vectors });
  return parts
    .map(({ documents }, at) => ({
      ...(texts[at] as GroupText),
      tools: documents.map((document) => nameOf(document, snapshot)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function chooseCount(tools: number): number {
  if (tools < groupCount.least * groupSize.least)
    return Math.max(1, Math.floor(tools / groupSize.least));
  const usual = Math.round(tools / groupSize.usual);
  const needed = Math.ceil(tools / (groupSize.most * fillShare));
  const count = Math.max(groupCount.least, Math.min(usual, groupCount.few), needed);
  return Math.min(groupCount.most, count);
}

/** At most 20 tools a group; if 25 groups cannot hold all tools, groups of even size. */
export function sizeCap(tools: number, count: number): number {
  const slack = isMany(tools) ? evenSlack : sizeSlack;
  const cap = Math.max(1, Math.floor((slack * tools) / count));
  return isMany(tools) ? cap : Math.min(cap, groupSize.most);
}

const isMany = (tools: number): boolean => tools > groupSize.most * groupCount.most;

const nameOf = (document: number, snapshot: CorpusSnapshot): string => {
  const { entry, at } = snapshot.locate(document);
  return entry.names[at] as string;
};

function partition(snapshot: CorpusSnapshot, count: number): Part[] {
  const total = snapshot.postings.count;
  const wanted = Math.max(1, Math.min(Math.floor(count) || 1, total));
  const sizeMax = sizeCap(total, wanted);
  const units = snapshot.entries.flatMap((entry) =>
    splitToolkit(documentsOf(entry), sizeMax, total, snapshot),
  );
  const profiles = units.map((documents) => profileOf(documents, snapshot));
  const places = cluster(
    {
      sizes: units.map(({ length }) => length),
      likeness: likenessMatrix(
        profiles,
        // A few large groups must mix domains. There the words of the tools route tasks better than the names
        // of their servers.
        units.map((documents) => (isMany(total) ? {} : evidenceOf(documents, snapshot))),
      ),
    },
    {
      count: wanted,
      countMax: isMany(total)
        ? wanted
        : countMaxFor(wanted, units.length - snapshot.entries.length),
      aloneMax: isMany(total) ? 0 : aloneMaxFor(wanted),
      likenessMin: akinMin,
      sizeMin: Math.min(groupSize.least, total / wanted / 2),
      sizeMax,
    },
  );
  return collectParts(units, places);
}

/** Up to ten groups are easy to choose from; the parts of a split toolkit are one choice more each. */
function countMaxFor(wanted: number, splits: number): number {
  return Math.min(groupCount.most, Math.max(Math.ceil(wanted * 1.2), groupCount.few + splits));
}

/** Up to this many groups, a small toolkit that is like no other has one of its own. */
const aloneMaxFor = (wanted: number): number => Math.ceil(wanted * 1.2) + 1;

/**
 * A toolkit that is too large for a group is split into even parts, so that no part shares a group
 * with unrelated tools.
 */
function splitToolkit(
  documents: readonly number[],
  sizeMax: number,
  total: number,
  snapshot: CorpusSnapshot,
): number[][] {
  // With very many tools, whole toolkits rarely fill groups evenly.
  if (isMany(total)) return splitDocuments(documents, Math.floor(sizeMax / 4), snapshot);
  const parts = Math.ceil(documents.length / sizeMax);
  return splitDocuments(
    documents,
    Math.min(sizeMax, Math.ceil((documents.length / parts) * 1.15)),
    snapshot,
  );
}

const documentsOf = ({
  first,
  tools,
}: {
  readonly first: number;
  readonly tools: readonly string[];
}): number[] => tools.map((_, at) => first + at);

/** Toolkits below this likeness share a group only if there would be too many groups, or one too small. */
const akinMin = 0.3;
const domainWeight = 0.3;

function likenessMatrix(
  profiles: readonly TextProfile[],
  evidence: readonly Evidence[],
): Float32Array {
  const matrix = new Float32Array(profiles.length ** 2);
  profiles.forEach((a, i) => {
    for (let j = i; j < profiles.length; j++) {
      const value =
        likenessOf(a, profiles[j] as TextProfile) +
        weigh(evidence[i] as Evidence, evidence[j] as Evidence);
      matrix[i * profiles.length + j] = value;
      matrix[j * profiles.length + i] = value;
    }
  });
  return matrix;
}

function collectParts(units: readonly (readonly number[])[], places: readonly number[]): Part[] {
  const parts = new Map<number, number[]>();
  units.forEach((documents, unit) => {
    const place = places[unit] as number;
    parts.set(place, [...(parts.get(place) ?? []), ...documents]);
  });
  return [...parts.values()].map((documents) => ({ documents: documents.sort((a, b) => a - b) }));
}

/**
 * Known tools stay. A new tool joins most of its toolkit; a new toolkit joins the most similar
 * group, or gets its own if that is full.
 */
function place(
  snapshot: CorpusSnapshot,
  previous: readonly PreviousGroup[],
  count: number | undefined,
): Part[] {
  const homes = new Map(
    previous.flatMap(({ tools }, at) => tools.map((tool) => [tool, at] as const)),
  );
  const parts = previous.map(({ name }): GrowingPart => ({ name, documents: [] }));
  const total = snapshot.postings.count;
  const wanted = Math.max(count ?? previous.length, 1);
  const limits = { sizeMax: sizeCap(total, wanted), aloneMax: aloneMaxFor(chooseCount(total)) };
  const newToolkits: number[][] = [];
  for (const entry of snapshot.entries) {
    const known = new Map<number, number>();
    const fresh: number[] = [];
    for (const document of documentsOf(entry)) {
      const home = homes.get(nameOf(document, snapshot));
      if (home === undefined) fresh.push(document);
      else {
        parts[home]?.documents.push(document);
        known.set(home, (known.get(home) ?? 0) + 1);
      }
    }
    const main = [...known].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
    if (main !== undefined) parts[main[0]]?.documents.push(...fresh);
    else if (fresh.length > 0)
      newToolkits.push(...splitToolkit(fresh, limits.sizeMax, total, snapshot));
  }
  const remaining = parts.filter(({ documents }) => documents.length > 0);
  for (const documents of newToolkits) join(documents, remaining, limits, snapshot);
  for (const { documents } of remaining) documents.sort((a, b) => a - b);
  return remaining.map((part) => ({ ...part, mayBeRenamed: hasChanged(part, previous, snapshot) }));
}

type GrowingPart = Part & { readonly documents: number[] };

/** True if nobody chose the name of the group, and a third of its tools are new. */
function hasChanged(
  { name, documents }: Part,
  previous: readonly PreviousGroup[],
  snapshot: CorpusSnapshot,
): boolean {
  const before = previous.find((group) => group.name === name && group.mayBeRenamed);
  if (before === undefined) return false;
  const tools = new Set(before.tools);
  const kept = documents.filter((document) => tools.has(nameOf(document, snapshot))).length;
  return kept <= (1 - newShareMin) * documents.length;
}

const newShareMin = 1 / 3;

/**
 * Joins the most similar group with room; a toolkit that is like none opens its own, unless it is
 * small and there are enough groups.
 */
function join(
  documents: number[],
  parts: GrowingPart[],
  { sizeMax, aloneMax }: { readonly sizeMax: number; readonly aloneMax: number },
  snapshot: CorpusSnapshot,
): void {
  const profile = profileOf(documents, snapshot);
  const evidence = evidenceOf(documents, snapshot);
  const ranked = parts
    .map((part, at) => ({
      part,
      at,
      likeness:
        likenessOf(profile, profileOf(part.documents, snapshot)) +
        weigh(evidence, evidenceOf(part.documents, snapshot)),
    }))
    .sort((a, b) => b.likeness - a.likeness || a.at - b.at);
  // Up to 500 tools a group never passes its limit, even if that takes more than 25 groups.
  const isFull = parts.length >= groupCount.most && isMany(snapshot.postings.count);
  const mayBeAlone = !isFull && (documents.length >= groupSize.least || parts.length < aloneMax);
  const candidates = mayBeAlone ? ranked.filter(({ likeness }) => likeness >= akinMin) : ranked;
  const roomy =
    candidates.find(({ part }) => part.documents.length + documents.length <= sizeMax) ??
    (isFull ? ranked[0] : undefined);
  if (roomy) roomy.part.documents.push(...documents);
  else parts.push({ documents });
}

/** Facts about the toolkits of some tools that decide which group they may join. */
interface Evidence {
  /** The domain that the name of the first toolkit names. */
  readonly domain?: string | undefined;
  /** A toolkit that is as large as a group, or larger. */
  readonly large?: string | undefined;
}

function evidenceOf(documents: readonly number[], snapshot: CorpusSnapshot): Evidence {
  const entries = documents.map((document) => snapshot.locate(document).entry);
  return {
    domain: entries[0] && readServerName(entries[0].id)?.domain,
    large: entries.find(({ tools }) => tools.length >= groupSize.usual)?.id,
  };
}

const aloofWeight = 0.3;

/**
 * Two products of one domain belong together, those of two domains do not. A toolkit as large as a group has its
 * own, as long as there are not too many groups.
 */
function weigh(one: Evidence, other: Evidence): number {
  const aloof = one.large === other.large ? 0 : -aloofWeight;
  if (one.domain === undefined || other.domain === undefined) return aloof;
  return aloof + (one.domain === other.domain ? domainWeight : -domainWeight);
}
