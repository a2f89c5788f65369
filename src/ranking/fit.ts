import type { Reading } from "./corpus.ts";
import type { Scores } from "./scores.ts";

/**
 * Whether a document seems made for a query, judged by itself and not by what else there is: raw BM25, which grows with every rare word
 * they share, and the cosine, of the query as it is or without names. A warning, not a gate: of tasks that no offered tool fits it recognises 60 in 100,
 * and it suspects 3 in 100 of the others.
 */
export function fitsWell(
  document: number,
  { bm25, cosine, wishes, unnamed }: Scores,
  { matrix }: Reading,
): boolean {
  const shared = (bm25[document] ?? 0) / sharedScale;
  if (wishes.length === 0) return shared >= leastByWords;
  return (
    shared + Math.max(cosine[document] ?? 0, unnamed ? cosineOf(unnamed, matrix, document) : 0) >=
    least
  );
}

function cosineOf(wish: Float32Array, matrix: Float32Array, document: number): number {
  const start = document * wish.length;
  return wish.reduce((sum, value, at) => sum + value * (matrix[start + at] ?? 0), 0);
}

const sharedScale = 30;
const least = 0.5;
const leastByWords = 0.12;
