import type { ServerResponse } from "node:http";

/** One event of a server-sent event stream. Data with newlines is split as the format wants. */
export interface StreamEvent {
  readonly data: string;
  readonly event?: string;
  readonly id?: string;
  /** Milliseconds after which a reader that lost the stream should come back. */
  readonly retry?: number;
}

function formatEvent({ data, event, id, retry }: StreamEvent): string {
  const head = `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}${retry === undefined ? "" : `retry: ${retry}\n`}`;
  const body = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
  return `${head}data: ${body}\n\n`;
}

export interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** A comment is sent this often: silent streams are cut by proxies and by HTTP clients. */
  readonly keepAliveMs: number;
  /** What may wait beyond the socket; hints are left out past it. */
  readonly bufferBytesMax: number;
  /** How long a reader may leave the buffer full before it is cut. */
  readonly stalledMsMax: number;
}

/** The writing end of one event stream, safe against readers that stop reading. */
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

  /** Sends an event; `isHint` ones are left out while the reader does not read. Returns whether it was sent. */
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
        // Slow is not stalled: one that has read its queue below the limit goes on.
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
