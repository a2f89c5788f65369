import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { Receiver } from "../../src/wire/channel.ts";
import { modernVersion } from "../servers/client.ts";
import type { Network } from "./line.ts";
import { createSockets, type SimSocket } from "./sim-socket.ts";

/** The part of a connection that a simulated client uses. */
export interface ClientLine {
  readonly isClosed: boolean;
  start(receiver: Receiver): void;
  /** `message` is what the frame says. */
  send(frame: string, message: JsonObject): void;
  close(): Promise<void>;
  /** Nothing arrives any more, and nobody is told. */
  cut(): void;
  /** Reads nothing for a while. */
  stall(ms: number): void;
}

interface Exchange {
  readonly socket: SimSocket;
  /** Of the request that it must answer. */
  readonly id: unknown;
  isAnswered: boolean;
  lastEvent: string | undefined;
}

interface Posted {
  readonly body: string;
  readonly message: JsonObject;
}

/** Speaks Streamable HTTP for a client: a POST for each message, and resumed streams in a session. */
export class HttpLine implements ClientLine {
  readonly #network: Network;
  readonly #connect: (socket: SimSocket) => void;
  readonly #token: string;
  readonly #exchanges = new Set<Exchange>();
  /** Until the session is open. */
  #waiting: Posted[] | undefined;
  #session: string | undefined;
  #receiver: Receiver | undefined;
  #isClosed = false;
  #isCut = false;

  constructor(network: Network, connect: (socket: SimSocket) => void, token: string) {
    this.#network = network;
    this.#connect = connect;
    this.#token = token;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(body: string, message: JsonObject): void {
    const posted = { body, message };
    if (message.method === "initialize") {
      this.#waiting = [];
      this.#post(posted);
    } else if (this.#waiting) this.#waiting.push(posted);
    else if (this.#isWithdrawn(message)) return;
    else this.#post(posted);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { socket } of this.#exchanges) socket.destroy();
    this.#receiver?.closed();
  }

  cut(): void {
    this.#isCut = true;
    for (const { socket } of this.#exchanges) socket.cut();
  }

  stall(ms: number): void {
    for (const { socket } of this.#exchanges) socket.stall(ms);
  }

  /** The network ends one connection. Undefined if there is none, else the request that it carried. */
  breakOne(): unknown {
    const [exchange] = this.#exchanges;
    exchange?.socket.destroy();
    return exchange?.id;
  }

  /** A modern client cancels by ending the connection of the request. */
  #isWithdrawn({ method, params }: JsonObject): boolean {
    if (method !== "notifications/cancelled" || this.#session !== undefined) return false;
    const id = isObject(params) ? params.requestId : undefined;
    for (const exchange of this.#exchanges) if (exchange.id === id) exchange.socket.destroy();
    return true;
  }

  #post({ body, message: { method, id, params } }: Posted): void {
    const isRequest = method !== undefined && id !== undefined;
    const isModern = isObject(params) && isObject(params._meta) && this.#session === undefined;
    const name = isObject(params) && method === "tools/call" ? params.name : undefined;
    this.#open("POST", isRequest ? id : undefined, body, {
      ...(isModern
        ? {
            "mcp-protocol-version": modernVersion,
            "mcp-method": String(method),
            ...(name === undefined ? {} : { "mcp-name": String(name) }),
          }
        : {}),
    });
  }

  #resume({ id, lastEvent = "" }: Exchange): void {
    this.#open("GET", id, "", { "last-event-id": lastEvent });
  }

  #open(method: string, id: unknown, body: string, extra: Readonly<Record<string, string>>): void {
    if (this.#isClosed || this.#isCut) return;
    const [own, other] = createSockets(this.#network);
    const exchange: Exchange = { socket: own, id, isAnswered: false, lastEvent: undefined };
    this.#exchanges.add(exchange);
    const headers = {
      host: "127.0.0.1",
      authorization: `Bearer ${this.#token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
      ...(method === "POST" ? { "content-length": String(Buffer.byteLength(body)) } : {}),
      ...extra,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    // Version 1.0: the body ends with the connection, and nothing is sent in chunks.
    own.write(`${method} /mcp HTTP/1.0\r\n${lines.join("")}\r\n${body}`);
    this.#read(exchange);
    this.#connect(other);
  }

  #read(exchange: Exchange): void {
    const { socket } = exchange;
    let head: Head | undefined;
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (!head && text.includes("\r\n\r\n")) {
        head = readHead(text);
        text = text.slice(head.length);
        if (head.session !== undefined) this.#begin(head.session);
      }
      if (!head?.isStream) return;
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
        this.#take(exchange, text.slice(0, end));
        text = text.slice(end + 2);
      }
    });
    socket.on("close", () => {
      this.#exchanges.delete(exchange);
      if (head && !head.isStream) this.#takeBody(exchange, head, text);
      else if (!exchange.isAnswered && exchange.lastEvent !== undefined)
        this.#network.time.after(1_000, () => this.#resume(exchange));
      // `initialize` was refused, or its connection broke: without a session, nothing that waits can be sent.
      if (this.#waiting && !this.#isClosed && !this.#isCut) void this.close();
    });
  }

  #begin(session: string): void {
    this.#session = session;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    // Messages that the client sent meanwhile.
    this.#network.time.after(0, () => {
      for (const posted of waiting) this.#post(posted);
    });
  }

  #take(exchange: Exchange, event: string): void {
    const data: string[] = [];
    for (const line of event.split("\n")) {
      if (line.startsWith("data: ")) data.push(line.slice(6));
      if (line.startsWith("id: ")) exchange.lastEvent = line.slice(4);
    }
    const text = data.join("\n");
    if (text !== "") this.#deliver(exchange, text);
  }

  #takeBody(exchange: Exchange, { status }: Head, body: string): void {
    if (status === 200) this.#deliver(exchange, body);
    else if (status >= 400 && exchange.id !== undefined) {
      // The refusal answers the request, whichever reader gets it.
      const error = { code: -status, message: body };
      this.#deliver(exchange, JSON.stringify({ jsonrpc: "2.0", id: exchange.id, error }));
    }
  }

  #deliver(exchange: Exchange, frame: string): void {
    const { id, method } = JSON.parse(frame) as JsonObject;
    if (method === undefined && id === exchange.id) exchange.isAnswered = true;
    if (!this.#isClosed && !this.#isCut) this.#receiver?.frame(Buffer.from(frame));
  }
}

interface Head {
  readonly status: number;
  readonly isStream: boolean;
  readonly session: string | undefined;
  readonly length: number;
}

function readHead(text: string): Head {
  const length = text.indexOf("\r\n\r\n") + 4;
  const head = text.slice(0, length).toLowerCase();
  return {
    status: Number(head.split(" ")[1]),
    isStream: head.includes("content-type: text/event-stream"),
    // Case matters in its value.
    session: /^mcp-session-id: (\S+)/im.exec(text.slice(0, length))?.[1],
    length,
  };
}
