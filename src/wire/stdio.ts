import type { Readable, Writable } from "node:stream";
import type { Channel, Limits, Receiver } from "./channel.ts";

export interface StdioOptions {
  /** Ignore a last line without a newline: the writer ended in the middle of a message. */
  readonly needsNewline?: boolean;
  /** Close the channel if a line never ends. Otherwise everything up to the next newline is skipped. */
  readonly cutsEndless?: boolean;
}

type StdioLimits = Pick<Limits, "messageBytesMax">;

/** Newline-delimited messages over a pair of byte streams: our own stdin and stdout, or a child's. */
export function createStdioChannel(
  input: Readable,
  output: Writable,
  limits: StdioLimits,
  options: StdioOptions = {},
): Channel {
  return new StdioChannel({ input, output }, limits, options);
}

class StdioChannel implements Channel {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #limits: StdioLimits;
  readonly #options: StdioOptions;
  #receiver: Receiver | undefined;
  #waiting: string[] = [];
  /** In characters: the bytes are counted when all of it is written. It is short, so the difference is small. */
  #waitingLength = 0;
  #writingBytes = 0;
  /** Read since others had a turn, or longer. */
  #turnBytes = 0;
  #hasEnded = false;
  #isHeld = false;
  #state: "open" | "closing" | "closed" = "open";
  #closing: Promise<void> | undefined;

  constructor(
    { input, output }: { readonly input: Readable; readonly output: Writable },
    limits: StdioLimits,
    options: StdioOptions,
  ) {
    this.#input = input;
    this.#output = output;
    this.#limits = limits;
    this.#options = options;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    const read = this.#createReader(receiver);
    this.#input.on("data", (chunk: Buffer) => {
      read(chunk);
      this.#turnBytes += chunk.length;
      if (this.#turnBytes >= turnBytesMax) this.#giveWay();
    });
    this.#input.on("end", () => {
      // A last line need not have a newline.
      if (!this.#options.needsNewline) read(newlineBytes);
      this.#end();
    });
    // A read error, or a stream that is gone, means no more input; what runs may still be answered.
    this.#input.on("error", () => this.#end());
    this.#input.on("close", () => this.#end());
    this.#output.on("error", () => this.#finish());
    this.#output.on("close", () => this.#finish());
  }

  send(frame: string): void {
    if (this.#state !== "open") return;
    // A long one becomes bytes at once: to count them first and to write them then is to go through it twice.
    if (frame.length >= longFrame) {
      this.#flush();
      const bytes = Buffer.from(`${frame}\n`);
      this.#write(bytes, bytes.length);
      return;
    }
    // All answers of one turn of the event loop leave in one write.
    if (this.#waiting.length === 0) process.nextTick(this.#flush);
    this.#waiting.push(frame);
    this.#waitingLength += frame.length + 1;
    if (this.#waitingLength >= longFrame) this.#flush();
  }

  get queuedBytes(): number {
    return this.#state === "closed" ? 0 : this.#waitingLength + this.#writingBytes;
  }

  pause(): void {
    this.#isHeld = true;
    this.#input.pause();
  }

  resume(): void {
    this.#isHeld = false;
    this.#input.resume();
  }

  close({ now = false } = {}): Promise<void> {
    if (now) return this.#shut(true);
    this.#closing ??= this.#shut(false);
    return this.#closing;
  }

  /** Lines may be left over when we close: the rest of a chunk, or what Node reads out of a child that exits. */
  #createReader(receiver: Receiver): (chunk: Buffer) => void {
    return createLineReader(this.#limits.messageBytesMax, {
      line: (bytes) => {
        if (this.#state !== "closed") receiver.frame(bytes);
      },
      oversize: (edges) => {
        if (this.#state !== "closed") receiver.oversize(edges);
      },
      endless: () => {
        if (this.#options.cutsEndless) void this.#shut(true);
      },
    });
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    const text = waiting.length === 1 ? `${waiting[0]}\n` : `${waiting.join("\n")}\n`;
    this.#waiting = [];
    this.#waitingLength = 0;
    if (this.#state !== "closed") this.#write(text, Buffer.byteLength(text));
  };

  #write(frames: string | Buffer, bytes: number): void {
    this.#writingBytes += bytes;
    // Node reserves three bytes for each character of UTF-8, and one in this encoding; for ASCII both are the same.
    const encoding = bytes === frames.length ? "latin1" : "utf8";
    // Not "drain": a stream that took everything at once does not say it.
    this.#output.write(frames, encoding, () => {
      this.#writingBytes -= bytes;
      if (this.#state !== "closed" && this.#waitingLength + this.#writingBytes === 0)
        this.#receiver?.drained();
    });
  }

  /** Node reads a stream up to 32 times before it looks at the others: a flood on one must not stop them. */
  #giveWay(): void {
    this.#turnBytes = 0;
    if (this.#isHeld || this.#state === "closed") return;
    this.#input.pause();
    setImmediate(() => {
      if (!this.#isHeld && this.#state !== "closed") this.#input.resume();
    });
  }

  #end(): void {
    if (this.#hasEnded || this.#state === "closed") return;
    this.#hasEnded = true;
    this.#receiver?.ended();
  }

  #finish(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#waiting = [];
    this.#input.pause();
    this.#receiver?.closed();
  }

  async #shut(now: boolean): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closing";
    if (now) this.#output.destroy();
    else {
      this.#flush();
      // A reader that does not read must not hold us up.
      const giveUp = setTimeout(() => this.#output.destroy(), closeMsMax);
      await new Promise<void>((resolve) => {
        this.#output.once("close", resolve);
        this.#output.end(resolve);
      });
      clearTimeout(giveUp);
    }
    this.#finish();
  }
}

const closeMsMax = 5_000;
const longFrame = 65_536;
/** The most that one read returns. */
const turnBytesMax = 65_536;
const newlineBytes = Buffer.from("\n");

/**
 * Bytes to lines, whatever way the bytes are cut. A line over the limit is skipped to its newline and
 * reported once; the next line is read as if nothing had happened. Blank lines are nothing.
 */
export interface LineSink {
  line(bytes: Buffer): void;
  /** A long line is over: its first and last few hundred characters, joined. */
  oversize(edges: string): void;
  /** The line exceeds any message a program would write. Reported once per line. */
  endless?(): void;
}

export function createLineReader(lineBytesMax: number, sink: LineSink): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let joined = 0;
  let isSkipping = false;
  let head: Buffer = empty;
  let tail: Buffer = empty;

  function take(part: Buffer): void {
    heldBytes += part.length;
    if (heldBytes <= lineBytesMax) {
      held.push(part);
      // A line that comes byte by byte must not cost hundreds of bytes for each: the newest parts become one.
      if (held.length - joined === partsMax)
        held.splice(joined, partsMax, Buffer.concat(held.slice(joined++)));
      return;
    }
    if (!isSkipping) {
      isSkipping = true;
      head = Buffer.from((held[0] ?? part).subarray(0, edgeBytes));
      tail = Buffer.concat(held.slice(-1).map((last) => last.subarray(-edgeBytes)));
      held = [];
    }
    if (
      heldBytes > endlessFactor * lineBytesMax &&
      heldBytes - part.length <= endlessFactor * lineBytesMax
    )
      sink.endless?.();
    tail =
      part.length >= edgeBytes
        ? Buffer.from(part.subarray(-edgeBytes))
        : Buffer.concat([tail, part]).subarray(-edgeBytes);
  }

  function endLine(part: Buffer): void {
    if (heldBytes > 0 || part.length > lineBytesMax) take(part);
    const line = heldBytes > 0 ? Buffer.concat(held) : part;
    const isWhole = !isSkipping;
    held = [];
    heldBytes = 0;
    joined = 0;
    isSkipping = false;
    if (!isWhole) sink.oversize(`${head.toString()} ${tail.toString()}`);
    else if (!isBlank(line)) sink.line(line);
  }

  return (chunk) => {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end === -1) break;
      endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  };
}

/** A line this many times the limit has no end. */
const endlessFactor = 10;
const newline = 0x0a;
const edgeBytes = 512;
const partsMax = 1_024;
const empty = Buffer.alloc(0);

function isBlank(line: Buffer): boolean {
  for (let i = 0; i < line.length; i++) {
    const byte = line[i];
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
