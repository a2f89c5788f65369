import { setTimeout as sleep } from "node:timers/promises";
import { errorTable, errorType, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { isLoopback } from "../server/http/guard.ts";
import { loadOwnToken } from "../server/http/token.ts";
import type { CallContext, Outcome, Tool, Toolkit } from "../tool.ts";
import type { Channel } from "../wire/channel.ts";
import type { Exchange } from "../wire/exchange.ts";
import { defaultLimits } from "../wire/limits.ts";
import type { Request } from "../wire/message.ts";
import { Peer } from "../wire/peer.ts";

export interface RegisterOptions {
  /** Default: GUILDHALL_TOKEN, else this user's own where the hall is on this machine. */
  readonly token?: string;
  /** Takes the place of a different toolkit registered under the same name. */
  readonly replace?: boolean;
  /** Hears of lost connections and of registrations that were refused later. */
  warn?(message: string): void;
}

export interface Registered {
  /** Such as `search_tool_v1`. */
  readonly toolId: string;
  /** Leaves the hall: the toolkit turns unavailable there until somebody registers it again. */
  close(): Promise<void>;
}

/** Joins a running hall with a toolkit and serves its calls, through every loss of the connection. Rejects when the first registration is refused. */
export async function register(toolkit: Toolkit, url: string, options: RegisterOptions = {}): Promise<Registered> {
  const address = socketAddress(url);
  const token = options.token ?? process.env.GUILDHALL_TOKEN ?? (isLoopback(address.hostname) ? await loadOwnToken() : undefined);
  return join(toolkit, () => dial(address, token), options);
}

const registerMsMax = 30_000;
const firstDelayMs = 250;
const delayMsMax = 30_000;

/** The same over any line to a hall; `connect` is asked for a new one whenever the last is lost. */
export async function join(
  toolkit: Toolkit,
  connect: () => Promise<Channel>,
  { replace = false, warn = () => {} }: Omit<RegisterOptions, "token"> = {},
): Promise<Registered> {
  const declaration = await declare(toolkit, replace);
  let isClosed = false;
  let line: Line | undefined;

  async function open(): Promise<string> {
    const opened = new Line(await connect(), toolkit, () => {
      if (isClosed || line !== opened) return;
      line = undefined;
      warn("the connection to the hall is lost; trying again");
      void reopen();
    });
    line = opened;
    try {
      return await opened.register(declaration);
    } catch (error) {
      line = undefined;
      await opened.close();
      throw error;
    }
  }

  async function reopen(): Promise<void> {
    for (let attempt = 0; !isClosed; attempt++) {
      // Full jitter: services of a hall that was restarted must not all come back at once.
      await sleep(Math.random() * Math.min(delayMsMax, firstDelayMs * 2 ** attempt));
      if (isClosed) return;
      try {
        toolId = await open();
        return;
      } catch (error) {
        warn(`not registered again yet: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  let toolId = await open();
  return {
    get toolId() {
      return toolId;
    },
    async close() {
      isClosed = true;
      await line?.close();
    },
  };
}

/** One connection to the hall while it lasts. */
class Line {
  readonly #peer: Peer;
  readonly #toolkit: Toolkit;
  readonly #tools = new Map<string, Tool>();

  constructor(channel: Channel, toolkit: Toolkit, lost: () => void) {
    this.#toolkit = toolkit;
    this.#peer = new Peer(channel, {
      limits: defaultLimits,
      handle: (request, exchange) => this.#serve(request, exchange),
      notified: ({ method, params }) => {
        const id = params?.requestId;
        if (method === "notifications/cancelled" && (typeof id === "string" || typeof id === "number")) {
          this.#peer.cancel(id, new HallError("CANCELLED", "the hall withdrew the call"));
        }
      },
      explain: (failure, request) => ({ error: explain(failure, request) }),
      ended: () => void channel.close(),
      closed: lost,
    });
  }

  async register(declaration: JsonObject): Promise<string> {
    for (const tool of await this.#toolkit.list()) this.#tools.set(tool.name, tool);
    const answer = await this.#peer.request("tools/register", declaration, { timeoutMs: registerMsMax }).catch((error: unknown) => {
      throw error instanceof HallError && error.relayed ? readRefusal(error) : error;
    });
    if (isObject(answer) && typeof answer.tool_id === "string") return answer.tool_id;
    throw new HallError("BAD_ANSWER", "the hall did not say under which id the toolkit is registered");
  }

  close(): Promise<void> {
    return this.#peer.close(new HallError("UNAVAILABLE", `${this.#toolkit.id} is leaving the hall`));
  }

  #serve({ method, params = {} }: Request, exchange: Exchange): unknown {
    if (method === "health/check") return this.#tellHealth();
    if (method === "tools/call" && typeof params.function_name === "string") return this.#call(params, exchange);
    throw new HallError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`);
  }

  async #call(params: JsonObject, exchange: Exchange): Promise<JsonObject> {
    const { function_name: name, arguments: args, call_id: callId, timeout } = params;
    const tool = this.#tools.get(String(name));
    if (!tool) throw new HallError("NOT_FOUND", `${this.#toolkit.id} has no function named "${name}"`);
    const began = performance.now();
    const scope = new Scope(exchange.scope, typeof timeout === "number" ? timeout * 1000 : tool.facts?.timeoutMs);
    const outcome = await scope.finish(this.#toolkit.call(tool, isObject(args) ? args : {}, contextOf(scope)));
    if (outcome.isError) throw new HallError("EXECUTION", textOf(outcome) || "the tool failed");
    return { call_id: callId, status: "completed", ...bodyOf(outcome), execution_time_ms: Math.round(performance.now() - began) };
  }

  async #tellHealth(): Promise<JsonObject> {
    const health = await this.#toolkit.health();
    const { version = "1.0.0" } = this.#toolkit;
    const words = { available: "healthy", degraded: "degraded", unavailable: "unhealthy", maintenance: "maintenance" } as const;
    return {
      status: words[health.state],
      response_time_ms: 0,
      version,
      capabilities: [...this.#tools.keys()],
      last_error: "reason" in health ? health.reason : null,
    };
  }
}

/** What a toolkit says of itself when it registers. */
async function declare(toolkit: Toolkit, replace: boolean): Promise<JsonObject> {
  const { id, description = id, category, version } = toolkit;
  const functions = (await toolkit.list()).map(({ name, description: text = name, inputSchema, outputSchema, annotations, facts }) => ({
    name,
    description: text,
    parameters: inputSchema,
    ...(outputSchema ? { returns: outputSchema } : {}),
    ...(annotations ? { annotations } : {}),
    timeout_seconds: Math.min(30, Math.max(1, (facts?.timeoutMs ?? 10_000) / 1000)),
  }));
  return {
    tool: { name: id, description, ...(category === undefined ? {} : { category }), ...(version === undefined ? {} : { version }), functions },
    ...(replace ? { replace } : {}),
  };
}

function contextOf(scope: Scope): CallContext {
  return {
    scope,
    // The registry dialect carries neither.
    progress: () => {},
    log: () => {},
    ask: () => Promise.reject(new HallError("MISSING_CAPABILITY", "a registered tool cannot ask the client")),
  };
}

/** Structured content as `data`; what only MCP's content can carry, as content. */
function bodyOf({ content, structuredContent, _meta }: Outcome): JsonObject {
  if (content.some(({ type }) => type !== "text")) return { content, structuredContent, _meta };
  return { data: structuredContent ?? textOf({ content }) };
}

function textOf({ content }: Pick<Outcome, "content">): string {
  return content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
}

function explain(failure: unknown, request: Request | undefined): { code: number; message: string; data: JsonObject } {
  const error = failure instanceof HallError ? failure : new HallError("EXECUTION", failure instanceof Error ? failure.message : String(failure));
  const data = { ...error.details, call_id: request?.params?.call_id, error_type: errorType(error.code), details: error.message };
  return { code: errorTable[error.code].registry, message: error.message, data };
}

function readRefusal({ relayed, message }: HallError): HallError {
  const data = isObject(relayed?.data) ? relayed.data : {};
  const code = String(data.error_type).toUpperCase();
  return new HallError(Object.hasOwn(errorTable, code) ? (code as keyof typeof errorTable) : "EXECUTION", String(data.details ?? message), {
    details: { ...(Array.isArray(data.errors) ? { errors: data.errors } : {}) },
    ...(typeof data.suggestion === "string" ? { hint: data.suggestion } : {}),
  });
}

/** `http://127.0.0.1:8080`, `…/mcp` and `ws://127.0.0.1:8080/ws` are the same hall. */
function socketAddress(url: string): URL {
  if (!URL.canParse(url)) throw new HallError("INVALID_PARAMS", `"${url}" is no address of a hall: use one such as http://127.0.0.1:8080`);
  const address = new URL(url);
  address.protocol = address.protocol === "https:" || address.protocol === "wss:" ? "wss:" : "ws:";
  if (address.protocol === "ws:" && !isLoopback(address.hostname.replace(/^\[|\]$/g, ""))) {
    throw new HallError("DENIED", `${address.host} is another machine: use https, so that the token is not readable on the way`);
  }
  address.pathname = "/ws";
  return address;
}

const pingMs = 5_000;

async function dial(address: URL, token: string | undefined): Promise<Channel> {
  const [{ WebSocket }, { createWebSocketChannel }] = await Promise.all([import("ws"), import("../wire/websocket.ts")]);
  const socket = new WebSocket(address, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    handshakeTimeout: 5_000,
    maxPayload: defaultLimits.messageBytesMax,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", (cause) =>
      reject(new HallError("UNAVAILABLE", `no hall at ${address.host}: ${cause.message}`, { cause, hint: "Start one with `guildhall serve`." })),
    );
  });
  return createWebSocketChannel(socket, { pingMs });
}
