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
  /** The other end is gone. */
  lose(): void;
}

function createEnd(): End {
  let other: End | undefined;
  let receiver: Receiver | undefined;
  let isPaused = false;
  let isClosed = false;
  const inbox: Buffer[] = [];
  let queuedBytes = 0;

  function pump(): void {
    while (receiver && !isPaused && inbox.length > 0) {
      const frame = inbox.shift();
      if (frame) receiver.frame(frame);
    }
  }

  function lose(): void {
    if (isClosed) return;
    isClosed = true;
    receiver?.ended();
    receiver?.closed();
  }

  const channel: Channel = {
    start(started) {
      receiver = started;
      queueMicrotask(pump);
      if (isClosed) {
        started.ended();
        started.closed();
      }
    },
    send(frame) {
      if (isClosed) return;
      const bytes = Buffer.from(frame);
      queuedBytes += bytes.length;
      queueMicrotask(() => {
        queuedBytes -= bytes.length;
        other?.deliver(bytes);
        if (queuedBytes === 0 && !isClosed) receiver?.drained();
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
      if (isClosed) return;
      if (!now) await new Promise<void>((resolve) => setImmediate(resolve));
      lose();
      queueMicrotask(() => other?.lose());
    },
  };

  return {
    channel,
    connect(end) {
      other = end;
    },
    deliver(frame) {
      inbox.push(frame);
      pump();
    },
    lose,
  };
}
