// Which tools fit a task. All are looked at once: BM25 over weighted fields, TF-IDF with a stronger hold on long texts, and the cosine of word vectors.
// The best are then looked at again, word by word.
// See docs/decisions/0010-ranking.md.

import { alignAll } from "./alignment.ts";
import type { Candidate } from "./best.ts";
import { createCorpus, type Reading } from "./corpus.ts";
import type { ToolkitText } from "./document.ts";
import { areAlike } from "./families.ts";
import { type Knowledge, lookOnce, weights } from "./first-look.ts";
import { fitsWell } from "./fit.ts";
import type { Counted } from "./postings.ts";
import { type Scores, scoreAll } from "./scores.ts";
import type { Vectors } from "./vectors.ts";

export interface Ranker {
  /** Adds a toolkit, or puts it in place of the one with its id. Only its own texts are read. */
  set(toolkit: ToolkitText): void;
  remove(id: string): void;
  rank(query: string, options?: RankOptions): Ranking;
  /** How many tools there are. */
  readonly size: number;
}

export interface RankOptions extends Knowledge {
  /** 1 to 20; 10 unless said. */
  readonly limit?: number | undefined;
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
      const candidates = lookAgain(
        lookOnce(query, scores, reading, options, candidatesMax),
        scores,
        reading,
        vectors,
      );
      const chosen = collapse(candidates, reading).slice(0, clampLimit(options.limit));
      const items = chosen.map((each) => describe(each, scores, reading));
      return { items, fits: chosen.some(({ document }) => fitsWell(document, scores, reading)) };
    },
    get size() {
      return corpus.size;
    },
  };
}

function clampLimit(limit = limits.usual): number {
  return Number.isNaN(limit)
    ? limits.usual
    : Math.floor(Math.min(limits.most, Math.max(limits.least, limit)));
}

/** And at the second look, where the alignment says most of what they had to say. */
const closer = { bm25: 0.5, tfidf: 0.5, alignment: 4 };
const scoreMax = closer.bm25 + closer.tfidf + weights.cosine + closer.alignment;

/** The best of the first look, word by word. Without vectors the first look is all there is. */
function lookAgain(
  best: readonly Candidate[],
  scores: Scores,
  reading: Reading,
  vectors: Vectors | undefined,
): readonly Candidate[] {
  if (!vectors) return best;
  const [lessBm25, lessTfidf] = [
    (weights.bm25 - closer.bm25) / scores.best.bm25,
    (weights.tfidf - closer.tfidf) / scores.best.tfidf,
  ];
  const shares = alignAll(
    best.map(({ document }) => document),
    scores,
    reading,
    vectors,
  );
  return best
    .map(({ document, score }, at) => {
      const rest =
        score -
        lessBm25 * (scores.bm25[document] as number) -
        lessTfidf * (scores.tfidf[document] as number);
      return { document, score: rest + closer.alignment * (shares[at] as number) };
    })
    .sort((a, b) => b.score - a.score || a.document - b.document);
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

function describe(
  { document, alike, score }: Family,
  { terms }: Scores,
  reading: Reading,
): RankedTool {
  const { entry, at } = reading.locate(document);
  const matched = terms.flatMap(({ number, written }) =>
    number !== undefined && reading.postings.worth(number, document) > 0
      ? [{ written, number }]
      : [],
  );
  return {
    toolkit: entry.id,
    tool: entry.tools[at] as string,
    fullName: entry.names[at] as string,
    score: Math.round((score / scoreMax) * 1_000) / 1_000,
    words: matched
      .sort((a, b) => reading.postings.rarityOf(b.number) - reading.postings.rarityOf(a.number))
      .map(({ written }) => written),
    alike,
  };
}
