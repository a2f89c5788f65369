import type { Channel, FrameKind } from "./channel.ts";
import type { Limits } from "./limits.ts";
import type { Id } from "./message.ts";

/**
 * What leaves for a peer that may not read it. A slow reader is no longer read from; one that stays slow is cut, so that
 * it cannot hold our memory.
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

  /** True while the peer does not take what we send. */
  get isFull(): boolean {
    return this.#channel.queuedBytes > this.#limits.writeQueueBytesMax;
  }

  send(frame: string, about: Id | undefined, kind: FrameKind): void {
    if (this.#isClosed) return;
    this.#channel.send(frame, about, kind);
    if (this.#stalled || !this.isFull) return;
    this.#channel.pause();
    this.#stalled = setTimeout(() => {
      // Slow is not stalled: one that has read its queue below the limit goes on.
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

  /** The line is gone: nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#stalled);
  }
}
