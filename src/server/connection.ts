import { randomInt } from "node:crypto";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Runner } from "../registry/registered.ts";
import {
  type Caller,
  type ClientLink,
  type ListKind,
  type LogLevel,
  logLevels,
  type Person,
} from "../tool.ts";
import type { Channel } from "../wire/channel.ts";
import { isId, type Message, type Notification, type Request } from "../wire/message.ts";
import { Peer } from "../wire/peer.ts";
import type { Exchange } from "../wire/requests.ts";
import { askLegacy, type ClientAnswers } from "./asking.ts";
import {
  type ClientRequest,
  cancelled,
  clientName,
  createCaller,
  type DialectMethod,
  type Envelope,
  isInDialect,
  isLegacyVersion,
  metaKeys,
  newestLegacy,
  type QuestionToken,
  type ReportProgress,
  readEnvelope,
  readGreeting,
  readLogLevel,
  refuseEnvelope,
  resolveCallTool,
  type Version,
} from "./client-request.ts";
import { dialectMethods } from "./dialect.ts";
import { explainRequest } from "./edge.ts";
import {
  handleModern,
  isNotification,
  legacyTaskMethods,
  methods,
  readString,
  unknownMethod,
  whenListed,
} from "./methods.ts";
import { isAllowed, localRights, type Rights, requireScope } from "./rights.ts";
import type { AcceptOptions, ServerParts } from "./server.ts";
import { Watches } from "./subscriptions.ts";

/** Handshake state of a legacy client; modern requests ignore it. */
type State =
  | { readonly kind: "new" }
  | {
      readonly kind: "greeted" | "ready";
      readonly version: Version;
      readonly capabilities: JsonObject;
      readonly caller: Caller;
    }
  | { readonly kind: "leaving"; readonly version: Version };

/** For another hall that continues with the client. */
export interface ConnectionState extends Pick<Declared, "version" | "capabilities"> {
  readonly client: string;
  readonly logLevel: LogLevel;
  readonly watched: readonly string[];
}

/** The self-description of the client, in the request or before. */
type Declared = Omit<Envelope, "client">;

/** One client's connection. A client may mix both eras: each request is served by its own. */
export class ClientConnection {
  readonly id: string;
  readonly isPresent: () => boolean;
  readonly #parts: ServerParts;
  readonly #principal: string;
  readonly #person: Person | undefined;
  readonly #isOrdered: boolean;
  readonly #rights: Rights;
  readonly #mayCall: boolean;
  readonly #gone: () => void;
  readonly #peer: Peer;
  readonly #progressTokens = new Set<string | number>();
  readonly #watches: Watches;
  readonly #link: ClientLink;
  /** Listeners for the client's progress on a question, by token. */
  readonly #reports = new Map<string, ReportProgress>();
  #nextReport = 0;
  /** The rate limit that its calls count against. */
  readonly #quota: string | undefined;
  #state: State = { kind: "new" };
  #logLevel: LogLevel = "info";
  #leave: (() => void) | undefined;
  #isClosed = false;
  readonly #onClosed = new Set<() => void>();

  constructor(
    channel: Channel,
    parts: ServerParts,
    {
      principal = "local",
      person,
      rights = localRights,
      isOrdered = true,
      isNetwork = false,
      quota,
      isPresent = () => true,
    }: AcceptOptions,
    gone: () => void,
  ) {
    this.id = parts.connectionId();
    this.isPresent = isPresent;
    this.#parts = parts;
    this.#principal = principal;
    this.#person = person;
    this.#isOrdered = isOrdered;
    this.#rights = rights;
    this.#mayCall = isAllowed(rights, "call");
    this.#quota = isNetwork ? (quota ?? this.id) : undefined;
    this.#gone = gone;
    this.#link = this.#createLink();
    this.#watches = new Watches(parts, (uri) =>
      this.#peer.notify("notifications/resources/updated", { uri }),
    );
    this.#peer = new Peer(channel, {
      limits: parts.limits,
      isNotification,
      handle: (request, exchange) => this.#handle(request, exchange),
      notified: (notification) => this.#notified(notification),
      explain: (failure, request) =>
        explainRequest(failure, request, this.#versionOf(request), parts),
      // A late answer to a question of the hall before, such as an approval, must not answer one of ours.
      idsAfter: randomInt(2 ** 30),
      withdrawal: (requestId, reason) => ({
        method: "notifications/cancelled",
        params: { requestId, reason },
      }),
      ended: () => void this.#finish(),
      closed: () => this.#lost(),
    });
  }

  /** The negotiated version of a legacy client; undefined before its handshake. */
  get version(): Version | undefined {
    return "version" in this.#state ? this.#state.version : undefined;
  }

  /** Resolves when either side has closed the connection. */
  get closed(): Promise<void> {
    return new Promise((resolve) => void this.#whenClosed(resolve));
  }

  /** For another hall; undefined before the handshake, and while something runs. */
  get movable(): ConnectionState | undefined {
    const [state, logLevel] = [this.#state, this.#logLevel];
    if (!("caller" in state) || this.#peer.inFlightCount > 0 || this.#reports.size > 0)
      return undefined;
    const { version, capabilities, caller } = state;
    return { version, capabilities, client: caller.client, logLevel, watched: this.#watches.uris };
  }

  /** Continues with the client of another hall, which had the handshake. */
  resume({ version, capabilities, client, logLevel, watched }: ConnectionState): void {
    const caller = this.#greeted(version, capabilities, client);
    this.#logLevel = logLevel;
    const watch = async (uri: string) => this.#watches.add(uri, { rights: this.#rights, caller });
    // A resource that is gone changes no more.
    for (const uri of watched) watch(uri).catch(() => {});
  }

  /** Receives messages that the transport has parsed itself. */
  receive(parsed: Message | readonly Message[]): void {
    this.#peer.receive(parsed);
  }

  /** Stops reading from this client until `release`. */
  hold(): void {
    this.#peer.hold();
  }

  release(): void {
    this.#peer.release();
  }

  /** Lets running requests end for up to `drainMs`, answers the rest with an error, and closes. */
  async close(drainMs: number): Promise<void> {
    const reason = new HallError("UNAVAILABLE", "the hall is shutting down");
    await this.#peer.drain(reason, drainMs);
    await this.#peer.close(reason, drainMs === 0 ? hurriedFlushMs : undefined);
  }

  /** The client sends nothing more: answer what runs, then close. Each request has its own deadline. */
  async #finish(): Promise<void> {
    if (this.#peer.inFlightCount > 0)
      await this.#peer.drain(new HallError("UNAVAILABLE", "the client closed its end"));
    await this.#peer.close();
  }

  #lost(): void {
    this.#isClosed = true;
    this.#leave?.();
    this.#watches.close();
    this.#gone();
    for (const listener of this.#onClosed) listener();
    this.#onClosed.clear();
  }

  #handle(request: Request, exchange: Exchange): unknown {
    return whenListed(exchange, this.#parts, () => this.#dispatch(request, exchange));
  }

  #dispatch(request: Request, exchange: Exchange): unknown {
    const { method, params = {} } = resolveCallTool(request);
    const envelope = readEnvelope(params);
    if (isInDialect(method, params)) {
      if (envelope) throw refuseEnvelope(method);
      return this.#handleDialect(method, params, exchange);
    }
    if (!envelope) return this.#handleLegacy(method, params, exchange);
    if (this.#state.kind === "new") this.#peer.unreadableId = "omit";
    const modern = this.#clientRequest(exchange, envelope, this.#createCaller(envelope.client));
    return handleModern(method, params, modern, this.#parts);
  }

  /** Joins what the client declared with what the connection knows. */
  #clientRequest(
    exchange: Exchange,
    { era, version, capabilities, logLevel }: Declared,
    caller: Caller,
  ): ClientRequest {
    return {
      era,
      version,
      capabilities,
      logLevel,
      exchange,
      caller,
      rights: this.#rights,
      reportTo: era === "legacy" ? this.#reportTo : undefined,
      progressTokens: this.#progressTokens,
    };
  }

  /** Modern requests have no session, so nothing is sent outside of them. */
  #createCaller(client: string, link?: ClientLink): Caller {
    const [principal, person] = [this.#principal, this.#person];
    const identity = { connection: this.id, principal, person, quota: this.#quota };
    return createCaller({ ...identity, client, link }, this.#rights);
  }

  #createLink(): ClientLink {
    return {
      connection: this.id,
      principal: this.#principal,
      log: (level, data, logger) => {
        if (logLevels.indexOf(level) < logLevels.indexOf(this.#logLevel)) return;
        this.#peer.notify("notifications/message", {
          level,
          ...(logger === undefined ? {} : { logger }),
          data,
        });
      },
      notify: (method, params) => this.#peer.notify(method, params),
      ask: (questions, asked) => this.#askOutside(questions, asked),
      onClosed: (listener) => void this.#whenClosed(listener),
    };
  }

  /** Calls the listener once, at once if the connection is closed. Returns a function that removes it. */
  #whenClosed(listener: () => void): () => void {
    if (this.#isClosed) listener();
    else this.#onClosed.add(listener);
    return () => void this.#onClosed.delete(listener);
  }

  /** Asks while no request of the client's runs. */
  #askOutside(...[questions, asked]: Parameters<ClientLink["ask"]>): Promise<ClientAnswers> {
    const capabilities = "capabilities" in this.#state ? this.#state.capabilities : {};
    const exchange: Pick<Exchange, "ask" | "scope"> = {
      scope: asked,
      ask: (method, params, options) => this.#peer.request(method, params, options),
    };
    return askLegacy(questions, { capabilities, reportTo: this.#reportTo, exchange }, asked);
  }

  readonly #reportTo = (report: ReportProgress): QuestionToken => {
    const token = `question-${++this.#nextReport}`;
    this.#reports.set(token, report);
    return { token, release: () => void this.#reports.delete(token) };
  };

  #handleLegacy(method: string, params: JsonObject, exchange: Exchange): unknown {
    const state = this.#state;
    if (method === "ping") return {};
    if (method === "initialize") return this.#initialize(params);
    switch (state.kind) {
      case "new":
        throw new HallError("INVALID_REQUEST", "not initialized", {
          hint: "Send initialize first, or set the protocol version in _meta.",
        });
      case "leaving":
        throw new HallError("INVALID_REQUEST", "shutting down");
      case "greeted":
        if (this.#isOrdered && method.startsWith("tools/"))
          throw new HallError(
            "INVALID_REQUEST",
            "not initialized: notifications/initialized has not arrived",
          );
    }
    const served = state.version === "2025-11-25" ? legacyMethods : methods;
    const handler = Object.hasOwn(served, method) ? served[method] : undefined;
    if (!handler) return this.#handleLegacyOnly(method, params, state.caller);
    if (!this.#mayCall) requireScope(this.#rights, "call", method);
    const { version, capabilities, caller } = state;
    const logLevel = this.#logLevel;
    const declared: Declared = { era: "legacy", version, capabilities, logLevel };
    const request = this.#clientRequest(exchange, declared, caller);
    return handler(params, request, this.#parts);
  }

  /** The registry dialect needs no handshake. */
  #handleDialect(method: DialectMethod, params: JsonObject, exchange: Exchange): unknown {
    if (this.#state.kind === "leaving") throw new HallError("INVALID_REQUEST", "shutting down");
    const caller =
      "caller" in this.#state
        ? this.#state.caller
        : this.#createCaller("unnamed client", this.#link);
    const version = this.version ?? newestLegacy;
    const declared: Declared = { era: "legacy", version, capabilities: {}, logLevel: undefined };
    const request = this.#clientRequest(exchange, declared, caller);
    const runner = this.#isOrdered ? this.#runner() : undefined;
    return dialectMethods[method](params, { ...request, runner }, this.#parts);
  }

  /** This connection as the runner of toolkits that were registered on it. */
  #runner(): Runner {
    return {
      kind: "connection",
      id: this.id,
      request: (method, params, scope) => this.#peer.request(method, params, { scope }),
      onGone: (listener) => this.#whenClosed(listener),
      close() {},
    };
  }

  /** Methods that change the connection's state, which the modern era does not have. */
  #handleLegacyOnly(method: string, params: JsonObject, caller: Caller): unknown {
    switch (method) {
      case "logging/setLevel":
        this.#logLevel = readLogLevel(params.level ?? null) ?? "info";
        this.#notifyToolkits({ logLevel: this.#logLevel });
        return {};
      case "resources/subscribe":
        requireScope(this.#rights, "call", method);
        return this.#watches.add(readString(params, "uri"), { rights: this.#rights, caller });
      case "resources/unsubscribe":
        this.#watches.remove(readString(params, "uri"));
        return {};
      case "shutdown":
        this.#state = { kind: "leaving", version: this.version ?? newestLegacy };
        return null;
      default:
        throw unknownMethod(method);
    }
  }

  /** Notifies the servers that the client uses at once. */
  #notifyToolkits(change: { readonly logLevel: LogLevel } | "roots"): void {
    for (const toolkit of this.#parts.registry.toolkits())
      toolkit.clientChanged?.(this.#link, change);
  }

  #initialize(params: JsonObject): JsonObject {
    if (this.#state.kind !== "new") throw new HallError("INVALID_REQUEST", "already initialized");
    const { protocolVersion, capabilities, clientInfo } = readGreeting(params);
    const version = isLegacyVersion(protocolVersion) ? protocolVersion : newestLegacy;
    this.#greeted(version, capabilities, clientName(clientInfo));
    const { info, instructions, counts } = this.#parts;
    return {
      protocolVersion: version,
      capabilities: this.#parts.capabilities(version),
      serverInfo: info,
      instructions: instructions(),
      _meta: counts(),
    };
  }

  #greeted(version: Version, capabilities: JsonObject, client: string): Caller {
    const caller = this.#createCaller(client, this.#link);
    this.#state = { kind: "greeted", version, capabilities, caller };
    this.#leave = this.#parts.onChange((kind) => this.#listChanged(kind));
    this.#peer.unreadableId = "null";
    this.#peer.acceptsBatches = version === "2025-03-26";
    return caller;
  }

  #notified({ method, params = {} }: Notification): void {
    switch (method) {
      case "notifications/initialized":
        if (this.#state.kind === "greeted") this.#state = { ...this.#state, kind: "ready" };
        return;
      case "notifications/cancelled":
        if (isId(params.requestId)) this.#peer.cancel(params.requestId, cancelled(params.reason));
        return;
      case "notifications/roots/list_changed":
        this.#notifyToolkits("roots");
        return;
      case "notifications/progress": {
        const { progressToken, ...progress } = params;
        this.#reports.get(String(progressToken))?.(progress);
        return;
      }
      case "$/cancelRequest":
        if (isId(params.id))
          this.#peer.cancel(params.id, cancelled(params.reason), requestCancelled);
        return;
      case "exit":
        void this.close(0);
        return;
      default:
        // The protocol requires unknown notifications to be ignored.
        return;
    }
  }

  #listChanged(kind: ListKind): void {
    const isReady =
      this.#state.kind === "ready" || (this.#state.kind === "greeted" && !this.#isOrdered);
    if (isReady && !this.#parts.isStatic)
      this.#peer.notify(`notifications/${kind}/list_changed`, undefined);
  }

  #versionOf(request: Request | undefined): Version | undefined {
    const meta = request?.params?._meta;
    if (isObject(meta) && metaKeys.version in meta) return "2026-07-28";
    return this.version;
  }
}

const legacyMethods = { ...methods, ...legacyTaskMethods };

/** How long to write out the last answers when shutting down at once. */
const hurriedFlushMs = 500;
const requestCancelled = { code: -32002, message: "Request cancelled" };
