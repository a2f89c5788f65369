import { addToSum, createHistogramSum, type HistogramSum, percentile } from "./histogram.ts";
import type { Figures, Statistics } from "./store.ts";
import { addCounts, type Counts, type Span, type SpanTally, spanMs } from "./tally.ts";

const trendParts = 24;

interface Sum {
  readonly counts: Counts;
  readonly durations: HistogramSum;
  /** Calls by the start of their span. */
  readonly byStart: Map<number, number>;
}

/** Toolkits and the total are summed from the tools, because there are far fewer tools than spans. */
export function sumStatistics(spans: Iterable<SpanTally>, span: Span): Statistics {
  const tools = new Map<string, Sum & { readonly toolkit: string }>();
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { start, toolkit, tool, tally } of spans) {
    first = Math.min(first, start);
    last = Math.max(last, start);
    const sum = entry(tools, tool, () => ({ ...createSum(), toolkit }));
    addCounts(sum.counts, tally);
    addToSum(sum.durations, tally.histogram);
    sum.byStart.set(start, (sum.byStart.get(start) ?? 0) + tally.calls);
  }
  const total = createSum();
  const toolkits = new Map<string, Sum>();
  for (const sum of tools.values()) {
    addSum(total, sum);
    addSum(entry(toolkits, sum.toolkit, createSum), sum);
  }
  const figures = (sum: Sum): Figures => describe(sum, { first, last, stepMs: spanMs[span] });
  const isEmpty = total.counts.calls === 0;
  return {
    by: span,
    from: isEmpty ? null : first,
    to: isEmpty ? null : last + spanMs[span],
    total: figures(total),
    toolkits: [...toolkits].map(([toolkit, sum]) => ({ toolkit, ...figures(sum) })).sort(byCalls),
    tools: [...tools]
      .map(([tool, sum]) => ({ toolkit: sum.toolkit, tool, ...figures(sum) }))
      .sort(byCalls),
  };
}

function createSum(): Sum {
  return {
    counts: { calls: 0, errors: 0, cancelled: 0, timeouts: 0, bytesIn: 0, bytesOut: 0, ms: 0 },
    durations: createHistogramSum(),
    byStart: new Map(),
  };
}

function entry<T>(map: Map<string, T>, key: string, create: () => T): T {
  let found = map.get(key);
  if (found === undefined) {
    found = create();
    map.set(key, found);
  }
  return found;
}

function addSum({ counts, durations, byStart }: Sum, part: Sum): void {
  addCounts(counts, part.counts);
  for (const [bucket, count] of part.durations.entries())
    durations[bucket] = (durations[bucket] ?? 0) + count;
  for (const [start, calls] of part.byStart) byStart.set(start, (byStart.get(start) ?? 0) + calls);
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly stepMs: number;
}

function describe({ counts, durations, byStart }: Sum, range: Range): Figures {
  const { calls, errors, cancelled, timeouts, bytesIn, bytesOut } = counts;
  const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) =>
    percentile(durations, calls, share),
  ) as [number, number, number];
  const errorRate = calls === 0 ? 0 : errors / calls;
  return {
    calls,
    errors,
    cancelled,
    timeouts,
    errorRate,
    p50Ms,
    p95Ms,
    p99Ms,
    bytesIn,
    bytesOut,
    trend: trendOf(byStart, range),
  };
}

/** At most one part per span. */
function trendOf(
  byStart: ReadonlyMap<number, number>,
  { first, last, stepMs }: Range,
): readonly number[] {
  if (byStart.size === 0) return [];
  const steps = (last - first) / stepMs + 1;
  const parts = new Array<number>(Math.min(trendParts, steps)).fill(0);
  for (const [start, calls] of byStart) {
    const part = Math.floor((((start - first) / stepMs) * parts.length) / steps);
    parts[part] = (parts[part] ?? 0) + calls;
  }
  return parts;
}

function byCalls(a: Figures, b: Figures): number {
  return b.calls - a.calls;
}
