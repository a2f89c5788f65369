import type { Channel, Outgoing, Receiver } from "../../src/wire/channel.ts";
import type { Id } from "../../src/wire/message.ts";

/** A line that moves only when the test moves it: nothing is queued, delayed or read unless asked. */
export class FakeChannel implements Channel {
  readonly sent: string[] = [];
  readonly about: (Id | undefined)[] = [];
  readonly closeCalls: ("now" | "flushed")[] = [];
  queuedBytes = 0;
  /** While true, what is sent stays queued, as with a peer that does not read. */
  isStuck = false;
  isPaused = false;
  isClosed = false;
  #receiver: Receiver | undefined;

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  /** Also after `closed`: that a Peer then sends nothing is its own promise. */
  send(frame: string, message?: Outgoing): void {
    this.sent.push(frame);
    this.about.push(message?.about);
    if (this.isStuck) this.queuedBytes += Buffer.byteLength(frame);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  async close({ now = false } = {}): Promise<void> {
    this.closeCalls.push(now ? "now" : "flushed");
    this.lose();
  }

  /** The peer says something. */
  deliver(frame: string | Buffer): void {
    this.#receiver?.frame(Buffer.from(frame));
  }

  deliverOversize(edges: string): void {
    this.#receiver?.oversize(edges);
  }

  end(): void {
    this.#receiver?.ended();
  }

  /** The peer reads all but `leftBytes` of what is queued; `drained` is said only for the last of it, as streams do. */
  read(leftBytes = 0): void {
    this.queuedBytes = leftBytes;
    if (leftBytes === 0) this.#receiver?.drained();
  }

  lose(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#receiver?.closed();
  }
}
