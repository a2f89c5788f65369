// The signs of vectors, one bit for each dimension: similar vectors differ in few of them, unrelated ones in
// half. Counting them takes a tenth of the time of a cosine and decides most pairs.

/** The signs of a matrix, row by row, 32 to a number. */
export function signsOf(matrix: Int8Array | Float32Array, dimensions: number): Int32Array {
  const width = signsWidth(dimensions);
  const count = dimensions === 0 ? 0 : matrix.length / dimensions;
  const signs = new Int32Array(count * width);
  for (let row = 0; row < count; row++) {
    for (let at = 0; at < dimensions; at++) {
      const slot = row * width + (at >> 5);
      if ((matrix[row * dimensions + at] as number) < 0)
        signs[slot] = (signs[slot] as number) | (1 << (at & 31));
    }
  }
  return signs;
}

/** The number of integers for one row; a multiple of four, since four are counted at a time. */
export const signsWidth = (dimensions: number): number => 4 * Math.ceil(dimensions / 128);

/** The number of differing signs of two rows that start at `a` and `b`. */
export function countDiffering(
  left: Int32Array,
  a: number,
  right: Int32Array,
  b: number,
  width: number,
): number {
  let count = 0;
  for (let at = 0; at < width; at += 4) {
    const first =
      countInFours((left[a + at] as number) ^ (right[b + at] as number)) +
      countInFours((left[a + at + 1] as number) ^ (right[b + at + 1] as number));
    const second =
      countInFours((left[a + at + 2] as number) ^ (right[b + at + 2] as number)) +
      countInFours((left[a + at + 3] as number) ^ (right[b + at + 3] as number));
    const inEights =
      ((first & 0x0f0f0f0f) +
        ((first >>> 4) & 0x0f0f0f0f) +
        (second & 0x0f0f0f0f) +
        ((second >>> 4) & 0x0f0f0f0f)) |
      0;
    count += Math.imul(inEights, 0x01010101) >>> 24;
  }
  return count;
}

/** Counts the bits of each group of four, in 32-bit integers, which are fastest. */
function countInFours(bits: number): number {
  const inTwos = (bits - ((bits >>> 1) & 0x55555555)) | 0;
  return ((inTwos & 0x33333333) + ((inTwos >>> 2) & 0x33333333)) | 0;
}

/** The expected cosine of two vectors that differ in this share of their signs. */
export const expectedCosine = (differing: number): number => Math.cos(Math.PI * differing);
