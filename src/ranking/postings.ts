// Which documents hold a word, and how much that says. Weights depend on all documents (how rare a word is, how long a field usually is), so they
// are worked out anew when something changed; reading the texts, which is what takes time, is done once for each document.

import { type Document, type Field, fields } from "./document.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A document as numbers: its words, and how often each stands in each field. */
export interface Counted {
  readonly words: Uint32Array;
  /** One row of fields a word. */
  readonly counts: Uint8Array;
  readonly lengths: Uint16Array;
}

export function countWords(document: Document, vocabulary: Vocabulary): Counted {
  const rows = new Map<string, Uint8Array>();
  fields.forEach((field, column) => {
    for (const word of document[field]) {
      const row = rows.get(word) ?? new Uint8Array(fields.length);
      row[column] = Math.min(255, (row[column] ?? 0) + 1);
      rows.set(word, row);
    }
  });
  const counts = new Uint8Array(rows.size * fields.length);
  const words = new Uint32Array(rows.size);
  let at = 0;
  for (const [word, row] of rows) {
    words[at] = vocabulary.hold(word);
    counts.set(row, at * fields.length);
    at++;
  }
  return { words, counts, lengths: Uint16Array.from(fields, (field) => document[field].length) };
}

/** What a word of each field counts. A name is chosen with care; what a toolkit says of itself, it says of all its tools. */
const fieldWeights: Readonly<Record<Field, number>> = {
  name: 2,
  description: 1,
  toolkit: 1,
  toolkitDescription: 0.3,
  parameters: 0.5,
  parameterDescriptions: 0.4,
  choices: 0.3,
  aliases: 1.5,
};

/** How much of each word a document holds, over all fields, whatever their length. */
export function amountsIn({ words, counts }: Counted): number[] {
  return Array.from(words, (_, at) =>
    fields.reduce(
      (sum, field, column) =>
        sum + fieldWeights[field] * (counts[at * fields.length + column] ?? 0),
      0,
    ),
  );
}

/** BM25's usual constants: how soon repetition stops counting, and how much length matters. */
const saturation = 1.2;
const lengthShare = 0.75;
/** Full cosine would be 1: long texts are held back more than by BM25, which helps long tasks, but not that much. */
const lengthPower = 0.7;

export interface Postings {
  readonly count: number;
  /** Adds what the word is worth to each document that holds it: by BM25 over fields, and by TF-IDF. */
  addTo(word: number, bm25: Float64Array, tfidf: Float64Array): void;
  /** What the word is worth to the document by BM25; 0 when the document does not hold it. */
  worth(word: number, document: number): number;
  /** How much a word says: the more, the fewer documents hold it. */
  rarityOf(word: number | undefined): number;
}

export function compilePostings(documents: readonly Counted[], vocabulary: Vocabulary): Postings {
  const count = documents.length;
  const starts = startsOf(vocabulary);
  const total = starts[vocabulary.end] ?? 0;
  const holders = new Uint32Array(total);
  const bm25 = new Float32Array(total);
  const tfidf = new Float32Array(total);
  const rarity = Float64Array.from({ length: vocabulary.end }, (_, word) =>
    rarityAmong(count, vocabulary.holdersOf(word)),
  );
  const means = meanLengths(documents);
  const ends = starts.slice();
  documents.forEach(({ words, counts, lengths }, document) => {
    const shares = fieldShares(lengths, means);
    const amounts = new Float64Array(words.length);
    let square = 0;
    for (let at = 0; at < words.length; at++) {
      let amount = 0;
      for (let field = 0; field < shares.length; field++)
        amount += (counts[at * shares.length + field] ?? 0) * (shares[field] ?? 0);
      amounts[at] = amount;
      square += (Math.log1p(amount) * (rarity[words[at] ?? 0] ?? 0)) ** 2;
    }
    const norm = Math.max(square, 1e-9) ** (lengthPower / 2);
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? 0;
      const amount = amounts[at] ?? 0;
      const rare = rarity[word] ?? 0;
      const slot = ends[word] ?? 0;
      ends[word] = slot + 1;
      holders[slot] = document;
      bm25[slot] = (rare * amount * (saturation + 1)) / (amount + saturation);
      tfidf[slot] = (Math.log1p(amount) * rare * rare) / norm;
    }
  });
  return {
    count,
    addTo(word, bm25Sums, tfidfSums) {
      const end = starts[word + 1] ?? 0;
      for (let slot = starts[word] ?? 0; slot < end; slot++) {
        const document = holders[slot] as number;
        bm25Sums[document] = (bm25Sums[document] as number) + (bm25[slot] as number);
        tfidfSums[document] = (tfidfSums[document] as number) + (tfidf[slot] as number);
      }
    },
    worth(word, document) {
      const end = starts[word + 1] ?? 0;
      let low = starts[word] ?? 0;
      let high = end;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((holders[middle] as number) < document) low = middle + 1;
        else high = middle;
      }
      return low < end && holders[low] === document ? (bm25[low] ?? 0) : 0;
    },
    rarityOf: (word) => (word === undefined ? undefined : rarity[word]) ?? rarityAmong(count, 0),
  };
}

/** Where the documents of each word begin; the last is where they end. */
function startsOf(vocabulary: Vocabulary): Uint32Array {
  const starts = new Uint32Array(vocabulary.end + 1);
  for (let word = 0; word < vocabulary.end; word++)
    starts[word + 1] = (starts[word] ?? 0) + vocabulary.holdersOf(word);
  return starts;
}

function rarityAmong(count: number, holders: number): number {
  return Math.log(1 + (count - holders + 0.5) / (holders + 0.5));
}

/** Of the documents that have the field: one tool with aliases among a thousand must not seem to have very long ones. */
function meanLengths(documents: readonly Counted[]): Float64Array {
  return Float64Array.from(fields, (_, field) => {
    let sum = 0;
    let having = 0;
    for (const { lengths } of documents) {
      const length = lengths[field] ?? 0;
      sum += length;
      if (length > 0) having++;
    }
    return having === 0 ? 1 : sum / having;
  });
}

/** What one word counts in each field of a document with these lengths. */
function fieldShares(lengths: Uint16Array, means: Float64Array): Float64Array {
  return Float64Array.from(
    fields,
    (field, column) =>
      fieldWeights[field] /
      (1 - lengthShare + (lengthShare * (lengths[column] ?? 0)) / (means[column] ?? 1)),
  );
}
