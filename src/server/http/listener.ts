import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { HallError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { EventStreamOptions } from "../../net/event-writer.ts";
import { type Id, type Message, parseFrame, type Request } from "../../wire/message.ts";
import { isNotification, readGreeting } from "../connection.ts";
import { changesRegistry, isInDialect } from "../dialect.ts";
import type { Server } from "../server.ts";
import { isLegacyVersion, isModernVersion, legacyVersions } from "../versions.ts";
import { hasEnvelope, readEnvelope } from "../visit.ts";
import { type Api, createApi } from "./api.ts";
import { readBody } from "./body.ts";
import { createGuard, targetOf } from "./guard.ts";
import { checkStandardHeaders } from "./headers.ts";
import { sendPage, wantsPage } from "./page.ts";
import { accepts, createPostChannel, sendJson } from "./post.ts";
import { type Refusal, sendRefusal } from "./refusal.ts";
import { createSessions } from "./sessions.ts";
import { createSsePair } from "./sse-pair.ts";
import type { Upgrader } from "./upgrade.ts";

/** The door: Streamable HTTP at `/mcp`, WebSocket at `/ws`, the old pair `/sse` and `/messages`, `/api/toolkits`, `/health`; one port. */
export interface HttpListener {
  readonly url: string;
  close(): Promise<void>;
}

export interface HttpOptions extends Partial<EventStreamOptions> {
  readonly server: Server;
  readonly log: Log;
  readonly version: string;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly token: string;
  /** What `/metrics` answers. Without it there is none. */
  metrics?(): string;
  /** Whose token it is, for tokens besides that one. */
  findName?(token: string): string | undefined;
  /** A legacy POST without an answer becomes an event stream after this long. Default 1,000. */
  readonly streamAfterMs?: number;
  /** A legacy POST stream is ended after this long, and the client comes back for the rest. Default 300,000. */
  readonly pollAfterMs?: number;
  /** Legacy connections that may exist at once. Default 2,000. */
  readonly sessionsMax?: number;
  readonly sessionIdleMsMax?: number;
  /** Sockets from one address. Default 2,000. */
  readonly socketsPerAddressMax?: number;
}

const headerBytesMax = 16 * 1024;
const headersMsMax = 10_000;
const bodyMsMax = 30_000;
const socketsMax = 8_000;

export async function listenHttp(options: HttpOptions): Promise<HttpListener> {
  const { server, host, port, token } = options;
  const events: EventStreamOptions = {
    keepAliveMs: options.keepAliveMs ?? 15_000,
    bufferBytesMax: options.bufferBytesMax ?? 64 * 1024,
    stalledMsMax: options.stalledMsMax ?? 10_000,
  };
  const guard = createGuard({
    host,
    token,
    ...(options.findName ? { findName: options.findName } : {}),
  });
  const sessionsMax = options.sessionsMax ?? 2_000;
  const sessions = createSessions({
    ...events,
    server,
    streamAfterMs: options.streamAfterMs ?? 1_000,
    pollAfterMs: options.pollAfterMs ?? 300_000,
    idleMsMax: options.sessionIdleMsMax ?? 30 * 60_000,
    countMax: sessionsMax,
  });
  const ssePair = createSsePair({ ...events, server, countMax: sessionsMax });
  const api: Api = createApi(server, quotaOf);
  let upgrader: Promise<Upgrader> | undefined;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A request that waits here is not read: the sender is slowed down, nothing is refused.
    const full = server.whenReading();
    if (full) await full;
    const caller = admit(request);
    const refusal =
      "refusal" in caller ? caller.refusal : await route(request, response, caller.principal);
    if (refusal)
      sendRefusal(
        response,
        refusal,
        isModernVersion(request.headers["mcp-protocol-version"]) ? "omit" : "null",
      );
  }

  function admit(request: IncomingMessage): ReturnType<typeof guard.identify> {
    const refusal = guard.checkSite(request);
    if (refusal) return { refusal };
    if (server.isClosing)
      return {
        refusal: {
          status: 503,
          code: "UNAVAILABLE",
          message: "the hall is shutting down",
          closes: true,
        },
      };
    return guard.identify(request, false);
  }

  function route(
    request: IncomingMessage,
    response: ServerResponse,
    principal: string,
  ): Refusal | undefined | Promise<Refusal | undefined> {
    const { method } = request;
    const url = targetOf(request);
    switch (url?.pathname) {
      case "/":
        if (wantsPage(request)) {
          sendPage(response, options.version);
          return undefined;
        }
        return method === "POST" ? postMcp(request, response, principal) : notAllowed("POST");
      case "/mcp":
        if (method === "POST") return postMcp(request, response, principal);
        if (isModernVersion(request.headers["mcp-protocol-version"])) return notAllowed("POST");
        if (method === "GET")
          return request.headers["mcp-session-id"] === undefined
            ? notAllowed("POST")
            : sessions.get(request, response, principal);
        if (method === "DELETE") return deleteMcp(request, response, principal);
        return notAllowed("GET, POST, DELETE");
      case "/sse":
        return method === "GET" ? ssePair.open(request, response, principal) : notAllowed("GET");
      case "/messages":
        return method === "POST"
          ? postMessages(request, response, url?.searchParams.get("sessionId"), principal)
          : notAllowed("POST");
      case "/health":
        if (method !== "GET" && method !== "HEAD") return notAllowed("GET, HEAD");
        sendJson(
          response,
          200,
          JSON.stringify({ status: "ok", version: options.version, ...server.counts() }),
        );
        return undefined;
      case "/metrics":
        return method === "GET" ? serveMetrics(request, response) : notAllowed("GET");
      default:
        if (url?.pathname.startsWith("/api/toolkits"))
          return serveApi(request, response, url.pathname);
        return {
          status: 404,
          code: "NOT_FOUND",
          message: "there is /mcp, /ws, /sse, /messages, /api/toolkits, /metrics and /health",
        };
    }
  }

  /** Whoever sees or changes what is registered has the token. */
  function serveApi(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Refusal | undefined | Promise<Refusal | undefined> {
    const caller = guard.identify(request, true);
    return "refusal" in caller
      ? caller.refusal
      : api.serve(request, response, path, caller.principal);
  }

  /** What is called how often is nobody's business without the token. */
  function serveMetrics(request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    const caller = guard.identify(request, true);
    if ("refusal" in caller) return caller.refusal;
    if (!options.metrics)
      return { status: 404, code: "NOT_FOUND", message: "this hall counts nothing" };
    response
      .writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
      .end(options.metrics());
    return undefined;
  }

  function deleteMcp(
    request: IncomingMessage,
    response: ServerResponse,
    principal: string,
  ): Refusal | undefined {
    const refusal = sessions.end(one(request.headers["mcp-session-id"]), principal);
    if (!refusal) response.writeHead(204).end();
    return refusal;
  }

  async function postMessages(
    request: IncomingMessage,
    response: ServerResponse,
    sessionId: string | null | undefined,
    principal: string,
  ): Promise<Refusal | undefined> {
    const body = await readBody(request, server.limits.messageBytesMax);
    if (!Buffer.isBuffer(body)) return body;
    const refusal = ssePair.post(
      sessionId ?? "",
      parseFrame(body, server.limits, isNotification),
      principal,
    );
    if (!refusal) response.writeHead(202).end();
    return refusal;
  }

  async function postMcp(
    request: IncomingMessage,
    response: ServerResponse,
    principal: string,
  ): Promise<Refusal | undefined> {
    const body = await readBody(request, server.limits.messageBytesMax);
    if (!Buffer.isBuffer(body)) return body;
    const parsed = parseFrame(body, server.limits, isNotification);
    const message = Array.isArray(parsed) ? undefined : (parsed as Message);
    if (message?.kind === "invalid")
      return { status: 400, code: message.code, message: message.reason, id: message.id };
    if (message && isModern(request, message))
      return serveModern(request, response, message, principal);
    if (
      message?.kind === "request" &&
      isInDialect(message.method, message.params ?? {}) &&
      request.headers["mcp-session-id"] === undefined
    ) {
      return serveDialect(request, response, message, principal);
    }
    if (!accepts(request, "application/json") || !accepts(request, "text/event-stream")) {
      return {
        status: 406,
        code: "INVALID_REQUEST",
        message: "Accept must include application/json and text/event-stream",
      };
    }
    const version = request.headers["mcp-protocol-version"];
    if (version !== undefined && !isLegacyVersion(version))
      return {
        status: 400,
        code: "INVALID_REQUEST",
        message: `MCP-Protocol-Version must be one of ${legacyVersions.join(", ")}`,
      };
    const sessionId = one(request.headers["mcp-session-id"]);
    if (sessionId !== undefined) return sessions.post(sessionId, parsed, response, principal);
    if (message?.kind === "request" && message.method === "initialize")
      return openSession(message, response, principal);
    return {
      status: 400,
      code: "INVALID_REQUEST",
      message: "not initialized: send initialize, or a request with a modern _meta",
      id: message?.kind === "request" ? message.id : undefined,
    };
  }

  /** One request of the registry dialect, which knows no handshake. */
  function serveDialect(
    request: IncomingMessage,
    response: ServerResponse,
    message: Request,
    principal: string,
  ): Refusal | undefined {
    const caller = guard.identify(request, changesRegistry(message.method));
    if ("refusal" in caller) return { ...caller.refusal, id: message.id };
    const options = {
      principal,
      isOrdered: false,
      isNetwork: true,
      quota: quotaOf(request, principal),
    };
    server.accept(createPostChannel(request, response, events), options).receive(message);
    return undefined;
  }

  function openSession(
    message: Request,
    response: ServerResponse,
    principal: string,
  ): Refusal | undefined {
    try {
      readGreeting(message.params ?? {});
    } catch (error) {
      // Nobody has to make room for a handshake that fails.
      return refusalOf(error, message.id);
    }
    return sessions.open(message, response, principal);
  }

  function serveModern(
    request: IncomingMessage,
    response: ServerResponse,
    message: Message,
    principal: string,
  ): Refusal | undefined {
    if (message.kind === "answer" || message.kind === "invalid")
      return {
        status: 400,
        code: "INVALID_REQUEST",
        message: "a client sends requests and notifications only",
      };
    if (!accepts(request, "application/json") && !accepts(request, "text/event-stream")) {
      return {
        status: 406,
        code: "INVALID_REQUEST",
        message: "Accept must include application/json or text/event-stream",
      };
    }
    if (
      message.kind === "request" &&
      message.method === "subscriptions/listen" &&
      !accepts(request, "text/event-stream")
    ) {
      return {
        status: 406,
        code: "INVALID_REQUEST",
        message: "what is listened for comes as text/event-stream",
      };
    }
    if (message.kind === "notification") {
      response.writeHead(202).end();
      return undefined;
    }
    const refusal = checkModern(request, message);
    if (refusal) return refusal;
    const options = {
      principal,
      isOrdered: false,
      isNetwork: true,
      quota: quotaOf(request, principal),
    };
    server.accept(createPostChannel(request, response, events), options).receive(message);
    return undefined;
  }

  /** What is wrong with the frame of a modern request, as opposed to what it asks for. */
  function checkModern(request: IncomingMessage, message: Request): Refusal | undefined {
    try {
      checkStandardHeaders(request, message, server.registry);
      if (!readEnvelope(message.params))
        throw new HallError(
          "INVALID_PARAMS",
          "params._meta is missing: the header says a modern version",
        );
      return undefined;
    } catch (error) {
      return refusalOf(error, message.id);
    }
  }

  const perAddress = new Map<string, number>();
  const http = createHttpServer(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersMsMax,
      requestTimeout: bodyMsMax,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 60_000,
    },
    (request, response) => {
      cutWhenUnread(response, events.stalledMsMax);
      serve(request, response).catch((error: unknown) => {
        // Mostly a client that went away while it was sending; nobody is left to be told.
        options.log.debug({ err: error }, "request failed");
        if (!response.headersSent && !response.destroyed)
          sendRefusal(response, {
            status: 500,
            code: "INTERNAL",
            message: "something went wrong inside the hall",
            closes: true,
          });
      });
    },
  );
  http.maxConnections = socketsMax;
  const counted = new WeakSet<Socket>();
  http.on("connection", (socket: Socket) => {
    // A socket that is read again is still one.
    if (!counted.has(socket))
      countAddress(socket, perAddress, options.socketsPerAddressMax ?? 2_000);
    counted.add(socket);
  });
  http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() !== "websocket") {
      serveAsItIs(request, socket, head);
      return;
    }
    socket.on("error", () => socket.destroy());
    upgrader ??= import("./upgrade.ts").then(({ createUpgrader }) =>
      createUpgrader({ server, guard, countMax: sessionsMax }),
    );
    void upgrader.then((ready) => ready.upgrade(request, socket, head));
  });

  /** A wish for a protocol we do not speak, such as h2c from Java's client: the request is read again without it. */
  function serveAsItIs(
    { method, url, rawHeaders }: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): void {
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (!/^(connection|upgrade|http2-settings)$/i.test(rawHeaders[i] ?? ""))
        lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
    }
    socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
    http.emit("connection", socket);
  }

  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, resolve);
  });
  const { port: actualPort } = http.address() as AddressInfo;

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`,
    async close() {
      sessions.close();
      (await upgrader)?.close();
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** Requests without a connection are counted by where they come from. */
function quotaOf({ socket }: IncomingMessage, principal: string): string {
  return `${principal}@${socket.remoteAddress}`;
}

/** A header or a body that speaks the modern way. */
function isModern(request: IncomingMessage, message: Message): boolean {
  if (isModernVersion(request.headers["mcp-protocol-version"])) return true;
  return (
    (message.kind === "request" || message.kind === "notification") && hasEnvelope(message.params)
  );
}

function refusalOf(error: unknown, id: Id): Refusal {
  if (!(error instanceof HallError)) throw error;
  return {
    status: 400,
    code: error.code,
    message: error.message,
    id,
    ...(error.details ? { details: error.details } : {}),
  };
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function notAllowed(allow: string): Refusal {
  return { status: 405, code: "INVALID_REQUEST", message: `use ${allow}`, headers: { allow } };
}

/** An answer that nobody reads must not stay in memory. The time counts from the last progress, until all is out. */
function cutWhenUnread(response: ServerResponse, stalledMsMax: number): void {
  const { socket } = response.req;
  response.on("prefinish", () => socket.setTimeout(stalledMsMax));
  response.on("finish", () => {
    // Node has set the one between requests, unless the next request is already there.
    if (socket.timeout === stalledMsMax) socket.setTimeout(0);
  });
}

function countAddress(socket: Socket, counts: Map<string, number>, countMax: number): void {
  const address = socket.remoteAddress ?? "";
  const count = (counts.get(address) ?? 0) + 1;
  if (count > countMax) {
    socket.destroy();
    return;
  }
  counts.set(address, count);
  socket.on("close", () => {
    const left = (counts.get(address) ?? 1) - 1;
    if (left <= 0) counts.delete(address);
    else counts.set(address, left);
  });
}
