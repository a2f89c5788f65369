import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import { SlotMap } from "../base/slot-map.ts";
import { formatBytes } from "../base/text.ts";
import type { Channel, Limits, Outgoing } from "./channel.ts";
import type { Answer, Id, Invalid } from "./message.ts";

/**
 * Sends to a peer that may not read. While it is slow we stop reading from it; if it stays slow, the
 * channel is closed, so that it cannot hold our memory.
 */
export class Outlet {
  readonly #channel: Channel;
  readonly #limits: Pick<Limits, "writeQueueBytesMax" | "stalledMsMax">;
  #stalled: NodeJS.Timeout | undefined;
  #isHeld = false;
  #isClosed = false;

  constructor(channel: Channel, limits: Pick<Limits, "writeQueueBytesMax" | "stalledMsMax">) {
    this.#channel = channel;
    this.#limits = limits;
  }

  /** True while the peer does not read what we send. */
  get isFull(): boolean {
    return this.#channel.queuedBytes > this.#limits.writeQueueBytesMax;
  }

  send(frame: string, message: Outgoing): void {
    if (this.#isClosed) return;
    this.#channel.send(frame, message);
    if (this.#stalled || !this.isFull) return;
    this.#channel.pause();
    this.#stalled = setTimeout(() => {
      // Slow is not stalled: a peer that has read below the limit is kept.
      if (this.isFull) void this.#channel.close({ now: true });
      else this.drained();
    }, this.#limits.stalledMsMax);
  }

  drained(): void {
    if (!this.#stalled || this.isFull) return;
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
    if (!this.#isHeld) this.#channel.resume();
  }

  /** Stops reading for other reasons, until `release`. */
  hold(): void {
    this.#isHeld = true;
    this.#channel.pause();
  }

  release(): void {
    this.#isHeld = false;
    if (!this.#stalled) this.#channel.resume();
  }

  /** The connection is gone: nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#stalled);
  }
}

/** Requests of ours that wait for an answer. Each is settled once: by its answer, a fault in it, or the end of the connection. */
export class PendingRequests {
  readonly #waiting = new SlotMap<Id, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  has(id: Id): boolean {
    return this.#waiting.has(id);
  }

  /** Settles with the answer, or as soon as the scope is cancelled: then `withdrawn` is called. */
  wait(
    id: Id,
    method: string,
    scope: Scope | undefined,
    withdrawn: (reason: HallError) => void,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { method, resolve, reject, leave: undefined };
      this.#waiting.set(id, waiting);
      waiting.leave = scope?.onCancel((reason) => {
        if (!this.fail(id, reason)) return;
        withdrawn(reason);
      });
    });
  }

  /** False for an answer with an unknown, late or repeated id. */
  answer({ id, outcome }: Answer): boolean {
    const waiting = this.#take(id);
    if (!waiting) return false;
    if ("result" in outcome) waiting.resolve(outcome.result);
    else if ("error" in outcome)
      waiting.reject(new HallError("EXECUTION", outcome.error.message, { relayed: outcome.error }));
    else
      waiting.reject(
        new HallError("BAD_ANSWER", `the answer to ${waiting.method} is malformed: ${outcome.bad}`),
      );
    return true;
  }

  /** An unreadable message that starts or ends with a pending id fails that request at once. */
  unreadable({ answerId, reason }: Invalid): boolean {
    const waiting = this.#take(answerId);
    waiting?.reject(
      new HallError("BAD_ANSWER", `the answer to ${waiting.method} is malformed: ${reason}`),
    );
    return waiting !== undefined;
  }

  tooLarge(id: Id | undefined, bytesMax: number): void {
    const waiting = this.#take(id);
    waiting?.reject(
      new HallError(
        "TOO_LARGE",
        `the answer to ${waiting.method} exceeds the limit of ${formatBytes(bytesMax)}`,
      ),
    );
  }

  /** True if the request was still pending. */
  fail(id: Id, reason: HallError): boolean {
    const waiting = this.#take(id);
    waiting?.reject(reason);
    return waiting !== undefined;
  }

  failAll(reason: HallError): void {
    for (const id of this.#waiting.keys()) this.fail(id, reason);
  }

  #take(id: Id | undefined): Waiting | undefined {
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return undefined;
    this.#waiting.delete(id);
    waiting.leave?.();
    return waiting;
  }
}

interface Waiting {
  readonly method: string;
  resolve(result: unknown): void;
  reject(reason: HallError): void;
  /** Stops listening to the scope. */
  leave: (() => void) | undefined;
}
