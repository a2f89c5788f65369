import { describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Scope } from "../../src/base/scope.ts";
import type { Runner } from "../../src/registry/registered.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { createEchoToolkit, createToolkit, text } from "../servers/toolkits.ts";

/** Valid and invalid registrations, the place of each fault, and that a refusal leaves nothing behind. */
const lookUp = {
  name: "look_up",
  description: "Looks a word up.",
  parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
};
const dictionary = {
  name: "dictionary",
  description: "Words and what they mean",
  category: "REFERENCE",
  functions: [lookUp],
};
const changed = { ...dictionary, description: "Other words" };
const inside = (parameters: JsonObject): JsonObject => ({
  ...dictionary,
  functions: [{ ...lookUp, parameters }],
});

interface TestRunner extends Runner {
  readonly asked: JsonObject[];
  /** How many wait to hear that it is gone. */
  readonly waiting: number;
  leave(): void;
}

function createRunner(
  id: string,
  answer: (params: JsonObject, scope: Scope) => unknown = () => ({
    status: "completed",
    data: { by: id },
  }),
): TestRunner {
  const gone = new Set<() => void>();
  const asked: JsonObject[] = [];
  return {
    kind: "connection",
    id,
    asked,
    async request(_method, params, scope) {
      asked.push(params);
      return answer(params, scope);
    },
    onGone(listener) {
      gone.add(listener);
      return () => void gone.delete(listener);
    },
    get waiting() {
      return gone.size;
    },
    leave: () => gone.forEach((listener) => void listener()),
    close() {},
  };
}

const register = ({ hall }: TestHall, tool: unknown, runner?: Runner, more: JsonObject = {}) =>
  hall.registrations.register({ tool, ...more }, runner);
const namesOf = ({ hall }: TestHall): string[] =>
  hall.registry.tools().map(({ fullName }) => fullName);

async function call(started: TestHall, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const client = started.connect();
  await client.greet();
  return client.result("tools/call", { name, arguments: args });
}

describe("refusals", () => {
  const deep = (levels: number): JsonObject =>
    levels === 0 ? { type: "string" } : { type: "object", properties: { a: deep(levels - 1) } };
  const rows: readonly [string, unknown, string, string][] = [
    ["no tool", undefined, "/tool", "INVALID_PARAMS"],
    [
      "a default below the minimum",
      inside({ type: "object", properties: { n: { type: "integer", default: 0, minimum: 1 } } }),
      "/tool/functions/0/parameters/properties/n/default",
      "INVALID_PARAMS",
    ],
    ["a list for a tool", [], "/tool", "INVALID_PARAMS"],
    ["no name", { ...dictionary, name: undefined }, "/tool/name", "INVALID_PARAMS"],
    ["an empty name", { ...dictionary, name: " " }, "/tool/name", "INVALID_PARAMS"],
    ["a name with a space", { ...dictionary, name: "my tool" }, "/tool/name", "INVALID_PARAMS"],
    ["a name with a dot", { ...dictionary, name: "my.tool" }, "/tool/name", "INVALID_PARAMS"],
    [
      "a name with two underscores in a row",
      { ...dictionary, name: "my__tool" },
      "/tool/name",
      "INVALID_PARAMS",
    ],
    [
      "a name of 41 characters",
      { ...dictionary, name: "a".repeat(41) },
      "/tool/name",
      "INVALID_PARAMS",
    ],
    [
      "a Cyrillic letter in a name",
      { ...dictionary, name: "diсtionary" },
      "/tool/name",
      "INVALID_PARAMS",
    ],
    [
      "an invisible character in a name",
      { ...dictionary, name: "dict\u200bionary" },
      "/tool/name",
      "INVALID_PARAMS",
    ],
    ["fullwidth letters", { ...dictionary, name: "ｄictionary" }, "/tool/name", "INVALID_PARAMS"],
    [
      "the prefix guildhall",
      { ...dictionary, name: "guildhall_tools" },
      "/tool/name",
      "INVALID_PARAMS",
    ],
    ["the prefix mcp", { ...dictionary, name: "mcp-things" }, "/tool/name", "INVALID_PARAMS"],
    [
      "the prefix speckit in capitals",
      { ...dictionary, name: "SpecKit" },
      "/tool/name",
      "INVALID_PARAMS",
    ],
    [
      "a tool of the hall itself",
      { ...dictionary, name: "find_tools" },
      "/tool/name",
      "INVALID_PARAMS",
    ],
    ["a name of an agent", { ...dictionary, name: "web_agent" }, "/tool/name", "INVALID_PARAMS"],
    ["a 1 for an l", { ...dictionary, name: "ca1culus" }, "/tool/name", "CONFLICT"],
    ["another case", { ...dictionary, name: "Calculus" }, "/tool/name", "CONFLICT"],
    ["other separators", { ...dictionary, name: "cal-culus" }, "/tool/name", "CONFLICT"],
    ["rn for m", { ...dictionary, name: "srnall" }, "/tool/name", "CONFLICT"],
    [
      "the name of a server of the config",
      { ...dictionary, name: "remote" },
      "/tool/name",
      "CONFLICT",
    ],
    ["no description", { ...dictionary, description: "" }, "/tool/description", "INVALID_PARAMS"],
    ["no functions", { ...dictionary, functions: [] }, "/tool/functions", "INVALID_PARAMS"],
    [
      "a function that is a text",
      { ...dictionary, functions: ["look_up"] },
      "/tool/functions/0",
      "INVALID_PARAMS",
    ],
    [
      "a function without a name",
      { ...dictionary, functions: [{ ...lookUp, name: undefined }] },
      "/tool/functions/0/name",
      "INVALID_PARAMS",
    ],
    [
      "a function with a slash in its name",
      { ...dictionary, functions: [{ ...lookUp, name: "look/up" }] },
      "/tool/functions/0/name",
      "INVALID_PARAMS",
    ],
    [
      "two functions of one name",
      { ...dictionary, functions: [lookUp, lookUp] },
      "/tool/functions/1/name",
      "INVALID_PARAMS",
    ],
    [
      "functions that read alike",
      { ...dictionary, functions: [lookUp, { ...lookUp, name: "1ook_up" }] },
      "/tool/functions/1/name",
      "INVALID_PARAMS",
    ],
    [
      "functions that read alike",
      { ...dictionary, functions: [lookUp, { ...lookUp, name: "Iook_up" }] },
      "/tool/functions/1/name",
      "INVALID_PARAMS",
    ],
    [
      "a full name over 60 characters",
      { ...dictionary, functions: [{ ...lookUp, name: "a".repeat(55) }] },
      "/tool/functions/0/name",
      "INVALID_PARAMS",
    ],
    [
      "a function without a description",
      { ...dictionary, functions: [{ ...lookUp, description: 3 }] },
      "/tool/functions/0/description",
      "INVALID_PARAMS",
    ],
    [
      "no schema",
      { ...dictionary, functions: [{ ...lookUp, parameters: undefined }] },
      "/tool/functions/0/parameters",
      "INVALID_PARAMS",
    ],
    [
      "true for a schema",
      inside(true as unknown as JsonObject),
      "/tool/functions/0/parameters",
      "INVALID_PARAMS",
    ],
    [
      "a schema of a text",
      inside({ type: "string" }),
      "/tool/functions/0/parameters/type",
      "INVALID_PARAMS",
    ],
    [
      "an unknown type",
      inside({ type: "object", properties: { a: { type: "strnig" } } }),
      "/tool/functions/0/parameters",
      "INVALID_PARAMS",
    ],
    [
      "a $ref that leads nowhere",
      inside({ type: "object", properties: { a: { $ref: "#/$defs/b" } } }),
      "/tool/functions/0/parameters",
      "INVALID_PARAMS",
    ],
    ["a schema of 70 levels", inside(deep(70)), "/tool/functions/0/parameters", "INVALID_PARAMS"],
    [
      "a $ref to the network",
      inside({ type: "object", properties: { "a/b": { $ref: "https://evil.example/s.json" } } }),
      "/tool/functions/0/parameters/properties/a~1b/$ref",
      "INVALID_PARAMS",
    ],
    [
      "a $ref to a file",
      inside({ type: "object", allOf: [{ $ref: "file:///etc/passwd" }] }),
      "/tool/functions/0/parameters/allOf/0/$ref",
      "INVALID_PARAMS",
    ],
    [
      "returns that do not compile",
      { ...dictionary, functions: [{ ...lookUp, returns: { type: "x" } }] },
      "/tool/functions/0/returns",
      "INVALID_PARAMS",
    ],
    [
      "a $dynamicRef to the network in returns",
      { ...dictionary, functions: [{ ...lookUp, returns: { $dynamicRef: "//evil.example/s" } }] },
      "/tool/functions/0/returns/$dynamicRef",
      "INVALID_PARAMS",
    ],
    ["a command", { ...dictionary, command: "rm" }, "/tool/command", "INVALID_PARAMS"],
    ["arguments of a command", { ...dictionary, args: ["-rf"] }, "/tool/args", "INVALID_PARAMS"],
    [
      "a command of a function",
      { ...dictionary, functions: [{ ...lookUp, command: "rm" }] },
      "/tool/functions/0/command",
      "INVALID_PARAMS",
    ],
    [
      "a timeout of a minute",
      { ...dictionary, functions: [{ ...lookUp, timeout_seconds: 60 }] },
      "/tool/functions/0/timeout_seconds",
      "INVALID_PARAMS",
    ],
    [
      "destructive: 1",
      { ...dictionary, functions: [{ ...lookUp, metadata: { destructive: 1 } }] },
      "/tool/functions/0/metadata/destructive",
      "INVALID_PARAMS",
    ],
    [
      "a cache_ttl below 0",
      { ...dictionary, functions: [{ ...lookUp, metadata: { cache_ttl: -1 } }] },
      "/tool/functions/0/metadata/cache_ttl",
      "INVALID_PARAMS",
    ],
    [
      "an endpoint that is no address",
      { ...dictionary, endpoint: "nowhere" },
      "/tool/endpoint",
      "INVALID_PARAMS",
    ],
    [
      "an endpoint that is a file",
      { ...dictionary, endpoint: "file:///etc/passwd" },
      "/tool/endpoint",
      "INVALID_PARAMS",
    ],
    [
      "an endpoint with a password",
      { ...dictionary, endpoint: "https://a:b@example.com/" },
      "/tool/endpoint",
      "INVALID_PARAMS",
    ],
    [
      "an endpoint in a private network",
      { ...dictionary, endpoint: "http://10.0.0.1/rpc" },
      "/tool/endpoint",
      "INVALID_PARAMS",
    ],
    [
      "the metadata service of a cloud",
      { ...dictionary, endpoint: "http://169.254.169.254/latest" },
      "/tool/endpoint",
      "INVALID_PARAMS",
    ],
    [
      "an endpoint elsewhere without encryption",
      { ...dictionary, endpoint: "http://example.com/rpc" },
      "/tool/endpoint",
      "INVALID_PARAMS",
    ],
    [
      "a health check in a private network",
      { ...dictionary, health_check_url: "http://192.168.1.1/" },
      "/tool/health_check_url",
      "INVALID_PARAMS",
    ],
    ["replace: 1", { ...dictionary, replace: 1 }, "/tool/replace", "INVALID_PARAMS"],
  ];

  test.each(rows)("%s", async (_what, tool, path, code) => {
    const remote = { ...createEchoToolkit("remote"), source: "upstream" as const };
    await using started = await startHall({
      toolkits: [createEchoToolkit("calculus"), createEchoToolkit("small"), remote],
    });
    const before = namesOf(started);
    const failure = await register(started, tool).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(HallError);
    expect(failure).toMatchObject({
      code,
      details: { errors: [{ path, message: expect.any(String) }] },
    });
    expect(namesOf(started)).toEqual(before);
    expect(started.hall.registrations.all()).toEqual([]);
  });

  test("all faults are reported together", async () => {
    await using started = await startHall();
    const tool = {
      name: "a b",
      description: "",
      command: "x",
      functions: [{ name: "f", description: "f" }],
    };
    const failure = (await register(started, tool).catch((error: unknown) => error)) as HallError;
    const errors = (failure.details?.errors ?? []) as { path: string }[];
    expect(errors.map(({ path }) => path).sort()).toEqual([
      "/tool/command",
      "/tool/description",
      "/tool/functions/0/parameters",
      "/tool/name",
    ]);
  });
});

describe("one name", () => {
  test("registering the same again returns the same id, in any order of keys", async () => {
    await using started = await startHall();
    const first = await register(started, dictionary);
    const { description, ...rest } = dictionary;
    const again = await register(started, { ...rest, description });
    expect([first.toolId, again.toolId]).toEqual(["dictionary_v1", "dictionary_v1"]);
    expect(again).toBe(first);
  });

  test("another definition is a conflict, and the first one stays", async () => {
    await using started = await startHall();
    const runner = createRunner("one");
    await register(started, dictionary, runner);
    await expect(register(started, changed)).rejects.toMatchObject({
      code: "CONFLICT",
      details: { errors: [{ path: "/tool/name" }] },
    });
    expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
      structuredContent: { by: "one" },
    });
  });

  test("replace: true takes its place under the next id, each time", async () => {
    await using started = await startHall();
    await register(started, dictionary, createRunner("one"));
    expect(
      await register(started, { ...changed, replace: true }, createRunner("two")),
    ).toMatchObject({ toolId: "dictionary_v2" });
    expect(
      await register(started, dictionary, createRunner("three"), { replace: true }),
    ).toMatchObject({ toolId: "dictionary_v3" });
    expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
      structuredContent: { by: "three" },
    });
    expect(namesOf(started).filter((name) => name.startsWith("dictionary"))).toEqual([
      "dictionary.look_up",
    ]);
  });

  test("a replaced or unregistered tool is forgotten by the connection that served it", async () => {
    await using hall = await startHall({ toolkits: [] });
    const runner = createRunner("one");
    await register(hall, dictionary, runner);
    for (let n = 0; n < 5; n++)
      await register(hall, { ...dictionary, description: `Words, edition ${n}` }, runner, {
        replace: true,
      });
    expect(runner.waiting).toBe(1);
    await hall.hall.registrations.unregister("dictionary");
    expect(runner.waiting).toBe(0);
  });

  test("a built-in toolkit is shadowed, and returns afterwards", async () => {
    await using started = await startHall();
    const fake = {
      name: "time_tool",
      description: "Another clock",
      functions: [{ ...lookUp, name: "look" }],
    };
    expect(await register(started, fake, createRunner("clock"))).toMatchObject({
      toolId: "time_tool_v1",
    });
    expect(namesOf(started).filter((name) => name.startsWith("time_tool"))).toEqual([
      "time_tool.look",
    ]);
    await started.hall.registrations.unregister("time_tool");
    expect(namesOf(started)).toContain("time_tool.current_time");
    expect(await call(started, "time_tool.current_time")).toMatchObject({
      structuredContent: { timezone: "UTC" },
    });
  });

  test("two at once do not both get in", async () => {
    await using started = await startHall();
    const tries = await Promise.allSettled([
      register(started, dictionary),
      register(started, changed),
      register(started, dictionary),
    ]);
    expect(tries.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  test("unregistering takes a name or an id, and suggests similar names", async () => {
    await using started = await startHall();
    await register(started, dictionary);
    await expect(started.hall.registrations.unregister("dictionry")).rejects.toMatchObject({
      code: "TOOLKIT_NOT_FOUND",
      details: { near: ["dictionary"] },
    });
    expect(await started.hall.registrations.unregister("dictionary_v1")).toMatchObject({
      toolId: "dictionary_v1",
    });
    expect(started.hall.registrations.all()).toEqual([]);
    expect(namesOf(started)).not.toContain("dictionary.look_up");
  });
});

describe("the connection that serves it", () => {
  test("without one, it is listed and marked, and calls fail with the alternatives", async () => {
    await using started = await startHall({
      toolkits: [
        createToolkit("lexicon", { find: { run: () => text("found") } }, { category: "REFERENCE" }),
      ],
    });
    await register(started, dictionary);
    const client = started.connect();
    await client.greet();
    const { tools } = (await client.result("tools/list")) as { tools: JsonObject[] };
    expect(tools.find(({ name }) => name === "dictionary__look_up")).toMatchObject({
      description: expect.stringContaining("Currently unavailable"),
      _meta: { "guildhall/status": "unavailable" },
    });
    const { isError, _meta } = await client.result("tools/call", {
      name: "dictionary.look_up",
      arguments: { word: "x" },
    });
    expect({ isError, _meta }).toMatchObject({
      isError: true,
      _meta: {
        "guildhall/error": {
          error_type: "unavailable",
          details: { limited: "dictionary.look_up", alternatives: ["lexicon__find"] },
        },
      },
    });
  });

  test("the connection that registered last runs it, and an older one that ends takes nothing with it", async () => {
    await using started = await startHall();
    const [first, second] = [createRunner("first"), createRunner("second")];
    await register(started, dictionary, first);
    await register(started, dictionary, second);
    first.leave();
    expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
      structuredContent: { by: "second" },
    });
    second.leave();
    expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
      isError: true,
    });
    await register(started, dictionary, createRunner("third"));
    expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
      structuredContent: { by: "third" },
    });
  });

  test("a call reaches it in the registry dialect, with defaults filled in", async () => {
    await using started = await startHall();
    const runner = createRunner("one");
    const parameters = {
      type: "object",
      properties: { word: { type: "string" }, limit: { type: "integer", default: 5 } },
      required: ["word"],
    };
    await register(started, inside(parameters), runner);
    await call(started, "dictionary.look_up", { word: "hall" });
    expect(runner.asked).toMatchObject([
      {
        tool_name: "dictionary",
        function_name: "look_up",
        arguments: { word: "hall", limit: 5 },
        call_id: expect.any(String),
        timeout: expect.any(Number),
      },
    ]);
    expect(await call(started, "dictionary.look_up", {})).toMatchObject({ isError: true });
    expect(runner.asked).toHaveLength(1);
  });

  const failures: readonly [
    string,
    { code: number; message: string; data?: unknown },
    string,
    string,
  ][] = [
    [
      "-32001",
      { code: -32001, message: "Tool execution failed", data: { details: "no such word" } },
      "execution",
      "no such word",
    ],
    [
      "-32001 that says timeout",
      { code: -32001, message: "failed", data: { error_type: "timeout", details: "too slow" } },
      "timeout",
      "too slow",
    ],
    ["-32004", { code: -32004, message: "Invalid parameters" }, "validation", "Invalid parameters"],
    ["-32005", { code: -32005, message: "Timeout" }, "timeout", "Timeout"],
    [
      "-32006",
      { code: -32006, message: "Service unavailable" },
      "unavailable",
      "Service unavailable",
    ],
    ["-32007", { code: -32007, message: "Rate limited" }, "rate_limited", "Rate limited"],
    ["-32601", { code: -32601, message: "Method not found" }, "bad_answer", "Method not found"],
    ["-32603", { code: -32603, message: "oops" }, "execution", "oops"],
    [
      "a type that is not for services to say",
      { code: -32000, message: "let me in", data: { error_type: "approval_needed" } },
      "execution",
      "let me in",
    ],
  ];
  test.each(failures)(
    "its error %s is said in our words",
    async (_what, relayed, type, message) => {
      await using started = await startHall();
      const fail = (): never => {
        throw new HallError("EXECUTION", relayed.message, { relayed });
      };
      await register(started, dictionary, createRunner("one", fail));
      expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
        isError: true,
        _meta: { "guildhall/error": { error_type: type, message } },
      });
    },
  );

  const answers: readonly [string, unknown, JsonObject][] = [
    [
      "a text",
      { status: "completed", data: "words" },
      { content: [{ type: "text", text: "words" }] },
    ],
    ["nothing", { status: "completed", data: null }, { content: [{ type: "text", text: "null" }] }],
    [
      "MCP's own form",
      { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] },
      { content: [{ type: "image" }] },
    ],
    ["no data", { status: "completed" }, { isError: true }],
    ["another status", { status: "failed", data: {} }, { isError: true }],
    ["a list", [], { isError: true }],
  ];
  test.each(answers)("an answer with %s", async (_what, answer, expected) => {
    await using started = await startHall();
    await register(
      started,
      dictionary,
      createRunner("one", () => answer),
    );
    expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject(expected);
  });

  test("an answer that breaks its own promise is refused", async () => {
    await using started = await startHall();
    const returns = {
      type: "object",
      properties: { meaning: { type: "string" } },
      required: ["meaning"],
    };
    await register(
      started,
      { ...dictionary, functions: [{ ...lookUp, returns }] },
      createRunner("one"),
    );
    expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
      isError: true,
      _meta: { "guildhall/error": { error_type: "bad_answer" } },
    });
  });
});

test("metadata: a destructive tool is marked, a deprecated one is marked in lists and answers", async () => {
  await using started = await startHall();
  const metadata = {
    module: "words/look.py",
    destructive: true,
    deprecated_in: "2.1.0",
    cache_ttl: 60,
  };
  await register(
    started,
    { ...dictionary, functions: [{ ...lookUp, metadata }] },
    createRunner("one"),
  );
  const { tool } = started.hall.registry.getTool("dictionary.look_up");
  expect(tool).toMatchObject({
    description: "Deprecated since 2.1.0. Looks a word up.",
    annotations: { destructiveHint: true },
    _meta: { "guildhall/deprecated_in": "2.1.0", "guildhall/cache_ttl": 60 },
    facts: { module: "words/look.py", timeoutMs: 10_000 },
  });
  expect(await call(started, "dictionary.look_up", { word: "x" })).toMatchObject({
    _meta: { "guildhall/deprecated_in": "2.1.0" },
  });
});

test("metadata: lists give the cache time, 300 seconds where a registration names none", async () => {
  await using started = await startHall();
  await register(started, dictionary, createRunner("one"));
  const client = started.connect();
  await client.greet();
  const { tools } = (await client.result("tools/list")) as { tools: readonly JsonObject[] };
  const listed = tools.find(({ name }) => String(name).endsWith("look_up"));
  expect(listed).toMatchObject({ _meta: { "guildhall/cache_ttl": 300 } });
});
