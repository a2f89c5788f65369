import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Runner } from "../registry/runner.ts";
import type { ListKind, LogLevel } from "../tool.ts";
import type { Reply } from "../wire/answers.ts";
import type { Channel } from "../wire/channel.ts";
import type { Exchange } from "../wire/exchange.ts";
import { isId, type Message, type Notification, type Request } from "../wire/message.ts";
import { Peer } from "../wire/peer.ts";
import { dialectMethods, explainInDialect, isInDialect } from "./dialect.ts";
import { dressModern } from "./dress.ts";
import { explainFailure } from "./edge.ts";
import { discover, type Handler, methods, readString } from "./methods.ts";
import type { ServerParts } from "./server.ts";
import { listen, watchedMax, watchResource } from "./subscriptions.ts";
import { calledBy, unwrapCall } from "./unwrap.ts";
import { isLegacyVersion, metaKeys, newestLegacy, type Version } from "./versions.ts";
import { type Envelope, nameOf, readEnvelope, readLogLevel, type Visit } from "./visit.ts";

/** Where a legacy client is in its handshake. Modern requests do not look at it. */
type State =
  | { readonly kind: "new" }
  | {
      readonly kind: "greeted" | "ready";
      readonly version: Version;
      readonly capabilities: JsonObject;
      readonly client: string;
    }
  | { readonly kind: "leaving"; readonly version: Version };

interface ConnectionOptions {
  readonly principal: string;
  readonly isOrdered: boolean;
  readonly isNetwork: boolean;
  readonly quota: string | undefined;
  gone(): void;
}

/** One client's line. Both eras are served side by side, judged request by request. */
export class Connection {
  readonly id: string;
  readonly #parts: ServerParts;
  readonly #options: ConnectionOptions;
  readonly #peer: Peer;
  readonly #progressTokens = new Set<string | number>();
  readonly #watched = new Map<string, () => void>();
  /** Whose allowance calls on this line are counted against. */
  readonly #quota: string | undefined;
  #state: State = { kind: "new" };
  #logLevel: LogLevel = "info";
  #leave: (() => void) | undefined;
  #isClosed = false;
  readonly #onClosed = new Set<() => void>();

  constructor(channel: Channel, parts: ServerParts, options: ConnectionOptions) {
    this.id = parts.connectionId();
    this.#parts = parts;
    this.#options = options;
    this.#quota = options.isNetwork ? (options.quota ?? this.id) : undefined;
    this.#peer = new Peer(channel, {
      limits: parts.limits,
      isNotification,
      handle: (request, exchange) => this.#handle(request, exchange),
      notified: (notification) => this.#notified(notification),
      explain: (failure, request) => this.#explain(failure, request),
      withdrawal: (requestId, reason) => ({
        method: "notifications/cancelled",
        params: { requestId, reason },
      }),
      ended: () => void this.#finish(),
      closed: () => this.#lost(),
    });
  }

  /** The version a legacy client agreed to; undefined before its handshake. */
  get version(): Version | undefined {
    return "version" in this.#state ? this.#state.version : undefined;
  }

  /** Resolves when the line is closed, by either side. */
  get closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed) resolve();
      else this.#onClosed.add(resolve);
    });
  }

  /** Whether its client's model can be asked although the client asks for nothing: the handshake era only. */
  get lendsModel(): boolean {
    return (
      this.#state.kind === "ready" &&
      this.#options.isOrdered &&
      isObject(this.#state.capabilities.sampling)
    );
  }

  /** Asks the client's model. Throws what the client answers, as a HallError. */
  async sample(params: JsonObject): Promise<JsonObject> {
    const answer = await this.#peer.request("sampling/createMessage", params, {
      timeoutMs: sampleMsMax,
    });
    if (!isObject(answer))
      throw new HallError(
        "BAD_ANSWER",
        "the client's answer to sampling/createMessage is not an object",
      );
    return answer;
  }

  /** Takes what a transport has parsed itself. */
  receive(parsed: Message | readonly Message[]): void {
    this.#peer.receive(parsed);
  }

  /** Stops reading this client, and goes on. */
  hold(): void {
    this.#peer.hold();
  }

  release(): void {
    this.#peer.release();
  }

  /** Lets running requests end for up to `drainMs`, answers the rest with an error, and closes. */
  async close(drainMs: number): Promise<void> {
    const reason = new HallError("UNAVAILABLE", "the hall is shutting down");
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, drainMs);
    });
    await Promise.race([this.#peer.drain(reason), timeUp, this.closed]);
    clearTimeout(timer);
    await this.#peer.close(reason, drainMs === 0 ? hurriedFlushMs : undefined);
  }

  /** No more input: what runs is finished and answered, then the line closes. Each request has its own deadline. */
  async #finish(): Promise<void> {
    if (this.#peer.inFlightCount > 0)
      await this.#peer.drain(new HallError("UNAVAILABLE", "the client closed its end"));
    await this.#peer.close();
  }

  #lost(): void {
    this.#isClosed = true;
    this.#leave?.();
    for (const stop of this.#watched.values()) stop();
    this.#options.gone();
    for (const tell of this.#onClosed) tell();
    this.#onClosed.clear();
  }

  #handle(request: Request, exchange: Exchange): unknown {
    try {
      return this.#dispatch(request, exchange);
    } catch (error) {
      // It may belong to a server that is still being looked at.
      const isMissing = error instanceof HallError && error.code === "NOT_FOUND";
      const name = request.params?.name;
      const looking = isMissing
        ? this.#parts.registry.looking(typeof name === "string" ? name : undefined)
        : undefined;
      if (!looking) throw error;
      return exchange.scope.race(looking).then(() => this.#dispatch(request, exchange));
    }
  }

  #dispatch(request: Request, exchange: Exchange): unknown {
    const { method, params = {} } = unwrapCall(request);
    const envelope = readEnvelope(params);
    if (isInDialect(method, params)) return this.#handleDialect(method, params, envelope, exchange);
    if (envelope) return this.#handleModern(method, params, envelope, exchange);
    return this.#handleLegacy(method, params, exchange);
  }

  #handleModern(
    method: string,
    params: JsonObject,
    envelope: Envelope,
    exchange: Exchange,
  ): unknown {
    if (this.#state.kind === "new") this.#peer.unreadableId = "omit";
    const handler = Object.hasOwn(modernMethods, method) ? modernMethods[method] : undefined;
    if (!handler) throw unknownMethod(method);
    const { info } = this.#parts;
    const result = handler(params, this.#visit(exchange, envelope), this.#parts);
    return result instanceof Promise
      ? result.then((value) => dressModern(method, value, info))
      : dressModern(method, result, info);
  }

  /** The request with what its client says of itself, and what this line knows. */
  #visit(exchange: Exchange, { era, version, capabilities, client, logLevel }: Envelope): Visit {
    return {
      era,
      version,
      capabilities,
      client,
      logLevel,
      exchange,
      connection: this.id,
      principal: this.#options.principal,
      quota: this.#quota,
      progressTokens: this.#progressTokens,
    };
  }

  #handleLegacy(method: string, params: JsonObject, exchange: Exchange): unknown {
    const state = this.#state;
    if (method === "ping") return {};
    if (method === "initialize") return this.#initialize(params);
    switch (state.kind) {
      case "new":
        throw new HallError("INVALID_REQUEST", "not initialized", {
          hint: "Send initialize first, or a request with a modern _meta.",
        });
      case "leaving":
        throw new HallError("INVALID_REQUEST", "shutting down");
      case "greeted":
        if (this.#options.isOrdered && method.startsWith("tools/"))
          throw new HallError(
            "INVALID_REQUEST",
            "not initialized: notifications/initialized has not arrived",
          );
    }
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!handler) return this.#handleLegacyOnly(method, params);
    const { version, capabilities, client } = state;
    const visit = this.#visit(exchange, {
      era: "legacy",
      version,
      capabilities,
      client,
      logLevel: this.#logLevel,
    });
    return handler(params, visit, this.#parts);
  }

  /** The registry dialect needs no handshake, and has no place in the modern era: there a client cannot be called back. */
  #handleDialect(
    method: string,
    params: JsonObject,
    envelope: Envelope | undefined,
    exchange: Exchange,
  ): unknown {
    if (envelope)
      throw new HallError(
        "INVALID_PARAMS",
        `${method} in the registry dialect takes no modern _meta`,
        { hint: "Leave _meta out, or use MCP's own form." },
      );
    if (this.#state.kind === "leaving") throw new HallError("INVALID_REQUEST", "shutting down");
    const { principal, isNetwork, isOrdered } = this.#options;
    const handler = dialectMethods[method];
    if (!handler) throw unknownMethod(method);
    const client = "client" in this.#state ? this.#state.client : "unnamed client";
    const visit = this.#visit(exchange, {
      era: "legacy",
      version: this.version ?? newestLegacy,
      capabilities: {},
      client,
      logLevel: undefined,
    });
    return handler(
      params,
      {
        ...visit,
        mayRegister: !isNetwork || principal !== withoutToken,
        runner: isOrdered ? this.#runner() : undefined,
      },
      this.#parts,
    );
  }

  /** This line as whoever runs a toolkit that was registered on it. */
  #runner(): Runner {
    return {
      kind: "connection",
      id: this.id,
      request: (method, params, scope) => this.#peer.request(method, params, { scope }),
      onGone: (listener) => {
        if (this.#isClosed) listener();
        else this.#onClosed.add(listener);
        return () => void this.#onClosed.delete(listener);
      },
      close() {},
    };
  }

  /** Methods that keep something for the connection; the modern era has none of them. */
  #handleLegacyOnly(method: string, params: JsonObject): unknown {
    switch (method) {
      case "logging/setLevel":
        this.#logLevel = readLogLevel(params.level ?? null) ?? "info";
        return {};
      case "resources/subscribe":
        this.#watch(readString(params, "uri"));
        return {};
      case "resources/unsubscribe":
        this.#unwatch(readString(params, "uri"));
        return {};
      case "shutdown":
        this.#state = { kind: "leaving", version: this.version ?? newestLegacy };
        return null;
      default:
        throw unknownMethod(method);
    }
  }

  #watch(uri: string): void {
    if (this.#watched.has(uri)) return;
    if (this.#watched.size >= watchedMax)
      throw new HallError("OVERLOADED", `a client may watch ${watchedMax} resources at once`, {
        hint: "Unsubscribe from some of them first.",
      });
    const stop = watchResource(uri, this.#parts, () =>
      this.#peer.notify("notifications/resources/updated", { uri }),
    );
    this.#watched.set(uri, stop);
  }

  #unwatch(uri: string): void {
    this.#watched.get(uri)?.();
    this.#watched.delete(uri);
  }

  #initialize(params: JsonObject): JsonObject {
    if (this.#state.kind !== "new") throw new HallError("INVALID_REQUEST", "already initialized");
    const { protocolVersion, capabilities, clientInfo } = readGreeting(params);
    const version = isLegacyVersion(protocolVersion) ? protocolVersion : newestLegacy;
    this.#state = { kind: "greeted", version, capabilities, client: nameOf(clientInfo) };
    this.#leave = this.#parts.onChange((kind) => this.#listChanged(kind));
    this.#peer.unreadableId = "null";
    this.#peer.acceptsBatches = version === "2025-03-26";
    const { info, instructions, counts } = this.#parts;
    return {
      protocolVersion: version,
      capabilities: this.#parts.capabilities(),
      serverInfo: info,
      instructions: instructions(),
      _meta: counts(),
    };
  }

  #notified({ method, params = {} }: Notification): void {
    switch (method) {
      case "notifications/initialized":
        if (this.#state.kind === "greeted") this.#state = { ...this.#state, kind: "ready" };
        return;
      case "notifications/cancelled":
        if (isId(params.requestId))
          this.#peer.cancel(
            params.requestId,
            new HallError("CANCELLED", "the client withdrew the request"),
          );
        return;
      case "$/cancelRequest":
        if (isId(params.id))
          this.#peer.cancel(
            params.id,
            new HallError("CANCELLED", "the client withdrew the request"),
            requestCancelled,
          );
        return;
      case "exit":
        void this.close(0);
        return;
      default:
        // A notification we do not know is not an error.
        return;
    }
  }

  #listChanged(kind: ListKind): void {
    const isReady =
      this.#state.kind === "ready" || (this.#state.kind === "greeted" && !this.#options.isOrdered);
    if (isReady && !this.#parts.isStatic)
      this.#peer.notify(`notifications/${kind}/list_changed`, undefined);
  }

  #explain(failure: unknown, request: Request | undefined): Reply {
    const { registry, reference } = this.#parts;
    if (request && isInDialect(request.method, request.params ?? {}))
      return explainInDialect(failure, request, reference);
    const called = request && calledBy(request);
    const name = called?.params?.name;
    const version = this.#versionOf(request);
    const reply = explainFailure(failure, {
      version,
      request: called,
      hasOutputSchema:
        typeof name === "string" && registry.findTool(name)?.tool.outputSchema !== undefined,
      reference,
    });
    return "result" in reply && version === "2026-07-28"
      ? { result: dressModern("tools/call", reply.result, this.#parts.info) }
      : reply;
  }

  #versionOf(request: Request | undefined): Version | undefined {
    const meta = request?.params?._meta;
    if (isObject(meta) && metaKeys.version in meta) return "2026-07-28";
    return this.version;
  }
}

const modernMethods: Readonly<Record<string, Handler>> = {
  ...methods,
  "server/discover": (_params, _visit, parts) => discover(parts),
  "subscriptions/listen": listen,
};

/** What `initialize` must say. Throws INVALID_REQUEST. */
export function readGreeting({ protocolVersion, capabilities, clientInfo }: JsonObject): {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
} {
  if (typeof protocolVersion === "string" && isObject(capabilities) && isObject(clientInfo))
    return { protocolVersion, capabilities, clientInfo };
  throw new HallError(
    "INVALID_REQUEST",
    "initialize needs protocolVersion, capabilities and clientInfo",
  );
}

/** Methods that are notifications even with `"id": null`: some clients write it on them. */
export function isNotification(method: string): boolean {
  return method.startsWith("notifications/") || method.startsWith("$/") || method === "exit";
}

/** What a guard calls a caller on this machine that sent no token. */
const withoutToken = "local";
/** How long a client gets to take its last answers when the hall is in a hurry. */
const hurriedFlushMs = 500;
/** A person may have to say yes to it first. */
const sampleMsMax = 300_000;
const requestCancelled = { code: -32002, message: "Request cancelled" };

function unknownMethod(method: string): HallError {
  return new HallError("METHOD_NOT_FOUND", `Method not found: ${method.slice(0, 100)}`);
}
