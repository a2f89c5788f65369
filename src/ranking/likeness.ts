// How alike tools and sets of tools are: by the words they share, and by the direction of their vectors.

import type { Reading } from "./corpus.ts";
import { amountsIn } from "./postings.ts";
import { embed, normalise, type Vectors } from "./vectors.ts";
import { wordsOf } from "./words.ts";

/** What some tools say, taken together. */
export interface Profile {
  /** Words by number in rising order, with weights; together of length 1. */
  readonly words: Uint32Array;
  readonly weights: Float32Array;
  /** Of length 1, or empty without vectors. */
  readonly direction: Float32Array;
}

/** Words beyond the heaviest add little and would make large sets slow. */
const wordsMax = 96;

export function profileOf(documents: readonly number[], reading: Reading): Profile {
  const sums = new Map<number, number>();
  let direction = new Float32Array(0);
  for (const document of documents) {
    const { entry, at } = reading.locate(document);
    addWords(entry.documents[at], reading, sums);
    const dimensions = entry.matrix.length / entry.tools.length;
    if (direction.length === 0) direction = new Float32Array(dimensions);
    for (let k = 0; k < dimensions; k++)
      direction[k] = (direction[k] ?? 0) + (entry.matrix[at * dimensions + k] ?? 0);
  }
  const heaviest = [...sums]
    .sort((a, b) => b[1] - a[1] || byWord(a[0], b[0], reading))
    .slice(0, wordsMax);
  const kept = heaviest.sort((a, b) => a[0] - b[0]);
  return {
    words: Uint32Array.from(kept, ([word]) => word),
    weights: normalise(Float32Array.from(kept, ([, weight]) => weight)),
    direction: normalise(direction),
  };
}

/** A few words as if a tool had said them. Words that no tool has count only by their direction. */
export function profileOfText(
  text: string,
  { vocabulary, postings }: Reading,
  vectors: Vectors | undefined,
): Profile {
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

/** By the word and not by its number, which depends on who came first. */
const byWord = (a: number, b: number, { vocabulary }: Reading): number =>
  vocabulary.wordAt(a) < vocabulary.wordAt(b) ? -1 : 1;

/** Each tool counts the same, however much it says. */
function addWords(
  counted: Parameters<typeof amountsIn>[0] | undefined,
  { postings }: Reading,
  sums: Map<number, number>,
): void {
  if (counted === undefined) return;
  const weights = amountsIn(counted).map(
    (amount, at) => Math.log1p(amount) * postings.rarityOf(counted.words[at]),
  );
  const length = Math.hypot(...weights) || 1;
  counted.words.forEach((word, at) => {
    sums.set(word, (sums.get(word) ?? 0) + (weights[at] ?? 0) / length);
  });
}

/** From 0 to 1: .36 shared words, .64 direction; the words alone without vectors. */
export function likenessOf(a: Profile, b: Profile): number {
  const shared = sharedWords(a, b);
  if (a.direction.length === 0) return shared;
  let cosine = 0;
  for (let k = 0; k < a.direction.length; k++)
    cosine += (a.direction[k] as number) * (b.direction[k] as number);
  return 0.36 * shared + 0.64 * Math.max(0, cosine);
}

function sharedWords(a: Profile, b: Profile): number {
  let [i, j, sum] = [0, 0, 0];
  while (i < a.words.length && j < b.words.length) {
    const difference = (a.words[i] as number) - (b.words[j] as number);
    if (difference === 0) sum += (a.weights[i++] as number) * (b.weights[j++] as number);
    else if (difference < 0) i++;
    else j++;
  }
  return sum;
}
