import { receiveMessageOnPort } from "node:worker_threads";
import {
  type Answer,
  type HallRequest,
  type Reply,
  type Report,
  sharedWords,
  type ThreadStart,
} from "./protocol.ts";

/** The thread's line to the hall: it asks, and waits without letting go of its stack. */
export interface HallLine {
  /** Sends a request at once; the answer is waited for later. */
  start(request: HallRequest): Ticket;
  /** Blocks until one of them is answered, the hall wants the program to stop, or the time is up. */
  wait(tickets: readonly { readonly done: boolean }[], msMax: number): void;
  readonly isStopped: boolean;
}

export interface Ticket {
  readonly done: boolean;
  /** Once, when it is answered. */
  take(): Answer;
  /** Nobody wants the answer any more: the hall stops what it began. */
  withdraw(): void;
}

/** `refused` hears when a program learns that a call needs an approval. */
export function createHallLine(
  { replies, shared }: ThreadStart,
  post: (report: Report) => void,
  refused: () => void,
): HallLine {
  let last = 0;
  const answered = new Map<number, string>();
  const wanted = new Set<number>();

  function drain(): void {
    for (let next = receiveMessageOnPort(replies); next; next = receiveMessageOnPort(replies)) {
      const { number, answer } = next.message as Reply;
      // An answer that comes after its program has ended is nobody's.
      if (wanted.has(number)) answered.set(number, answer);
    }
  }

  const isStopped = (): boolean => Atomics.load(shared, sharedWords.stop) === 1;

  return {
    start(request) {
      const number = ++last;
      wanted.add(number);
      post({ kind: "request", number, request: JSON.stringify(request) });
      const forget = (): void => {
        wanted.delete(number);
        answered.delete(number);
      };
      return {
        get done() {
          return answered.has(number);
        },
        take() {
          const text = answered.get(number);
          if (text === undefined)
            throw new Error(`request ${number} was taken before it was answered`);
          forget();
          const answer = JSON.parse(text) as Answer;
          if ("failure" in answer && answer.failure.code === "APPROVAL_NEEDED") refused();
          return answer;
        },
        withdraw() {
          if (!wanted.has(number)) return;
          forget();
          post({ kind: "withdrawal", number });
        },
      };
    },
    wait(tickets, msMax) {
      const until = performance.now() + msMax;
      for (;;) {
        // Counted before looking: a reply that comes in between makes the wait return at once.
        const seen = Atomics.load(shared, sharedWords.replies);
        drain();
        const left = until - performance.now();
        if (left <= 0 || isStopped() || tickets.some(({ done }) => done)) return;
        Atomics.wait(shared, sharedWords.replies, seen, left);
      }
    },
    get isStopped() {
      return isStopped();
    },
  };
}
