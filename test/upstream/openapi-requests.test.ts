import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Outcome } from "../../src/tool.ts";
import type { Authorizer } from "../../src/upstream/oauth.ts";
import { Sender, type SenderOptions } from "../../src/upstream/openapi/send.ts";
import { documentOf, readText } from "../servers/api-document.ts";

/** A server that keeps what arrives, and answers what a test wants. */
interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
let arrived: Arrived[] = [];
let answer: (response: ServerResponse, request: Arrived) => void;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on("data", (chunk: Buffer) => chunks.push(chunk))
    .on("end", () => {
      const { method = "", url = "", headers } = request;
      const came = { method, url, headers, body: Buffer.concat(chunks) };
      arrived.push(came);
      answer(response, came);
    });
});
let origin = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const plainAnswer = (response: ServerResponse): void => void response.writeHead(204).end();

interface Calling {
  readonly method?: string;
  readonly path?: string;
  readonly operation?: JsonObject;
  readonly document?: JsonObject;
  readonly sender?: Partial<SenderOptions>;
  readonly answer?: typeof answer;
}

/** Calls the only operation of a document. */
async function call(args: JsonObject, calling: Calling = {}): Promise<Outcome> {
  const { method = "get", path = "/x", operation = {}, document = {}, sender = {} } = calling;
  arrived = [];
  answer = calling.answer ?? plainAnswer;
  const responses = { "200": { description: "ok" } };
  const text = documentOf({ [path]: { [method]: { responses, ...operation } } }, document);
  const api = await readText(text, { baseUrl: `${origin}/api` });
  const [only] = api.operations;
  if (!only) throw new Error("no operation");
  const options = { auth: {}, headers: {}, allowPrivate: false, authorizer: undefined };
  const calls = new Sender({ ...options, messageBytesMax: 1024 * 1024, ...sender });
  try {
    return await calls.call(only, api, args, new AbortController().signal);
  } finally {
    calls.close();
  }
}

const list = ["blue", "bl ack", "b/n"];
const object = { R: 100, G: "2 0" };

test.each([
  // place, style, explode, value, what arrives
  ["path", "simple", false, "a b", "/api/a%20b"],
  ["path", "simple", false, list, "/api/blue,bl%20ack,b%2Fn"],
  ["path", "simple", false, object, "/api/R,100,G,2%200"],
  ["path", "simple", true, object, "/api/R=100,G=2%200"],
  ["path", "label", false, "a", "/api/.a"],
  ["path", "label", false, list, "/api/.blue,bl%20ack,b%2Fn"],
  ["path", "label", true, list, "/api/.blue.bl%20ack.b%2Fn"],
  ["path", "label", false, object, "/api/.R,100,G,2%200"],
  ["path", "label", true, object, "/api/.R=100.G=2%200"],
  ["path", "matrix", false, "a", "/api/;v=a"],
  ["path", "matrix", false, "", "/api/;v"],
  ["path", "matrix", false, list, "/api/;v=blue,bl%20ack,b%2Fn"],
  ["path", "matrix", true, list, "/api/;v=blue;v=bl%20ack;v=b%2Fn"],
  ["path", "matrix", false, object, "/api/;v=R,100,G,2%200"],
  ["path", "matrix", true, object, "/api/;R=100;G=2%200"],
  ["query", "form", true, true, "/api/x?v=true"],
  ["query", "form", true, "", "/api/x?v="],
  ["query", "form", true, "a&b=c#d+e", "/api/x?v=a%26b%3Dc%23d%2Be"],
  ["query", "form", true, list, "/api/x?v=blue&v=bl%20ack&v=b%2Fn"],
  ["query", "form", false, list, "/api/x?v=blue,bl%20ack,b%2Fn"],
  ["query", "form", true, object, "/api/x?R=100&G=2%200"],
  ["query", "form", false, object, "/api/x?v=R,100,G,2%200"],
  ["query", "spaceDelimited", false, list, "/api/x?v=blue%20bl%20ack%20b%2Fn"],
  ["query", "spaceDelimited", false, object, "/api/x?v=R%20100%20G%202%200"],
  ["query", "spaceDelimited", true, list, "/api/x?v=blue&v=bl%20ack&v=b%2Fn"],
  ["query", "pipeDelimited", false, list, "/api/x?v=blue%7Cbl%20ack%7Cb%2Fn"],
  ["query", "pipeDelimited", false, object, "/api/x?v=R%7C100%7CG%7C2%200"],
  ["query", "deepObject", true, object, "/api/x?v%5BR%5D=100&v%5BG%5D=2%200"],
  [
    "query",
    "deepObject",
    true,
    { a: { b: [1, 2] } },
    "/api/x?v%5Ba%5D%5Bb%5D%5B0%5D=1&v%5Ba%5D%5Bb%5D%5B1%5D=2",
  ],
])("a parameter in the %s with style %s, explode %s: %j", async (place, style, explode, v, url) => {
  await call(
    { v },
    {
      path: place === "path" ? "/{v}" : "/x",
      operation: {
        parameters: [{ name: "v", in: place, style, explode, required: true, schema: {} }],
      },
    },
  );
  expect(arrived.map((request) => request.url)).toEqual([url]);
});

test.each([
  ["header", false, "a b", { "x-v": "a b" }],
  ["header", false, list, { "x-v": "blue,bl ack,b/n" }],
  ["header", false, object, { "x-v": "R,100,G,2 0" }],
  ["header", true, object, { "x-v": "R=100,G=2 0" }],
  ["cookie", true, "a b", { cookie: "X-V=a%20b" }],
  ["cookie", false, list, { cookie: "X-V=blue,bl%20ack,b%2Fn" }],
  ["cookie", true, object, { cookie: "R=100; G=2%200" }],
])("a parameter in the %s, explode %s: %j", async (place, explode, value, headers) => {
  const parameters = [{ name: "X-V", in: place, explode, schema: {} }];
  await call({ "X-V": value }, { operation: { parameters } });
  expect(arrived[0]?.headers).toMatchObject(headers);
});

test("a parameter with content is JSON; one with allowReserved keeps its slashes; null and missing ones are not sent", async () => {
  const parameters = [
    { name: "filter", in: "query", content: { "application/json": { schema: {} } } },
    { name: "at", in: "query", allowReserved: true, schema: {} },
    { name: "none", in: "query", schema: {} },
    { name: "gone", in: "query", schema: {} },
  ];
  await call({ filter: { a: [1] }, at: "/a?b=c&d#e", none: null }, { operation: { parameters } });
  expect(arrived[0]?.url).toBe("/api/x?filter=%7B%22a%22%3A%5B1%5D%7D&at=/a?b=c%26d%23e");
});

const body = (mediaType: string, schema: JsonObject, encoding: JsonObject = {}): Calling => ({
  method: "post",
  operation: { requestBody: { required: true, content: { [mediaType]: { schema, encoding } } } },
});
const properties = {
  name: { type: "string" },
  tags: { type: "array", items: { type: "string" } },
  more: { type: "object" },
  file: { type: "string", format: "binary" },
};

test("a JSON body has the fields that were given, and others where the document allows them", async () => {
  await call(
    { name: "Ü", tags: ["a"], null: 1 },
    body("application/json; charset=utf-8", { type: "object", properties }),
  );
  expect(arrived[0]?.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": "26",
  });
  expect(JSON.parse(String(arrived[0]?.body))).toEqual({ name: "Ü", tags: ["a"] });
  const open = { type: "object", properties, additionalProperties: true };
  await call({ name: "a", color: "red" }, body("application/vnd.api+json", open));
  expect(JSON.parse(String(arrived[0]?.body))).toEqual({ name: "a", color: "red" });
  await call({ body: [1, "a"] }, body("application/json", { type: "array" }));
  expect(String(arrived[0]?.body)).toBe('[1,"a"]');
});

test("a form body repeats lists, and writes objects as JSON or in the style of their encoding", async () => {
  const args = { name: "a b&c", tags: ["x", "y"], more: { k: 1 } };
  const type = "application/x-www-form-urlencoded";
  await call(args, body(type, { type: "object", properties }));
  expect(arrived[0]?.headers["content-type"]).toBe(type);
  expect(String(arrived[0]?.body)).toBe("name=a%20b%26c&tags=x&tags=y&more=%7B%22k%22%3A1%7D");
  const encoding = {
    more: { style: "deepObject", explode: true },
    tags: { style: "form", explode: false },
  };
  await call(args, body(type, { type: "object", properties }, encoding));
  expect(String(arrived[0]?.body)).toBe("name=a%20b%26c&tags=x,y&more%5Bk%5D=1");
});

test("a multipart body has text, JSON and files", async () => {
  const bytes = Buffer.from([0, 1, 255, 13, 10]);
  const args = { name: "a", tags: ["x", "y"], more: { k: 1 }, file: bytes.toString("base64") };
  const encoding = { file: { contentType: "image/png" } };
  await call(args, body("multipart/form-data", { type: "object", properties }, encoding));
  const form = await new Response(new Uint8Array(arrived[0]?.body ?? []), {
    headers: { "content-type": arrived[0]?.headers["content-type"] ?? "" },
  }).formData();
  expect(form.get("name")).toBe("a");
  expect(form.getAll("tags")).toEqual(["x", "y"]);
  expect(String(arrived[0]?.body)).toContain(
    'name="more"\r\ncontent-type: application/json\r\n\r\n{"k":1}',
  );
  const file = form.get("file") as File;
  expect([file.name, file.type]).toEqual(["file", "image/png"]);
  expect(Buffer.from(await file.arrayBuffer())).toEqual(bytes);
});

test("a binary body is the decoded base64, a text body the text itself", async () => {
  await call({ body: "AAH/" }, body("image/png", {}));
  expect(arrived[0]?.headers["content-type"]).toBe("image/png");
  expect(arrived[0]?.body).toEqual(Buffer.from([0, 1, 255]));
  await expect(call({ body: "no base64!" }, body("image/png", {}))).rejects.toMatchObject({
    code: "VALIDATION",
  });
  expect(arrived).toEqual([]);
  await call({ body: "<a/>" }, body("application/xml", {}));
  expect(String(arrived[0]?.body)).toBe("<a/>");
});

const schemes = {
  header: { type: "apiKey", in: "header", name: "X-Key" },
  query: { type: "apiKey", in: "query", name: "key" },
  cookie: { type: "apiKey", in: "cookie", name: "sid" },
  basic: { type: "http", scheme: "basic" },
  bearer: { type: "http", scheme: "bearer" },
  oauth: {
    type: "oauth2",
    flows: { clientCredentials: { tokenUrl: "https://t.example/t", scopes: {} } },
  },
};
const securedBy = (...sets: string[][]): JsonObject => ({
  components: { securitySchemes: schemes },
  security: sets.map((set) => Object.fromEntries(set.map((name) => [name, []]))),
});

test.each([
  ["header", "s3", "/api/x", { "x-key": "s3" }],
  ["query", "s 3", "/api/x?key=s%203", {}],
  ["cookie", "s 3", "/api/x", { cookie: "sid=s%203" }],
  [
    "basic",
    "me:pässword",
    "/api/x",
    { authorization: `Basic ${Buffer.from("me:pässword").toString("base64")}` },
  ],
  ["bearer", "t0k", "/api/x", { authorization: "Bearer t0k" }],
  ["oauth", "t0k", "/api/x", { authorization: "Bearer t0k" }],
])(
  "credentials of the scheme %s arrive where the document says",
  async (name, value, url, headers) => {
    await call({}, { document: securedBy([name]), sender: { auth: { [name]: value } } });
    expect(arrived[0]?.url).toBe(url);
    expect(arrived[0]?.headers).toMatchObject(headers);
  },
);

test("the first set of schemes that has values is used; without any, nothing is sent and the error says what to set", async () => {
  const document = securedBy(["bearer", "header"], ["query", "cookie"]);
  await call({}, { document, sender: { auth: { query: "q", cookie: "c", bearer: "b" } } });
  expect(arrived[0]?.url).toBe("/api/x?key=q");
  expect(arrived[0]?.headers).not.toHaveProperty("authorization");
  await expect(call({}, { document })).rejects.toMatchObject({
    code: "DENIED",
    message: "needs credentials for bearer or header or query or cookie",
    hint: expect.stringContaining('"auth": {"bearer": '),
  });
  expect(arrived).toEqual([]);
  await call({}, { document: securedBy(["bearer"], []) });
  expect(arrived).toHaveLength(1);
  await call({}, { document, sender: { headers: { "X-Own": "1" } } });
  expect(arrived[0]?.headers).toMatchObject({ "x-own": "1" });
});

test("an OAuth token is fetched before the first request, and renewed once when the API rejects it", async () => {
  const tokens = ["first", "second"];
  let current: string | undefined;
  const rejected: (string | undefined)[] = [];
  const authorizer: Authorizer = {
    headers: async () => (current === undefined ? {} : { authorization: `Bearer ${current}` }),
    async authorize(_response, sent) {
      rejected.push(sent);
      current = tokens.shift();
      return current !== undefined;
    },
    forget() {},
  };
  const isRight = ({ headers }: Arrived): boolean => headers.authorization === "Bearer second";
  const outcome = await call(
    {},
    {
      document: securedBy(["oauth"]),
      sender: { authorizer },
      answer: (response, request) =>
        void response.writeHead(isRight(request) ? 200 : 401).end("done"),
    },
  );
  expect(rejected).toEqual([undefined, "Bearer first"]);
  expect(arrived).toHaveLength(2);
  expect(outcome).toEqual({ content: [{ type: "text", text: "done" }] });
});

const typed =
  (type: string, content: Buffer | string, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, { "content-type": type, ...headers }).end(content);

test("JSON is text and structure, also compressed; a list is wrapped", async () => {
  const schema = {
    type: "array",
    items: { type: "object", properties: { id: { type: "integer" } } },
  };
  const operation = {
    responses: { "200": { description: "", content: { "application/json": { schema } } } },
  };
  const zipped = typed("application/json", gzipSync('[{"id":1},{"id":"x"}]'), 200, {
    "content-encoding": "gzip",
  });
  expect(await call({}, { operation, answer: zipped })).toEqual({
    content: [{ type: "text", text: '[{"id":1},{"id":"x"}]' }],
    structuredContent: { result: [{ id: 1 }, { id: null }] },
  });
  // The document promises this, and the API does not send it.
  expect(await call({}, { operation, answer: plainAnswer })).toEqual({
    content: [{ type: "text", text: "HTTP 204 No Content" }],
    structuredContent: { result: null },
  });
});

test("images, sounds and files come back as content", async () => {
  const data = Buffer.from([1, 2, 3]);
  const blob = data.toString("base64");
  expect(await call({}, { answer: typed("image/png", data) })).toEqual({
    content: [{ type: "image", data: blob, mimeType: "image/png" }],
  });
  expect((await call({}, { answer: typed("audio/mpeg; x=y", data) })).content).toEqual([
    { type: "audio", data: blob, mimeType: "audio/mpeg" },
  ]);
  const sender = { auth: { query: "s3cret" } };
  const { content } = await call(
    {},
    { answer: typed("application/zip", data), document: securedBy(["query"]), sender },
  );
  expect(content).toEqual([
    {
      type: "resource",
      resource: { uri: `${origin}/api/x`, name: "get_x", mimeType: "application/zip", blob },
    },
  ]);
});

test("an error keeps its status and body", async () => {
  const answer = typed("application/problem+json", '{"title":"no such pet"}', 404);
  expect(await call({}, { answer })).toEqual({
    content: [{ type: "text", text: 'HTTP 404 Not Found\n{"title":"no such pet"}' }],
    isError: true,
    _meta: { "guildhall/status": 404 },
  });
});

test("Retry-After becomes an error that the client waits for, with status and body", async () => {
  const answer = typed("text/plain", "slow down", 429, { "retry-after": "7" });
  await expect(call({}, { answer })).rejects.toMatchObject({
    code: "RATE_LIMITED",
    message: "HTTP 429 Too Many Requests\nslow down",
    details: { status: 429, retryAfterSeconds: 7 },
  });
});

test("the next page is described and never fetched", async () => {
  const parameters = ["page", "size"].map((name) => ({ name, in: "query", schema: {} }));
  const link = `<${origin}/api/x?page=3&size=10>; rel="next", <${origin}/api/x?page=9>; rel="last"`;
  const linked = typed("application/json", "[]", 200, { link });
  const said = async (calling: Calling): Promise<unknown> =>
    (await call({ page: 2, size: 10 }, { operation: { parameters }, ...calling })).content[1]?.text;
  expect(await said({ answer: linked })).toBe(
    'There are more results. For the next page, call again with {"page":"3"}.',
  );
  expect(arrived).toHaveLength(1);
  expect(await said({ answer: typed("application/json", '{"meta":{"next_cursor":"abc"}}') })).toBe(
    'There are more results: "next_cursor" of the answer selects the next page.',
  );
  expect(await said({ answer: typed("application/json", '{"has_more":true}') })).toBe(
    "There are more results than this page.",
  );
  expect(await said({ answer: typed("application/json", '{"next_cursor":null}') })).toBeUndefined();
});

test("a response over the limit is refused while it arrives", async () => {
  const endless = (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", write);
    write();
  };
  await expect(call({}, { answer: endless })).rejects.toMatchObject({ code: "TOO_LARGE" });
  const long = typed("application/json", JSON.stringify("x".repeat(500_000)));
  await expect(call({}, { answer: long })).rejects.toMatchObject({ code: "TOO_LARGE" });
});
