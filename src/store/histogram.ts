/**
 * Durations in buckets that grow by an eighth of an octave, from a microsecond to hours: a percentile is within 5 % of the
 * true one, and two histograms are added by adding their buckets. Only buckets that were hit are there.
 */
export type Histogram = Map<number, number>;

const perOctave = 8;
/** Everything over four hours. */
const lastBucket = perOctave * 34 + 1;

/** The first is everything under a microsecond. */
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

/** Thousands of histograms added up: every bucket has its place. */
export type HistogramSum = Float64Array;

export function createHistogramSum(): HistogramSum {
  return new Float64Array(lastBucket + 1);
}

export function addToSum(sum: HistogramSum, part: Histogram | Uint8Array): void {
  if (part instanceof Map)
    for (const [bucket, count] of part) sum[bucket] = (sum[bucket] ?? 0) + count;
  else readEncoded(part, (bucket, count) => (sum[bucket] = (sum[bucket] ?? 0) + count));
}

/** The middle of the bucket that the share falls into; 0 when nothing was counted. */
export function percentile(sum: HistogramSum, count: number, share: number): number {
  let left = Math.max(1, Math.ceil(count * share));
  for (const [bucket, hits] of sum.entries()) {
    left -= hits;
    if (left <= 0) return 2 ** ((bucket - 0.5) / perOctave) / 1_000;
  }
  return 0;
}

/** How many took no longer than two to this power, in microseconds. */
export function countUpTo(histogram: Histogram, octave: number): number {
  let sum = 0;
  for (const [bucket, count] of histogram) if (bucket <= octave * perOctave) sum += count;
  return sum;
}

const entryBytes = 6;

/** Two bytes of bucket, four of count. */
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
