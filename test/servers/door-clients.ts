import { WebSocket } from "ws";
import type { JsonObject } from "../../src/base/json.ts";
import { clientInfo, modern, modernVersion, RawClient } from "./client.ts";
import type { Door, OpenReply, Reply } from "./door.ts";

/** Raw clients for every way through the door: each sends what it is given and keeps every message it gets. */
export interface DoorClient extends RawClient {
  /** Withdraws a request in this transport's own way. */
  cancel(id: number): void;
  close(): void;
}

type Message = JsonObject & { readonly params?: JsonObject };

/** The parameter that `Mcp-Name` repeats. */
const namedBy: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
};

/** The headers a modern POST of this message needs. */
export function modernHeaders({ method, params = {} }: Message): Record<string, string> {
  const named = params[namedBy[String(method)] ?? ""];
  return {
    "mcp-protocol-version": modernVersion,
    "mcp-method": String(method),
    ...(named === undefined ? {} : { "mcp-name": headerValue(String(named)) }),
  };
}

/** A value as it is written in a header: in base64 where it is not plain. */
function headerValue(value: string): string {
  const isPlain =
    /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/** One modern request, its answer read to the end. */
export function askModern(
  door: Door,
  method: string,
  params: JsonObject = {},
  headers: Record<string, string | undefined> = {},
): Promise<Reply> {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method,
    params: "_meta" in params ? params : modern(params),
  };
  return door.send({ body: message, headers: { ...modernHeaders(message), ...headers } });
}

/** One modern request whose answer is read as it comes. */
export function openModern(
  door: Door,
  method: string,
  params: JsonObject,
  headers: Record<string, string | undefined> = {},
): Promise<OpenReply> {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method,
    params: "_meta" in params ? params : modern(params),
  };
  return door.open({ body: message, headers: { ...modernHeaders(message), ...headers } });
}

/** A legacy connection over HTTP, message by message. */
export interface Session {
  readonly id: string;
  readonly version: string;
  /** The headers of its requests. */
  readonly headers: Readonly<Record<string, string>>;
  send(
    body: JsonObject | readonly unknown[] | string | Buffer,
    headers?: Readonly<Record<string, string | undefined>>,
  ): Promise<Reply>;
  open(
    body: JsonObject | readonly unknown[],
    headers?: Readonly<Record<string, string | undefined>>,
  ): Promise<OpenReply>;
  /** The GET stream. */
  listen(lastEventId?: string): Promise<OpenReply>;
}

export interface GreetOptions {
  readonly version?: string;
  readonly capabilities?: JsonObject;
  /** Of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export async function greet(
  door: Door,
  { version = "2025-11-25", capabilities = {}, headers = {} }: GreetOptions = {},
): Promise<Session> {
  const params = { protocolVersion: version, capabilities, clientInfo };
  const reply = await door.send({
    body: { jsonrpc: "2.0", id: "greeting", method: "initialize", params },
    headers,
  });
  const id = reply.headers["mcp-session-id"];
  if (reply.status !== 200 || typeof id !== "string")
    throw new Error(`initialize failed: ${reply.status} ${reply.text}`);
  const sent = { ...headers, "mcp-session-id": id, "mcp-protocol-version": version };
  const session: Session = {
    id,
    version,
    headers: sent,
    send: (body, more = {}) => door.send({ body, headers: { ...sent, ...more } }),
    open: (body, more = {}) => door.open({ body, headers: { ...sent, ...more } }),
    listen: (last) =>
      door.open({
        method: "GET",
        headers: {
          ...sent,
          accept: "text/event-stream",
          ...(last === undefined ? {} : { "last-event-id": last }),
        },
      }),
  };
  await session.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return session;
}

export function call(
  id: unknown,
  name: string,
  args: JsonObject = {},
  more: JsonObject = {},
): JsonObject {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, ...more } };
}

/** A raw client over legacy HTTP, with its GET stream open. The handshake is done. */
export async function connectLegacy(door: Door, options: GreetOptions = {}): Promise<DoorClient> {
  const session = await greet(door, options);
  const general = await session.listen();
  const client: RawClient = new RawClient(
    (bytes) => void post(JSON.parse(bytes.toString()) as JsonObject),
  );
  general.events.forward((text) => client.deliver(text));
  async function post(message: JsonObject): Promise<void> {
    // A request that is cut when the door closes has no answer to deliver.
    await session.open(message).then(
      (reply) => deliverAll(reply, client),
      () => {},
    );
  }
  return Object.assign(client, {
    cancel: (id: number) => client.notify("notifications/cancelled", { requestId: id }),
    close: () => general.cut(),
  });
}

/** A raw client of modern requests over HTTP: a POST each. Its params need their envelope. */
export async function connectModern(door: Door): Promise<DoorClient> {
  const running = new Map<unknown, Promise<OpenReply>>();
  const client: RawClient = new RawClient((bytes) => {
    const message = JSON.parse(bytes.toString()) as Message;
    const opened = door.open({ body: message, headers: modernHeaders(message) });
    running.set(message.id, opened);
    // A request that is cut when the door closes has no answer to deliver.
    void opened.then(
      (reply) => deliverAll(reply, client),
      () => {},
    );
  });
  const cut = async (id: unknown): Promise<void> =>
    (await running.get(id)?.catch(() => undefined))?.cut();
  return Object.assign(client, {
    cancel: (id: number) => void cut(id),
    close: () => [...running.keys()].forEach((id) => void cut(id)),
  });
}

/** Messages of an answer, whether it is one JSON object or a stream. */
function deliverAll({ headers, events }: OpenReply, client: RawClient): void {
  if (headers["content-type"] === "text/event-stream")
    events.forward((text) => client.deliver(text));
  else void events.ended.then(() => (events.text === "" ? undefined : client.deliver(events.text)));
}

/** A raw client over the old pair of endpoints. */
export async function connectPair(
  door: Door,
): Promise<DoorClient & { readonly endpoint: string; readonly stream: OpenReply }> {
  const stream = await door.open({
    method: "GET",
    path: "/sse",
    headers: { accept: "text/event-stream" },
  });
  const { event, data: endpoint = "" } = await stream.events.next();
  if (event !== "endpoint") throw new Error(`the first event is ${event}`);
  const client = new RawClient(
    (bytes) => void door.send({ path: endpoint, body: Buffer.from(bytes) }).catch(() => {}),
  );
  stream.events.forward((text) => client.deliver(text));
  return Object.assign(client, {
    endpoint,
    stream,
    cancel: (id: number) => client.notify("notifications/cancelled", { requestId: id }),
    close: () => stream.cut(),
  });
}

export interface WebSocketClient extends DoorClient {
  readonly socket: WebSocket;
  /** The code the socket was closed with. */
  readonly closed: Promise<number>;
}

export interface WebSocketKnock {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  readonly path?: string;
}

/** A raw client over WebSocket. Rejects with the status when the door stays shut. */
export async function connectWebSocket(
  door: Door,
  { headers = {}, protocols = [], path = "/ws" }: WebSocketKnock = {},
): Promise<WebSocketClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${door.port}${path}`, [...protocols], {
    headers,
    perMessageDeflate: false,
  });
  const client = new RawClient((bytes) => socket.send(bytes.toString()));
  socket.on("message", (data: Buffer) => client.deliver(data.toString()));
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.on("error", reject);
    socket.on("unexpected-response", (_request, { statusCode }) =>
      reject(Object.assign(new Error(`refused with ${statusCode}`), { status: statusCode })),
    );
  });
  return Object.assign(client, {
    socket,
    closed,
    cancel: (id: number) => client.notify("notifications/cancelled", { requestId: id }),
    close: () => socket.terminate(),
  });
}
