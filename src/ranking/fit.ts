import type { Scores } from "./scores.ts";

/**
 * Whether a document seems made for a query, judged by itself and not by what else there is: raw BM25, which grows with every rare word
 * they share, and the cosine. A warning, not a gate: of tasks that no offered tool fits it recognises 59 in 100, and it suspects 3 in 100 of the others.
 */
export function fitsWell(document: number, { bm25, cosine, wishes }: Scores): boolean {
  const shared = (bm25[document] ?? 0) / sharedScale;
  return wishes.length > 0 ? shared + (cosine[document] ?? 0) >= least : shared >= leastByWords;
}

const sharedScale = 30;
const least = 0.5;
const leastByWords = 0.12;
