// The first look, at all tools: three scores are brought to one scale and added, and what is known of this query and this user tips the scales a little.
// What words say is quickly known of every document; where it points, only by going through its vector. So that is asked only where it can matter.

import { type Candidate, createBest, findBest } from "./best.ts";
import type { Reading } from "./corpus.ts";
import type { Scores } from "./scores.ts";
import { countDiffering, expectedDiffering, signsOf, signsWidth } from "./signs.ts";
import { wordsOf } from "./words.ts";

/** What the caller knows beside the query. */
export interface Knowledge {
  /** How calls of each tool, by full name, went: from -1, all failed, to 1. */
  readonly experience?: ReadonlyMap<string, number> | undefined;
  /** One more score by full name, such as a cosine from an embeddings endpoint; from 0 to 1. */
  readonly scores?: ReadonlyMap<string, number> | undefined;
  /** Only tools for which this holds are ranked. */
  readonly among?: ((fullName: string) => boolean) | undefined;
}

/** How much the parts of a score count; BM25 and TF-IDF have 1 as their best, a cosine has a scale of its own. */
export const weights = {
  bm25: 1,
  tfidf: 1,
  cosine: 2,
  given: 2,
  mention: 0.7,
  toolkitMention: 0.25,
  experience: 0.25,
};

/** The documents with the highest scores, best first; of two with the same the first. */
export function lookOnce(
  query: string,
  scores: Scores,
  reading: Reading,
  knowledge: Knowledge,
  countMax: number,
): Candidate[] {
  const sums = sumUp(query, scores, reading, knowledge);
  const nearness = createNearness(scores.wishes, reading);
  const { experience, among } = knowledge;
  const experienceMost = experience ? weights.experience : 0;
  /** The score of a document if it is above `least`, or else no more than that. Its cosine is noted. */
  const scoreAbove = (least: number, document: number): number => {
    const sum = sums[document] as number;
    const wanted = (least - experienceMost - sum) / weights.cosine;
    if (wanted >= 1 || (among && !among(reading.nameOf(document)))) return Number.NEGATIVE_INFINITY;
    const near = nearness(document, wanted, sum);
    scores.cosine[document] = near;
    const score = sum + weights.cosine * near;
    // Experience tips the scales between tools that fit; it makes none fit.
    return score > 0 && experience
      ? score +
          weights.experience *
            Math.min(1, Math.max(-1, experience.get(reading.nameOf(document)) ?? 0))
      : score;
  };

  const best = createBest(countMax);
  let least = 0;
  const look = (document: number): void => {
    const score = scoreAbove(least, document);
    if (score > least) least = best.add(document, score);
  };
  // Those that hold most of the query's words come first: most of the others cannot be better then.
  scores.cosine.fill(unknown);
  for (const { document } of findBest(sums, firstShare * countMax)) look(document);
  for (let document = 0; document < sums.length; document++)
    if (scores.cosine[document] === unknown) look(document);
  return best.list();
}

const unknown = -1;
/** How many are tried first, for each that is wanted. */
const firstShare = 2;

/** What can be said of each document without its vector. */
function sumUp(
  query: string,
  { bm25, tfidf, best }: Scores,
  reading: Reading,
  { scores }: Knowledge,
): Float64Array {
  const { sums } = reading.sheets;
  const [bm25Share, tfidfShare] = [weights.bm25 / best.bm25, weights.tfidf / best.tfidf];
  for (let document = 0; document < sums.length; document++) {
    sums[document] =
      (bm25[document] as number) * bm25Share + (tfidf[document] as number) * tfidfShare;
  }
  const add = (document: number, score: number): void => {
    sums[document] = (sums[document] as number) + score;
  };
  for (const document of new Set(
    identifiersOf(query).flatMap((name) => reading.named.get(name) ?? []),
  ))
    add(document, weights.mention);
  const said = new Set(wordsOf(query));
  for (const word of said) {
    for (const { first, idWords, tools } of reading.namedByWord.get(word) ?? []) {
      if (idWords.every((each) => said.has(each)))
        for (let at = 0; at < tools.length; at++) add(first + at, weights.toolkitMention);
    }
  }
  if (scores)
    for (let document = 0; document < sums.length; document++)
      add(document, weights.given * Math.max(0, scores.get(reading.nameOf(document)) ?? 0));
  return sums;
}

/** Words of a query that only a name looks like: with a dot, a dash or an underscore inside, or written likeThis. */
function identifiersOf(query: string): string[] {
  const tokens = query.slice(0, 4_000).match(/[\p{L}\p{N}]+(?:[-_./]+[\p{L}\p{N}]+)*/gu) ?? [];
  return tokens
    .filter((token) => /[-_./]|\p{Ll}\p{Lu}/u.test(token))
    .map((token) => token.toLowerCase());
}

/**
 * The cosine of a document with the nearest wish, but 0 where it is below that, or hardly the wanted one by its signs. The clauses of a task count only for
 * documents that have to do with the whole.
 */
function createNearness(
  wishes: readonly Float32Array[],
  { matrix, signs }: Reading,
): (document: number, wanted: number, sum: number) => number {
  const dimensions = wishes[0]?.length ?? 0;
  const width = signsWidth(dimensions);
  const joined = new Float32Array(wishes.length * dimensions);
  wishes.forEach((wish, at) => {
    joined.set(wish, at * dimensions);
  });
  const wishSigns = signsOf(joined, dimensions);
  const cosineWith = (wish: number, document: number): number =>
    dot(matrix, document * dimensions, joined, wish * dimensions, dimensions);
  let most = 0;
  return (document, wanted, sum) => {
    const differingMax =
      (differingMaxFor[Math.floor(Math.max(0, wanted) * wantedSteps)] as number) * dimensions;
    let [nearest, whole] = [0, Number.NaN];
    for (let wish = 0; wish < wishes.length; wish++) {
      if (
        wanted > 0 &&
        countDiffering(signs, document * width, wishSigns, wish * width, width) > differingMax
      )
        continue;
      if (Number.isNaN(whole)) {
        whole = cosineWith(0, document);
        most = Math.max(most, sum + whole);
        nearest = Math.max(0, whole);
        if (sum + whole < chanceLeast * most) break;
      }
      if (wish > 0) nearest = Math.max(nearest, cosineWith(wish, document));
    }
    return nearest;
  };
}

/** The share of the best that a document must have, by its words and the whole task. */
const chanceLeast = 0.25;
/** The share of signs that may differ where a cosine is wanted. So much more than expected do 4 in 100 pairs differ, which are then at the edge. */
const differingMore = 8 / 128;
const wantedSteps = 64;
const differingMaxFor = Float64Array.from(
  { length: wantedSteps },
  (_, step) => expectedDiffering(step / wantedSteps) + differingMore,
);

/** Four sums side by side: a single one would make every step wait for the one before. */
function dot(
  left: Float32Array,
  a: number,
  right: Float32Array,
  b: number,
  dimensions: number,
): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let at = 0; at < dimensions; at += 4) {
    sum0 += (left[a + at] as number) * (right[b + at] as number);
    sum1 += (left[a + at + 1] as number) * (right[b + at + 1] as number);
    sum2 += (left[a + at + 2] as number) * (right[b + at + 2] as number);
    sum3 += (left[a + at + 3] as number) * (right[b + at + 3] as number);
  }
  return sum0 + sum1 + sum2 + sum3;
}
