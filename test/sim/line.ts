import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { Channel, Receiver } from "../../src/wire/channel.ts";
import type { Id } from "../../src/wire/message.ts";
import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface Network {
  readonly time: VirtualTime;
  readonly random: Random;
}

/** The two ends of a simulated connection. Frames arrive in order, each after a delay of its own. */
export function createLine(network: Network): readonly [LineEnd, LineEnd] {
  const one = new LineEnd(network);
  const other = new LineEnd(network);
  one.peer = other;
  other.peer = one;
  return [one, other];
}

export class LineEnd implements Channel {
  peer: LineEnd | undefined;
  queuedBytes = 0;
  /** Bytes that the peer left unread, at most. */
  queuedBytesMax = 0;
  readonly #network: Network;
  readonly #inbox: Buffer[] = [];
  #receiver: Receiver | undefined;
  #isPaused = false;
  #isStalled = false;
  #isClosed = false;
  #isCut = false;
  #arrivesAt = 0;
  /** Requests whose cancellation this end has read: it must not answer them any more. */
  readonly #cancelled = new Set<unknown>();
  #answeredLate: ((id: unknown) => void) | undefined;
  /** Called before each frame that this end sends. */
  sending: (() => void) | undefined;

  constructor(network: Network) {
    this.#network = network;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#pump();
    if (this.#isClosed) this.#report();
  }

  /** Reports answers of this end to requests whose cancellation it had read. */
  watchCancelled(answeredLate: (id: unknown) => void): void {
    this.#answeredLate = answeredLate;
  }

  send(frame: string): void {
    this.sending?.();
    if (this.#isClosed || this.#isCut) return;
    if (this.#cancelled.size > 0) {
      const { id, method } = JSON.parse(frame) as JsonObject;
      if (method === undefined && this.#cancelled.has(id)) this.#answeredLate?.(id);
    }
    const bytes = Buffer.from(frame);
    this.queuedBytes += bytes.length;
    this.queuedBytesMax = Math.max(this.queuedBytesMax, this.queuedBytes);
    this.#later(() => this.peer?.deliver(bytes));
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#later(() => this.#pump());
  }

  async close(): Promise<void> {
    this.#finish();
    this.#later(() => this.peer?.lose());
  }

  /** The process at this end has ended; the other end is told. */
  drop(): void {
    this.#receiver = undefined;
    this.#isClosed = true;
    this.#inbox.length = 0;
    this.#later(() => this.peer?.lose());
  }

  /** Half open: nothing arrives any more in either direction, and neither end is told. */
  cut(): void {
    this.#isCut = true;
    if (this.peer) this.peer.#isCut = true;
  }

  /** Reads nothing for a while. */
  stall(ms: number): void {
    this.#isStalled = true;
    this.#network.time.after(ms, () => {
      this.#isStalled = false;
      this.#pump();
    });
  }

  /** The answer to one request of this end is lost, as over HTTP; the connection stays. */
  fail(request: Id): void {
    this.#later(() =>
      this.#receiver?.failed?.(request, () => new HallError("UNAVAILABLE", "lost (simulated)")),
    );
  }

  deliver(bytes: Buffer): void {
    if (this.#isClosed || this.#isCut) return;
    this.#inbox.push(bytes);
    this.#pump();
  }

  /** The other end is gone; what it sent is still read. */
  lose(): void {
    if (this.#isCut) return;
    this.#isStalled = false;
    this.#isPaused = false;
    this.#pump();
    this.#finish();
  }

  /** In the order of sending. */
  #later(run: () => void): void {
    const { time, random } = this.#network;
    const delayMs = random.isTrue(0.05) ? random.below(3_000) : random.below(5);
    this.#arrivesAt = Math.max(this.#arrivesAt + 0.001, time.now + delayMs);
    time.after(this.#arrivesAt - time.now, run);
  }

  #pump(): void {
    while (this.#receiver && !this.#isPaused && !this.#isStalled && !this.#isClosed) {
      const frame = this.#inbox.shift();
      if (!frame) return;
      this.peer?.taken(frame.length);
      if (this.#answeredLate && frame.includes("notifications/cancelled")) {
        const { params } = JSON.parse(frame.toString()) as JsonObject;
        if (isObject(params)) this.#cancelled.add(params.requestId);
      }
      this.#receiver.frame(frame);
    }
  }

  taken(bytes: number): void {
    this.queuedBytes -= bytes;
    if (this.queuedBytes === 0 && !this.#isClosed) this.#receiver?.drained();
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#inbox.length = 0;
    this.queuedBytes = 0;
    this.#report();
  }

  #report(): void {
    this.#receiver?.ended();
    this.#receiver?.closed();
  }
}
