import { isObject } from "../../base/json.ts";
import type { AuditRow, AuditStore, CallRow, KeptCall } from "../../store/store.ts";
import type { HallEvents } from "../events.ts";
import { type CallRetry, findRetries } from "../retries.ts";
import { violationKind } from "../sandbox.ts";
import { method, type PageParts } from "./area.ts";
import type { CallLine } from "./contract.ts";
import { lineOf } from "./events.ts";

// The calls as the page shows them: their number per minute, and one call with all that belongs to it.

/** A call with the calls inside of it, the decisions about them, their retries and denied accesses. */
export interface CallTree {
  readonly calls: readonly WholeCall[];
  readonly approvals: readonly CallApproval[];
  readonly retries: readonly CallRetry[];
  readonly denials: readonly CallDenial[];
}

/** An access that a sandbox denied during a call of the tree. The audit has each one once while a hall runs. */
export interface CallDenial {
  readonly server: string;
  readonly at: number;
  readonly reason: string;
}

/** A decision about a call of the tree, from the audit. */
export interface CallApproval {
  readonly call: string;
  /** When it was decided; the call waited since it began. */
  readonly at: number;
  /** approved, refused, or blocked because no answer came. */
  readonly kind: string;
  readonly reason: string;
  /** Undefined if it was answered in the client or at a terminal. */
  readonly by: string | undefined;
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
const dayMs = 86_400_000;
/** An answer is in the audit at about the time its call continues. */
const answerMs = 5_000;
const decisionKinds = ["approved", "refused", "blocked"];

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

/** `before`: only among the `limit` rows before this one. */
const filterFields = {
  tool: "string?",
  outcome: "string?",
  since: "number?",
  before: "number?",
  limit: "number?",
} as const;

/** The calls of a hall: the last hour by minute, over time, and the recorded ones. */
export function trafficArea({ hall }: PageParts, traffic: Traffic) {
  return {
    traffic: method("read", {}, async () => ({ minutes: traffic.minutes() })),
    /** Of a tool, a toolkit or all. */
    series: method("read", { since: "number", of: "string?" }, ({ since, of }) =>
      hall.store.series(since, of),
    ),
    /** The newest first; `before` is the row to ask for older ones with, undefined if there is none. */
    calls: method(
      "read",
      filterFields,
      async ({ limit: wanted = 1_000, before = Number.POSITIVE_INFINITY, ...filter }) => {
        await hall.store.flush().catch(() => {});
        const limit = Math.min(wanted, callsMax);
        const after = Number.isFinite(before) ? Math.max(0, before - 1 - limit) : undefined;
        const listed = await hall.store.calls.list({ ...filter, after, limit });
        const rows = listed.filter(({ seq }) => seq < before);
        return { calls: rows.map(keptLine).reverse(), before: rows[0]?.seq };
      },
    ),
    /** A call with all calls of the same client's call, oldest first. */
    callTree: method(
      "read",
      { root: "string", at: "number" },
      async ({ root, at }): Promise<CallTree> => {
        await hall.store.flush().catch(() => {});
        const calls = await hall.store.calls.list({ since: at - dayMs, root, limit: callsMax });
        return {
          calls: calls.map((row) => ({
            ...keptLine(row),
            arguments: row.arguments,
            result: row.result,
          })),
          approvals: await findApprovals(hall.store.audit, calls),
          retries: await findRetries(hall.store.retries, root),
          denials: await findDenials(hall.store.audit, calls),
        };
      },
    ),
  };
}

function keptLine({ seq: _seq, digest: _digest, result: _result, ...row }: KeptCall): CallLine {
  return lineOf({ ...row, arguments: "" });
}

/** The sandbox reports a denial a moment after it. */
const reportMs = 1_000;

async function findDenials(
  audit: AuditStore,
  calls: readonly KeptCall[],
): Promise<readonly CallDenial[]> {
  const since = Math.min(...calls.map(({ at }) => at));
  const rows = await audit.list({ outcome: violationKind, since, limit: callsMax });
  const isDuring = ({ subject, at }: AuditRow): boolean =>
    calls.some(
      (call) => call.toolkit === subject && at >= call.at && at <= call.at + call.ms + reportMs,
    );
  return rows.filter(isDuring).map(({ subject, at, reason }) => ({ server: subject, at, reason }));
}

const auditedToolsMax = 20;

/** The decisions about these calls, and the answers of people that belong to them. */
async function findApprovals(
  audit: AuditStore,
  calls: readonly KeptCall[],
): Promise<readonly CallApproval[]> {
  const ids = new Set(calls.map(({ id }) => id));
  const since = Math.min(...calls.map(({ at }) => at));
  const tools = [...new Set(calls.map(({ tool }) => tool))].slice(0, auditedToolsMax);
  const rows = await Promise.all(tools.map((tool) => audit.list({ tool, since, limit: callsMax })));
  const all = rows.flat();
  const detail = ({ details }: AuditRow, name: string): unknown =>
    isObject(details) ? details[name] : undefined;
  return all.flatMap((row) => {
    const call = detail(row, "call");
    if (typeof call !== "string" || !ids.has(call) || !decisionKinds.includes(row.kind)) return [];
    const hash = detail(row, "argumentsHash");
    const answer = all.find(
      (other) =>
        other.kind === "answered" &&
        detail(other, "argumentsHash") === hash &&
        Math.abs(other.at - row.at) < answerMs,
    );
    const by = answer && `${answer.caller}, ${answer.reason}`;
    return [{ call, at: row.at, kind: row.kind, reason: row.reason, by }];
  });
}
