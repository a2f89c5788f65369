// The first stage scores all tools: three scores are scaled and added, with small bonuses for mentioned names
// and past success. Word scores are cheap for all documents; the cosine is computed only where it can matter.

import type { CorpusSnapshot } from "./corpus.ts";
import type { QueryScores } from "./scores.ts";
import { countDiffering, expectedCosine, signsOf, signsWidth } from "./signs.ts";
import { wordsOf } from "./words.ts";

/** Facts of the caller beyond the query. */
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
  const bounds = boundScores(sums, scores.queryVectors, snapshot);
  const cosineOf = createCosine(scores.queryVectors, snapshot);
  const experienceMost = experience ? weights.experience : 0;
  const best = createTopList(countMax);
  let least = 0;
  const consider = (document: number): void => {
    if (among && !among(snapshot.nameOf(document))) return;
    const sum = sums[document] as number;
    const near = cosineOf(document, sum);
    scores.cosine[document] = near;
    let score = sum + weights.cosine * near;
    // Experience decides between tools that match; it makes none match.
    if (experience && score > 0) {
      const success = experience(snapshot.nameOf(document));
      score += weights.experience * Math.min(1, Math.max(-1, success));
    }
    if (score > least) least = best.add(document, score);
  };
  // The likeliest documents come first; most of the others then cannot be better.
  for (const { document } of highest(bounds, countMax)) {
    bounds[document] = Number.NEGATIVE_INFINITY;
    consider(document);
  }
  for (let document = 0; document < bounds.length; document++)
    if ((bounds[document] as number) + experienceMost > least) consider(document);
  return best.list();
}

function highest(values: Float64Array, countMax: number): Candidate[] {
  const best = createTopList(countMax);
  let least = 0;
  for (let document = 0; document < values.length; document++) {
    const value = values[document] as number;
    if (value > least) least = best.add(document, value);
  }
  return best.list();
}

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

/** The highest score each document can reach, given the highest cosine that its signs allow. */
function boundScores(
  sums: Float64Array,
  queryVectors: readonly Float32Array[],
  { signs, buffers: { bounds } }: CorpusSnapshot,
): Float64Array {
  const dimensions = queryVectors[0]?.length;
  if (dimensions === undefined) {
    bounds.set(sums);
    return bounds;
  }
  const width = signsWidth(dimensions);
  const reach = Float64Array.from({ length: dimensions + 1 }, (_, differing) =>
    Math.max(
      0,
      weights.cosine * expectedCosine(Math.max(0, differing / dimensions - differingMore)),
    ),
  );
  const own = Int32Array.from(queryVectors.flatMap((each) => [...signsOf(each, dimensions)]));
  for (let document = 0; document < sums.length; document++) {
    let least = dimensions;
    for (let from = 0; from < own.length; from += width)
      least = Math.min(least, countDiffering(signs, document * width, own, from, width));
    bounds[document] = (sums[document] as number) + (reach[least] as number);
  }
  return bounds;
}

/**
 * The cosine of a document with the nearest query vector; 0 if it is negative. Clauses count only for
 * documents that match the whole query to some degree.
 */
function createCosine(
  queryVectors: readonly Float32Array[],
  { matrix }: CorpusSnapshot,
): (document: number, sum: number) => number {
  const [whole, ...clauses] = queryVectors;
  let most = 0;
  return (document, sum) => {
    if (whole === undefined) return 0;
    const start = document * whole.length;
    const cosine = dot(matrix, start, whole);
    most = Math.max(most, sum + cosine);
    let nearest = Math.max(0, cosine);
    if (sum + cosine < chanceLeast * most) return nearest;
    for (const clause of clauses) nearest = Math.max(nearest, dot(matrix, start, clause));
    return nearest;
  };
}

/** The share of the best score, by words and whole query, that a document must reach. */
const chanceLeast = 0.25;
/** Subtracted from the share of differing signs. 4 % of pairs differ more; they are near the limit. */
const differingMore = 8 / 128;

/** Four independent sums, since a single one would serialise the additions. */
export function dot(matrix: Float32Array, start: number, vector: Float32Array): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let at = 0; at < vector.length; at += 4) {
    sum0 += (matrix[start + at] as number) * (vector[at] as number);
    sum1 += (matrix[start + at + 1] as number) * (vector[at + 1] as number);
    sum2 += (matrix[start + at + 2] as number) * (vector[at + 2] as number);
    sum3 += (matrix[start + at + 3] as number) * (vector[at + 3] as number);
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
