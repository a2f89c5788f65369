import { addHistogram, bucketOf, type Histogram, hit } from "./histogram.ts";
import { type CallRow, unknownName } from "./store.ts";

/** Counts of the calls of one tool. */
export interface Tally {
  calls: number;
  /** Without cancelled calls. */
  errors: number;
  cancelled: number;
  timeouts: number;
  bytesIn: number;
  bytesOut: number;
  /** The sum of all durations. */
  ms: number;
  readonly histogram: Histogram;
}

export type Counted = Pick<CallRow, "outcome" | "code" | "ms" | "bytesIn" | "bytesOut">;

function createTally(): Tally {
  return {
    calls: 0,
    errors: 0,
    cancelled: 0,
    timeouts: 0,
    bytesIn: 0,
    bytesOut: 0,
    ms: 0,
    histogram: new Map(),
  };
}

function count(tally: Tally, { outcome, code, ms, bytesIn, bytesOut }: Counted): void {
  tally.calls++;
  if (code === "CANCELLED") tally.cancelled++;
  else if (outcome !== "ok") tally.errors++;
  if (code === "TIMEOUT") tally.timeouts++;
  tally.bytesIn += bytesIn;
  tally.bytesOut += bytesOut;
  tally.ms += ms;
  hit(tally.histogram, bucketOf(ms));
}

function addTally(sum: Tally, part: Tally): void {
  addCounts(sum, part);
  addHistogram(sum.histogram, part.histogram);
}

export type Counts = Omit<Tally, "histogram">;

export function addCounts(sum: Counts, part: Counts): void {
  sum.calls += part.calls;
  sum.errors += part.errors;
  sum.cancelled += part.cancelled;
  sum.timeouts += part.timeouts;
  sum.bytesIn += part.bytesIn;
  sum.bytesOut += part.bytesOut;
  sum.ms += part.ms;
}

/** Hours are kept for a few days, days for as long as statistics are kept. */
export type Span = "hour" | "day";
const spans: readonly Span[] = ["hour", "day"];
export const spanMs: Readonly<Record<Span, number>> = { hour: 3_600_000, day: 86_400_000 };
export const hoursKeptMs = 3 * spanMs.day;

/** The finest span that is kept since then. */
export function spanSince(since: number, now: number): Span {
  return now - since <= hoursKeptMs ? "hour" : "day";
}

export interface SpanTally {
  readonly span: Span;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly toolkit: string;
  readonly tool: string;
  readonly tally: Counts & { readonly histogram: Histogram | Uint8Array };
}

/** A span that is still being counted. */
export interface CountedSpan extends SpanTally {
  readonly tally: Tally;
}

/** Calls counted by hour, by day and by tool. */
export class SpanTallies {
  /** By name, then by start: building one key of both would cost more than the counting. */
  readonly #spans: Readonly<Record<Span, Map<string, Map<number, CountedSpan>>>> = {
    hour: new Map(),
    day: new Map(),
  };

  add(row: Counted & Pick<CallRow, "at" | "toolkit" | "tool">): void {
    for (const span of spans) count(this.#find(span, row).tally, row);
  }

  /** Adds calls of one tool within an hour that the database has counted. */
  merge(row: Pick<CallRow, "at" | "toolkit" | "tool">, tally: Tally): void {
    for (const span of spans) addTally(this.#find(span, row).tally, tally);
  }

  #find(span: Span, { at, toolkit, tool }: Pick<CallRow, "at" | "toolkit" | "tool">): CountedSpan {
    const start = at - (at % spanMs[span]);
    const name = toolkit === null ? unknownName : tool;
    let starts = this.#spans[span].get(name);
    if (!starts) {
      starts = new Map();
      this.#spans[span].set(name, starts);
    }
    let found = starts.get(start);
    if (!found) {
      found = { span, start, toolkit: toolkit ?? unknownName, tool: name, tally: createTally() };
      starts.set(start, found);
    }
    return found;
  }

  *all(): Generator<CountedSpan> {
    for (const span of spans)
      for (const starts of this.#spans[span].values()) yield* starts.values();
  }

  pruneBefore(span: Span, before: number): void {
    for (const [name, starts] of this.#spans[span]) {
      for (const start of starts.keys()) if (start < before) starts.delete(start);
      if (starts.size === 0) this.#spans[span].delete(name);
    }
  }
}
