import { hashText, type Json, sortText } from "../base/json.ts";
import type { Secrets } from "../base/log.ts";
import { bucketOf } from "./periods.ts";
import type { AuditEntry, CallRow } from "./store.ts";

// Rows of calls on their way into the store: secrets are removed, then the rows are packed for the
// writer's thread, and unpacked there.

/** Removes secrets from the parts of a row that come from outside. Names that the hall assigned are left alone. */
export interface Scrub {
  call(row: CallRow): CallRow;
  entry(entry: AuditEntry): AuditEntry;
}

const cachedMax = 1_000;

export function createScrub(secrets: Secrets | undefined): Scrub {
  if (!secrets) return { call: (row) => row, entry: (entry) => entry };
  const cached = new Map<string, string>();
  secrets.onChange(() => cached.clear());

  /** Cached, because a few clients make all the calls. */
  const name = (text: string): string => {
    let clean = cached.get(text);
    if (clean === undefined) {
      if (cached.size > cachedMax) cached.clear();
      clean = secrets.scrub(text);
      cached.set(text, clean);
    }
    return clean;
  };

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

/** A value of a row. */
export type PackedValue = string | number | null;

/** The columns of a row, in the order of `unpackCalls`. */
export const callColumns: readonly string[] =
  "id parent root at caller connection person token face toolkit tool digest outcome code ms bytes_in bytes_out planner arguments result bucket".split(
    " ",
  );

/**
 * Calls on their way to the writer. To another thread each value costs much the same, whatever its size, so the texts
 * of all calls are one text, and values that calls in a row have in common are there once. Both threads share the
 * memory of the rest: calls wait for longer than V8 keeps objects young, and would leave garbage in its old space.
 */
export interface PackedCalls {
  /**
   * Numbers, and after them the text. Of each call where its common values begin, four numbers of the row, and the
   * lengths of its texts.
   */
  readonly memory: SharedArrayBuffer;
  readonly numberCount: number;
  readonly textBytes: number;
  /** Groups of values. */
  readonly common: readonly PackedValue[];
}

const commonLength = 10;
const bytesPerNumber = Float64Array.BYTES_PER_ELEMENT;

class CallPacker {
  readonly #numbers: number[] = [];
  readonly #texts: string[] = [];
  readonly #common: PackedValue[] = [];
  #last: CallRow | undefined;

  add(row: CallRow): void {
    const { id, parent, root, kept } = row;
    if (!this.#last || !hasInCommon(this.#last, row)) this.#addCommon(row);
    this.#last = row;
    this.#numbers.push(
      this.#common.length - commonLength,
      row.at,
      row.ms,
      row.bytesIn,
      row.bytesOut,
      this.#addText(id),
      this.#addText(parent),
      this.#addText(root === id ? null : root),
      this.#addText(row.arguments),
      this.#addText(kept ? kept.arguments : null),
      this.#addText(kept ? kept.result : null),
    );
  }

  /** The length, or -1 for null. */
  #addText(text: string | null): number {
    if (text === null) return -1;
    this.#texts.push(text);
    return text.length;
  }

  #addCommon(row: CallRow): void {
    const { caller, connection, person, token, face } = row;
    const { toolkit, tool, outcome, code, planner } = row;
    this.#common.push(
      ...[caller, connection, person, token, face],
      ...[toolkit, tool, outcome, code, planner],
    );
  }

  pack(takeMemory = (bytes: number) => new SharedArrayBuffer(bytes)): PackedCalls {
    const text = this.#texts.join("");
    const textBytes = Buffer.byteLength(text);
    const numberCount = this.#numbers.length;
    const memory = takeMemory(numberCount * bytesPerNumber + textBytes);
    new Float64Array(memory, 0, numberCount).set(this.#numbers);
    Buffer.from(memory, numberCount * bytesPerNumber, textBytes).write(text);
    return { memory, numberCount, textBytes, common: this.#common };
  }
}

function hasInCommon(a: CallRow, b: CallRow): boolean {
  return (
    a.caller === b.caller &&
    a.connection === b.connection &&
    a.person === b.person &&
    a.token === b.token &&
    a.face === b.face &&
    a.toolkit === b.toolkit &&
    a.tool === b.tool &&
    a.outcome === b.outcome &&
    a.code === b.code &&
    a.planner === b.planner
  );
}

export function packCalls(rows: readonly CallRow[]): PackedCalls {
  const packer = new CallPacker();
  for (const row of rows) packer.add(row);
  return packer.pack();
}

/** The rows of packed calls: a digest replaces the arguments, and the bucket of the duration is added. */
export function unpackCalls(packed: PackedCalls): PackedValue[][] {
  const { memory, numberCount, textBytes, common } = packed;
  const numbers = new Float64Array(memory, 0, numberCount);
  const text = Buffer.from(memory, numberCount * bytesPerNumber, textBytes).toString();
  const rows: PackedValue[][] = [];
  let numberAt = 0;
  let textAt = 0;
  const takeNumber = (): number => numbers[numberAt++] as number;
  const takeText = (): string | null => {
    const length = takeNumber();
    if (length === -1) return null;
    textAt += length;
    return text.slice(textAt - length, textAt);
  };
  while (numberAt < numbers.length) {
    const commonAt = takeNumber();
    const of = (index: number): PackedValue => common[commonAt + index] ?? null;
    const at = takeNumber();
    const ms = takeNumber();
    const bytesIn = takeNumber();
    const bytesOut = takeNumber();
    const id = takeText();
    const parent = takeText();
    const root = takeText() ?? id;
    const digest = digestArguments(takeText() ?? "");
    const keptArguments = takeText();
    const keptResult = takeText();
    const row = [id, parent, root, at, of(0), of(1), of(2), of(3), of(4), of(5), of(6), digest];
    row.push(of(7), of(8), ms, bytesIn, bytesOut, of(9), keptArguments, keptResult, bucketOf(ms));
    rows.push(row);
  }
  return rows;
}

/** Null for a call whose arguments were not JSON; it never ran. */
export function digestArguments(text: string): string | null {
  return text === "" ? null : hashText(sortText(text));
}

/** Calls that travel to the writer together. */
export interface CallBatch {
  readonly number: number;
  readonly calls: PackedCalls;
  readonly rows: number;
  readonly characters: number;
}

const batchRows = 256;
/** Batches the writer has at once. The rest waits here, so that memory is bounded in one place. */
const sentMax = 32;
/** Enough for a batch of usual calls. Such memory is used again. */
const batchBytes = 128 * 1024;
const freeMax = 16;

/** Calls that are not durable yet: being gathered, waiting to be sent, or sent and not confirmed. */
export class CallQueue {
  #filling = new CallPacker();
  #fillingRows = 0;
  #fillingCharacters = 0;
  #lastNumber = 0;
  readonly #waiting: CallBatch[] = [];
  readonly #sent: CallBatch[] = [];
  readonly #free: SharedArrayBuffer[] = [];
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
    this.#filling.add(row);
    this.#fillingRows++;
    this.#fillingCharacters += size;
    this.#rows++;
    this.#characters += size;
    return this.#fillingRows >= batchRows;
  }

  /** Ends the batch that is being gathered. */
  seal(): void {
    if (this.#fillingRows === 0) return;
    this.#waiting.push({
      number: ++this.#lastNumber,
      calls: this.#filling.pack((bytes) => this.#takeMemory(bytes)),
      rows: this.#fillingRows,
      characters: this.#fillingCharacters,
    });
    this.#filling = new CallPacker();
    this.#fillingRows = 0;
    this.#fillingCharacters = 0;
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
      const { memory } = batch.calls;
      if (memory.byteLength === batchBytes && this.#free.length < freeMax) this.#free.push(memory);
    }
  }

  #takeMemory(bytes: number): SharedArrayBuffer {
    if (bytes > batchBytes) return new SharedArrayBuffer(bytes);
    return this.#free.pop() ?? new SharedArrayBuffer(batchBytes);
  }
}
