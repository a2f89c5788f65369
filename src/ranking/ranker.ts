// Which tools fit a task. Three scores are brought to one scale and added: BM25 over weighted fields, TF-IDF with a stronger hold on long texts, and
// the cosine of word vectors; then what is known of this query and this user tips the scales a little. See docs/decisions/0010-ranking.md.

import { createCorpus, type Reading } from "./corpus.ts";
import type { ToolkitText } from "./document.ts";
import { areAlike } from "./families.ts";
import { fitsWell } from "./fit.ts";
import { type Scores, scoreAll } from "./scores.ts";
import type { Vectors } from "./vectors.ts";
import { wordsOf } from "./words.ts";

export interface Ranker {
  /** Adds a toolkit, or puts it in place of the one with its id. Only its own texts are read. */
  set(toolkit: ToolkitText): void;
  remove(id: string): void;
  rank(query: string, options?: RankOptions): Ranking;
  /** How many tools there are. */
  readonly size: number;
}

export interface RankOptions {
  /** 1 to 20; 10 unless said. */
  readonly limit?: number | undefined;
  /** How often each tool, by full name, was called and did well. */
  readonly successes?: ReadonlyMap<string, number> | undefined;
  /** One more score by full name, such as a cosine from an embeddings endpoint; from 0 to 1. */
  readonly scores?: ReadonlyMap<string, number> | undefined;
  /** Only tools for which this holds are ranked. */
  readonly among?: ((fullName: string) => boolean) | undefined;
}

export interface Ranking {
  readonly items: readonly RankedTool[];
  /** False when nothing here seems made for the task; the items are then the nearest there is. */
  readonly fits: boolean;
}

export interface RankedTool {
  readonly toolkit: string;
  readonly tool: string;
  /** `toolkit.tool` */
  readonly fullName: string;
  /** From 0 to about 1, to compare within one ranking. */
  readonly score: number;
  /** The words of the query it holds, as they were written there; those that say most come first. */
  readonly words: readonly string[];
  /** Tools of the same name that say the same, left out for it. */
  readonly alike: readonly string[];
}

const limits = { least: 1, most: 20, usual: 10 };
/** Enough to fill a page even where every tool has a few of its kind. */
const poolMax = 120;

export function createRanker({ vectors }: { readonly vectors?: Vectors | undefined } = {}): Ranker {
  const corpus = createCorpus(vectors);
  return {
    set: corpus.set,
    remove: corpus.remove,
    rank(query, options = {}) {
      const reading = corpus.read();
      const scores = scoreAll(query, reading, vectors);
      const fused = fuse(query, scores, reading, options);
      const limit = clampLimit(options.limit);
      const chosen = collapse(findBest(fused, poolMax), limit, reading);
      const items = chosen.map((each) => describe(each, (fused[each.document] ?? 0) / scoreMax, scores, reading));
      return { items, fits: chosen.some(({ document }) => fitsWell(document, scores)) };
    },
    get size() {
      return corpus.size;
    },
  };
}

function clampLimit(limit = limits.usual): number {
  return Number.isNaN(limit) ? limits.usual : Math.floor(Math.min(limits.most, Math.max(limits.least, limit)));
}

/** How much the parts of a score count beside BM25, whose best is 1. */
const weights = { tfidf: 1, cosine: 1, given: 1, mention: 0.3, toolkitMention: 0.1, success: 0.1 };
const scoreMax = 1 + weights.tfidf + weights.cosine;

/** Each score is divided by its best, so that they can be added; a cosine has a scale of its own. What is left out has minus infinity. */
function fuse(query: string, { bm25, tfidf, cosine }: Scores, reading: Reading, { successes, scores: given, among }: RankOptions): Float64Array {
  const [bestBm25, bestTfidf] = [bestOf(bm25), bestOf(tfidf)];
  const [mentioned, said] = [identifiersOf(query), new Set(wordsOf(query))];
  const fused = new Float64Array(bm25.length);
  for (const { first, idWords, names, tools } of reading.entries) {
    const toolkitMention = idWords.length > 0 && idWords.every((word) => said.has(word)) ? weights.toolkitMention : 0;
    for (let at = 0; at < names.length; at++) {
      const document = first + at;
      const name = names[at] as string;
      let score = (bm25[document] as number) / bestBm25 + (weights.tfidf * (tfidf[document] as number)) / bestTfidf;
      score += weights.cosine * Math.max(0, cosine[document] as number) + toolkitMention;
      if (mentioned.size > 0 && (mentioned.has(name.toLowerCase()) || mentioned.has((tools[at] as string).toLowerCase()))) score += weights.mention;
      if (given) score += weights.given * Math.max(0, given.get(name) ?? 0);
      if (successes) score += weights.success * Math.min(1, Math.log10(1 + (successes.get(name) ?? 0)));
      fused[document] = among && !among(name) ? Number.NEGATIVE_INFINITY : score;
    }
  }
  return fused;
}

const bestOf = (scores: Float64Array): number => scores.reduce((best, score) => Math.max(best, score), 0) || 1;

/** Words of a query that only a name looks like: with a dot, a dash or an underscore inside, or written likeThis. */
function identifiersOf(query: string): ReadonlySet<string> {
  const tokens = query.slice(0, 4_000).match(/[\p{L}\p{N}]+(?:[-_./]+[\p{L}\p{N}]+)*/gu) ?? [];
  return new Set(tokens.filter((token) => /[-_./]|\p{Ll}\p{Lu}/u.test(token)).map((token) => token.toLowerCase()));
}

/** The documents with the highest scores, best first; of two with the same the first. */
function findBest(scores: Float64Array, countMax: number): number[] {
  const best: number[] = [];
  let least = 0;
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] as number;
    if (score <= least) continue;
    let at = best.length;
    while (at > 0 && (scores[best[at - 1] as number] as number) < score) at--;
    best.splice(at, 0, document);
    if (best.length > countMax) best.pop();
    if (best.length === countMax) least = scores[best[countMax - 1] as number] as number;
  }
  return best;
}

interface Chosen {
  readonly document: number;
  readonly alike: string[];
}

/** Of tools that are alike the best stays. Those that come after the page is full are still counted in, as far as they were looked at. */
function collapse(best: readonly number[], limit: number, reading: Reading): Chosen[] {
  const chosen: (Chosen & { readonly name: string })[] = [];
  for (const document of best) {
    const { entry, at } = reading.locate(document);
    const name = wordsOf(entry.tools[at] as string).join(" ");
    const first = chosen.find((other) => other.name === name && areAlikeIn(reading, other.document, document));
    if (first) first.alike.push(entry.names[at] as string);
    else if (chosen.length < limit) chosen.push({ document, alike: [], name });
  }
  return chosen;
}

function areAlikeIn(reading: Reading, a: number, b: number): boolean {
  const [left, right] = [a, b].map((document) => {
    const { entry, at } = reading.locate(document);
    return entry.documents[at];
  });
  return left !== undefined && right !== undefined && areAlike(left, right);
}

function describe({ document, alike }: Chosen, score: number, { terms }: Scores, reading: Reading): RankedTool {
  const { entry, at } = reading.locate(document);
  const matched = terms.flatMap(({ number, written }) => (number !== undefined && reading.postings.has(number, document) ? [{ written, number }] : []));
  return {
    toolkit: entry.id,
    tool: entry.tools[at] as string,
    fullName: entry.names[at] as string,
    score: Math.round(score * 1_000) / 1_000,
    words: matched.sort((a, b) => reading.postings.rarityOf(b.number) - reading.postings.rarityOf(a.number)).map(({ written }) => written),
    alike,
  };
}
