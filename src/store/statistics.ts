import { percentile } from "./histogram.ts";
import type { Figures, Statistics } from "./store.ts";
import { addTally, createTally, type Span, type SpanTally, spanMs, type Tally } from "./tally.ts";

const trendParts = 24;

interface Sum {
  readonly tally: Tally;
  /** Calls by the start of the span. */
  readonly byStart: Map<number, number>;
}

/** Spans of one kind to the figures people look at. */
export function sumStatistics(spans: Iterable<SpanTally>, span: Span): Statistics {
  const total = createSum();
  const toolkits = new Map<string, Sum>();
  const tools = new Map<string, Sum & { readonly toolkit: string }>();
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const part of spans) {
    first = Math.min(first, part.start);
    last = Math.max(last, part.start);
    addTo(total, part);
    addTo(entry(toolkits, part.toolkit, createSum), part);
    addTo(
      entry(tools, part.tool, () => ({ ...createSum(), toolkit: part.toolkit })),
      part,
    );
  }
  const figures = (sum: Sum): Figures => describe(sum, { first, last, stepMs: spanMs[span] });
  const isEmpty = total.tally.calls === 0;
  return {
    by: span,
    from: isEmpty ? null : first,
    to: isEmpty ? null : last + spanMs[span],
    total: figures(total),
    toolkits: [...toolkits].map(([toolkit, sum]) => ({ toolkit, ...figures(sum) })).sort(byCalls),
    tools: [...tools].map(([tool, sum]) => ({ toolkit: sum.toolkit, tool, ...figures(sum) })).sort(byCalls),
  };
}

function createSum(): Sum {
  return { tally: createTally(), byStart: new Map() };
}

function entry<T>(map: Map<string, T>, key: string, create: () => T): T {
  let found = map.get(key);
  if (found === undefined) {
    found = create();
    map.set(key, found);
  }
  return found;
}

function addTo({ tally, byStart }: Sum, part: SpanTally): void {
  addTally(tally, part.tally);
  byStart.set(part.start, (byStart.get(part.start) ?? 0) + part.tally.calls);
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly stepMs: number;
}

function describe({ tally, byStart }: Sum, range: Range): Figures {
  const { calls, errors, timeouts, bytesIn, bytesOut, histogram } = tally;
  const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) => percentile(histogram, calls, share)) as [number, number, number];
  return { calls, errors, timeouts, errorRate: calls === 0 ? 0 : errors / calls, p50Ms, p95Ms, p99Ms, bytesIn, bytesOut, trend: trendOf(byStart, range) };
}

/** No more parts than spans: nothing finer is known. */
function trendOf(byStart: ReadonlyMap<number, number>, { first, last, stepMs }: Range): readonly number[] {
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
