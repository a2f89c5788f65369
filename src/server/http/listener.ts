import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { EventStreamOptions } from "../../net/event-stream.ts";
import { parseFrame } from "../../wire/message.ts";
import { isNotification } from "../methods.ts";
import { within } from "../rights.ts";
import type { Server } from "../server.ts";
import { serveApi } from "./api.ts";
import { readBody } from "./body.ts";
import {
  AccessGuard,
  type Admission,
  type GuardOptions,
  hasToken,
  type Identity,
  refuseWithout,
  refuseWithoutUse,
  targetOf,
} from "./guard.ts";
import { type Answered, type HttpRequest, isModernRequest, McpEndpoint } from "./mcp-endpoint.ts";
import { MovedSessions, type SharedMoves } from "./moved-sessions.ts";
import type { OtherHalls } from "./other-halls.ts";
import { PageDoor, type PageDoorOptions } from "./page-door.ts";
import { sendJson } from "./post.ts";
import { notAllowed, type Refusal, sendRefusal, shuttingDown, wellKnownPath } from "./refusal.ts";
import { Sessions } from "./sessions.ts";
import { cutWhenUnread, SocketLimit, withoutUpgrade } from "./sockets.ts";
import { SsePair } from "./sse-pair.ts";
import { readTls, renewTls, type TlsFiles } from "./tls.ts";
import type { Upgrader } from "./upgrade.ts";

/** One port for Streamable HTTP, WebSocket, HTTP+SSE, the REST API, metrics and health. */
export interface HttpListener {
  readonly url: string;
  /** True if every caller must send a token, because we cannot know whose program it is. */
  readonly needsToken: boolean;
  /** Hands sessions that run nothing to other halls. Resolves with the number of the others. */
  giveAwaySessions(): Promise<number>;
  close(): Promise<void>;
}

export interface ListenerOptions extends GuardOptions, Partial<EventStreamOptions> {
  readonly server: Server;
  readonly log: Log;
  readonly version: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The body of `/metrics`; without it the route is not found. */
  metrics?(): string;
  /** The page of the hall; without it, a browser gets one that explains how to connect. */
  readonly page?: Omit<PageDoorOptions, "bodyBytesMax"> | undefined;
  /** Serves HTTPS with these files. */
  readonly tls?: TlsFiles | undefined;
  /** The other halls of the same database. */
  readonly others?: OtherHalls | undefined;
  /** Where sessions wait for one of them. */
  readonly moves?: SharedMoves | undefined;
  /** Runs a call of a service that is attached here, for another hall. */
  run?: ((body: JsonObject, response: ServerResponse) => Promise<void>) | undefined;
  /** A legacy POST without an answer becomes an event stream after this long. Default 1,000. */
  readonly streamAfterMs?: number;
  /** A legacy POST stream is ended after this long, and the client resumes it. Default 300,000. */
  readonly pollAfterMs?: number;
  /** Legacy connections at once. Default 2,000. */
  readonly sessionsMax?: number;
  readonly sessionIdleMsMax?: number;
  /** Sockets from one address. Default 2,000. */
  readonly socketsPerAddressMax?: number;
}

const headerBytesMax = 16 * 1024;
const headersMsMax = 10_000;
const bodyMsMax = 30_000;
const socketsMax = 8_000;

export async function listenHttp(options: ListenerOptions): Promise<HttpListener> {
  const listener = new Listener(options);
  await listener.listen();
  return listener;
}

/** Handlers by method; a HEAD is listed where it is served. */
type Handler = (http: HttpRequest) => Answered;
type Route = Readonly<Record<string, Handler>>;

class Listener implements HttpListener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #guard: AccessGuard;
  readonly #sessions: Sessions;
  readonly #ssePair: SsePair;
  readonly #routes: Readonly<Record<string, Route>>;
  readonly #sessionsMax: number;
  readonly #cutWhenUnread: (this: ServerResponse) => void;
  readonly #http: NodeServer;
  readonly #page: PageDoor | undefined;
  #stopRenewing: (() => void) | undefined;
  readonly #moved: MovedSessions | undefined;
  #upgrader: Promise<Upgrader> | undefined;

  constructor(options: ListenerOptions) {
    const { server } = options;
    const events: EventStreamOptions = {
      keepAliveMs: options.keepAliveMs ?? 15_000,
      bufferBytesMax: options.bufferBytesMax ?? 64 * 1024,
      stalledMsMax: options.stalledMsMax ?? 10_000,
    };
    this.#options = options;
    this.#server = server;
    this.#cutWhenUnread = cutWhenUnread(events.stalledMsMax);
    this.#sessionsMax = options.sessionsMax ?? 2_000;
    this.#guard = new AccessGuard(options);
    this.#sessions = new Sessions({
      ...events,
      server,
      hall: options.others?.hall,
      streamAfterMs: options.streamAfterMs ?? 1_000,
      pollAfterMs: options.pollAfterMs ?? 300_000,
      idleMsMax: options.sessionIdleMsMax ?? 30 * 60_000,
      countMax: this.#sessionsMax,
    });
    this.#moved =
      options.others &&
      options.moves &&
      new MovedSessions(options.others, options.moves, this.#sessions);
    this.#ssePair = new SsePair({
      ...events,
      server,
      countMax: this.#sessionsMax,
      hall: options.others?.hall,
    });
    this.#routes = this.#createRoutes(
      new McpEndpoint({
        server,
        sessions: this.#sessions,
        events,
        others: options.others,
        moved: this.#moved,
      }),
    );
    this.#page =
      options.page &&
      new PageDoor({ ...options.page, bodyBytesMax: server.limits.messageBytesMax });
    this.#http = this.#createHttp();
  }

  get url(): string {
    const { host } = this.#options;
    const { port } = this.#http.address() as AddressInfo;
    const scheme = this.#options.tls ? "https" : "http";
    return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  get needsToken(): boolean {
    return this.#guard.needsToken;
  }

  async listen(): Promise<void> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#http.once("error", reject);
      this.#http.listen(port, host, resolve);
    });
  }

  giveAwaySessions(): Promise<number> {
    return this.#moved?.giveAway() ?? Promise.resolve(0);
  }

  async close(): Promise<void> {
    this.#sessions.close();
    this.#stopRenewing?.();
    (await this.#upgrader)?.close();
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.#http.closeAllConnections();
    await closed;
  }

  #createRoutes(mcp: McpEndpoint): Readonly<Record<string, Route>> {
    const health = ({ response }: HttpRequest): Answered => this.#health(response);
    return {
      "/": { POST: (http) => mcp.post(http) },
      "/mcp": {
        GET: (http) => mcp.get(http),
        POST: (http) => mcp.post(http),
        DELETE: (http) => mcp.delete(http),
      },
      "/sse": {
        GET: ({ request, response, caller }) => this.#ssePair.open(request, response, caller),
      },
      "/messages": { POST: (http) => this.#postMessages(http) },
      "/health": { GET: health, HEAD: health },
      "/halls/run": { POST: (http) => this.#runForOther(http) },
      "/metrics": { GET: (http) => this.#metrics(http) },
    };
  }

  #createHttp(): NodeServer {
    const limits = {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersMsMax,
      requestTimeout: bodyMsMax,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 60_000,
    };
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      this.#answer(request, response);
    const { tls, log } = this.#options;
    let http: NodeServer;
    if (tls) {
      const secure = createSecureServer({ ...limits, ...readTls(tls) }, answer);
      this.#stopRenewing = renewTls(secure, tls, log);
      http = secure;
    } else http = createServer(limits, answer);
    http.maxConnections = socketsMax;
    const limit = new SocketLimit(this.#options.socketsPerAddressMax ?? 2_000);
    http.on("connection", (socket: Socket) => limit.add(socket));
    http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
    return http;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    response.on("prefinish", this.#cutWhenUnread);
    this.#serve(request, response).catch((error: unknown) => {
      // Usually the client closed its connection while sending, and there is no one to answer.
      this.#options.log.debug({ err: error }, "request failed");
      if (!response.headersSent && !response.destroyed)
        sendRefusal(response, {
          status: 500,
          code: "INTERNAL",
          message: "unexpected error inside the hall",
          closes: true,
        });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // While the hall is full the request is not read, which slows the sender down.
    const full = this.#server.whenReading();
    if (full) await full;
    const path = targetOf(request)?.pathname ?? "";
    if (path === "/ready") return this.#ready(response);
    if (this.#page?.isFor(request, path))
      return this.#servePage(this.#page, request, response, path);
    const metadata = this.#findMetadata(request, path);
    if (metadata) {
      const foreign = this.#guard.checkSite(request);
      if (foreign) sendRefusal(response, foreign);
      else sendJson(response, 200, JSON.stringify(metadata));
      return;
    }
    const passedOn = this.#options.others?.identify(request);
    const admission = passedOn
      ? this.#guard.identifyPassedOn(passedOn)
      : this.#admit(request, path);
    const caller = admission instanceof Promise ? await admission : admission;
    const refusal =
      "refusal" in caller
        ? caller.refusal
        : await this.#route(request, response, caller, passedOn !== undefined);
    if (!refusal) return;
    const unreadableId = isModernRequest(request) ? "omit" : "null";
    sendRefusal(response, this.#guard.challenge(refusal, request), unreadableId);
  }

  /** The metadata of the hall as a resource is for everybody: it says how to get a token. */
  #findMetadata({ method }: IncomingMessage, path: string): JsonObject | undefined {
    const { accessTokens } = this.#options;
    if (!accessTokens || method !== "GET" || !path.startsWith(wellKnownPath)) return undefined;
    return accessTokens.metadata(path.slice(wellKnownPath.length));
  }

  /** The page has its own way to sign in, so it needs no token here; Host and Origin are checked. */
  async #servePage(
    page: PageDoor,
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<void> {
    const closing = this.#server.isClosing ? shuttingDown : undefined;
    const refusal =
      this.#guard.checkSite(request) ?? closing ?? (await page.serve(request, response, path));
    if (refusal) sendRefusal(response, refusal);
  }

  #admit(request: IncomingMessage, path: string): Admission | Promise<Admission> {
    const refusal = this.#guard.checkSite(request);
    if (refusal) return { refusal };
    const isRefused = this.#server.isClosing && path !== "/health";
    return isRefused ? { refusal: shuttingDown } : this.#guard.identify(request);
  }

  #route(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Identity,
    isPassedOn: boolean,
  ): Answered {
    const { method = "" } = request;
    const url = targetOf(request);
    if (!url) return notFound;
    const { pathname } = url;
    if (pathname.startsWith("/api/toolkits")) {
      // Always with a token. Calls and changes have scopes of their own, which the dialect checks.
      const isRead = method === "GET" || !hasToken(caller);
      const refusal = isRead ? refuseWithout("read", caller) : undefined;
      return refusal ?? serveApi({ request, response, path: pathname, caller }, this.#server);
    }

    const preset = /^\/mcp\/([^/]+)$/.exec(pathname)?.[1];
    const path = preset === undefined ? pathname : "/mcp";
    const route = Object.hasOwn(this.#routes, path) ? this.#routes[path] : undefined;
    if (!route) return notFound;
    const handler = Object.hasOwn(route, method) ? route[method] : undefined;
    const isOpen = path === "/health" || path === "/metrics";
    const useless = isOpen || isPassedOn ? undefined : refuseWithoutUse(caller);
    if (useless) return useless;
    if (handler)
      return this.#handleIn(preset, handler, { request, response, url, caller, isPassedOn });
    const isPostOnly = path === "/mcp" && isModernRequest(request);
    return notAllowed(isPostOnly ? "POST" : Object.keys(route).join(", "));
  }

  #handleIn(preset: string | undefined, handle: Handler, http: HttpRequest): Answered {
    const { caller } = http;
    try {
      const rights = within(preset, caller.rights, this.#server.presets);
      return handle(rights === caller.rights ? http : { ...http, caller: { ...caller, rights } });
    } catch (error) {
      if (!(error instanceof HallError)) throw error;
      return { status: 404, code: error.code, message: error.message };
    }
  }

  /** For a load balancer, without a token: it says nothing but whether to send requests here. */
  #ready(response: ServerResponse): void {
    const { isReady, isLeaving, isClosing } = this.#server;
    const status = isLeaving || isClosing ? "leaving" : "starting";
    const body = JSON.stringify({ status: isReady ? "ready" : status });
    sendJson(response, isReady ? 200 : 503, body);
  }

  /** Only another hall may ask, for a caller that it has checked. */
  async #runForOther({ request, response, isPassedOn }: HttpRequest): Promise<Refusal | undefined> {
    const { run } = this.#options;
    if (!isPassedOn || !run) return notFound;
    const body = await readBody(request, this.#server.limits.messageBytesMax);
    if (!Buffer.isBuffer(body)) return body;
    await run(JSON.parse(body.toString()), response);
    return undefined;
  }

  #health(response: ServerResponse): undefined {
    const { version } = this.#options;
    const body = JSON.stringify({ status: "ok", version, ...this.#server.counts() });
    sendJson(response, 200, body);
  }

  /** Usage figures are private, so they always require a token. */
  #metrics({ response, caller }: HttpRequest): Refusal | undefined {
    const refusal = refuseWithout("read", caller);
    if (refusal) return refusal;
    if (!this.#options.metrics)
      return { status: 404, code: "NOT_FOUND", message: "metrics are not enabled" };
    response
      .writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
      .end(this.#options.metrics());
    return undefined;
  }

  async #postMessages(http: HttpRequest): Promise<Refusal | undefined> {
    const { request, response, url, caller, isPassedOn } = http;
    const { limits } = this.#server;
    const body = await readBody(request, limits.messageBytesMax);
    if (!Buffer.isBuffer(body)) return body;
    const sessionId = url.searchParams.get("sessionId") ?? "";
    const owner = isPassedOn ? undefined : await this.#options.others?.locate(sessionId);
    const passed =
      owner !== undefined &&
      (await this.#options.others?.forward(owner, request, response, { caller, body }));
    if (owner !== undefined && passed !== false) return passed;
    const message = parseFrame(body, limits, isNotification);
    const refusal = this.#ssePair.post(sessionId, message, caller);
    if (!refusal) response.writeHead(202).end();
    return refusal;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (request.headers.upgrade?.toLowerCase() !== "websocket") {
      withoutUpgrade(request, socket, head);
      this.#http.emit(this.#options.tls ? "secureConnection" : "connection", socket);
      return;
    }
    socket.on("error", () => socket.destroy());
    this.#upgrader ??= import("./upgrade.ts").then(
      ({ Upgrader }) => new Upgrader(this.#server, this.#guard, this.#sessionsMax),
    );
    void this.#upgrader.then((ready) => ready.upgrade(request, socket, head));
  }
}

const notFound: Refusal = {
  status: 404,
  code: "NOT_FOUND",
  message:
    "Not found. Endpoints: /mcp, /ws, /sse, /messages, /api/toolkits, /metrics, /health, /ready",
  hint: "Check the address.",
};
