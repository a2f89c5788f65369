import type { Reading } from "./corpus.ts";
import { findSpelling } from "./spelling.ts";
import { embed, type Vectors } from "./vectors.ts";
import { spellingsOf, wordsOf } from "./words.ts";

/** A query as words, and what each document got for them, until the next question. */
export interface Scores {
  readonly terms: readonly Term[];
  /** Which terms each wish of a longer task has; none when there is but one. */
  readonly clauses: readonly (readonly number[])[];
  readonly bm25: Float64Array;
  readonly tfidf: Float64Array;
  /** The highest of each, or 1 where all are 0, to divide by. */
  readonly best: { readonly bm25: number; readonly tfidf: number };
  /** A long task is many wishes, and a tool that fulfils one of them need not fit the rest: the vectors of the whole and of its clauses. None without vectors. */
  readonly wishes: readonly Float32Array[];
  /** The vector of the whole without the names that no tool knows, where it has some: "Lima" says nothing about which tool tells the time there. */
  readonly unnamed: Float32Array | undefined;
  /** With the nearest wish; written for documents that have a chance. */
  readonly cosine: Float64Array;
}

interface Term {
  /** As it stands in the query. */
  readonly written: string;
  readonly word: string;
  /** Its number in the vocabulary; none when no document holds it. */
  readonly number: number | undefined;
}

/** More words than any task needs; what comes later is not looked at. */
const termsMax = 300;
const correctionsMax = 5;

export function scoreAll(query: string, reading: Reading, vectors: Vectors | undefined): Scores {
  const { terms, clauses } = readQuery(query, reading);
  const { bm25, tfidf, cosine } = reading.sheets;
  bm25.fill(0);
  tfidf.fill(0);
  for (const { number } of terms) {
    if (number !== undefined) reading.postings.addTo(number, bm25, tfidf);
  }
  const wishes = vectors
    ? [terms, ...clauses.map((clause) => clause.map((term) => terms[term] as Term))].map((wish) =>
        embedTerms(wish, vectors),
      )
    : [];
  const unnamed = vectors && leaveOutNames(query, terms);
  return {
    terms,
    clauses,
    bm25,
    tfidf,
    best: { bm25: bestOf(bm25), tfidf: bestOf(tfidf) },
    wishes,
    unnamed: unnamed && embedTerms(unnamed, vectors),
    cosine,
  };
}

/** A word nobody knows is taken for the known one it is a slip away from. */
function readQuery(query: string, { vocabulary }: Reading): Pick<Scores, "terms" | "clauses"> {
  let corrections = 0;
  const terms: Term[] = [];
  const places = new Map<string, number>();
  for (const [stem, written] of spellingsOf(query)) {
    if (terms.length === termsMax) break;
    const isKnown = vocabulary.find(stem) !== undefined;
    const word =
      (isKnown || ++corrections > correctionsMax ? undefined : findSpelling(stem, vocabulary)) ??
      stem;
    const place =
      places.get(word) ?? terms.push({ written, word, number: vocabulary.find(word) }) - 1;
    places.set(word, place).set(stem, place);
  }
  const clauses = clausesOf(query).map((words) => [
    ...new Set(words.flatMap((word) => places.get(word) ?? [])),
  ]);
  return { terms, clauses };
}

/** Undefined where nothing is left out, or nothing left. */
function leaveOutNames(query: string, terms: readonly Term[]): readonly Term[] | undefined {
  const names = namesOf(query);
  const rest = terms.filter(({ number, written }) => number !== undefined || !names.has(written));
  return rest.length > 0 && rest.length < terms.length ? rest : undefined;
}

/** Words that begin with a capital inside a sentence, as they are written among the terms. */
function namesOf(query: string): ReadonlySet<string> {
  const names =
    query.slice(0, 4_000).match(/(?<=[\p{L}\p{N},'’)]\s)\p{Lu}[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return new Set(spellingsOf(names.join(" ")).values());
}

const clausesMax = 8;

/** The sentences of a text, and what stands between "and" and "then", as words; none when there is but one. */
function clausesOf(query: string): string[][] {
  const clauses = query
    .slice(0, 4_000)
    .split(/[.!?;\n]+\s|[。！？；]|,?\s(?:and|then|also)\s/i)
    .map((clause) => wordsOf(clause))
    .filter((words) => words.length > 1);
  return clauses.length > 1 ? clauses.slice(0, clausesMax) : [];
}

const embedTerms = (terms: readonly Term[], vectors: Vectors): Float32Array =>
  embed(
    terms.map(({ word }) => [word, 1] as const),
    vectors,
  );

function bestOf(scores: Float64Array): number {
  let best = 0;
  for (let at = 0; at < scores.length; at++) best = Math.max(best, scores[at] as number);
  return best || 1;
}
