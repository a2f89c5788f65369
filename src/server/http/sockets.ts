import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Limits how many sockets one address may hold; further ones are closed. */
export class SocketLimit {
  readonly #countMax: number;
  readonly #counts = new Map<string, number>();
  readonly #seen = new WeakSet<Socket>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** A socket that is offered again, see `withoutUpgrade`, counts once. */
  add(socket: Socket): void {
    if (this.#seen.has(socket)) return;
    this.#seen.add(socket);
    const address = socket.remoteAddress ?? "";
    const count = (this.#counts.get(address) ?? 0) + 1;
    if (count > this.#countMax) {
      socket.destroy();
      return;
    }
    this.#counts.set(address, count);
    socket.on("close", () => this.#remove(address));
  }

  #remove(address: string): void {
    const left = (this.#counts.get(address) ?? 1) - 1;
    if (left <= 0) this.#counts.delete(address);
    else this.#counts.set(address, left);
  }
}

/** A listener for `prefinish`: closes a response that the client stops reading, so that it does not stay in memory. */
export function cutWhenUnread(stalledMsMax: number): (this: ServerResponse) => void {
  return function ending() {
    const { socket } = this.req;
    // The system has taken all of it, so none of it is in our memory.
    if (socket.writableLength === 0) return;
    socket.setTimeout(stalledMsMax);
    this.on("finish", () => {
      // Node has set its keep-alive timeout by now, unless the next request has already arrived.
      if (socket.timeout === stalledMsMax) socket.setTimeout(0);
    });
  };
}

/**
 * Puts a request back on its socket without the upgrade that it offers, such as h2c from Java's HTTP
 * client: a server may ignore an upgrade, but Node would close the socket.
 */
export function withoutUpgrade(
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!/^(connection|upgrade|http2-settings)$/i.test(rawHeaders[i] ?? ""))
      lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
}
