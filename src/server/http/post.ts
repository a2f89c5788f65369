import type { IncomingMessage, ServerResponse } from "node:http";
import { EventStream, type EventStreamOptions } from "../../net/event-writer.ts";
import type { Channel, Receiver } from "../../wire/channel.ts";

/**
 * The channel of one modern request: a line of its own, so that nothing of one caller can reach another.
 * It answers with plain JSON, and becomes an event stream when something has to be said before the answer or the
 * answer takes long. When the client closes it, the request is withdrawn.
 */
export function createPostChannel(
  request: IncomingMessage,
  response: ServerResponse,
  options: EventStreamOptions,
): Channel {
  const takesEvents = accepts(request, "text/event-stream");
  let receiver: Receiver | undefined;
  let stream: EventStream | undefined;
  const slow = takesEvents ? setTimeout(() => open(), options.keepAliveMs) : undefined;

  function open(): EventStream {
    stream ??= new EventStream(response, options);
    return stream;
  }

  function answer(frame: string, kind: "result" | number): void {
    clearTimeout(slow);
    if (stream) {
      stream.send({ data: frame });
      stream.end();
    } else sendJson(response, kind === "result" ? 200 : statusOf(kind), frame);
  }

  return {
    start(started) {
      receiver = started;
      response.on("close", () => {
        clearTimeout(slow);
        receiver?.closed();
      });
    },
    send(frame, { kind } = { kind: "result" }) {
      if (response.destroyed || response.writableEnded) return;
      if (kind === "notification" || kind === "request") {
        if (takesEvents) open().send({ data: frame }, kind === "notification");
      } else answer(frame, kind);
    },
    // The stream has limits of its own, and a request that is being answered reads nothing more.
    queuedBytes: 0,
    pause: () => {},
    resume: () => {},
    async close() {
      clearTimeout(slow);
      if (!response.writableEnded) response.end();
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** The HTTP status that goes with an error: the protocol fixes it for these; a failure inside a handler is a 200. */
function statusOf(code: number): number {
  switch (code) {
    case -32601:
      return 404;
    case -32700:
    case -32600:
    case -32020:
    case -32021:
    case -32022:
      return 400;
    default:
      return 200;
  }
}

/** True when the client takes this media type; one that names none takes all. */
export function accepts({ headers }: IncomingMessage, type: string): boolean {
  const { accept } = headers;
  if (accept === undefined || accept === everyClient) return true;
  return accept
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";")[0]?.trim())
    .some((range) => range === type || range === "*/*" || range === `${type.split("/")[0]}/*`);
}

/** What the protocol tells clients to send, word for word. */
const everyClient = "application/json, text/event-stream";
