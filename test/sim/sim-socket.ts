import { Duplex } from "node:stream";
import type { Network } from "./line.ts";

/** The two ends of a simulated TCP connection. */
export function createSockets(network: Network): readonly [SimSocket, SimSocket] {
  const one = new SimSocket(network);
  const other = new SimSocket(network);
  one.peer = other;
  other.peer = one;
  return [one, other];
}

/** As much of a socket as Node's HTTP server uses. Bytes arrive in order, each part after a delay of its own. */
export class SimSocket extends Duplex {
  readonly remoteAddress = "127.0.0.1";
  /** Milliseconds, as Node keeps it. */
  timeout = 0;
  peer: SimSocket | undefined;
  readonly #network: Network;
  #arrivesAt = 0;
  #isCut = false;
  /** Called before this end sends something. */
  sending: (() => void) | undefined;
  /** Bytes that the other end sent while this one reads nothing. */
  #held: (() => void)[] | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(network: Network) {
    super({ allowHalfOpen: false });
    this.#network = network;
    this.on("error", () => {});
  }

  setTimeout(ms: number): this {
    clearTimeout(this.#idle);
    this.timeout = ms;
    if (ms > 0) this.#idle = setTimeout(() => this.emit("timeout"), ms);
    return this;
  }

  /** Half open: nothing arrives any more in either direction, and neither end is told. */
  cut(): void {
    this.#isCut = true;
    if (this.peer) this.peer.#isCut = true;
  }

  /** Reads nothing for a while. */
  stall(ms: number): void {
    this.#held ??= [];
    this.#network.time.after(ms, () => {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const run of held) run();
    });
  }

  receive(run: () => void): void {
    if (this.#held) this.#held.push(run);
    else run();
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.sending?.();
    this.setTimeout(this.timeout);
    this.#later(() => {
      if (!this.peer?.destroyed) this.peer?.push(chunk);
      done();
    });
  }

  override _final(done: () => void): void {
    this.#later(() => this.peer?.push(null));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle);
    this.#later(() => this.peer?.destroy());
    done(error);
  }

  /** When it arrives at the other end. */
  #later(run: () => void): void {
    const { time, random } = this.#network;
    const delayMs = random.isTrue(0.05) ? random.below(3_000) : random.below(5);
    this.#arrivesAt = Math.max(this.#arrivesAt + 0.001, time.now + delayMs);
    time.after(this.#arrivesAt - time.now, () => {
      if (this.#isCut) return;
      this.peer?.receive(run);
    });
  }
}
