import type { CorpusSnapshot } from "./corpus.ts";
import { synonymsOf } from "./synonyms.ts";
import { maskValues } from "./values.ts";
import { embed, type Vectors } from "./vectors.ts";
import { correctSpelling } from "./vocabulary.ts";
import { spellingsOf, wordsOf } from "./words.ts";

/** A query as terms, and the scores of each document; valid until the next query. */
export interface QueryScores {
  /** The query with its values masked. */
  readonly text: string;
  readonly terms: readonly Term[];
  /** The terms of each clause of a longer task; empty if there is one clause. */
  readonly clauses: readonly (readonly number[])[];
  readonly bm25: Float64Array;
  readonly tfidf: Float64Array;
  /** The highest scores, or 1 if all are 0, to divide by. */
  readonly best: { readonly bm25: number; readonly tfidf: number };
  /** The vectors of the whole query and of its clauses, since a tool may fit one clause only. Empty without vectors. */
  readonly queryVectors: readonly Float32Array[];
  /** The query's vector without names that no tool contains, if there are any: "Lima" does not help to find a clock. */
  readonly namelessVector: Float32Array | undefined;
  /** With the nearest of `queryVectors`; written only for documents that can be among the best. */
  readonly cosine: Float64Array;
}

interface Term {
  /** As spelled in the query. */
  readonly written: string;
  readonly word: string;
  /** Its number in the vocabulary; undefined if no document contains it. */
  readonly number: number | undefined;
  /** Numbers of words that mean the same. */
  readonly same: readonly number[];
}

/** The weight of a synonym, beside that of the word itself. */
const synonymShare = 0.3;
/** Further words are ignored. */
const termsMax = 300;
const correctionsMax = 5;

export function scoreTerms(
  query: string,
  snapshot: CorpusSnapshot,
  vectors: Vectors | undefined,
): QueryScores {
  const text = maskValues(query);
  const { terms, clauses } = readQuery(text, snapshot);
  const { bm25, tfidf, cosine } = snapshot.buffers;
  bm25.fill(0);
  tfidf.fill(0);
  for (const { number, same } of terms) {
    if (number !== undefined) snapshot.postings.addTo(number, bm25, tfidf, 1);
    for (const other of same) snapshot.postings.addTo(other, bm25, tfidf, synonymShare);
  }
  const queryVectors = vectors
    ? [terms, ...clauses.map((clause) => clause.map((term) => terms[term] as Term))].map((part) =>
        embedTerms(part, vectors),
      )
    : [];
  const namelessVector = vectors && dropNames(text, terms);
  return {
    text,
    terms,
    clauses,
    bm25,
    tfidf,
    best: { bm25: bestOf(bm25), tfidf: bestOf(tfidf) },
    queryVectors,
    namelessVector: namelessVector && embedTerms(namelessVector, vectors),
    cosine,
  };
}

/** Corrects unknown words that are one typo away from a known one. */
function readQuery(
  query: string,
  { vocabulary }: CorpusSnapshot,
): Pick<QueryScores, "terms" | "clauses"> {
  let corrections = 0;
  const terms: Term[] = [];
  const places = new Map<string, number>();
  for (const [stem, written] of spellingsOf(query)) {
    if (terms.length === termsMax) break;
    const isKnown = vocabulary.find(stem) !== undefined;
    const word =
      (isKnown || ++corrections > correctionsMax ? undefined : correctSpelling(stem, vocabulary)) ??
      stem;
    const place =
      places.get(word) ??
      terms.push({
        written,
        word,
        number: vocabulary.find(word),
        same: [...synonymsOf(word)].flatMap((other) => vocabulary.find(other) ?? []),
      }) - 1;
    places.set(word, place).set(stem, place);
  }
  const clauses = clausesOf(query).map((words) => [
    ...new Set(words.flatMap((word) => places.get(word) ?? [])),
  ]);
  return { terms, clauses };
}

/** Undefined if no term, or every term, is a name. */
function dropNames(query: string, terms: readonly Term[]): readonly Term[] | undefined {
  const names = namesOf(query);
  const rest = terms.filter(({ number, written }) => number !== undefined || !names.has(written));
  return rest.length > 0 && rest.length < terms.length ? rest : undefined;
}

/** Capitalised words inside a sentence, spelled as in the terms. */
function namesOf(query: string): ReadonlySet<string> {
  const names =
    query.slice(0, 4_000).match(/(?<=[\p{L}\p{N},'’)]\s)\p{Lu}[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return new Set(spellingsOf(names.join(" ")).values());
}

const clausesMax = 8;

/** The words of each sentence, split at "and" and "then"; empty if there is one clause. */
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
  for (let at = 0; at < scores.length; at++)
    if ((scores[at] as number) > best) best = scores[at] as number;
  return best || 1;
}
