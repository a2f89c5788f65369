// The second look, at the tools that have a chance: how well is each word of a query answered by the nearest word of a tool? Sums of vectors blur what a
// text says; here "rename" still meets "move", and a word nothing answers costs what it would have said.

import type { Reading } from "./corpus.ts";
import { type Field, fields } from "./document.ts";
import type { Counted } from "./postings.ts";
import type { Scores } from "./scores.ts";
import { likenessLeast, type Vectors } from "./vectors.ts";

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
export function alignAll(
  documents: readonly number[],
  { terms, clauses }: Pick<Scores, "terms" | "clauses">,
  reading: Reading,
  vectors: Vectors,
): number[] {
  const counted = documents.map((document) => {
    const { entry, at } = reading.locate(document);
    return entry.documents[at] as Counted;
  });
  const rarities = Float64Array.from(terms, ({ number }) => reading.postings.rarityOf(number));
  const parts = [terms.map((_, term) => term), ...clauses];
  const total = sumOf(parts[0] as readonly number[], rarities) || 1;
  // A tool that answers one wish of several answers the task, the more, the more of the task that wish is.
  const scales = parts.map((part) => 1 / Math.sqrt((sumOf(part, rarities) || 1) * total));
  const answers = readAnswers(counted, terms, reading, vectors);
  const worths = new Float64Array(terms.length);
  return counted.map((each) => {
    findBestAnswers(each, answers, worths);
    for (let term = 0; term < worths.length; term++)
      worths[term] = (worths[term] as number) * (rarities[term] as number);
    return parts.reduce(
      (most, part, at) => Math.max(most, sumOf(part, worths) * (scales[at] as number)),
      0,
    );
  });
}

/** How well words of documents answer the terms of a query: one row of answers a word. One table for all, since small ones cost more to make than to fill. */
interface Answers {
  readonly table: Float32Array;
  /** Where the row of a word begins, by its number; below 0 for words that answer nothing, as most do. */
  readonly starts: Int32Array;
}

const unread = -2;
const noAnswer = -1;

function readAnswers(
  documents: readonly Counted[],
  terms: Scores["terms"],
  { rows, places: starts }: Reading,
  vectors: Vectors,
): Answers {
  starts.fill(unread);
  const found: number[] = [];
  for (const { words } of documents) {
    for (let at = 0; at < words.length; at++) {
      const word = words[at] as number;
      if (starts[word] !== unread) continue;
      starts[word] = noAnswer;
      found.push(word);
    }
  }
  const table = new Float32Array(found.length * terms.length);
  const asked = Int32Array.from(terms, ({ word }) => vectors.rowOf(word));
  let end = 0;
  const giveRow = (word: number): void => {
    starts[word] = end;
    end += terms.length;
  };
  for (const word of found)
    if (vectors.compare(rows[word] as number, asked, table, end)) giveRow(word);
  for (let at = 0; at < end; at++)
    if (table[at] !== 0) table[at] = ((table[at] as number) - likenessLeast) / (1 - likenessLeast);
  terms.forEach(({ number }, term) => {
    if (number === undefined || starts[number] === unread) return;
    if (starts[number] === noAnswer) giveRow(number);
    table[(starts[number] as number) + term] = 1;
  });
  return { table, starts };
}

/** Writes to `best` what the best answer to each term is worth. */
function findBestAnswers(
  { words, counts }: Counted,
  { table, starts }: Answers,
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
