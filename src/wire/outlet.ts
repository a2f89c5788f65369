import type { Channel, Outgoing } from "./channel.ts";
import type { Limits } from "./limits.ts";

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
