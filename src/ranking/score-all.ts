// The first stage scores all tools: three scores are scaled and added, with small bonuses for mentioned names
// and past success. Word scores are cheap for all documents; the cosine is computed only where it can matter.

import type { CorpusSnapshot } from "./corpus.ts";
import type { QueryScores } from "./scores.ts";
import { countDiffering, expectedDiffering, signsOf, signsWidth } from "./signs.ts";
import { wordsOf } from "./words.ts";

/** What the caller knows beyond the query. */
export interface RankingHints {
  /** Past success of each tool, by full name, from -1 (all failed) to 1. */
  readonly experience?: ((fullName: string) => number) | undefined;
  /** Only tools for which this holds are ranked. */
  readonly among?: ((fullName: string) => boolean) | undefined;
}

/** BM25 and TF-IDF are scaled to a maximum of 1; a cosine keeps its scale. */
export const weights = {
  bm25: 1,
  tfidf: 1,
  cosine: 2,
  mention: 0.7,
  toolkitMention: 0.25,
  experience: 0.25,
};

/** The documents with the highest scores, best first; of equals the first. */
export function scoreAll(
  query: string,
  scores: QueryScores,
  snapshot: CorpusSnapshot,
  { experience, among }: RankingHints,
  countMax: number,
): Candidate[] {
  const sums = sumWithoutCosine(query, scores, snapshot);
  const cosineOf = createCosine(scores.queryVectors, snapshot);
  const experienceMost = experience ? weights.experience : 0;
  /** The score of a document if it exceeds `least`, else at most `least`. Records its cosine. */
  const scoreAbove = (least: number, document: number): number => {
    const sum = sums[document] as number;
    const wanted = (least - experienceMost - sum) / weights.cosine;
    if (wanted >= 1 || (among && !among(snapshot.nameOf(document))))
      return Number.NEGATIVE_INFINITY;
    const near = cosineOf(document, wanted, sum);
    scores.cosine[document] = near;
    const score = sum + weights.cosine * near;
    // Experience decides between tools that match; it makes none match.
    if (score <= 0 || !experience) return score;
    const success = experience(snapshot.nameOf(document));
    return score + weights.experience * Math.min(1, Math.max(-1, success));
  };

  const best = createTopList(countMax);
  let least = 0;
  const consider = (document: number): void => {
    const score = scoreAbove(least, document);
    if (score > least) least = best.add(document, score);
  };
  // Documents with the best word scores come first; most of the others then cannot be better.
  scores.cosine.fill(unknown);
  const first = createTopList(preselectFactor * countMax);
  let firstLeast = 0;
  for (let document = 0; document < sums.length; document++) {
    const sum = sums[document] as number;
    if (sum > firstLeast) firstLeast = first.add(document, sum);
  }
  for (const { document } of first.list()) consider(document);
  for (let document = 0; document < sums.length; document++)
    if (scores.cosine[document] === unknown) consider(document);
  return best.list();
}

const unknown = -1;
/** Documents to try first, for each one wanted. */
const preselectFactor = 2;

/** The score of each document without the cosine. */
function sumWithoutCosine(
  query: string,
  { bm25, tfidf, best }: QueryScores,
  snapshot: CorpusSnapshot,
): Float64Array {
  const { sums } = snapshot.buffers;
  const [bm25Share, tfidfShare] = [weights.bm25 / best.bm25, weights.tfidf / best.tfidf];
  for (let document = 0; document < sums.length; document++) {
    sums[document] =
      (bm25[document] as number) * bm25Share + (tfidf[document] as number) * tfidfShare;
  }
  const add = (document: number, score: number): void => {
    sums[document] = (sums[document] as number) + score;
  };
  for (const document of new Set(
    identifiersOf(query).flatMap((name) => snapshot.documentsByName.get(name) ?? []),
  ))
    add(document, weights.mention);
  const queryWords = new Set(wordsOf(query));
  for (const word of queryWords) {
    for (const { first, idWords, tools } of snapshot.toolkitsByWord.get(word) ?? []) {
      if (!idWords.every((each) => queryWords.has(each))) continue;
      for (let at = 0; at < tools.length; at++) add(first + at, weights.toolkitMention);
    }
  }
  return sums;
}

/** Words that look like identifiers: with a dot, dash or underscore inside, or in camelCase. */
function identifiersOf(query: string): string[] {
  const tokens = query.slice(0, 4_000).match(/[\p{L}\p{N}]+(?:[-_./]+[\p{L}\p{N}]+)*/gu) ?? [];
  return tokens
    .filter((token) => /[-_./]|\p{Ll}\p{Lu}/u.test(token))
    .map((token) => token.toLowerCase());
}

/**
 * The cosine of a document with the nearest query vector; 0 if it is negative or, by its signs, probably below
 * `wanted`. Clauses count only for documents that match the whole query to some degree.
 */
function createCosine(
  queryVectors: readonly Float32Array[],
  { matrix, signs }: CorpusSnapshot,
): (document: number, wanted: number, sum: number) => number {
  const dimensions = queryVectors[0]?.length ?? 0;
  const width = signsWidth(dimensions);
  const joined = new Float32Array(queryVectors.length * dimensions);
  queryVectors.forEach((part, at) => {
    joined.set(part, at * dimensions);
  });
  const partSigns = signsOf(joined, dimensions);
  const cosineWith = (part: number, document: number): number =>
    dot(matrix, document * dimensions, joined, part * dimensions, dimensions);
  let most = 0;
  return (document, wanted, sum) => {
    const differingMax =
      (differingMaxFor[Math.floor(Math.max(0, wanted) * wantedSteps)] as number) * dimensions;
    let [nearest, whole] = [0, Number.NaN];
    for (let part = 0; part < queryVectors.length; part++) {
      if (
        wanted > 0 &&
        countDiffering(signs, document * width, partSigns, part * width, width) > differingMax
      )
        continue;
      if (Number.isNaN(whole)) {
        whole = cosineWith(0, document);
        most = Math.max(most, sum + whole);
        nearest = Math.max(0, whole);
        if (sum + whole < chanceLeast * most) break;
      }
      if (part > 0) nearest = Math.max(nearest, cosineWith(part, document));
    }
    return nearest;
  };
}

/** The share of the best score, by words and whole query, that a document must reach. */
const chanceLeast = 0.25;
/** Added to the expected share of differing signs. 4 % of pairs differ more; they are near the limit. */
const differingMore = 8 / 128;
const wantedSteps = 64;
const differingMaxFor = Float64Array.from(
  { length: wantedSteps },
  (_, step) => expectedDiffering(step / wantedSteps) + differingMore,
);

/** Four independent sums, since a single one would serialise the additions. */
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

/** A document and its score. */
export interface Candidate {
  readonly document: number;
  readonly score: number;
}

/** A sorted list of limited length; insertion moves up one by one, since it is short. */
function createTopList(countMax: number) {
  const documents = new Int32Array(countMax);
  const scores = new Float64Array(countMax);
  let count = 0;
  const isBefore = (document: number, score: number, at: number): boolean =>
    score > (scores[at] as number) ||
    (score === scores[at] && document < (documents[at] as number));
  return {
    /** Returns the score that the next one must exceed. */
    add(document: number, score: number): number {
      let at = count < countMax ? count++ : countMax - 1;
      for (; at > 0 && isBefore(document, score, at - 1); at--) {
        scores[at] = scores[at - 1] as number;
        documents[at] = documents[at - 1] as number;
      }
      scores[at] = score;
      documents[at] = document;
      return count < countMax ? 0 : (scores[countMax - 1] as number);
    },
    list: (): Candidate[] =>
      Array.from(documents.subarray(0, count), (document, at) => ({
        document,
        score: scores[at] as number,
      })),
  };
}
