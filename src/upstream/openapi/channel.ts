import { HallError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { explain } from "../../net/dial.ts";
import type { Outcome } from "../../tool.ts";
import type { Channel, Outgoing, Receiver } from "../../wire/channel.ts";
import { errorFrame, type Id, isId, notificationFrame, resultFrame } from "../../wire/message.ts";
import type { Api, Operation } from "./operation.ts";

export interface ApiChannelOptions {
  readonly api: Api;
  call(operation: Operation, api: Api, args: JsonObject, signal: AbortSignal): Promise<Outcome>;
  /** Ends what belongs to it. */
  closed(): void;
}

/** The tools of a page; a message has a size limit. */
const pageCharacters = 1024 * 1024;
const protocolVersion = "2025-11-25";

/**
 * An API as an MCP server inside of this process. So it takes the path of every server: supervision, lock, review,
 * pins and limits know nothing of OpenAPI.
 */
export class ApiChannel implements Channel {
  readonly queuedBytes = 0;
  readonly #options: ApiChannelOptions;
  readonly #running = new Map<Id, AbortController>();
  #api: Api;
  #byName: ReadonlyMap<string, Operation>;
  #receiver: Receiver | undefined;
  #isClosed = false;

  constructor(options: ApiChannelOptions) {
    this.#options = options;
    this.#api = options.api;
    this.#byName = byName(options.api);
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  /** The document has changed. */
  replace(api: Api): void {
    this.#api = api;
    this.#byName = byName(api);
    this.#deliver(notificationFrame("notifications/tools/list_changed", undefined));
  }

  send(_frame: string, message: Outgoing = { kind: "notification" }): void {
    const { id, method } = message;
    const params = isObject(message.params) ? message.params : {};
    if (method === "notifications/cancelled" && isId(params.requestId))
      this.#running.get(params.requestId)?.abort(new HallError("CANCELLED", "cancelled"));
    if (id === undefined || method === undefined) return;
    queueMicrotask(() => void this.#answer(id, method, params));
  }

  pause(): void {}

  resume(): void {}

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const running of this.#running.values())
      running.abort(new HallError("UNAVAILABLE", "the connection closed"));
    this.#options.closed();
    this.#receiver?.ended();
    this.#receiver?.closed();
  }

  async #answer(id: Id, method: string, params: JsonObject): Promise<void> {
    switch (method) {
      case "initialize":
        return this.#result(id, {
          protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: this.#api.title, version: this.#api.version },
        });
      case "ping":
        return this.#result(id, {});
      case "tools/list":
        return this.#result(id, this.#page(Number(params.cursor ?? 0)));
      case "tools/call":
        return this.#call(id, params);
      default:
        this.#refuse(id, -32601, `Method not found: ${method}`);
    }
  }

  async #call(id: Id, { name, arguments: args }: JsonObject): Promise<void> {
    const operation = this.#byName.get(String(name));
    if (!operation) {
      this.#refuse(id, -32602, `Unknown tool: ${name}`);
      return;
    }
    const running = new AbortController();
    this.#running.set(id, running);
    try {
      const given = isObject(args) ? args : {};
      const outcome = await this.#options.call(operation, this.#api, given, running.signal);
      this.#result(id, outcome);
    } catch (error) {
      this.#receiver?.failed?.(id, () => explain(error));
    } finally {
      this.#running.delete(id);
    }
  }

  #page(start: number): JsonObject {
    const { operations } = this.#api;
    let characters = 0;
    let end = start;
    while (end < operations.length && characters < pageCharacters)
      characters += JSON.stringify(operations[end++]?.tool).length;
    const tools = operations.slice(start, end).map(({ tool }) => tool);
    return { tools, ...(end < operations.length ? { nextCursor: String(end) } : {}) };
  }

  #result(id: Id, result: unknown): void {
    this.#deliver(resultFrame(id, result));
  }

  #refuse(id: Id, code: number, message: string): void {
    this.#deliver(errorFrame(id, { code, message }, "omit"));
  }

  #deliver(frame: string): void {
    if (!this.#isClosed) this.#receiver?.frame(Buffer.from(frame));
  }
}

function byName({ operations }: Api): ReadonlyMap<string, Operation> {
  return new Map(operations.map((operation) => [operation.tool.name, operation]));
}
