import { setMaxListeners } from "node:events";
import { WebSocket } from "ws";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import { explain, isRefused, refusal, whileAlive } from "../net/dial.ts";
import { readEvents } from "../net/event-stream.ts";
import { connectMsMax } from "../net/socket-pool.ts";
import type { Channel, Outgoing, Receiver } from "../wire/channel.ts";
import { createWebSocketChannel } from "../wire/websocket.ts";
import { createGate, type HttpOptions, handshakeEnd } from "./http.ts";

const pingMs = 5_000;
/**
 * The error of ws for a server that does not name our subprotocol. We then connect again without a subprotocol.
 */
const withoutProtocol = "Server sent no subprotocol";
const silentMsMax = 300_000;
/** Longer messages are read up to this many times the limit, so that only their request fails. */
const oversizeFactor = 6;

/** A WebSocket server: the messages of stdio, one a frame. */
export async function openWebSocket(options: HttpOptions, scope: Scope): Promise<Channel> {
  const opened = await withToken(options, (headers) =>
    connect(options, headers, { scope, protocols: ["mcp"] }).catch((error: unknown) => {
      if (!(error instanceof HallError && error.message.endsWith(withoutProtocol))) throw error;
      return connect(options, headers, { scope, protocols: [] });
    }),
  );
  if (opened instanceof WebSocket) return createWebSocketChannel(opened, { pingMs });
  throw new HallError(
    isRefused(opened) ? "DENIED" : "UNAVAILABLE",
    `HTTP ${opened.status} instead of a WebSocket`,
    { details: { status: opened.status } },
  );
}

/** The open socket, or the HTTP response with which the server refused to upgrade. */
async function connect(
  { url, limits, lookup }: HttpOptions,
  headers: Readonly<Record<string, string>>,
  { scope, protocols }: { readonly scope: Scope; readonly protocols: readonly string[] },
): Promise<WebSocket | Response> {
  const socket = new WebSocket(url, [...protocols], {
    headers: { ...headers },
    ...(lookup ? { lookup } : {}),
    maxPayload: oversizeFactor * limits.messageBytesMax,
    handshakeTimeout: connectMsMax,
    followRedirects: false,
  });
  const opened = new Promise<WebSocket | Response>((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    // Also emitted when a connection attempt is given up.
    socket.on("error", (error) => reject(explain(error)));
    socket.once("unexpected-response", (_request, { statusCode = 0, headers: answer }) => {
      const challenge = answer["www-authenticate"];
      resolve(
        new Response(null, {
          status: Math.max(200, statusCode),
          headers: challenge === undefined ? {} : { "www-authenticate": challenge },
        }),
      );
      socket.terminate();
    });
  });
  const leave = scope.onCancel(() => socket.terminate());
  return scope.race(opened).finally(leave);
}

/** The transport of 2024-11-05: one event stream in, a POST for each message out. Everything ends with the stream. */
export async function openSsePair(options: HttpOptions, scope: Scope): Promise<Channel> {
  const closing = new AbortController();
  // Every POST of this connection adds a listener.
  setMaxListeners(0, closing.signal);
  const leave = scope.onCancel(() => closing.abort());
  const response = await withToken(options, (headers) =>
    options.dialler.send(options.url, {
      headers: { accept: "text/event-stream", ...headers },
      signal: closing.signal,
    }),
  ).catch((cause: unknown) => {
    throw explain(cause);
  });
  if (!response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body?.cancel();
    throw new HallError(
      isRefused(response) ? "DENIED" : "BAD_ANSWER",
      `HTTP ${response.status} instead of an event stream`,
      {
        details: { status: response.status },
      },
    );
  }
  const body = whileAlive(response, options.silentMsMax ?? silentMsMax, () => closing.abort());
  const events = readEvents(body, oversizeFactor * options.limits.messageBytesMax);
  const endpoint = await scope.race(readEndpoint(events, options.url));
  leave();
  return createPairChannel(events, endpoint, options, closing);
}

async function readEndpoint(
  events: AsyncGenerator<{ event: string; data: string | undefined }>,
  from: URL,
): Promise<URL> {
  let { value } = await events.next();
  // Skip events that only set the retry time.
  while (value && value.data === undefined) ({ value } = await events.next());
  const data = value?.event === "endpoint" ? value.data : undefined;
  if (data === undefined || !URL.canParse(data, from.href))
    throw new HallError("BAD_ANSWER", "the event stream did not begin with its endpoint");
  const endpoint = new URL(data, from);
  if (endpoint.origin !== from.origin)
    throw new HallError("BAD_ANSWER", "the endpoint is on another server");
  return endpoint;
}

function createPairChannel(
  events: AsyncGenerator<{ event: string; data: string | undefined }>,
  endpoint: URL,
  options: HttpOptions,
  closing: AbortController,
): Channel {
  const gate = createGate();
  let receiver: Receiver | undefined;
  let isClosed = false;

  async function pump(): Promise<void> {
    try {
      for await (const { event, data } of events)
        if (event === "message" && data !== undefined) receiver?.frame(Buffer.from(data));
    } catch {
      // The stream broke or was closed; `end` reports it.
    }
    end();
  }

  function end(): void {
    if (isClosed) return;
    isClosed = true;
    closing.abort();
    options.dialler.close();
    receiver?.ended();
    receiver?.closed();
  }

  async function post(frame: string, { id: request, method }: Outgoing): Promise<void> {
    try {
      if (method !== handshakeEnd) await gate.passed;
      const response = await withToken(options, (headers) =>
        options.dialler.send(endpoint, {
          method: "POST",
          body: frame,
          headers: { "content-type": "application/json", ...headers },
          signal: closing.signal,
        }),
      );
      await response.body?.cancel();
      if (response.ok) return;
      const reason = await refusal(response, true);
      if (request !== undefined) receiver?.failed?.(request, () => reason);
      // A refused notification has no caller, but 404 means that the endpoint is gone.
      else if (response.status === 404) end();
    } catch (error) {
      if (request !== undefined) receiver?.failed?.(request, () => explain(error));
    }
  }

  return {
    start(started) {
      receiver = started;
      void pump();
    },
    send(frame, message = { kind: "notification" }) {
      const posted = post(frame, message);
      if (message.method === handshakeEnd) gate.close(posted);
    },
    queuedBytes: 0,
    pause: () => {},
    resume: () => {},
    close: async () => end(),
  };
}

/** Sends with the token there is, and once more with a better one. */
async function withToken<T>(
  options: HttpOptions,
  send: (headers: Readonly<Record<string, string>>) => Promise<T | Response>,
): Promise<T | Response> {
  const headers = await options.headers();
  const answer = await send(headers);
  if (!(answer instanceof Response) || !isRefused(answer)) return answer;
  const isBetter = await options.authorize?.(answer, headers.authorization);
  return isBetter ? send(await options.headers()) : answer;
}
