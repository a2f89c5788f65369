import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { createLog } from "../../src/base/log.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import { createHall, type Hall } from "../../src/hall/hall.ts";
import { type HttpListener, listenHttp } from "../../src/server/http/listener.ts";
import { allRights } from "../../src/server/rights.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { HttpLine } from "./http-line.ts";
import { createLine, type LineEnd, type Network } from "./line.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { SimLedger } from "./sim-ledger.ts";
import type { SimServer } from "./sim-server.ts";
import type { SimSocket } from "./sim-socket.ts";

export interface SimHallOptions {
  readonly network: Network;
  readonly disk: SimDisk;
  readonly ledger: SimLedger;
  readonly servers: readonly SimServer[];
  readonly configs: Readonly<Record<string, ServerConfig>>;
  /** Tokens that are valid now. */
  readonly tokens: ReadonlySet<string>;
  broken(text: string): void;
  /** The process has ended in the middle of a step. */
  crashed(): void;
}

/** One life of the hall: its process, with its listener and its ends of all connections. */
export class SimHall {
  readonly hall: Hall;
  readonly #options: SimHallOptions;
  readonly #listener: HttpListener;
  readonly #http: http.Server;
  readonly #life: Life;
  readonly #lines = new Set<LineEnd>();
  readonly #httpLines = new Set<HttpLine>();
  readonly #sockets = new Set<SimSocket>();
  /** The number of messages before it ends in the middle of a step; undefined if it does not. */
  #sendsLeft: number | undefined;

  private constructor(
    options: SimHallOptions,
    parts: {
      readonly hall: Hall;
      readonly listener: HttpListener;
      readonly http: http.Server;
      readonly life: Life;
    },
  ) {
    this.#options = options;
    this.hall = parts.hall;
    this.#listener = parts.listener;
    this.#http = parts.http;
    this.#life = parts.life;
    options.disk.sending = this.#sending;
  }

  static async open(options: SimHallOptions): Promise<SimHall> {
    const { disk, ledger, servers, configs, tokens } = options;
    const log = createLog({ level: "silent" });
    const life: Life = { isOver: false };
    disk.install();
    const created = captureServer(options.network);
    syncBuiltinESMExports();
    const hall = await createHall({
      log,
      toolkits: [],
      servers: configs,
      openCarrier: async (config) => {
        const name = config.type === "stdio" ? config.args[0] : undefined;
        const server = servers.find((known) => known.name === name);
        if (!server) throw new Error("unknown server");
        const carrier = await server.open();
        if (!life.isOver) return carrier;
        await carrier.stop();
        return new Promise(() => {});
      },
      trust: { ledger },
      store: disk.settings,
      // A call that hangs is not more interesting for hanging longer.
      timeoutMs: 8_000,
      hasOwnResources: false,
      listsPrograms: false,
    });
    const listener = await listenHttp({
      server: hall.server,
      log,
      version: "0",
      host: "127.0.0.1",
      port: 0,
      token: "of the user",
      findOwner: (token) =>
        tokens.has(token) ? { principal: token, rights: allRights } : undefined,
    });
    return new SimHall(options, { hall, listener, http: created(), life });
  }

  /** A connection of the hall, which ends with it. */
  add(line: LineEnd): void {
    this.#lines.add(line);
    line.sending = this.#sending;
  }

  /** The process ends before it sends one more message than this. */
  dieAfter(sends: number): void {
    this.#sendsLeft = sends;
  }

  /** It does not end by itself any more. */
  spare(): void {
    this.#sendsLeft = undefined;
  }

  /** A message is about to leave the process: the last ones of a step may not, if it ends there. */
  readonly #sending = (): void => {
    if (this.#sendsLeft === undefined || this.#sendsLeft-- > 0) return;
    this.#sendsLeft = undefined;
    for (const line of this.#lines) line.drop();
    for (const socket of this.#sockets) socket.cut();
    this.#options.disk.die();
    this.#options.network.time.afterStep(this.#options.crashed);
  };

  connectLine(): LineEnd {
    const [hallEnd, clientEnd] = createLine(this.#options.network);
    this.add(hallEnd);
    hallEnd.watchCancelled((id) =>
      this.#options.broken(`the hall answered ${String(id)} after it had read its cancellation`),
    );
    this.hall.server.accept(hallEnd);
    return clientEnd;
  }

  connectHttp(token: string): HttpLine {
    const connect = (socket: SimSocket): void => {
      this.#sockets.add(socket);
      socket.sending = this.#sending;
      socket.once("close", () => this.#sockets.delete(socket));
      this.#http.emit("connection", socket);
    };
    const line = new HttpLine(this.#options.network, connect, token);
    this.#httpLines.add(line);
    return line;
  }

  /** The bounds that are exceeded. */
  findUnbounded(): readonly string[] {
    const bytesMax = 2 * defaultLimits.writeQueueBytesMax;
    const overlong =
      [...this.#lines].filter(({ queuedBytesMax }) => queuedBytesMax > bytesMax).length +
      [...this.#sockets].filter(({ writableLength }) => writableLength > bytesMax).length;
    const { hallTimers } = this.#options.network.time;
    const { running } = this.hall.meter;
    return [
      ...(overlong > 0 ? [`more than twice the limit waits for ${overlong} connections`] : []),
      ...(hallTimers > timersMax ? [`the hall has ${hallTimers} timers`] : []),
      ...(running > runningMax ? [`${running} calls run at once`] : []),
    ];
  }

  /** The process ends between two of its steps. Its servers and clients notice later. */
  async crash(): Promise<void> {
    const { network, disk, ledger } = this.#options;
    for (const line of this.#lines) line.drop();
    for (const line of this.#httpLines) {
      line.cut();
      void line.close();
    }
    this.#life.isOver = true;
    this.#http.close();
    ledger.hallEnded();
    await disk.crash();
    this.#endSockets();
    await network.time.endHall();
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.hall.close();
    this.#endSockets();
  }

  /** The process ends with its sockets. Node keeps the parser of an open one, and with it all that this hall was. */
  #endSockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Far more than all requests that the clients of a simulation have open need. */
const timersMax = 2_000;
const runningMax = 500;

interface Life {
  /** The process has ended. */
  isOver: boolean;
}

/** Hands out the next HTTP server, which listens to nothing but simulated sockets. */
function captureServer({ time }: Network): () => http.Server {
  const { createServer } = http;
  let created: http.Server | undefined;
  const create = (...args: Parameters<typeof createServer>): http.Server => {
    created = createServer(...args);
    created.listen = (...given: unknown[]) => {
      (given.at(-1) as () => void)();
      return created as http.Server;
    };
    return created;
  };
  time.replace(http, { createServer: create });
  return () => created as http.Server;
}
