import { WebSocket } from "ws";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";
import type { Channel, Receiver } from "../wire/channel.ts";
import { readEvents } from "../wire/sse-reader.ts";
import { createWebSocketChannel } from "../wire/websocket.ts";
import type { HttpOptions } from "./http.ts";

const connectMsMax = 5_000;

/** A WebSocket server: the messages of stdio, one a frame. */
export async function openWebSocket({ url, limits, headers }: HttpOptions, scope: Scope): Promise<Channel> {
  const socket = new WebSocket(url, ["mcp"], {
    headers: { ...(await headers()) },
    maxPayload: limits.messageBytesMax,
    handshakeTimeout: connectMsMax,
    followRedirects: false,
  });
  const opened = new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", (error) => reject(new HallError("UNAVAILABLE", `could not be reached: ${error.message}`, { cause: error })));
    socket.once("unexpected-response", (_request, response) => {
      const { statusCode = 0 } = response;
      reject(
        new HallError(statusCode === 401 || statusCode === 403 ? "DENIED" : "UNAVAILABLE", `HTTP ${statusCode} instead of a WebSocket`, {
          details: { status: statusCode },
        }),
      );
    });
  });
  scope.onCancel(() => socket.terminate());
  await scope.race(opened);
  return createWebSocketChannel(socket, { pingMs: connectMsMax });
}

/** The transport of 2024-11-05: one event stream in, a POST for each message out. Everything ends with the stream. */
export async function openSsePair(options: HttpOptions, scope: Scope): Promise<Channel> {
  const closing = new AbortController();
  const leave = scope.onCancel(() => closing.abort());
  const response = await fetch(options.url, {
    headers: { accept: "text/event-stream", ...(await options.headers()) },
    redirect: "error",
    signal: closing.signal,
  }).catch((cause: unknown) => {
    throw new HallError("UNAVAILABLE", `could not be reached: ${cause instanceof Error ? cause.message : cause}`, { cause });
  });
  if (!response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body?.cancel();
    throw new HallError(response.status === 401 || response.status === 403 ? "DENIED" : "BAD_ANSWER", `HTTP ${response.status} instead of an event stream`, {
      details: { status: response.status },
    });
  }
  const events = readEvents(response.body as unknown as AsyncIterable<Uint8Array>, options.limits.messageBytesMax);
  const endpoint = await scope.race(readEndpoint(events, options.url));
  leave();
  return createPairChannel(events, endpoint, options, closing);
}

async function readEndpoint(events: AsyncGenerator<{ event: string; data: string | undefined }>, from: URL): Promise<URL> {
  const { value } = await events.next();
  const data = value && value.event === "endpoint" ? value.data : undefined;
  if (data === undefined || !URL.canParse(data, from.href)) throw new HallError("BAD_ANSWER", "the event stream did not begin with its endpoint");
  const endpoint = new URL(data, from);
  if (endpoint.origin !== from.origin) throw new HallError("BAD_ANSWER", "the endpoint is on another server");
  return endpoint;
}

function createPairChannel(
  events: AsyncGenerator<{ event: string; data: string | undefined }>,
  endpoint: URL,
  { headers, limits }: HttpOptions,
  closing: AbortController,
): Channel {
  let receiver: Receiver | undefined;
  let isClosed = false;

  async function pump(): Promise<void> {
    try {
      for await (const { event, data } of events) if (event === "message" && data !== undefined) receiver?.frame(Buffer.from(data));
    } catch {
      // Cut or closed: the end says so.
    }
    end();
  }

  function end(): void {
    if (isClosed) return;
    isClosed = true;
    closing.abort();
    receiver?.ended();
    receiver?.closed();
  }

  async function post(frame: string): Promise<void> {
    if (Buffer.byteLength(frame) > limits.messageBytesMax) return;
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        body: frame,
        headers: { "content-type": "application/json", ...(await headers()) },
        redirect: "error",
        signal: closing.signal,
      });
      await response.body?.cancel();
      if (!response.ok) end();
    } catch {
      // What cannot be sent cannot be answered: the line is over.
      end();
    }
  }

  return {
    start(started) {
      receiver = started;
      void pump();
    },
    send: (frame) => void post(frame),
    queuedBytes: 0,
    pause: () => {},
    resume: () => {},
    close: async () => end(),
  };
}
