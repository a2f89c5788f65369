import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { EventStream, type EventStreamOptions } from "../../net/event-stream.ts";
import type { Channel, Receiver } from "../../wire/channel.ts";
import type { Message } from "../../wire/message.ts";
import type { ClientConnection } from "../connection.ts";
import type { Server } from "../server.ts";
import { accepts } from "./post.ts";
import type { Refusal } from "./refusal.ts";

/** HTTP+SSE of 2024-11-05: one event stream to the client, one POST per message from it. The stream's end closes the connection. */
export interface SsePair {
  open(request: IncomingMessage, response: ServerResponse, principal: string): Refusal | undefined;
  post(
    sessionId: string,
    parsed: Message | readonly Message[],
    principal: string,
  ): Refusal | undefined;
}

export interface SsePairOptions extends EventStreamOptions {
  readonly server: Server;
  readonly countMax: number;
}

export function createSsePair({ server, countMax, ...options }: SsePairOptions): SsePair {
  const connections = new Map<
    string,
    { readonly connection: ClientConnection; readonly principal: string }
  >();
  return {
    open(request, response, principal) {
      if (!accepts(request, "text/event-stream"))
        return {
          status: 406,
          code: "INVALID_REQUEST",
          message: "Accept must include text/event-stream",
        };
      if (connections.size >= countMax)
        return {
          status: 503,
          code: "OVERLOADED",
          message: `too many connections (limit: ${countMax})`,
          headers: { "retry-after": "5" },
        };
      const id = randomBytes(24).toString("base64url");
      const stream = new EventStream(response, options);
      stream.send({ event: "endpoint", data: `/messages?sessionId=${id}` });
      connections.set(id, {
        connection: server.accept(createChannel(stream, response), { principal, isNetwork: true }),
        principal,
      });
      response.on("close", () => connections.delete(id));
      return undefined;
    },
    post(sessionId, parsed, principal) {
      const found = connections.get(sessionId);
      if (!found || found.principal !== principal)
        return {
          status: 404,
          code: "INVALID_REQUEST",
          message: "unknown session: open /sse first",
        };
      found.connection.receive(parsed);
      return undefined;
    },
  };
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
