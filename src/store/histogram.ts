/**
 * Counts of durations in buckets an eighth of an octave wide, from a microsecond to hours: percentiles are within 5 % of the
 * true ones, and histograms are added bucket by bucket. Empty buckets are left out.
 */
export type Histogram = Map<number, number>;

const perOctave = 8;
/** Durations over four hours. */
const lastBucket = perOctave * 34 + 1;

/** Bucket 0 is everything below a microsecond. */
export function bucketOf(ms: number): number {
  const microseconds = ms * 1_000;
  return microseconds < 1
    ? 0
    : Math.min(lastBucket, 1 + Math.floor(Math.log2(microseconds) * perOctave));
}

export function hit(histogram: Histogram, bucket: number, times = 1): void {
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + times);
}

export function addHistogram(sum: Histogram, part: Histogram): void {
  for (const [bucket, count] of part) hit(sum, bucket, count);
}

/** A sum of thousands of histograms, with every bucket. */
export type HistogramSum = Float64Array;

export function createHistogramSum(): HistogramSum {
  return new Float64Array(lastBucket + 1);
}

export function addToSum(sum: HistogramSum, part: Histogram | Uint8Array): void {
  if (part instanceof Map)
    for (const [bucket, count] of part) sum[bucket] = (sum[bucket] ?? 0) + count;
  else readEncoded(part, (bucket, count) => (sum[bucket] = (sum[bucket] ?? 0) + count));
}

/** The middle of the bucket at this share; 0 if there are no counts. */
export function percentile(sum: HistogramSum, count: number, share: number): number {
  let left = Math.max(1, Math.ceil(count * share));
  for (const [bucket, hits] of sum.entries()) {
    left -= hits;
    if (left <= 0) return 2 ** ((bucket - 0.5) / perOctave) / 1_000;
  }
  return 0;
}

const entryBytes = 6;

/** Two bytes for the bucket, four for the count. */
export function encodeHistogram(histogram: Histogram): Uint8Array {
  const bytes = Buffer.allocUnsafe(entryBytes * histogram.size);
  let at = 0;
  for (const [bucket, count] of histogram) {
    bytes.writeUInt16BE(bucket, at);
    bytes.writeUInt32BE(count, at + 2);
    at += entryBytes;
  }
  return bytes;
}

export function addEncoded(histogram: Histogram, bytes: Uint8Array): void {
  readEncoded(bytes, (bucket, count) => hit(histogram, bucket, count));
}

function readEncoded(bytes: Uint8Array, found: (bucket: number, count: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes)
    found(view.getUint16(at), view.getUint32(at + 2));
}
