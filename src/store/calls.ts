import { hashOf, type Json } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { bucketOf } from "./periods.ts";
import type { AuditEntry, CallRow } from "./store.ts";

/** Removes secrets from the parts of a row that come from outside. Names that the hall assigned are left alone. */
export interface Scrub {
  call(row: CallRow): CallRow;
  entry(entry: AuditEntry): AuditEntry;
}

const cachedMax = 1_000;

export function createScrub(secrets: Secrets | undefined): Scrub {
  if (!secrets) return { call: (row) => row, entry: (entry) => entry };
  let cached = new Map<string, string>();
  let revision = -1;

  /** Cached, because a few clients make all the calls. */
  function name(text: string): string {
    if (secrets?.revision !== revision || cached.size > cachedMax) {
      cached = new Map();
      revision = secrets?.revision ?? 0;
    }
    let clean = cached.get(text);
    if (clean === undefined) {
      clean = secrets?.scrub(text) ?? text;
      cached.set(text, clean);
    }
    return clean;
  }

  return {
    call(row) {
      const { kept } = row;
      const caller = name(row.caller);
      if (caller === row.caller && row.toolkit !== null && !kept) return row;
      return {
        ...row,
        caller,
        tool: row.toolkit === null ? secrets.scrub(row.tool) : row.tool,
        kept: kept && {
          arguments: secrets.scrub(kept.arguments),
          result: kept.result === null ? null : secrets.scrub(kept.result),
        },
      };
    },
    entry({ kind, subject, caller, reason, details = null }) {
      const clean = (text: string): string => secrets.scrub(text);
      return {
        kind,
        subject: clean(subject),
        caller: clean(caller),
        reason: clean(reason),
        details: JSON.parse(clean(JSON.stringify(details))) as Json,
      };
    },
  };
}

/** A call on its way to the writer: its values in one flat array are the cheapest thing to send to another thread. */
export type PackedValue = string | number | null;

/** In the order of `packCall`, then the bucket of the duration. */
export const callColumns: readonly string[] =
  "id parent root at caller connection person token face toolkit tool digest outcome code ms bytes_in bytes_out planner arguments result bucket".split(
    " ",
  );

export const packedLength = callColumns.length - 1;

export function packCall(row: CallRow, into: PackedValue[]): void {
  const { kept } = row;
  into.push(
    row.id,
    row.parent,
    row.root,
    row.at,
    row.caller,
    row.connection,
    row.person,
    row.token,
    row.face,
    row.toolkit,
    row.tool,
    row.arguments,
    row.outcome,
    row.code,
    row.ms,
    row.bytesIn,
    row.bytesOut,
    row.planner,
    kept ? kept.arguments : null,
    kept ? kept.result : null,
  );
}

const digestIndex = callColumns.indexOf("digest");
const msIndex = callColumns.indexOf("ms");

/** The row of a packed call: the digest replaces its arguments, and the bucket of its duration is added. */
export function unpackCall(values: readonly PackedValue[], at: number): PackedValue[] {
  const row = values.slice(at, at + packedLength);
  row[digestIndex] = digestArguments(row[digestIndex] as string);
  row.push(bucketOf(row[msIndex] as number));
  return row;
}

/** Null if the arguments are not JSON; such a call never ran. */
export function digestArguments(text: string): string | null {
  try {
    return hashOf(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Calls that travel to the writer together. */
export interface CallBatch {
  readonly number: number;
  readonly values: PackedValue[];
  rows: number;
  characters: number;
}

const batchRows = 256;
/** Batches the writer has at once. The rest waits here, so that memory is bounded in one place. */
const sentMax = 32;

/** Calls that are not durable yet: being gathered, waiting to be sent, or sent and not confirmed. */
export class CallQueue {
  #filling = createBatch(1);
  readonly #waiting: CallBatch[] = [];
  readonly #sent: CallBatch[] = [];
  #rows = 0;
  #characters = 0;

  get rows(): number {
    return this.#rows;
  }

  get characters(): number {
    return this.#characters;
  }

  get sent(): readonly CallBatch[] {
    return this.#sent;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Returns whether a batch is full. */
  add(row: CallRow): boolean {
    const { kept } = row;
    const size =
      row.arguments.length + (kept ? kept.arguments.length + (kept.result?.length ?? 0) : 0);
    const batch = this.#filling;
    packCall(row, batch.values);
    batch.rows++;
    batch.characters += size;
    this.#rows++;
    this.#characters += size;
    return batch.rows >= batchRows;
  }

  /** Ends the batch that is being gathered. */
  seal(): void {
    if (this.#filling.rows === 0) return;
    this.#waiting.push(this.#filling);
    this.#filling = createBatch(this.#filling.number + 1);
  }

  /** The batches to send now. */
  take(countMax: number = sentMax): readonly CallBatch[] {
    const batches = this.#waiting.splice(0, Math.max(0, countMax - this.#sent.length));
    this.#sent.push(...batches);
    return batches;
  }

  /** Every batch up to this one is durable. */
  confirm(number: number): void {
    while (this.#sent[0] && this.#sent[0].number <= number) {
      const batch = this.#sent.shift() as CallBatch;
      this.#rows -= batch.rows;
      this.#characters -= batch.characters;
    }
  }
}

function createBatch(number: number): CallBatch {
  return { number, values: [], rows: 0, characters: 0 };
}
