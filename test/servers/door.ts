import { readFileSync } from "node:fs";
import {
  Agent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { connect, type Socket } from "node:net";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { createHall, type Hall } from "../../src/hall/hall.ts";
import type { HallOptions } from "../../src/hall/hall-options.ts";
import {
  type HttpListener,
  type ListenerOptions,
  listenHttp,
} from "../../src/server/http/listener.ts";
import { EventReader } from "./event-reader.ts";
import { guardMs, until } from "./until.ts";

/** A hall that listens on a free loopback port, and raw access to it for requests that no client library sends. */
export interface Door {
  readonly hall: Hall;
  readonly listener: HttpListener;
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** What the hall logged, one JSON line each. */
  readonly logged: string[];
  /** One HTTP request, read to the end of its answer. */
  send(knock: Knock): Promise<Reply>;
  /** One HTTP request whose answer is read as it comes. */
  open(knock: Knock): Promise<OpenReply>;
  /** A raw socket. */
  dial(): Dialled;
  [Symbol.asyncDispose](): Promise<void>;
}

export type DoorOptions = Omit<HallOptions, "log"> &
  Partial<Omit<ListenerOptions, "server" | "log" | "version">>;

export interface Knock {
  /** Default POST. */
  readonly method?: string;
  /** Default /mcp. */
  readonly path?: string;
  /** Over the usual ones; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** An object is sent as JSON. */
  readonly body?: string | Buffer | JsonObject | readonly unknown[];
  /** False for a socket of its own. */
  readonly isShared?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when there is none. */
  readonly json: JsonObject | undefined;
}

export interface OpenReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: EventReader;
  /** Cuts the socket. */
  cut(): void;
}

export interface Dialled {
  readonly socket: Socket;
  /** Everything the hall has sent so far, one character a byte. */
  readonly received: string;
  /** Resolves when the hall has ended or cut the line. */
  readonly closed: Promise<void>;
  write(bytes: string | Buffer): void;
  /** Waits until the received text matches. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Waits until the hall has closed its end, even if the client does not read: the kernel knows. */
export async function untilCut({ port }: Door, { socket }: Pick<Dialled, "socket">): Promise<void> {
  const hex = (number = 0): string => number.toString(16).toUpperCase().padStart(4, "0");
  const established = new RegExp(`:${hex(port)} \\S+:${hex(socket.localPort)} 01 `);
  await until(
    () => !established.test(readFileSync("/proc/net/tcp", "utf8")),
    "the hall closes the connection",
  );
}

export const doorToken = "a-token-for-tests-0123456789";

export async function openDoor(options: DoorOptions = {}): Promise<Door> {
  const logged: string[] = [];
  const log = createLog({ level: "debug", sink: { write: (line) => logged.push(line) } });
  const hall = await createHall({
    hasOwnResources: false,
    listsPrograms: false,
    ...options,
    log,
  });
  const listener = await listenHttp({
    host: "127.0.0.1",
    port: 0,
    token: doorToken,
    ...options,
    server: hall.server,
    log,
    version: "0.0.0-test",
  });
  const port = Number(new URL(listener.url).port);
  const shared = new Agent({ keepAlive: true });
  const own = new Agent({ keepAlive: false });
  const sockets = new Set<Socket>();

  function knock({
    method = "POST",
    path = "/mcp",
    headers = {},
    body,
    isShared = true,
  }: Knock): Promise<IncomingMessage> {
    const bytes =
      body === undefined || typeof body === "string" || Buffer.isBuffer(body)
        ? body
        : JSON.stringify(body);
    const given: Record<string, string | undefined> = {
      host: `127.0.0.1:${port}`,
      accept: "application/json, text/event-stream",
      ...(bytes === undefined
        ? {}
        : {
            "content-type": "application/json",
            "content-length": String(Buffer.byteLength(bytes)),
          }),
      ...headers,
    };
    const sent = Object.fromEntries(
      Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          port,
          host: "127.0.0.1",
          agent: isShared ? shared : own,
          method,
          path,
          headers: sent,
          setHost: false,
        },
        resolve,
      );
      request.on("error", reject);
      request.end(bytes);
    });
  }

  return {
    hall,
    listener,
    url: listener.url,
    port,
    token: doorToken,
    logged,
    async send(sent) {
      const response = await knock(sent);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const isJson = response.headers["content-type"] === "application/json" && text !== "";
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        text,
        json: isJson ? (JSON.parse(text) as JsonObject) : undefined,
      };
    },
    async open(sent) {
      const response = await knock({ isShared: false, ...sent });
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        events: new EventReader(response),
        cut: () => void response.destroy(),
      };
    },
    dial() {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      sockets.add(socket);
      return listenTo(socket);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await hall.close();
      await listener.close();
      shared.destroy();
      own.destroy();
    },
  };
}

function listenTo(socket: Socket): Dialled {
  let received = "";
  const waiting = new Set<() => void>();
  const closed = new Promise<void>((resolve) => {
    socket.on("end", resolve);
    socket.on("close", () => resolve());
  });
  // A reset is one way for the hall to close the connection.
  socket.on("error", () => {});
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("latin1");
    for (const look of waiting) look();
  });
  return {
    socket,
    closed,
    get received() {
      return received;
    },
    write: (bytes) => void socket.write(bytes),
    until(pattern) {
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        const look = (): void => {
          const found = pattern.exec(received);
          if (!found) return;
          stop();
          resolve(found);
        };
        const timer = setTimeout(() => {
          stop();
          reject(
            new Error(
              `${pattern} did not arrive within ${guardMs / 1_000} s; received: ${JSON.stringify(received.slice(0, 500))}`,
            ),
          );
        }, guardMs);
        waiting.add(look);
        look();
      });
    },
  };
}
