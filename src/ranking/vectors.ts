// Small static word vectors, trained by scripts/train-vectors.mjs on public tool definitions and tasks. A text is the sum of its words; what
// a word weighs is the length of its vector, so there is no table of weights beside it.

import { existsSync, readFileSync } from "node:fs";
import { HallError } from "../base/errors.ts";
import type { Document, Field } from "./document.ts";

export interface Vectors {
  readonly dimensions: number;
  /** Adds the word's vector, times the weight, to `sum`; false when the word has none. */
  add(word: string, weight: number, sum: Float32Array): boolean;
}

/** Reads the vectors the package ships: about 3 MB, some 20 ms. */
export function loadVectors(): Vectors {
  const candidates = ["./vectors.bin", "../vectors.bin"].map((name) => new URL(name, import.meta.url));
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found === undefined) throw new HallError("INTERNAL", "vectors.bin is not beside the code: install Guildhall again");
  return parseVectors(readFileSync(found));
}

export const vectorsMagic = "GHV1";

/** Magic, count and dimensions; lengths of the words' text and the text, one word a line; a scale a word; a row of bytes a word. */
export function parseVectors(bytes: Uint8Array): Vectors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  if (decoder.decode(bytes.subarray(0, 4)) !== vectorsMagic) throw new HallError("INTERNAL", "vectors.bin is not a file of vectors: install Guildhall again");
  const [count, dimensions, textBytes] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number];
  const words = decoder.decode(bytes.subarray(16, 16 + textBytes)).split("\n");
  if (words.length !== count || bytes.length !== 16 + textBytes + count * (4 + dimensions))
    throw new HallError("INTERNAL", "vectors.bin is not whole: install Guildhall again");
  const rows = new Map(words.map((word, row) => [word, row]));
  const scales = Float32Array.from({ length: count }, (_, row) => view.getFloat32(16 + textBytes + row * 4, true));
  const matrix = new Int8Array(bytes.buffer, bytes.byteOffset + 16 + textBytes + count * 4, count * dimensions);
  return {
    dimensions,
    add(word, weight, sum) {
      const row = rows.get(word);
      if (row === undefined) return false;
      const factor = weight * (scales[row] ?? 0);
      const start = row * dimensions;
      for (let at = 0; at < dimensions; at++) sum[at] = (sum[at] ?? 0) + factor * (matrix[start + at] ?? 0);
      return true;
    },
  };
}

/** What a word of each field counts in a tool's vector. The training uses the same. */
const vectorWeights: Readonly<Record<Field, number>> = {
  name: 1,
  description: 1,
  toolkit: 0.5,
  toolkitDescription: 0.3,
  parameters: 0.5,
  parameterDescriptions: 0.4,
  choices: 0.3,
  aliases: 1,
};

/** Each different word of a document with its weight: the sum over the fields that have it, however often they do. */
export function weighWords(document: Document): Map<string, number> {
  const weights = new Map<string, number>();
  for (const [field, weight] of Object.entries(vectorWeights) as [Field, number][]) {
    for (const word of new Set(document[field])) weights.set(word, (weights.get(word) ?? 0) + weight);
  }
  return weights;
}

/** The vector of weighted words, of length 1; all zeros when no word is known. */
export function embed(weights: Iterable<readonly [word: string, weight: number]>, vectors: Vectors): Float32Array {
  const sum = new Float32Array(vectors.dimensions);
  for (const [word, weight] of weights) vectors.add(word, weight, sum);
  return normalise(sum);
}

export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}
