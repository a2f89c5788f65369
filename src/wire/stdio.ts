import type { Readable, Writable } from "node:stream";
import type { Channel, Receiver } from "./channel.ts";
import type { Limits } from "./limits.ts";
import { createLineReader } from "./lines.ts";

/** Newline-delimited messages over a pair of byte streams: our own stdin and stdout, or a child's. */
export function createStdioChannel(input: Readable, output: Writable, limits: Pick<Limits, "messageBytesMax">): Channel {
  let receiver: Receiver | undefined;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let state: "open" | "closing" | "closed" = "open";
  let closing: Promise<void> | undefined;

  function flush(): void {
    if (waiting.length === 0) return;
    const text = waiting.length === 1 ? `${waiting[0]}\n` : `${waiting.join("\n")}\n`;
    waiting = [];
    waitingBytes = 0;
    if (state !== "closed") output.write(text);
  }

  function finish(): void {
    if (state === "closed") return;
    state = "closed";
    waiting = [];
    input.pause();
    receiver?.closed();
  }

  async function shut(now: boolean): Promise<void> {
    if (state === "closed") return;
    state = "closing";
    if (now) output.destroy();
    else {
      flush();
      await new Promise<void>((resolve) => {
        output.once("close", resolve);
        output.end(resolve);
      });
    }
    finish();
  }

  return {
    start(started) {
      receiver = started;
      const read = createLineReader(limits.messageBytesMax, { line: started.frame, oversize: started.oversize });
      input.on("data", read);
      input.on("end", started.ended);
      // A read error means no more input; what runs may still be answered.
      input.on("error", started.ended);
      output.on("drain", started.drained);
      output.on("error", finish);
      output.on("close", finish);
    },
    send(frame) {
      if (state !== "open") return;
      // All answers of one turn of the event loop leave in one write.
      if (waiting.length === 0) process.nextTick(flush);
      waiting.push(frame);
      waitingBytes += frame.length;
    },
    get queuedBytes() {
      return waitingBytes + output.writableLength;
    },
    pause: () => void input.pause(),
    resume: () => void input.resume(),
    close: ({ now = false } = {}) => {
      if (now) return shut(true);
      closing ??= shut(false);
      return closing;
    },
  };
}
