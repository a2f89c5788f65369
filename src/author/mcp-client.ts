import type { JsonObject } from "../base/json.ts";
import type { Client, ClientRequestOptions, NamedCall } from "../client/client.ts";
import { type ConnectOptions, connect } from "./connect.ts";

/** How to reach a server. */
export type MCPClientTarget =
  | {
      readonly transport: "stdio";
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly transport: "http" | "websocket";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface ListedTool extends JsonObject {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A client of one server. It connects with `initialize`, or with its first request. Throws HallError. */
export class MCPClient {
  readonly #target: MCPClientTarget;
  readonly #options: ConnectOptions;
  #opening: Promise<Client> | undefined;

  constructor(target: MCPClientTarget, options: ConnectOptions = {}) {
    this.#target = target;
    this.#options = options;
  }

  async initialize(): Promise<void> {
    await this.#open();
  }

  async listTools(): Promise<readonly ListedTool[]> {
    const tools = await (await this.#open()).listTools();
    return tools.map((tool) => ({ description: "", ...tool }) as ListedTool);
  }

  async callTool(
    call: string | NamedCall,
    args?: JsonObject,
    options?: ClientRequestOptions,
  ): Promise<JsonObject> {
    return (await this.#open()).callTool(call, args, options);
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): Promise<Client> {
    const { transport: _transport, ...target } = this.#target;
    this.#opening ??= connect(target, this.#options);
    return this.#opening;
  }
}
