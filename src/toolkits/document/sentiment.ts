import type { Sentence } from "./language.ts";
import { contrasts, intensities, negations, valenceOf } from "./lexicon.ts";

export interface Sentiment {
  readonly label: "positive" | "negative" | "neutral";
  /** From -1 to 1. */
  readonly score: number;
  readonly positive_sentences: number;
  readonly negative_sentences: number;
  readonly neutral_sentences: number;
  /** The sentences with the highest scores. */
  readonly strongest: readonly { readonly text: string; readonly score: number }[];
}

const threshold = 0.2;
const strongestMax = 5;

/** Sums word scores, inverted by negations and scaled by the words before them. Does not detect irony. */
export function scoreSentiment(sentences: readonly Sentence[]): Sentiment {
  const scored = sentences.map(({ text, words }) => ({
    text: text.slice(0, 300),
    score: round(squash(sumWords(words))),
  }));
  const opinionated = scored.filter(({ score }) => Math.abs(score) >= threshold);
  const total = opinionated.reduce((sum, { score }) => sum + score, 0);
  // One unhappy sentence does not make a long report negative.
  const share = Math.min(1, (opinionated.length / scored.length) * 3);
  const score = opinionated.length === 0 ? 0 : round((total / opinionated.length) * share);
  return {
    label: labelOf(score),
    score,
    positive_sentences: opinionated.filter((sentence) => sentence.score > 0).length,
    negative_sentences: opinionated.filter((sentence) => sentence.score < 0).length,
    neutral_sentences: scored.length - opinionated.length,
    strongest: opinionated
      .sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
      .slice(0, strongestMax),
  };
}

function sumWords(words: readonly string[]): number {
  let sum = 0;
  for (const [index, word] of words.entries()) {
    if (contrasts.has(word) && index > 0) sum *= 0.5;
    let valence = intensities.has(word) ? 0 : valenceOf(word);
    if (valence === 0) continue;
    const before = words.slice(Math.max(0, index - 3), index);
    for (const previous of before) valence *= intensities.get(previous) ?? 1;
    // "Not good" is negative, but less than "bad".
    if (before.some((previous) => negations.has(previous.replaceAll("’", "'")))) valence *= -0.75;
    sum += valence;
  }
  // "…, but it does not." withdraws the praise before it.
  const contrast = words.findLastIndex((word, index) => index > 0 && contrasts.has(word));
  if (
    contrast >= 0 &&
    sum > 0 &&
    words.slice(contrast).some((word) => negations.has(word)) &&
    words.slice(contrast).every((word) => valenceOf(word) === 0)
  )
    return -sum - 1;
  return sum;
}

function squash(sum: number): number {
  return sum / Math.sqrt(sum * sum + 8);
}

function labelOf(score: number): Sentiment["label"] {
  if (score >= threshold) return "positive";
  return score <= -threshold ? "negative" : "neutral";
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
