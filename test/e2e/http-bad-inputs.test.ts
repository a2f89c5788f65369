import { request as httpRequest } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { keys, modern, modernVersion } from "../servers/client.ts";
import { type Dialled, type Door, openDoor, type Reply, untilCut } from "../servers/door.ts";
import { call, greet, modernHeaders, type Session } from "../servers/door-clients.ts";
import {
  createAskingToolkit,
  createEchoToolkit,
  createLibraryToolkit,
  createToolkit,
  text,
} from "../servers/toolkits.ts";
import { happens } from "../servers/until.ts";

/**
 * Every bad request gets one exact answer, in HTTP and in JSON-RPC, and the next good one is served
 * as if nothing had been.
 */
const eras = ["legacy", "modern"] as const;
type Era = (typeof eras)[number];

interface BadInput {
  readonly what: string;
  /** Text and bytes go as they are; a message gets the era's `_meta` and headers. */
  readonly input: string | Buffer | JsonObject;
  /** Over the era's own; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly eras?: readonly Era[];
  readonly status: number | Readonly<Record<Era, number>>;
  /** No body at all when this is left out. */
  readonly code?: number | Readonly<Record<Era, number>>;
  /** Left out when it could not be read: then it is null (legacy) or missing (modern). */
  readonly id?: unknown;
  readonly data?: JsonObject;
}

const request = (method: unknown, params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id: "bad",
  method,
  params,
});
const withId = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`;
const nested = (depth: number): string =>
  `{"jsonrpc":"2.0","id":"bad","method":"tools/list","params":${'{"a":'.repeat(depth - 1)}1${"}".repeat(depth - 1)}}`;
const array = (values: number): string =>
  `{"jsonrpc":"2.0","id":"bad","method":"tools/list","params":{"a":[${"1,".repeat(values - 1)}1]}}`;
const meta = (more: JsonObject): JsonObject => ({
  _meta: { [keys.version]: modernVersion, [keys.capabilities]: {}, ...more },
});
const modernOnly = ["modern"] as const;
const echo = (more: JsonObject = {}): JsonObject => call("bad", "echo.echo", {}, more);
const region = (value: unknown): JsonObject =>
  call("bad", "regional.run", value === undefined ? {} : { region: value });

/** Refused before anybody looks at what is asked for. */
const parse = { status: 400, code: -32700 };
const invalid = { status: 400, code: -32600 };
/** Answered by the method itself: HTTP went well. */
const params = { status: 200, code: -32602, id: "bad" };
const mismatch = { status: 400, code: -32020, id: "bad", eras: modernOnly };

const inputs: Readonly<Record<string, readonly BadInput[]>> = {
  "input that is not JSON in UTF-8": [
    ...[
      "",
      " ",
      "{",
      '{"jsonrpc":"2.0","id":1,"method":"ping",}',
      '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}',
      "hello",
    ].map((input) => ({
      what: JSON.stringify(input),
      input,
      ...parse,
    })),
    ...["ff", "c080", "eda080", "7b22e2827d"].map((hex) => ({
      what: `the bytes ${hex}`,
      input: Buffer.from(hex, "hex"),
      ...parse,
    })),
    { what: "two messages", input: `${withId("1")}\n${withId("2")}`, ...parse },
  ],
  "JSON values that are not messages": ["null", "42", '"x"', "true"].map((input) => ({
    what: input,
    input,
    ...invalid,
  })),
  "batches, which this version does not support": [
    { what: "an empty one", input: "[]", ...invalid },
    { what: "one request", input: `[${withId("1")}]`, ...invalid },
    { what: "two requests", input: `[${withId("1")},${withId("2")}]`, ...invalid },
    {
      what: "one notification",
      input: '[{"jsonrpc":"2.0","method":"notifications/initialized"}]',
      ...invalid,
    },
    { what: "numbers", input: "[1,2]", ...invalid },
  ],
  "other versions of JSON-RPC": [
    '"id":"bad"',
    '"id":"bad","jsonrpc":"1.0"',
    '"id":"bad","jsonrpc":2',
  ].map((fields) => ({
    what: fields,
    input: `{${fields},"method":"tools/list"}`,
    ...invalid,
    id: "bad",
  })),
  "invalid ids": [
    ...["null", "{}", "[]", "true", "1.5", "1e400", "9007199254740993", '"a\\u0000b"'].map(
      (id) => ({ what: id, input: withId(id), ...invalid }),
    ),
    { what: "a megabyte", input: withId(`"${"x".repeat(1_000_000)}"`), ...invalid },
  ],
  "a missing or invalid method": ["", '"method":5,', '"method":"",'].map((field) => ({
    what: field || "none",
    input: `{"jsonrpc":"2.0",${field}"id":"bad"}`,
    ...invalid,
    id: "bad",
  })),
  "unknown methods": [
    "Tools/Call",
    "tools/list ",
    "nope",
    "constructor",
    "__proto__",
    "notifications/initialized",
    "é",
  ].map((method) => ({
    what: JSON.stringify(method),
    input: request(method),
    // A header cannot say these: it is trimmed, or not ASCII.
    ...(method === "tools/list " || method === "é" ? { eras: ["legacy"] as const } : {}),
    status: { legacy: 200, modern: 404 },
    code: -32601,
    id: "bad",
  })),
  "methods of another protocol version": [
    ...[
      "ping",
      "initialize",
      "logging/setLevel",
      "resources/subscribe",
      "resources/unsubscribe",
    ].map((method) => ({
      what: method,
      input: request(method),
      eras: modernOnly,
      status: 404,
      code: -32601,
      id: "bad",
    })),
    {
      what: "server/discover",
      input: request("server/discover"),
      eras: ["legacy"],
      status: 200,
      code: -32601,
      id: "bad",
    },
  ],
  "notifications, which get no answer": [
    '"method":"notifications/nope"',
    '"id":null,"method":"notifications/nope"',
    '"method":"nope"',
    '"method":"tools/call","params":{"name":"echo.echo"}',
    '"method":"notifications/cancelled","params":{"requestId":99}',
    '"method":"notifications/cancelled","params":{"requestId":null}',
    '"method":"notifications/cancelled","params":{}',
    '"method":"notifications/cancelled"',
  ].map((fields) => ({ what: fields, input: `{"jsonrpc":"2.0",${fields}}`, status: 202 })),
  "params that are not an object": ["[]", '"x"', "1"].map((value) => ({
    what: value,
    input: `{"jsonrpc":"2.0","id":"bad","method":"tools/list","params":${value}}`,
    status: 400,
    code: -32602,
    id: "bad",
  })),
  "an incomplete envelope": [
    {
      what: "all of it",
      input: `{"jsonrpc":"2.0","id":"bad","method":"tools/list"}`,
      eras: modernOnly,
      status: 400,
      code: -32602,
      id: "bad",
    },
    ...[
      {},
      { [keys.capabilities]: {} },
      { [keys.version]: modernVersion },
      { [keys.version]: modernVersion, [keys.capabilities]: [] },
    ].map((_meta) => ({
      what: JSON.stringify(_meta),
      input: JSON.stringify(request("tools/list", { _meta })),
      eras: modernOnly,
      status: 400,
      code: -32602,
      id: "bad",
    })),
    {
      what: "a log level",
      input: request("tools/list", meta({ [keys.logLevel]: "loud" })),
      eras: modernOnly,
      status: 400,
      code: -32602,
      id: "bad",
    },
  ],
  "unsupported versions, in header and body": ["2027-01-01", "v999.0.0", "2025-11-25"].map(
    (version) => ({
      what: version,
      input: request("tools/list", meta({ [keys.version]: version })),
      headers: { "mcp-protocol-version": version },
      eras: modernOnly,
      status: 400,
      code: -32022,
      id: "bad",
      data: { supported: [modernVersion], requested: version },
    }),
  ),
  "a version header that differs from the body": [
    {
      what: "an older one",
      input: request("tools/list"),
      headers: { "mcp-protocol-version": "2025-11-25" },
      ...mismatch,
    },
    {
      what: "nothing",
      input: request("tools/list"),
      headers: { "mcp-protocol-version": undefined },
      ...mismatch,
    },
    {
      what: "not what an unknown body says",
      input: request("tools/list", meta({ [keys.version]: "v999.0.0" })),
      ...mismatch,
    },
    {
      what: "in base64",
      input: request("tools/list"),
      headers: { "mcp-protocol-version": "=?base64?MjAyNi0wNy0yOA==?=" },
      ...mismatch,
    },
  ],
  "Mcp-Method and Mcp-Name that are missing or different": [
    ...[undefined, "prompts/list", "TOOLS/LIST", "tools/list, tools/list", ""].map((method) => ({
      what: `Mcp-Method ${method}`,
      input: request("tools/list"),
      headers: { "mcp-method": method },
      ...mismatch,
    })),
    // Only names and parameters travel in base64: a proxy compares a method as it is.
    {
      what: "Mcp-Method in base64",
      input: request("tools/list"),
      headers: { "mcp-method": "=?base64?dG9vbHMvbGlzdA==?=" },
      ...mismatch,
    },
    ...[undefined, "echo.typed", "ECHO.ECHO", ""].map((name) => ({
      what: `Mcp-Name ${name}`,
      input: echo(),
      headers: { "mcp-name": name },
      ...mismatch,
    })),
    {
      what: "Mcp-Name of a resource",
      input: request("resources/read", { uri: "book://alice" }),
      headers: { "mcp-name": "book://bob" },
      ...mismatch,
    },
    {
      what: "no Mcp-Name of a prompt",
      input: request("prompts/get", { name: "library.review" }),
      headers: { "mcp-name": undefined },
      ...mismatch,
    },
  ],
  "Mcp-Name with invalid base64": [
    ["padding that is missing", "=?base64?ZWNoby5lY2hv=?="],
    ["letters that are none", "=?base64?ZWNo!!!by5lY2hv?="],
    ["another name", "=?base64?ZWNoby50eXBlZA==?="],
    ["the marker in capitals", "=?BASE64?ZWNoby5lY2hv?="],
    ["nothing", "=?base64??="],
  ].map(([what = "", name]) => ({
    what,
    input: echo(),
    headers: { "mcp-name": name },
    ...mismatch,
  })),
  "Mcp-Param headers that differ from the body": [
    { what: "missing", input: region("north"), ...mismatch },
    {
      what: "different",
      input: region("north"),
      headers: { "mcp-param-region": "south" },
      ...mismatch,
    },
    {
      what: "in the header only",
      input: region(undefined),
      headers: { "mcp-param-region": "north" },
      ...mismatch,
    },
    {
      what: "padding that is missing",
      input: region("Hello"),
      headers: { "mcp-param-region": "=?base64?SGVsbG8?=" },
      ...mismatch,
    },
    {
      what: "letters that are none",
      input: region("Hello"),
      headers: { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" },
      ...mismatch,
    },
    // A proxy that decodes reads "Hello" and a tool that does not reads the marker: such a value
    // must be encoded itself.
    {
      what: "a body that looks encoded",
      input: region("=?base64?SGVsbG8=?="),
      headers: { "mcp-param-region": "=?base64?SGVsbG8=?=" },
      ...mismatch,
    },
    {
      what: "a body that is the broken header",
      input: region("=?base64?SGVs!!!?="),
      headers: { "mcp-param-region": "=?base64?SGVs!!!?=" },
      ...mismatch,
    },
    {
      what: "a number",
      input: call("bad", "regional.run", { zone: 42 }),
      headers: { "mcp-param-zone": "43" },
      ...mismatch,
    },
    {
      what: "a word for a number",
      input: call("bad", "regional.run", { zone: 42 }),
      headers: { "mcp-param-zone": "forty-two" },
      ...mismatch,
    },
    {
      what: "below another property",
      input: call("bad", "regional.run", { place: { city: "Ulm" } }),
      headers: { "mcp-param-city": "Bonn" },
      ...mismatch,
    },
    {
      what: "missing below another property",
      input: call("bad", "regional.run", { place: { city: "Ulm" } }),
      ...mismatch,
    },
  ],
  "a capability that the client lacks": [
    {
      what: "elicitation",
      input: call("bad", "asking.one"),
      status: { legacy: 200, modern: 400 },
      code: -32021,
      id: "bad",
      data: { requiredCapabilities: { elicitation: expect.any(Object) } },
    },
  ],
  "calls without a valid tool": [
    ...["nope", "../../etc/passwd", "\u0000", "x".repeat(300)].map((name) => ({
      what: JSON.stringify(name),
      input: call("bad", name),
      ...params,
    })),
    { what: "an empty name", input: call("bad", ""), headers: { "mcp-name": "" }, ...params },
    { what: "no name", input: request("tools/call"), ...params },
    ...[[], "x"].map((args) => ({
      what: `arguments ${JSON.stringify(args)}`,
      input: echo({ arguments: args }),
      ...params,
    })),
  ],
  "duplicate keys": [
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","id":2}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","\\u006dethod":"tools/call"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo.echo","name":"echo.typed"}}',
  ].map((input) => ({ what: input, input, ...invalid })),
  "messages that are too deep or too large": [
    { what: "65 levels", input: nested(65), ...invalid },
    { what: "1,000,001 values", input: array(1_000_001 - 6), ...invalid },
  ],
  "other types and charsets": [
    ...[
      "text/plain",
      "application/json-rpc",
      "multipart/form-data",
      "application/x-www-form-urlencoded",
      "",
      undefined,
    ].map((type) => ({
      what: `Content-Type ${type}`,
      headers: { "content-type": type },
    })),
    ...["application/json; charset=utf-16", 'application/json; charset="latin1"'].map((type) => ({
      what: type,
      headers: { "content-type": type },
    })),
    ...["zstd", "compress", "gzip, gzip", "constructor", "__proto__"].map((coding) => ({
      what: `Content-Encoding ${coding}`,
      headers: { "content-encoding": coding },
    })),
  ].map((bad) => ({ ...bad, input: request("tools/list"), status: 415, code: -32600 })),
  "an Accept header that allows no answer": [
    {
      what: "JSON only",
      input: request("tools/list"),
      headers: { accept: "application/json" },
      eras: ["legacy"],
      status: 406,
      code: -32600,
    },
    {
      what: "events only",
      input: request("tools/list"),
      headers: { accept: "text/event-stream" },
      eras: ["legacy"],
      status: 406,
      code: -32600,
    },
    {
      what: "pictures",
      input: request("tools/list"),
      headers: { accept: "image/png" },
      status: 406,
      code: -32600,
    },
    {
      what: "JSON only, for what is a stream",
      input: request("subscriptions/listen", { notifications: { toolsListChanged: true } }),
      headers: { accept: "application/json" },
      eras: modernOnly,
      status: 406,
      code: -32600,
    },
  ],
  "answers to requests that were never sent": [
    {
      what: "a result",
      input: '{"jsonrpc":"2.0","id":1,"result":{}}',
      eras: modernOnly,
      ...invalid,
    },
    {
      what: "an error",
      input: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}',
      eras: modernOnly,
      ...invalid,
    },
    {
      what: "a stray one",
      input: '{"jsonrpc":"2.0","id":99,"result":{}}',
      eras: ["legacy"],
      status: 202,
    },
    // An answer to that would be answered in turn, for ever.
    {
      what: "one to an error of ours",
      input: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}',
      eras: ["legacy"],
      status: 202,
    },
  ],
  "unknown sessions": [
    ["no id", undefined, 400] as const,
    ["an unknown one", "nobody", 404] as const,
    ["one with a space", "a b", 400] as const,
    ["one that is not ASCII", "caf\u00e9", 400] as const,
    ["one that is too long", "x".repeat(257), 400] as const,
    ["two", "one, two", 400] as const,
  ].map(([what, id, status]) => ({
    what,
    input: request("tools/list"),
    headers: { "mcp-session-id": id },
    eras: ["legacy"] as const,
    status,
    code: -32600,
    ...(id === undefined ? { id: "bad" } : {}),
  })),
  "initialize, again or wrong": [
    {
      what: "again",
      input: request("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: {},
      }),
      eras: ["legacy"],
      ...invalid,
      id: "bad",
    },
    {
      what: "with nothing",
      input: request("initialize"),
      headers: { "mcp-session-id": undefined },
      eras: ["legacy"],
      ...invalid,
      id: "bad",
    },
    {
      what: "a version there is not",
      input: request("tools/list"),
      headers: { "mcp-protocol-version": "1999-01-01" },
      eras: ["legacy"],
      ...invalid,
    },
  ],
  "unknown cursors, prompts and progress tokens": [
    { what: "a cursor", input: request("tools/list", { cursor: "bm90IG91cnM" }), ...params },
    { what: "a prompt", input: request("prompts/get", { name: "nope" }), ...params },
    { what: "an argument", input: request("prompts/get", { name: "library.review" }), ...params },
    { what: "a progress token", input: echo({ _meta: { progressToken: {} } }), ...params },
  ],
  "unknown resources": [
    {
      what: "a book",
      input: request("resources/read", { uri: "book://nobody" }),
      status: 200,
      code: { legacy: -32002, modern: -32602 },
      id: "bad",
    },
  ],
  "foreign request states": ["x", "bm90IG91cnM.AAAAAAAAAAAAAAAAAAAAAA", 5].map((requestState) => ({
    what: JSON.stringify(requestState),
    input: call("bad", "asking.one", {}, { requestState }),
    eras: modernOnly,
    ...params,
  })),
};

let door: Door;
let slowKnock: ReturnType<typeof knockSlowly>;
beforeAll(async () => {
  const annotated = (name: string, type: string): JsonObject => ({ type, "x-mcp-header": name });
  const properties = {
    region: annotated("Region", "string"),
    zone: annotated("Zone", "integer"),
    place: { type: "object", properties: { city: annotated("City", "string") } },
  };
  const regional = createToolkit("regional", {
    run: { inputSchema: { type: "object", properties }, run: () => text("ran") },
  });
  door = await openDoor({
    toolkits: [createEchoToolkit(), createLibraryToolkit(), createAskingToolkit(), regional],
  });
  slowKnock = knockSlowly();
});
afterAll(() => door[Symbol.asyncDispose]());

describe.each(eras)("in the %s era", (era) => {
  for (const [group, cases] of Object.entries(inputs)) {
    const own = cases.filter(({ eras: only = eras }) => only.includes(era));
    if (own.length === 0) continue;
    test(`${group} get exactly the expected answer`, async () => {
      const session = await greet(door);
      for (const bad of own) {
        const reply = await knock(bad, era, session);
        expect.soft(described(reply), bad.what).toEqual(expected(bad, era));
        await expectServed(era, session, bad.what);
      }
    });
  }
});

/** Sends it as a client of this era would; gives up on an answer that never comes. */
async function knock(
  { input, headers = {}, what }: BadInput,
  era: Era,
  session: Session,
): Promise<Reply> {
  const isMessage = isObject(input) && !Buffer.isBuffer(input);
  const message = isMessage && era === "modern" ? dress(input) : input;
  const own =
    era === "legacy"
      ? session.headers
      : modernHeaders(isMessage ? (message as JsonObject) : { method: "tools/list" });
  const reply = door.send({ body: message, headers: { ...own, ...headers } });
  if (await happens(reply)) return reply;
  return { status: 0, headers: {}, text: `nothing came for ${what}`, json: undefined };
}

function dress(message: JsonObject): JsonObject {
  const { _meta, ...rest } = isObject(message.params) ? message.params : {};
  const isAboutEnvelope =
    isObject(_meta) && Object.keys(_meta).some((key) => key.startsWith("io."));
  return isAboutEnvelope
    ? message
    : { ...message, params: modern(rest, {}, isObject(_meta) ? _meta : {}) };
}

function described({ status, headers, json, text: body }: Reply): JsonObject {
  if (!json) return { status, body };
  const error = isObject(json.error) ? json.error : {};
  const { requiredCapabilities, supported, requested } = isObject(error.data) ? error.data : {};
  return {
    status,
    type: headers["content-type"],
    code: error.code,
    ...("id" in json ? { id: json.id } : {}),
    ...(requiredCapabilities === undefined ? {} : { requiredCapabilities }),
    ...(supported === undefined ? {} : { supported, requested }),
  };
}

function expected({ status, code, id, data = {} }: BadInput, era: Era): JsonObject {
  const ours = <T>(value: T | Readonly<Record<Era, T>>): T =>
    isObject(value) ? (value as Record<Era, T>)[era] : (value as T);
  if (code === undefined) return { status: ours(status), body: "" };
  const addressed = id === undefined ? (era === "legacy" ? { id: null } : {}) : { id };
  return {
    status: ours(status),
    type: "application/json",
    code: ours(code),
    ...addressed,
    ...data,
  };
}

async function expectServed(era: Era, session: Session, after: string): Promise<void> {
  const good = call("good", "echo.echo", { still: "here" });
  const message = era === "modern" ? dress(good) : good;
  const reply = await door.send({
    body: message,
    headers: era === "modern" ? modernHeaders(message) : session.headers,
  });
  expect
    .soft([reply.status, reply.json], `after ${after}`)
    .toMatchObject([200, { id: "good", result: { structuredContent: { still: "here" } } }]);
}

describe("header values that are right", () => {
  test.each([
    ["plain", { region: "north" }, { "mcp-param-region": "north" }],
    ["with space around it", { region: "north" }, { "mcp-param-region": "  north \t" }],
    ["in base64", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8=?=" }],
    [
      "not ASCII",
      { region: "Hello, 世界" },
      { "mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?=" },
    ],
    [
      "with spaces of its own",
      { region: " padded " },
      { "mcp-param-region": "=?base64?IHBhZGRlZCA=?=" },
    ],
    ["like base64 without its marker", { region: "SGVsbG8=" }, { "mcp-param-region": "SGVsbG8=" }],
    ["half a marker", { region: "=?base64?SGVsbG8=" }, { "mcp-param-region": "=?base64?SGVsbG8=" }],
    [
      "the marker, encoded",
      { region: "=?base64?literal?=" },
      { "mcp-param-region": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=" },
    ],
    ["absent", {}, {}],
    ["null", { region: null }, {}],
    ["a number", { zone: -7 }, { "mcp-param-zone": "-7" }],
    // The protocol: "compare the header value and the body value numerically rather than as strings".
    ["a number written otherwise", { zone: 42 }, { "mcp-param-zone": "42.0" }],
    ["below another property", { place: { city: "Ulm" } }, { "mcp-param-city": "Ulm" }],
    ["one nobody asked for", {}, { "mcp-param-other": "x" }],
  ])("Mcp-Param: %s", async (_what, args, headers) => {
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: modern({ name: "regional.run", arguments: args }),
    };
    const reply = await door.send({
      body: message,
      headers: { ...modernHeaders(message), ...headers },
    });
    expect([reply.status, isObject(reply.json?.error) ? reply.json.error.code : undefined]).toEqual(
      [200, undefined],
    );
  });

  test.each([
    ["Mcp-Name in base64", { "mcp-name": "=?base64?ZWNoby5lY2hv?=" }],
    ["Mcp-Name with space around it", { "mcp-name": "  echo.echo  " }],
    ["names of headers in capitals", { "mcp-method": undefined, "MCP-METHOD": "tools/call" }],
    ["JSON only", { accept: "application/json" }],
    ["events only", { accept: "text/event-stream" }],
    ["no Accept", { accept: undefined }],
    ["a charset", { "content-type": 'application/JSON; charset="UTF-8"' }],
    ["an old session id, which is ignored", { "mcp-session-id": "nobody", "last-event-id": "0-0" }],
  ])("%s", async (_what, headers) => {
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: modern({ name: "echo.echo", arguments: { a: 1 } }),
    };
    const reply = await door.send({
      body: message,
      headers: { ...modernHeaders(message), ...headers },
    });
    expect([reply.status, reply.json]).toMatchObject([
      200,
      { id: 1, result: { structuredContent: { a: 1 } } },
    ]);
    expect(reply.headers).not.toHaveProperty("mcp-session-id");
  });

  test.each([
    ["twice Mcp-Method", "Mcp-Method: tools/list\r\nMcp-Method: tools/list\r\n"],
    ["twice the version", "Mcp-Method: tools/list\r\nMCP-Protocol-Version: 2026-07-28\r\n"],
  ])("%s is refused, even when both say the same", async (_what, lines) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: modern() });
    const dialled = door.dial();
    dialled.write(
      `${head({ "MCP-Protocol-Version": modernVersion, "Content-Length": String(body.length) }, lines)}${body}`,
    );
    expect((await dialled.until(/^HTTP\/1.1 (\d+)[\s\S]*"code":(-\d+)/)).slice(1)).toEqual([
      "400",
      "-32020",
    ]);
  });
});

/** The first lines of a POST, written by hand. */
function head(
  headers: Readonly<Record<string, string>>,
  more = "",
  line = "POST /mcp HTTP/1.1",
): string {
  const all = {
    Host: `127.0.0.1:${door.port}`,
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...headers,
  };
  return `${line}\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}${more}\r\n`;
}

describe("bodies and their size", () => {
  const limit = 10 * 1024 * 1024;
  const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: modern() });
  const listHeaders = modernHeaders({ method: "tools/list" });
  const rawHeaders = { "MCP-Protocol-Version": modernVersion, "Mcp-Method": "tools/list" };
  const served = async (): Promise<void> => expectServed("modern", await greet(door), "it");

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["identity", (body: string) => Buffer.from(body)],
  ])("%s is read", async (coding, pack) => {
    const reply = await door.send({
      body: pack(list),
      headers: { ...listHeaders, "content-encoding": coding },
    });
    expect([reply.status, reply.json]).toMatchObject([
      200,
      { id: 1, result: { tools: expect.any(Array) } },
    ]);
  });

  test.each(["gzip", "deflate", "br"])(
    "what is not %s although it says so is refused",
    async (coding) => {
      const reply = await door.send({
        body: list,
        headers: { ...listHeaders, "content-encoding": coding },
      });
      expect([reply.status, reply.json]).toMatchObject([400, { error: { code: -32700 } }]);
      await served();
    },
  );

  test("a body that ends in the middle of its gzip is refused", async () => {
    const reply = await door.send({
      body: gzipSync(list).subarray(0, 40),
      headers: { ...listHeaders, "content-encoding": "gzip" },
    });
    expect([reply.status, reply.json]).toMatchObject([400, { error: { code: -32700 } }]);
    await served();
  });

  test("10 MiB are read, one byte more is not", async () => {
    const [before, after] = list.split('"tools/list"') as [string, string];
    const sized = (bytes: number): string =>
      `${before}"tools/list"${after.slice(0, -1)},"x":"${"x".repeat(bytes - list.length - 7)}"}`;
    expect(sized(limit)).toHaveLength(limit);
    expect((await door.send({ body: sized(limit), headers: listHeaders })).status).toBe(200);
    const dialled = door.dial();
    dialled.write(head({ ...rawHeaders, "Content-Length": String(limit + 1) }));
    await dialled.until(/^HTTP\/1.1 413 [\s\S]*"code":-32600/);
    expect(dialled.received).toMatch(/\r\nconnection: close\r\n/i);
    expect(dialled.received).not.toContain('"id"');
    expect(await happens(dialled.closed)).toBe(true);
    await served();
  });

  test("a body without a length and without an end is cut at 10 MiB", async () => {
    const dialled = door.dial();
    dialled.write(head({ ...rawHeaders, "Transfer-Encoding": "chunked" }));
    const piece = Buffer.concat([
      Buffer.from("100000\r\n"),
      Buffer.alloc(0x100000, "x"),
      Buffer.from("\r\n"),
    ]);
    let pieces = 0;
    for (; pieces < 60 && !dialled.received && dialled.socket.writable; pieces++) {
      await new Promise((resolve) => dialled.socket.write(piece, resolve));
      await nextTurn();
    }
    await dialled.until(/^HTTP\/1.1 413 [\s\S]*"code":-32600/);
    expect(pieces).toBeLessThan(40);
    expect(await happens(dialled.closed)).toBe(true);
    await served();
  });

  test("a client that keeps sending too much still reads why", async () => {
    const status = await new Promise<number | string | undefined>((resolve) => {
      const sending = httpRequest(
        {
          port: door.port,
          method: "POST",
          path: "/mcp",
          headers: { "content-type": "application/json", ...listHeaders },
        },
        (response) => resolve(response.statusCode),
      );
      sending.on("error", (error: NodeJS.ErrnoException) => resolve(error.code));
      sending.end(Buffer.alloc(30 * 1024 * 1024, "x"));
    });
    expect(status).toBe(413);
  });

  test.each([
    ["gzip", () => gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 })],
    [
      "br",
      () =>
        brotliCompressSync(Buffer.alloc(64 * 1024 * 1024), {
          params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
        }),
    ],
    ["deflate", () => deflateSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 })],
  ])("a %s bomb is refused before it has grown", async (coding, pack) => {
    const bomb = pack();
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const knocks = Array.from({ length: 4 }, () =>
      door.send({
        body: bomb,
        isShared: false,
        headers: { ...listHeaders, "content-encoding": coding },
      }),
    );
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 1);
    const replies = await Promise.all(knocks);
    clearInterval(watch);
    for (const reply of replies)
      expect([reply.status, reply.json, reply.headers.connection]).toMatchObject([
        413,
        { error: { code: -32600 } },
        "close",
      ]);
    // Four times ten MiB as they are gathered, and something for the decompressors and for the collector to catch up.
    expect(most).toBeLessThan(100 * 1024 * 1024);
    await served();
  });

  test("a length smaller than the body ends the connection after it", async () => {
    const dialled = door.dial();
    dialled.write(`${head({ ...rawHeaders, "Content-Length": "10" })}${list}`);
    await dialled.until(/^HTTP\/1.1 400 /);
    expect(await happens(dialled.closed)).toBe(true);
    expect(dialled.received).not.toMatch(/HTTP\/1\.1 (?!400)/);
    await served();
  });

  test("a client that leaves in the middle of its body leaves no error", async () => {
    const before = door.logged.filter((line) => line.includes('"level":"error"')).length;
    const leaving = Array.from({ length: 20 }, async () => {
      const dialled = door.dial();
      const begun = `${head({ ...rawHeaders, "Content-Length": "1000" })}{"jsonrpc"`;
      await new Promise((resolve) => dialled.socket.write(begun, resolve));
      dialled.socket.destroy();
      await untilCut(door, dialled);
    });
    await Promise.all(leaving);
    await served();
    expect(door.logged.filter((line) => line.includes('"level":"error"'))).toHaveLength(before);
  });
});

describe("routes and methods", () => {
  test.each([
    ["GET", "/mcp", { "mcp-protocol-version": modernVersion }, "POST"],
    ["DELETE", "/mcp", { "mcp-protocol-version": modernVersion }, "POST"],
    ["PUT", "/mcp", { "mcp-protocol-version": modernVersion }, "POST"],
    ["GET", "/mcp", {}, "POST"],
    ["PUT", "/mcp", {}, "GET, POST, DELETE"],
    ["OPTIONS", "/mcp", {}, "GET, POST, DELETE"],
    ["PATCH", "/mcp", {}, "GET, POST, DELETE"],
    ["TRACE", "/mcp", {}, "GET, POST, DELETE"],
    ["HEAD", "/mcp", {}, "GET, POST, DELETE"],
    ["GET", "/", {}, "POST"],
    ["POST", "/sse", {}, "GET"],
    ["GET", "/messages", {}, "POST"],
    ["POST", "/health", {}, "GET, HEAD"],
  ])("%s %s is not allowed, and what is, is said", async (method, path, headers, allow) => {
    const reply = await door.send({ method, path, headers });
    expect([reply.status, reply.headers.allow]).toEqual([405, allow]);
  });

  test.each([
    "/nope",
    "/mcp/",
    "/MCP",
    "/mcp/../admin",
    "/%6dcp",
    "//mcp",
    "//",
    "///",
    "//evil.example/mcp",
    "/mcp;x",
  ])("there is nothing at %s", async (path) => {
    const reply = await door.send({ path, body: { jsonrpc: "2.0", id: 1, method: "ping" } });
    expect([reply.status, reply.json]).toMatchObject([404, { error: { code: -32602 } }]);
  });

  test("health has the version and the number of tools", async () => {
    const reply = await door.send({ method: "GET", path: "/health" });
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        status: "ok",
        version: "0.0.0-test",
        tools_count: 11,
        resources_count: 2,
        prompts_count: 1,
      },
    ]);
    expect(await door.send({ method: "HEAD", path: "/health" })).toMatchObject({
      status: 200,
      text: "",
    });
  });
});

describe("input that is not HTTP", () => {
  const lines = (text: string): string => text.replaceAll("\n", "\r\n");
  test.each([
    ["a length and chunks", () => head({ "Content-Length": "5", "Transfer-Encoding": "chunked" })],
    ["two lengths", () => head({ "Content-Length": "5" }, "Content-Length: 6\r\n")],
    ["two equal lengths", () => head({ "Content-Length": "5" }, "Content-Length: 5\r\n")],
    ["a negative length", () => head({ "Content-Length": "-5" })],
    ["a length that is no number", () => head({ "Content-Length": "5x" })],
    ["an unknown transfer coding", () => head({ "Transfer-Encoding": "chunked, gzip" })],
    ["a header folded over two lines", () => head({ "Content-Length": "0", "X-Long": "a\r\n b" })],
    ["bare newlines", () => head({ "Content-Length": "0" }).replaceAll("\r\n", "\n")],
    ["a NUL in a header", () => head({ "X-Nul": "a\0b" })],
    ["a space before the colon", () => head({ "X-Space ": "a" })],
    ["no version", () => lines("POST /mcp\n\n")],
    ["another version", () => head({}, "", "POST /mcp HTTP/3.7")],
    ["HTTP/2", () => lines("PRI * HTTP/2.0\n\nSM\n\n")],
    ["a method there is not", () => head({}, "", "STEAL /mcp HTTP/1.1")],
    ["TLS", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["JSON without HTTP", () => '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'],
    ["no Host", () => lines("POST /mcp HTTP/1.1\nContent-Type: application/json\n\n")],
    ["a broken chunk", () => `${head({ "Transfer-Encoding": "chunked" })}zz\r\n`],
  ])("%s: 400, and the line is closed", async (_what, bytes) => {
    const dialled = door.dial();
    dialled.write(bytes());
    await dialled.until(/^HTTP\/1\.1 400 /);
    expect(await happens(dialled.closed)).toBe(true);
    expect(dialled.received).not.toMatch(/"result"/);
    await expectServed("modern", await greet(door), "it");
  });

  test("more than 16 KiB of headers: 431", async () => {
    const dialled = door.dial();
    dialled.write(head({ "X-Long": "x".repeat(17 * 1024) }));
    await dialled.until(/^HTTP\/1\.1 431 /);
    expect(await happens(dialled.closed)).toBe(true);
  });

  test("15 KiB of headers are read", async () => {
    expect(
      (
        await door.send({
          method: "GET",
          path: "/health",
          headers: { "x-long": "x".repeat(15 * 1024) },
        })
      ).status,
    ).toBe(200);
  });

  test("requests in one breath are answered in their order", async () => {
    const body = (id: number): string =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params: modern() });
    const one = (id: number): string =>
      `${head({ "MCP-Protocol-Version": modernVersion, "Mcp-Method": "tools/list", "Content-Length": String(body(id).length) })}${body(id)}`;
    const dialled = door.dial();
    dialled.write([1, 2, 3, 4, 5].map(one).join(""));
    await dialled.until(/"id":5,/);
    expect(
      [...dialled.received.matchAll(/"jsonrpc":"2.0","id":(\d)/g)].map(([, id]) => id),
    ).toEqual(["1", "2", "3", "4", "5"]);
  });

  // Java's HTTP client asks for this with every first request; who does not speak it serves the request all the same.
  test("a request that would rather speak HTTP/2 is served in HTTP/1.1", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: modern() });
    const upgrade = {
      Connection: "Upgrade, HTTP2-Settings",
      Upgrade: "h2c",
      "HTTP2-Settings": "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
    };
    const dialled = door.dial();
    dialled.write(
      `${head({ ...upgrade, "MCP-Protocol-Version": modernVersion, "Mcp-Method": "tools/list", "Content-Length": String(body.length) })}${body}`,
    );
    await dialled.until(/^HTTP\/1\.1 200 [\s\S]*"result"/);
  });

  test("such a socket counts once, however often it asks", async () => {
    await using small = await openDoor({ toolkits: [], socketsPerAddressMax: 3 });
    const dialled = small.dial();
    for (let n = 1; n <= 10; n++) {
      dialled.write(
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
      );
      await dialled.until(new RegExp(`(HTTP/1.1 200 [\\s\\S]*?"status":"ok"[\\s\\S]*?){${n}}`));
    }
    expect((await small.send({ method: "GET", path: "/health" })).status).toBe(200);
  });

  test("past the limit of sockets from one address the next is closed", async () => {
    await using small = await openDoor({ toolkits: [], socketsPerAddressMax: 2 });
    const [first, second] = [small.dial(), small.dial()];
    for (const { socket } of [first, second])
      if (socket.connecting) await new Promise((resolve) => socket.once("connect", resolve));
    expect(await happens(small.dial().closed)).toBe(true);
    first.socket.destroy();
    await expect
      .poll(async () =>
        small.send({ method: "GET", path: "/health", isShared: false }).then(
          ({ status }) => status,
          () => "closed",
        ),
      )
      .toBe(200);
  });

  test("headers that take longer than ten seconds end with 408 and a closed connection", async () => {
    const dialled = await slowKnock;
    expect(dialled.received).toMatch(/^HTTP\/1\.1 408 /);
  });
});

/** Sends its headers a letter at a time. Begun with the first test, so that the others run meanwhile. */
async function knockSlowly(): Promise<Dialled> {
  const dialled = door.dial();
  const bytes = head({ "X-Slow": "x".repeat(200) });
  let sent = 0;
  const dribble = setInterval(() => dialled.write(bytes.charAt(sent++)), 250);
  await happens(dialled.closed);
  clearInterval(dribble);
  return dialled;
}
