import { HallError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { CallRow, Store } from "../store/store.ts";
import type { Call, Outcome } from "../tool.ts";
import { jsonSize } from "./json-size.ts";
import type { Meter } from "./meter.ts";
import { redact } from "./redact.ts";
import type { Stage } from "./stage.ts";

export interface Recording {
  readonly store: Store;
  readonly meter: Meter;
  /** `full` keeps arguments and results, without what looks like a secret. Default `digest`. */
  readonly record?: "digest" | "full" | undefined;
}

/** Every call leaves a row, however it ends. Nobody waits for it to be written. */
export const recordCalls =
  ({ store, meter, record }: Recording): Stage =>
  (next) =>
  (call, context) => {
    const started = performance.now();
    const keep = (ended: Ended): void => {
      const row = describe(call, started, ended);
      meter.count(row);
      store.calls.add(record === "full" ? { ...row, kept: keepWhole(call, ended) } : row);
    };
    const fail = (error: unknown): never => {
      keep({ error });
      throw error;
    };
    try {
      return next(call, context).then((outcome) => {
        keep({ outcome });
        return outcome;
      }, fail);
    } catch (error) {
      return fail(error);
    }
  };

/** The row of a call that must not run unrecorded; the one at its end takes its place. */
export function describeBegun(call: Call): CallRow {
  return {
    ...describe(call, performance.now(), { outcome: nothingYet }),
    outcome: "running",
    ms: 0,
    bytesOut: 0,
  };
}

type Ended = { readonly outcome: Outcome } | { readonly error: unknown };

const nothingYet: Outcome = { content: [] };
/** Of names that others chose. */
const nameLengthMax = 200;

function describe(call: Call, started: number, ended: Ended): CallRow {
  const { id, parent, root, name, caller, target } = call;
  const text = writeArguments(call.arguments);
  const isDone = "outcome" in ended;
  return {
    id,
    parent: parent ?? null,
    root: root ?? id,
    at: Math.round(performance.timeOrigin + started),
    caller: short(caller.client),
    connection: caller.connection,
    face: call.face ?? null,
    toolkit: target?.toolkit.id ?? null,
    tool: target?.fullName ?? short(name),
    arguments: text,
    outcome: !isDone ? "failed" : ended.outcome.isError ? "error" : "ok",
    code: isDone ? null : ended.error instanceof HallError ? ended.error.code : "INTERNAL",
    ms: performance.now() - started,
    bytesIn: Buffer.byteLength(text),
    bytesOut: isDone ? jsonSize(ended.outcome) : 0,
    planner: call.planner ?? null,
  };
}

function keepWhole(call: Call, ended: Ended): NonNullable<CallRow["kept"]> {
  const hide =
    call.target?.tool.facts?.hideSecrets?.(call.arguments) ?? ((value: unknown) => value);
  return {
    arguments: redact(hide(call.arguments)),
    result: "outcome" in ended ? redact(hide(ended.outcome)) : null,
  };
}

function writeArguments(args: JsonObject): string {
  try {
    return JSON.stringify(args);
  } catch {
    // A program called the gateway with what is no JSON; validation refuses it.
    return "";
  }
}

function short(name: string): string {
  return name.length <= nameLengthMax ? name : name.slice(0, nameLengthMax);
}
