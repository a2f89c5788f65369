import { isStopword, type Sentence } from "./language.ts";

export interface Keyword {
  readonly keyword: string;
  /** Against the first, which has 1. */
  readonly score: number;
  readonly count: number;
}

const keywordsMax = 15;
const phraseWordsMax = 3;

/** Phrases are what stands between stopwords, whole or in part; what comes again counts, and of two that come as often the longer says more. */
export function findKeywords(sentences: readonly Sentence[]): Keyword[] {
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
    // A comma or a dash between two words ends a phrase as a stopword does.
    if (/[^\s\p{L}\p{M}\p{N}]/u.test(lower.slice(at, found))) close();
    at = found + word.length;
    if (isStopword(word) || (word.length < 3 && /^[a-z]/.test(word))) close();
    else open.push(word);
  }
  close();
  return phrases;
}

/** A word that only says again what a better phrase says is left out. */
function withoutParts(scored: readonly Keyword[]): Keyword[] {
  const kept: Keyword[] = [];
  for (const candidate of scored) {
    if (kept.length === keywordsMax) break;
    if (
      kept.some(
        ({ keyword, count }) =>
          ` ${keyword} `.includes(` ${candidate.keyword} `) && candidate.count <= count,
      )
    )
      continue;
    kept.push(candidate);
  }
  const best = kept[0]?.score ?? 1;
  return kept.map(({ keyword, count, score }) => ({
    keyword,
    score: Math.round((score / best) * 1000) / 1000,
    count,
  }));
}
