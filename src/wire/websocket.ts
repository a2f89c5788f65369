import type { WebSocket } from "ws";
import type { Channel, Receiver } from "./channel.ts";

export interface WebSocketOptions {
  readonly pingMs?: number;
  /** Called for each message; false closes the socket. Nothing more is read while it is being decided. */
  mayReceive?(): boolean | Promise<boolean>;
}

/** One message one text frame. Payload limit and protocol checks are ws's; a peer that stops answering pings is cut. */
export function createWebSocketChannel(
  socket: WebSocket,
  { pingMs = 15_000, mayReceive = () => true }: WebSocketOptions = {},
): Channel {
  let receiver: Receiver | undefined;
  let isAlive = true;
  let isClosed = false;
  const early: Buffer[] = [];
  let isHeld = false;
  /** Frames that wait until it is known whether they may be received. */
  let waiting: Buffer[] | undefined;
  const readOn = (): void => (isHeld || waiting ? socket.pause() : socket.resume());

  function receive(data: Buffer): void {
    if (receiver) receiver.frame(data);
    else early.push(data);
  }

  function admit(frames: readonly Buffer[], may: boolean): void {
    if (may) frames.forEach(receive);
    else socket.close(policyViolation, "no longer admitted");
  }

  async function admitLater(frame: Buffer, verdict: Promise<boolean>): Promise<void> {
    const frames = [frame];
    waiting = frames;
    readOn();
    const may = await verdict;
    waiting = undefined;
    readOn();
    if (!isClosed) admit(frames, may);
  }

  const ping = setInterval(() => {
    // While it is not read, its answers cannot arrive.
    if (!isAlive && !socket.isPaused) {
      socket.terminate();
      return;
    }
    isAlive = false;
    socket.ping();
  }, pingMs);
  ping.unref();

  socket.on("pong", () => {
    isAlive = true;
  });
  socket.on("message", (data: Buffer, isBinary) => {
    isAlive = true;
    if (isBinary) socket.close(unsupportedData, "text frames only");
    else if (waiting) waiting.push(data);
    else {
      const may = mayReceive();
      if (typeof may === "boolean") admit([data], may);
      else void admitLater(data, may);
    }
  });
  // ws closes the socket itself after an error; the close event says the rest.
  socket.on("error", () => {});
  socket.on("close", () => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(ping);
    receiver?.ended();
    receiver?.closed();
  });

  return {
    start(started) {
      receiver = started;
      for (const frame of early.splice(0)) started.frame(frame);
      if (isClosed) {
        started.ended();
        started.closed();
      }
    },
    send(frame) {
      if (socket.readyState !== socket.OPEN) return;
      // The callback runs when the frame has left; others may still wait.
      socket.send(frame, () => {
        if (socket.bufferedAmount === 0) receiver?.drained();
      });
    },
    get queuedBytes() {
      return socket.bufferedAmount;
    },
    pause() {
      isHeld = true;
      readOn();
    },
    resume() {
      isAlive = true;
      isHeld = false;
      readOn();
    },
    async close({ now = false } = {}) {
      if (isClosed) return;
      const gone = new Promise<void>((resolve) => socket.once("close", resolve));
      if (now) socket.terminate();
      else socket.close(goingAway);
      const cut = setTimeout(() => socket.terminate(), goodbyeMsMax);
      await gone;
      clearTimeout(cut);
    },
  };
}

/** How long a peer may take to say goodbye too. */
const goodbyeMsMax = 2_000;
const goingAway = 1001;
const unsupportedData = 1003;
const policyViolation = 1008;
