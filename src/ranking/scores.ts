import type { Reading } from "./corpus.ts";
import { findSpelling } from "./spelling.ts";
import { embed, type Vectors } from "./vectors.ts";
import { spellingsOf, wordsOf } from "./words.ts";

/** A query as words, and what each document got for them, until the next question. */
export interface Scores {
  readonly terms: readonly Term[];
  /** Which terms each wish of a longer task has; none when there is but one. */
  readonly clauses: readonly (readonly number[])[];
  readonly bm25: Float64Array;
  readonly tfidf: Float64Array;
  /** Zeros without vectors. */
  readonly cosine: Float64Array;
  readonly hasCosines: boolean;
}

interface Term {
  /** As it stands in the query. */
  readonly written: string;
  readonly word: string;
  /** Its number in the vocabulary; none when no document holds it. */
  readonly number: number | undefined;
}

/** More words than any task needs; what comes later is not looked at. */
const termsMax = 300;
const correctionsMax = 5;

export function scoreAll(query: string, reading: Reading, vectors: Vectors | undefined): Scores {
  const { terms, clauses } = readQuery(query, reading);
  const { bm25, tfidf, cosine } = reading.sheets;
  for (const sheet of [bm25, tfidf, cosine]) sheet.fill(0);
  for (const { number } of terms) {
    if (number !== undefined) reading.postings.addTo(number, bm25, tfidf);
  }
  const scores = { terms, clauses, bm25, tfidf, cosine, hasCosines: vectors !== undefined };
  if (vectors) {
    addCosines(terms, reading, vectors, cosine);
    raiseByClauses(scores, reading, vectors);
  }
  return scores;
}

/** A word nobody knows is taken for the known one it is a slip away from. */
function readQuery(query: string, { vocabulary }: Reading): Pick<Scores, "terms" | "clauses"> {
  let corrections = 0;
  const terms: Term[] = [];
  const places = new Map<string, number>();
  for (const [stem, written] of spellingsOf(query)) {
    if (terms.length === termsMax) break;
    const isKnown = vocabulary.find(stem) !== undefined;
    const word = (isKnown || ++corrections > correctionsMax ? undefined : findSpelling(stem, vocabulary)) ?? stem;
    const place = places.get(word) ?? terms.push({ written, word, number: vocabulary.find(word) }) - 1;
    places.set(word, place).set(stem, place);
  }
  const clauses = clausesOf(query).map((words) => [...new Set(words.flatMap((word) => places.get(word) ?? []))]);
  return { terms, clauses };
}

function addCosines(terms: readonly Term[], { matrix }: Reading, vectors: Vectors, cosine: Float64Array): void {
  const query = embedTerms(terms, vectors);
  for (let document = 0; document < cosine.length; document++) cosine[document] = dot(matrix, document * query.length, query);
}

/**
 * A long task is many wishes, and a tool that fulfils one of them need not fit the rest: the best of the whole and its clauses counts. Only tools that
 * have a chance are looked at again.
 */
function raiseByClauses({ terms, clauses, bm25, tfidf, cosine }: Scores, reading: Reading, vectors: Vectors): void {
  if (clauses.length === 0) return;
  const wishes = clauses.map((clause) =>
    embedTerms(
      clause.map((term) => terms[term] as Term),
      vectors,
    ),
  );
  const [bestBm25, bestTfidf] = [bestOf(bm25), bestOf(tfidf)];
  const sums = reading.sheets.fused;
  for (let document = 0; document < sums.length; document++) {
    sums[document] = (bm25[document] as number) / bestBm25 + (tfidf[document] as number) / bestTfidf + (cosine[document] as number);
  }
  const least = chanceLeast * bestOf(sums);
  for (let document = 0; document < sums.length; document++) {
    if ((sums[document] as number) < least) continue;
    for (const wish of wishes) cosine[document] = Math.max(cosine[document] as number, dot(reading.matrix, document * wish.length, wish));
  }
}

const chanceLeast = 0.25;
const clausesMax = 8;

/** The sentences of a text, and what stands between "and" and "then", as words; none when there is but one. */
function clausesOf(query: string): string[][] {
  const clauses = query
    .slice(0, 4_000)
    .split(/[.!?;\n]+\s|[。！？；]|,?\s(?:and|then|also)\s/i)
    .map((clause) => wordsOf(clause))
    .filter((words) => words.length > 1);
  return clauses.length > 1 ? clauses.slice(0, clausesMax) : [];
}

const embedTerms = (terms: readonly Term[], vectors: Vectors): Float32Array =>
  embed(
    terms.map(({ word }) => [word, 1] as const),
    vectors,
  );

/** Four sums side by side: a single one would make every step wait for the one before. */
function dot(matrix: Float32Array, start: number, vector: Float32Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let at = 0; at < vector.length; at += 4) {
    a += (matrix[start + at] as number) * (vector[at] as number);
    b += (matrix[start + at + 1] as number) * (vector[at + 1] as number);
    c += (matrix[start + at + 2] as number) * (vector[at + 2] as number);
    d += (matrix[start + at + 3] as number) * (vector[at + 3] as number);
  }
  return a + b + c + d;
}

/** The highest, or 1 where all are 0, to divide by. */
export function bestOf(scores: Float64Array): number {
  let best = 0;
  for (let at = 0; at < scores.length; at++) best = Math.max(best, scores[at] as number);
  return best || 1;
}
