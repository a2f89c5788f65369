import { createServer, type Server as HttpServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import type { ListKind, Questions, Toolkit } from "../../src/tool.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { keys, modern, RawClient } from "../servers/client.ts";
import { type Door, openDoor } from "../servers/door.ts";
import {
  connectLegacy,
  connectModern,
  connectPair,
  connectWebSocket,
  type DoorClient,
} from "../servers/door-clients.ts";
import { createToolkit, questions, type TestTool, text } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";
import { faulty } from "../servers/upstreams.ts";

/**
 * A client of one era on one transport, a hall, and a server of one era on another: every pair of them does the same.
 * `clientLines` and `upstreamLines` are the sides of the table, `behaviours` what is done in each of its cells.
 */
export type Era = "legacy" | "modern";

/** The questions of these tests, and the client's answers. */
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const answers: Readonly<Record<string, JsonObject>> = {
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "sampling/createMessage": {
    role: "assistant",
    content: { type: "text", text: "Roses" },
    model: "m",
  },
  "roots/list": { roots: [{ uri: "file:///a" }] },
};

export interface ClientLine {
  readonly name: string;
  readonly era: Era;
  connect(door: Door, capabilities: JsonObject): Promise<DoorClient>;
}

export const clientLines: readonly ClientLine[] = [
  { name: "memory", era: "legacy", connect: (door, asked) => greeted(connectMemory(door), asked) },
  { name: "memory", era: "modern", connect: async (door) => connectMemory(door) },
  {
    name: "HTTP",
    era: "legacy",
    connect: (door, asked) => connectLegacy(door, { capabilities: asked }),
  },
  { name: "HTTP", era: "modern", connect: connectModern },
  {
    name: "WebSocket",
    era: "legacy",
    connect: async (door, asked) => greeted(await connectWebSocket(door), asked),
  },
  { name: "WebSocket", era: "modern", connect: (door) => connectWebSocket(door) },
  {
    name: "the SSE pair",
    era: "legacy",
    connect: async (door, asked) => greeted(await connectPair(door), asked),
  },
];

async function greeted(client: DoorClient, asked: JsonObject): Promise<DoorClient> {
  await client.greet("2025-11-25", asked);
  return client;
}

function connectMemory({ hall }: Door): DoorClient {
  const [ours, theirs] = createMemoryPair();
  hall.server.accept(theirs);
  const client = new RawClient((bytes) => ours.send(bytes.toString()));
  ours.start({
    frame: (bytes) => client.deliver(bytes.toString()),
    oversize() {},
    drained() {},
    ended() {},
    closed() {},
  });
  return Object.assign(client, {
    cancel: (id: number) => client.notify("notifications/cancelled", { requestId: id }),
    close: () => void ours.close(),
  });
}

export interface UpstreamLine {
  readonly name: string;
  readonly era: Era;
  start(): Promise<TestUpstream>;
}

export interface TestUpstream extends AsyncDisposable {
  readonly config: ServerConfig;
  /** How many calls of `hang` the server has received. */
  hung(call: Cell["call"]): Promise<number>;
  /** How many calls of `hang` were withdrawn, as the server itself says. */
  withdrawn(call: Cell["call"]): Promise<number>;
  /** Ends every connection to it, or the process it is. */
  cut(call: Cell["call"]): Promise<unknown>;
}

/** HTTP+SSE is a transport of 2024. */
export const upstreamLines: readonly UpstreamLine[] = (["legacy", "modern"] as const).flatMap(
  (era) => [
    { name: "stdio", era, start: async () => startProcess(era) },
    ...(["http", "ws", ...(era === "legacy" ? (["sse"] as const) : [])] as const).map((type) => ({
      name: type,
      era,
      start: () => startServer(type, era),
    })),
  ],
);

function startProcess(era: Era): TestUpstream {
  return {
    // One process, because it is asked what it has heard.
    config: faulty(`${era} progress hang heard log ask error change huge touch crash resources`, {
      share: "always",
    }),
    async hung(call) {
      const heard = JSON.parse(saidBy(await call("heard"))) as JsonObject[];
      return heard.filter(({ params }) => isObject(params) && params.name === "hang").length;
    },
    async withdrawn(call) {
      const heard = JSON.parse(saidBy(await call("heard"))) as JsonObject[];
      return heard.filter(({ method }) => method === "notifications/cancelled").length;
    },
    cut: (call) => call("crash"),
    async [Symbol.asyncDispose]() {},
  };
}

/** A hall of our own with the tools of `faulty.mjs`, behind something that speaks the era and can be cut. */
async function startServer(type: "http" | "sse" | "ws", era: Era): Promise<TestUpstream> {
  const box = createBox();
  const inner = await openDoor({ toolkits: [box], keepAliveMs: 500 });
  const front =
    type === "ws" ? await startSocketFront(inner, era) : await startHttpFront(inner, era);
  const path = { http: "/mcp", sse: "/sse", ws: "/ws" }[type];
  return {
    config: remote(type, `${type === "ws" ? "ws" : "http"}://127.0.0.1:${front.port}${path}`),
    hung: async () => box.hung(),
    withdrawn: async () => box.withdrawn(),
    cut: async () => front.cut(),
    async [Symbol.asyncDispose]() {
      await front.close();
      await inner[Symbol.asyncDispose]();
    },
  };
}

function remote(type: "http" | "sse" | "ws", url: string): ServerConfig {
  const common = {
    start: "lazy",
    idleTimeoutSeconds: 600,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: false,
  } as const;
  return { type, url, headers: {}, ...common };
}

interface Front {
  readonly port: number;
  cut(): void;
  close(): Promise<void>;
}

/** A server of 2025 does not understand a message of 2026; its reaction is not defined. */
const modernMark = "io.modelcontextprotocol/protocolVersion";

async function startHttpFront(inner: Door, era: Era): Promise<Front> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (era === "legacy" && body.includes(modernMark)) {
      outgoing
        .writeHead(400, { "content-type": "text/plain" })
        .end("Bad Request: unsupported protocol version");
      return;
    }
    const { method, url: path, headers } = incoming;
    const passed = httpRequest(
      {
        host: "127.0.0.1",
        port: inner.port,
        method,
        path,
        headers: { ...headers, host: `127.0.0.1:${inner.port}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.on("error", () => outgoing.destroy());
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    passed.end(body);
  });
  const port = await listen(server);
  return { port, cut: () => server.closeAllConnections(), close: () => close(server) };
}

async function startSocketFront(inner: Door, era: Era): Promise<Front> {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const passed = new WebSocket(`ws://127.0.0.1:${inner.port}/ws`);
    const opened = new Promise<void>((resolve) => passed.once("open", () => resolve()));
    socket.on("message", async (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as JsonObject;
      await opened;
      const isKnown = era === "modern" ? method !== "initialize" : !data.includes(modernMark);
      if (isKnown) passed.send(data.toString());
      else
        socket.send(
          JSON.stringify({
            jsonrpc: "2.0",
            id,
            error: { code: -32_601, message: "Method not found" },
          }),
        );
    });
    passed.on("message", (data: Buffer) => socket.send(data.toString()));
    for (const end of [socket, passed]) end.on("error", () => {});
    socket.on("close", () => passed.terminate());
    passed.on("close", () => socket.terminate());
  });
  const port = await listen(server);
  const cut = (): void => sockets.clients.forEach((socket) => void socket.terminate());
  return {
    port,
    cut,
    close() {
      cut();
      return close(server);
    },
  };
}

async function listen(server: HttpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function close(server: HttpServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}

interface Box extends Toolkit {
  hung(): number;
  withdrawn(): number;
}

/** The same tools as the words given to `faulty.mjs`. */
function createBox(): Box {
  const listeners = new Set<(kind: ListKind) => void>();
  const watchers = new Map<string, Set<() => void>>();
  let hung = 0;
  let withdrawn = 0;
  const tools: Record<string, TestTool> = {
    echo: { run: (args) => ({ ...text(JSON.stringify(args)), structuredContent: args }) },
    hang: {
      run: (_args, { scope }) =>
        new Promise((_resolve, reject) => {
          hung++;
          scope.onCancel((reason) => {
            withdrawn++;
            reject(reason);
          });
        }),
    },
    progress: {
      async run({ steps }, context) {
        for (let step = 1; step <= Number(steps); step++) {
          context.progress({ progress: step, total: Number(steps), message: `step ${step}` });
          await wait(70);
        }
        return text("done");
      },
    },
    log: {
      run({ level }, context) {
        context.log(level as "warning", { text: "careful" }, "inner");
        return text("logged");
      },
    },
    ask: {
      async run({ requests }, context) {
        const given = await context.ask(requests as Questions);
        return { ...text(JSON.stringify(given)), structuredContent: given };
      },
    },
    error: {
      run() {
        throw new HallError("EXECUTION", "no luck", {
          relayed: { code: -32_050, message: "no luck", data: { why: ["a", 1] } },
        });
      },
    },
    huge: { run: ({ megabytes }) => text("x".repeat(Number(megabytes) * 1024 * 1024)) },
    change: {
      run({ add }) {
        for (const name of add as string[]) tools[name] = { run: () => text(`${name} was called`) };
        for (const listener of listeners) listener("tools");
        return text("changed");
      },
    },
    touch: {
      run({ uri }) {
        for (const changed of watchers.get(String(uri)) ?? []) changed();
        return text("touched");
      },
    },
  };
  const toolkit = createToolkit("box", tools, {
    prefix: "",
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    resources: {
      list: async () => [{ uri: "note://1", name: "one" }],
      templates: async () => [],
      read: async (uri) => ({ contents: [{ uri, text: `text of ${uri}` }] }),
      watch(uri, changed) {
        const set = watchers.get(uri) ?? new Set();
        watchers.set(uri, set.add(changed));
        return () => set.delete(changed);
      },
    },
  });
  return Object.assign(toolkit, { hung: () => hung, withdrawn: () => withdrawn });
}

/** One cell of the table: the client's end, and what it needs to know of the server's. */
export interface Cell extends AsyncDisposable {
  readonly client: DoorClient;
  readonly clientLine: ClientLine;
  readonly upstreamLine: UpstreamLine;
  readonly door: Door;
  readonly upstream: TestUpstream;
  /** Sends a request as its era does. */
  ask(method: string, params?: JsonObject, meta?: JsonObject): number;
  answer(id: number): Promise<JsonObject>;
  /** The answer to a call of a tool of the server. */
  call(tool: string, args?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
  /** Another client of the same kind. */
  connect(asked?: JsonObject): Promise<Cell>;
}

export async function openCell(clientLine: ClientLine, upstreamLine: UpstreamLine): Promise<Cell> {
  const upstream = await upstreamLine.start();
  const door = await openDoor({
    toolkits: [],
    servers: { box: upstream.config },
    keepAliveMs: 500,
  });
  await until(() => door.hall.registry.findTool("box.echo") !== undefined, "the server is listed");
  expect(door.hall.fleet.get("box").handshake()?.era).toBe(upstreamLine.era);
  const cell = await connectCell({ clientLine, upstreamLine, door, upstream }, capabilities);
  return Object.assign(cell, {
    async [Symbol.asyncDispose]() {
      cell.client.close();
      await door[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  });
}

async function connectCell(
  parts: Pick<Cell, "clientLine" | "upstreamLine" | "door" | "upstream">,
  asked: JsonObject,
): Promise<Cell> {
  const { clientLine, door } = parts;
  const client = await clientLine.connect(door, asked);
  const dress = (params: JsonObject, meta: JsonObject): JsonObject => {
    if (clientLine.era === "modern") return modern(params, asked, meta);
    return Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
  };
  const cell: Cell = {
    ...parts,
    client,
    ask: (method, params = {}, meta = {}) => client.ask(method, dress(params, meta)),
    answer: (id) => client.answer(id),
    call: (tool, args = {}, meta = {}) =>
      cell.answer(cell.ask("tools/call", { name: `box.${tool}`, arguments: args }, meta)),
    connect: (other = asked) => connectCell(parts, other),
    async [Symbol.asyncDispose]() {
      client.close();
    },
  };
  return cell;
}

/** The text of a tool's result. */
function saidBy(answer: JsonObject): string {
  const content =
    isObject(answer.result) && Array.isArray(answer.result.content)
      ? (answer.result.content as JsonObject[])
      : [];
  if (typeof content[0]?.text !== "string")
    throw new Error(`no text in ${JSON.stringify(answer).slice(0, 500)}`);
  return content[0].text;
}

/**
 * Calls `ask`, and answers what is asked on the way as the client's era does. Gives back the
 * questions and the last answer.
 */
async function converse(
  cell: Cell,
  requests: Questions,
): Promise<{ readonly asked: readonly string[]; readonly answer: JsonObject }> {
  const params = { name: "box.ask", arguments: { requests } };
  const id = cell.ask("tools/call", params);
  if (cell.clientLine.era === "legacy") {
    const asked: string[] = [];
    for (const { method } of Object.values(requests)) {
      const question = await cell.client.heard(method);
      asked.push(method);
      cell.client.send({ jsonrpc: "2.0", id: question.id, result: answers[method] });
    }
    return { asked, answer: await cell.answer(id) };
  }
  let answer = await cell.answer(id);
  const asked: string[] = [];
  while (isObject(answer.result) && answer.result.resultType === "input_required") {
    const { inputRequests, requestState } = answer.result as {
      inputRequests: Record<string, JsonObject>;
      requestState: unknown;
    };
    const inputResponses = Object.fromEntries(
      Object.entries(inputRequests).map(([key, { method }]) => [key, answers[String(method)]]),
    );
    asked.push(...Object.values(inputRequests).map(({ method }) => String(method)));
    answer = await cell.answer(cell.ask("tools/call", { ...params, inputResponses, requestState }));
  }
  return { asked, answer };
}

/** Everything of one method that arrived, read or not. */
function received({ client }: Cell, method: string): readonly JsonObject[] {
  return client.received
    .filter((message) => message.method === method)
    .map(({ params }) => (params ?? {}) as JsonObject);
}

/** Says that this client wants to hear of changes, as its era does. */
async function listenFor(cell: Cell): Promise<void> {
  if (cell.clientLine.era === "legacy") {
    expect(await cell.answer(cell.ask("resources/subscribe", { uri: "note://1" }))).toMatchObject({
      result: {},
    });
    return;
  }
  cell.ask("subscriptions/listen", {
    notifications: { toolsListChanged: true, resourceSubscriptions: ["note://1"] },
  });
  const { params } = await cell.client.heard("notifications/subscriptions/acknowledged");
  expect(params).toMatchObject({
    notifications: { toolsListChanged: true, resourceSubscriptions: ["note://1"] },
  });
}

/** In the order they are done: the last ones leave broken lines behind. */
export const behaviours: Readonly<Record<string, (cell: Cell) => Promise<void>>> = {
  async "a call"(cell) {
    const args = { text: "grüße 🙂", list: [1, null, { deep: true }] };
    const { result } = await cell.call("echo", args);
    expect(result).toMatchObject({ structuredContent: args });
    expect(JSON.parse(saidBy({ result }))).toEqual(args);
    expect(isObject(result) && result.resultType).toBe(
      cell.clientLine.era === "modern" ? "complete" : undefined,
    );
  },

  async "many calls at once"(cell) {
    const given = await Promise.all(Array.from({ length: 20 }, (_, n) => cell.call("echo", { n })));
    expect(given.map((answer) => JSON.parse(saidBy(answer)))).toEqual(given.map((_, n) => ({ n })));
  },

  async "progress under the client's token, growing"(cell) {
    expect(saidBy(await cell.call("progress", { steps: 3 }, { progressToken: "mine" }))).toBe(
      "done",
    );
    const steps = received(cell, "notifications/progress");
    const reached = steps.map(({ progress }) => Number(progress));
    // Steps that come too fast are left out, the last one never.
    expect(reached.at(-1)).toBe(3);
    expect(reached.every((step, n) => n === 0 || step > Number(reached[n - 1]))).toBe(true);
    expect(steps).toMatchObject(
      reached.map((progress) => ({
        progressToken: "mine",
        progress,
        total: 3,
        message: `step ${progress}`,
      })),
    );
  },

  async "an error as the server says it"(cell) {
    expect((await cell.call("error")).error).toEqual({
      code: -32_050,
      message: "no luck",
      data: { why: ["a", 1] },
    });
  },

  async "an unknown tool"(cell) {
    expect((await cell.call("no_such_tool")).error).toMatchObject({ code: -32_602 });
  },

  async "a large result"(cell) {
    expect(saidBy(await cell.call("huge", { megabytes: 2 }))).toHaveLength(2 * 1024 * 1024);
  },

  async "logs at the level the client wants"(cell) {
    const isModern = cell.clientLine.era === "modern";
    if (!isModern)
      expect((await cell.answer(cell.ask("logging/setLevel", { level: "notice" }))).result).toEqual(
        {},
      );
    const level = isModern ? { [keys.logLevel]: "notice" } : {};
    await cell.call("log", { level: "info" }, level);
    await cell.call("log", { level: "warning" }, level);
    if (isModern) await cell.call("log", { level: "warning" });
    expect(received(cell, "notifications/message")).toMatchObject([
      { level: "warning", logger: "box/inner", data: { text: "careful" } },
    ]);
  },

  async "what only one era has"(cell) {
    const ping = await cell.answer(cell.ask("ping"));
    const discover = await cell.answer(cell.ask("server/discover"));
    if (cell.clientLine.era === "legacy") {
      expect(ping.result).toEqual({});
      expect(discover.error).toMatchObject({ code: -32_601 });
    } else {
      expect(ping.error).toMatchObject({ code: -32_601 });
      expect(discover.result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    }
  },

  async elicitation(cell) {
    const { asked, answer } = await converse(cell, { name: questions.name });
    expect(asked).toEqual(["elicitation/create"]);
    expect(JSON.parse(saidBy(answer))).toMatchObject({ name: answers["elicitation/create"] });
  },

  async sampling(cell) {
    const { asked, answer } = await converse(cell, { poem: questions.poem });
    expect(asked).toEqual(["sampling/createMessage"]);
    expect(JSON.parse(saidBy(answer))).toMatchObject({ poem: answers["sampling/createMessage"] });
  },

  async roots(cell) {
    const { asked, answer } = await converse(cell, { roots: questions.roots });
    expect(asked).toEqual(["roots/list"]);
    expect(JSON.parse(saidBy(answer))).toMatchObject({ roots: answers["roots/list"] });
  },

  async "questions to a client that cannot be asked"(cell) {
    await using mute = await cell.connect({});
    const answer = await mute.call("ask", { requests: { name: questions.name } });
    // Either the client is asked, or the server is refused and continues; no answer is invented.
    const code = isObject(answer.error)
      ? answer.error.code
      : (JSON.parse(saidBy(answer)) as { name: { error: { code: number } } }).name.error.code;
    expect([-32_021, -32_601]).toContain(code);
    expect(received(mute, "elicitation/create")).toEqual([]);
  },

  async "changes of lists and of resources"(cell) {
    await listenFor(cell);
    const before = received(cell, "notifications/tools/list_changed").length;
    await cell.call("change", { add: ["extra"] });
    const isListed = async (): Promise<boolean> => {
      const { tools } = (await cell.answer(cell.ask("tools/list"))).result as {
        tools: JsonObject[];
      };
      return tools.some(({ name }) => name === "box__extra");
    };
    await until(
      async () =>
        received(cell, "notifications/tools/list_changed").length > before && (await isListed()),
      "the new tool is announced and listed",
    );
    expect(saidBy(await cell.call("extra"))).toBe("extra was called");
    await until(async () => {
      await cell.call("touch", { uri: "note://1" });
      return received(cell, "notifications/resources/updated").length > 0;
    }, "the change of a resource is heard of");
    expect(received(cell, "notifications/resources/updated")[0]).toMatchObject({ uri: "note://1" });
  },

  async "a call the client withdraws"(cell) {
    const before = await cell.upstream.withdrawn(cell.call);
    const id = await hang(cell);
    cell.client.cancel(id);
    await until(
      async () => (await cell.upstream.withdrawn(cell.call)) === before + 1,
      "the server hears that it was withdrawn",
    );
    expect(cell.client.received.filter((message) => message.id === id)).toEqual([]);
  },

  async "a client that goes away"(cell) {
    const before = await cell.upstream.withdrawn(cell.call);
    const gone = await cell.connect();
    await hang(gone);
    gone.client.close();
    // A legacy client over HTTP may come back for its answer; all others have withdrawn what they asked.
    const isKept = cell.clientLine.era === "legacy" && cell.clientLine.name === "HTTP";
    if (!isKept)
      await until(
        async () => (await cell.upstream.withdrawn(cell.call)) === before + 1,
        "the server hears that the client is gone",
      );
    expect(saidBy(await cell.call("echo", { still: "here" }))).toBe('{"still":"here"}');
    if (isKept) expect(await cell.upstream.withdrawn(cell.call)).toBe(before);
  },

  async "a server that goes away"(cell) {
    const running = cell.answer(await hang(cell));
    await cell.upstream.cut(cell.call);
    const { result } = await running;
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error_type: expect.stringMatching(/^(unavailable|bad_answer)$/) },
    });
    await until(
      async () =>
        isObject((await cell.call("echo")).result) &&
        saidOrNothing(await cell.call("echo", { n: 1 })) === '{"n":1}',
      "it is back",
    );
  },
};

function saidOrNothing(answer: JsonObject): string | undefined {
  return isObject(answer.result) && answer.result.isError !== true ? saidBy(answer) : undefined;
}

/** Calls `hang`, and resolves with the id of the request once it has reached the server. */
async function hang(cell: Cell): Promise<number> {
  const before = await cell.upstream.hung(cell.call);
  const id = cell.ask("tools/call", { name: "box.hang", arguments: {} });
  await until(async () => (await cell.upstream.hung(cell.call)) > before, "the call has begun");
  return id;
}
