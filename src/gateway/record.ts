import { type ErrorCode, HallError } from "../base/errors.ts";
import type { Call } from "../tool.ts";
import type { Stage } from "./stage.ts";

/** What is kept of a call. Never its arguments or its result. */
export interface CallRecord {
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly client: string;
  readonly connection: string;
  readonly startedAt: number;
  readonly ms: number;
  readonly outcome: "ok" | "tool error" | ErrorCode;
}

export interface CallRecords {
  add(record: CallRecord): void;
  /** Newest last. */
  recent(): readonly CallRecord[];
}

/** The last calls, in memory: a ring, so that a busy week costs no more than a busy minute. */
export function createCallRecords(countMax = 1_000): CallRecords {
  const ring: CallRecord[] = [];
  let next = 0;
  return {
    add(record) {
      ring[next] = record;
      next = (next + 1) % countMax;
    },
    recent: () => (ring.length < countMax ? ring.slice() : [...ring.slice(next), ...ring.slice(0, next)]),
  };
}

export const recordCalls =
  (records: CallRecords): Stage =>
  (next) =>
  async (call, context) => {
    const startedAt = Date.now();
    const started = performance.now();
    const record = (outcome: CallRecord["outcome"]): void => records.add(describe(call, outcome, startedAt, performance.now() - started));
    try {
      const result = await next(call, context);
      record(result.isError ? "tool error" : "ok");
      return result;
    } catch (error) {
      record(error instanceof HallError ? error.code : "INTERNAL");
      throw error;
    }
  };

function describe(call: Call, outcome: CallRecord["outcome"], startedAt: number, ms: number): CallRecord {
  const { id, parent, name, caller } = call;
  return { id, ...(parent === undefined ? {} : { parent }), name, client: caller.client, connection: caller.connection, startedAt, ms, outcome };
}
