import { randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { JsonObject } from "../../src/base/json.ts";
import type { ServerConfig } from "../../src/config/schema.ts";

/**
 * An MCP server over Streamable HTTP, the pair of 2024-11-05 or WebSocket that does what a test
 * tells it, down to the bytes.
 */
export interface Scripted extends AsyncDisposable {
  readonly port: number;
  readonly origin: string;
  readonly config: RemoteConfig;
  /** Every HTTP request, and every message over WebSocket. */
  readonly seen: Seen[];
  /** The tools it has, beside `echo`, and what each does. */
  readonly tools: Record<string, Act>;
  /** How its tools are described, for those that say more than their name. */
  readonly definitions: Record<string, JsonObject>;
  /** Ids of the connections it knows; legacy HTTP only. */
  readonly sessions: Set<string>;
  /** Takes an HTTP request before anybody else does: true when it has. */
  intercept: ((knock: Knock) => boolean) | undefined;
  /** Streams for what belongs to no call: the GET's, the pair's, a subscription's. */
  readonly standing: Set<Standing>;
  /** How often a tool was called. */
  count(tool: string): number;
  /** How often a message with this method came in. */
  heard(method: string): number;
  sockets(): Promise<number>;
  /** Ends every connection without a word. */
  cut(): void;
  /** WebSocket only: says goodbye with this code. */
  closeSockets(code: number, reason?: string): void;
  /** Neither reads nor writes any more on the connections there are; they stay open. */
  freeze(): void;
  /** Stops listening, and later begins again on the same port. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

export type RemoteConfig = Extract<ServerConfig, { readonly url: string }>;
export type Act = (call: ScriptedCall) => unknown;

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: JsonObject | undefined;
  readonly at: number;
  /** Resolves when the answer is out or the client has closed its end. */
  readonly closed: Promise<void>;
}

export interface Knock {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly message: JsonObject | undefined;
}

export interface ScriptedCall {
  readonly id: unknown;
  readonly args: JsonObject;
  readonly message: JsonObject;
  readonly server: Scripted;
  /** Answers this call as it should be. */
  answer(result: JsonObject): void;
  /** One message in the way of the transport: over HTTP the answer as JSON, or an event if a stream is open. */
  say(message: JsonObject | string): void;
  /** HTTP only: begins an event stream. */
  stream(): ServerResponse;
  /** HTTP only. */
  readonly response: ServerResponse;
}

export interface Standing {
  send(message: JsonObject): void;
  readonly response: ServerResponse | undefined;
}

export interface ScriptedOptions {
  readonly type?: "http" | "sse" | "ws";
  readonly era?: "legacy" | "modern";
  readonly config?: Partial<RemoteConfig>;
  readonly tools?: Record<string, Act>;
  /** What it says of itself. */
  readonly info?: JsonObject;
}

const versionKey = "io.modelcontextprotocol/protocolVersion";
const usualInfo = { name: "scripted", version: "1" };
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
};

export function said(words: string): JsonObject {
  return { content: [{ type: "text", text: words }] };
}

export async function startScripted({
  type = "http",
  era = "modern",
  config = {},
  tools = {},
  info = usualInfo,
}: ScriptedOptions = {}): Promise<Scripted> {
  const seen: Seen[] = [];
  const sessions = new Set<string>();
  const standing = new Set<Standing>();
  const pairs = new Map<string, ServerResponse>();
  const sockets = new Set<Socket>();

  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => response.once("close", () => resolve()));
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const message = text === "" ? undefined : (JSON.parse(text) as JsonObject);
    seen.push({
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      message,
      at: performance.now(),
      closed,
    });
    if (server.intercept?.({ request, response, message })) return;
    if (type === "sse") servePair(request, response, message);
    else if (message === undefined) serveWithoutBody(request, response);
    else servePost(request, response, message);
  });
  http.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  const webSockets =
    type === "ws" ? new WebSocketServer({ server: http }).on("connection", serveSocket) : undefined;
  await listen(0);
  const { port } = http.address() as AddressInfo;
  const path = { http: "/mcp", sse: "/sse", ws: "/" }[type];

  function listen(on: number): Promise<void> {
    return new Promise((resolve) => http.listen(on, "127.0.0.1", resolve));
  }

  const server: Scripted = {
    port,
    origin: `http://127.0.0.1:${port}`,
    config: {
      type,
      url: `${type === "ws" ? "ws" : "http"}://127.0.0.1:${port}${path}`,
      headers: {},
      start: "lazy",
      idleTimeoutSeconds: 600,
      tools: { include: ["*"], exclude: [] },
      disabled: false,
      allowPrivate: false,
      ...config,
    },
    seen,
    tools,
    definitions: {},
    sessions,
    intercept: undefined,
    standing,
    count: (tool) =>
      seen.filter(
        ({ message }) =>
          message?.method === "tools/call" && (message.params as JsonObject).name === tool,
      ).length,
    heard: (method) => seen.filter(({ message }) => message?.method === method).length,
    sockets: () => new Promise((resolve) => http.getConnections((_error, count) => resolve(count))),
    cut: () => sockets.forEach((socket) => void socket.resetAndDestroy()),
    closeSockets: (code, reason) =>
      webSockets?.clients.forEach((socket) => void socket.close(code, reason)),
    freeze: () => webSockets?.clients.forEach((socket) => void socket.pause()),
    leave() {
      const left = new Promise<void>((resolve) => http.close(() => resolve()));
      server.cut();
      return left;
    },
    comeBack: () => listen(port),
    async [Symbol.asyncDispose]() {
      server.cut();
      if (http.listening) await server.leave();
    },
  };

  function isModern(message: JsonObject): boolean {
    return (
      ((message.params as JsonObject | undefined)?._meta as JsonObject | undefined)?.[
        versionKey
      ] !== undefined
    );
  }

  /** The result of everything but calls; undefined for what it does not know. */
  function resultOf({ method }: JsonObject): JsonObject | undefined {
    switch (method) {
      case "server/discover":
        return {
          supportedVersions: ["2026-07-28"],
          capabilities,
          _meta: { "io.modelcontextprotocol/serverInfo": info },
        };
      case "initialize":
        return {
          protocolVersion: type === "sse" ? "2024-11-05" : "2025-11-25",
          capabilities,
          serverInfo: info,
        };
      case "tools/list":
        return {
          tools: ["echo", ...Object.keys(tools)].map((name) => ({
            name,
            inputSchema: { type: "object" },
            ...server.definitions[name],
          })),
        };
      case "resources/list":
        return { resources: [{ uri: "note://1", name: "one" }] };
      case "resources/templates/list":
        return { resourceTemplates: [] };
      case "resources/subscribe":
      case "resources/unsubscribe":
      case "logging/setLevel":
      case "ping":
        return {};
      default:
        return undefined;
    }
  }

  function answerTo(message: JsonObject): JsonObject {
    const result = isModern(message) === (era === "modern") ? resultOf(message) : undefined;
    if (!result)
      return {
        jsonrpc: "2.0",
        id: message.id,
        error: { code: -32_601, message: "Method not found" },
      };
    return { jsonrpc: "2.0", id: message.id, result: dress(result) };
  }

  function dress(result: JsonObject): JsonObject {
    return era === "modern" && result.resultType === undefined
      ? { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result }
      : result;
  }

  function act(message: JsonObject, more: Pick<ScriptedCall, "say" | "stream" | "response">): void {
    const { name, arguments: args = {} } = message.params as {
      name: string;
      arguments?: JsonObject;
    };
    const answer = (result: JsonObject): void =>
      more.say({ jsonrpc: "2.0", id: message.id, result: dress(result) });
    const echo: Act = (call) => call.answer(said(JSON.stringify(call.args)));
    (tools[name] ?? echo)({ id: message.id, args, message, server, answer, ...more });
  }

  function stand(response: ServerResponse): Standing {
    const stream: Standing = {
      response,
      send: (message) =>
        void response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
    };
    standing.add(stream);
    response.on("close", () => standing.delete(stream));
    return stream;
  }

  function serveWithoutBody({ method, headers }: IncomingMessage, response: ServerResponse): void {
    if (era === "modern") response.writeHead(405, { allow: "POST" }).end();
    else if (!sessions.has(String(headers["mcp-session-id"]))) response.writeHead(404).end();
    else if (method === "DELETE") response.writeHead(200).end();
    else {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      stand(response);
    }
  }

  function servePost(
    { headers }: IncomingMessage,
    response: ServerResponse,
    message: JsonObject,
  ): void {
    if (era === "legacy" && isModern(message))
      response.writeHead(400, { "content-type": "text/plain" }).end("Bad Request");
    else if (
      era === "legacy" &&
      message.method !== "initialize" &&
      !sessions.has(String(headers["mcp-session-id"]))
    )
      sendJson(
        response,
        { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "Session not found" } },
        404,
      );
    else if (message.id === undefined || message.method === undefined)
      response.writeHead(202).end();
    else if (message.method === "tools/call") act(message, httpWays(response));
    else if (message.method === "subscriptions/listen") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const _meta = { "io.modelcontextprotocol/subscriptionId": message.id };
      const { notifications } = message.params as JsonObject;
      stand(response).send({
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications, _meta },
      });
    } else {
      const id = message.method === "initialize" ? randomUUID() : undefined;
      if (id !== undefined) sessions.add(id);
      const answer = answerTo(message);
      sendJson(
        response,
        answer,
        "error" in answer ? 404 : 200,
        id === undefined ? {} : { "mcp-session-id": id },
      );
    }
  }

  function httpWays(response: ServerResponse): Pick<ScriptedCall, "say" | "stream" | "response"> {
    let isStream = false;
    return {
      response,
      stream() {
        isStream = true;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.flushHeaders();
        return response;
      },
      say(message) {
        const text = typeof message === "string" ? message : JSON.stringify(message);
        if (isStream) response.write(`data: ${text}\n\n`);
        else response.writeHead(200, { "content-type": "application/json" }).end(text);
      },
    };
  }

  function servePair(
    request: IncomingMessage,
    response: ServerResponse,
    message: JsonObject | undefined,
  ): void {
    const { pathname, searchParams } = new URL(request.url ?? "", server.origin);
    const stream = pairs.get(searchParams.get("session") ?? "");
    if (pathname === "/sse" && request.method === "GET") {
      const id = randomUUID();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`);
      pairs.set(id, response);
      stand(response);
      response.on("close", () => pairs.delete(id));
    } else if (pathname !== "/messages" || !message) response.writeHead(405).end();
    else if (!stream) response.writeHead(404).end();
    else {
      response.writeHead(202).end("Accepted");
      receive(message, (text) => void stream.write(`event: message\ndata: ${text}\n\n`), stream);
    }
  }

  function serveSocket(socket: WebSocket, request: IncomingMessage): void {
    const stream: Standing = {
      response: undefined,
      send: (message) => socket.send(JSON.stringify(message)),
    };
    standing.add(stream);
    socket.on("close", () => standing.delete(stream));
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as JsonObject;
      seen.push({
        method: "WS",
        path: "/",
        headers: request.headers,
        message,
        at: performance.now(),
        closed: Promise.resolve(),
      });
      receive(message, (text) => socket.send(text), undefined);
    });
  }

  /** On a line: messages in, messages out. */
  function receive(
    message: JsonObject,
    send: (text: string) => void,
    response: ServerResponse | undefined,
  ): void {
    if (message.id === undefined || message.method === undefined) return;
    const say: ScriptedCall["say"] = (given) =>
      send(typeof given === "string" ? given : JSON.stringify(given));
    const nowhere = response as ServerResponse;
    if (message.method === "tools/call")
      act(message, { say, stream: () => nowhere, response: nowhere });
    else if (message.method !== "subscriptions/listen") say(answerTo(message));
  }

  return server;
}

export function sendJson(
  response: ServerResponse,
  body: JsonObject,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));
}
