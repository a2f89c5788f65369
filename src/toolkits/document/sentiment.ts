import type { Sentence } from "./language.ts";
import { intensities, negations, turns, valenceOf } from "./lexicon.ts";

export interface Sentiment {
  readonly label: "positive" | "negative" | "neutral";
  /** From -1 to 1. */
  readonly score: number;
  readonly positive_sentences: number;
  readonly negative_sentences: number;
  readonly neutral_sentences: number;
  /** The sentences that decided it, strongest first. */
  readonly strongest: readonly { readonly text: string; readonly score: number }[];
}

const threshold = 0.2;
const strongestMax = 5;

/** Words looked up, turned round by negations, made stronger or weaker by what stands before them. Irony is not seen. */
export function judgeSentiment(sentences: readonly Sentence[]): Sentiment {
  const scored = sentences.map(({ text, words }) => ({
    text: text.slice(0, 300),
    score: round(squash(sumOf(words))),
  }));
  const felt = scored.filter(({ score }) => Math.abs(score) >= threshold);
  const total = felt.reduce((sum, { score }) => sum + score, 0);
  // A long report with one unhappy sentence is no unhappy report.
  const score = round(
    felt.length === 0 ? 0 : (total / felt.length) * Math.min(1, (felt.length / scored.length) * 3),
  );
  return {
    label: labelOf(score),
    score,
    positive_sentences: felt.filter((sentence) => sentence.score > 0).length,
    negative_sentences: felt.filter((sentence) => sentence.score < 0).length,
    neutral_sentences: scored.length - felt.length,
    strongest: felt.sort((a, b) => Math.abs(b.score) - Math.abs(a.score)).slice(0, strongestMax),
  };
}

function sumOf(words: readonly string[]): number {
  let sum = 0;
  for (const [index, word] of words.entries()) {
    if (turns.has(word) && index > 0) sum *= 0.5;
    let valence = intensities.has(word) ? 0 : valenceOf(word);
    if (valence === 0) continue;
    const before = words.slice(Math.max(0, index - 3), index);
    for (const previous of before) valence *= intensities.get(previous) ?? 1;
    // "Not good" is worse than nothing, but not as bad as "bad".
    if (before.some((previous) => negations.has(previous.replaceAll("’", "'")))) valence *= -0.75;
    sum += valence;
  }
  // "It does not." after a turn takes back what was praised before it.
  const turn = words.findLastIndex((word, index) => index > 0 && turns.has(word));
  if (
    turn >= 0 &&
    sum > 0 &&
    words.slice(turn).some((word) => negations.has(word)) &&
    words.slice(turn).every((word) => valenceOf(word) === 0)
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
