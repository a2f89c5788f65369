import type { Agent, ClientRequest } from "node:http";
import type { LookupFunction, Socket } from "node:net";

/** Shorter than the keep-alive of servers, so that a socket they are about to close is not reused. */
const idleMsMax = 4_000;
/** A server that announces when it closes idle sockets is left this much time before. */
const leadMs = 1_000;
const freeMax = 256;
export const connectMsMax = 5_000;

interface FreeSocket {
  readonly socket: Socket;
  readonly usableUntil: number;
}

/**
 * The open sockets to one server. Node's own agent looks sockets up by a name made of all options,
 * and sets a timer for each; that took longer than the rest of a request. Connecting is left to it.
 */
export class SocketPool {
  /** For `request` of node:http and node:https. */
  readonly agent: Agent;
  readonly #open = new Set<Socket>();
  /** The one used last is at the end, and is taken first. */
  #free: FreeSocket[] = [];
  #sweep: NodeJS.Timeout | undefined;
  #idleMs = idleMsMax;
  #hint: unknown;

  constructor(url: URL, lookup: LookupFunction | undefined) {
    const isEncrypted = url.protocol === "https:";
    // At the first request: both modules together take a twentieth of a start.
    const { Agent } = process.getBuiltinModule(isEncrypted ? "node:https" : "node:http");
    this.agent = new Agent({ keepAlive: true });
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const isName = process.getBuiltinModule("node:net").isIP(host) === 0;
    const options = {
      host,
      port: url.port || (isEncrypted ? 443 : 80),
      servername: isName ? host : "",
      ...(lookup ? { lookup } : {}),
      noDelay: true,
      keepAlive: true,
      // Node resumes TLS sessions by this name.
      _agentKey: url.origin,
    };
    const connect = (): Socket => {
      const socket = this.agent.createConnection(options) as Socket;
      this.#watch(socket, isEncrypted ? "secureConnect" : "connect");
      return socket;
    };
    // How a request asks its agent for a socket.
    Object.assign(this.agent, {
      addRequest: (request: ClientRequest) => {
        const socket = this.#take();
        request.reusedSocket = socket !== undefined;
        request.onSocket(socket ?? connect());
      },
    });
  }

  /** The `Keep-Alive` header of an answer. */
  heed(hint: unknown): void {
    if (hint === this.#hint) return;
    this.#hint = hint;
    const seconds = /^timeout=(\d+)/.exec(String(hint))?.[1];
    this.#idleMs =
      seconds === undefined ? idleMsMax : Math.min(idleMsMax, Number(seconds) * 1_000 - leadMs);
  }

  close(): void {
    clearTimeout(this.#sweep);
    for (const socket of this.#open) socket.destroy();
  }

  #watch(socket: Socket, connected: "connect" | "secureConnect"): void {
    this.#open.add(socket);
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${connectMsMax / 1_000} s`)),
      connectMsMax,
    );
    socket.once(connected, () => clearTimeout(timer));
    socket.on("free", () => this.#keep(socket));
    // A request has a listener of its own; without one the socket is idle, and nothing is lost.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      this.#open.delete(socket);
    });
  }

  #take(): Socket | undefined {
    const now = performance.now();
    for (let last = this.#free.pop(); last; last = this.#free.pop()) {
      const { socket, usableUntil } = last;
      if (now < usableUntil && socket.writable) return socket.ref();
      socket.destroy();
    }
    return undefined;
  }

  #keep(socket: Socket): void {
    if (!socket.writable || this.#idleMs <= 0 || this.#free.length >= freeMax) {
      socket.destroy();
      return;
    }
    socket.unref();
    this.#free.push({ socket, usableUntil: performance.now() + this.#idleMs });
    this.#sweep ??= setTimeout(() => this.#closeIdle(), idleMsMax).unref();
  }

  #closeIdle(): void {
    const now = performance.now();
    const isUsable = ({ usableUntil }: FreeSocket): boolean => now < usableUntil;
    for (const free of this.#free) if (!isUsable(free)) free.socket.destroy();
    this.#free = this.#free.filter(isUsable);
    this.#sweep =
      this.#free.length === 0 ? undefined : setTimeout(() => this.#closeIdle(), idleMsMax).unref();
  }
}
