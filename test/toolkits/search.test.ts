import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Toolkit } from "../../src/tool.ts";
import { createSearchToolkit } from "../../src/toolkits/search/search.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { until } from "../servers/until.ts";

const ajv = new Ajv({ strict: true });
const defaults: Readonly<Record<string, JsonObject>> = {
  web_search: { max_results: 5 },
  news_search: { days_back: 7 },
};

/** Fills in defaults as the gateway does, and checks every result against the tool's outputSchema. */
async function call(
  toolkit: Toolkit,
  name: string,
  args: JsonObject,
  scope = new Scope(),
): Promise<JsonObject> {
  const tool = (await toolkit.list()).find((candidate) => candidate.name === name);
  if (!tool?.outputSchema) throw new Error(`no tool "${name}" with an outputSchema`);
  const { structuredContent } = await toolkit.call(
    tool,
    { ...defaults[name], ...args },
    { scope, progress: () => {}, log: () => {}, ask: async () => ({}) },
  );
  const validate = ajv.compile(tool.outputSchema);
  expect(validate(structuredContent), ajv.errorsText(validate.errors)).toBe(true);
  if (!isObject(structuredContent)) throw new Error("no structuredContent");
  return structuredContent;
}

async function failureOf(work: Promise<unknown>): Promise<HallError> {
  const error = await work.then(
    (value) => new Error(`did not fail: ${JSON.stringify(value).slice(0, 200)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HallError)) throw error;
  return error;
}

interface EngineRequest {
  readonly method: string | undefined;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A fake search engine that records requests. */
async function startEngine(
  answer: (request: EngineRequest, response: ServerResponse) => void,
): Promise<AsyncDisposable & { origin: string; requests: EngineRequest[] }> {
  const requests: EngineRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://engine.test");
    const { method, headers } = request;
    const one = {
      method,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const json = (value: unknown) => (_: EngineRequest, response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString();

test("the toolkit offers two read-only tools with exactly the documented parameters", async () => {
  const tools = await createSearchToolkit({ url: "http://127.0.0.1:9" }).list();
  expect(tools.map(({ name, inputSchema }) => ({ name, inputSchema }))).toEqual([
    {
      name: "web_search",
      inputSchema: {
        type: "object",
        properties: { query: { type: "string" }, max_results: { type: "integer", default: 5 } },
        required: ["query"],
      },
    },
    {
      name: "news_search",
      inputSchema: {
        type: "object",
        properties: { query: { type: "string" }, days_back: { type: "integer", default: 7 } },
        required: ["query"],
      },
    },
  ]);
  for (const { annotations } of tools)
    expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: true });
});

describe("without a provider", () => {
  test("nothing is listed, and a call by name and health name the missing setting", async () => {
    await using engine = await startEngine(json({}));
    const cases = [
      [{ provider: "searxng" as const }, "SearXNG needs search.url"],
      [
        { provider: "brave" as const, env: {} },
        "Brave Search needs its key in the environment variable BRAVE_API_KEY",
      ],
      [
        { provider: "tavily" as const, env: { MY_KEY: " " }, apiKeyEnv: "MY_KEY" },
        "Tavily needs its key in the environment variable MY_KEY",
      ],
    ] as const;
    for (const [options, reason] of cases) {
      const toolkit = createSearchToolkit({ ...options, origin: engine.origin });
      expect(await toolkit.list()).toEqual([]);
      expect(toolkit.off?.()).toMatchObject({
        code: "UNAVAILABLE",
        message: reason,
        next: [{ do: expect.stringMatching(/^(edit-config|set-variable)$/) }],
      });
      expect(await toolkit.health()).toEqual({ state: "unavailable", reason });
    }
    expect(engine.requests).toEqual([]);
  });
});

describe("without an account", () => {
  const now = new Date().toUTCString();
  const feed = `<?xml version="1.0"?><rss><channel><title>News</title>
    <item><title>Chip exports grow</title><link>https://news.example/1</link>
      <description><![CDATA[<p>More chips &amp; exports</p>]]></description><pubDate>${now}</pubDate></item>
    <item><title>Chip exports of old</title><link>https://news.example/2</link>
      <description>Long ago</description><pubDate>Mon, 01 Jan 2018 00:00:00 GMT</pubDate></item>
    <item><title>Rain in Riga</title><link>https://news.example/3</link>
      <description>Weather</description><pubDate>${now}</pubDate></item>
  </channel></rss>`;
  const pages = [
    { key: "Model_railway", title: "Model railway", excerpt: 'A <span class="m">model</span>' },
  ];

  test("pages come from Wikipedia and news from feeds, which are named and asked only on a call", async () => {
    await using engine = await startEngine(({ path }, response) => {
      const isFeed = path !== "/w/rest.php/v1/search/page";
      response.setHeader("content-type", isFeed ? "application/rss+xml" : "application/json");
      response.end(isFeed ? feed : JSON.stringify({ pages }));
    });
    const toolkit = createSearchToolkit({ origin: engine.origin });
    const [web, news] = await toolkit.list();
    expect(web?.description).toContain("en.wikipedia.org");
    expect(news?.description).toContain("feeds.bbci.co.uk");
    expect(engine.requests).toEqual([]);

    expect(await call(toolkit, "web_search", { query: "model trains" })).toMatchObject({
      provider: "keyless",
      results: [
        {
          title: "Model railway",
          url: "https://en.wikipedia.org/wiki/Model_railway",
          snippet: "A model",
        },
      ],
    });
    expect(engine.requests).toMatchObject([{ query: { q: "model trains", limit: "5" } }]);

    const { results } = await call(toolkit, "news_search", { query: "chip exports" });
    expect(results).toEqual([
      {
        title: "Chip exports grow",
        url: "https://news.example/1",
        snippet: "More chips & exports",
        published: now,
      },
    ]);
    expect(engine.requests).toHaveLength(4);
  });

  test("after a failed attempt MCP lists leave it out, its calls are tried, and a good one brings it back", async () => {
    let isDown = true;
    await using engine = await startEngine((_request, response) => {
      response.statusCode = isDown ? 503 : 200;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ pages }));
    });
    await using hall = await startHall({
      toolkits: [createSearchToolkit({ origin: engine.origin })],
    });
    const client = hall.connect();
    const listed = async (): Promise<boolean> => {
      const { tools } = await client.result("tools/list", modern());
      return JSON.stringify(tools).includes("search_tool__web_search");
    };
    const search = () =>
      client.request("tools/call", {
        tool_name: "search_tool",
        function_name: "web_search",
        arguments: { query: "trains" },
      });
    expect(await listed()).toBe(true);
    expect((await search()).error).toMatchObject({ code: -32006 });
    await until(async () => !(await listed()), "it is left out");
    isDown = false;
    expect((await search()).result).toMatchObject({ status: "completed" });
    await until(listed, "it is listed again");
  });
});

describe("arguments", () => {
  test("out of range are rejected by field before a request is sent", async () => {
    await using engine = await startEngine(json({ results: [] }));
    const toolkit = createSearchToolkit({ url: engine.origin });
    for (const max_results of [0, 21, -1, 1.5, 1e9]) {
      expect(
        await failureOf(call(toolkit, "web_search", { query: "x", max_results })),
      ).toMatchObject({
        code: "VALIDATION",
        details: { errors: [{ path: "/max_results" }] },
      });
    }
    for (const days_back of [0, 366])
      expect(
        await failureOf(call(toolkit, "news_search", { query: "x", days_back })),
      ).toMatchObject({ code: "VALIDATION" });
    for (const query of ["", "   ", "x".repeat(1_001)])
      expect(await failureOf(call(toolkit, "web_search", { query }))).toMatchObject({
        code: "VALIDATION",
      });
    expect(engine.requests).toEqual([]);
    for (const max_results of [1, 20])
      expect((await call(toolkit, "web_search", { query: "x", max_results })).results).toEqual([]);
    await toolkit.close();
  });
});

describe("SearXNG", () => {
  test("gets a request in its format, and its results are cleaned, deduplicated and limited", async () => {
    const rows = [
      {
        title: "The <b>Elbe</b> &amp; the sea",
        url: "https://a.example/elbe",
        content: "A   river\nof 1094 km",
        engine: "x",
        score: 3,
      },
      { title: "Again", url: "https://a.example/elbe", content: "the same page" },
      { title: "A script", url: "javascript:alert(1)", content: "no" },
      { title: "", url: "https://b.example/", content: "y".repeat(2_000) },
      "not a row",
      ...Array.from({ length: 30 }, (_, n) => ({
        title: `More ${n}`,
        url: `https://c.example/${n}`,
      })),
    ];
    await using engine = await startEngine(json({ query: "rivers", results: rows }));
    const toolkit = createSearchToolkit({ provider: "searxng", url: `${engine.origin}/searx` });
    const { results, provider, query } = await call(toolkit, "web_search", {
      query: "rivers & seas",
      max_results: 3,
    });
    expect(engine.requests[0]).toMatchObject({
      method: "GET",
      path: "/searx/search",
      query: { q: "rivers & seas", format: "json" },
    });
    expect({ provider, query }).toEqual({ provider: "searxng", query: "rivers & seas" });
    expect((await call(toolkit, "web_search", { query: "rivers" })).results).toHaveLength(5);
    expect(results).toEqual([
      { title: "The Elbe & the sea", url: "https://a.example/elbe", snippet: "A river of 1094 km" },
      { title: "https://b.example/", url: "https://b.example/", snippet: `${"y".repeat(499)}…` },
      { title: "More 0", url: "https://c.example/0", snippet: "" },
    ]);
    expect(
      (await call(toolkit, "web_search", { query: "x", max_results: 20 })).results,
    ).toHaveLength(20);
    await toolkit.close();
  });

  test("gets a time range for news, and older results are dropped", async () => {
    const rows = [
      { title: "New", url: "https://n.example/1", content: "a", publishedDate: day(-2) },
      { title: "Old", url: "https://n.example/2", content: "b", publishedDate: day(-40) },
      { title: "Last week", url: "https://n.example/4", content: "d", publishedDate: day(-8) },
      { title: "Undated", url: "https://n.example/3", content: "c", publishedDate: null },
    ];
    await using engine = await startEngine(json({ results: rows }));
    const toolkit = createSearchToolkit({ provider: "searxng", url: engine.origin });
    const { results } = await call(toolkit, "news_search", { query: "floods" });
    expect(engine.requests[0]?.query).toMatchObject({ categories: "news", time_range: "month" });
    expect((results as { title: string }[]).map(({ title }) => title)).toEqual(["New", "Undated"]);
    const longer = await call(toolkit, "news_search", { query: "floods", days_back: 9 });
    expect(longer.results).toHaveLength(3);
    await toolkit.close();
  });
});

describe("Brave Search", () => {
  const env = { BRAVE_API_KEY: "brave-secret-key" };

  test("gets its key, for web and news", async () => {
    const row = {
      title: "Elbe",
      url: "https://a.example/",
      description: "a <strong>river</strong>",
      page_age: day(-1),
    };
    await using engine = await startEngine((asked, response) =>
      json(
        asked.path.includes("/news/")
          ? { type: "news", results: [row] }
          : { web: { results: [row] } },
      )(asked, response),
    );
    const toolkit = createSearchToolkit({ provider: "brave", env, origin: engine.origin });
    const expected = [
      { title: "Elbe", url: "https://a.example/", snippet: "a river", published: row.page_age },
    ];
    expect((await call(toolkit, "web_search", { query: "elbe", max_results: 7 })).results).toEqual(
      expected,
    );
    expect((await call(toolkit, "news_search", { query: "elbe", days_back: 3 })).results).toEqual(
      expected,
    );
    expect(engine.requests.map(({ path, query }) => ({ path, query }))).toEqual([
      { path: "/res/v1/web/search", query: { q: "elbe", count: "7" } },
      {
        path: "/res/v1/news/search",
        query: {
          q: "elbe",
          count: "10",
          freshness: `${day(-3).slice(0, 10)}to${day(0).slice(0, 10)}`,
        },
      },
    ]);
    for (const { headers } of engine.requests)
      expect(headers["x-subscription-token"]).toBe("brave-secret-key");
    await toolkit.close();
  });

  test("without a result list has found nothing", async () => {
    await using engine = await startEngine(json({ type: "search" }));
    const toolkit = createSearchToolkit({ provider: "brave", env, origin: engine.origin });
    expect((await call(toolkit, "web_search", { query: "zzzz" })).results).toEqual([]);
    await toolkit.close();
  });
});

describe("Tavily", () => {
  test("gets its key and a JSON body, for web and news", async () => {
    await using engine = await startEngine(
      json({
        results: [{ title: "Elbe", url: "https://a.example/", content: "a river", score: 0.9 }],
      }),
    );
    const toolkit = createSearchToolkit({
      provider: "tavily",
      env: { KEY: "tavily-secret" },
      apiKeyEnv: "KEY",
      origin: engine.origin,
    });
    expect((await call(toolkit, "web_search", { query: "elbe" })).results).toEqual([
      { title: "Elbe", url: "https://a.example/", snippet: "a river" },
    ]);
    await call(toolkit, "news_search", { query: "elbe", days_back: 2 });
    expect(
      engine.requests.map(({ method, path, headers, body }) => [
        method,
        path,
        headers.authorization,
        JSON.parse(body),
      ]),
    ).toEqual([
      [
        "POST",
        "/search",
        "Bearer tavily-secret",
        { query: "elbe", max_results: 5, topic: "general" },
      ],
      [
        "POST",
        "/search",
        "Bearer tavily-secret",
        { query: "elbe", max_results: 10, topic: "news", days: 2 },
      ],
    ]);
    await toolkit.close();
  });
});

describe("a provider that fails", () => {
  const failures: readonly (readonly [string, (response: ServerResponse) => void, JsonObject])[] = [
    [
      "rejects the key",
      (response) => response.writeHead(401).end("no"),
      { code: "UNAVAILABLE", hint: expect.stringContaining("BRAVE_API_KEY") },
    ],
    [
      "rejects the request",
      (response) => response.writeHead(422).end("no"),
      { code: "UNAVAILABLE" },
    ],
    [
      "asks for a pause",
      (response) => response.writeHead(429, { "retry-after": "3" }).end(),
      { code: "RATE_LIMITED", details: { retryAfterSeconds: 3 } },
    ],
    ["is broken", (response) => response.writeHead(500).end("<html>oops"), { code: "UNAVAILABLE" }],
    [
      "redirects elsewhere",
      (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      { code: "BAD_ANSWER" },
    ],
    [
      "answers with a page",
      (response) => response.writeHead(200).end("<html>hello"),
      { code: "BAD_ANSWER" },
    ],
    [
      "answers with other JSON",
      (response) => response.writeHead(200).end('{"results": "many"}'),
      { code: "BAD_ANSWER" },
    ],
    [
      "never stops",
      (response) => response.writeHead(200).end("x".repeat(5 * 1024 * 1024)),
      { code: "TOO_LARGE" },
    ],
    ["hangs up", (response) => response.destroy(), { code: "UNAVAILABLE" }],
    [
      "is cut off",
      (response) =>
        void response
          .writeHead(200, { "content-length": 100 })
          .write("x", () => response.destroy()),
      { code: "BAD_ANSWER" },
    ],
  ];

  test.each(failures)("because it %s is reported without its key", async (_, answer, expected) => {
    await using engine = await startEngine((_asked, response) => answer(response));
    const toolkit = createSearchToolkit({
      provider: "brave",
      env: { BRAVE_API_KEY: "brave-secret-key" },
      origin: engine.origin,
    });
    const error = await failureOf(call(toolkit, "web_search", { query: "x" }));
    expect(error).toMatchObject({
      message: expect.stringContaining("Brave Search"),
      ...expected,
    });
    expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain(
      "brave-secret-key",
    );
    await toolkit.close();
  });

  test("because it cannot be reached is UNAVAILABLE; a request that hangs ends with its call", async () => {
    const nowhere = createSearchToolkit({ url: "http://127.0.0.1:1" });
    expect(await failureOf(call(nowhere, "web_search", { query: "x" }))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("SearXNG"),
    });
    await using engine = await startEngine(() => {});
    const silent = createSearchToolkit({ url: engine.origin });
    expect(
      await failureOf(call(silent, "web_search", { query: "x" }, new Scope(undefined, 50))),
    ).toMatchObject({ code: "TIMEOUT" });
    const scope = new Scope();
    const requests = engine.requests.length;
    const search = failureOf(call(silent, "web_search", { query: "x" }, scope));
    await until(() => engine.requests.length > requests, "the request");
    scope.cancel(new HallError("CANCELLED", "no longer wanted"));
    expect(await search).toMatchObject({ code: "CANCELLED" });
    await silent.close();
  });
});
