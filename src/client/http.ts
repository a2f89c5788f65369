import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { SlotMap } from "../base/slot-map.ts";
import { backoffMs } from "../base/timing.ts";
import type { DialInit, Dialled, Dialler } from "../net/dial.ts";
import {
  cutShort,
  explain,
  isEventStream,
  isRefused,
  readAll,
  refusal,
  whileAlive,
} from "../net/dial.ts";
import { readEvents } from "../net/event-stream.ts";
import type { Channel, Limits, Outgoing, Receiver } from "../wire/channel.ts";
import { type Id, isId } from "../wire/message.ts";
import { addStandardHeaders } from "./headers.ts";

export type Headers = Readonly<Record<string, string>>;

export interface HttpOptions {
  readonly url: URL;
  readonly dialler: Dialler;
  /** For transports that do not use the dialler. */
  readonly lookup?: LookupFunction | undefined;
  readonly limits: Limits;
  /** Headers of the config, and the access token if there is one. */
  headers(): Headers | Promise<Headers>;
  /** How long an event stream may be silent before it is given up. Default 300,000. */
  readonly silentMsMax?: number;
  /** The schema of a tool, for arguments that are mirrored in headers. */
  inputSchema(tool: string): JsonObject | undefined;
  /** Called when a token is refused: true if there is a better one now. Throws if a login is needed. */
  readonly authorize?:
    | ((response: Response, sent: string | undefined) => Promise<boolean>)
    | undefined;
}

const tokensMax = 3;
const redirectsMax = 3;
const reconnectMs = 1_000;
const reconnectMsMax = 30_000;
/** Some servers send a retry time of zero. */
const reconnectMsMin = 50;
const silentMsMax = 300_000;
/** How long a stream may stay open after its answer. */
const endMsMax = 5_000;
/** A stream that lasted this long does not count as a failure. */
const healthyMs = 5_000;
export const handshakeEnd = "notifications/initialized";

/** Position in an event stream: where and when to resume when it is lost. */
interface StreamState {
  last: string | undefined;
  retryMs: number;
}

/** A message on its way to the server. */
interface Post {
  readonly frame: string;
  readonly message: Outgoing;
  readonly scope: Scope;
}

interface HttpRequest {
  readonly method: string;
  readonly body?: string;
  readonly message?: Outgoing;
  readonly extra?: Headers;
}

/**
 * Our end of Streamable HTTP, for all protocol versions: each message is a POST, answered with JSON
 * or an event stream. A failure concerns one request; the connection ends only when it is closed or
 * has expired.
 */
export class HttpChannel implements Channel {
  readonly #options: HttpOptions;
  readonly #running = new SlotMap<Id, Scope>();
  /** Requests that are not answered: notifications, answers, the general event stream. */
  readonly #others = new Set<Scope>();
  readonly #answered = new Set<Id>();
  readonly #closing = new AbortController();
  readonly #gate = createGate();
  #receiver: Receiver | undefined;
  #sessionId: string | undefined;
  #legacyVersion: string | undefined;
  #closed: Promise<void> | undefined;
  readonly queuedBytes = 0;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(frame: string, message: Outgoing = { kind: "notification" }): void {
    const { method } = message;
    const params = isObject(message.params) ? message.params : {};
    if (method === "notifications/cancelled" && isId(params.requestId)) {
      // Closing the stream cancels a modern request; an older server expects the message as well.
      this.#running.get(params.requestId)?.cancel(aborted());
      if (this.#legacyVersion === undefined) return;
    }
    // A modern server accepts requests and notifications only.
    if (method === undefined && this.#legacyVersion === undefined) return;

    const posted = this.#post({ frame, message, scope: new Scope() });
    if (method === handshakeEnd) this.#gate.close(posted);
    if (isObject(params._meta) && "io.modelcontextprotocol/protocolVersion" in params._meta)
      this.#legacyVersion = undefined;
  }

  answered(id: Id): void {
    if (this.#running.has(id)) this.#answered.add(id);
  }

  pause(): void {}

  resume(): void {}

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #post(post: Post): Promise<void> {
    const { frame, message, scope } = post;
    const { id, method } = message;
    if (id === undefined) this.#others.add(scope);
    else this.#running.set(id, scope);

    try {
      const { passed } = this.#gate;
      if (passed && method !== handshakeEnd) await passed;
      const response = await this.#request({ method: "POST", body: frame, message }, scope);
      if (method === "initialize")
        this.#sessionId = response.headers.get("mcp-session-id") ?? undefined;
      await this.#take(response, post);
      if (id !== undefined)
        this.#receiver?.failed?.(
          id,
          () => new HallError("BAD_ANSWER", `HTTP ${response.status} without an answer`),
        );
    } catch (error) {
      if (id !== undefined) this.#receiver?.failed?.(id, () => explain(error));
    } finally {
      if (id === undefined) this.#others.delete(scope);
      else {
        this.#running.delete(id);
        this.#answered.delete(id);
      }
    }
    if (method === handshakeEnd) void this.#listen();
  }

  /** Sends one HTTP request; again with a better token, or to another place on the same origin. */
  async #request(init: HttpRequest, signal: DialInit["signal"]): Promise<Dialled> {
    const { method, body, message, extra } = init;
    let url = this.#options.url;
    let redirects = 0;
    for (let attempt = 0; ; attempt++) {
      const given = this.#options.headers();
      const own = given instanceof Promise ? await given : given;
      const headers = this.#headersFor(own, message);
      if (body !== undefined) headers["content-type"] = "application/json";
      const response = await this.#options.dialler.open(url, {
        method,
        headers: extra ? Object.assign(headers, extra) : headers,
        body,
        signal,
      });
      const mayRetry = isRefused(response) && attempt < tokensMax;
      if (mayRetry && (await this.#options.authorize?.(challengeOf(response), own.authorization))) {
        await response.body?.cancel();
        continue;
      }
      const target = redirectOf(response, url);
      if (!target || redirects++ >= redirectsMax) return response;
      await response.body?.cancel();
      url = target;
    }
  }

  #headersFor(own: Headers, message: Outgoing | undefined): Record<string, string> {
    const headers: Record<string, string> = { accept: "application/json, text/event-stream" };
    Object.assign(headers, own);
    if (this.#sessionId !== undefined) headers["mcp-session-id"] = this.#sessionId;
    if (this.#legacyVersion !== undefined) headers["mcp-protocol-version"] = this.#legacyVersion;
    if (message) addStandardHeaders(headers, message, this.#options.inputSchema);
    return headers;
  }

  /** Delivers what a response carries. Throws if it is not acceptable. */
  async #take(response: Dialled, post: Post): Promise<void> {
    const { id, method } = post.message;
    const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type === "text/event-stream" && response.ok) {
      await this.#stream(response, post);
      return;
    }
    if (type === "application/json" && response.status !== 202) {
      const bytes = await readAll(response, this.#options.limits.messageBytesMax);
      if (method === "initialize") this.#learnVersion(bytes.toString("utf8"));
      if (response.ok || (isAnswer(bytes) && !this.#hasExpired(response, bytes))) {
        this.#receiver?.frame(bytes);
        return;
      }
    } else await response.body?.cancel();
    if (response.ok && id === undefined) return;
    throw await refusal(response, this.#sessionId !== undefined);
  }

  /** 404 means that the session is gone, unless the body blames the method. */
  #hasExpired({ status }: Dialled, bytes: Buffer): boolean {
    return (
      status === 404 &&
      this.#sessionId !== undefined &&
      !/"code"\s*:\s*-32601\b/.test(bytes.toString("latin1"))
    );
  }

  /** Reads the event stream of a request; where the server allows it, a lost stream is resumed. */
  async #stream(first: Dialled, { message, scope }: Post): Promise<void> {
    const { id } = message;
    const state: StreamState = { last: undefined, retryMs: reconnectMs };
    const owner = progressTokenOf(message);
    const isDone = (): boolean => id !== undefined && this.#answered.has(id);
    const canResume = (): boolean => state.last !== undefined && this.#sessionId !== undefined;

    for (let response = first; ; ) {
      try {
        for await (const data of this.#readMessages(response, state, () =>
          scope.cancel(aborted()),
        )) {
          if (message.method === "initialize") this.#learnVersion(data);
          const wasDone = isDone();
          this.#receiver?.frame(Buffer.from(data), owner);
          // The answer ends the stream; do not wait for a server that leaves it open.
          if (!wasDone && isDone()) setTimeout(() => scope.cancel(aborted()), endMsMax).unref();
        }
      } catch (error) {
        if (isDone()) return;
        if (error instanceof HallError) throw error;
        if (scope.cancelReason || !canResume()) throw cutShort(error);
      }
      if (isDone() || id === undefined || !canResume()) return;
      await sleep(Math.max(reconnectMsMin, state.retryMs), undefined, { signal: scope.signal });
      response = await this.#resume(state, scope);
    }
  }

  async #resume(state: StreamState, scope: Scope): Promise<Dialled> {
    const extra = { accept: "text/event-stream", "last-event-id": state.last ?? "" };
    const response = await this.#request({ method: "GET", extra }, scope);
    if (isEventStream(response)) return response;
    await response.body?.cancel();
    // Any status becomes BAD_ANSWER, because the call has begun: UNAVAILABLE would allow a retry.
    throw new HallError(
      "BAD_ANSWER",
      `the answer was lost: HTTP ${response.status} when resuming its stream`,
    );
  }

  /** The stream for messages that belong to no request; not every server has one. */
  async #listen(): Promise<void> {
    const state: StreamState = { last: undefined, retryMs: reconnectMs };
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const isSupported = await this.#listenOnce(state);
      if (!isSupported) return;
      failures = performance.now() - startedAt > healthyMs ? 0 : failures + 1;
      // The server's `retry` is the least it asks us to wait.
      const firstMs = Math.max(reconnectMsMin, state.retryMs);
      const waitMs = firstMs + backoffMs(failures - 1, { firstMs, maxMs: reconnectMsMax });
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** False if the server has no such stream. */
  async #listenOnce(state: StreamState): Promise<boolean> {
    const scope = new Scope();
    this.#others.add(scope);
    try {
      const extra = {
        accept: "text/event-stream",
        ...(state.last === undefined ? {} : { "last-event-id": state.last }),
      };
      const response = await this.#request({ method: "GET", extra }, scope);
      if (!isEventStream(response)) {
        await response.body?.cancel();
        return response.status >= 500 || response.status === 429;
      }
      for await (const data of this.#readMessages(response, state, () => scope.cancel(aborted())))
        this.#receiver?.frame(Buffer.from(data));
    } catch {
      // Lost or closed: it is reopened later, or the loop ends.
    } finally {
      this.#others.delete(scope);
    }
    return true;
  }

  /** The messages of an event stream. A stream without even comments is given up as half open. */
  async *#readMessages(
    response: Dialled,
    state: StreamState,
    cut: () => void,
  ): AsyncGenerator<string> {
    const { limits, silentMsMax: silentMs = silentMsMax } = this.#options;
    const body = whileAlive(response, silentMs, cut);
    for await (const { event, id, data, retryMs } of readEvents(body, limits.messageBytesMax)) {
      state.last = id ?? state.last;
      state.retryMs = retryMs ?? state.retryMs;
      if (event === "message" && data) yield data;
    }
  }

  #learnVersion(text: string): void {
    try {
      const { result } = JSON.parse(text) as { result?: unknown };
      if (isObject(result) && typeof result.protocolVersion === "string")
        this.#legacyVersion = result.protocolVersion;
    } catch {
      // Not JSON: the peer reports it to the caller.
    }
  }

  async #end(): Promise<void> {
    if (this.#sessionId !== undefined) {
      // A courtesy: a server that does not answer forgets the session by itself.
      await this.#request({ method: "DELETE" }, AbortSignal.timeout(2_000)).then(
        (response) => response.body?.cancel(),
        () => {},
      );
    }
    this.#closing.abort();
    for (const scope of [...this.#running.values(), ...this.#others]) scope.cancel(aborted());
    this.#options.dialler.close();
    this.#receiver?.closed();
  }
}

/** For a request that is given up; its caller knows better reasons. */
function aborted(): HallError {
  return explain(new Error("the request was aborted"));
}

/** Messages on a request's stream belong to the call with this progress token. */
function progressTokenOf({ params }: Outgoing): number | undefined {
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {};
  return typeof meta.progressToken === "number" ? meta.progressToken : undefined;
}

/** An error status whose body is a JSON-RPC answer: the body says more than the status. */
function isAnswer(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return (
      isObject(value) &&
      value.jsonrpc === "2.0" &&
      isId(value.id) &&
      ("error" in value || "result" in value)
    );
  } catch {
    // Not JSON: the status is all there is.
    return false;
  }
}

function challengeOf({ status, headers }: Dialled): Response {
  const challenge = headers.get("www-authenticate");
  return new Response(null, {
    status,
    headers: challenge === null ? {} : { "www-authenticate": challenge },
  });
}

/** Only within the same origin and with the body kept: elsewhere the token would leak. */
function redirectOf(response: Dialled, from: URL): URL | undefined {
  const location = response.headers.get("location");
  if (
    (response.status !== 307 && response.status !== 308) ||
    location === null ||
    !URL.canParse(location, from.href)
  )
    return undefined;
  const target = new URL(location, from);
  return target.origin === from.origin ? target : undefined;
}

/** Requests must not overtake the end of the handshake, since each has a socket of its own. */
export function createGate(): {
  /** Undefined while nothing has to be waited for. */
  readonly passed: Promise<unknown> | undefined;
  close(until: Promise<unknown>): void;
} {
  let passed: Promise<unknown> | undefined;
  return {
    get passed() {
      return passed;
    },
    close(until) {
      passed = Promise.race([until, sleep(gateMsMax, undefined, { ref: false })]).then(() => {
        passed = undefined;
      });
    },
  };
}

const gateMsMax = 1_000;
