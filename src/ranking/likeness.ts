// Similarity of tools and sets of tools, by shared words and by their vectors.

import type { CorpusSnapshot } from "./corpus.ts";
import { amountsIn, type DocumentCounts } from "./postings.ts";
import { embed, normalise, type Vectors } from "./vectors.ts";
import { wordsOf } from "./words.ts";

/** The combined text of some tools. */
export interface TextProfile {
  /** Words by ascending number, with normalised weights. */
  readonly words: Uint32Array;
  readonly weights: Float32Array;
  /** Normalised; empty without vectors. */
  readonly direction: Float32Array;
}

/** Words beyond the heaviest add little and slow down large sets. */
const wordsMax = 96;

export function profileOf(documents: readonly number[], snapshot: CorpusSnapshot): TextProfile {
  const sums = new Map<number, number>();
  let direction = new Float32Array(0);
  for (const document of documents) {
    const { entry, at } = snapshot.locate(document);
    addWords(entry.documents[at] as DocumentCounts, snapshot, sums);
    const dimensions = entry.matrix.length / entry.tools.length;
    if (direction.length === 0) direction = new Float32Array(dimensions);
    for (let k = 0; k < dimensions; k++)
      direction[k] = (direction[k] ?? 0) + (entry.matrix[at * dimensions + k] ?? 0);
  }
  const heaviest = [...sums]
    .sort((a, b) => b[1] - a[1] || byWord(a[0], b[0], snapshot))
    .slice(0, wordsMax);
  const kept = heaviest.sort((a, b) => a[0] - b[0]);
  return {
    words: Uint32Array.from(kept, ([word]) => word),
    weights: normalise(Float32Array.from(kept, ([, weight]) => weight)),
    direction: normalise(direction),
  };
}

/** The profile of a text. Words that no tool contains count only by their vectors. */
export function profileOfText(
  text: string,
  { vocabulary, postings }: CorpusSnapshot,
  vectors: Vectors | undefined,
): TextProfile {
  const stems = [...new Set(wordsOf(text))];
  const words = Uint32Array.from(stems.flatMap((word) => vocabulary.find(word) ?? [])).sort();
  return {
    words,
    weights: normalise(Float32Array.from(words, (word) => postings.rarityOf(word))),
    direction: vectors
      ? embed(
          stems.map((word) => [word, 1] as const),
          vectors,
        )
      : new Float32Array(0),
  };
}

/** By the word, since its number depends on the order of arrival. */
const byWord = (a: number, b: number, { vocabulary }: CorpusSnapshot): number =>
  vocabulary.wordAt(a) < vocabulary.wordAt(b) ? -1 : 1;

/** Each tool counts the same, whatever its length. */
function addWords(
  counted: DocumentCounts,
  { postings }: CorpusSnapshot,
  sums: Map<number, number>,
): void {
  const weights = amountsIn(counted).map(
    (amount, at) => Math.log1p(amount) * postings.rarityOf(counted.words[at]),
  );
  const length = Math.hypot(...weights) || 1;
  counted.words.forEach((word, at) => {
    sums.set(word, (sums.get(word) ?? 0) + (weights[at] ?? 0) / length);
  });
}

/** From 0 to 1: 0.36 shared words and 0.64 direction, or the words alone without vectors. */
export function likenessOf(a: TextProfile, b: TextProfile): number {
  const shared = sharedWords(a, b);
  if (a.direction.length === 0) return shared;
  let cosine = 0;
  for (let k = 0; k < a.direction.length; k++)
    cosine += (a.direction[k] as number) * (b.direction[k] as number);
  return 0.36 * shared + 0.64 * Math.max(0, cosine);
}

function sharedWords(a: TextProfile, b: TextProfile): number {
  let [i, j, sum] = [0, 0, 0];
  while (i < a.words.length && j < b.words.length) {
    const difference = (a.words[i] as number) - (b.words[j] as number);
    if (difference === 0) sum += (a.weights[i++] as number) * (b.weights[j++] as number);
    else if (difference < 0) i++;
    else j++;
  }
  return sum;
}
