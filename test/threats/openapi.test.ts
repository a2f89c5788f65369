import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Outcome } from "../../src/tool.ts";
import { pinOf } from "../../src/trust/pin.ts";
import type { Api, ApiOptions } from "../../src/upstream/openapi/operation.ts";
import { readDocument } from "../../src/upstream/openapi/reader.ts";
import { Sender, type SenderOptions } from "../../src/upstream/openapi/send.ts";
import { documentOf, readOne, readText } from "../servers/api-document.ts";

/** Documents and arguments that want more than an API's requests. */
const folder = mkdtempSync(join(tmpdir(), "openapi-"));
const ok = { "200": { description: "ok" } };
const bodyOf = (schema: JsonObject): JsonObject => ({
  requestBody: { content: { "application/json": { schema } } },
  responses: ok,
});

/** Read by the worker, as a hall does it. */
async function readFile(text: string, options: Partial<ApiOptions> = {}): Promise<Api> {
  const file = join(folder, "api.yaml");
  writeFileSync(file, text);
  const usual = { allowPrivate: false, include: [], exclude: [], baseUrl: undefined };
  return readDocument({ ...usual, ...options, openapi: file }, new Scope());
}

const seen: IncomingMessage[] = [];
const servers: Server[] = [];
let [here, elsewhere] = ["", ""];

beforeAll(async () => {
  for (const _ of "12") {
    const server = createServer((request, response) => {
      seen.push(request);
      const { searchParams } = new URL(request.url ?? "", "http://x");
      const to = searchParams.get("to");
      response.writeHead(to === null ? 200 : 302, to === null ? {} : { location: to }).end("done");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
  }
  [here = "", elsewhere = ""] = servers.map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

interface Calling {
  readonly method?: string;
  readonly path?: string;
  readonly operation?: JsonObject;
  readonly sender?: Partial<SenderOptions>;
}

async function call(args: JsonObject, calling: Calling = {}): Promise<Outcome> {
  const { method = "get", path = "/x", operation = {}, sender = {} } = calling;
  seen.length = 0;
  const securitySchemes = {
    key: { type: "apiKey", in: "header", name: "X-Key" },
    asked: { type: "apiKey", in: "query", name: "k" },
  };
  const text = documentOf(
    { [path]: { [method]: { responses: ok, ...operation } } },
    { components: { securitySchemes }, security: [{ key: [], asked: [] }] },
  );
  const api = await readText(text, { baseUrl: here, allowPrivate: true });
  const auth = { key: "s3cret", asked: "s3cret" };
  const calls = new Sender({
    auth,
    headers: { "X-Team": "s3cret" },
    allowPrivate: false,
    authorizer: undefined,
    messageBytesMax: 1024 * 1024,
    ...sender,
  });
  const [only] = api.operations;
  if (!only) throw new Error("no operation");
  try {
    return await calls.call(only, api, args, new AbortController().signal);
  } finally {
    calls.close();
  }
}

test.each([
  "https://evil.example/schema.json",
  "file:///etc/passwd",
  "./other.yaml#/Pet",
  "//evil.example/x",
])("a document refers to nothing outside of itself: %s", async ($ref) => {
  const text = documentOf({ "/x": { post: { ...bodyOf({ $ref }) } } });
  await expect(readText(text)).rejects.toMatchObject({
    code: "VALIDATION",
    message: `the OpenAPI document refers to another document: "${$ref}"; only "#/…" is followed`,
  });
});

test("references that only lead to each other are refused, schemas that contain themselves are bounded", async () => {
  const schemas = {
    a: { $ref: "#/components/schemas/b" },
    b: { $ref: "#/components/schemas/a" },
    own: { type: "object", properties: { own: { $ref: "#/components/schemas/own" } } },
    all: { allOf: [{ $ref: "#/components/schemas/all" }] },
  };
  const read = (name: string): Promise<unknown> =>
    readOne(bodyOf({ $ref: `#/components/schemas/${name}` }), { components: { schemas } }, [
      "post",
      "/x",
    ]);
  await expect(read("a")).rejects.toMatchObject({
    code: "VALIDATION",
    message: expect.stringContaining("has a reference that never ends"),
  });
  await expect(read("missing")).rejects.toMatchObject({ code: "VALIDATION" });
  expect(await read("own")).toMatchObject({ tool: { inputSchema: { properties: {} } } });
  expect(await read("all")).toMatchObject({ body: { content: "body" } });
});

test("a YAML document of aliases that multiply is bounded", async () => {
  const names = "bcdefghij".split("");
  const lines = names.map((name, at) => {
    const before = at === 0 ? "a" : names[at - 1];
    return `  ${name}: &${name} {type: object, properties: {${Array.from({ length: 9 }, (_, n) => `p${n}: *${before}`).join(", ")}}}`;
  });
  const text = `openapi: 3.0.0
info: {title: x, version: "1"}
servers: [{url: https://api.example.com}]
components: {}
x-laughs:
  a: &a {type: string}
${lines.join("\n")}
paths:
  /x: {post: {requestBody: {content: {application/json: {schema: *j}}}, responses: {}}}
`;
  const { operations } = await readFile(text);
  expect(JSON.stringify(operations[0]?.tool).length).toBeLessThan(40_000);
});

test("a document of 10 MB is bounded in its tools, one of 21 MB is refused", async () => {
  const huge = { type: "string", description: "x".repeat(10_000), enum: ["y".repeat(10_000)] };
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, huge]));
  const text = documentOf({ "/x": { post: bodyOf({ type: "object", properties }) } });
  expect(text.length).toBeGreaterThan(10_000_000);
  const { operations } = await readFile(text);
  expect(JSON.stringify(operations[0]?.tool).length).toBeLessThan(40_000);
  await expect(readFile(`${text}${" ".repeat(11_500_000)}`)).rejects.toMatchObject({
    code: "TOO_LARGE",
  });
});

test.each([
  ["deep lists", `${"[".repeat(100_000)}`],
  ["deep objects", `{"openapi":${'{"a":'.repeat(20_000)}`],
  ["no document", "just text"],
  ["another version", '{"swagger":"2.0","paths":{}}'],
])("%s are refused with a reason, and the hall lives on", async (_name, text) => {
  await expect(readFile(text)).rejects.toMatchObject({ code: "VALIDATION" });
});

test("names such as __proto__ are names", async () => {
  const text = `{"openapi":"3.1.0","info":{"title":"x","version":"1"},"servers":[{"url":"https://api.example.com"}],
    "paths":{"/__proto__/{constructor}":{"post":{"operationId":"__proto__",
      "requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/__proto__"}}}},"responses":{}}}},
    "components":{"schemas":{"__proto__":{"type":"object","required":["__proto__"],"properties":
      {"__proto__":{"type":"object","properties":{"polluted":{"type":"string","default":"yes"}}},"toString":{"type":"string"}}}}}}`;
  const { operations } = await readText(text);
  expect(operations[0]?.tool).toMatchObject({
    name: "proto",
    inputSchema: { required: ["constructor", "proto"] },
  });
  expect({}).not.toHaveProperty("polluted");
  const reference = bodyOf({ $ref: "#/components/constructor" });
  await expect(readOne(reference, {}, ["post", "/x"])).rejects.toMatchObject({
    code: "VALIDATION",
  });
});

test.each([
  ["http://169.254.169.254/latest", undefined],
  ["http://10.0.0.8", undefined],
  ["http://127.0.0.1:9", "https://docs.example.com/openapi.json"],
  ["http://api.example.com", undefined],
  ["file:///etc", undefined],
  ["https://me:secret@api.example.com", undefined],
])("a document may not choose the address %s", async (url, from) => {
  const text = documentOf({ "/x": { get: { responses: ok } } }, { servers: [{ url }] });
  const read = readText(text, { url: from });
  await expect(read).rejects.toMatchObject({
    code: expect.stringMatching(/^(VALIDATION|DENIED)$/),
  });
  const nested = documentOf({ "/x": { get: { responses: ok, servers: [{ url }] } } });
  await expect(readText(nested, { url: from })).rejects.toThrow();
});

test.each(["..", ".", "", ".%2e"])("a path parameter leads to no other path: %j", async (id) => {
  const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
  const calling = { method: "delete", path: "/pets/{id}/tags", operation: { parameters } };
  const called = call({ id }, calling);
  if (id === ".%2e") {
    await called;
    expect(seen.map(({ url }) => url)).toEqual(["/pets/.%252e/tags?k=s3cret"]);
  } else {
    await expect(called).rejects.toMatchObject({ code: "VALIDATION", hint: "Nothing was sent." });
    expect(seen).toEqual([]);
  }
});

test("a slash, a question mark or a fragment in a path parameter is part of its value", async () => {
  const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
  await call({ id: "../admin?x=1#y\\z" }, { path: "/pets/{id}", operation: { parameters } });
  expect(seen[0]?.url).toBe("/pets/..%2Fadmin%3Fx%3D1%23y%5Cz?k=s3cret");
});

test("line breaks in a header or a cookie add none", async () => {
  const parameters = ["header", "cookie"].map((place) => ({
    name: `X-${place}`,
    in: place,
    schema: {},
  }));
  for (const value of ["a\r\nX-Evil: 1", "a\nb", "a\0b", "a\u{1f600}"])
    await expect(call({ "X-header": value }, { operation: { parameters } })).rejects.toMatchObject({
      code: "VALIDATION",
    });
  expect(seen).toEqual([]);
  await call({ "X-cookie": "a\r\nX-Evil: 1; b=2" }, { operation: { parameters } });
  expect(seen[0]?.headers.cookie).toBe("X-cookie=a%0D%0AX-Evil%3A%201%3B%20b%3D2");
  expect(seen[0]?.headers).not.toHaveProperty("x-evil");
});

test("a document cannot set headers of the connection, or names that are none", async () => {
  const names = [
    "Host",
    "Content-Length",
    "Cookie",
    "Authorization",
    "X-Evil\r\nX",
    "Transfer-Encoding",
  ];
  const parameters = names.map((name) => ({ name, in: "header", schema: { default: "evil" } }));
  const { tool } = await readOne({ parameters, responses: ok });
  expect(tool.inputSchema).not.toHaveProperty("properties");
});

test("a redirect carries no credentials to another origin", async () => {
  const parameters = [{ name: "to", in: "query", schema: {} }];
  const allowed = { operation: { parameters }, sender: { allowPrivate: true } };
  await call({ to: `${elsewhere}/took` }, allowed);
  expect(seen.map(({ url }) => url)).toEqual([expect.stringContaining("k=s3cret"), "/took"]);
  expect(JSON.stringify(seen[1]?.headers)).not.toContain("s3cret");
  // Within the origin they are kept.
  await call({ to: "/there" }, allowed);
  expect(seen[1]?.headers).toMatchObject({ "x-key": "s3cret", "x-team": "s3cret" });
});

test("a redirect into a private network, or of a request that changes something, is not followed", async () => {
  const parameters = [{ name: "to", in: "query", schema: {} }];
  await expect(
    call({ to: `${elsewhere}/took` }, { operation: { parameters } }),
  ).rejects.toMatchObject({
    code: "DENIED",
  });
  const outcome = await call({ to: "/there" }, { method: "post", operation: { parameters } });
  expect(outcome).toMatchObject({ isError: true, _meta: { "guildhall/status": 302 } });
  expect(seen).toHaveLength(1);
});

test("an operation with a server of its own at another origin gets no credentials", async () => {
  await call({}, { operation: { servers: [{ url: elsewhere }] }, sender: { allowPrivate: true } });
  expect(seen).toHaveLength(1);
  expect(seen[0]?.headers.host).toBe(new URL(elsewhere).host);
  expect(JSON.stringify([seen[0]?.url, seen[0]?.headers])).not.toContain("s3cret");
});

test("a change of where or how a request is sent changes the tool's pin, other words of the document do not", async () => {
  const operation = (more: JsonObject = {}): JsonObject => ({
    operationId: "look",
    parameters: [{ name: "q", in: "query", schema: { type: "array" } }],
    responses: ok,
    ...more,
  });
  const pin = async (given: JsonObject, more: JsonObject = {}, path = "/things"): Promise<string> =>
    pinOf((await readOne(given, more, ["get", path])).tool);
  const key = { in: "header", name: "k", type: "apiKey" };
  const secured = (scheme: JsonObject): JsonObject => ({
    security: [{ key: [] }],
    components: { securitySchemes: { key: scheme } },
  });
  const before = await pin(operation());
  const pins = await Promise.all([
    pin(operation(), {}, "/admin"),
    pin(operation(), { servers: [{ url: "https://elsewhere.example.com" }] }),
    pin(
      operation({
        parameters: [{ name: "q", in: "query", style: "pipeDelimited", schema: { type: "array" } }],
      }),
    ),
    pin(operation(), secured(key)),
    pin(operation(), secured({ ...key, in: "query" })),
  ]);
  expect(new Set([before, ...pins]).size).toBe(6);
  expect(
    await pin(operation({ tags: ["x"], externalDocs: {} }), {
      info: { title: "Other", version: "2" },
    }),
  ).toBe(before);
});
