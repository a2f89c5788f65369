import { isObject, type JsonObject } from "../../src/base/json.ts";
import { guardMs } from "./until.ts";

/**
 * A client that knows nothing of MCP: it sends whatever it is given and keeps every message it gets. Each message is
 * taken once, so that a test can also check that nothing is left over.
 */
export class RawClient {
  /** Everything that ever arrived, in order. */
  readonly received: JsonObject[] = [];
  readonly #write: (bytes: string | Buffer) => void;
  readonly #unread: JsonObject[] = [];
  readonly #readers = new Set<() => void>();
  #lastId = 0;

  constructor(write: (bytes: string | Buffer) => void) {
    this.#write = write;
  }

  /** For the transport. */
  deliver(text: string): void {
    const message = JSON.parse(text) as JsonObject;
    this.received.push(message);
    this.#unread.push(message);
    for (const read of [...this.#readers]) read();
  }

  /** Text and bytes go out as they are. */
  send(message: JsonObject | readonly unknown[] | string | Buffer): void {
    this.#write(
      typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message),
    );
  }

  notify(method: string, params?: JsonObject): void {
    this.send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
  }

  /** Sends a request under an id of its own; the answer is taken with `answer`. */
  ask(method: string, params?: JsonObject): number {
    const id = ++this.#lastId;
    this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return id;
  }

  request(method: string, params?: JsonObject): Promise<JsonObject> {
    return this.answer(this.ask(method, params));
  }

  /** The result of a request. Throws when it is an error. */
  async result(method: string, params?: JsonObject): Promise<JsonObject> {
    const { result, error } = await this.request(method, params);
    if (!isObject(result)) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
    return result;
  }

  answer(id: unknown): Promise<JsonObject> {
    return this.take(
      (message) => message.id === id && message.method === undefined,
      `the answer to ${JSON.stringify(id)}`,
    );
  }

  /** The next message with this method, a request or a notification of the hall. */
  heard(method: string): Promise<JsonObject> {
    return this.take((message) => message.method === method, method);
  }

  next(): Promise<JsonObject> {
    return this.take(() => true, "a message");
  }

  /** Messages that arrived and were not taken yet. */
  get unread(): readonly JsonObject[] {
    return this.#unread;
  }

  take(isWanted: (message: JsonObject) => boolean, what: string): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#readers.delete(read);
      };
      const read = (): void => {
        const index = this.#unread.findIndex(isWanted);
        if (index === -1) return;
        stop();
        resolve(this.#unread.splice(index, 1)[0] as JsonObject);
      };
      const timer = setTimeout(() => {
        stop();
        reject(
          new Error(
            `${what} did not arrive within ${guardMs / 1_000} s; unread: ${JSON.stringify(this.#unread).slice(0, 1_000)}`,
          ),
        );
      }, guardMs);
      this.#readers.add(read);
      read();
    });
  }

  /** The whole legacy handshake. Returns the answer to `initialize`. */
  async greet(protocolVersion = "2025-11-25", capabilities: JsonObject = {}): Promise<JsonObject> {
    const result = await this.result("initialize", { protocolVersion, capabilities, clientInfo });
    this.notify("notifications/initialized");
    return result;
  }
}

export const clientInfo = { name: "test", version: "1" };
export const modernVersion = "2026-07-28";

export const keys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Params as a modern client sends them. `meta` adds to `_meta`. */
export function modern(
  params: JsonObject = {},
  capabilities: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  return {
    ...params,
    _meta: {
      [keys.version]: modernVersion,
      [keys.capabilities]: capabilities,
      [keys.clientInfo]: clientInfo,
      ...meta,
    },
  };
}
