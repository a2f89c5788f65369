// Small static word vectors, trained by scripts/train-vectors.mjs on public tool definitions and tasks. A
// text is the sum of its words; the length of a word's vector is its weight.

import { existsSync, readFileSync } from "node:fs";
import { HallError } from "../base/errors.ts";
import { type Document, fields, fieldWeights } from "./document.ts";
import { countDiffering, signsOf, signsWidth } from "./signs.ts";

export interface Vectors {
  readonly dimensions: number;
  /** Adds the word's vector, times the weight, to `sum`; false if the word has none. */
  add(word: string, weight: number, sum: Float32Array): boolean;
  /** The length of the word's vector, its weight; the mean if it has none. */
  lengthOf(word: string): number;
  /** The row of the word's vector; -1 if it has none. */
  rowOf(word: string): number;
  /**
   * Writes those cosines of one row with the others that exceed `likenessLeast` to `likenesses`, from
   * `at` on. Pairs that cannot reach it are skipped. False if nothing was written.
   */
  compare(row: number, others: Int32Array, likenesses: Float32Array, at: number): boolean;
}

/** Reads the vectors the package ships: about 3 MB, some 20 ms. */
export function loadVectors(): Vectors {
  const file = new URL("./vectors.bin", import.meta.url);
  if (existsSync(file)) return parseVectors(readFileSync(file));
  throw new HallError("INTERNAL", "vectors.bin is missing; reinstall Guildhall");
}

export const vectorsMagic = "GHV1";

/**
 * Layout: magic, count, dimensions, length of the words' text; the text, one word a line; a scale
 * for each word; a row of bytes for each word.
 */
export function parseVectors(bytes: Uint8Array): Vectors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  if (decoder.decode(bytes.subarray(0, 4)) !== vectorsMagic)
    throw new HallError("INTERNAL", "vectors.bin has an unknown format; reinstall Guildhall");
  const [count, dimensions, textBytes] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [
    number,
    number,
    number,
  ];
  const rowOf = createWordTable(decoder.decode(bytes.subarray(16, 16 + textBytes)), count);
  if (rowOf === undefined || bytes.length !== 16 + textBytes + count * (4 + dimensions))
    throw new HallError("INTERNAL", "vectors.bin is incomplete; reinstall Guildhall");
  const scales = Float32Array.from({ length: count }, (_, row) =>
    view.getFloat32(16 + textBytes + row * 4, true),
  );
  const matrix = new Int8Array(
    bytes.buffer,
    bytes.byteOffset + 16 + textBytes + count * 4,
    count * dimensions,
  );
  const lengths = lengthsOf(matrix, count, dimensions);
  const meanLength =
    scales.reduce((sum, scale, row) => sum + scale * (lengths[row] as number), 0) / count;
  const width = signsWidth(dimensions);
  const signs = signsOf(matrix, dimensions);
  const differingMax = differingShareMax * dimensions;
  return {
    dimensions,
    rowOf,
    lengthOf(word) {
      const row = rowOf(word);
      return row < 0 ? meanLength : (scales[row] as number) * (lengths[row] as number);
    },
    compare(row, others, likenesses, at) {
      let isAlike = false;
      for (let each = 0; row >= 0 && each < others.length; each++) {
        const other = others[each] as number;
        if (
          other < 0 ||
          countDiffering(signs, row * width, signs, other * width, width) > differingMax
        )
          continue;
        const cosine =
          dot(matrix, row * dimensions, other * dimensions, dimensions) /
          ((lengths[row] as number) * (lengths[other] as number));
        if (cosine <= likenessLeast) continue;
        likenesses[at + each] = cosine;
        isAlike = true;
      }
      return isAlike;
    },
    add(word, weight, sum) {
      const row = rowOf(word);
      if (row < 0) return false;
      const factor = weight * (scales[row] ?? 0);
      const start = row * dimensions;
      for (let at = 0; at < dimensions; at++)
        sum[at] = (sum[at] ?? 0) + factor * (matrix[start + at] ?? 0);
      return true;
    },
  };
}

/**
 * Finds the line of a word in a text of one word a line, -1 if it has none; undefined if the text has another number of
 * lines. A hash table of numbers: 20,000 strings in a map would take several times the memory of the text.
 */
function createWordTable(text: string, count: number): ((word: string) => number) | undefined {
  const starts = new Uint32Array(count + 1);
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1))
    starts[lines++] = at + 1;
  if (lines !== count) return undefined;
  starts[count] = text.length + 1;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1))).fill(-1);
  const firstSlot = (from: string, start: number, end: number): number => {
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + from.charCodeAt(at)) | 0;
    return (hash ^ (hash >>> 15)) & (slots.length - 1);
  };
  const next = (slot: number): number => (slot + 1) & (slots.length - 1);
  for (let row = 0; row < count; row++) {
    let slot = firstSlot(text, starts[row] as number, (starts[row + 1] as number) - 1);
    while ((slots[slot] as number) >= 0) slot = next(slot);
    slots[slot] = row;
  }
  return (word) => {
    for (let slot = firstSlot(word, 0, word.length); ; slot = next(slot)) {
      const row = slots[slot] as number;
      if (row < 0) return -1;
      const start = starts[row] as number;
      const isAsLong = (starts[row + 1] as number) - 1 - start === word.length;
      if (isAsLong && text.startsWith(word, start)) return row;
    }
  };
}

function lengthsOf(matrix: Int8Array, count: number, dimensions: number): Float32Array {
  return Float32Array.from(
    { length: count },
    (_, row) => Math.sqrt(dot(matrix, row * dimensions, row * dimensions, dimensions)) || 1,
  );
}

/** Four independent sums, since a single one would serialise the additions; integers are a third faster. */
function dot(matrix: Int8Array, a: number, b: number, dimensions: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let at = 0; at < dimensions; at += 4) {
    sum0 = (sum0 + Math.imul(matrix[a + at] as number, matrix[b + at] as number)) | 0;
    sum1 = (sum1 + Math.imul(matrix[a + at + 1] as number, matrix[b + at + 1] as number)) | 0;
    sum2 = (sum2 + Math.imul(matrix[a + at + 2] as number, matrix[b + at + 2] as number)) | 0;
    sum3 = (sum3 + Math.imul(matrix[a + at + 3] as number, matrix[b + at + 3] as number)) | 0;
  }
  return sum0 + sum1 + sum2 + sum3;
}

/** Words below this cosine count as unrelated. */
export const likenessLeast = 0.3;
/**
 * At a cosine of 0.3 the expected share is 0.4. Loses few similar pairs, all near the limit, and
 * skips 7 of 8 others.
 */
const differingShareMax = 0.44;

/** Each distinct word of a document with the sum of the weights of the fields that contain it. */
export function weighWords(document: Document): Map<string, number> {
  const weights = new Map<string, number>();
  for (const field of fields) {
    for (const word of new Set(document[field]))
      weights.set(word, (weights.get(word) ?? 0) + fieldWeights[field].vector);
  }
  return weights;
}

/** The normalised sum of weighted words; all zeros if no word is known. */
export function embed(
  weights: Iterable<readonly [word: string, weight: number]>,
  vectors: Vectors,
): Float32Array {
  const sum = new Float32Array(vectors.dimensions);
  for (const [word, weight] of weights) vectors.add(word, weight, sum);
  return normalise(sum);
}

export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}
