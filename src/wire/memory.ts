import type { Channel, Receiver } from "./channel.ts";

/** Two ends of one line inside this process. Frames cross in order, each on a later microtask. */
export function createMemoryPair(): [Channel, Channel] {
  const left = createEnd();
  const right = createEnd();
  left.connect(right);
  right.connect(left);
  return [left.channel, right.channel];
}

interface End {
  readonly channel: Channel;
  connect(other: End): void;
  deliver(frame: Buffer): void;
  /** The other end has read this much of what we sent. */
  taken(bytes: number): void;
  /** The other end is gone: what it sent is still read. */
  lose(): void;
}

function createEnd(): End {
  let other: End | undefined;
  let receiver: Receiver | undefined;
  let isPaused = false;
  let state: "open" | "losing" | "closed" = "open";
  const inbox: Buffer[] = [];
  let queuedBytes = 0;

  function pump(): void {
    while (receiver && !isPaused && state !== "closed") {
      const frame = inbox.shift();
      if (!frame) break;
      other?.taken(frame.length);
      receiver.frame(frame);
    }
    if (state === "losing" && receiver && inbox.length === 0) finish();
  }

  function lose(): void {
    if (state !== "open") return;
    state = "losing";
    pump();
  }

  function finish(): void {
    if (state === "closed") return;
    state = "closed";
    inbox.length = 0;
    queuedBytes = 0;
    receiver?.ended();
    receiver?.closed();
  }

  const channel: Channel = {
    start(started) {
      receiver = started;
      queueMicrotask(pump);
      if (state === "closed") {
        started.ended();
        started.closed();
      }
    },
    send(frame) {
      if (state !== "open") return;
      const bytes = Buffer.from(frame);
      queuedBytes += bytes.length;
      queueMicrotask(() => {
        if (state === "open") other?.deliver(bytes);
      });
    },
    get queuedBytes() {
      return queuedBytes;
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      queueMicrotask(pump);
    },
    async close({ now = false } = {}) {
      if (state === "closed") return;
      if (!now) await new Promise<void>((resolve) => setImmediate(resolve));
      finish();
      queueMicrotask(() => other?.lose());
    },
  };

  return {
    channel,
    connect(end) {
      other = end;
    },
    deliver(frame) {
      if (state !== "open") return;
      inbox.push(frame);
      pump();
    },
    taken(bytes) {
      if (state !== "open") return;
      queuedBytes -= bytes;
      if (queuedBytes === 0) receiver?.drained();
    },
    lose,
  };
}
