// Tools into groups a person would make: a toolkit stays whole where it fits, groups are of like size, and what was grouped before stays where it is.

import { cluster } from "../../ranking/clusters.ts";
import { createCorpus, type Reading } from "../../ranking/corpus.ts";
import type { ToolkitText } from "../../ranking/document.ts";
import { describeGroups, type GroupText, type Part } from "./group-text.ts";
import { likenessOf, type Profile, profileOf } from "../../ranking/likeness.ts";
import { splitDocuments } from "../../ranking/split.ts";
import type { Vectors } from "../../ranking/vectors.ts";

export interface GroupingOptions {
  readonly vectors?: Vectors | undefined;
  /** How many groups; chosen by the number of tools unless said. Fewer where one would be too small, more where whole toolkits leave no other way. */
  readonly count?: number | undefined;
  /** Groups as they are. Their tools stay in them; only what is new is placed. */
  readonly previous?: readonly PreviousGroup[] | undefined;
}

export interface PreviousGroup {
  readonly name: string;
  /** Full names. */
  readonly tools: readonly string[];
}

export interface Group extends GroupText {
  /** Full names, in the order of toolkits' ids. */
  readonly tools: readonly string[];
}

/** A group of fewer tools is not worth asking; twice the usual number is hard to choose from. */
const groupSize = { least: 5, usual: 12 };
const groupCount = { least: 3, most: 10 };
/** A group may be this much larger than the mean. */
const sizeSlack = 1.7;

/** Every tool is in exactly one group. The same toolkits give the same groups, in whatever order they come. */
export function groupTools(
  toolkits: readonly ToolkitText[],
  { vectors, count, previous = [] }: GroupingOptions = {},
): Group[] {
  const corpus = createCorpus(vectors);
  for (const toolkit of [...toolkits].sort((a, b) => (a.id < b.id ? -1 : 1))) corpus.set(toolkit);
  if (corpus.size === 0) return [];
  const reading = corpus.read();
  const parts =
    previous.length > 0
      ? place(reading, previous, count)
      : partition(reading, count ?? chooseCount(corpus.size));
  const texts = describeGroups(parts, { reading, toolkits, vectors });
  return parts
    .map(({ documents, name }, at) => ({
      ...(texts[at] as GroupText),
      ...(name === undefined ? {} : { name }),
      tools: documents.map((document) => nameOf(document, reading)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function chooseCount(tools: number): number {
  if (tools < groupCount.least * groupSize.least)
    return Math.max(1, Math.floor(tools / groupSize.least));
  return Math.min(groupCount.most, Math.max(groupCount.least, Math.round(tools / groupSize.usual)));
}

export const sizeCap = (tools: number, count: number): number =>
  Math.max(1, Math.floor((sizeSlack * tools) / count));

const nameOf = (document: number, reading: Reading): string => {
  const { entry, at } = reading.locate(document);
  return entry.names[at] as string;
};

function partition(reading: Reading, count: number): Part[] {
  const total = reading.postings.count;
  const wanted = Math.max(1, Math.min(Math.floor(count) || 1, total));
  const sizeMax = sizeCap(total, wanted);
  const units = reading.entries.flatMap((entry) =>
    splitDocuments(documentsOf(entry), sizeMax, reading),
  );
  const profiles = units.map((documents) => profileOf(documents, reading));
  const places = cluster(
    { sizes: units.map(({ length }) => length), likeness: likenessMatrix(profiles) },
    { count: wanted, sizeMin: Math.min(groupSize.least, total / wanted / 2), sizeMax },
  );
  return gather(units, places);
}

const documentsOf = ({
  first,
  tools,
}: {
  readonly first: number;
  readonly tools: readonly string[];
}): number[] => tools.map((_, at) => first + at);

function likenessMatrix(profiles: readonly Profile[]): Float32Array {
  const matrix = new Float32Array(profiles.length ** 2);
  profiles.forEach((a, i) => {
    for (let j = i; j < profiles.length; j++) {
      const value = likenessOf(a, profiles[j] as Profile);
      matrix[i * profiles.length + j] = value;
      matrix[j * profiles.length + i] = value;
    }
  });
  return matrix;
}

function gather(units: readonly (readonly number[])[], places: readonly number[]): Part[] {
  const parts = new Map<number, number[]>();
  units.forEach((documents, unit) => {
    const place = places[unit] as number;
    parts.set(place, [...(parts.get(place) ?? []), ...documents]);
  });
  return [...parts.values()].map((documents) => ({ documents: documents.sort((a, b) => a - b) }));
}

/** What is known stays. A new tool goes where most of its toolkit is; a new toolkit where it is most at home and there is room, or to a group of its own. */
function place(
  reading: Reading,
  previous: readonly PreviousGroup[],
  count: number | undefined,
): Part[] {
  const homes = new Map(
    previous.flatMap(({ tools }, at) => tools.map((tool) => [tool, at] as const)),
  );
  const parts = previous.map(({ name }) => ({
    name: name as string | undefined,
    documents: [] as number[],
  }));
  const total = reading.postings.count;
  const sizeMax = sizeCap(total, Math.max(count ?? previous.length, 1));
  const strangers: number[][] = [];
  for (const entry of reading.entries) {
    const known = new Map<number, number>();
    const fresh: number[] = [];
    for (const document of documentsOf(entry)) {
      const home = homes.get(nameOf(document, reading));
      if (home === undefined) fresh.push(document);
      else {
        parts[home]?.documents.push(document);
        known.set(home, (known.get(home) ?? 0) + 1);
      }
    }
    const main = [...known].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
    if (main !== undefined) parts[main[0]]?.documents.push(...fresh);
    else if (fresh.length > 0) strangers.push(...splitDocuments(fresh, sizeMax, reading));
  }
  const living = parts.filter(({ documents }) => documents.length > 0);
  for (const documents of strangers) join(documents, living, sizeMax, reading);
  return living.map(({ name, documents }) => ({
    name,
    documents: documents.sort((a, b) => a - b),
  }));
}

function join(
  documents: number[],
  parts: { name: string | undefined; documents: number[] }[],
  sizeMax: number,
  reading: Reading,
): void {
  const profile = profileOf(documents, reading);
  const ranked = parts
    .map((part, at) => ({
      part,
      at,
      likeness: likenessOf(profile, profileOf(part.documents, reading)),
    }))
    .sort((a, b) => b.likeness - a.likeness || a.at - b.at);
  const roomy =
    ranked.find(({ part }) => part.documents.length + documents.length <= sizeMax) ??
    (parts.length < groupCount.most ? undefined : ranked[0]);
  if (roomy) roomy.part.documents.push(...documents);
  else parts.push({ name: undefined, documents });
}
