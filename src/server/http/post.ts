import type { IncomingMessage, ServerResponse } from "node:http";
import { HallError } from "../../base/errors.ts";
import { arm, disarm, type Timed } from "../../base/scope.ts";
import { EventStream, type EventStreamOptions } from "../../net/event-stream.ts";
import type { Channel, FrameKind } from "../../wire/channel.ts";
import { notificationFrame } from "../../wire/message.ts";
import type { AnswerFrame, Exchange } from "../../wire/requests.ts";
import type { OneTimeSender } from "../stateless.ts";

/**
 * The response to one POST. It is plain JSON, and becomes an event stream when a notification comes
 * before the answer or the answer takes long.
 */
export class PostReply implements OneTimeSender, Timed {
  readonly #response: ServerResponse;
  readonly #takesEvents: boolean;
  readonly #options: EventStreamOptions;
  readonly deadlineAt: number;
  place: number | undefined = undefined;
  #stream: EventStream | undefined;

  constructor(response: ServerResponse, takesEvents: boolean, options: EventStreamOptions) {
    this.#response = response;
    this.#takesEvents = takesEvents;
    this.#options = options;
    const now = performance.now();
    this.deadlineAt = now + options.keepAliveMs;
    if (takesEvents) arm(this, now);
  }

  deliver(_exchange: Exchange, answer: AnswerFrame | undefined): void {
    if (answer) this.answer(answer.frame, answer.kind);
  }

  /** Questions to a modern client are `input_required` results, see `asking.ts`. */
  request(method: string): Promise<never> {
    return Promise.reject(new HallError("EXECUTION", `cannot send ${method} to this client`));
  }

  notify(method: string, params: unknown): void {
    this.notifyFrame(notificationFrame(method, params));
  }

  answer(frame: string, kind: FrameKind): void {
    disarm(this);
    if (this.#isEnded) return;
    if (this.#stream) {
      this.#stream.send({ data: frame });
      this.#stream.end();
    } else sendJson(this.#response, typeof kind === "number" ? statusOf(kind) : 200, frame);
  }

  /** Dropped for a client that takes no event streams. */
  notifyFrame(frame: string): void {
    if (this.#takesEvents && !this.#isEnded) this.#open().send({ data: frame }, true);
  }

  onClose(listener: () => void): void {
    this.#response.on("close", () => {
      disarm(this);
      listener();
    });
  }

  end(): void {
    disarm(this);
    if (!this.#response.writableEnded) this.#response.end();
  }

  get #isEnded(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** The answer takes long. */
  expire(): void {
    this.#open();
  }

  #open(): EventStream {
    this.#stream ??= new EventStream(this.#response, this.#options);
    return this.#stream;
  }
}

/** A connection for one request, so that nothing of one caller can reach another. */
export function createPostChannel(reply: PostReply): Channel {
  return {
    start: (receiver) => reply.onClose(() => receiver.closed()),
    send(frame, { kind } = { kind: "result" }) {
      if (kind === "notification") reply.notifyFrame(frame);
      else if (kind !== "request") reply.answer(frame, kind);
    },
    // The event stream has its own limits, and nothing more is read from this client.
    queuedBytes: 0,
    pause: () => {},
    resume: () => {},
    close: async () => reply.end(),
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.byteLength(body);
  const own = { "content-type": "application/json", "content-length": bytes };
  response.writeHead(status, headers ? { ...own, ...headers } : own);
  // The bytes of ASCII are the same, and Node reserves three times as many to write UTF-8.
  response.end(body, bytes === body.length ? "latin1" : "utf8");
}

/** The status that the protocol defines for an error; a failure inside a handler is a 200. */
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

/** True when the client accepts this media type; without an Accept header it accepts all. */
export function accepts({ headers }: IncomingMessage, type: string): boolean {
  const { accept } = headers;
  if (accept === undefined || accept === everyClient) return true;
  return accept
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";")[0]?.trim())
    .some((range) => range === type || range === "*/*" || range === `${type.split("/")[0]}/*`);
}

/** The value that the protocol tells clients to send; compared first, because it is the usual one. */
const everyClient = "application/json, text/event-stream";
