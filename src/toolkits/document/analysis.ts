import { type Entity, findEntities } from "./entities.ts";
import {
  analysedCharactersMax,
  detectLanguage,
  isStopword,
  type Sentence,
  splitSentences,
  type TextLanguage,
} from "./language.ts";
import { type Sentiment, scoreSentiment } from "./sentiment.ts";
import type { AnalysisType } from "./text.ts";

/** The result of counting and word lists, without a language model. */
export interface Analysis {
  readonly language: TextLanguage;
  readonly words: number;
  readonly sentences: number;
  readonly summary?: string;
  readonly keywords?: readonly Keyword[];
  readonly sentiment?: Sentiment;
  readonly entities?: readonly Entity[];
  readonly cut?: string;
}

export function analyze(text: string, type: AnalysisType): Analysis {
  const sentences = splitSentences(text);
  const words = sentences.flatMap((sentence) => sentence.words);
  const isCut = text.length > analysedCharactersMax;
  const facts = {
    language: detectLanguage(words),
    words: words.length,
    sentences: sentences.length,
    ...(isCut && { cut: `only the first 500,000 of ${text.length} characters were analysed` }),
  };
  switch (type) {
    case "summary":
      return { ...facts, summary: summarize(sentences).join(" ") };
    case "keywords":
      return { ...facts, keywords: findKeywords(sentences) };
    case "sentiment":
      return { ...facts, sentiment: scoreSentiment(sentences) };
    case "entities":
      return { ...facts, entities: findEntities(sentences, facts.language) };
  }
}

export interface Keyword {
  readonly keyword: string;
  /** Relative to the best keyword, which has 1. */
  readonly score: number;
  readonly count: number;
}

const keywordsMax = 15;
const phraseWordsMax = 3;

/** Phrases between stopwords, whole or in part, ranked by count and length. */
function findKeywords(sentences: readonly Sentence[]): Keyword[] {
  const counts = new Map<string, { count: number; isWhole: boolean; size: number }>();
  for (const phrase of sentences.flatMap(({ text, words }) => phrasesOf(text, words))) {
    for (let size = 1; size <= Math.min(phraseWordsMax, phrase.length); size++) {
      for (let start = 0; start + size <= phrase.length; start++) {
        const key = phrase.slice(start, start + size).join(" ");
        const entry = counts.get(key) ?? { count: 0, isWhole: false, size };
        counts.set(key, {
          count: entry.count + 1,
          isWhole: entry.isWhole || size === phrase.length,
          size,
        });
      }
    }
  }
  const scored = Array.from(counts, ([keyword, { count, isWhole, size }]) => ({
    keyword,
    count,
    isWhole,
    score: count * Math.log2(1 + size),
  }))
    .filter(({ count, isWhole }) => count > 1 || isWhole)
    .sort((a, b) => b.score - a.score || (a.keyword < b.keyword ? -1 : 1));
  return withoutParts(scored);
}

function phrasesOf(text: string, words: readonly string[]): string[][] {
  const phrases: string[][] = [];
  let open: string[] = [];
  const close = (): void => {
    if (open.length > 0) phrases.push(open);
    open = [];
  };
  let at = 0;
  const lower = text.toLowerCase();
  for (const word of words) {
    const found = lower.indexOf(word, at);
    // Punctuation ends a phrase, too.
    if (/[^\s\p{L}\p{M}\p{N}]/u.test(lower.slice(at, found))) close();
    at = found + word.length;
    if (isStopword(word) || (word.length < 3 && /^[a-z]/.test(word))) close();
    else open.push(word);
  }
  close();
  return phrases;
}

/** Drops keywords that are part of a better one. */
function withoutParts(scored: readonly Keyword[]): Keyword[] {
  const kept: Keyword[] = [];
  for (const candidate of scored) {
    if (kept.length === keywordsMax) break;
    const isPart = kept.some(
      ({ keyword, count }) =>
        ` ${keyword} `.includes(` ${candidate.keyword} `) && candidate.count <= count,
    );
    if (!isPart) kept.push(candidate);
  }
  const best = kept[0]?.score ?? 1;
  return kept.map(({ keyword, count, score }) => ({
    keyword,
    score: Math.round((score / best) * 1000) / 1000,
    count,
  }));
}

/**
 * The most central sentences (TextRank: those that share words with many others), with a bonus for the
 * start of the text, in their order. Nothing is rephrased, so nothing is invented.
 */
function summarize(sentences: readonly Sentence[]): string[] {
  const candidates = pickCandidates(sentences);
  const wanted = Math.min(sentencesMax, Math.max(1, Math.round(sentences.length * 0.2)));
  if (candidates.length <= wanted) return candidates.map(({ text }) => text);
  const scores = rankSentences(candidates);
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
/** Every pair is compared: 400 candidates are 80,000 pairs. */
const candidatesMax = 400;

interface Candidate {
  readonly text: string;
  readonly terms: ReadonlySet<string>;
}

/** Skips fragments and tables. Of a long text, takes the start and an even sample of the rest. */
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

/** Rough: enough for "reports" to match "reported". */
function stem(word: string): string {
  return word.length > 5 ? word.replace(/(?:ings?|edly|ed|es|s|en|er|em|e|ly)$/, "") : word;
}

function rankSentences(candidates: readonly Candidate[]): number[] {
  const weights = candidates.map((a, i) =>
    candidates.map((b, j) => (i === j ? 0 : similarity(a, b))),
  );
  const sums = weights.map((row) => row.reduce((sum, weight) => sum + weight, 0));
  let scores = candidates.map(() => 1);
  for (let round = 0; round < 20; round++) {
    const previous = scores;
    scores = weights.map((row) => {
      const share = (weight: number, j: number): number =>
        weight === 0 ? 0 : (weight / (sums[j] || 1)) * (previous[j] ?? 0);
      return 0.15 + 0.85 * row.reduce((sum, weight, j) => sum + share(weight, j), 0);
    });
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
