import type { CallRow } from "../../store/store.ts";
import type { HallEvents } from "../events.ts";
import type { Area, PageParts } from "./area.ts";
import type { CallLine } from "./contract.ts";
import { lineOf } from "./events.ts";

/** The calls of a hall: the last hour by minute, and the recorded ones. */
export interface TrafficMethods {
  traffic: { params: Record<string, never>; result: { readonly minutes: readonly Minute[] } };
  /** The newest first. */
  calls: { params: CallsFilter; result: { readonly calls: readonly CallLine[] } };
  /** A call with all calls of the same client's call, oldest first. */
  callTree: {
    params: { readonly root: string; readonly at: number };
    result: { readonly calls: readonly WholeCall[] };
  };
}

export interface CallsFilter {
  readonly tool?: string | undefined;
  readonly outcome?: string | undefined;
  readonly since?: number | undefined;
  readonly limit?: number | undefined;
}

export interface WholeCall extends CallLine {
  /** As JSON, if the config keeps them (`store.record`). */
  readonly arguments: string | null;
  readonly result: string | null;
}

export interface Minute {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  readonly p95Ms: number;
}

const minuteMs = 60_000;
const minutesMax = 60;
const samplesMax = 2_000;
const callsMax = 10_000;
/** Nested calls are recorded when they end, around their root. */
const treeMs = 600_000;

export interface Traffic {
  minutes(): readonly Minute[];
  close(): void;
}

interface Bucket {
  readonly at: number;
  calls: number;
  errors: number;
  readonly ms: number[];
}

/** Counts the calls of the last hour; the store's statistics are by hour. */
export function createTraffic(events: HallEvents, recorded: Promise<readonly CallLine[]>): Traffic {
  const buckets = new Map<number, Bucket>();

  function count({ at, ms, outcome }: Pick<CallRow, "at" | "ms" | "outcome">): void {
    const minute = Math.floor((at + ms) / minuteMs) * minuteMs;
    let bucket = buckets.get(minute);
    if (!bucket) {
      bucket = { at: minute, calls: 0, errors: 0, ms: [] };
      buckets.set(minute, bucket);
      for (const old of buckets.keys())
        if (old <= minute - minutesMax * minuteMs) buckets.delete(old);
    }
    bucket.calls += 1;
    if (outcome !== "ok") bucket.errors += 1;
    if (bucket.ms.length < samplesMax) bucket.ms.push(ms);
  }

  recorded.then((rows) => rows.forEach(count)).catch(() => {});
  const close = events.follow((event) => {
    if (event.type === "call") count(event.row);
  });
  return {
    minutes() {
      const now = Math.floor(Date.now() / minuteMs) * minuteMs;
      return Array.from({ length: minutesMax }, (_, index) => {
        const at = now - (minutesMax - 1 - index) * minuteMs;
        const { calls = 0, errors = 0, ms = [] } = buckets.get(at) ?? {};
        return { at, calls, errors, p95Ms: percentile(ms, 0.95) };
      });
    },
    close,
  };
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

export function trafficArea({ hall }: PageParts, traffic: Traffic): Area<TrafficMethods> {
  return {
    traffic: { scope: "read", run: async () => ({ minutes: traffic.minutes() }) },
    calls: {
      scope: "read",
      fields: { tool: "string?", outcome: "string?", since: "number?", limit: "number?" },
      async run({ limit = 1_000, ...filter }) {
        await hall.store.flush().catch(() => {});
        const rows = await hall.store.calls.list({ ...filter, limit: Math.min(limit, callsMax) });
        return { calls: rows.map((row) => lineOf({ ...row, arguments: "" })).reverse() };
      },
    },
    callTree: {
      scope: "read",
      fields: { root: "string", at: "number" },
      async run({ root, at }) {
        await hall.store.flush().catch(() => {});
        const rows = await hall.store.calls.list({ since: at - treeMs, limit: callsMax });
        const calls = rows.filter((row) => row.root === root);
        return {
          calls: calls.map((row) => ({
            ...lineOf({ ...row, arguments: "" }),
            arguments: row.arguments,
            result: row.result,
          })),
        };
      },
    },
  };
}
