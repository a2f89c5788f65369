/** A document with what it got. */
export interface Candidate {
  readonly document: number;
  readonly score: number;
}

/** The documents with the highest scores above 0, best first. */
export function findBest(scores: Float64Array, countMax: number): Candidate[] {
  const best = createBest(countMax);
  let least = 0;
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] as number;
    if (score > least) least = best.add(document, score);
  }
  return best.list();
}

interface Best {
  /** Tells what the next has to be above. */
  add(document: number, score: number): number;
  list(): Candidate[];
}

/** Keeps as many as it is told, in order. They are few, so they move up one by one. */
export function createBest(countMax: number): Best {
  const documents = new Int32Array(countMax);
  const scores = new Float64Array(countMax);
  let count = 0;
  const isBefore = (document: number, score: number, at: number): boolean =>
    score > (scores[at] as number) ||
    (score === scores[at] && document < (documents[at] as number));
  return {
    add(document, score) {
      let at = count < countMax ? count++ : countMax - 1;
      for (; at > 0 && isBefore(document, score, at - 1); at--) {
        scores[at] = scores[at - 1] as number;
        documents[at] = documents[at - 1] as number;
      }
      scores[at] = score;
      documents[at] = document;
      return count < countMax ? 0 : (scores[countMax - 1] as number);
    },
    list: () =>
      Array.from(documents.subarray(0, count), (document, at) => ({
        document,
        score: scores[at] as number,
      })),
  };
}
