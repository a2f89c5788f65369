import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import {
  createHall,
  get_tool_schema,
  list_registered_tools,
  MCPClient,
  MCPToolCall,
  MCPToolResult,
  parseToolCall,
  parseToolResult,
  register,
  serializeToolCall,
  serializeToolResult,
  serve,
  type ToolCall,
  type ToolResult,
  tool,
  toolkit,
} from "../../src/index.ts";
import type { Channel } from "../../src/wire/channel.ts";
import { clientInfo } from "../servers/client.ts";
import { openDoor } from "../servers/door.ts";
import { connectWebSocket } from "../servers/door-clients.ts";
import { startHall } from "../servers/hall.ts";
import { until } from "../servers/until.ts";

/** What authors of tools use: `import … from "guildhall"`. */
const shout = tool(
  {
    name: "shout",
    description: "Says it louder.",
    input: z.object({ words: z.string().min(1), times: z.number().int().max(9).default(2) }),
    output: { type: "object", properties: { said: { type: "string" } } },
    readOnly: true,
    idempotent: true,
    destructive: false,
  },
  ({ words, times }) => ({ said: Array(times).fill(words.toUpperCase()).join(" ") }),
);
const plain = tool(
  {
    name: "plain",
    description: "A JSON Schema.",
    input: { type: "object", properties: { a: { type: "integer", default: 4 } } },
  },
  ({ a }) => `a is ${a}`,
);
const small = tool(
  {
    name: "small",
    description: "zod/mini.",
    input: mini.object({ at: mini.optional(mini.string()) }),
  },
  ({ at }) => ({
    at: at ?? "nowhere",
  }),
);
const broken = tool(
  { name: "broken", description: "Throws.", input: {}, destructive: true, deprecatedIn: "2.0.0" },
  () => {
    throw new Error("it is broken");
  },
);
const speech = toolkit({
  name: "speech",
  description: "Ways to say it",
  category: "TEXT",
  version: "3.2.1",
  tools: [shout, plain, small, broken],
});

describe("tool and toolkit", () => {
  test("schemas of zod, zod/mini and JSON become JSON Schemas, and hints become annotations", async () => {
    const tools = Object.fromEntries(
      (await speech.list()).map((defined) => [defined.name, defined]),
    );
    expect(tools.shout).toMatchObject({
      inputSchema: {
        type: "object",
        properties: {
          words: { type: "string", minLength: 1 },
          times: { type: "integer", default: 2, maximum: 9 },
        },
        required: ["words"],
      },
      annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false },
    });
    expect(tools.small).toMatchObject({
      inputSchema: { type: "object", properties: { at: { type: "string" } } },
    });
    expect(tools.broken).toMatchObject({
      description: "Deprecated since 2.0.0. Throws.",
      annotations: { destructiveHint: true },
    });
  });

  test("in a hall they are called, checked, and fail, like any other", async () => {
    await using started = await startHall({ toolkits: [speech] });
    const client = started.connect();
    await client.greet();
    const call = (name: string, args: JsonObject = {}) =>
      client.result("tools/call", { name: `speech.${name}`, arguments: args });
    expect(await call("shout", { words: "hi" })).toMatchObject({
      structuredContent: { said: "HI HI" },
    });
    expect(await call("plain")).toMatchObject({ content: [{ type: "text", text: "a is 4" }] });
    expect(await call("small")).toMatchObject({ structuredContent: { at: "nowhere" } });
    expect(await call("shout", { words: "" })).toMatchObject({
      isError: true,
      _meta: { "guildhall/error": { error_type: "validation" } },
    });
    expect(await call("broken")).toMatchObject({
      isError: true,
      _meta: { "guildhall/error": { error_type: "execution", message: "it is broken" } },
    });
  });

  test("two tools of one name are refused, and the same tool again changes nothing", async () => {
    const other = tool({ name: "plain", description: "Another.", input: {} }, () => null);
    expect(() => toolkit({ name: "twice", tools: [plain, other] })).toThrow("same name");
    expect(await toolkit({ name: "twice", tools: [plain, plain] }).list()).toHaveLength(1);
  });

  test("a deprecated tool is marked in lists and in each result", async () => {
    await using started = await startHall({
      toolkits: [
        toolkit({
          name: "old",
          tools: [
            tool({ name: "way", description: "Old.", input: {}, deprecatedIn: "2.0" }, () => "ok"),
            tool({ name: "new", description: "New.", input: {} }, () => "ok"),
          ],
        }),
      ],
    });
    const client = started.connect();
    await client.greet();
    const { tools } = (await client.result("tools/list")) as { tools: readonly JsonObject[] };
    const way = tools.find(({ name }) => String(name).endsWith("way"));
    expect(way).toMatchObject({
      description: "Deprecated since 2.0. Old.",
      _meta: { "guildhall/deprecated_in": "2.0" },
    });
    expect(await client.result("tools/call", { name: "old.way" })).toMatchObject({
      _meta: { "guildhall/deprecated_in": "2.0" },
    });
    const { _meta = {} } = await client.result("tools/call", { name: "old.new" });
    expect(_meta).not.toHaveProperty("guildhall/deprecated_in");
  });

  test("list_registered_tools and get_tool_schema look into a hall", async () => {
    const hall = await createHall({ toolkits: [speech] });
    expect(
      list_registered_tools(hall).map(({ name, category, isAvailable }) => [
        name,
        category,
        isAvailable,
      ]),
    ).toEqual(
      ["broken", "plain", "shout", "small"].map((name) => [`speech.${name}`, "TEXT", true]),
    );
    expect(get_tool_schema(hall, "speech.plain")).toEqual({
      type: "object",
      properties: { a: { type: "integer", default: 4 } },
    });
    expect(() => get_tool_schema(hall, "speech.plane")).toThrow("did you mean speech.plain");
    const forgotten = undefined as unknown as typeof hall;
    expect(() => list_registered_tools(forgotten)).toThrow("listRegisteredTools needs a hall");
    expect(() => get_tool_schema(forgotten, "speech.plain")).toThrow("getToolSchema needs a hall");
    await hall.close();
  });
});

test("serve over HTTP is an MCP server of its own, with names without a prefix", async () => {
  const serving = await serve(speech, { port: 0, token: "a-token-for-tests-0123456789" });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (body: JsonObject, more = {}) =>
    fetch(serving.url ?? "", {
      method: "POST",
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  const greeted = await post({ id: 1, method: "initialize", params });
  const session = { "mcp-session-id": greeted.headers.get("mcp-session-id") };
  const { result } = (await (
    await post(
      { id: 2, method: "tools/call", params: { name: "shout", arguments: { words: "a" } } },
      session,
    )
  ).json()) as {
    result: JsonObject;
  };
  expect(result).toMatchObject({ structuredContent: { said: "A A" } });
  await serving.close();
  await expect(serve(speech, { port: 0, host: "0.0.0.0" })).rejects.toMatchObject({
    code: "DENIED",
  });
});

describe("register", () => {
  test("joins a hall, serves calls, and reconnects whenever the connection is lost", async () => {
    await using door = await openDoor({ toolkits: [] });
    const warnings: string[] = [];
    const lines: Channel[] = [];
    const accept = door.hall.server.accept.bind(door.hall.server);
    door.hall.server.accept = (channel, options) => {
      lines.push(channel);
      return accept(channel, options);
    };
    const joined = await register(speech, door.url, {
      token: door.token,
      warn: (message) => void warnings.push(message),
    });
    expect(joined.toolId).toBe("speech_v1");
    const client = await connectWebSocket(door);
    const call = (name: string, args: JsonObject = {}) =>
      client.request("tools/call", { tool_name: "speech", function_name: name, arguments: args });
    expect(await call("shout", { words: "hi" })).toMatchObject({
      result: { data: { said: "HI HI" } },
    });
    expect(await call("plain")).toMatchObject({ result: { data: "a is 4" } });
    expect(await call("broken")).toMatchObject({
      error: { code: -32001, data: { details: "it is broken" } },
    });
    expect(await client.result("health/check", { tool_name: "speech" })).toMatchObject({
      status: "healthy",
      version: "3.2.1",
      capabilities: expect.arrayContaining(["shout", "plain", "small", "broken"]),
    });
    const [registered] = door.hall.registrations.all();
    expect(registered?.registration.tools.find(({ name }) => name === "broken")?.description).toBe(
      "Deprecated since 2.0.0. Throws.",
    );
    const lost = registered?.runner;
    // The hall's side of the service's line ends, as when a network goes away.
    await lines.at(0)?.close({ now: true });
    await until(
      () => registered?.runner !== undefined && registered.runner !== lost,
      "a new connection",
    );
    expect(await call("shout", { words: "again" })).toMatchObject({
      result: { data: { said: "AGAIN AGAIN" } },
    });
    expect(warnings).toEqual(["lost the connection to the hall; reconnecting"]);
    await joined.close();
    await until(() => registered?.runner === undefined, "the service leaving");
    expect(await call("plain")).toMatchObject({ error: { code: -32006 } });
    client.close();
  });

  test("a refusal names its places, and a wrong token is reported", async () => {
    await using door = await openDoor({ toolkits: [] });
    const bad = toolkit({ name: "find_tools", tools: [plain] });
    await expect(register(bad, door.url, { token: door.token })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
      details: { errors: [{ path: "/tool/name" }] },
    });
    await expect(register(speech, door.url, { token: "wrong" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("401"),
    });
    await expect(
      register(speech, "http://example.com", { token: door.token }),
    ).rejects.toMatchObject({ code: "DENIED" });
    await expect(register(speech, "nowhere", { token: door.token })).rejects.toMatchObject({
      code: "INVALID_PARAMS",
    });
  });
});

describe("messages", () => {
  const call: ToolCall = {
    jsonrpc: "2.0",
    method: "tools/call",
    id: 1,
    params: { name: "memory_put", arguments: { key: "a" } },
  };
  const result: ToolResult = {
    jsonrpc: "2.0",
    id: 1,
    result: { content: [{ type: "text", text: "{}" }], isError: false },
  };

  test("written files can be read, and the reverse", () => {
    const id = fc.oneof(fc.integer(), fc.stringMatching(/^[\w-]{1,20}$/));
    const args = fc
      .dictionary(fc.string(), fc.jsonValue())
      .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
    const name = fc.stringMatching(/^[a-z_]{1,20}$/);
    const calls = fc.oneof(
      fc.record({
        jsonrpc: fc.constant("2.0" as const),
        id,
        method: fc.constant("tools/call" as const),
        params: fc.record({ name, arguments: args }),
      }),
      fc.record({
        jsonrpc: fc.constant("2.0" as const),
        id,
        method: fc.constant("tools/call" as const),
        params: fc.record({
          tool_name: name,
          function_name: name,
          arguments: args,
          call_id: fc.string({ maxLength: 128 }),
          timeout: fc.integer({ min: 1, max: 30 }),
        }),
      }),
    );
    fc.assert(
      fc.property(
        calls,
        (message) => void expect(parseToolCall(serializeToolCall(message))).toEqual(message),
      ),
      { numRuns: 200 },
    );
    const content = fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string() }),
      fc.record({
        type: fc.constant("image"),
        data: fc.base64String(),
        mimeType: fc.constant("image/png"),
      }),
      fc.record({
        type: fc.constant("resource"),
        resource: fc.record({ uri: fc.webUrl(), text: fc.string() }),
      }),
    );
    const results = fc.record({
      jsonrpc: fc.constant("2.0" as const),
      id,
      result: fc.record({ content: fc.array(content), isError: fc.boolean() }),
    });
    fc.assert(
      fc.property(
        results,
        (message) => void expect(parseToolResult(serializeToolResult(message))).toEqual(message),
      ),
      { numRuns: 200 },
    );
  });

  const refused: readonly [string, (message: unknown) => unknown, unknown, string, string][] = [
    ["text that is no JSON", parseToolCall, "{", "PARSE", ""],
    ["a list", parseToolCall, [], "INVALID_REQUEST", ""],
    ["another version", parseToolCall, { ...call, jsonrpc: "1.0" }, "INVALID_REQUEST", "/jsonrpc"],
    ["no id", parseToolCall, { ...call, id: undefined }, "INVALID_REQUEST", "/id"],
    ["an id of null", parseToolCall, { ...call, id: null }, "INVALID_REQUEST", "/id"],
    [
      "another method",
      parseToolCall,
      { ...call, method: "tools/list" },
      "INVALID_REQUEST",
      "/method",
    ],
    ["no params", parseToolCall, { ...call, params: undefined }, "INVALID_REQUEST", "/params"],
    ["no name", parseToolCall, { ...call, params: {} }, "INVALID_REQUEST", "/params/name"],
    [
      "a list of arguments",
      parseToolCall,
      { ...call, params: { name: "a", arguments: [] } },
      "INVALID_REQUEST",
      "/params/arguments",
    ],
    [
      "both forms at once",
      parseToolCall,
      { ...call, params: { name: "a", tool_name: "b", function_name: "c" } },
      "INVALID_REQUEST",
      "/params/name",
    ],
    [
      "half a form",
      parseToolCall,
      { ...call, params: { tool_name: "b" } },
      "INVALID_REQUEST",
      "/params/function_name",
    ],
    [
      "a long call_id",
      parseToolCall,
      { ...call, params: { tool_name: "b", function_name: "c", call_id: "x".repeat(129) } },
      "INVALID_REQUEST",
      "/params/call_id",
    ],
    ["no result", parseToolResult, { ...result, result: null }, "INVALID_REQUEST", "/result"],
    [
      "no content",
      parseToolResult,
      { ...result, result: {} },
      "INVALID_REQUEST",
      "/result/content",
    ],
    [
      "content without text",
      parseToolResult,
      { ...result, result: { content: [{ type: "text" }] } },
      "INVALID_REQUEST",
      "/result/content/0/text",
    ],
    [
      "an unknown kind",
      parseToolResult,
      { ...result, result: { content: [{ type: "smell" }] } },
      "INVALID_REQUEST",
      "/result/content/0/type",
    ],
    [
      "isError: 1",
      parseToolResult,
      { ...result, result: { content: [], isError: 1 } },
      "INVALID_REQUEST",
      "/result/isError",
    ],
    [
      "a call without a name, on the way out",
      serializeToolCall as (message: unknown) => unknown,
      { ...call, params: {} },
      "INVALID_REQUEST",
      "/params/name",
    ],
    [
      "a number JSON cannot hold",
      serializeToolCall as (message: unknown) => unknown,
      { ...call, params: { name: "a", arguments: { n: 1n } } },
      "SERIALIZATION",
      "",
    ],
  ];
  test.each(refused)("%s is refused", (_what, read, message, code, path) => {
    let failure: HallError | undefined;
    try {
      read(message);
    } catch (error) {
      failure = error as HallError;
    }
    expect(failure).toMatchObject({ code });
    if (code === "INVALID_REQUEST") expect(failure?.details).toMatchObject({ errors: [{ path }] });
  });
});

describe("the names of document 004", () => {
  const memory = toolkit({
    name: "memory",
    description: "Keeps values",
    tools: [
      tool(
        {
          name: "memory_put",
          description: "Stores a value.",
          input: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
          deprecatedIn: "2.0",
        },
        ({ key }) => ({ stored: key }),
      ),
    ],
  });

  test("observe, think, execute and verify", async () => {
    const hall = await createHall({ toolkits: [memory], log: createLog({ level: "silent" }) });
    onTestFinished(() => hall.close());
    const [listed] = list_registered_tools(hall);
    expect(listed).toMatchObject({
      name: "memory.memory_put",
      inputSchema: { required: ["key"] },
      metadata: { module: "memory", destructive: false, deprecated_in: "2.0", cache_ttl: 300 },
    });
    expect(get_tool_schema(hall, "memory_put")).toMatchObject({ required: ["key"] });
    expect(hall.registry.tools()[0]?.tool.facts?.timeoutMs).toBe(30_000);

    const call = MCPToolCall({ name: "memory.memory_put", arguments: { key: "a" } });
    expect(parseToolCall(serializeToolCall(call))).toEqual(call);
    const outcome = await hall.call(call);
    expect(await hall.call(call.params.name, call.params.arguments)).toEqual(outcome);
    const result = MCPToolResult({ id: call.id, content: outcome.content });
    expect(parseToolResult(serializeToolResult(result))).toEqual({
      jsonrpc: "2.0",
      id: call.id,
      result: { content: [{ type: "text", text: '{"stored":"a"}' }], isError: false },
    });

    await expect(hall.call("memory.memory_gett")).rejects.toMatchObject({
      name: "ToolNotFoundError",
    });
    await expect(hall.call("memory.memory_put", {})).rejects.toMatchObject({ name: "SchemaError" });
    await expect(hall.call({} as MCPToolCall)).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  });

  test("a tool may take 30 seconds or its own limit, and then fails with a TimeoutError", async () => {
    const input = { type: "object" };
    const endless = (): Promise<never> => new Promise(() => {});
    const slow = toolkit({
      name: "slow",
      tools: [
        tool({ name: "usual", description: "Waits.", input }, endless),
        tool({ name: "short", description: "Waits.", input, timeoutSeconds: 0.02 }, endless),
      ],
    });
    const hall = await createHall({ toolkits: [slow], log: createLog({ level: "silent" }) });
    onTestFinished(() => hall.close());
    await expect(hall.call("slow.short")).rejects.toMatchObject({ name: "TimeoutError" });
    expect(hall.registry.getTool("slow.usual").tool.facts?.timeoutMs).toBe(30_000);
  });

  test("a client takes the same call as a message or by name", async () => {
    const serving = await serve(memory, { port: 0 });
    const client = new MCPClient({ transport: "http", url: serving.url ?? "" });
    onTestFinished(() => serving.close());
    onTestFinished(() => client.close());
    const call = MCPToolCall({ name: "memory_put", arguments: { key: "a" } });
    const expected = { structuredContent: { stored: "a" }, isError: false };
    expect(await client.callTool(call)).toMatchObject(expected);
    expect(await client.callTool("memory_put", { key: "a" })).toMatchObject(expected);
  });

  test("a tool without a schema is a RegistrationError when it is defined", () => {
    const options = { name: "bare", description: "No schema." } as Parameters<typeof tool>[0];
    expect(() => tool(options, () => null)).toThrow(
      expect.objectContaining({
        name: "RegistrationError",
        message: 'tool "bare" cannot be registered: it has no input schema',
      }),
    );
  });

  test("values that JSON cannot carry are SerializationErrors, and bad content is BAD_ANSWER", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const values: Readonly<Record<string, unknown>> = {
      big: { n: 1n },
      cycle,
      map: { m: new Map() },
      not_a_number: { n: Number.NaN },
      function: { f: () => 1 },
      video: { content: [{ type: "video", x: 1 }] },
      flag: { content: [], isError: "yes" },
      fine: { at: new Date(0), nothing: undefined },
    };
    const input = { type: "object" };
    const odd = toolkit({
      name: "odd",
      tools: Object.entries(values).map(([name, value]) =>
        tool({ name, description: name, input }, () => value),
      ),
    });
    const hall = await createHall({ toolkits: [odd], log: createLog({ level: "silent" }) });
    onTestFinished(() => hall.close());
    const codes = await Promise.all(
      Object.keys(values).map(async (name) => [
        name,
        await hall.call(`odd.${name}`).then(
          () => "ok",
          (error: unknown) => (error instanceof HallError ? error.code : String(error)),
        ),
      ]),
    );
    expect(Object.fromEntries(codes)).toEqual({
      big: "SERIALIZATION",
      cycle: "SERIALIZATION",
      map: "SERIALIZATION",
      not_a_number: "SERIALIZATION",
      function: "SERIALIZATION",
      video: "BAD_ANSWER",
      flag: "BAD_ANSWER",
      fine: "ok",
    });
  });
});
