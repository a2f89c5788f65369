import type { ServerResponse } from "node:http";

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
