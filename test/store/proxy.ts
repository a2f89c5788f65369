import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy between a store and its database that can fail like a network. */
export interface Proxy {
  readonly port: number;
  /** Where new connections go. */
  target: Address;
  /** Drops everything without closing the connections. */
  isSilent: boolean;
  /** How many messages it has dropped. */
  readonly dropped: number;
  /** Answers are passed on this much later. */
  delayMs: number;
  /** Closes both connections instead of passing on the next answer to a message with this text. */
  loseAnswerTo: string | undefined;
  /** Closes all connections. */
  cut(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

export async function openProxy(target: Address): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let dropped = 0;
  const server = createServer((near) => {
    const far = connect(proxy.target.port, proxy.target.host);
    let isLost = false;
    const delayed: Buffer[] = [];
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
    near.on("data", (bytes) => {
      if (proxy.isSilent) {
        dropped++;
        return;
      }
      if (proxy.loseAnswerTo !== undefined && bytes.includes(proxy.loseAnswerTo)) {
        isLost = true;
        proxy.loseAnswerTo = undefined;
      }
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      if (isLost) near.destroy();
      else if (proxy.delayMs > 0 || delayed.length > 0) {
        delayed.push(bytes);
        // The first of those that wait, so that they keep their order when the delay changes.
        setTimeout(() => near.write(delayed.shift() ?? ""), proxy.delayMs);
      } else if (!proxy.isSilent) near.write(bytes);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const proxy: Proxy = {
    target,
    port: typeof address === "object" && address ? address.port : 0,
    isSilent: false,
    get dropped() {
      return dropped;
    },
    delayMs: 0,
    loseAnswerTo: undefined,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      proxy.cut();
      await closed;
    },
  };
  return proxy;
}
