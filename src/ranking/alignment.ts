// The second look, at the tools that have a chance: how well is each word of a query answered by the nearest word of a tool? Sums of vectors blur what a
// text says; here "rename" still meets "move", and a word nothing answers costs what it would have said.

import type { Reading } from "./corpus.ts";
import { type Field, fields } from "./document.ts";
import type { Counted } from "./postings.ts";
import type { Scores } from "./scores.ts";
import type { Vectors } from "./vectors.ts";

/** What an answer is worth in each field. What a toolkit says of itself, or a parameter of its values, answers a little less. */
const answerWeights: Readonly<Record<Field, number>> = {
  name: 1,
  description: 1,
  toolkit: 1,
  toolkitDescription: 0.8,
  parameters: 0.9,
  parameterDescriptions: 0.8,
  choices: 0.8,
  aliases: 1,
};
const weightsByColumn = Float64Array.from(fields, (field) => answerWeights[field]);

/** For each document how much of the query it answers, from 0 to 1; words count by how rare they are. */
export function alignAll(documents: readonly number[], { terms, clauses }: Pick<Scores, "terms" | "clauses">, reading: Reading, vectors: Vectors): number[] {
  const counted = documents.map((document) => {
    const { entry, at } = reading.locate(document);
    return entry.documents[at] as Counted;
  });
  const rarities = Float64Array.from(terms, ({ number }) => reading.postings.rarityOf(number));
  const whole = terms.map((_, term) => term);
  const total = sumOf(whole, rarities) || 1;
  const answers = readAnswers(counted, terms, reading, vectors);
  return counted.map((each) => {
    const worths = bestAnswers(each, answers, terms.length);
    for (let term = 0; term < worths.length; term++) worths[term] = (worths[term] as number) * (rarities[term] as number);
    // A tool that answers one wish of several answers the task, the more, the more of the task that wish is.
    const shares = [whole, ...clauses].map((clause) => sumOf(clause, worths) / Math.sqrt((sumOf(clause, rarities) || 1) * total));
    return Math.max(...shares);
  });
}

/** How well words of documents answer the terms of a query: one row of answers a word. One table for all, since small ones cost more to make than to fill. */
interface Answers {
  readonly table: Float32Array;
  /** Where the row of a word begins, by its number. */
  readonly starts: ReadonlyMap<number, number>;
}

function readAnswers(documents: readonly Counted[], terms: Scores["terms"], { rows }: Reading, vectors: Vectors): Answers {
  const starts = new Map<number, number>();
  for (const { words } of documents) {
    for (let at = 0; at < words.length; at++) if (!starts.has(words[at] as number)) starts.set(words[at] as number, starts.size * terms.length);
  }
  const asked = Int32Array.from(terms, ({ word }) => vectors.rowOf(word));
  const table = new Float32Array(starts.size * terms.length);
  for (const [word, start] of starts) vectors.compare(rows[word] as number, asked, table, start);
  for (let at = 0; at < table.length; at++) table[at] = Math.max(0, (table[at] as number) - likenessLeast) / (1 - likenessLeast);
  terms.forEach(({ number }, term) => {
    const start = number === undefined ? undefined : starts.get(number);
    if (start !== undefined) table[start + term] = 1;
  });
  return { table, starts };
}

/** Below this two words have nothing to do with each other; from here on their likeness counts, up to 1 for the same word. */
const likenessLeast = 0.3;

function bestAnswers({ words, counts }: Counted, { table, starts }: Answers, termCount: number): Float64Array {
  const best = new Float64Array(termCount);
  for (let at = 0; at < words.length; at++) {
    const weight = weightOf(counts, at * fields.length);
    const start = starts.get(words[at] as number) as number;
    for (let term = 0; term < termCount; term++) {
      const worth = weight * (table[start + term] as number);
      if (worth > (best[term] as number)) best[term] = worth;
    }
  }
  return best;
}

/** That of the best field that holds the word. */
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
