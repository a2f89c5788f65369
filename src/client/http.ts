import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../base/backoff.ts";
import { HallError } from "../base/errors.ts";
import { FleetingMap } from "../base/fleeting-map.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import {
  cutShort,
  explain,
  isEventStream,
  isRefused,
  readAll,
  refusal,
  whileAlive,
} from "../net/answer.ts";
import type { Dialled, Dialler } from "../net/dial.ts";
import { readEvents } from "../net/event-reader.ts";
import type { Channel, Receiver } from "../wire/channel.ts";
import type { Limits } from "../wire/limits.ts";
import { type Id, isId } from "../wire/message.ts";
import { answersTo, isAnswer, withOwner } from "./answer-body.ts";
import { standardHeaders } from "./headers.ts";

/**
 * Our end of Streamable HTTP, both eras: each frame is a POST, answered with JSON or with an event stream. What belongs
 * to one request fails alone; the connection ends only when it is closed or has expired.
 */
export interface HttpOptions {
  readonly url: URL;
  readonly dialler: Dialler;
  /** For what does not use the dialler. */
  readonly lookup?: LookupFunction | undefined;
  readonly limits: Limits;
  /** Headers of the config, and the access token where there is one. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** How long an event stream may be silent before it is given up. Default 300,000. */
  readonly silentMsMax?: number;
  /** The schema of a tool, for arguments that are mirrored in headers. */
  inputSchema(tool: string): JsonObject | undefined;
  /** A refusal of the token that was sent: true when there is a better one now. Throws when a person must log in. */
  authorize?(response: Response, sent: string | undefined): Promise<boolean>;
}

const tokensMax = 3;
const redirectsMax = 3;
const reconnectMs = 1_000;
const reconnectMsMax = 30_000;
/** Some servers name a time to come back that is no time at all. */
const reconnectMsMin = 50;

const silentMsMax = 300_000;
/** How long a stream may stay open after its answer. */
const endMsMax = 5_000;
/** A stream that lasted this long was a good one. */
const healthyMs = 5_000;
export const handshakeEnd = "notifications/initialized";

/** Where a stream is: what to ask for when it is lost, and when. */
interface StreamState {
  last: string | undefined;
  retryMs: number;
}

export function createHttpChannel(options: HttpOptions): Channel {
  const { dialler, limits } = options;
  const running = new FleetingMap<Id, AbortController>();
  /** What is no request of ours: notifications, answers, the stream that only listens. */
  const others = new Set<AbortController>();
  const closing = new AbortController();
  const gate = createGate();
  let receiver: Receiver | undefined;
  let sessionId: string | undefined;
  let legacyVersion: string | undefined;
  let closed: Promise<void> | undefined;

  async function headersFor(message: JsonObject | undefined): Promise<Record<string, string>> {
    return {
      accept: "application/json, text/event-stream",
      ...(await options.headers()),
      ...(sessionId === undefined ? {} : { "mcp-session-id": sessionId }),
      ...(legacyVersion === undefined ? {} : { "mcp-protocol-version": legacyVersion }),
      ...(message ? standardHeaders(message, options.inputSchema) : {}),
    };
  }

  /** Sends one HTTP request, with a new token or to another place where the server says so. */
  async function request(
    init: {
      readonly method: string;
      readonly body?: string;
      readonly message?: JsonObject;
      readonly extra?: Record<string, string>;
    },
    signal: AbortSignal,
  ): Promise<Dialled> {
    let url = options.url;
    let redirects = 0;
    for (let attempt = 0; ; attempt++) {
      const headers = await headersFor(init.message);
      const response = await dialler.open(url, {
        method: init.method,
        headers: {
          ...headers,
          ...(init.body === undefined ? {} : { "content-type": "application/json" }),
          ...init.extra,
        },
        ...(init.body === undefined ? {} : { body: init.body }),
        signal,
      });
      if (
        isRefused(response) &&
        attempt < tokensMax &&
        (await options.authorize?.(challengeOf(response), headers.authorization))
      ) {
        await response.body?.cancel();
        continue;
      }
      const target = redirectOf(response, url);
      if (!target || redirects++ >= redirectsMax) return response;
      await response.body?.cancel();
      url = target;
    }
  }

  async function post(frame: string, message: JsonObject): Promise<void> {
    const id = isId(message.id) && typeof message.method === "string" ? message.id : undefined;
    const controller = new AbortController();
    if (id === undefined) others.add(controller);
    else running.set(id, controller);
    try {
      if (message.method !== handshakeEnd) await gate.passed;
      const response = await request({ method: "POST", body: frame, message }, controller.signal);
      if (message.method === "initialize")
        sessionId = response.headers.get("mcp-session-id") ?? undefined;
      await take(response, message, id, controller);
      if (id !== undefined)
        receiver?.failed?.(
          id,
          () => new HallError("BAD_ANSWER", `HTTP ${response.status} without an answer`),
        );
    } catch (error) {
      if (id !== undefined) receiver?.failed?.(id, () => explain(error));
    } finally {
      if (id === undefined) others.delete(controller);
      else running.delete(id);
    }
    if (message.method === handshakeEnd) void listen();
  }

  /** Hands on what a response carries. Throws what is wrong with it. */
  async function take(
    response: Dialled,
    message: JsonObject,
    id: Id | undefined,
    controller: AbortController,
  ): Promise<void> {
    const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type === "text/event-stream" && response.ok) {
      await stream(response, message, id, controller);
      return;
    }
    if (type === "application/json" && response.status !== 202) {
      const bytes = await readAll(response, limits.messageBytesMax);
      if (message.method === "initialize") learnVersion(bytes.toString("utf8"));
      if (response.ok || (isAnswer(bytes) && !hasExpired(response, bytes))) {
        receiver?.frame(bytes);
        return;
      }
    } else await response.body?.cancel();
    if (response.ok && id === undefined) return;
    throw await refusal(response, sessionId !== undefined);
  }

  /** 404 means that the connection is gone, unless it says that it is the method. */
  function hasExpired({ status }: Dialled, bytes: Buffer): boolean {
    return (
      status === 404 &&
      sessionId !== undefined &&
      !/"code"\s*:\s*-32601\b/.test(bytes.toString("latin1"))
    );
  }

  /** Reads an event stream; a legacy one that is cut is taken up again where it ended. */
  async function stream(
    first: Dialled,
    message: JsonObject,
    id: Id | undefined,
    controller: AbortController,
  ): Promise<void> {
    const { signal } = controller;
    const state: StreamState = { last: undefined, retryMs: reconnectMs };
    const owner =
      isObject(message.params) && isObject(message.params._meta)
        ? message.params._meta.progressToken
        : undefined;
    let response = first;
    let isAnswered = false;
    for (;;) {
      try {
        for await (const data of readMessages(response, state, () => controller.abort())) {
          if (message.method === "initialize") learnVersion(data);
          receiver?.frame(Buffer.from(withOwner(data, owner)));
          if (id === undefined || isAnswered || !answersTo(data, id)) continue;
          isAnswered = true;
          // The answer ends the stream; a server that forgets to is not waited for.
          setTimeout(() => controller.abort(), endMsMax).unref();
        }
      } catch (error) {
        if (isAnswered) return;
        const isOver =
          signal.aborted ||
          error instanceof HallError ||
          state.last === undefined ||
          sessionId === undefined;
        if (isOver) throw error instanceof HallError ? error : cutShort(error);
      }
      if (isAnswered || id === undefined || state.last === undefined || sessionId === undefined)
        return;
      await sleep(Math.max(reconnectMsMin, state.retryMs), undefined, { signal });
      response = await request(
        { method: "GET", extra: { accept: "text/event-stream", "last-event-id": state.last } },
        signal,
      );
      if (!isEventStream(response)) {
        await response.body?.cancel();
        // Whatever the status: the call has begun, so it must not look as if it had not.
        throw new HallError(
          "BAD_ANSWER",
          `the answer was lost: HTTP ${response.status} when asked for the rest of it`,
        );
      }
    }
  }

  /** The stream for what belongs to no request; servers may not have one. */
  async function listen(): Promise<void> {
    const state: StreamState = { last: undefined, retryMs: reconnectMs };
    let failures = 0;
    while (!closing.signal.aborted) {
      const startedAt = performance.now();
      const controller = new AbortController();
      others.add(controller);
      try {
        const extra = {
          accept: "text/event-stream",
          ...(state.last === undefined ? {} : { "last-event-id": state.last }),
        };
        const response = await request({ method: "GET", extra }, controller.signal);
        if (isEventStream(response))
          for await (const data of readMessages(response, state, () => controller.abort()))
            receiver?.frame(Buffer.from(data));
        else {
          await response.body?.cancel();
          if (response.status < 500 && response.status !== 429) return;
        }
      } catch {
        // Lost or closed: it is opened again a little later, or the loop ends.
      } finally {
        others.delete(controller);
      }
      failures = performance.now() - startedAt > healthyMs ? 0 : failures + 1;
      // The server's `retry` is the least it asks us to wait.
      const firstMs = Math.max(reconnectMsMin, state.retryMs);
      const waitMs = firstMs + backoffMs(failures - 1, { firstMs, maxMs: reconnectMsMax });
      await sleep(waitMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }

  /** The messages of an event stream. One on which not even comments arrive is given up: half of it may be gone. */
  async function* readMessages(
    response: Dialled,
    state: StreamState,
    cut: () => void,
  ): AsyncGenerator<string> {
    for await (const event of readEvents(
      whileAlive(response, options.silentMsMax ?? silentMsMax, cut),
      limits.messageBytesMax,
    )) {
      state.last = event.id ?? state.last;
      state.retryMs = event.retryMs ?? state.retryMs;
      if (event.event === "message" && event.data !== undefined && event.data !== "")
        yield event.data;
    }
  }

  function learnVersion(text: string): void {
    try {
      const { result } = JSON.parse(text) as { result?: unknown };
      if (isObject(result) && typeof result.protocolVersion === "string")
        legacyVersion = result.protocolVersion;
    } catch {
      // Not JSON: whoever waits for the answer hears of it.
    }
  }

  async function end(): Promise<void> {
    if (sessionId !== undefined) {
      // Politeness: a server that does not answer forgets the connection by itself.
      await request({ method: "DELETE" }, AbortSignal.timeout(2_000)).then(
        (response) => response.body?.cancel(),
        () => {},
      );
    }
    closing.abort();
    for (const controller of [...running.values(), ...others]) controller.abort();
    dialler.close();
    receiver?.closed();
  }

  return {
    start(started) {
      receiver = started;
    },
    send(frame) {
      const message = JSON.parse(frame) as JsonObject;
      const isModern =
        isObject(message.params) &&
        isObject(message.params._meta) &&
        "io.modelcontextprotocol/protocolVersion" in message.params._meta;
      if (
        message.method === "notifications/cancelled" &&
        isObject(message.params) &&
        isId(message.params.requestId)
      ) {
        // Closing the stream withdraws a modern request; a legacy server wants to be told as well.
        running.get(message.params.requestId)?.abort();
        if (legacyVersion === undefined) return;
      }
      // A modern server takes requests and notifications only.
      if (message.method === undefined && legacyVersion === undefined) return;
      const posted = post(frame, message);
      if (message.method === handshakeEnd) gate.close(posted);
      if (isModern) legacyVersion = undefined;
    },
    queuedBytes: 0,
    pause: () => {},
    resume: () => {},
    close() {
      closed ??= end();
      return closed;
    },
  };
}

/** What a refusal says of the token it wants. */
function challengeOf({ status, headers }: Dialled): Response {
  const challenge = headers.get("www-authenticate");
  return new Response(null, {
    status,
    headers: challenge === null ? {} : { "www-authenticate": challenge },
  });
}

/** Within the same origin and with the body kept; anything else could carry the token elsewhere. */
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

/** Requests must not overtake the end of the handshake, each on its own socket as they are. */
export function createGate(): {
  readonly passed: Promise<unknown>;
  close(until: Promise<unknown>): void;
} {
  let passed: Promise<unknown> = Promise.resolve();
  return {
    get passed() {
      return passed;
    },
    close(until) {
      passed = Promise.race([until, sleep(gateMsMax, undefined, { ref: false })]);
    },
  };
}

const gateMsMax = 1_000;
