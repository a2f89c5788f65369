import type { JsonObject } from "../base/json.ts";
import { createLog } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import {
  Client,
  type ClientOptions,
  type ClientRequestOptions,
  type NamedCall,
} from "../client/client.ts";
import type { ServerConfig } from "../config/schema.ts";
import { createGuard } from "../upstream/guard.ts";
import { openServer } from "../upstream/opening.ts";
import { defaultLimits } from "../wire/channel.ts";

interface ProgramTarget {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

interface RemoteTarget {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A program to start (stdio), or an address (http, https, ws, wss). */
export type ConnectTarget = ProgramTarget | RemoteTarget;

export interface ConnectOptions extends ClientOptions {
  /** How long starting and the handshake may take. Default 20 s. */
  readonly startMs?: number;
}

type Relay = ConstructorParameters<typeof Client>[0]["relay"];

/**
 * Connects to any MCP server and negotiates the protocol version. `close` ends the connection, and
 * the program where one was started. Throws HallError.
 */
export async function connect(
  target: ConnectTarget,
  { startMs = 20_000, ...options }: ConnectOptions = {},
): Promise<Client> {
  const scope = new Scope(undefined, startMs, "connect");
  const guard = createGuard();
  const connection = await openServer({
    config: toServerConfig(target),
    scope,
    prefers: undefined,
    asked: () => {},
    startMs,
    limits: defaultLimits,
    log: createLog({ level: "silent" }),
    guard,
    authorizer: undefined,
    connection: { capabilities: options.answer ? { elicitation: { form: {} } } : {} },
    inputSchema: () => undefined,
    carried: () => {},
    lost: () => {},
    listChanged: () => {},
    resourceUpdated: () => {},
  });
  scope.close();
  const close = async (): Promise<void> => {
    await connection.close();
    guard.close();
  };
  const relay: Relay = (method, params, context) => connection.relay(method, params, context);
  return new Client({ relay, close }, options);
}

function toServerConfig(target: ConnectTarget): ServerConfig {
  const common = {
    start: "lazy",
    idleTimeoutSeconds: 0,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: true,
  } as const;
  if ("url" in target) {
    const { url, headers = {} } = target;
    return { ...common, type: /^wss?:/i.test(url) ? "ws" : "http", url, headers: { ...headers } };
  }
  const { command, args = [], env = {}, cwd } = target;
  return { ...common, type: "stdio", command, args: [...args], env: { ...env }, cwd };
}

/** How to reach a server. */
export type MCPClientTarget =
  | (ProgramTarget & { readonly transport: "stdio" })
  | (RemoteTarget & { readonly transport: "http" | "websocket" });

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
