// Which tools fit a task. Three scores are brought to one scale and added: BM25 over weighted fields, TF-IDF with a stronger hold on long texts, and
// the cosine of word vectors; then what is known of this query and this user tips the scales a little. See docs/decisions/0010-ranking.md.

import { createCorpus, type Reading } from "./corpus.ts";
import type { ToolkitText } from "./document.ts";
import { areAlike } from "./families.ts";
import { fitsWell } from "./fit.ts";
import { bestOf, type Scores, scoreAll } from "./scores.ts";
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
/** Looked at beyond what is asked for, so that a page is full even where tools have others of their kind. */
const spare = 40;

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
      const families = collapse(findBest(fused, limit + spare), reading);
      const chosen = chooseVaried(families, limit, fused, scores, reading);
      const items = chosen.map((each) => describe(each, scores, reading));
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
function fuse(query: string, { bm25, tfidf, cosine }: Scores, reading: Reading, options: RankOptions): Float64Array {
  const { fused } = reading.sheets;
  const [bestBm25, bestTfidf] = [bestOf(bm25), bestOf(tfidf) / weights.tfidf];
  for (let document = 0; document < fused.length; document++) {
    const direction = weights.cosine * Math.max(0, cosine[document] as number);
    fused[document] = (bm25[document] as number) / bestBm25 + (tfidf[document] as number) / bestTfidf + direction;
  }
  addMentions(query, reading);
  addKnowledge(reading, options);
  return fused;
}

function addMentions(query: string, { entries, named, sheets: { fused } }: Reading): void {
  const mentioned = new Set([...identifiersOf(query)].flatMap((name) => named.get(name) ?? []));
  for (const document of mentioned) fused[document] = (fused[document] as number) + weights.mention;
  const said = new Set(wordsOf(query));
  for (const { first, idWords, tools } of entries) {
    if (idWords.length === 0 || !idWords.every((word) => said.has(word))) continue;
    for (let at = 0; at < tools.length; at++) fused[first + at] = (fused[first + at] as number) + weights.toolkitMention;
  }
}

/** What the caller knows: other scores, what did well before, and what is not asked about. */
function addKnowledge({ entries, sheets: { fused } }: Reading, { successes, scores, among }: RankOptions): void {
  if (!successes && !scores && !among) return;
  for (const { first, names } of entries) {
    names.forEach((name, at) => {
      const given = weights.given * Math.max(0, scores?.get(name) ?? 0);
      const success = weights.success * Math.min(1, Math.log10(1 + (successes?.get(name) ?? 0)));
      fused[first + at] = among && !among(name) ? Number.NEGATIVE_INFINITY : (fused[first + at] as number) + given + success;
    });
  }
}

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

interface Family {
  readonly document: number;
  /** The others, by full name. */
  readonly alike: string[];
}

/** Of tools that are alike the best stands for all. */
function collapse(best: readonly number[], reading: Reading): Family[] {
  const families: (Family & { readonly name: string })[] = [];
  for (const document of best) {
    const { entry, at } = reading.locate(document);
    const name = wordsOf(entry.tools[at] as string).join(" ");
    const first = families.find((other) => other.name === name && areAlikeIn(reading, other.document, document));
    if (first) first.alike.push(entry.names[at] as string);
    else families.push({ document, alike: [], name });
  }
  return families;
}

function areAlikeIn(reading: Reading, a: number, b: number): boolean {
  const [left, right] = [a, b].map((document) => {
    const { entry, at } = reading.locate(document);
    return entry.documents[at];
  });
  return left !== undefined && right !== undefined && areAlike(left, right);
}

interface Chosen extends Family {
  readonly score: number;
}

/** What a word of the query still counts for the next tool once one that holds it is chosen: a task of several steps wants several tools. */
const answeredShare = 0.9;

/** One after the other, each time the best of what is left, by the words that are not yet answered. */
function chooseVaried(families: readonly Family[], limit: number, fused: Float64Array, { terms, bm25 }: Scores, { postings }: Reading): Chosen[] {
  const scale = bestOf(bm25);
  const left = families.map((family) => ({
    family,
    worths: terms.map(({ number }) => (number === undefined ? 0 : postings.worth(number, family.document) / scale)),
    score: fused[family.document] as number,
  }));
  const shares = new Float64Array(terms.length).fill(1);
  const chosen: Chosen[] = [];
  while (chosen.length < limit && left.length > 0) {
    let best = 0;
    for (let at = 1; at < left.length; at++) if ((left[at]?.score as number) > (left[best]?.score as number)) best = at;
    const [taken] = left.splice(best, 1) as [(typeof left)[number]];
    chosen.push({ ...taken.family, score: taken.score / scoreMax });
    taken.worths.forEach((worth, term) => {
      if (worth === 0) return;
      const lost = (shares[term] as number) * (1 - answeredShare);
      shares[term] = (shares[term] as number) - lost;
      for (const other of left) other.score -= lost * (other.worths[term] as number);
    });
  }
  return chosen;
}

function describe({ document, alike, score }: Chosen, { terms }: Scores, reading: Reading): RankedTool {
  const { entry, at } = reading.locate(document);
  const matched = terms.flatMap(({ number, written }) => (number !== undefined && reading.postings.worth(number, document) > 0 ? [{ written, number }] : []));
  return {
    toolkit: entry.id,
    tool: entry.tools[at] as string,
    fullName: entry.names[at] as string,
    score: Math.round(score * 1_000) / 1_000,
    words: matched.sort((a, b) => reading.postings.rarityOf(b.number) - reading.postings.rarityOf(a.number)).map(({ written }) => written),
    alike,
  };
}
