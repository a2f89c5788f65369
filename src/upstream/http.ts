import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Channel, Receiver } from "../wire/channel.ts";
import type { Limits } from "../wire/limits.ts";
import { type Id, isId } from "../wire/message.ts";
import { readEvents } from "../wire/sse-reader.ts";
import { standardHeaders } from "./headers.ts";

/**
 * Our end of Streamable HTTP, both eras: each frame is a POST, answered with JSON or with an event stream. What belongs
 * to one request fails alone; the connection ends only when it is closed or has expired.
 */
export interface HttpOptions {
  readonly url: URL;
  readonly limits: Limits;
  /** Headers of the config, and the access token where there is one. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** The schema of a tool, for arguments that are mirrored in headers. */
  inputSchema(tool: string): JsonObject | undefined;
  /** A refusal for want of a token: true when there is a better one now. Throws when a person must log in. */
  authorize?(response: Response): Promise<boolean>;
}

const retriesMax = 3;
const retryAfterMsMax = 30_000;
const redirectsMax = 3;
const reconnectMs = 1_000;

export function createHttpChannel(options: HttpOptions): Channel {
  const { limits } = options;
  const running = new Map<Id, AbortController>();
  const closing = new AbortController();
  let receiver: Receiver | undefined;
  let sessionId: string | undefined;
  let legacyVersion: string | undefined;

  async function headersFor(message: JsonObject | undefined): Promise<Record<string, string>> {
    return {
      accept: "application/json, text/event-stream",
      ...(await options.headers()),
      ...(sessionId === undefined ? {} : { "mcp-session-id": sessionId }),
      ...(legacyVersion === undefined ? {} : { "mcp-protocol-version": legacyVersion }),
      ...(message ? standardHeaders(message, options.inputSchema) : {}),
    };
  }

  /** Sends one HTTP request, with a new token, later, or to another place where the server says so. */
  async function request(
    init: { readonly method: string; readonly body?: string; readonly message?: JsonObject; readonly extra?: Record<string, string> },
    signal: AbortSignal,
  ): Promise<Response> {
    let url = options.url;
    let redirects = 0;
    for (let attempt = 0; ; attempt++) {
      const response = await fetch(url, {
        method: init.method,
        headers: { ...(await headersFor(init.message)), ...(init.body === undefined ? {} : { "content-type": "application/json" }), ...init.extra },
        ...(init.body === undefined ? {} : { body: init.body }),
        redirect: "manual",
        signal,
      });
      const isRefused = response.status === 401 || response.status === 403;
      if (isRefused && options.authorize && attempt < retriesMax && (await options.authorize(response))) continue;
      const target = redirectOf(response, url);
      if (target && redirects++ < redirectsMax) {
        url = target;
        continue;
      }
      const waitMs = retryAfterMs(response);
      if (waitMs === undefined || waitMs > retryAfterMsMax || attempt >= retriesMax) return response;
      await response.body?.cancel();
      await sleep(waitMs, undefined, { signal });
    }
  }

  async function post(frame: string, message: JsonObject): Promise<void> {
    const id = isId(message.id) && typeof message.method === "string" ? message.id : undefined;
    const controller = new AbortController();
    if (id !== undefined) running.set(id, controller);
    try {
      const response = await request({ method: "POST", body: frame, message }, AbortSignal.any([controller.signal, closing.signal]));
      if (message.method === "initialize") sessionId = response.headers.get("mcp-session-id") ?? undefined;
      await take(response, id, message.method === "initialize", controller.signal);
      if (id !== undefined) receiver?.failed?.(id, new HallError("BAD_ANSWER", `HTTP ${response.status} without an answer`));
    } catch (error) {
      if (id !== undefined) receiver?.failed?.(id, explain(error));
    } finally {
      if (id !== undefined) running.delete(id);
    }
    if (message.method === "notifications/initialized") void listen();
  }

  /** Hands on what a response carries. Throws what is wrong with it. */
  async function take(response: Response, id: Id | undefined, isInitialize: boolean, signal: AbortSignal): Promise<void> {
    const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type === "text/event-stream" && response.ok) {
      await stream(response, id, isInitialize, signal);
      return;
    }
    if (type === "application/json" && response.status !== 202) {
      const bytes = await readAll(response, limits.messageBytesMax);
      if (isInitialize) learnVersion(bytes.toString("utf8"));
      if (response.ok || isAnswer(bytes)) {
        receiver?.frame(bytes);
        return;
      }
    } else await response.body?.cancel();
    if (response.ok && id === undefined) return;
    throw await refusal(response, sessionId !== undefined);
  }

  /** Reads an event stream; a legacy one that is cut is taken up again where it ended. */
  async function stream(first: Response, id: Id | undefined, isInitialize: boolean, signal: AbortSignal): Promise<void> {
    let response = first;
    let last: string | undefined;
    let retryMs = reconnectMs;
    for (;;) {
      let isAnswered = false;
      try {
        for await (const event of readEvents(response.body as unknown as AsyncIterable<Uint8Array>, limits.messageBytesMax)) {
          last = event.id ?? last;
          retryMs = event.retryMs ?? retryMs;
          if (event.event !== "message" || event.data === undefined || event.data === "") continue;
          if (isInitialize) learnVersion(event.data);
          isAnswered ||= id !== undefined && answersTo(event.data, id);
          receiver?.frame(Buffer.from(event.data));
        }
      } catch (error) {
        if (signal.aborted || closing.signal.aborted || error instanceof HallError || last === undefined) throw error;
      }
      if (isAnswered || id === undefined || last === undefined || sessionId === undefined) return;
      await sleep(retryMs, undefined, { signal: AbortSignal.any([signal, closing.signal]) });
      response = await request({ method: "GET", extra: { accept: "text/event-stream", "last-event-id": last } }, AbortSignal.any([signal, closing.signal]));
      if (!response.ok) throw await refusal(response, true);
    }
  }

  /** The stream for what belongs to no request; servers may not have one. */
  async function listen(): Promise<void> {
    let last: string | undefined;
    let retryMs = reconnectMs;
    while (!closing.signal.aborted) {
      try {
        const response = await request(
          { method: "GET", extra: { accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) } },
          closing.signal,
        );
        if (!response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
          await response.body?.cancel();
          return;
        }
        for await (const event of readEvents(response.body as unknown as AsyncIterable<Uint8Array>, limits.messageBytesMax)) {
          last = event.id ?? last;
          retryMs = event.retryMs ?? retryMs;
          if (event.data !== undefined && event.data !== "") receiver?.frame(Buffer.from(event.data));
        }
        await sleep(retryMs, undefined, { signal: closing.signal });
      } catch {
        // Lost or closed: it is opened again a little later, or the loop ends.
        retryMs = Math.min(retryMs * 2, 30_000);
        await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  function learnVersion(text: string): void {
    try {
      const { result } = JSON.parse(text) as { result?: unknown };
      if (isObject(result) && typeof result.protocolVersion === "string") legacyVersion = result.protocolVersion;
    } catch {
      // Not JSON: whoever waits for the answer hears of it.
    }
  }

  return {
    start(started) {
      receiver = started;
    },
    send(frame) {
      const message = JSON.parse(frame) as JsonObject;
      const isModern = isObject(message.params) && isObject(message.params._meta) && "io.modelcontextprotocol/protocolVersion" in message.params._meta;
      if (message.method === "notifications/cancelled" && isObject(message.params) && isId(message.params.requestId)) {
        // Closing the stream withdraws a modern request; a legacy server wants to be told as well.
        running.get(message.params.requestId)?.abort();
        if (legacyVersion === undefined) return;
      }
      void post(frame, message);
      if (isModern) legacyVersion = undefined;
    },
    queuedBytes: 0,
    pause: () => {},
    resume: () => {},
    async close() {
      if (closing.signal.aborted) return;
      if (sessionId !== undefined) {
        // Politeness: a server that does not answer forgets the connection by itself.
        await request({ method: "DELETE" }, AbortSignal.timeout(2_000)).then(
          (response) => response.body?.cancel(),
          () => {},
        );
      }
      closing.abort();
      for (const controller of running.values()) controller.abort();
      receiver?.closed();
    },
  };
}

/** Within the same origin and with the body kept; anything else could carry the token elsewhere. */
function redirectOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get("location");
  if ((response.status !== 307 && response.status !== 308) || location === null || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return target.origin === from.origin ? target : undefined;
}

function retryAfterMs(response: Response): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const header = response.headers.get("retry-after");
  if (header === null) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** What an HTTP refusal means for the request it answers. */
async function refusal(response: Response, hasSession: boolean): Promise<HallError> {
  const { status } = response;
  await response.body?.cancel().catch(() => {});
  if (status === 404 && hasSession) return new HallError("UNAVAILABLE", "the connection has expired", { details: { expired: true } });
  if (status === 401 || status === 403) return new HallError("DENIED", `HTTP ${status}: the server wants another token`, { details: { status } });
  if (status >= 300 && status < 400) return new HallError("BAD_ANSWER", `HTTP ${status}: redirects to another place are not followed`);
  if (status === 429)
    return new HallError("RATE_LIMITED", "HTTP 429: the server wants fewer calls", { details: { retryAfterSeconds: (retryAfterMs(response) ?? 0) / 1000 } });
  if (status >= 500) return new HallError("UNAVAILABLE", `HTTP ${status}`, { details: { status } });
  if (status >= 400) return new HallError("EXECUTION", `HTTP ${status}`, { details: { status } });
  return new HallError("BAD_ANSWER", `HTTP ${status} with ${response.headers.get("content-type") ?? "no content type"}`);
}

function explain(error: unknown): HallError {
  if (error instanceof HallError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new HallError("UNAVAILABLE", `could not be reached: ${cause instanceof Error ? cause.message : String(cause)}`, { cause: error });
}

async function readAll(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new HallError("TOO_LARGE", `the answer is over ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An error status whose body is a JSON-RPC answer says what is wrong better than the status does. */
function isAnswer(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) && value.jsonrpc === "2.0" && isId(value.id) && ("error" in value || "result" in value);
  } catch {
    // Not JSON: then the status is all there is.
    return false;
  }
}

function answersTo(data: string, id: Id): boolean {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) && value.id === id && value.method === undefined;
  } catch {
    // Not a message; the peer counts it.
    return false;
  }
}
