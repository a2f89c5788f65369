import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import { modern } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { until } from "../servers/until.ts";

/** The reference server over each of its transports, behind one hall: whatever differs is the hall's doing. */
const transports = ["stdio", "sse", "http"] as const;
const capabilities = { elicitation: {}, sampling: {}, roots: {} };
const children: ChildProcess[] = [];
let hall: TestHall;

beforeAll(async () => {
  const file = join(
    dirname(
      createRequire(import.meta.url).resolve(
        "@modelcontextprotocol/server-everything/package.json",
      ),
    ),
    "dist",
    "index.js",
  );
  const common = {
    start: "lazy",
    idleTimeoutSeconds: 600,
    tools: { include: ["*"], exclude: [] },
    disabled: false,
    allowPrivate: false,
  } as const;
  const [ssePort, httpPort] = await Promise.all([
    startServer(file, "sse"),
    startServer(file, "streamableHttp"),
  ]);
  const servers: Record<(typeof transports)[number], ServerConfig> = {
    stdio: { type: "stdio", command: process.execPath, args: [file, "stdio"], env: {}, ...common },
    sse: { type: "sse", url: `http://127.0.0.1:${ssePort}/sse`, headers: {}, ...common },
    http: { type: "http", url: `http://127.0.0.1:${httpPort}/mcp`, headers: {}, ...common },
  };
  hall = await startHall({ toolkits: [], servers });
  await until(
    () => transports.every((name) => hall.hall.registry.findTool(`${name}.echo`) !== undefined),
    "all three are listed",
  );
});

afterAll(async () => {
  await hall?.[Symbol.asyncDispose]();
  for (const child of children) child.kill("SIGKILL");
});

async function startServer(file: string, transport: string): Promise<number> {
  const port = await freePort();
  const child = spawn(process.execPath, [file, transport], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PORT: String(port) },
  });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    const listen = (bytes: Buffer): void => {
      if (bytes.includes(String(port))) resolve();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", (code) =>
      reject(new Error(`server-everything ${transport} ended with ${code}`)),
    );
  });
  return port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function upstreams(): readonly Upstream[] {
  return transports.map((name) => hall.hall.fleet.get(name));
}

/** The same from all three; gives back the one answer. */
async function fromEach<T>(ask: (name: string) => Promise<T>): Promise<T> {
  const [first, ...others] = await Promise.all(transports.map(ask));
  for (const other of others) expect(other).toEqual(first);
  return first as T;
}

/** A client that answers every question the same way, in its era. */
async function connect(
  era: "legacy" | "modern",
): Promise<(name: string, args?: JsonObject, meta?: JsonObject) => Promise<JsonObject>> {
  const client = hall.connect();
  if (era === "legacy") await client.greet("2025-11-25", capabilities);
  const ask = (params: JsonObject, meta: JsonObject): number =>
    client.ask(
      "tools/call",
      era === "modern" ? modern(params, capabilities, meta) : { ...params, _meta: meta },
    );
  return async (name, args = {}, meta = {}) => {
    let id = ask({ name, arguments: args }, meta);
    for (;;) {
      const message = await client.take(
        (given) => given.id === id || (given.method !== undefined && given.id !== undefined),
        `an answer of ${name}`,
      );
      if (message.method !== undefined)
        client.send({ jsonrpc: "2.0", id: message.id, result: answers[String(message.method)] });
      else if (isObject(message.result) && message.result.resultType === "input_required") {
        const { inputRequests, requestState } = message.result as {
          inputRequests: Record<string, JsonObject>;
          requestState: unknown;
        };
        const inputResponses = Object.fromEntries(
          Object.entries(inputRequests).map(([key, { method }]) => [key, answers[String(method)]]),
        );
        id = ask({ name, arguments: args, inputResponses, requestState }, meta);
      } else return message;
    }
  };
}

const answers: Readonly<Record<string, JsonObject>> = {
  "elicitation/create": {
    action: "accept",
    content: { name: "Ada", check: true, firstLine: "one", email: "ada@example.com" },
  },
  "sampling/createMessage": {
    role: "assistant",
    content: { type: "text", text: "Roses" },
    model: "m",
  },
  "roots/list": { roots: [{ uri: "file:///a", name: "a" }] },
};

const calls: readonly (readonly [tool: string, args: JsonObject])[] = [
  ["echo", { message: "grüße 🙂" }],
  ["get-sum", { a: 2, b: 3 }],
  ["get-sum", { a: "two", b: 3 }],
  ["get-tiny-image", {}],
  ["get-structured-content", { location: "Chicago" }],
  ["get-annotated-message", { messageType: "error", includeImage: true }],
  ["get-resource-links", { count: 3 }],
  ["get-resource-reference", { resourceType: "Text", resourceId: 1 }],
  ["trigger-long-running-operation", { duration: 0.2, steps: 4 }],
  ["trigger-sampling-request", { prompt: "a poem", maxTokens: 10 }],
  ["trigger-elicitation-request", {}],
  ["get-roots-list", {}],
  ["no-such-tool", {}],
];

test("the server offers the same over stdio, SSE and HTTP", async () => {
  const [stdio, ...others] = upstreams().map((upstream) => ({
    offer: upstream.offer(),
    handshake: upstream.handshake(),
  }));
  expect(stdio?.offer.tools.length).toBeGreaterThan(10);
  expect(stdio?.offer.prompts.length).toBeGreaterThan(2);
  expect(stdio?.offer.resources.length).toBeGreaterThan(2);
  for (const { offer, handshake } of others) {
    // A list that was read again says that nothing was skipped.
    expect({ skipped: [], ...offer }).toEqual({ skipped: [], ...stdio?.offer });
    expect(handshake?.info).toEqual(stdio?.handshake?.info);
    expect(handshake?.capabilities).toEqual(stdio?.handshake?.capabilities);
  }
});

test("its output schemas are shown without the stamp that strict clients refuse", async () => {
  const client = hall.connect();
  await client.greet();
  const { tools } = (await client.result("tools/list")) as {
    tools: { name: string; outputSchema?: JsonObject }[];
  };
  const promising = tools.filter(({ outputSchema }) => outputSchema !== undefined);
  expect(promising.map(({ name }) => name)).toContain("http__get-structured-content");
  for (const { name, outputSchema } of promising)
    expect(String(outputSchema?.$schema ?? "none"), name).not.toContain("draft-07");
});

test.each(["legacy", "modern"] as const)(
  "the same calls of a %s client have the same results over stdio, SSE and HTTP",
  async (era) => {
    const call = await connect(era);
    for (const [tool, args] of calls) {
      // One after the other: a question of one must not be answered for another.
      const given: JsonObject[] = [];
      for (const name of transports) given.push(strip(await call(`${name}.${tool}`, args), name));
      for (const answer of given) expect(answer, tool).toEqual(given[0]);
      expect(given[0]?.error === undefined, tool).toBe(tool !== "no-such-tool");
      const isAsking =
        tool === "trigger-sampling-request" ||
        tool === "get-roots-list" ||
        tool === "trigger-elicitation-request";
      if (isAsking) expect(JSON.stringify(given[0]), tool).toMatch(/Roses|file:\/\/\/a|Ada/);
    }
  },
);

test("progress arrives over each of them, under the client's token, growing to the end", async () => {
  const client = hall.connect();
  await client.greet();
  for (const name of transports) {
    const progressToken = `of ${name}`;
    const params = {
      name: `${name}.trigger-long-running-operation`,
      arguments: { duration: 0.6, steps: 3 },
      _meta: { progressToken },
    };
    await client.answer(client.ask("tools/call", params));
    const steps = client.received.flatMap(({ method, params: given }) =>
      method === "notifications/progress" &&
      isObject(given) &&
      given.progressToken === progressToken
        ? [given]
        : [],
    );
    const reached = steps.map(({ progress }) => Number(progress));
    expect(reached.at(-1)).toBe(3);
    expect(reached.every((step, n) => n === 0 || step > Number(reached[n - 1]))).toBe(true);
    expect(steps.every(({ total }) => total === 3)).toBe(true);
  }
});

test("prompts and completions are the same over each of them", async () => {
  const client = hall.connect();
  await client.greet();
  const ref = (name: string): JsonObject => ({
    type: "ref/prompt",
    name: `${name}.completable-prompt`,
  });
  const given = await fromEach(async (name) => [
    strip(await client.request("prompts/get", { name: `${name}.simple-prompt` }), name),
    strip(
      await client.request("prompts/get", {
        name: `${name}.args-prompt`,
        arguments: { city: "Oslo" },
      }),
      name,
    ),
    strip(
      await client.request("completion/complete", {
        ref: ref(name),
        argument: { name: "department", value: "E" },
      }),
      name,
    ),
  ]);
  expect(given).toMatchObject([
    { result: { messages: [{ role: "user" }] } },
    { result: { messages: [{ role: "user" }] } },
    { result: { completion: { values: ["Engineering"] } } },
  ]);
});

/** An answer without its id and the time of day, and with the server's own name for the tool. */
function strip({ id: _id, ...answer }: JsonObject, name: string): JsonObject {
  const text = JSON.stringify(answer)
    .replaceAll(`${name}.`, "")
    .replaceAll(/\d{1,2}:\d\d:\d\d [AP]M/g, "now");
  return JSON.parse(text) as JsonObject;
}
