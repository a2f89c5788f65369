import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { createWebSocketChannel } from "../../wire/websocket.ts";
import type { Server } from "../server.ts";
import { type AccessGuard, bearerProtocol, targetOf } from "./guard.ts";
import type { Refusal } from "./refusal.ts";

/** WebSocket at `/ws`, with the same messages as stdio. Web pages, which send an Origin, need the token. */
export interface Upgrader {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

const pingsPerSecondMax = 50;
const policyViolation = 1008;

export function createUpgrader({
  server,
  guard,
  countMax,
}: {
  readonly server: Server;
  readonly guard: AccessGuard;
  readonly countMax: number;
}): Upgrader {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: server.limits.messageBytesMax,
    perMessageDeflate: false,
    // A subprotocol that contains a token must not be echoed.
    handleProtocols: (offered) =>
      [...offered].find((protocol) => !protocol.startsWith(bearerProtocol)) ?? false,
  });
  return {
    upgrade(request, socket, head) {
      const refused = check(request);
      if ("refusal" in refused) {
        refuse(socket, refused.refusal);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        limitPings(webSocket);
        server.accept(createWebSocketChannel(webSocket), {
          principal: refused.principal,
          isNetwork: true,
        });
      });
    },
    close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };

  function check(request: IncomingMessage): ReturnType<AccessGuard["identify"]> {
    const refusal = guard.checkSite(request);
    if (refusal) return { refusal };
    if (server.isClosing)
      return {
        refusal: { status: 503, code: "UNAVAILABLE", message: "the hall is shutting down" },
      };
    if (targetOf(request)?.pathname !== "/ws")
      return { refusal: { status: 404, code: "NOT_FOUND", message: "WebSocket is served at /ws" } };
    if (sockets.clients.size >= countMax)
      return {
        refusal: {
          status: 503,
          code: "OVERLOADED",
          message: `too many connections (limit: ${countMax})`,
        },
      };
    return guard.identify(request, request.headers.origin !== undefined);
  }
}

function refuse(socket: Duplex, { status, message, headers }: Refusal): void {
  const lines = [
    `HTTP/1.1 ${status} ${message}`,
    "Connection: close",
    "Content-Length: 0",
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n`, () => socket.destroy());
}

function limitPings(socket: WebSocket): void {
  let count = 0;
  let windowStart = performance.now();
  socket.on("ping", () => {
    const now = performance.now();
    if (now - windowStart > 1_000) {
      windowStart = now;
      count = 0;
    }
    if (++count > pingsPerSecondMax) socket.close(policyViolation, "too many pings");
  });
}
