// Reranking: how well does the nearest word of a tool match each word of a query, and the reverse? Sums of
// vectors blur a text; here "rename" still matches "move", and a word without a match costs its weight.

import type { CorpusSnapshot } from "./corpus.ts";
import { type Field, fields, fieldWeights } from "./document.ts";
import type { DocumentCounts } from "./postings.ts";
import type { QueryScores } from "./scores.ts";
import { likenessLeast, type Vectors } from "./vectors.ts";

const weightsByColumn = Float64Array.from(fields, (field) => fieldWeights[field].match);

/** The number of terms of a task of some 20 words. */
const weighedTermsMin = 9;
/** How well a synonym matches. */
const synonymMatch = 0.8;

/** Shares from 0 to 1, weighted by rarity. */
export interface Alignment {
  /** The share of the query that the document matches. */
  readonly matched: number;
  /** The shares of the tool's name and of its description that the query matches. */
  readonly name: number;
  readonly description: number;
}

export function alignAll(
  documents: readonly number[],
  { terms, clauses }: Pick<QueryScores, "terms" | "clauses">,
  snapshot: CorpusSnapshot,
  vectors: Vectors,
): Alignment[] {
  const counted = documents.map((document) => {
    const { entry, at } = snapshot.locate(document);
    return entry.documents[at] as DocumentCounts;
  });
  const isLong = terms.length >= weighedTermsMin;
  // In a long task most words say little; the length of a vector tells "weather" from "about".
  const rarities = Float64Array.from(
    terms,
    ({ number, word }) =>
      snapshot.postings.rarityOf(number) * (isLong ? vectors.lengthOf(word) : 1),
  );
  const parts = [terms.map((_, term) => term), ...clauses];
  const total = sumOf(parts[0] as readonly number[], rarities) || 1;
  // A tool that matches one clause of several matches the task in proportion to that clause.
  const scales = parts.map((part) => 1 / Math.sqrt((sumOf(part, rarities) || 1) * total));
  const matches = buildMatchTable(counted, terms, snapshot, vectors);
  const values = new Float64Array(terms.length);
  return counted.map((each) => {
    findBestMatches(each, matches, values);
    for (let term = 0; term < values.length; term++)
      values[term] = (values[term] as number) * (rarities[term] as number);
    return {
      matched: parts.reduce(
        (most, part, at) => Math.max(most, sumOf(part, values) * (scales[at] as number)),
        0,
      ),
      name: coverageOf("name", each, matches, terms.length, snapshot),
      description: coverageOf("description", each, matches, terms.length, snapshot),
    };
  });
}

/** A description says first what a tool does; details follow. */
const coveredWordsMax = 12;

function coverageOf(
  field: Field,
  { words, counts }: DocumentCounts,
  { table, starts }: MatchTable,
  termCount: number,
  { postings }: CorpusSnapshot,
): number {
  const column = fields.indexOf(field);
  let [covered, total] = [0, 0];
  for (let at = 0, read = 0; at < words.length && read < coveredWordsMax; at++) {
    if (counts[at * fields.length + column] === 0) continue;
    read++;
    const word = words[at] as number;
    const rarity = postings.rarityOf(word);
    total += rarity;
    const start = starts[word] as number;
    let best = 0;
    for (let term = 0; start >= 0 && term < termCount; term++)
      best = Math.max(best, table[start + term] as number);
    covered += rarity * best;
  }
  return total === 0 ? 0 : covered / total;
}

/**
 * How well words of documents match the terms of a query: one row for each word. One table, since
 * many small ones cost more to allocate than to fill.
 */
interface MatchTable {
  readonly table: Float32Array;
  /** The start of a word's row, by its number; negative for words without a match, which are most. */
  readonly starts: Int32Array;
}

const unread = -2;
const noMatch = -1;

function buildMatchTable(
  documents: readonly DocumentCounts[],
  terms: QueryScores["terms"],
  { rows, wordBuffer: starts }: CorpusSnapshot,
  vectors: Vectors,
): MatchTable {
  starts.fill(unread);
  const found: number[] = [];
  for (const { words } of documents) {
    for (let at = 0; at < words.length; at++) {
      const word = words[at] as number;
      if (starts[word] !== unread) continue;
      starts[word] = noMatch;
      found.push(word);
    }
  }
  const table = new Float32Array(found.length * terms.length);
  const queryRows = Int32Array.from(terms, ({ word }) => vectors.rowOf(word));
  let end = 0;
  const giveRow = (word: number): void => {
    starts[word] = end;
    end += terms.length;
  };
  for (const word of found)
    if (vectors.compare(rows[word] as number, queryRows, table, end)) giveRow(word);
  for (let at = 0; at < end; at++)
    if (table[at] !== 0) table[at] = ((table[at] as number) - likenessLeast) / (1 - likenessLeast);
  const match = (number: number, term: number, value: number): void => {
    if (starts[number] === unread) return;
    if (starts[number] === noMatch) giveRow(number);
    const at = (starts[number] as number) + term;
    table[at] = Math.max(table[at] as number, value);
  };
  terms.forEach(({ number, same }, term) => {
    if (number !== undefined) match(number, term, 1);
    for (const other of same) match(other, term, synonymMatch);
  });
  return { table, starts };
}

/** Writes the best match of each term to `best`. */
function findBestMatches(
  { words, counts }: DocumentCounts,
  { table, starts }: MatchTable,
  best: Float64Array,
): void {
  best.fill(0);
  for (let at = 0; at < words.length; at++) {
    const start = starts[words[at] as number] as number;
    if (start < 0) continue;
    const weight = weightOf(counts, at * fields.length);
    for (let term = 0; term < best.length; term++) {
      const worth = weight * (table[start + term] as number);
      if (worth > (best[term] as number)) best[term] = worth;
    }
  }
}

/** The highest weight of the fields that contain the word. */
function weightOf(counts: Uint8Array, first: number): number {
  let most = 0;
  for (let column = 0; column < weightsByColumn.length; column++) {
    const weight = weightsByColumn[column] as number;
    if (weight > most && (counts[first + column] as number) > 0) most = weight;
  }
  return most;
}

function sumOf(terms: readonly number[], values: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < terms.length; at++) sum += values[terms[at] as number] as number;
  return sum;
}
