import type { IncomingMessage, ServerResponse } from "node:http";
import { HallError } from "../../base/errors.ts";
import type { EventStreamOptions } from "../../net/event-stream.ts";
import { type Id, type Message, parseFrame, type Request } from "../../wire/message.ts";
import {
  hasEnvelope,
  isInDialect,
  isLegacyVersion,
  isModernVersion,
  legacyVersions,
  readEnvelope,
  readGreeting,
} from "../client-request.ts";
import { isNotification } from "../methods.ts";
import type { Server } from "../server.ts";
import { readBody } from "./body.ts";
import { type Identity, refuseChange } from "./guard.ts";
import { checkStandardHeaders } from "./headers.ts";
import type { MovedSessions } from "./moved-sessions.ts";
import { idOf, type OtherHalls } from "./other-halls.ts";
import { accepts, createPostChannel, PostReply } from "./post.ts";
import {
  invalidRequest,
  notAllowed,
  type Refusal,
  refuseUnavailable,
  shuttingDown,
} from "./refusal.ts";
import type { Sessions } from "./sessions.ts";

/** One HTTP request that passed admission. */
export interface HttpRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly caller: Identity;
  /**
   * True if another hall forwarded the request. This hall must answer it, even if it does not know the session,
   * call or task.
   */
  readonly isPassedOn?: boolean | undefined;
}

export type Answered = Refusal | undefined | Promise<Refusal | undefined>;

export interface McpEndpointOptions {
  readonly server: Server;
  readonly sessions: Sessions;
  readonly events: EventStreamOptions;
  readonly others?: OtherHalls | undefined;
  readonly moved?: MovedSessions | undefined;
}

/** Streamable HTTP at `/mcp`: modern requests, legacy sessions and the registry dialect. */
export class McpEndpoint {
  readonly #options: McpEndpointOptions;

  constructor(options: McpEndpointOptions) {
    this.#options = options;
  }

  async get(http: HttpRequest): Promise<Refusal | undefined> {
    const { request, response, caller } = http;
    if (isModernRequest(request) || request.headers["mcp-session-id"] === undefined)
      return notAllowed("POST");
    const passed = await this.#passOn(http, sessionIdOf(request));
    if (passed !== false) return passed;
    return this.#options.sessions.get(request, response, caller);
  }

  async delete(http: HttpRequest): Promise<Refusal | undefined> {
    const { request, response, caller } = http;
    if (isModernRequest(request)) return notAllowed("POST");
    const passed = await this.#passOn(http, sessionIdOf(request));
    if (passed !== false) return passed;
    const refusal = this.#options.sessions.end(sessionIdOf(request), caller);
    if (!refusal) response.writeHead(204).end();
    return refusal;
  }

  /** Forwards a request to the hall that has its session. False if this hall must answer. */
  async #passOn(
    http: HttpRequest,
    sessionId: string | undefined,
    more: { readonly body?: Buffer; readonly id?: Id | undefined } = {},
  ): Promise<Refusal | undefined | false> {
    const { request, response, caller, isPassedOn } = http;
    const { others, moved } = this.#options;
    if (!others || sessionId === undefined) return false;
    const ownerOf = () => (isPassedOn ? undefined : others.ownerOf(sessionId));
    let asked: string | undefined;
    try {
      for (const isLast of ownerOf() === undefined ? [true] : [false, true]) {
        // The owner comes second, because `find` may have learned of a hall that has just started.
        const hall = (await moved?.find(sessionId, caller, isLast)) ?? ownerOf();
        if (hall === others.hall) return false;
        if (hall === undefined || hall === asked) continue;
        const passed = await others.forward(hall, request, response, { caller, ...more });
        if (passed !== false) return passed;
        asked = hall;
      }
      return false;
    } catch (error) {
      if (!(error instanceof HallError)) throw error;
      return { ...refuseUnavailable(error), id: more.id };
    }
  }

  /**
   * Forwards a message about a session, call or task to the hall that has it. False if this hall must answer.
   */
  async #passOnMessage(
    http: HttpRequest,
    message: Message | undefined,
    body: Buffer,
  ): Promise<Refusal | undefined | false> {
    const { request, response, caller, isPassedOn } = http;
    const { others, server } = this.#options;
    if (!others) return false;
    const id = idOf(message);
    const isLegacy = !message || !isModern(request, message);
    const sessionId = isLegacy ? sessionIdOf(request) : undefined;
    if (sessionId !== undefined) return this.#passOn(http, sessionId, { body, id });
    if (isPassedOn) return false;
    const owner = message && !isLegacy ? await others.ownerOfRequest(message) : undefined;
    // A hall that is about to end begins nothing new.
    const hall = owner ?? (server.isLeaving && !isContinued(message) ? others.any() : undefined);
    return hall === undefined
      ? false
      : others.forward(hall, request, response, { caller, body, id });
  }

  async post(http: HttpRequest): Promise<Refusal | undefined> {
    const { request } = http;
    const { limits } = this.#options.server;
    const body = await readBody(request, limits.messageBytesMax);
    if (!Buffer.isBuffer(body)) return body;
    const parsed = parseFrame(body, limits, isNotification);
    const message = Array.isArray(parsed) ? undefined : (parsed as Message);

    if (message?.kind === "invalid")
      return { status: 400, code: message.code, message: message.reason, id: message.id };
    if (this.#options.others) {
      const passed = await this.#passOnMessage(http, message, body);
      if (passed !== false) return passed;
    }
    if (message && isModern(request, message)) return this.#postModern(http, message);
    const isDialect =
      message?.kind === "request" && isInDialect(message.method, message.params ?? {});
    if (isDialect && request.headers["mcp-session-id"] === undefined)
      return this.#postDialect(http, message);
    return this.#postLegacy(http, parsed, message);
  }

  #postModern({ request, response, caller }: HttpRequest, message: Message): Answered {
    if (message.kind === "answer" || message.kind === "invalid")
      return invalidRequest(400, "expected a request or a notification");
    const takesEvents = accepts(request, "text/event-stream");
    if (!takesEvents && !accepts(request, "application/json"))
      return invalidRequest(406, "Accept must include application/json or text/event-stream");
    if (message.kind === "notification") {
      response.writeHead(202).end();
      return undefined;
    }
    if (message.method === "subscriptions/listen" && !takesEvents)
      return invalidRequest(406, "Accept must include text/event-stream for subscriptions/listen");

    const { server, events } = this.#options;
    try {
      checkStandardHeaders(request, message, server.registry);
      const envelope = readEnvelope(message.params);
      if (!envelope)
        throw new HallError(
          "INVALID_PARAMS",
          "params._meta is missing, but MCP-Protocol-Version requires it",
        );
      const reply = new PostReply(response, takesEvents, events);
      const quota = quotaOf(request, caller.principal);
      server.serveOnce(message, envelope, reply, { caller, quota });
      return undefined;
    } catch (error) {
      return refusalOf(error, message.id);
    }
  }

  /** The registry dialect has no handshake. */
  #postDialect({ request, response, caller }: HttpRequest, message: Request): Answered {
    const { server, events } = this.#options;
    const refusal = refuseChange(message.method, message.params ?? {}, caller);
    if (refusal) return { ...refusal, id: message.id };
    const reply = new PostReply(response, accepts(request, "text/event-stream"), events);
    const quota = quotaOf(request, caller.principal);
    server
      .accept(createPostChannel(reply), { ...caller, isOrdered: false, isNetwork: true, quota })
      .receive(message);
    return undefined;
  }

  #postLegacy(
    { request, response, caller }: HttpRequest,
    parsed: Message | readonly Message[],
    message: Message | undefined,
  ): Answered {
    if (!accepts(request, "application/json") || !accepts(request, "text/event-stream"))
      return invalidRequest(406, "Accept must include application/json and text/event-stream");
    const version = request.headers["mcp-protocol-version"];
    if (version !== undefined && !isLegacyVersion(version))
      return invalidRequest(
        400,
        `MCP-Protocol-Version must be one of ${legacyVersions.join(", ")}`,
      );

    const { sessions, server } = this.#options;
    const sessionId = sessionIdOf(request);
    // The body took longer than the hall was there: its connections are closed and answer nothing.
    if (server.isClosing) return { ...shuttingDown, id: idOf(message) };
    if (sessionId !== undefined) return sessions.post(sessionId, parsed, response, caller);
    if (message?.kind !== "request" || message.method !== "initialize")
      return {
        ...invalidRequest(
          400,
          "not initialized: send initialize, or set the protocol version in _meta",
        ),
        id: message?.kind === "request" ? message.id : undefined,
      };
    try {
      // Checked first, so that a handshake that fails does not displace an idle session.
      readGreeting(message.params ?? {});
    } catch (error) {
      return refusalOf(error, message.id);
    }
    return sessions.open(message, response, caller);
  }
}

/** True for a request about what this hall has begun. */
function isContinued(message: Message | undefined): boolean {
  const { requestState, taskId } = (message?.kind === "request" && message.params) || {};
  return requestState !== undefined || taskId !== undefined;
}

/** Requests without a connection share the rate limit of their caller and address. */
export function quotaOf({ socket }: IncomingMessage, principal: string): string {
  return `${principal}@${socket.remoteAddress}`;
}

/** By its header alone; Node joins repeated headers, and that is no known version. */
export function isModernRequest({ headers }: IncomingMessage): boolean {
  return isModernVersion(headers["mcp-protocol-version"]);
}

function isModern(request: IncomingMessage, message: Message): boolean {
  if (isModernRequest(request)) return true;
  return (
    (message.kind === "request" || message.kind === "notification") && hasEnvelope(message.params)
  );
}

function sessionIdOf({ headers }: IncomingMessage): string | undefined {
  const value = headers["mcp-session-id"];
  return Array.isArray(value) ? value[0] : value;
}

function refusalOf(error: unknown, id: Id): Refusal {
  if (!(error instanceof HallError)) throw error;
  const { code, message, details } = error;
  return { status: 400, code, message, id, details };
}
