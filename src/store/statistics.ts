import { percentile } from "./histogram.ts";
import type { Figures, Statistics } from "./store.ts";
import { addTally, createTally, type HourTally, hourMs, type Tally } from "./tally.ts";

const trendParts = 24;

interface Sum {
  readonly tally: Tally;
  readonly byHour: Map<number, number>;
}

/** Hours to the figures people look at. */
export function sumStatistics(hours: Iterable<HourTally>): Statistics {
  const total = createSum();
  const toolkits = new Map<string, Sum>();
  const tools = new Map<string, Sum & { readonly toolkit: string }>();
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const part of hours) {
    first = Math.min(first, part.hour);
    last = Math.max(last, part.hour);
    addTo(total, part);
    addTo(entry(toolkits, part.toolkit, createSum), part);
    addTo(
      entry(tools, part.tool, () => ({ ...createSum(), toolkit: part.toolkit })),
      part,
    );
  }
  const figures = (sum: Sum): Figures => describe(sum, first, last);
  const isEmpty = total.tally.calls === 0;
  return {
    from: isEmpty ? null : first * hourMs,
    to: isEmpty ? null : last * hourMs,
    total: figures(total),
    toolkits: [...toolkits].map(([toolkit, sum]) => ({ toolkit, ...figures(sum) })).sort(byCalls),
    tools: [...tools].map(([tool, sum]) => ({ toolkit: sum.toolkit, tool, ...figures(sum) })).sort(byCalls),
  };
}

function createSum(): Sum {
  return { tally: createTally(), byHour: new Map() };
}

function entry<T>(map: Map<string, T>, key: string, create: () => T): T {
  let found = map.get(key);
  if (found === undefined) {
    found = create();
    map.set(key, found);
  }
  return found;
}

function addTo({ tally, byHour }: Sum, part: HourTally): void {
  addTally(tally, part.tally);
  byHour.set(part.hour, (byHour.get(part.hour) ?? 0) + part.tally.calls);
}

function describe({ tally, byHour }: Sum, first: number, last: number): Figures {
  const { calls, errors, timeouts, bytesIn, bytesOut, histogram } = tally;
  const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) => percentile(histogram, calls, share)) as [number, number, number];
  return { calls, errors, timeouts, errorRate: calls === 0 ? 0 : errors / calls, p50Ms, p95Ms, p99Ms, bytesIn, bytesOut, trend: trendOf(byHour, first, last) };
}

/** No more parts than hours: an hour is the finest there is. */
function trendOf(byHour: ReadonlyMap<number, number>, first: number, last: number): readonly number[] {
  if (byHour.size === 0) return [];
  const hours = last - first + 1;
  const parts = new Array<number>(Math.min(trendParts, hours)).fill(0);
  for (const [hour, calls] of byHour) {
    const part = Math.floor(((hour - first) * parts.length) / hours);
    parts[part] = (parts[part] ?? 0) + calls;
  }
  return parts;
}

function byCalls(a: Figures, b: Figures): number {
  return b.calls - a.calls;
}
