import { type PackedValue, packCall } from "./call-row.ts";
import type { CallRow } from "./store.ts";

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
