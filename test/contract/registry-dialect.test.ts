import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { createBuiltinToolkits } from "../../src/toolkits/builtin.ts";
import { defaultLimits } from "../../src/wire/channel.ts";
import { createLineReader, createStdioChannel } from "../../src/wire/stdio.ts";
import { modern, RawClient } from "../servers/client.ts";
import { type Door, openDoor } from "../servers/door.ts";
import { connectLegacy, connectWebSocket, greet, modernHeaders } from "../servers/door-clients.ts";
import * as document from "../servers/registry-document.ts";
import { createEchoToolkit, createToolkit } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/**
 * Every message of the registry protocol's document, replayed over every transport: ids and times
 * aside, the answers are the document's.
 */
let door: Door;
beforeAll(async () => {
  const failing = createToolkit("failing", {
    execution: { run: () => Promise.reject(new HallError("EXECUTION", "it broke")) },
    said: { run: () => ({ content: [{ type: "text", text: "it said so" }], isError: true }) },
    internal: { run: () => Promise.reject(new Error("secret stack")) },
    limited: {
      run: () =>
        Promise.reject(
          new HallError("RATE_LIMITED", "wait", { details: { retryAfterSeconds: 3 } }),
        ),
    },
    strict: {
      inputSchema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
      run: () => ({ content: [] }),
    },
  });
  door = await openDoor({
    toolkits: [createEchoToolkit(), failing],
    healthCheck: { timeoutMs: 300 },
  });
});
afterAll(() => door[Symbol.asyncDispose]());

const headers = (): Record<string, string> => ({ authorization: `Bearer ${door.token}` });

function connectStdio(): RawClient {
  const input = new PassThrough();
  const output = new PassThrough();
  door.hall.server.accept(createStdioChannel(input, output, defaultLimits));
  const client = new RawClient((bytes) => void input.write(`${bytes}\n`));
  output.on(
    "data",
    createLineReader(Number.POSITIVE_INFINITY, {
      line: (bytes) => client.deliver(bytes.toString()),
      oversize() {},
    }),
  );
  return client;
}

/** A service that registers as the document does, and answers what it is told to. */
async function startService(
  client: RawClient,
  answer: (request: JsonObject) => JsonObject | undefined,
): Promise<JsonObject> {
  const serve = async (): Promise<void> => {
    for (;;) {
      const request = await client.take(
        (message) => typeof message.method === "string" && message.id !== undefined,
        "a request",
      );
      const reply = answer(request);
      if (reply) client.send({ jsonrpc: "2.0", id: request.id, ...reply });
    }
  };
  client.send(document.registration);
  const registered = await client.answer(document.registration.id);
  void serve().catch(() => {});
  return registered;
}

const helpful = ({ method, params }: JsonObject): JsonObject =>
  method === "health/check"
    ? {
        result: {
          status: "healthy",
          response_time_ms: 45,
          version: "1.0.0",
          capabilities: ["web_search"],
          last_error: null,
        },
      }
    : {
        result: {
          call_id: (params as JsonObject).call_id,
          status: "completed",
          data: document.callData,
          execution_time_ms: 1,
        },
      };

/** One message, one answer, over each transport. */
const ways: Readonly<Record<string, (message: JsonObject) => Promise<JsonObject>>> = {
  async stdio(message) {
    const client = connectStdio();
    client.send(message);
    return client.answer(message.id);
  },
  async WebSocket(message) {
    const client = await connectWebSocket(door, { headers: headers() });
    client.send(message);
    const answer = await client.answer(message.id);
    client.close();
    return answer;
  },
  async HTTP(message) {
    const { json } = await door.send({ body: message, headers: headers() });
    return json as JsonObject;
  },
  async "legacy HTTP"(message) {
    const session = await greet(door, { headers: headers() });
    const { json } = await session.send(message);
    return json as JsonObject;
  },
};

beforeEach(async () => {
  for (const { id } of door.hall.registrations.all()) await door.hall.registrations.unregister(id);
});

describe.each(Object.keys(ways))("%s", (name) => {
  const ask = ways[name] as (message: JsonObject) => Promise<JsonObject>;

  test("registration", async () => {
    expect(await ask(document.registration)).toEqual(document.registrationAnswer);
    expect(await ask(document.registration)).toEqual(document.registrationAnswer);
    expect(door.hall.registry.getTool("search_tool.web_search").tool).toMatchObject({
      inputSchema: document.registration.params.tool.functions[0].parameters,
      outputSchema: document.registration.params.tool.functions[0].returns,
    });
  });

  test("a call and its answer", async () => {
    await startService(connectStdio(), helpful);
    const answer = await ask(document.call);
    const { execution_time_ms: ms } = answer.result as JsonObject;
    expect(ms).toEqual(expect.any(Number));
    expect(answer).toEqual({
      ...document.callAnswer,
      result: { ...document.callAnswer.result, execution_time_ms: ms },
    });
  });

  test("a call that takes too long", async () => {
    await startService(connectStdio(), () => undefined);
    const answer = await ask({
      ...document.call,
      params: { ...document.call.params, timeout: 0.1 },
    });
    expect(answer).toMatchObject({
      id: 2,
      error: {
        ...document.timeoutAnswer.error,
        data: { ...document.timeoutAnswer.error.data, details: expect.stringContaining("0.1 s") },
      },
    });
  });

  test("health", async () => {
    await startService(connectStdio(), helpful);
    const answer = await ask(document.healthCheck);
    const { response_time_ms: ms } = answer.result as JsonObject;
    expect(answer).toEqual({
      ...document.healthAnswer,
      result: { ...document.healthAnswer.result, response_time_ms: ms },
    });
  });

  const errors: readonly [number, string, JsonObject][] = [
    [-32000, "internal", { tool_name: "failing", function_name: "internal" }],
    [-32001, "execution", { tool_name: "failing", function_name: "execution" }],
    [-32001, "execution", { tool_name: "failing", function_name: "said" }],
    [-32002, "toolkit_not_found", { tool_name: "failling", function_name: "execution" }],
    [-32003, "not_found", { tool_name: "failing", function_name: "executoin" }],
    [
      -32004,
      "validation",
      { tool_name: "failing", function_name: "strict", arguments: { a: "b" } },
    ],
    [-32007, "rate_limited", { tool_name: "failing", function_name: "limited" }],
    [-32602, "invalid_params", { tool_name: "echo", function_name: "echo", call_id: 7 }],
    [-32602, "invalid_params", { tool_name: "echo", function_name: "echo", timeout: -1 }],
    [-32602, "invalid_params", { tool_name: "echo", function_name: "echo", arguments: [] }],
    [-32602, "invalid_params", { tool_name: "echo", function_name: "echo", name: "echo.echo" }],
    [-32602, "invalid_params", { tool_name: "echo" }],
  ];
  test.each(errors)("%i %s", async (code, type, params) => {
    const { error } = await ask({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { call_id: "any id", ...params },
    });
    const words = new Map(document.errorCodes).get(code);
    expect(error).toMatchObject({
      code,
      message: words ?? expect.any(String),
      data: { error_type: type, details: expect.any(String), suggestion: expect.any(String) },
    });
    if (params.call_id === undefined)
      expect((error as JsonObject).data).toMatchObject({ call_id: "any id" });
    expect(JSON.stringify(error)).not.toContain("secret stack");
  });

  test("-32006 when no service is attached", async () => {
    await ways.HTTP?.(document.registration);
    expect(await ask(document.call)).toMatchObject({
      error: {
        code: -32006,
        message: "Service unavailable",
        data: {
          call_id: "uuid-123-456-789",
          error_type: "unavailable",
          limited: "search_tool.web_search",
        },
      },
    });
    expect(await ask(document.healthCheck)).toMatchObject({
      result: {
        status: "unhealthy",
        last_error: expect.stringContaining("no service is attached"),
      },
    });
  });

  test("registrations are listed, read, and removed", async () => {
    await ask(document.registration);
    const listed = (await ask({ jsonrpc: "2.0", id: 4, method: "tools/registered" }))
      .result as JsonObject;
    expect(listed).toMatchObject({
      tools: [
        {
          tool_id: "search_tool_v1",
          name: "search_tool",
          category: "SEARCH",
          functions: ["web_search"],
        },
      ],
    });
    const wanted = { tool_name: "search_tool", function_name: "web_search" };
    expect(
      await ask({ jsonrpc: "2.0", id: 5, method: "tools/schema", params: wanted }),
    ).toMatchObject({
      result: { parameters: document.registration.params.tool.functions[0].parameters },
    });
    expect(
      await ask({
        jsonrpc: "2.0",
        id: 6,
        method: "tools/unregister",
        params: { tool_name: "search_tool" },
      }),
    ).toEqual({
      jsonrpc: "2.0",
      id: 6,
      result: { tool_id: "search_tool_v1", status: "unregistered" },
    });
    expect(await ask(document.call)).toMatchObject({
      error: { code: -32002, data: { available: ["echo", "failing"] } },
    });
  });
});

test("a call_id has up to 128 characters, and one is made where none is given", async () => {
  const ask = (params: JsonObject) =>
    ways.stdio?.({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { tool_name: "echo", function_name: "echo", ...params },
    });
  expect(await ask({ call_id: "é".repeat(128) })).toMatchObject({
    result: { call_id: "é".repeat(128) },
  });
  expect(await ask({ call_id: "x".repeat(129) })).toMatchObject({ error: { code: -32602 } });
  expect(await ask({})).toMatchObject({
    result: { call_id: expect.stringMatching(/^[\da-f-]{36}$/) },
  });
});

test("with a modern _meta the dialect is refused, in either form", async () => {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: modern(document.call.params),
  };
  expect(await ways.stdio?.(message)).toMatchObject({ error: { code: -32602 } });
  const { json } = await door.send({
    body: message,
    headers: { ...headers(), ...modernHeaders(message) },
  });
  expect(json).toMatchObject({ error: { code: expect.any(Number) } });
  expect(
    await ways.stdio?.({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/register",
      params: modern(document.registration.params),
    }),
  ).toMatchObject({
    error: { code: -32602 },
  });
});

describe("the token", () => {
  test.each(["tools/register", "tools/unregister", "tools/refresh"])(
    "%s needs it over HTTP and WebSocket, even on this machine",
    async (method) => {
      const message = { jsonrpc: "2.0", id: 1, method, params: document.registration.params };
      expect(await door.send({ body: message })).toMatchObject({
        status: 401,
        json: { id: 1, error: { data: { error_type: "denied" } } },
      });
      const socket = await connectWebSocket(door);
      expect(await socket.request(method, document.registration.params)).toMatchObject({
        error: { code: -32000, data: { error_type: "denied" } },
      });
      socket.close();
      const legacy = await connectLegacy(door);
      expect(await legacy.request(method, document.registration.params)).toMatchObject({
        error: { code: -32000, data: { error_type: "denied" } },
      });
      legacy.close();
      expect(door.hall.registrations.all()).toEqual([]);
    },
  );

  test("calls, health and lists do not", async () => {
    await ways.stdio?.(document.registration);
    for (const method of ["tools/registered", "health/check"]) {
      const { status, json } = await door.send({
        body: { jsonrpc: "2.0", id: 1, method, params: { tool_name: "search_tool" } },
      });
      expect({ status, isAnswered: isObject(json?.result) }).toEqual({
        status: 200,
        isAnswered: true,
      });
    }
  });
});

test("MCP and the dialect share a line: a service that has shaken hands registers, is called back, and calls by either form", async () => {
  const client = await connectWebSocket(door, { headers: headers() });
  await client.greet();
  await startService(client, helpful);
  const other = await connectWebSocket(door);
  await other.greet();
  expect(
    await other.result("tools/call", { name: "search_tool.web_search", arguments: { query: "a" } }),
  ).toMatchObject({
    structuredContent: document.callData,
  });
  client.close();
  other.close();
});

test("a call that the caller withdraws is withdrawn from the service", async () => {
  const service = connectStdio();
  await startService(service, () => undefined);
  const caller = await connectWebSocket(door);
  const id = caller.ask("tools/call", document.call.params);
  const called = (): JsonObject | undefined =>
    service.received.find(({ method }) => method === "tools/call");
  await until(() => called() !== undefined, "the call");
  caller.notify("notifications/cancelled", { requestId: id });
  expect(await service.heard("notifications/cancelled")).toMatchObject({
    params: { requestId: called()?.id },
  });
  caller.close();
});

test("running calls fail when the connection of the service ends, and so do later ones", async () => {
  const service = await connectWebSocket(door, { headers: headers() });
  await startService(service, () => undefined);
  const caller = connectStdio();
  const running = Array.from({ length: 5 }, () =>
    caller.request("tools/call", document.call.params),
  );
  await until(
    () => service.received.filter(({ method }) => method === "tools/call").length === 5,
    "the calls",
  );
  service.close();
  for (const answer of await Promise.all(running))
    expect(answer).toMatchObject({ error: { code: -32006, data: { error_type: "unavailable" } } });
  expect(await caller.request("tools/call", document.call.params)).toMatchObject({
    error: {
      code: -32006,
      data: { details: expect.stringContaining("its service disconnected") },
    },
  });
  expect(caller.unread).toEqual([]);
});

describe("predefined tools", () => {
  const built = createBuiltinToolkits({ search: { url: "http://127.0.0.1:9" } });
  test.each(document.predefined)(
    "$name has the document's schemas and category",
    async ({ name, category, functions }) => {
      const toolkit = built.find(({ id }) => id === name);
      const tools = (await toolkit?.list()) ?? [];
      expect(toolkit?.category).toBe(category);
      expect(
        Object.fromEntries(tools.map((tool) => [tool.name, withoutDescriptions(tool.inputSchema)])),
      ).toEqual(functions);
    },
  );
});

function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (!isObject(value)) return value;
  const isText = ([key, inner]: [string, unknown]): boolean =>
    (key === "description" || key === "title") && typeof inner === "string";
  return Object.fromEntries(
    Object.entries(value).flatMap((entry) =>
      isText(entry) ? [] : [[entry[0], withoutDescriptions(entry[1])]],
    ),
  );
}
