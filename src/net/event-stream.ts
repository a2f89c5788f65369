import type { ServerResponse } from "node:http";
import { createParser } from "eventsource-parser";
import { HallError } from "../base/errors.ts";
import { formatBytes } from "../base/text.ts";

/** One server-sent event. `data` is undefined for one that only sets the retry time. */
export interface ReadEvent {
  readonly event: string;
  readonly data: string | undefined;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/** Reads server-sent events from bytes in chunks of any size. Throws TOO_LARGE for a long event. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  eventBytesMax: number,
): AsyncGenerator<ReadEvent> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const ready: ReadEvent[] = [];
  let isTooLarge = false;
  const parser = createParser({
    // Field names and line ends do not count against the limit of the data.
    maxBufferSize: eventBytesMax + 64,
    onEvent: ({ event = "message", data, id }) =>
      void ready.push({ event, data, id, retryMs: undefined }),
    onRetry: (retryMs) =>
      void ready.push({ event: "message", data: undefined, id: undefined, retryMs }),
    onError: ({ type }) => {
      isTooLarge ||= type === "max-buffer-size-exceeded";
    },
  });

  for await (const chunk of body) {
    parser.feed(decode(decoder, chunk));
    yield* ready.splice(0);
    if (isTooLarge)
      throw new HallError(
        "TOO_LARGE",
        `an event exceeds the limit of ${formatBytes(eventBytesMax)}`,
      );
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    throw new HallError("BAD_ANSWER", "the event stream is not valid UTF-8");
  }
}

/** One event of a server-sent event stream. Data with newlines is split into several lines. */
export interface StreamEvent {
  readonly data: string;
  readonly event?: string;
  readonly id?: string;
  /** Milliseconds before a client that lost the stream should reconnect. */
  readonly retry?: number;
}

function formatEvent({ data, event, id, retry }: StreamEvent): string {
  const head = `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}${retry === undefined ? "" : `retry: ${retry}\n`}`;
  const body = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
  return `${head}data: ${body}\n\n`;
}

export interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Interval of comments: proxies and HTTP clients close silent streams. */
  readonly keepAliveMs: number;
  /** Bytes that may be queued; beyond it hints are dropped. */
  readonly bufferBytesMax: number;
  /** How long the buffer may stay full before the stream is closed. */
  readonly stalledMsMax: number;
}

/** The writing end of an event stream, safe against clients that stop reading. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #options: EventStreamOptions;
  readonly #keepAlive: NodeJS.Timeout;
  #stalled: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, options: EventStreamOptions) {
    this.#response = response;
    this.#options = options;
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      connection: "keep-alive",
      ...options.headers,
    });
    response.flushHeaders();
    response.on("drain", () => this.#relieve());
    response.on("close", () => this.#release());
    this.#keepAlive = setInterval(() => this.#write(": keep-alive\n\n", true), options.keepAliveMs);
    this.#keepAlive.unref();
  }

  get queuedBytes(): number {
    return this.#response.writableLength;
  }

  /** Sends an event; drops an `isHint` one while the client does not read. Returns true if it was sent. */
  send(event: StreamEvent, isHint = false): boolean {
    return this.#write(formatEvent(event), isHint);
  }

  end(): void {
    this.#release();
    this.#response.end();
  }

  #write(text: string, isHint: boolean): boolean {
    if (this.#response.destroyed || this.#response.writableEnded) return false;
    if (this.#isFull && isHint) return false;
    this.#response.write(text);
    if (this.#isFull) {
      this.#stalled ??= setTimeout(() => {
        // Slow but reading: the queue fell below the limit.
        if (this.#isFull) this.#response.destroy();
        else this.#relieve();
      }, this.#options.stalledMsMax);
    }
    return true;
  }

  get #isFull(): boolean {
    return this.queuedBytes > this.#options.bufferBytesMax;
  }

  #relieve(): void {
    if (this.#isFull) return;
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
  }

  #release(): void {
    clearInterval(this.#keepAlive);
    clearTimeout(this.#stalled);
  }
}
