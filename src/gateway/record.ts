import { HallError } from "../base/errors.ts";
import { type JsonObject, TextOutcome } from "../base/json.ts";
import { isSecretName, mayNameSecrets } from "../base/secret-signs.ts";
import { type CallRow, type Store, unknownName } from "../store/store.ts";
import type { Call, Outcome } from "../tool.ts";
import type { Stage } from "./stage.ts";

export interface Recording {
  readonly store: Store;
  readonly meter: Meter;
  /** `full` keeps arguments and results, with secrets redacted. Default `digest`. */
  readonly record?: "digest" | "full" | undefined;
  /** Called at the end of each call. */
  ended?(row: CallRow): void;
}

/** Records a row for every call, however it ends. Calls wait neither for the write nor for the description. */
export const recordCalls =
  ({ store, meter, record, ended: tell }: Recording): Stage =>
  (next) =>
  (call, context) => {
    const started = performance.now();
    meter.begin();
    const keep = (ended: Ended): void => {
      const ms = performance.now() - started;
      store.calls.add(() => {
        const row = describe(call, { started, ms }, ended);
        meter.count(row);
        tell?.(row);
        return record === "full" ? { ...row, kept: keepWhole(call, ended) } : row;
      });
      meter.end();
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

/** Call counters since the hall opened. They only grow, as metrics collectors expect. */
export class Meter {
  readonly #byTool = new Map<string, Metered>();
  #running = 0;
  #idle = (): void => {};

  /** Calls that have begun and not ended. */
  get running(): number {
    return this.#running;
  }

  begin(): void {
    this.#running++;
  }

  end(): void {
    if (--this.#running === 0) this.#idle();
  }

  /** Resolves once no call runs, or after this long. */
  async whenIdle(msMax: number): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, msMax);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  count({ toolkit, tool: fullName, code, outcome, ms, bytesIn, bytesOut }: CallRow): void {
    const tool = toolkit === null ? unknownName : fullName;
    let metered = this.#byTool.get(tool);
    if (!metered) {
      metered = createMetered(toolkit ?? unknownName, tool);
      this.#byTool.set(tool, metered);
    }
    metered.bytesIn += bytesIn;
    metered.bytesOut += bytesOut;
    metered.ms += ms;
    const ended = code ?? outcome;
    metered.outcomes.set(ended, (metered.outcomes.get(ended) ?? 0) + 1);
    const at = durationBoundsMs.findIndex((boundMs) => ms <= boundMs);
    const bucket = at === -1 ? durationBoundsMs.length : at;
    metered.durations[bucket] = (metered.durations[bucket] ?? 0) + 1;
  }

  all(): Iterable<Metered> {
    return this.#byTool.values();
  }
}

/** 64 µs to 67 s, in steps of four. */
export const durationBoundsMs: readonly number[] = Array.from(
  { length: 11 },
  (_, step) => (64 * 4 ** step) / 1_000,
);

/** The counters of one tool. */
export interface Metered {
  readonly toolkit: string;
  readonly tool: string;
  bytesIn: number;
  bytesOut: number;
  ms: number;
  /** Calls by outcome: ok, error, or the error code. */
  readonly outcomes: Map<string, number>;
  /** Calls by the first bound they did not exceed; the last number is of those above all bounds. */
  readonly durations: number[];
}

function createMetered(toolkit: string, tool: string): Metered {
  const durations = new Array<number>(durationBoundsMs.length + 1).fill(0);
  return { toolkit, tool, bytesIn: 0, bytesOut: 0, ms: 0, outcomes: new Map(), durations };
}

/** The row written before a destructive call runs; the final row replaces it. */
export function describeBegun(call: Call): CallRow {
  return {
    ...describe(call, { started: performance.now(), ms: 0 }, { outcome: nothingYet }),
    outcome: "running",
    ms: 0,
    bytesOut: 0,
  };
}

type Ended = { readonly outcome: Outcome } | { readonly error: unknown };

const nothingYet: Outcome = { content: [] };
/** For names chosen by clients. */
const nameLengthMax = 200;

function describe(
  call: Call,
  { started, ms }: { readonly started: number; readonly ms: number },
  ended: Ended,
): CallRow {
  const { id, parent, root, name, caller, target } = call;
  const text = call.written?.text ?? writeArguments(call.arguments);
  const outcome = "outcome" in ended ? ended.outcome : undefined;
  return {
    id,
    parent: parent ?? null,
    root: root ?? id,
    at: Math.round(performance.timeOrigin + started),
    caller: short(caller.client),
    connection: caller.connection,
    person: caller.person?.user ?? null,
    token: caller.person?.token ?? null,
    face: call.face ?? null,
    toolkit: target?.toolkit.id ?? null,
    tool: target?.fullName ?? short(name),
    arguments: text,
    outcome: outcomeOf(outcome),
    code: "error" in ended ? codeOf(ended.error) : null,
    ms: ms - (call.loadingMs ?? 0),
    bytesIn: Buffer.byteLength(text),
    bytesOut: outcome ? outcomeSize(outcome) : 0,
    planner: call.planner ?? null,
  };
}

function outcomeSize(outcome: Outcome): number {
  return outcome instanceof TextOutcome ? outcome.json.length : jsonSize(outcome);
}

function outcomeOf(outcome: Outcome | undefined): CallRow["outcome"] {
  if (!outcome) return "failed";
  return outcome.isError ? "error" : "ok";
}

function codeOf(error: unknown): CallRow["code"] {
  return error instanceof HallError ? error.code : "INTERNAL";
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
    // Called from our own code with a value that is not JSON; validation rejects it.
    return "";
  }
}

function short(name: string): string {
  return name.length <= nameLengthMax ? name : name.slice(0, nameLengthMax);
}

/**
 * The approximate length of a value as JSON, without serialising it: numbers count as eight, escapes
 * as one. Parts that cannot be read, or are beyond the limits, count as zero.
 */
export function jsonSize(value: unknown): number {
  nodesLeft = nodesMax;
  try {
    return sizeOf(value, 0);
  } catch {
    // A getter threw; the server reports it when it writes the result.
    return 0;
  }
}

/** Of the value that is being measured: measuring is one synchronous pass. */
let nodesLeft = 0;

function sizeOf(part: unknown, depth: number): number {
  if (typeof part === "string") return part.length + 2;
  if (typeof part === "number") return 8;
  if (typeof part !== "object") return 5;
  if (part === null) return 4;
  if (depth > depthMax || --nodesLeft < 0) return 0;
  let size = 2;
  if (Array.isArray(part)) {
    for (const item of part) size += sizeOf(item, depth + 1) + 1;
    return size;
  }
  const object = part as JsonObject;
  for (const key in object) size += key.length + 4 + sizeOf(object[key], depth + 1);
  return size;
}

const depthMax = 64;
const nodesMax = 1_000_000;

/**
 * A value as JSON for the store: bounded, and without values under secret names. The store removes
 * known secrets itself.
 */
export function redact(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? "null";
    if (mayNameSecrets(text))
      text = JSON.stringify(value, (key, inner: unknown) =>
        isSecretName(key) && isLeaf(inner) ? "***" : inner,
      );
  } catch {
    // Not JSON: the call was rejected for it.
    return "null";
  }
  return text.length <= keptLengthMax
    ? text
    : JSON.stringify({ cut: `${text.length} characters were too many to keep` });
}

const keptLengthMax = 262_144;

/** An object named `token` may be a schema; its own fields are checked instead. */
function isLeaf(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
