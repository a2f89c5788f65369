import { getHeapStatistics } from "node:v8";
import { receiveMessageOnPort } from "node:worker_threads";
import {
  type ClockReadings,
  type ClockRecord,
  findFailure,
  type HallAnswer,
  type HallReply,
  type HallRequest,
  sharedWords,
  type ThreadReport,
  type ThreadStart,
} from "./protocol.ts";

/** The session thread's connection to the hall. It can block on a reply without unwinding its stack. */
export class HallPort {
  readonly #start: ThreadStart;
  readonly #post: (report: ThreadReport) => void;
  readonly #onRefusal: () => void;
  readonly #answers = new Map<number, string>();
  /** Requests whose answers are still wanted; a late answer to an ended program is dropped. */
  readonly #pending = new Set<number>();
  /** The bytes of programs outside of V8's heap. */
  outsideHeap = (): number => getHeapStatistics().external_memory;
  #last = 0;
  #startedAt = 0;

  /** `onRefusal` is called when a program learns that a call needs an approval. */
  constructor(start: ThreadStart, post: (report: ThreadReport) => void, onRefusal: () => void) {
    this.#start = start;
    this.#post = post;
    this.#onRefusal = onRefusal;
  }

  /** A program starts. */
  begin(): void {
    this.#startedAt = performance.now();
  }

  /** Running programs ask every few milliseconds, so the hall also learns here how much memory they have. */
  get isStopped(): boolean {
    this.reportHeap();
    const stopAt = this.#stopAt();
    return stopAt !== Number.POSITIVE_INFINITY && performance.now() >= stopAt;
  }

  reportHeap(): void {
    const bytes = getHeapStatistics().total_heap_size + this.outsideHeap();
    const megabytes = Math.ceil(bytes / 2 ** 20);
    Atomics.store(this.#start.shared, sharedWords.heapMb, megabytes);
  }

  #stopAt(): number {
    const { shared } = this.#start;
    if (Atomics.load(shared, sharedWords.stop) === 1) return 0;
    if (Atomics.load(shared, sharedWords.hurry) === 1) return this.#startedAt + hurriedMs;
    return Number.POSITIVE_INFINITY;
  }

  /** Sends a request at once; the answer is awaited later. */
  send(request: HallRequest): HallPending {
    const number = ++this.#last;
    this.#pending.add(number);
    this.#post({ kind: "request", number, request: JSON.stringify(request) });
    const answers = this.#answers;
    return {
      number,
      get done() {
        return answers.has(number);
      },
      take: () => JSON.parse(this.#take(number)) as HallAnswer,
      takeText: () => this.#take(number),
      withdraw: () => this.#withdraw(number),
    };
  }

  /** Blocks until the answer is there, the hall stops the program, or the time is up. */
  wait(pending: { readonly done: boolean } | undefined, msMax: number): void {
    const { shared } = this.#start;
    const until = performance.now() + msMax;
    for (;;) {
      // Read the counter before draining: a reply that arrives in between makes the wait return at once.
      const seen = Atomics.load(shared, sharedWords.replies);
      this.#drain();
      const left = Math.min(until, this.#stopAt()) - performance.now();
      if (left <= 0 || pending?.done) return;
      Atomics.wait(shared, sharedWords.replies, seen, left);
    }
  }

  /** The request that was answered first. */
  firstOf(open: readonly HallPending[]): HallPending | undefined {
    for (const number of this.#answers.keys()) {
      const found = open.find((pending) => pending.number === number);
      if (found) return found;
    }
    return undefined;
  }

  #drain(): void {
    const { replies } = this.#start;
    for (let next = receiveMessageOnPort(replies); next; next = receiveMessageOnPort(replies)) {
      const { number, answer } = next.message as HallReply;
      if (this.#pending.has(number)) this.#answers.set(number, answer);
    }
  }

  #take(number: number): string {
    const text = this.#answers.get(number);
    if (text === undefined) throw new Error(`request ${number} has no answer yet`);
    this.#forget(number);
    if (findFailure(text)?.code === "APPROVAL_NEEDED") this.#onRefusal();
    return text;
  }

  #withdraw(number: number): void {
    if (!this.#pending.has(number)) return;
    this.#forget(number);
    this.#post({ kind: "withdrawal", number });
  }

  #forget(number: number): void {
    this.#pending.delete(number);
    this.#answers.delete(number);
  }
}

/** The run time of a program that shall hurry: enough for most, and no client waits long. */
const hurriedMs = 500;

export interface HallPending {
  readonly number: number;
  readonly done: boolean;
  /** Once, after `done`. */
  take(): HallAnswer;
  /** The same as JSON. */
  takeText(): string;
  /** Drops the answer; the hall cancels the call. */
  withdraw(): void;
}

/**
 * Records what a program reads from the clock. A replayed program must take the same branches, so it gets
 * the recorded readings first and the real clock after them.
 */
export class ClockRecorder {
  #recorded: ClockReadings = { clock: [], timer: [] };
  #readings = { clock: [] as number[], timer: [] as number[], arrivals: [] as number[] };
  #isComplete = true;
  #beforeRefusal: ClockReadings | undefined;

  begin(recorded: ClockReadings = { clock: [], timer: [] }): void {
    this.#recorded = recorded;
    this.#readings = { clock: [], timer: [], arrivals: [] };
    this.#isComplete = true;
    this.#beforeRefusal = undefined;
  }

  /** The number of the call whose answer comes next, if that is recorded. */
  get nextArrival(): number | undefined {
    return this.#recorded.arrivals?.[this.#readings.arrivals.length];
  }

  noteArrival(number: number): void {
    this.#readings.arrivals.push(number);
  }

  read(kind: "clock" | "timer", live: () => number): number {
    const value = this.#recorded[kind][this.#readings[kind].length] ?? live();
    this.#isComplete &&= this.#readings.clock.length + this.#readings.timer.length < readingsMax;
    if (this.#isComplete) this.#readings[kind].push(value);
    return value;
  }

  /** Marks the first call that needs an approval: a resumed program reads the real clock from here on. */
  markRefusal(): void {
    if (!this.#isComplete) return;
    const { clock, timer, arrivals } = this.#readings;
    this.#beforeRefusal ??= { clock: [...clock], timer: [...timer], arrivals: [...arrivals] };
  }

  end(): ClockRecord {
    return {
      readings: this.#isComplete ? this.#readings : undefined,
      beforeRefusal: this.#beforeRefusal,
    };
  }
}

/** A program that polls the clock reads it without end; past this limit it cannot be replayed. */
const readingsMax = 10_000;
