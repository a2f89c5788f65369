import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { EventStream, type EventStreamOptions } from "../../net/event-stream.ts";
import type { Channel, Receiver } from "../../wire/channel.ts";
import type { Message } from "../../wire/message.ts";
import type { ClientConnection } from "../connection.ts";
import { type Identity, isSameCaller } from "./guard.ts";
import { accepts } from "./post.ts";
import { invalidRequest, type Refusal, tooManyConnections } from "./refusal.ts";
import type { SessionsOptions } from "./sessions.ts";

export type SsePairOptions = EventStreamOptions &
  Pick<SessionsOptions, "server" | "countMax" | "hall">;

/**
 * HTTP+SSE of 2024-11-05: one event stream to the client, one POST per message from it. The
 * stream's end closes the connection.
 */
export class SsePair {
  readonly #options: SsePairOptions;
  readonly #connections = new Map<
    string,
    { readonly connection: ClientConnection; readonly caller: Identity }
  >();

  constructor(options: SsePairOptions) {
    this.#options = options;
  }

  open(request: IncomingMessage, response: ServerResponse, caller: Identity): Refusal | undefined {
    const { server, countMax, hall } = this.#options;
    if (!accepts(request, "text/event-stream"))
      return invalidRequest(406, "Accept must include text/event-stream");
    if (this.#connections.size >= countMax) return tooManyConnections(countMax);
    const random = randomBytes(24).toString("base64url");
    const id = hall === undefined ? random : `${hall}.${random}`;
    const stream = new EventStream(response, this.#options);
    stream.send({ event: "endpoint", data: `/messages?sessionId=${id}` });
    const channel = createChannel(stream, response);
    const connection = server.accept(channel, { ...caller, isNetwork: true });
    this.#connections.set(id, { connection, caller });
    response.on("close", () => this.#connections.delete(id));
    return undefined;
  }

  post(
    sessionId: string,
    parsed: Message | readonly Message[],
    caller: Identity,
  ): Refusal | undefined {
    const found = this.#connections.get(sessionId);
    if (!found || !isSameCaller(found.caller, caller))
      return invalidRequest(404, "unknown session: open /sse first");
    found.connection.receive(parsed);
    return undefined;
  }
}

function createChannel(stream: EventStream, response: ServerResponse): Channel {
  let receiver: Receiver | undefined;
  response.on("drain", () => receiver?.drained());
  response.on("close", () => receiver?.closed());
  return {
    start(started) {
      receiver = started;
    },
    send: (frame, message) =>
      void stream.send({ event: "message", data: frame }, message?.kind === "notification"),
    get queuedBytes() {
      return stream.queuedBytes;
    },
    pause: () => {},
    resume: () => {},
    async close({ now = false } = {}) {
      if (now) response.destroy();
      else stream.end();
    },
  };
}
