import { isStopword, type Sentence } from "./language.ts";

/**
 * The sentences that say most, in their order: those that share rare words with many others (TextRank), and a little more those at the start,
 * where writers put what matters. Nothing is rephrased, so nothing is invented.
 */
export function summarize(sentences: readonly Sentence[]): string[] {
  const candidates = pickCandidates(sentences);
  const wanted = Math.min(sentencesMax, Math.max(1, Math.round(sentences.length * 0.2)));
  if (candidates.length <= wanted) return candidates.map(({ text }) => text);
  const scores = rank(candidates);
  const best = candidates
    .map((sentence, index) => ({
      sentence,
      index,
      score: (scores[index] ?? 0) * (1 + 0.5 / (1 + index)),
    }))
    .sort((a, b) => b.score - a.score);
  const chosen: typeof best = [];
  let length = 0;
  for (const candidate of best) {
    if (chosen.length === wanted || length > summaryCharactersMax) break;
    if (chosen.some(({ sentence }) => similarity(sentence, candidate.sentence) > 0.7)) continue;
    chosen.push(candidate);
    length += candidate.sentence.text.length;
  }
  return chosen.sort((a, b) => a.index - b.index).map(({ sentence }) => sentence.text);
}

const sentencesMax = 7;
const summaryCharactersMax = 2_000;
/** Every pair is compared: 400 are 80,000 pairs. */
const candidatesMax = 400;

interface Candidate {
  readonly text: string;
  readonly terms: ReadonlySet<string>;
}

/** Headings and fragments say little, endless sentences are tables. From long texts evenly, the start in full. */
function pickCandidates(sentences: readonly Sentence[]): Candidate[] {
  const whole = sentences.filter(({ text, words }) => words.length >= 4 && text.length <= 600);
  const usable =
    whole.length > 0
      ? whole
      : sentences.map((sentence) => ({ ...sentence, text: sentence.text.slice(0, 600) }));
  const head = usable.slice(0, candidatesMax / 2);
  const rest = usable.slice(candidatesMax / 2);
  const step = Math.max(1, rest.length / (candidatesMax / 2));
  const sampled = Array.from(
    { length: Math.min(rest.length, candidatesMax / 2) },
    (_, index) => rest[Math.floor(index * step)],
  );
  return [...head, ...sampled.filter((sentence) => sentence !== undefined)].map(
    ({ text, words }) => ({
      text,
      terms: new Set(words.filter((word) => !isStopword(word)).map(stem)),
    }),
  );
}

/** Rough on purpose: enough that "reports" meets "reported". */
function stem(word: string): string {
  return word.length > 5 ? word.replace(/(?:ings?|edly|ed|es|s|en|er|em|e|ly)$/, "") : word;
}

function rank(candidates: readonly Candidate[]): number[] {
  const weights = candidates.map((a, i) =>
    candidates.map((b, j) => (i === j ? 0 : similarity(a, b))),
  );
  const sums = weights.map((row) => row.reduce((sum, weight) => sum + weight, 0));
  let scores = candidates.map(() => 1);
  for (let round = 0; round < 20; round++) {
    const previous = scores;
    scores = weights.map(
      (row) =>
        0.15 +
        0.85 *
          row.reduce(
            (sum, weight, j) =>
              sum + (weight === 0 ? 0 : (weight / (sums[j] || 1)) * (previous[j] ?? 0)),
            0,
          ),
    );
  }
  return scores;
}

function similarity(a: Candidate, b: Candidate): number {
  const [small, large] = a.terms.size < b.terms.size ? [a.terms, b.terms] : [b.terms, a.terms];
  if (small.size === 0) return 0;
  let shared = 0;
  for (const term of small) if (large.has(term)) shared++;
  return shared / Math.sqrt(a.terms.size * b.terms.size);
}
