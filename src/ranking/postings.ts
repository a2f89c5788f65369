// Which documents contain a word, and with what weight. Weights depend on all documents (how rare a word
// is, how long a field usually is), so they are recomputed after a change; texts are read only once.

import { type Document, fields, fieldWeights } from "./document.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A document as numbers: its words, and how often each occurs in each field. */
export interface DocumentCounts {
  readonly words: Uint32Array;
  /** One row for each word, one column for each field. */
  readonly counts: Uint8Array;
  readonly lengths: Uint16Array;
}

export function countWords(document: Document, vocabulary: Vocabulary): DocumentCounts {
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
    words[at] = vocabulary.add(word);
    counts.set(row, at * fields.length);
    at++;
  }
  return { words, counts, lengths: Uint16Array.from(fields, (field) => document[field].length) };
}

/** The weighted count of each word over all fields. */
export function amountsIn({ words, counts }: DocumentCounts): number[] {
  return Array.from(words, (_, at) =>
    fields.reduce(
      (sum, field, column) =>
        sum + fieldWeights[field].word * (counts[at * fields.length + column] ?? 0),
      0,
    ),
  );
}

/** BM25's usual constants k1 (saturation of repetition) and b (influence of length). */
const saturation = 1.2;
const lengthShare = 0.75;
/** 1 would be the cosine. Penalises long texts more than BM25 does, which helps long tasks. */
const lengthPower = 0.7;

export type Postings = ReturnType<ReturnType<typeof compilePostings>["next"]>["value"] & object;

/** Yields after each document. */
export function* compilePostings(documents: readonly DocumentCounts[], vocabulary: Vocabulary) {
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
  for (const [document, { words, counts, lengths }] of documents.entries()) {
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
    yield;
  }
  return {
    count,
    /** Adds the word's BM25 and TF-IDF scores to each document that contains it. */
    addTo(word: number, bm25Sums: Float64Array, tfidfSums: Float64Array, share: number): void {
      const end = starts[word + 1] ?? 0;
      for (let slot = starts[word] ?? 0; slot < end; slot++) {
        const document = holders[slot] as number;
        bm25Sums[document] = (bm25Sums[document] as number) + share * (bm25[slot] as number);
        tfidfSums[document] = (tfidfSums[document] as number) + share * (tfidf[slot] as number);
      }
    },
    /** The word's BM25 score in the document; 0 if it does not occur there. */
    worth(word: number, document: number): number {
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
    /** Inverse document frequency. */
    rarityOf: (word: number | undefined): number =>
      (word === undefined ? undefined : rarity[word]) ?? rarityAmong(count, 0),
  };
}

/** The start of each word's documents; the last number is the end. */
function startsOf(vocabulary: Vocabulary): Uint32Array {
  const starts = new Uint32Array(vocabulary.end + 1);
  for (let word = 0; word < vocabulary.end; word++)
    starts[word + 1] = (starts[word] ?? 0) + vocabulary.holdersOf(word);
  return starts;
}

function rarityAmong(count: number, holders: number): number {
  return Math.log(1 + (count - holders + 0.5) / (holders + 0.5));
}

/**
 * Over the documents that have the field, so that one tool with aliases among a thousand does not
 * seem to have long ones.
 */
function meanLengths(documents: readonly DocumentCounts[]): Float64Array {
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

/** The weight of one word in each field of a document with these lengths. */
function fieldShares(lengths: Uint16Array, means: Float64Array): Float64Array {
  return Float64Array.from(
    fields,
    (field, column) =>
      fieldWeights[field].word /
      (1 - lengthShare + (lengthShare * (lengths[column] ?? 0)) / (means[column] ?? 1)),
  );
}
