// Ranks tools for a task. All are scored by BM25 over weighted fields, TF-IDF with a stronger length penalty
// and the cosine of word vectors; the best are reranked word by word. See docs/decisions/0010-ranking.md.

import { type Alignment, alignAll } from "./alignment.ts";
import { type CorpusSnapshot, createCorpus, type Steps } from "./corpus.ts";
import { type Field, fields, type ToolkitText } from "./document.ts";
import type { DocumentCounts } from "./postings.ts";
import { type Candidate, dot, type RankingHints, scoreAll, weights } from "./score-all.ts";
import { type QueryScores, scoreTerms } from "./scores.ts";
import type { Vectors } from "./vectors.ts";
import { type VerbClass, verbClassesOf } from "./verbs.ts";
import { splitRuns } from "./words.ts";

export interface Ranker {
  /** Adds or replaces a toolkit. Only its own texts are read. */
  set(toolkit: ToolkitText): void;
  remove(id: string): void;
  /** The same for several toolkits, in steps between which others may run. */
  update(removed: Iterable<string>, changed: Iterable<ToolkitText>): Steps;
  rank(query: string, options?: RankOptions): Ranking;
  /** The number of tools. */
  readonly size: number;
}

export interface RankOptions extends RankingHints {
  /** 1 to 20, default 10. */
  readonly limit?: number | undefined;
  /** Says of each tool why it was found. */
  readonly explains?: boolean | undefined;
}

export interface Ranking {
  readonly items: readonly RankedTool[];
  /** False if no tool seems to fit the task; the items are then the nearest ones. */
  readonly fits: boolean;
}

export interface RankedTool {
  readonly toolkit: string;
  readonly tool: string;
  /** `toolkit.tool` */
  readonly fullName: string;
  /** From 0 to about 1, comparable within one ranking. */
  readonly score: number;
  /** The query's words that match, as spelled there, rarest first. */
  readonly words: readonly string[];
  /** Duplicates of this tool, which are left out. */
  readonly alike: readonly string[];
  /** If it was asked for. */
  readonly reasons?: RankReasons | undefined;
}

/** The parts of a score. */
export interface RankReasons {
  /** The words of `RankedTool.words`, each with the parts of the tool that contain it. */
  readonly matches: readonly { readonly word: string; readonly fields: readonly Field[] }[];
  /** The cosine of the task's vector and the tool's, 0 to 1: alike in meaning, whatever the words. */
  readonly likeness: number;
  /** The share of the score that comes from word vectors and not from equal words, 0 to 1. */
  readonly vectorShare: number;
}

const limitMax = 20;
/** Twice the limit, so that a page is full even if duplicates are left out. */
const candidatesMax = 40;

export function createRanker({ vectors }: { readonly vectors?: Vectors | undefined } = {}): Ranker {
  const corpus = createCorpus(vectors);
  return {
    set: corpus.set,
    remove: corpus.remove,
    update: corpus.update,
    rank(query, options = {}) {
      const snapshot = corpus.read();
      const scores = scoreTerms(query, snapshot, vectors);
      const candidates = rerank(
        scoreAll(query, scores, snapshot, options, candidatesMax),
        scores,
        snapshot,
        vectors,
        findTaskVerbs(scores.text),
      );
      const chosen = collapseDuplicates(candidates, snapshot).slice(0, clampLimit(options.limit));
      const items = chosen.map((each) => {
        const described = describe(each, scores, snapshot);
        if (!options.explains) return described;
        return { ...described, reasons: explain(each, described.words, scores, snapshot) };
      });
      return { items, fits: chosen.some(({ document }) => fitsWell(document, scores, snapshot)) };
    },
    get size() {
      return corpus.size;
    },
  };
}

function clampLimit(limit = 10): number {
  return Math.floor(Math.min(limitMax, Math.max(1, limit)));
}

/** Lower than in the first stage, because the alignment covers most of the same evidence. */
const rerankWeights = { bm25: 0.5, tfidf: 0.5, matched: 4, name: 0.3, description: 0.8 };
const scoreMax = Object.values(rerankWeights).reduce((sum, weight) => sum + weight, weights.cosine);

/** Reranks the best documents by word alignment, which needs vectors. */
function rerank(
  best: readonly Candidate[],
  scores: QueryScores,
  snapshot: CorpusSnapshot,
  vectors: Vectors | undefined,
  verbs: readonly VerbClass[],
): readonly Candidate[] {
  if (!vectors) return best;
  const [lessBm25, lessTfidf] = [
    (weights.bm25 - rerankWeights.bm25) / scores.best.bm25,
    (weights.tfidf - rerankWeights.tfidf) / scores.best.tfidf,
  ];
  const alignments = alignAll(
    best.map(({ document }) => document),
    scores,
    snapshot,
    vectors,
  );
  const scored = best.map(({ document, score }, at) => {
    const rest =
      score -
      lessBm25 * (scores.bm25[document] as number) -
      lessTfidf * (scores.tfidf[document] as number);
    const { matched, name, description } = alignments[at] as Alignment;
    return {
      document,
      score:
        rest +
        rerankWeights.matched * matched +
        rerankWeights.name * name +
        rerankWeights.description * description +
        agreementOf(verbs, document, snapshot) -
        malusOf(document, snapshot),
    };
  });
  adjustByToolkit(scored, snapshot, scores.terms.length >= priorTermsMin);
  return scored.sort((a, b) => b.score - a.score || a.document - b.document);
}

// A long task is about a subject: a tool gains a share of the mean of the three best tools of its toolkit.
// In any task, tools of other toolkits that fit nearly as well come before the eighth of one toolkit.
function adjustByToolkit(
  scored: { document: number; score: number }[],
  snapshot: CorpusSnapshot,
  isLong: boolean,
): void {
  const byToolkit = new Map<string, { score: number }[]>();
  for (const each of scored.sort((a, b) => b.score - a.score || a.document - b.document)) {
    const { id } = snapshot.locate(each.document).entry;
    byToolkit.set(id, [...(byToolkit.get(id) ?? []), each]);
  }
  const malus = crowdedMalus * (scored[0]?.score ?? 0);
  for (const members of byToolkit.values()) {
    const best = members.slice(0, isLong ? 3 : 0);
    const gain = best.reduce((sum, { score }) => sum + (serverPriorShare * score) / best.length, 0);
    for (const each of members) each.score += gain;
    for (const each of members.slice(crowdedFrom)) each.score -= malus;
  }
}

const serverPriorShare = 0.3;
/** The number of terms of a task of some 40 words. */
const priorTermsMin = 20;
const [crowdedFrom, crowdedMalus] = [7, 0.1];

/** The kinds of work that a short task asks for. */
function findTaskVerbs(text: string): readonly VerbClass[] {
  const words = splitRuns(text);
  return words.length < shortTaskWords ? verbClassesOf(words) : [];
}

const shortTaskWords = 18;
const agreementWeight = 0.25;

function agreementOf(
  verbs: readonly VerbClass[],
  document: number,
  snapshot: CorpusSnapshot,
): number {
  const { entry, at } = snapshot.locate(document);
  const own = entry.verbs[at];
  if (own === undefined || verbs.length === 0) return 0;
  return verbs.includes(own) ? agreementWeight : -agreementWeight;
}

/** A tool that is deprecated comes after the one that replaces it, which is like it. */
function malusOf(document: number, snapshot: CorpusSnapshot): number {
  const { entry, at } = snapshot.locate(document);
  return entry.deprecated[at] ? deprecatedMalus : 0;
}

const deprecatedMalus = 0.5;

interface Representative extends Candidate {
  /** Full names of the duplicates. */
  readonly alike: string[];
}

/** Keeps the best of each set of duplicates. */
function collapseDuplicates(
  best: readonly Candidate[],
  snapshot: CorpusSnapshot,
): Representative[] {
  const byName = new Map<string, Candidate[]>();
  for (const candidate of best) {
    const { entry, at } = snapshot.locate(candidate.document);
    const name = entry.plainNames[at] as string;
    const sameName = byName.get(name);
    if (sameName) sameName.push(candidate);
    else byName.set(name, [candidate]);
  }
  const alikeTo = new Map<number, string[]>();
  for (const sameName of byName.values()) collectAlike(sameName, snapshot, alikeTo);
  return best.flatMap((candidate) => {
    const alike = alikeTo.get(candidate.document);
    return alike === undefined ? [] : [{ ...candidate, alike }];
  });
}

/** Notes the first of each set of duplicates among tools of one name, with the full names of the others. */
function collectAlike(
  sameName: readonly Candidate[],
  snapshot: CorpusSnapshot,
  alikeTo: Map<number, string[]>,
): void {
  const kept: { readonly words: ReadonlySet<number>; readonly alike: string[] }[] = [];
  for (const { document } of sameName) {
    const { entry, at } = snapshot.locate(document);
    const words =
      sameName.length === 1 ? new Set<number>() : ownWords(entry.documents[at] as DocumentCounts);
    const first = kept.find((other) => areDuplicates(other.words, words));
    if (first) first.alike.push(entry.names[at] as string);
    else {
      const alike: string[] = [];
      kept.push({ words, alike });
      alikeTo.set(document, alike);
    }
  }
}

function describe(
  { document, alike, score }: Representative,
  { terms }: QueryScores,
  snapshot: CorpusSnapshot,
): RankedTool {
  const { entry, at } = snapshot.locate(document);
  const matched = terms.flatMap(({ number, written }) =>
    number !== undefined && snapshot.postings.worth(number, document) > 0
      ? [{ written, number }]
      : [],
  );
  return {
    toolkit: entry.id,
    tool: entry.tools[at] as string,
    fullName: entry.names[at] as string,
    score: Math.round((score / scoreMax) * 1_000) / 1_000,
    words: matched
      .sort((a, b) => snapshot.postings.rarityOf(b.number) - snapshot.postings.rarityOf(a.number))
      .map(({ written }) => written),
    alike,
  };
}

/** Of the same numbers that ranked it. */
function explain(
  { document, score }: Candidate,
  words: readonly string[],
  { terms, bm25, tfidf, best, cosine, queryVectors }: QueryScores,
  snapshot: CorpusSnapshot,
): RankReasons {
  const { entry, at } = snapshot.locate(document);
  const counted = entry.documents[at] as DocumentCounts;
  const fieldsOf = (number: number | undefined): readonly Field[] => {
    const place = counted.words.indexOf(number ?? -1);
    return fields.filter((_, column) => (counted.counts[place * fields.length + column] ?? 0) > 0);
  };
  const used = queryVectors.length > 0 ? rerankWeights : weights;
  const byWords =
    (used.bm25 * (bm25[document] ?? 0)) / best.bm25 +
    (used.tfidf * (tfidf[document] ?? 0)) / best.tfidf;
  return {
    matches: words.map((word) => ({
      word,
      fields: fieldsOf(terms.find(({ written }) => written === word)?.number),
    })),
    likeness: Math.max(0, cosine[document] ?? 0),
    vectorShare: score > 0 ? Math.min(1, Math.max(0, 1 - byWords / score)) : 0,
  };
}

/** Two tools of the same name are duplicates if their own texts are nearly the same. */
function areDuplicates(left: ReadonlySet<number>, right: ReadonlySet<number>): boolean {
  let shared = 0;
  for (const word of left) if (right.has(word)) shared++;
  return shared >= alikeShare * (left.size + right.size - shared);
}

const alikeShare = 0.8;
/** The fields of the tool itself, not of its toolkit. */
const own = (["name", "description", "parameters", "choices"] as const).map((field) =>
  fields.indexOf(field),
);

function ownWords({ words, counts }: DocumentCounts): Set<number> {
  const found = new Set<number>();
  for (let at = 0; at < words.length; at++) {
    for (const column of own)
      if ((counts[at * fields.length + column] as number) > 0) found.add(words[at] as number);
  }
  return found;
}

/**
 * True if a document fits a query, judged without the other documents: by raw BM25, which grows with every
 * rare word they share, and by the cosine, with or without names. A warning, not a gate: it recognises 60 %
 * of the tasks that no tool fits, and is wrong about 3 % of the others.
 */
function fitsWell(
  document: number,
  { bm25, cosine, queryVectors, namelessVector }: QueryScores,
  { matrix }: CorpusSnapshot,
): boolean {
  const shared = (bm25[document] ?? 0) / sharedScale;
  if (queryVectors.length === 0) return shared >= fitByWordsMin;
  return (
    shared +
      Math.max(
        cosine[document] ?? 0,
        namelessVector ? dot(matrix, document * namelessVector.length, namelessVector) : 0,
      ) >=
    fitMin
  );
}

const sharedScale = 30;
const fitMin = 0.5;
const fitByWordsMin = 0.12;
