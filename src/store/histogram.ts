/**
 * Durations in buckets that grow by an eighth of an octave, from a microsecond to hours: a percentile is within 5 % of the
 * true one, and two histograms are added by adding their buckets.
 */
export type Histogram = Uint32Array;

const perOctave = 8;
const octaves = 34;
/** The first bucket is everything under a microsecond, the last everything over four hours. */
export const bucketCount = perOctave * octaves + 2;

export function createHistogram(): Histogram {
  return new Uint32Array(bucketCount);
}

export function bucketOf(ms: number): number {
  const microseconds = ms * 1_000;
  return microseconds < 1 ? 0 : Math.min(bucketCount - 1, 1 + Math.floor(Math.log2(microseconds) * perOctave));
}

/** The longest duration that falls into the bucket. */
export function bucketEndMs(bucket: number): number {
  return bucket >= bucketCount - 1 ? Number.POSITIVE_INFINITY : 2 ** (bucket / perOctave) / 1_000;
}

/** The middle of the bucket that the share falls into; 0 when nothing was counted. */
export function percentile(histogram: Histogram, count: number, share: number): number {
  const wanted = Math.max(1, Math.ceil(count * share));
  let seen = 0;
  for (let bucket = 0; bucket < histogram.length; bucket++) {
    seen += histogram[bucket] ?? 0;
    if (seen >= wanted && count > 0) return 2 ** ((bucket - 0.5) / perOctave) / 1_000;
  }
  return 0;
}

const entryBytes = 6;

/** Only what was counted: two bytes of bucket, four of count. */
export function encodeHistogram(histogram: Histogram): Uint8Array {
  const bytes = new Uint8Array(entryBytes * histogram.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [bucket, count] of histogram.entries()) {
    if (count === 0) continue;
    view.setUint16(at, bucket);
    view.setUint32(at + 2, count);
    at += entryBytes;
  }
  return bytes;
}

export function addEncoded(histogram: Histogram, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + entryBytes <= bytes.byteLength; at += entryBytes) {
    const bucket = Math.min(bucketCount - 1, view.getUint16(at));
    histogram[bucket] = (histogram[bucket] ?? 0) + view.getUint32(at + 2);
  }
}

export function addHistogram(sum: Histogram, part: Histogram): void {
  for (let bucket = 0; bucket < sum.length; bucket++) sum[bucket] = (sum[bucket] ?? 0) + (part[bucket] ?? 0);
}
