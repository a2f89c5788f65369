import { type CallRow, type Figures, type Series, type Statistics, unknownName } from "./store.ts";

/** The numbers that are summed for every tool. */
export const countNames = [
  "calls",
  "errors",
  "cancelled",
  "timeouts",
  "bytesIn",
  "bytesOut",
  "ms",
] as const;

/** Counts of calls. `errors` are without cancelled and refused calls, `ms` is the sum of all durations. */
export interface Tally extends Record<(typeof countNames)[number], number> {
  readonly histogram: Histogram;
}

/**
 * Counts of durations in buckets an eighth of an octave wide, from a microsecond to hours:
 * percentiles are within 5 % of the true ones, and histograms are added bucket by bucket. Empty
 * buckets are left out.
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

function createTally(): Tally {
  const histogram: Histogram = new Map();
  return {
    calls: 0,
    errors: 0,
    cancelled: 0,
    timeouts: 0,
    bytesIn: 0,
    bytesOut: 0,
    ms: 0,
    histogram,
  };
}

export function addTally(sum: Tally, part: Tally): void {
  for (const name of countNames) sum[name] += part[name];
  for (const [bucket, count] of part.histogram) increase(sum.histogram, bucket, count);
}

function increase(counts: Map<number, number>, key: number, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** Hours are kept for a few days, days for as long as statistics are kept. */
export type Period = "hour" | "day";
const periods: readonly Period[] = ["hour", "day"];
export const periodMs: Readonly<Record<Period, number>> = { hour: 3_600_000, day: 86_400_000 };
export const hoursKeptMs = 3 * periodMs.day;

/** The shortest period that is kept for all calls since then. */
export function periodSince(since: number, now: number): Period {
  return now - since <= hoursKeptMs ? "hour" : "day";
}

/** The calls of one tool in one hour or day. */
export interface PeriodTally {
  readonly period: Period;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly toolkit: string;
  readonly tool: string;
  readonly tally: Tally;
}

/** True if it is of this tool or toolkit; undefined is all. */
export function isOf({ tool, toolkit }: PeriodTally, of: string | undefined): boolean {
  return of === undefined || tool === of || toolkit === of;
}

type CallKey = Pick<CallRow, "at" | "toolkit" | "tool">;

/** Calls counted by hour, by day and by tool. */
export class PeriodTallies {
  /** By name, then by start: building one key of both would cost more than the counting. */
  readonly #periods: Readonly<Record<Period, Map<string, Map<number, PeriodTally>>>> = {
    hour: new Map(),
    day: new Map(),
  };

  /** Adds calls of one tool within an hour. */
  add(call: CallKey, tally: Tally): void {
    for (const period of periods) addTally(this.#find(period, call).tally, tally);
  }

  #find(period: Period, { at, toolkit, tool }: CallKey): PeriodTally {
    const start = at - (at % periodMs[period]);
    const name = toolkit === null ? unknownName : tool;
    const starts = getOrPut(this.#periods[period], name, () => new Map<number, PeriodTally>());
    return getOrPut(starts, start, () => ({
      period,
      start,
      toolkit: toolkit ?? unknownName,
      tool: name,
      tally: createTally(),
    }));
  }

  *all(): Generator<PeriodTally> {
    for (const period of periods)
      for (const starts of this.#periods[period].values()) yield* starts.values();
  }

  pruneBefore(period: Period, before: number): void {
    for (const [name, starts] of this.#periods[period]) {
      for (const start of starts.keys()) if (start < before) starts.delete(start);
      if (starts.size === 0) this.#periods[period].delete(name);
    }
  }
}

function getOrPut<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let found = map.get(key);
  if (found === undefined) {
    found = create();
    map.set(key, found);
  }
  return found;
}

/** Refused calls are not errors of the tool. */
export const refusedCodes: readonly string[] = ["DENIED", "APPROVAL_NEEDED"];

/** One call as a tally. */
export function tallyOf({
  outcome,
  code,
  ms,
  bytesIn,
  bytesOut,
}: Pick<CallRow, "outcome" | "code" | "ms" | "bytesIn" | "bytesOut">): Tally {
  const isCancelled = code === "CANCELLED";
  const isRefused = typeof code === "string" && refusedCodes.includes(code);
  return {
    calls: 1,
    errors: outcome === "ok" || isCancelled || isRefused ? 0 : 1,
    cancelled: isCancelled ? 1 : 0,
    timeouts: code === "TIMEOUT" ? 1 : 0,
    bytesIn,
    bytesOut,
    ms,
    histogram: new Map([[bucketOf(ms), 1]]),
  };
}

interface Sum {
  readonly tally: Tally;
  /** Calls by the start of their period. */
  readonly byStart: Map<number, number>;
}

/** Sums toolkits and the total from the tools: there are far fewer tools than periods. */
export function sumStatistics(tallies: Iterable<PeriodTally>, period: Period): Statistics {
  const tools = new Map<string, Sum & { readonly toolkit: string }>();
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { start, toolkit, tool, tally } of tallies) {
    first = Math.min(first, start);
    last = Math.max(last, start);
    const sum = getOrPut(tools, tool, () => ({ ...createSum(), toolkit }));
    addTally(sum.tally, tally);
    increase(sum.byStart, start, tally.calls);
  }

  const total = createSum();
  const toolkits = new Map<string, Sum>();
  for (const sum of tools.values()) {
    addSum(total, sum);
    addSum(getOrPut(toolkits, sum.toolkit, createSum), sum);
  }

  const figures = (sum: Sum): Figures => describe(sum, { first, last, stepMs: periodMs[period] });
  const isEmpty = total.tally.calls === 0;
  return {
    by: period,
    from: isEmpty ? null : first,
    to: isEmpty ? null : last + periodMs[period],
    total: figures(total),
    toolkits: [...toolkits].map(([toolkit, sum]) => ({ toolkit, ...figures(sum) })).sort(byCalls),
    tools: [...tools]
      .map(([tool, sum]) => ({ toolkit: sum.toolkit, tool, ...figures(sum) }))
      .sort(byCalls),
  };
}

/** The figures of people, from tallies that have the person in the place of the tool. */
export function listPeople(
  tallies: Iterable<PeriodTally>,
  period: Period,
): Pick<Statistics, "people"> {
  const people = sumStatistics(tallies, period).tools.map(
    ({ tool: person, toolkit: _same, ...figures }) => ({ person, ...figures }),
  );
  return people.length === 0 ? {} : { people };
}

/** The tallies of each period together, oldest first. Periods without calls are left out. */
export function listPeriods(tallies: Iterable<PeriodTally>, period: Period): Series {
  const byStart = new Map<number, Tally>();
  for (const { start, tally } of tallies) addTally(getOrPut(byStart, start, createTally), tally);
  const periods = [...byStart]
    .sort(([a], [b]) => a - b)
    .map(([start, tally]) => ({ start, ...figuresOf(tally) }));
  return { by: period, periods };
}

function createSum(): Sum {
  return { tally: createTally(), byStart: new Map() };
}

function addSum({ tally, byStart }: Sum, part: Sum): void {
  addTally(tally, part.tally);
  for (const [start, calls] of part.byStart) increase(byStart, start, calls);
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly stepMs: number;
}

function describe({ tally, byStart }: Sum, range: Range): Figures {
  return { ...figuresOf(tally), trend: trendOf(byStart, range) };
}

function figuresOf({ histogram, ms: _sum, ...counts }: Tally): Omit<Figures, "trend"> {
  const percentileAt = createPercentiles(histogram, counts.calls);
  return {
    ...counts,
    errorRate: counts.calls === 0 ? 0 : counts.errors / counts.calls,
    p50Ms: percentileAt(0.5),
    p95Ms: percentileAt(0.95),
    p99Ms: percentileAt(0.99),
  };
}

/** The middle of the bucket at a share; 0 if there are no counts. */
function createPercentiles(histogram: Histogram, count: number): (share: number) => number {
  const buckets = [...histogram].sort(([a], [b]) => a - b);
  return (share) => {
    let left = Math.max(1, Math.ceil(count * share));
    for (const [bucket, hits] of buckets) {
      left -= hits;
      if (left <= 0) return 2 ** ((bucket - 0.5) / perOctave) / 1_000;
    }
    return 0;
  };
}

const trendParts = 24;

/** At most one part per period. */
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
