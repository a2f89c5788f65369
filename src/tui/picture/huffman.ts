import type { Bits } from "./bits.ts";

/** A code of bits for bytes: of each length, the first code and where its bytes begin. */
export interface HuffmanTable {
  readonly counts: Uint8Array;
  readonly firstCodes: Int32Array;
  readonly offsets: Int32Array;
  readonly values: Uint8Array;
}

/** `counts` says how many codes there are of 1 to 16 bits, `values` what they stand for. */
export function createHuffmanTable(counts: Uint8Array, values: Uint8Array): HuffmanTable {
  const firstCodes = new Int32Array(16);
  const offsets = new Int32Array(16);
  let [code, offset] = [0, 0];
  for (let index = 0; index < 16; index++) {
    firstCodes[index] = code;
    offsets[index] = offset;
    offset += counts[index] ?? 0;
    code = (code + (counts[index] ?? 0)) << 1;
  }
  return { counts, firstCodes, offsets, values };
}

/** The next byte. Throws where the bits are no code of the table. */
export function readCode(
  bits: Bits,
  { counts, firstCodes, offsets, values }: HuffmanTable,
): number {
  let code = 0;
  for (let index = 0; index < 16; index++) {
    code = (code << 1) | bits.read();
    const place = code - (firstCodes[index] ?? 0);
    if (place < (counts[index] ?? 0)) return values[(offsets[index] ?? 0) + place] ?? 0;
  }
  throw new RangeError("bits that are no code");
}
