import type { Reading } from "./corpus.ts";
import { findSpelling } from "./spelling.ts";
import { embed, type Vectors } from "./vectors.ts";
import { spellingsOf } from "./words.ts";

/** A query as words, and what each document got for them. */
export interface Scores {
  readonly terms: readonly Term[];
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
  const terms = readTerms(query, reading);
  const { count } = reading.postings;
  const [bm25, tfidf, cosine] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  for (const { number } of terms) {
    if (number !== undefined) reading.postings.addTo(number, bm25, tfidf);
  }
  if (vectors) addCosines(terms, reading, vectors, cosine);
  return { terms, bm25, tfidf, cosine, hasCosines: vectors !== undefined };
}

/** A word nobody knows is taken for the known one it is a slip away from. */
function readTerms(query: string, { vocabulary }: Reading): Term[] {
  let corrections = 0;
  const terms = new Map<string, Term>();
  for (const [stem, written] of spellingsOf(query)) {
    if (terms.size === termsMax) break;
    const isKnown = vocabulary.find(stem) !== undefined;
    const word = (isKnown || ++corrections > correctionsMax ? undefined : findSpelling(stem, vocabulary)) ?? stem;
    if (!terms.has(word)) terms.set(word, { written, word, number: vocabulary.find(word) });
  }
  return [...terms.values()];
}

function addCosines(terms: readonly Term[], { entries }: Reading, vectors: Vectors, cosine: Float64Array): void {
  const query = embed(
    terms.map(({ word }) => [word, 1] as const),
    vectors,
  );
  const { dimensions } = vectors;
  for (const { matrix, first, tools } of entries) {
    for (let row = 0; row < tools.length; row++) cosine[first + row] = dot(matrix, row * dimensions, query);
  }
}

/** Four sums side by side: a single one would make every step wait for the one before. */
function dot(matrix: Float32Array, start: number, vector: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let at = 0; at < vector.length; at += 4) {
    a += (matrix[start + at] as number) * (vector[at] as number);
    b += (matrix[start + at + 1] as number) * (vector[at + 1] as number);
    c += (matrix[start + at + 2] as number) * (vector[at + 2] as number);
    d += (matrix[start + at + 3] as number) * (vector[at + 3] as number);
  }
  return a + b + c + d;
}
