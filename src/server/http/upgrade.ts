import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { createWebSocketChannel } from "../../wire/websocket.ts";
import type { Server } from "../server.ts";
import {
  type AccessGuard,
  type Admission,
  bearerProtocol,
  hasToken,
  refuseWithoutUse,
  targetOf,
  unauthorized,
} from "./guard.ts";
import { type Refusal, shuttingDown, tooManyConnections } from "./refusal.ts";

const pingsPerSecondMax = 50;
const policyViolation = 1008;

/** WebSocket at `/ws` and `/`, with the same messages as stdio. Web pages, which send an Origin, need the token. */
export class Upgrader {
  readonly #server: Server;
  readonly #guard: AccessGuard;
  readonly #countMax: number;
  readonly #sockets: WebSocketServer;

  constructor(server: Server, guard: AccessGuard, countMax: number) {
    this.#server = server;
    this.#guard = guard;
    this.#countMax = countMax;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: server.limits.messageBytesMax,
      perMessageDeflate: false,
      // A subprotocol that contains a token must not be echoed.
      handleProtocols: (offered) =>
        [...offered].find((protocol) => !protocol.startsWith(bearerProtocol)) ?? false,
    });
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const caller = await this.#admit(request);
    if ("refusal" in caller) {
      refuse(socket, this.#guard.challenge(caller.refusal, request));
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      limitPings(webSocket);
      // A token may be revoked or expire while the socket is open.
      const isAdmitted = (admission: Admission): boolean => "principal" in admission;
      const mayReceive = (): boolean | Promise<boolean> => {
        const admission = hasToken(caller) ? this.#guard.identify(request) : caller;
        return admission instanceof Promise ? admission.then(isAdmitted) : isAdmitted(admission);
      };
      const channel = createWebSocketChannel(webSocket, { mayReceive });
      this.#server.accept(channel, { ...caller, isNetwork: true });
    });
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
  }

  async #admit(request: IncomingMessage): Promise<Admission> {
    const refusal = this.#guard.checkSite(request);
    if (refusal) return { refusal };
    if (this.#server.isClosing) return { refusal: shuttingDown };
    if (!paths.has(targetOf(request)?.pathname))
      return { refusal: { status: 404, code: "NOT_FOUND", message: "WebSocket is served at /ws" } };
    const caller = await this.#guard.identify(request);
    if ("refusal" in caller) return caller;
    const useless = refuseWithoutUse(caller);
    if (useless) return { refusal: useless };
    if (request.headers.origin !== undefined && !hasToken(caller))
      return { refusal: unauthorized("a token is required") };
    if (this.#sockets.clients.size >= this.#countMax)
      return { refusal: tooManyConnections(this.#countMax) };
    return caller;
  }
}

const paths: ReadonlySet<string | undefined> = new Set(["/ws", "/"]);

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
