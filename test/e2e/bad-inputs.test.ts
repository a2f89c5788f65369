import { describe, expect, test } from "vitest";
import { type ErrorCode, errorTable } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { keys, modern, modernVersion, type RawClient } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import {
  createAskingToolkit,
  createEchoToolkit,
  createLibraryToolkit,
  createSlowToolkit,
  createToolkit,
  text,
} from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/**
 * Every bad input is answered in exactly one way, or not at all, and the next good request is
 * served as if nothing had been.
 */
const eras = ["legacy", "modern"] as const;
type Era = (typeof eras)[number];

/**
 * The fault, without the part that depends on the protocol version. No `id`: it could not be
 * read, so it is null (legacy) or left out (modern).
 */
interface Refusal {
  readonly code: number;
  readonly type: ErrorCode;
  readonly message: string;
  readonly id?: unknown;
  readonly data?: JsonObject;
}

interface BadInput {
  readonly what: string;
  /** Text and bytes as they are; a message gets the era's `_meta`. */
  readonly input: string | Buffer | JsonObject;
  readonly eras?: readonly Era[];
  /** Nothing is answered when this is left out. */
  readonly answer?: Refusal;
}

const parseError = (message: string): Refusal => ({ code: -32700, type: "PARSE", message });
const invalidRequest = (message: string, id?: unknown): Refusal => ({
  code: -32600,
  type: "INVALID_REQUEST",
  message,
  id,
});
const invalidParams = (message: string, more: Partial<Refusal> = {}): Refusal => ({
  code: -32602,
  type: "INVALID_PARAMS",
  message,
  id: "bad",
  ...more,
});
const unknownMethod = (method: string): Refusal => ({
  code: -32601,
  type: "METHOD_NOT_FOUND",
  message: `Method not found: ${method}`,
  id: "bad",
});

const badId = invalidRequest(
  "id must be a whole number below 2^53 or a string of at most 256 bytes",
);
const request = (method: unknown, params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id: "bad",
  method,
  params,
});
const call = (params: JsonObject): JsonObject => request("tools/call", params);
const withId = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`;
const nested = (depth: number): string =>
  `{"jsonrpc":"2.0","id":"bad","method":"tools/list","params":${'{"a":'.repeat(depth - 1)}1${"}".repeat(depth - 1)}}`;
const array = (values: number): string =>
  `{"jsonrpc":"2.0","id":"bad","method":"tools/list","params":{"a":[${"1,".repeat(values - 1)}1]}}`;

const inputs: Readonly<Record<string, readonly BadInput[]>> = {
  "input that is not JSON in UTF-8": [
    { what: "a blank line", input: " \t" },
    ...[
      "{",
      '{"jsonrpc":"2.0","id":1,"method":"ping",}',
      '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}',
      "hello",
      "Content-Length: 52",
    ].map((input) => ({
      what: JSON.stringify(input),
      input,
      answer: parseError("not valid JSON"),
    })),
    ...["ff", "c080", "eda080", "f4908080", "7b22e2827d", "00ff"].map((hex) => ({
      what: `the bytes ${hex}`,
      input: Buffer.from(hex, "hex"),
      answer: parseError("not valid UTF-8"),
    })),
    {
      what: "a half character inside a message",
      input: Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
        Buffer.of(0xc3),
        Buffer.from('"}'),
      ]),
      answer: parseError("not valid UTF-8"),
    },
  ],
  "input that only resembles JSON": [
    ...[
      "[1,]",
      "[,1]",
      "[1 2]",
      "[1",
      "[1}",
      "NaN",
      "Infinity",
      "-",
      "01",
      "1.",
      ".5",
      "1e",
      "+1",
      "0x10",
      "tru",
      "True",
      "nul",
      "'a'",
      '"a',
      '"\\x00"',
      '"\\u12"',
    ],
    ...[
      '"a\tb"',
      '{"a"}',
      '{"a":}',
      "{a:1}",
      '{"a":1 "b":2}',
      '{"a":1,,"b":2}',
      '{"a":1}#',
      "/**/{}",
      "{}//",
      "[1]]",
      "\u00a0{}",
      "\u2028",
      "\0",
      '{"a":1}\0',
    ],
  ].map((input) => ({ what: JSON.stringify(input), input, answer: parseError("not valid JSON") })),
  "JSON values that are not messages": ["null", "42", '"x"', "true", "-0", "1e2"].map((input) => ({
    what: input,
    input,
    answer: invalidRequest("a message is a JSON object"),
  })),
  "batches, which this version does not support": [
    { what: "an empty one", input: "[]", answer: invalidRequest("an empty batch") },
    {
      what: "one request",
      input: `[${withId("1")}]`,
      answer: invalidRequest("batches are part of protocol version 2025-03-26 only"),
    },
    {
      what: "numbers",
      input: "[1,2]",
      answer: invalidRequest("batches are part of protocol version 2025-03-26 only"),
    },
  ],
  "other versions of JSON-RPC": [
    '"id":"bad"',
    '"id":"bad","jsonrpc":"1.0"',
    '"id":"bad","jsonrpc":2',
    '"id":"bad","jsonrpc":null',
    '"id":"bad","jsonrpc":"2.0 "',
  ].map((fields) => ({
    what: fields,
    input: `{${fields},"method":"tools/list"}`,
    answer: invalidRequest('jsonrpc must be "2.0"', "bad"),
  })),
  "invalid ids": [
    ...[
      "null",
      "{}",
      "[]",
      "true",
      "[1]",
      "1.5",
      "1e400",
      "-1e400",
      "9007199254740993",
      "-9007199254740993",
      "1e21",
      '"a\\u0000b"',
      '"a\\nb"',
      '"\\u007f"',
    ].map((id) => ({ what: id, input: withId(id), answer: badId })),
    { what: "257 bytes", input: withId(`"${"x".repeat(257)}"`), answer: badId },
    { what: "129 letters of two bytes", input: withId(`"${"é".repeat(129)}"`), answer: badId },
    { what: "a megabyte", input: withId(`"${"x".repeat(1_000_000)}"`), answer: badId },
  ],
  "a missing or invalid method": [
    "",
    '"method":5,',
    '"method":"",',
    '"method":null,',
    '"method":["tools/list"],',
  ].map((field) => ({
    what: field || "none",
    input: `{"jsonrpc":"2.0",${field}"id":"bad"}`,
    answer: invalidRequest("method must be a non-empty string", "bad"),
  })),
  "unknown methods": [
    ...["Tools/Call", "tools/call ", "nope", "tools", "/", "tools/call\u0000", "ping2", "é"],
    ...["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "__defineGetter__"],
    // With an id they are requests, and requests of these names there are not.
    ...["exit", "notifications/initialized", "notifications/cancelled", "$/cancelRequest"],
  ].map((method) => ({
    what: JSON.stringify(method),
    input: request(method),
    answer: unknownMethod(method),
  })),
  "a method with a long name": [
    {
      what: "a thousand letters",
      input: request("m".repeat(1_000)),
      answer: unknownMethod("m".repeat(100)),
    },
  ],
  "methods of another protocol version": [
    ...[
      "ping",
      "initialize",
      "logging/setLevel",
      "resources/subscribe",
      "resources/unsubscribe",
      "shutdown",
    ].map((method) => ({
      what: method,
      input: request(method, { level: "info", uri: "book://alice" }),
      eras: ["modern"] as const,
      answer: unknownMethod(method),
    })),
    ...["server/discover", "subscriptions/listen"].map((method) => ({
      what: method,
      input: request(method, { notifications: {} }),
      eras: ["legacy"] as const,
      answer: unknownMethod(method),
    })),
  ],
  "notifications, which get no answer": [
    { what: "an unknown one", input: '{"jsonrpc":"2.0","method":"notifications/nope"}' },
    {
      what: "an unknown one with an id of null",
      input: '{"jsonrpc":"2.0","id":null,"method":"notifications/nope","params":{}}',
    },
    {
      what: "an unknown one of the editor kind",
      input: '{"jsonrpc":"2.0","id":null,"method":"$/nope"}',
    },
    {
      what: "a call without an id",
      input: '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo.echo"}}',
    },
    { what: "an unknown method without an id", input: '{"jsonrpc":"2.0","method":"nope"}' },
    { what: "initialized, again", input: '{"jsonrpc":"2.0","method":"notifications/initialized"}' },
    ...[
      '{"requestId":99}',
      '{"requestId":"good"}',
      '{"requestId":null}',
      '{"requestId":{}}',
      '{"requestId":1.5}',
      "{}",
    ].map((params) => ({
      what: `a cancellation of ${params}`,
      input: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`,
    })),
    ...['{"id":99}', '{"id":null}', "{}"].map((params) => ({
      what: `a $/cancelRequest of ${params}`,
      input: `{"jsonrpc":"2.0","id":null,"method":"$/cancelRequest","params":${params}}`,
    })),
    {
      what: "a cancellation without params",
      input: '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    },
  ],
  "params that are not an object": ["[]", "[1]", '"x"', "1", "true"].flatMap((params) => [
    {
      what: params,
      input: `{"jsonrpc":"2.0","id":"bad","method":"tools/list","params":${params}}`,
      answer: invalidParams("params must be an object"),
    },
    {
      what: `${params} in a notification`,
      input: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`,
      answer: invalidRequest("params must be an object"),
    },
  ]),
  "an incomplete envelope, or one of another version": [
    {
      what: "no version",
      input: request("tools/list", { _meta: { [keys.capabilities]: {} } }),
      answer: invalidParams(`params._meta requires "${keys.version}"`),
    },
    {
      what: "a version that is no text",
      input: request("tools/list", {
        _meta: { [keys.version]: 20260728, [keys.capabilities]: {} },
      }),
      answer: invalidParams(`params._meta requires "${keys.version}"`),
    },
    ...[undefined, null, [], "elicitation"].map((capabilities) => ({
      what: `capabilities ${JSON.stringify(capabilities)}`,
      input: request("tools/list", {
        _meta: { [keys.version]: modernVersion, [keys.capabilities]: capabilities },
      }),
      answer: invalidParams(`params._meta requires "${keys.capabilities}", at least {}`),
    })),
    {
      what: "a log level there is not",
      input: request("tools/list", {
        _meta: { [keys.version]: modernVersion, [keys.capabilities]: {}, [keys.logLevel]: "loud" },
      }),
      answer: invalidParams(
        "unknown log level (expected: debug, info, notice, warning, error, critical, alert, emergency)",
      ),
    },
    ...["2027-01-01", "2025-11-25", "", "x".repeat(50)].map((version) => ({
      what: `the version "${version}"`,
      input: request("tools/list", { _meta: { [keys.version]: version, [keys.capabilities]: {} } }),
      answer: {
        code: -32022,
        type: "UNSUPPORTED_VERSION" as const,
        message: `unsupported protocol version "${version.slice(0, 40)}"`,
        id: "bad",
        data: { supported: [modernVersion], requested: version.slice(0, 40) },
      },
    })),
    {
      what: "another version, in a call",
      input: call({ name: "echo.echo", _meta: { [keys.version]: "2030-01-01" } }),
      answer: {
        code: -32022,
        type: "UNSUPPORTED_VERSION",
        message: 'unsupported protocol version "2030-01-01"',
        id: "bad",
        data: { supported: [modernVersion], requested: "2030-01-01", toolName: "echo.echo" },
      },
    },
  ],
  "unknown tools": [
    ...["nope", "../../etc/passwd", "constructor", "__proto__", "\u0000"].map((name) => ({
      name,
      near: [],
    })),
    ...["echo.ecko", "ECHO.ECHO", "echo.echo\u0000"].map((name) => ({
      name,
      near: ["echo__echo"],
    })),
  ].map(({ name, near }) => ({
    what: JSON.stringify(name),
    input: call({ name, arguments: {} }),
    answer: {
      code: -32602,
      type: "NOT_FOUND" as const,
      message: `Unknown tool: ${name}${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
      id: "bad",
      data: { details: { near }, toolName: name },
    },
  })),
  "invalid names": [
    ...[undefined, 5, null, "", {}, ["echo.echo"]].map((name) => ({
      what: JSON.stringify(name) ?? "missing",
      input: call({ name, arguments: {} }),
      answer: invalidParams(
        "name must be a non-empty string",
        name === "" ? { data: { toolName: "" } } : {},
      ),
    })),
    {
      what: "300 letters",
      input: call({ name: "x".repeat(300) }),
      answer: {
        code: -32602,
        type: "NOT_FOUND",
        message: `Unknown tool: ${"x".repeat(100)}`,
        id: "bad",
        data: { details: { near: [] }, toolName: "x".repeat(100) },
      },
    },
  ],
  "arguments that are not an object": [[], "x", 5, true].map((args) => ({
    what: JSON.stringify(args),
    input: call({ name: "echo.echo", arguments: args }),
    answer: invalidParams("arguments must be an object", { data: { toolName: "echo.echo" } }),
  })),
  "duplicate keys": [
    ...["jsonrpc", "id", "method", "params"].map((key) => ({
      key,
      input: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{},"${key}":${key === "params" ? "{}" : '"2.0"'}}`,
    })),
    { key: "id", input: '{"jsonrpc":"2.0","id":1,"method":"tools/list","\\u0069d":2}' },
    {
      key: "method",
      input: '{"method":"tools/list","jsonrpc":"2.0","id":1,"method":"tools/list"}',
    },
    {
      key: "name",
      input:
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo.echo","arguments":{},"name":"echo.typed"}}',
    },
    {
      key: "name",
      input:
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo.echo","arguments":{"name":1},"na\\u006de":"x"}}',
    },
    {
      key: "name",
      input:
        '{"params":{"name":"echo.echo","name":"echo.echo"},"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    },
  ].map(({ key, input }) => ({
    what: input,
    input,
    answer: invalidRequest(`the key "${key}" is there twice`),
  })),
  "messages that are too deep or too large": [
    {
      what: "65 levels",
      input: nested(65),
      answer: invalidRequest("nested deeper than 64 levels"),
    },
    {
      what: "a hundred thousand brackets",
      input: "[".repeat(100_000),
      answer: invalidRequest("nested deeper than 64 levels"),
    },
    // The message, its id, version and method, params, the array, and what is in it.
    {
      what: "1,000,001 values",
      input: array(1_000_001 - 6),
      answer: invalidRequest("more than 1000000 values"),
    },
  ],
  "answers to requests that were never sent": [
    ...[
      '"id":1,"result":{}',
      '"id":"x","result":null',
      '"id":1,"error":{"code":-32603,"message":"x"}',
      '"id":1,"result":{},"error":{}',
      '"id":1,"error":5',
    ],
    // A peer that could not read our message says so without an id. An answer to that would be
    // answered in turn, for ever.
    ...[
      '"id":null,"error":{"code":-32700,"message":"not valid JSON"}',
      '"error":{"code":-32600,"message":"what?"}',
      '"id":null,"result":{}',
    ],
  ].map((fields) => ({ what: fields, input: `{"jsonrpc":"2.0",${fields}}` })),
  "foreign cursors": [
    "1",
    "",
    "bm90IG91cnM",
    "bm90IG91cnM.AAAAAAAAAAAAAAAAAAAAAA",
    5,
    null,
    {},
  ].map((cursor) => ({
    what: JSON.stringify(cursor),
    input: request("tools/list", { cursor }),
    answer: invalidParams("invalid cursor", {
      data: { suggestion: "Request the list again without a cursor." },
    }),
  })),
  "unknown resources": [
    ...["book://nobody", "page://404"].flatMap((uri) =>
      eras.map((era) => ({
        what: uri,
        input: request("resources/read", { uri }),
        eras: [era],
        answer: {
          code: era === "modern" ? -32602 : -32002,
          type: "NOT_FOUND" as const,
          message: `Resource not found: ${uri}`,
          id: "bad",
          data: { uri, ...(uri.startsWith("book:") ? { near: ["book://bob"] } : {}) },
        },
      })),
    ),
    {
      what: "no uri",
      input: request("resources/read"),
      answer: invalidParams("uri must be a non-empty string"),
    },
  ],
  "unknown prompts and missing arguments": [
    {
      what: "an unknown prompt",
      input: request("prompts/get", { name: "nope" }),
      answer: {
        code: -32602,
        type: "NOT_FOUND",
        message: "Unknown prompt: nope",
        id: "bad",
        data: { near: [] },
      },
    },
    {
      what: "no name",
      input: request("prompts/get"),
      answer: invalidParams("name must be a non-empty string"),
    },
    {
      what: "a missing argument",
      input: request("prompts/get", { name: "library.review", arguments: { tone: "kind" } }),
      answer: invalidParams('prompt library.review requires the argument "title"'),
    },
    {
      what: "an argument that is no text",
      input: request("prompts/get", { name: "library.review", arguments: { title: 5 } }),
      answer: invalidParams("prompt arguments must be strings"),
    },
  ],
  "completions of unknown references": [
    {
      what: "no reference",
      input: request("completion/complete", { argument: { name: "title", value: "a" } }),
      answer: invalidParams("completion requires a ref and an argument with name and value"),
    },
    {
      what: "a reference to neither prompt nor resource",
      input: request("completion/complete", {
        ref: { type: "ref/tool", name: "echo.echo" },
        argument: { name: "a", value: "b" },
      }),
      answer: invalidParams("ref must name a prompt (ref/prompt) or a resource (ref/resource)"),
    },
  ],
  "foreign request states": ["", "x", "bm90IG91cnM.AAAAAAAAAAAAAAAAAAAAAA", 5, null, {}].map(
    (requestState) => ({
      what: JSON.stringify(requestState),
      input: call({ name: "asking.one", arguments: {}, requestState }),
      eras: ["modern"] as const,
      answer: invalidParams("requestState is unknown, used or expired", {
        data: { suggestion: "Send the request again without it.", toolName: "asking.one" },
      }),
    }),
  ),
  "invalid input responses": [5, [], { name: 5 }, { name: null }].map((inputResponses) => ({
    what: JSON.stringify(inputResponses),
    input: call({ name: "asking.one", arguments: {}, inputResponses }),
    eras: ["modern"] as const,
    answer: invalidParams("inputResponses must map keys to results", {
      data: { toolName: "asking.one" },
    }),
  })),
  "invalid progress tokens": [{}, [], null, true, 1.5].map((progressToken) => ({
    what: JSON.stringify(progressToken),
    input: call({ name: "echo.echo", arguments: {}, _meta: { progressToken } }),
    answer: invalidParams("progressToken must be a string or an integer", {
      data: { toolName: "echo.echo" },
    }),
  })),
  lines: [
    {
      what: "11 MiB",
      input: `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(11 * 1024 * 1024)}"}`,
      answer: invalidRequest("message exceeds the limit of 10 MiB", 1),
    },
    {
      what: "two messages on one",
      input: withId("1") + withId("2"),
      answer: parseError("not valid JSON"),
    },
    {
      what: "two messages with a carriage return between them",
      input: `${withId("1")}\r${withId("2")}`,
      answer: parseError("not valid JSON"),
    },
    { what: "carriage returns only", input: "\r\r\r" },
  ],
};

describe.each(eras)("on a %s connection", (era) => {
  for (const [group, cases] of Object.entries(inputs)) {
    test(`${group} get exactly the expected answer`, async () => {
      await using hall = await startHall({
        toolkits: [createEchoToolkit(), createLibraryToolkit(), createAskingToolkit()],
      });
      for (const { what, input, answer } of cases.filter(({ eras: only = eras }) =>
        only.includes(era),
      )) {
        const client = hall.connectStdio();
        await speak(client, era);
        client.send(isObject(input) && !Buffer.isBuffer(input) ? dress(input, era) : input);
        client.send(goodRequest(era));
        expect.soft(await client.answer("good"), what).toEqual(good(era));
        const refusal = answer ? await client.next() : "nothing";
        expect.soft(refusal, what).toEqual(answer ? written(answer, era) : "nothing");
        expect.soft(client.unread, what).toEqual([]);
      }
    });
  }
});

/** Makes the connection one of this era. */
async function speak(client: RawClient, era: Era): Promise<void> {
  if (era === "legacy") await client.greet();
  else await client.result("server/discover", modern());
}

function goodRequest(era: Era): JsonObject {
  return dress(
    {
      jsonrpc: "2.0",
      id: "good",
      method: "tools/call",
      params: { name: "echo.echo", arguments: { still: "here" } },
    },
    era,
  );
}

function good(era: Era): JsonObject {
  const echo = {
    content: [{ type: "text", text: '{"still":"here"}' }],
    structuredContent: { still: "here" },
    isError: false,
  };
  return {
    jsonrpc: "2.0",
    id: "good",
    result:
      era === "legacy"
        ? echo
        : { ...echo, resultType: "complete", _meta: { [keys.serverInfo]: expect.any(Object) } },
  };
}

function dress(message: JsonObject, era: Era): JsonObject {
  const { params } = message;
  if (era === "legacy" || !isObject(params)) return message;
  const { _meta, ...rest } = params;
  // A case that is about the envelope brings its own.
  const isAboutEnvelope =
    isObject(_meta) && Object.keys(_meta).some((key) => key.startsWith("io."));
  return isAboutEnvelope
    ? message
    : { ...message, params: modern(rest, {}, isObject(_meta) ? _meta : {}) };
}

function written({ code, type, message, id, data = {} }: Refusal, era: Era): JsonObject {
  const { name, hint: suggestion } = errorTable[type];
  const named = name === undefined ? {} : { error_name: name };
  return {
    jsonrpc: "2.0",
    ...(id === undefined ? (era === "legacy" ? { id: null } : {}) : { id }),
    error: {
      code,
      message,
      data: { error_type: type.toLowerCase(), ...named, suggestion, ...data },
    },
  };
}

function byId(a: JsonObject, b: JsonObject): number {
  return String(a.id) < String(b.id) ? -1 : 1;
}

describe("a connection whose era is not known yet", () => {
  test.each([
    ["tools/list", {}],
    ["tools/call", { name: "echo.echo" }],
    ["nope", {}],
    ["logging/setLevel", { level: "info" }],
    ["shutdown", {}],
    ["resources/read", { uri: "book://alice", _meta: { progressToken: 1 } }],
  ])(
    "%s before initialize is refused, ping is not, and the handshake still works",
    async (method, params) => {
      await using hall = await startHall({ toolkits: [createEchoToolkit()] });
      const client = hall.connect();
      expect(await client.request(method, params)).toEqual({
        jsonrpc: "2.0",
        id: 1,
        error: {
          code: -32600,
          message: "not initialized",
          data: {
            error_type: "invalid_request",
            error_name: "ValidationError",
            suggestion: "Send initialize first, or set the protocol version in _meta.",
            ...("name" in params ? { toolName: params.name } : {}),
          },
        },
      });
      expect(await client.request("ping")).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
      await client.greet();
      expect(await client.result("tools/list")).toMatchObject({
        tools: [{ name: "echo__echo" }, { name: "echo__typed" }],
      });
    },
  );

  test("unreadable input is answered with an id of null", async () => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connectStdio();
    client.send("{");
    expect(await client.next()).toEqual(written(parseError("not valid JSON"), "legacy"));
  });

  test("has batches refused until 2025-03-26 is agreed on", async () => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connect();
    client.send(`[${withId("1")}]`);
    expect(await client.next()).toEqual(
      written(invalidRequest("batches are part of protocol version 2025-03-26 only"), "legacy"),
    );
  });

  test("goes back to an id of null when a modern client shakes hands after all", async () => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connect();
    await client.result("server/discover", modern());
    client.send("{");
    expect(await client.next()).not.toHaveProperty("id");
    await client.greet();
    client.send("{");
    expect(await client.next()).toHaveProperty("id", null);
  });
});

describe("the handshake", () => {
  test("tools/* before notifications/initialized is refused, the rest is served", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const client = hall.connect();
    await client.result("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    for (const method of ["tools/list", "tools/call", "tools/nope"]) {
      expect(await client.request(method, { name: "echo.echo" })).toMatchObject({
        error: {
          code: -32600,
          message: "not initialized: notifications/initialized has not arrived",
          data: { error_type: "invalid_request" },
        },
      });
    }
    expect(await client.result("resources/list")).toEqual({ resources: [] });
    client.notify("notifications/initialized");
    expect(await client.result("tools/call", { name: "echo.echo" })).toMatchObject({
      structuredContent: {},
    });
  });

  test("a second initialize is refused and changes nothing", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const client = hall.connect();
    await client.greet("2025-03-26");
    const again = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} };
    expect(await client.request("initialize", again)).toEqual({
      jsonrpc: "2.0",
      id: 2,
      error: {
        code: -32600,
        message: "already initialized",
        data: {
          error_type: "invalid_request",
          error_name: "ValidationError",
          suggestion: errorTable.INVALID_REQUEST.hint,
        },
      },
    });
    client.send([{ jsonrpc: "2.0", id: "batched", method: "ping" }]);
    expect(await client.next()).toEqual([{ jsonrpc: "2.0", id: "batched", result: {} }]);
  });

  test.each([
    ["no params", undefined],
    ["no version", { capabilities: {}, clientInfo: {} }],
    ["a version that is no text", { protocolVersion: 1, capabilities: {}, clientInfo: {} }],
    [
      "capabilities that are no object",
      { protocolVersion: "2025-11-25", capabilities: [], clientInfo: {} },
    ],
    ["no clientInfo", { protocolVersion: "2025-11-25", capabilities: {} }],
  ])("with %s is refused, and a good one is taken afterwards", async (_, params) => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connect();
    expect(await client.request("initialize", params)).toMatchObject({
      error: {
        code: -32600,
        message: "initialize requires protocolVersion, capabilities and clientInfo",
      },
    });
    expect(await client.greet()).toMatchObject({ protocolVersion: "2025-11-25" });
  });
});

describe("batches on 2025-03-26", () => {
  test("are answered in one array, good and bad alike, and notifications are left out", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const client = hall.connect();
    await client.greet("2025-03-26");
    client.send([
      { jsonrpc: "2.0", id: 10, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/nope" },
      {
        jsonrpc: "2.0",
        id: 11,
        method: "tools/call",
        params: { name: "echo.echo", arguments: { a: 1 } },
      },
      5,
      { jsonrpc: "2.0", id: 12, method: "nope" },
      { jsonrpc: "2.0", id: 10, method: "ping" },
    ]);
    const answers = (await client.next()) as unknown as JsonObject[];
    expect(answers).toHaveLength(5);
    expect(answers.sort(byId)).toMatchObject([
      { id: 10, result: {} },
      { id: 10, result: {} },
      { id: 11, result: { structuredContent: { a: 1 } } },
      { id: 12, error: { code: -32601 } },
      { id: null, error: { code: -32600, message: "a message is a JSON object" } },
    ]);
    expect(client.unread).toEqual([]);
  });

  test("of notifications only are not answered, and an empty one is refused", async () => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connect();
    await client.greet("2025-03-26");
    client.send([{ jsonrpc: "2.0", method: "notifications/nope" }]);
    client.send("[]");
    expect(await client.next()).toEqual(written(invalidRequest("an empty batch"), "legacy"));
  });

  test("omit cancelled requests, and include answers to $/cancelRequest", async () => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow] });
    const client = hall.connect();
    await client.greet("2025-03-26");
    const wait = (id: number): JsonObject => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "slow.wait" },
    });
    client.send([wait(20), wait(21), { jsonrpc: "2.0", id: 22, method: "ping" }]);
    await until(() => slow.running === 2);
    client.notify("notifications/cancelled", { requestId: 20 });
    client.notify("$/cancelRequest", { id: 21 });
    expect(await client.next()).toEqual([
      { jsonrpc: "2.0", id: 22, result: {} },
      { jsonrpc: "2.0", id: 21, error: { code: -32002, message: "Request cancelled" } },
    ]);
  });

  test("never make the hall write a message longer than it would read, and each request still gets its answer", async () => {
    const wordy = createToolkit("wordy", { speak: { run: () => text("x".repeat(30_000)) } });
    await using hall = await startHall({ toolkits: [wordy], limits: { messageBytesMax: 100_000 } });
    const client = hall.connect();
    await client.greet("2025-03-26");
    client.send(
      Array.from({ length: 10 }, (_, id) => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "wordy.speak" },
      })),
    );
    const answers = (await client.next()) as unknown as JsonObject[];
    expect(JSON.stringify(answers).length).toBeLessThanOrEqual(100_000);
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const tooLarge = answers.filter(({ result }) => isObject(result) && result.isError);
    expect(tooLarge.length).toBeGreaterThanOrEqual(7);
    expect(tooLarge[0]).toMatchObject({
      result: { structuredContent: { error_type: "too_large" } },
    });
  });

  test("may have a thousand messages", async () => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connect();
    await client.greet("2025-03-26");
    client.send(Array.from({ length: 1_000 }, () => 1));
    expect(await client.next()).toHaveLength(1_000);
    client.send(Array.from({ length: 1_001 }, () => 1));
    expect(await client.next()).toEqual(
      written(invalidRequest("a batch may have 1000 messages"), "legacy"),
    );
  });
});

describe("ids at the limits", () => {
  test.each([
    '"x"',
    '""',
    "0",
    "-1",
    "9007199254740991",
    "-9007199254740991",
    `"${"é".repeat(128)}"`,
    '"null"',
    '"\\ud83d\\ude00"',
    '"1"',
    "1.0",
  ])("%s comes back as it was", async (id) => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connect();
    client.send(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: JSON.parse(id), result: {} });
  });

  test("1 and the text 1 are two requests", async () => {
    await using hall = await startHall({ toolkits: [createSlowToolkit()] });
    const client = hall.connect();
    await client.greet();
    for (const id of [7, "7"])
      client.send({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "slow.wait", arguments: { ms: id === 7 ? 30 : 5 } },
      });
    expect([(await client.next()).id, (await client.next()).id]).toEqual(["7", 7]);
  });
});

describe("arguments that do not match the schema", () => {
  const message =
    "invalid arguments for echo.typed: /text is required; /times must be integer; /more is not a known field";
  const errors = [
    { path: "/text", message: "is required" },
    { path: "/times", message: "must be integer" },
    { path: "/more", message: "is not a known field" },
  ];
  const params = { name: "echo.typed", arguments: { times: "often", more: 1 } };
  const suggestion = errorTable.VALIDATION.hint;

  test.each(["2024-11-05", "2025-03-26", "2025-06-18"])(
    "are -32602 on %s, every field named",
    async (version) => {
      await using hall = await startHall({ toolkits: [createEchoToolkit()] });
      const client = hall.connect();
      await client.greet(version);
      const { error } = await client.request("tools/call", params);
      expect(error).toEqual({
        code: -32602,
        message: sameFields(message, error),
        data: {
          error_type: "validation",
          error_name: "SchemaError",
          suggestion,
          details: { errors: sameItems(errors) },
          toolName: "echo.typed",
        },
      });
      expect(
        await client.result("tools/call", { name: "echo.typed", arguments: { text: "a" } }),
      ).toMatchObject({ structuredContent: { text: "a", times: 1 } });
    },
  );

  test.each(["2025-11-25", modernVersion])(
    "are a result that says so on %s, for the model to mend",
    async (version) => {
      await using hall = await startHall({ toolkits: [createEchoToolkit()] });
      const client = hall.connect();
      const dressed = version === modernVersion ? modern(params) : params;
      if (version !== modernVersion) await client.greet();
      const { result } = await client.request("tools/call", dressed);
      const body = {
        error_type: "validation",
        error_name: "SchemaError",
        message: expect.any(String),
        suggestion,
        toolName: "echo.typed",
        details: { errors: sameItems(errors) },
      };
      expect(result).toMatchObject({
        isError: true,
        content: [{ type: "text", text: expect.stringContaining("/text is required") }],
        structuredContent: body,
        _meta: { "guildhall/error": body },
        ...(version === modernVersion ? { resultType: "complete" } : {}),
      });
    },
  );

  /** ajv does not promise an order among fields. */
  function sameItems(items: readonly unknown[]): unknown {
    return expect.toSatisfy(
      (found: unknown[]) =>
        found.length === items.length &&
        items.every((item) => found.some((one) => JSON.stringify(one) === JSON.stringify(item))),
    );
  }

  function sameFields(wanted: string, error: unknown): unknown {
    const parts = (words: string): string =>
      words
        .replace(/^[^:]*: /, "")
        .split("; ")
        .sort()
        .join();
    return expect.toSatisfy(
      (found: string) => parts(found) === parts(wanted),
      `to name the same fields as ${wanted}, got ${JSON.stringify(error)}`,
    );
  }
});

test.each(eras)("names of inherited properties are ordinary arguments (%s)", async (era) => {
  await using hall = await startHall({ toolkits: [createEchoToolkit()] });
  const client = hall.connect();
  await speak(client, era);
  const args =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x","hasOwnProperty":1}';
  const meta = era === "modern" ? `,"_meta":${JSON.stringify(modern()._meta)}` : "";
  client.send(
    `{"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"name":"echo.echo","arguments":${args}${meta}}}`,
  );
  const { result } = await client.answer("p");
  expect(result).toMatchObject({ content: [{ type: "text", text: args }] });
  expect(JSON.stringify((result as JsonObject).structuredContent)).toBe(args);
  expect("polluted" in {}).toBe(false);
});

test.each(eras)(
  "keys the tool itself defines may repeat inside the arguments (%s)",
  async (era) => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const client = hall.connect();
    await speak(client, era);
    const meta = era === "modern" ? `,"_meta":${JSON.stringify(modern()._meta)}` : "";
    client.send(
      `{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"echo.echo","arguments":{"id":1,"method":2,"name":3,"params":{"name":4}}${meta}}}`,
    );
    expect(await client.answer("d")).toMatchObject({
      result: { structuredContent: { id: 1, method: 2, name: 3, params: { name: 4 } } },
    });
  },
);

test("64 levels and 1,000,000 values are still served", async () => {
  await using hall = await startHall({ toolkits: [] });
  const client = hall.connect();
  await client.greet();
  for (const input of [nested(64), array(1_000_000 - 6)]) {
    client.send(input);
    expect(await client.answer("bad")).toMatchObject({ result: { tools: [] } });
  }
});

test.each(eras)(
  "an id that is still in use is refused, and the first request is unharmed (%s)",
  async (era) => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow, createEchoToolkit()] });
    const client = hall.connect();
    await speak(client, era);
    const first = dress(
      {
        jsonrpc: "2.0",
        id: "bad",
        method: "tools/call",
        params: { name: "slow.wait", arguments: { ms: 50 } },
      },
      era,
    );
    client.send(first);
    await until(() => slow.running === 1);
    client.send(
      dress(
        { jsonrpc: "2.0", id: "bad", method: "tools/call", params: { name: "echo.echo" } },
        era,
      ),
    );
    expect(await client.next()).toEqual(
      written(
        {
          ...invalidRequest('a request with the id "bad" is still running', "bad"),
          data: { toolName: "echo.echo" },
        },
        era,
      ),
    );
    expect(await client.next()).toMatchObject({
      id: "bad",
      result: { content: [{ text: "waited" }] },
    });
    client.send(first);
    expect(await client.next()).toMatchObject({
      id: "bad",
      result: { content: [{ text: "waited" }] },
    });
  },
);

describe.each(eras)("cancelling on a %s connection", (era) => {
  test("reaches only its request, and gets no answer", async () => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow] });
    const client = hall.connect();
    const other = hall.connect();
    await speak(client, era);
    await speak(other, era);
    const waiting = dress(
      { jsonrpc: "2.0", id: 70, method: "tools/call", params: { name: "slow.wait" } },
      era,
    );
    client.send(waiting);
    await until(() => slow.running === 1);
    other.notify("notifications/cancelled", { requestId: 70 });
    client.notify("notifications/cancelled", { requestId: "70" });
    for (const line of [other, client]) {
      line.send(goodRequest(era));
      await line.answer("good");
    }
    expect(slow.running).toBe(1);
    client.notify("notifications/cancelled", { requestId: 70, reason: "no longer wanted" });
    client.notify("notifications/cancelled", { requestId: 70 });
    await until(() => slow.running === 0);
    expect(slow.aborted).toMatchObject([{ code: "CANCELLED" }]);
    client.send({
      ...waiting,
      params: { ...(waiting.params as JsonObject), arguments: { ms: 1 } },
    });
    expect(await client.next()).toMatchObject({
      id: 70,
      result: { content: [{ text: "waited" }] },
    });
    expect([...client.unread, ...other.unread]).toEqual([]);
  });

  test("with $/cancelRequest is answered once with -32002", async () => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow] });
    const client = hall.connect();
    await speak(client, era);
    client.send(
      dress({ jsonrpc: "2.0", id: 71, method: "tools/call", params: { name: "slow.wait" } }, era),
    );
    await until(() => slow.running === 1);
    client.send('{"jsonrpc":"2.0","id":null,"method":"$/cancelRequest","params":{"id":71}}');
    client.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":71}}');
    client.notify("notifications/cancelled", { requestId: 71 });
    expect(await client.next()).toEqual({
      jsonrpc: "2.0",
      id: 71,
      error: { code: -32002, message: "Request cancelled" },
    });
    await until(() => slow.running === 0);
    client.send(goodRequest(era));
    await client.answer("good");
    expect(client.unread).toEqual([]);
  });
});

test.each(eras)(
  "a progress token in use is refused, and free again afterwards (%s)",
  async (era) => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow, createEchoToolkit()] });
    const client = hall.connect();
    await speak(client, era);
    const calling = (id: string, name: string, args: JsonObject): JsonObject =>
      dress(
        {
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: { name, arguments: args, _meta: { progressToken: "p" } },
        },
        era,
      );
    client.send(calling("first", "slow.wait", { ms: 50 }));
    await until(() => slow.running === 1);
    expect(await client.next()).toMatchObject({ method: "notifications/progress" });
    client.send(calling("bad", "echo.echo", {}));
    expect(await client.next()).toEqual(
      written(
        invalidParams('progress token "p" is already in use', {
          data: { toolName: "echo.echo" },
        }),
        era,
      ),
    );
    expect(await client.next()).toMatchObject({ id: "first", result: {} });
    client.send(calling("again", "echo.echo", {}));
    expect(await client.next()).toMatchObject({ id: "again", result: {} });
    // A call that is refused before it begins holds its token no longer than one that ran.
    client.send(calling("unknown", "nobody.knows", {}));
    expect(await client.next()).toMatchObject({
      id: "unknown",
      error: { message: "Unknown tool: nobody.knows" },
    });
    client.send(calling("after", "echo.echo", {}));
    expect(await client.next()).toMatchObject({ id: "after", result: {} });
  },
);

describe("raw lines", () => {
  test("a message cut into single bytes, ended with CRLF, between blank lines, is one message", async () => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connectStdio();
    for (const byte of Buffer.from(`\n\r\n  \n{"jsonrpc":"2.0","id":"é","method":"ping"}\r\n`))
      client.sendBytes(Buffer.of(byte));
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: "é", result: {} });
  });

  test("a line that is too long is refused once, under its own id, and the next one is read", async () => {
    await using hall = await startHall({ toolkits: [], limits: { messageBytesMax: 1_000 } });
    const client = hall.connectStdio();
    client.sendBytes(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"`);
    client.sendBytes("y".repeat(5_000));
    client.sendBytes('"}}\n');
    expect(await client.next()).toEqual(
      written(invalidRequest("message exceeds the limit of 1000 B", 7), "legacy"),
    );
    client.sendBytes('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });

  test("a line of exactly 10 MiB is served", async () => {
    await using hall = await startHall({ toolkits: [] });
    const client = hall.connectStdio();
    const frame = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":""}}';
    client.send(frame.replace('""', `"${"x".repeat(10 * 1024 * 1024 - frame.length)}"`));
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });
});
