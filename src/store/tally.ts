import { addHistogram, bucketOf, createHistogram, type Histogram } from "./histogram.ts";
import type { CallRow } from "./store.ts";

/** What is counted of the calls of one tool. */
export interface Tally {
  calls: number;
  errors: number;
  timeouts: number;
  bytesIn: number;
  bytesOut: number;
  /** All durations together. */
  ms: number;
  readonly histogram: Histogram;
}

export type Counted = Pick<CallRow, "outcome" | "code" | "ms" | "bytesIn" | "bytesOut">;

export function createTally(): Tally {
  return { calls: 0, errors: 0, timeouts: 0, bytesIn: 0, bytesOut: 0, ms: 0, histogram: createHistogram() };
}

export function count(tally: Tally, { outcome, code, ms, bytesIn, bytesOut }: Counted): void {
  tally.calls++;
  if (outcome !== "ok") tally.errors++;
  if (code === "TIMEOUT") tally.timeouts++;
  tally.bytesIn += bytesIn;
  tally.bytesOut += bytesOut;
  tally.ms += ms;
  const bucket = bucketOf(ms);
  tally.histogram[bucket] = (tally.histogram[bucket] ?? 0) + 1;
}

export function addTally(sum: Tally, part: Tally): void {
  sum.calls += part.calls;
  sum.errors += part.errors;
  sum.timeouts += part.timeouts;
  sum.bytesIn += part.bytesIn;
  sum.bytesOut += part.bytesOut;
  sum.ms += part.ms;
  addHistogram(sum.histogram, part.histogram);
}

/** Names nobody offers are counted together: they are whatever a caller writes, and there is no end to them. */
export const unknownName = "(unknown)";

export interface HourTally {
  readonly hour: number;
  readonly toolkit: string;
  readonly tool: string;
  readonly tally: Tally;
}

export const hourMs = 3_600_000;

/** Calls counted by hour and tool. */
export class HourTallies {
  readonly #byKey = new Map<string, HourTally>();

  add({ at, toolkit, tool, ...counted }: Counted & Pick<CallRow, "at" | "toolkit" | "tool">): void {
    const hour = Math.floor(at / hourMs);
    const key = toolkit === null ? `${hour}` : `${hour} ${tool}`;
    let found = this.#byKey.get(key);
    if (!found) {
      found = { hour, toolkit: toolkit ?? unknownName, tool: toolkit === null ? unknownName : tool, tally: createTally() };
      this.#byKey.set(key, found);
    }
    count(found.tally, counted);
  }

  all(): IterableIterator<HourTally> {
    return this.#byKey.values();
  }

  /** Forgets the hours before this one. */
  forgetBefore(hour: number): void {
    for (const [key, tally] of this.#byKey) if (tally.hour < hour) this.#byKey.delete(key);
  }

  clear(): void {
    this.#byKey.clear();
  }
}
