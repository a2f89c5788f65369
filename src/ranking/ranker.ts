// Which tools fit a task. Three scores are brought to one scale and added: BM25 over weighted fields, TF-IDF with a stronger hold on long texts, and
// the cosine of word vectors; what is known of this query and this user tips the scales a little. The best are then looked at again, word by word.
// See docs/decisions/0010-ranking.md.

import { alignAll } from "./alignment.ts";
import { createCorpus, type Reading } from "./corpus.ts";
import type { ToolkitText } from "./document.ts";
import { areAlike } from "./families.ts";
import { fitsWell } from "./fit.ts";
import type { Counted } from "./postings.ts";
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
  /** How calls of each tool, by full name, went: from -1, all failed, to 1. */
  readonly experience?: ReadonlyMap<string, number> | undefined;
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
/** Looked at twice: two times what can be asked for, so that a page is full even where tools have others of their kind. */
const candidatesMax = 40;

export function createRanker({ vectors }: { readonly vectors?: Vectors | undefined } = {}): Ranker {
  const corpus = createCorpus(vectors);
  return {
    set: corpus.set,
    remove: corpus.remove,
    rank(query, options = {}) {
      const reading = corpus.read();
      const scores = scoreAll(query, reading, vectors);
      const candidates = lookAgain(findBest(fuse(query, scores, reading, options), candidatesMax), scores, reading, vectors);
      const chosen = collapse(candidates, reading).slice(0, clampLimit(options.limit));
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

/** How much the parts of a score count at first; BM25 and TF-IDF have 1 as their best. */
const weights = { bm25: 1, tfidf: 1, cosine: 2, given: 2, mention: 0.7, toolkitMention: 0.25, experience: 0.25 };
/** And at the second look, where the alignment says most of what they had to say. */
const closer = { bm25: 0.5, tfidf: 0.5, alignment: 4 };
const scoreMax = closer.bm25 + closer.tfidf + weights.cosine + closer.alignment;

/** Each score is divided by its best, so that they can be added; a cosine has a scale of its own. What is left out has minus infinity. */
function fuse(query: string, { bm25, tfidf, cosine }: Scores, reading: Reading, options: RankOptions): Float64Array {
  const { fused } = reading.sheets;
  const [bestBm25, bestTfidf] = [bestOf(bm25) / weights.bm25, bestOf(tfidf) / weights.tfidf];
  for (let document = 0; document < fused.length; document++) {
    const direction = weights.cosine * Math.max(0, cosine[document] as number);
    fused[document] = (bm25[document] as number) / bestBm25 + (tfidf[document] as number) / bestTfidf + direction;
  }
  addMentions(query, reading);
  addKnowledge(reading, options);
  return fused;
}

interface Candidate {
  readonly document: number;
  readonly score: number;
}

/** The best of the first look, word by word. Without vectors the first look is all there is. */
function lookAgain(best: readonly number[], scores: Scores, reading: Reading, vectors: Vectors | undefined): Candidate[] {
  const { bm25, tfidf } = scores;
  const { fused } = reading.sheets;
  if (!vectors) return best.map((document) => ({ document, score: fused[document] as number }));
  const [lessBm25, lessTfidf] = [(weights.bm25 - closer.bm25) / bestOf(bm25), (weights.tfidf - closer.tfidf) / bestOf(tfidf)];
  const shares = alignAll(best, scores, reading, vectors);
  return best
    .map((document, at) => {
      const rest = (fused[document] as number) - lessBm25 * (bm25[document] as number) - lessTfidf * (tfidf[document] as number);
      return { document, score: rest + closer.alignment * (shares[at] as number) };
    })
    .sort((a, b) => b.score - a.score || a.document - b.document);
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

/** What the caller knows: other scores, how calls went before, and what is not asked about. */
function addKnowledge({ entries, sheets: { fused } }: Reading, { experience, scores, among }: RankOptions): void {
  if (!experience && !scores && !among) return;
  for (const { first, names } of entries) {
    names.forEach((name, at) => {
      const given = weights.given * Math.max(0, scores?.get(name) ?? 0);
      const words = fused[first + at] as number;
      // Experience tips the scales between tools that fit; it makes none fit.
      const known = words > 0 ? weights.experience * Math.min(1, Math.max(-1, experience?.get(name) ?? 0)) : 0;
      fused[first + at] = among && !among(name) ? Number.NEGATIVE_INFINITY : words + given + known;
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

interface Family extends Candidate {
  /** The others, by full name. */
  readonly alike: string[];
}

/** Of tools that are alike the best stands for all. */
function collapse(best: readonly Candidate[], reading: Reading): Family[] {
  const families: Family[] = [];
  const byName = new Map<string, { readonly family: Family; readonly counted: Counted }[]>();
  for (const candidate of best) {
    const { entry, at } = reading.locate(candidate.document);
    const counted = entry.documents[at] as Counted;
    const name = entry.plainNames[at] as string;
    const sameName = byName.get(name) ?? [];
    const first = sameName.find((other) => areAlike(other.counted, counted));
    if (first) first.family.alike.push(entry.names[at] as string);
    else {
      const family = { ...candidate, alike: [] };
      families.push(family);
      byName.set(name, [...sameName, { family, counted }]);
    }
  }
  return families;
}

function describe({ document, alike, score }: Family, { terms }: Scores, reading: Reading): RankedTool {
  const { entry, at } = reading.locate(document);
  const matched = terms.flatMap(({ number, written }) => (number !== undefined && reading.postings.worth(number, document) > 0 ? [{ written, number }] : []));
  return {
    toolkit: entry.id,
    tool: entry.tools[at] as string,
    fullName: entry.names[at] as string,
    score: Math.round((score / scoreMax) * 1_000) / 1_000,
    words: matched.sort((a, b) => reading.postings.rarityOf(b.number) - reading.postings.rarityOf(a.number)).map(({ written }) => written),
    alike,
  };
}
