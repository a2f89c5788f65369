import { type ErrorCode, HallError } from "../base/errors.ts";
import type { Call } from "../tool.ts";
import type { Stage } from "./stage.ts";

/** What is kept of a call. Never its arguments or its result. */
export interface CallRecord {
  readonly id: string;
  readonly parent: string | undefined;
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
  (call, context) => {
    const started = performance.now();
    const fail = (error: unknown): never => {
      records.add(describe(call, error instanceof HallError ? error.code : "INTERNAL", started));
      throw error;
    };
    try {
      return next(call, context).then((result) => {
        records.add(describe(call, result.isError ? "tool error" : "ok", started));
        return result;
      }, fail);
    } catch (error) {
      return fail(error);
    }
  };

function describe({ id, parent, name, caller }: Call, outcome: CallRecord["outcome"], started: number): CallRecord {
  const ms = performance.now() - started;
  return { id, parent, name, client: caller.client, connection: caller.connection, startedAt: performance.timeOrigin + started, ms, outcome };
}
