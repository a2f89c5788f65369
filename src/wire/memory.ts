import type { Channel, Receiver } from "./channel.ts";

/** Two ends of one line inside this process. Frames cross in order, each on a later microtask. */
export function createMemoryPair(): [Channel, Channel] {
  const end = new MemoryEnd();
  return [end, end.other];
}

class MemoryEnd implements Channel {
  readonly other: MemoryEnd;
  queuedBytes = 0;
  readonly #inbox: Buffer[] = [];
  #receiver: Receiver | undefined;
  #isPaused = false;
  #state: "open" | "losing" | "closed" = "open";

  constructor(other?: MemoryEnd) {
    this.other = other ?? new MemoryEnd(this);
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    queueMicrotask(() => this.#pump());
    if (this.#state === "closed") {
      receiver.ended();
      receiver.closed();
    }
  }

  send(frame: string): void {
    if (this.#state !== "open") return;
    const bytes = Buffer.from(frame);
    this.queuedBytes += bytes.length;
    queueMicrotask(() => {
      if (this.#state === "open") this.other.#deliver(bytes);
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    queueMicrotask(() => this.#pump());
  }

  async close({ now = false } = {}): Promise<void> {
    if (this.#state === "closed") return;
    if (!now) await new Promise<void>((resolve) => setImmediate(resolve));
    this.#finish();
    queueMicrotask(() => this.other.#lose());
  }

  #deliver(frame: Buffer): void {
    if (this.#state !== "open") return;
    this.#inbox.push(frame);
    this.#pump();
  }

  #pump(): void {
    while (this.#receiver && !this.#isPaused && this.#state !== "closed") {
      const frame = this.#inbox.shift();
      if (!frame) break;
      this.other.#taken(frame.length);
      this.#receiver.frame(frame);
    }
    if (this.#state === "losing" && this.#receiver && this.#inbox.length === 0) this.#finish();
  }

  /** The other end has read this much of what we sent. */
  #taken(bytes: number): void {
    if (this.#state !== "open") return;
    this.queuedBytes -= bytes;
    if (this.queuedBytes === 0) this.#receiver?.drained();
  }

  /** The other end is gone: what it sent is still read. */
  #lose(): void {
    if (this.#state !== "open") return;
    this.#state = "losing";
    this.#pump();
  }

  #finish(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#inbox.length = 0;
    this.queuedBytes = 0;
    this.#receiver?.ended();
    this.#receiver?.closed();
  }
}
