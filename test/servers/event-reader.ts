import type { Readable } from "node:stream";
import type { JsonObject } from "../../src/base/json.ts";
import { guardMs } from "./until.ts";

/** One event as it was written; a field that was not there is undefined. */
export interface ReadEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly retry: string | undefined;
  readonly data: string | undefined;
}

/** Reads an event stream line by line, as the format defines it, and keeps what it read. */
export class EventReader {
  readonly events: ReadEvent[] = [];
  readonly comments: string[] = [];
  /** The stream as it came. */
  text = "";
  /** Resolves when the stream ends, however it does. */
  readonly ended: Promise<void>;
  readonly #unread: ReadEvent[] = [];
  readonly #readers = new Set<() => void>();
  #rest = "";

  constructor(body: Readable) {
    body.setEncoding("utf8");
    body.on("data", (text: string) => this.#take(text));
    this.ended = new Promise((resolve) =>
      body.once("close", resolve).once("error", () => resolve()),
    );
  }

  /** The next event that was not taken yet. */
  next(): Promise<ReadEvent> {
    return this.#find(() => true, "an event");
  }

  /** The next message, as JSON; empty events are passed over. */
  async message(): Promise<JsonObject> {
    const { data = "" } = await this.#find(
      ({ data: text }) => text !== undefined && text !== "",
      "a message",
    );
    return JSON.parse(data) as JsonObject;
  }

  /** Every message so far. */
  get messages(): JsonObject[] {
    return this.events.flatMap(({ data }) => (data ? [JSON.parse(data) as JsonObject] : []));
  }

  /** Passes every message to `deliver`, including those already received. */
  forward(deliver: (text: string) => void): void {
    const read = (): void => {
      for (const { data } of this.#unread.splice(0)) if (data) deliver(data);
    };
    this.#readers.add(read);
    read();
  }

  #find(isWanted: (event: ReadEvent) => boolean, what: string): Promise<ReadEvent> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#readers.delete(read);
      };
      const read = (): void => {
        const index = this.#unread.findIndex(isWanted);
        if (index === -1) return;
        stop();
        resolve(this.#unread.splice(0, index + 1).at(-1) as ReadEvent);
      };
      const timer = setTimeout(() => {
        stop();
        reject(
          new Error(
            `${what} did not arrive within ${guardMs / 1_000} s; the stream so far: ${JSON.stringify(this.text.slice(-1_000))}`,
          ),
        );
      }, guardMs);
      this.#readers.add(read);
      read();
    });
  }

  #take(text: string): void {
    this.text += text;
    const blocks = `${this.#rest}${text}`.split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) this.#parse(block);
    for (const read of [...this.#readers]) read();
  }

  #parse(block: string): void {
    const lines = block.split("\n");
    this.comments.push(...lines.filter((line) => line.startsWith(":")));
    const fields = lines.filter((line) => line !== "" && !line.startsWith(":"));
    if (fields.length === 0) return;
    const valuesOf = (name: string): string[] =>
      fields
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).replace(/^ /, ""));
    const data = valuesOf("data");
    const event = {
      id: valuesOf("id").at(-1),
      event: valuesOf("event").at(-1),
      retry: valuesOf("retry").at(-1),
      data: data.length > 0 ? data.join("\n") : undefined,
    };
    this.events.push(event);
    this.#unread.push(event);
  }
}
