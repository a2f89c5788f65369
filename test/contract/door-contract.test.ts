import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { createMemoryPair } from "../../src/wire/memory.ts";
import { createLineReader, createStdioChannel } from "../../src/wire/stdio.ts";
import { keys, modern, RawClient } from "../servers/client.ts";
import { type Door, openDoor } from "../servers/door.ts";
import {
  connectLegacy,
  connectModern,
  connectPair,
  connectWebSocket,
  type DoorClient,
} from "../servers/door-clients.ts";
import {
  createAskingToolkit,
  createEchoToolkit,
  createFailingToolkit,
  createLibraryToolkit,
  createReportingToolkit,
  createSlowToolkit,
  type SlowToolkit,
} from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/**
 * A client sees the same over every transport. Each request here is sent over every transport and in each of its eras,
 * and the answers are equal, except for the fields that an era adds to all of its messages.
 */
type Era = "legacy" | "modern";
const capabilities = { elicitation: {} };

const lines: readonly (readonly [
  name: string,
  era: Era,
  connect: (door: Door) => Promise<DoorClient>,
])[] = [
  ["memory", "legacy", async (door) => greeted(connectMemory(door))],
  ["memory", "modern", async (door) => connectMemory(door)],
  ["stdio", "legacy", async (door) => greeted(connectStdio(door))],
  ["stdio", "modern", async (door) => connectStdio(door)],
  ["HTTP", "legacy", (door) => connectLegacy(door, { capabilities })],
  ["HTTP", "modern", connectModern],
  ["the SSE pair", "legacy", async (door) => greeted(await connectPair(door))],
  ["the SSE pair", "modern", connectPair],
  ["WebSocket", "legacy", async (door) => greeted(await connectWebSocket(door))],
  ["WebSocket", "modern", (door) => connectWebSocket(door)],
];

async function greeted<Client extends DoorClient>(client: Client): Promise<Client> {
  await client.greet("2025-11-25", capabilities);
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
  return withCancel(client, () => void ours.close());
}

function connectStdio({ hall }: Door): DoorClient {
  const [input, output] = [new PassThrough(), new PassThrough()];
  hall.server.accept(createStdioChannel(input, output, defaultLimits));
  const client = new RawClient((bytes) => void input.write(`${bytes}\n`));
  output.on(
    "data",
    createLineReader(Number.POSITIVE_INFINITY, {
      line: (bytes) => client.deliver(bytes.toString()),
      oversize() {},
    }),
  );
  return withCancel(client, () => input.end());
}

function withCancel(client: RawClient, close: () => void): DoorClient {
  return Object.assign(client, {
    cancel: (id: number) => client.notify("notifications/cancelled", { requestId: id }),
    close,
  });
}

describe.each(lines)("over %s, %s", (_name, era, connect) => {
  interface Line {
    readonly client: DoorClient;
    readonly slow: SlowToolkit;
    start(method: string, params?: JsonObject, meta?: JsonObject): number;
    /** The answer without what its era puts on all answers. */
    answer(id: number): Promise<JsonObject>;
    request(method: string, params?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
  }

  async function open(): Promise<Line> {
    const slow = createSlowToolkit();
    const toolkits = [
      createEchoToolkit(),
      slow,
      createFailingToolkit(),
      createAskingToolkit(),
      createReportingToolkit(),
      createLibraryToolkit(),
    ];
    const door = await openDoor({ toolkits, keepAliveMs: 200 });
    const client = await connect(door);
    onTestFinished(async () => {
      client.close();
      await door[Symbol.asyncDispose]();
    });
    const dress = (params: JsonObject, meta: JsonObject): JsonObject => {
      if (era === "modern") return modern(params, capabilities, meta);
      return Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
    };
    const line: Line = {
      client,
      slow,
      start: (method, params = {}, meta = {}) => client.ask(method, dress(params, meta)),
      answer: async (id) => undress(await client.answer(id)),
      request: (method, params, meta) => line.answer(line.start(method, params, meta)),
    };
    return line;
  }

  function undress({ jsonrpc, id, ...answer }: JsonObject): JsonObject {
    expect(jsonrpc).toBe("2.0");
    expect(typeof id).toBe("number");
    if (!isObject(answer.result)) return answer;
    const { resultType, ttlMs, cacheScope, _meta, ...result } = answer.result;
    const { [keys.serverInfo]: serverInfo, ...meta } = isObject(_meta) ? _meta : {};
    expect(resultType).toBe(era === "modern" ? "complete" : undefined);
    // An error that is a result is written where nobody dresses it any more.
    if (result.isError !== true) expect(serverInfo !== undefined).toBe(era === "modern");
    if (ttlMs !== undefined || cacheScope !== undefined) expect(era).toBe("modern");
    return { result: { ...result, ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}) } };
  }

  test("lists", async () => {
    const { request } = await open();
    const { result } = await request("tools/list");
    const { tools } = result as { tools: JsonObject[] };
    expect(tools.map(({ name }) => name)).toEqual([...tools.map(({ name }) => name)].sort());
    expect(tools.find(({ name }) => name === "echo__typed")).toMatchObject({
      inputSchema: { required: ["text"], additionalProperties: false },
    });
    expect((await request("resources/list")).result).toEqual({
      resources: [
        { uri: "book://alice", name: "alice" },
        { uri: "book://bob", name: "bob" },
      ],
    });
    expect((await request("resources/templates/list")).result).toEqual({
      resourceTemplates: [{ uriTemplate: "page://{number}", name: "page" }],
    });
    expect((await request("prompts/list")).result).toMatchObject({
      prompts: [{ name: "library__review" }],
    });
  });

  test("calls a tool", async () => {
    const { request } = await open();
    const args = { text: "héllo\n\u2028 👍", times: 2 };
    expect(await request("tools/call", { name: "echo.typed", arguments: args })).toEqual({
      result: {
        content: [{ type: "text", text: JSON.stringify(args) }],
        structuredContent: args,
        isError: false,
      },
    });
  });

  test("gets a large answer whole", async () => {
    const { request } = await open();
    const args = { text: "x€".repeat(500_000) };
    const { result } = await request("tools/call", { name: "echo.echo", arguments: args });
    expect(result).toMatchObject({ structuredContent: args, isError: false });
  });

  test("gets the failures of a tool and of the hall", async () => {
    const { request } = await open();
    expect(await request("tools/call", { name: "failing.told" })).toEqual({
      result: { content: [{ type: "text", text: "no such issue" }], isError: true },
    });
    expect(
      await request("tools/call", { name: "failing.hall", arguments: { code: "RATE_LIMITED" } }),
    ).toMatchObject({
      result: {
        isError: true,
        structuredContent: {
          error_type: "rate_limited",
          message: "failed with RATE_LIMITED",
          details: { why: "on purpose" },
        },
      },
    });
    const unexpected = await request("tools/call", { name: "failing.plain" });
    expect(unexpected).toMatchObject({
      error: { code: -32603, data: { error_type: "internal", reference: expect.any(String) } },
    });
    expect(JSON.stringify(unexpected)).not.toContain("hunter2");
  });

  test("gets an error for invalid arguments", async () => {
    const { request } = await open();
    expect(
      await request("tools/call", { name: "echo.typed", arguments: { times: "many" } }),
    ).toMatchObject({
      result: {
        isError: true,
        structuredContent: { error_type: "validation", toolName: "echo.typed" },
      },
    });
  });

  test("gets an error for unknown tools and methods", async () => {
    const { request } = await open();
    expect(await request("tools/call", { name: "echo.ecko" })).toEqual({
      error: {
        code: -32602,
        message: "Unknown tool: echo.ecko; did you mean echo__echo?",
        data: expect.objectContaining({
          error_type: "not_found",
          details: { near: ["echo__echo"] },
          toolName: "echo.ecko",
        }),
      },
    });
    expect(await request("nope")).toEqual({
      error: {
        code: -32601,
        message: "Method not found: nope",
        data: expect.objectContaining({ error_type: "method_not_found" }),
      },
    });
  });

  test("gets progress before the answer", async () => {
    const { client, start, answer } = await open();
    const id = start(
      "tools/call",
      {
        name: "reporting.steps",
        arguments: {
          progress: [
            [1, 2],
            [2, 2],
          ],
          pauseMs: 60,
        },
      },
      { progressToken: "p" },
    );
    for (const progress of [1, 2]) {
      expect(await client.heard("notifications/progress")).toEqual({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "p", progress, total: 2, message: `at ${progress}` },
      });
    }
    expect(await answer(id)).toEqual({
      result: { content: [{ type: "text", text: "reported" }], isError: false },
    });
    expect(
      client.received.findIndex(({ method }) => method === "notifications/progress"),
    ).toBeLessThan(client.received.findIndex((message) => message.id === id));
    expect(client.unread).toEqual([]);
  });

  test("withdraws a call: the tool stops, nothing is answered, the next one is", async () => {
    const { client, slow, start, request } = await open();
    const id = start("tools/call", { name: "slow.wait" }, { progressToken: "p" });
    await until(() => slow.running === 1);
    client.cancel(id);
    // Over modern HTTP this is a stream that is closed, and it must have come that far.
    await expect.poll(() => slow.aborted.length).toBe(1);
    expect((await request("tools/call", { name: "echo.echo" })).result).toMatchObject({
      structuredContent: {},
    });
    expect(
      client.received.some((message) => message.id === id && message.method === undefined),
    ).toBe(false);
  });

  test("is asked, answers, and the call continues", async () => {
    const { client, start, answer, request } = await open();
    const ada = { action: "accept", content: { name: "Ada" } };
    const done = {
      result: {
        content: [{ type: "text", text: JSON.stringify({ name: ada, args: {} }) }],
        structuredContent: { name: ada, args: {} },
        isError: false,
      },
    };
    if (era === "legacy") {
      const id = start("tools/call", { name: "asking.one", arguments: {} });
      const question = await client.heard("elicitation/create");
      expect(question.params).toMatchObject({ message: "Your name?" });
      client.send({ jsonrpc: "2.0", id: question.id, result: ada });
      expect(await answer(id)).toEqual(done);
      return;
    }
    const { result } = await client.answer(
      start("tools/call", { name: "asking.one", arguments: {} }),
    );
    expect(result).toMatchObject({
      resultType: "input_required",
      inputRequests: { name: { method: "elicitation/create", params: { message: "Your name?" } } },
    });
    const { requestState } = result as JsonObject;
    expect(
      await request("tools/call", {
        name: "asking.one",
        arguments: {},
        inputResponses: { name: ada },
        requestState,
      }),
    ).toEqual(done);
  });

  test("reads resources, and gets an error for unknown ones", async () => {
    const { request } = await open();
    expect(await request("resources/read", { uri: "page://7" })).toEqual({
      result: {
        contents: [{ uri: "page://7", mimeType: "text/plain", text: "contents of page://7" }],
      },
    });
    expect(await request("resources/read", { uri: "page://404" })).toEqual({
      error: {
        code: era === "modern" ? -32602 : -32002,
        message: "Resource not found: page://404",
        data: expect.objectContaining({ error_type: "not_found", uri: "page://404" }),
      },
    });
  });

  test("gets prompts and completions", async () => {
    const { request } = await open();
    expect(
      await request("prompts/get", { name: "library.review", arguments: { title: "Emma" } }),
    ).toEqual({
      result: {
        messages: [{ role: "user", content: { type: "text", text: 'review {"title":"Emma"}' } }],
      },
    });
    expect(await request("prompts/get", { name: "library.review" })).toMatchObject({
      error: { code: -32602 },
    });
    const ref = { type: "ref/prompt", name: "library.review" };
    expect(
      await request("completion/complete", { ref, argument: { name: "title", value: "Em" } }),
    ).toEqual({
      result: { completion: { values: ["review:Em"], total: 1, hasMore: false } },
    });
  });

  test("many calls at once each get their own answer", async () => {
    const { start, answer } = await open();
    const ids = Array.from({ length: 50 }, (_, n) =>
      start("tools/call", { name: "echo.echo", arguments: { n } }),
    );
    const answers = await Promise.all(ids.map(answer));
    expect(answers.map(({ result }) => (result as JsonObject).structuredContent)).toEqual(
      ids.map((_, n) => ({ n })),
    );
  });
});
