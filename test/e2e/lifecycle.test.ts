import { describe, expect, test } from "vitest";
import { errorTable, HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { version } from "../../src/base/version.ts";
import { keys, modern, modernVersion, type RawClient } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import {
  createChangingToolkit,
  createEchoToolkit,
  createFailingToolkit,
  createHeavyToolkit,
  createLiarToolkit,
  createLibraryToolkit,
  createReportingToolkit,
  createSlowToolkit,
  createToolkit,
  said,
  text,
} from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

const toolNames = async (client: RawClient, params?: JsonObject): Promise<unknown[]> =>
  ((await client.result("tools/list", params)).tools as JsonObject[]).map(({ name }) => name);

describe("the handshake", () => {
  test.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2099-01-01", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
    ["", "2025-11-25"],
  ])("asked for version %j agrees on %s and says what there is", async (asked, agreed) => {
    await using hall = await startHall({ toolkits: [createEchoToolkit(), createLibraryToolkit()] });
    const client = hall.connect();
    expect(await client.greet(asked)).toEqual({
      protocolVersion: agreed,
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      serverInfo: { name: "guildhall", title: "Guildhall", version },
      instructions: expect.stringContaining("toolkit__tool"),
      _meta: { tools_count: 2, resources_count: 2, prompts_count: 1 },
    });
    expect(await toolNames(client)).toEqual(["echo__echo", "echo__typed"]);
  });

  test("is not needed by a modern client: server/discover returns the same", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    expect(await hall.connect().result("server/discover", modern())).toEqual({
      resultType: "complete",
      supportedVersions: [modernVersion],
      capabilities: expect.objectContaining({ tools: { listChanged: true } }),
      instructions: expect.any(String),
      ttlMs: 60_000,
      cacheScope: "private",
      _meta: { [keys.serverInfo]: { name: "guildhall", title: "Guildhall", version } },
    });
  });

  test("may follow and be followed by modern requests on one connection, each answered in its own way", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const client = hall.connect();
    const bad = { name: "echo.typed", arguments: {} };
    expect(await client.result("tools/list", modern())).toMatchObject({
      resultType: "complete",
      ttlMs: 60_000,
      cacheScope: "private",
    });
    await client.greet("2025-06-18");
    for (let round = 0; round < 3; round++) {
      const [old, current] = await Promise.all([
        client.request("tools/call", bad),
        client.request("tools/call", modern(bad)),
      ]);
      expect(old).toMatchObject({ error: { code: -32602 } });
      expect(current).toMatchObject({ result: { isError: true, resultType: "complete" } });
      expect(await client.result("tools/list")).not.toHaveProperty("resultType");
      expect(await client.request("ping")).toMatchObject({ result: {} });
      expect(await client.request("ping", modern())).toMatchObject({ error: { code: -32601 } });
    }
  });

  test("converts content newer than the client's version to text", async () => {
    const media = createToolkit("media", {
      mixed: {
        run: () => ({
          content: [
            { type: "audio", data: "AAAA", mimeType: "audio/wav" },
            { type: "resource_link", uri: "book://alice", name: "alice" },
          ],
        }),
      },
    });
    await using hall = await startHall({ toolkits: [media] });
    const kinds = async (asked: string): Promise<unknown> => {
      const client = hall.connect();
      await client.greet(asked);
      return (
        (await client.result("tools/call", { name: "media.mixed" })).content as JsonObject[]
      ).map(({ type }) => type);
    };
    expect(await kinds("2024-11-05")).toEqual(["text", "text"]);
    expect(await kinds("2025-03-26")).toEqual(["audio", "text"]);
    expect(await kinds("2025-06-18")).toEqual(["audio", "resource_link"]);
    expect(await kinds("2025-11-25")).toEqual(["audio", "resource_link"]);
  });
});

describe("the list of tools", () => {
  const names = Array.from({ length: 25 }, (_, n) => `tool${n}`);
  const sorted = names.map((name) => `changing__${name}`).sort();

  test("has pages in the same order every time, for any order of the toolkits' lists", async () => {
    await using hall = await startHall({
      toolkits: [createChangingToolkit([...names].reverse()), createEchoToolkit()],
      pageSize: 7,
    });
    const client = hall.connect();
    await client.greet();
    for (const dress of [(params: JsonObject) => params, (params: JsonObject) => modern(params)]) {
      const pages: unknown[][] = [];
      for (let cursor: unknown; pages.length === 0 || cursor !== undefined; ) {
        const page = await client.result(
          "tools/list",
          dress(cursor === undefined ? {} : { cursor }),
        );
        pages.push((page.tools as JsonObject[]).map(({ name }) => name));
        cursor = page.nextCursor;
      }
      expect(pages.map((page) => page.length)).toEqual([7, 7, 7, 6]);
      expect(pages.flat()).toEqual([...sorted, "echo__echo", "echo__typed"]);
    }
  });

  test("continues at the right place when it changes between two pages", async () => {
    const changing = createChangingToolkit(["a", "c", "e", "g"]);
    await using hall = await startHall({ toolkits: [changing], pageSize: 2 });
    const client = hall.connect();
    await client.greet();
    const { nextCursor: cursor } = await client.result("tools/list");
    changing.setTools(["a", "b", "d", "e", "g"]);
    await client.heard("notifications/tools/list_changed");
    expect(await toolNames(client, { cursor: cursor ?? "" })).toEqual([
      "changing__d",
      "changing__e",
    ]);
  });

  test.each([
    ["of another list", (own: string, foreign: string) => (own === foreign ? own : foreign)],
    [
      "with another first letter",
      (own: string) => (own.startsWith("A") ? "B" : "A") + own.slice(1),
    ],
    [
      "with another last letter",
      (own: string) => own.slice(0, -1) + (own.endsWith("A") ? "B" : "A"),
    ],
    ["without its signature", (own: string) => own.split(".")[0] ?? ""],
    ["with something behind it", (own: string) => `${own}.x`],
    ["with a blank in it", (own: string) => own.replace(".", " .")],
  ])("has a cursor %s refused", async (_, tamper) => {
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [createEchoToolkit(), library], pageSize: 1 });
    const client = hall.connect();
    await client.greet();
    const { nextCursor: own } = await client.result("tools/list");
    const { nextCursor: foreign } = await client.result("resources/list");
    expect(
      await client.request("tools/list", { cursor: tamper(String(own), String(foreign)) }),
    ).toMatchObject({
      error: {
        code: -32602,
        message: "invalid cursor",
        data: { error_type: "invalid_params" },
      },
    });
    expect(await toolNames(client, { cursor: own })).toEqual(["echo__typed"]);
  });

  test("has a cursor of another hall refused", async () => {
    await using one = await startHall({ toolkits: [createEchoToolkit()], pageSize: 1 });
    await using other = await startHall({ toolkits: [createEchoToolkit()], pageSize: 1 });
    const { nextCursor: cursor } = await one.connect().result("tools/list", modern());
    expect(await other.connect().request("tools/list", modern({ cursor }))).toMatchObject({
      error: { code: -32602 },
    });
  });

  test("keeps unknown fields and hides internal ones", async () => {
    await using hall = await startHall({
      toolkits: [
        createToolkit("odd", {
          tool: {
            run: () => text(""),
            facts: { timeoutMs: 5 },
            "x-future": { a: 1 },
            _meta: { "v/k": 1 },
          },
        }),
      ],
    });
    const client = hall.connect();
    await client.greet();
    expect((await client.result("tools/list")).tools).toEqual([
      {
        name: "odd__tool",
        inputSchema: { type: "object" },
        "x-future": { a: 1 },
        _meta: { "v/k": 1 },
      },
    ]);
  });

  test("is whole although one toolkit cannot be listed", async () => {
    const broken = createToolkit(
      "broken",
      {},
      { list: () => Promise.reject(new Error("no list today")) },
    );
    await using hall = await startHall({ toolkits: [broken, createEchoToolkit()] });
    const client = hall.connect();
    await client.greet();
    expect(await toolNames(client)).toEqual(["echo__echo", "echo__typed"]);
    expect(hall.logged.join()).toContain("listing failed");
  });
});

describe("tools are called", () => {
  test.each(["echo.echo", "echo__echo", "echo"])("as %s", async (name) => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const client = hall.connect();
    await client.greet();
    expect(await client.result("tools/call", { name, arguments: { a: [1, null, "é"] } })).toEqual({
      content: [{ type: "text", text: '{"a":[1,null,"é"]}' }],
      structuredContent: { a: [1, null, "é"] },
      isError: false,
    });
  });

  test("not by a bare name that two tools have", async () => {
    await using hall = await startHall({
      toolkits: [createEchoToolkit("b"), createEchoToolkit("a")],
    });
    const client = hall.connect();
    await client.greet();
    expect(await client.request("tools/call", { name: "echo" })).toMatchObject({
      error: {
        code: -32602,
        message: 'ambiguous tool "echo" (2 tools: a__echo, b__echo)',
        data: {
          details: { choices: ["a__echo", "b__echo"] },
          suggestion: "Use one of the full names.",
        },
      },
    });
  });

  test("by fifty clients that all use id 1, and each gets its own answers", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const wrong: unknown[] = [];
    const clients = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const client = hall.connect();
        if (n % 2 === 0) await client.greet();
        return { client, n };
      }),
    );
    await Promise.all(
      clients.map(async ({ client, n }) => {
        for (let round = 0; round < 200; round++) {
          const params = { name: "echo.echo", arguments: { n, round } };
          client.send({
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: n % 2 === 0 ? params : modern(params),
          });
          const answer = await client.next();
          if (answer.id !== 1 || said(answer) !== JSON.stringify({ n, round }))
            wrong.push({ n, round, answer });
        }
      }),
    );
    expect(wrong).toEqual([]);
    expect(clients.every(({ client }) => client.unread.length === 0)).toBe(true);
  });

  test("and answer in the order they end, not in the order they were asked", async () => {
    await using hall = await startHall({ toolkits: [createSlowToolkit()] });
    const client = hall.connect();
    await client.greet();
    await client.result("tools/call", { name: "slow.wait", arguments: { ms: 1 } });
    const ids = [300, 150, 1].map((ms) =>
      client.ask("tools/call", { name: "slow.wait", arguments: { ms } }),
    );
    expect([(await client.next()).id, (await client.next()).id, (await client.next()).id]).toEqual(
      ids.reverse(),
    );
  });

  test("a thousand at once; the next is turned away, and one is served again when one has ended", async () => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow, createEchoToolkit()] });
    const client = hall.connect();
    await client.greet();
    const ids = Array.from({ length: 1_000 }, () =>
      client.ask("tools/call", { name: "slow.wait" }),
    );
    await until(() => slow.running === 1_000);
    expect(await client.request("tools/call", { name: "echo.echo" })).toMatchObject({
      result: {
        isError: true,
        structuredContent: {
          error_type: "overloaded",
          message: "1000 requests are already running",
          toolName: "echo.echo",
        },
      },
    });
    expect(await client.request("ping")).toMatchObject({
      error: { code: -32603, message: "1000 requests are already running" },
    });
    expect((await hall.connect().result("tools/call", modern({ name: "echo.echo" }))).isError).toBe(
      false,
    );
    client.notify("notifications/cancelled", { requestId: ids[0] });
    expect(await client.request("ping")).toMatchObject({ result: {} });
    for (const requestId of ids) client.notify("notifications/cancelled", { requestId });
    await until(() => slow.running === 0);
    expect(client.unread).toEqual([]);
  });
});

describe("a tool that fails", () => {
  const inMeta = (body: JsonObject): JsonObject => ({
    isError: true,
    structuredContent: body,
    _meta: { "guildhall/error": body },
  });

  test.each([
    ["EXECUTION", "2024-11-05"],
    ["UNAVAILABLE", "2025-06-18"],
    ["RATE_LIMITED", "2025-11-25"],
    ["DENIED", modernVersion],
    ["BUDGET", modernVersion],
  ] as const)("with %s says so in its result (%s)", async (code, asked) => {
    await using hall = await startHall({ toolkits: [createFailingToolkit()] });
    const client = hall.connect();
    const params = { name: "failing.hall", arguments: { code } };
    if (asked !== modernVersion) await client.greet(asked);
    const result = await client.result(
      "tools/call",
      asked === modernVersion ? modern(params) : params,
    );
    const suggestion = errorTable[code].hint;
    expect(result).toMatchObject({
      content: [{ type: "text", text: `failed with ${code}\n${suggestion}` }],
      ...inMeta({
        error_type: code.toLowerCase(),
        message: `failed with ${code}`,
        suggestion,
        toolName: "failing.hall",
        details: { why: "on purpose" },
      }),
    });
  });

  test("unexpectedly is named by a reference that the log has too, and its words stay inside", async () => {
    await using hall = await startHall({ toolkits: [createFailingToolkit()] });
    const client = hall.connect();
    await client.greet();
    const answer = await client.request("tools/call", { name: "failing.plain" });
    expect(answer).toMatchObject({
      error: {
        code: -32603,
        message: "unexpected error inside the hall",
        data: { error_type: "internal", toolName: "failing.plain" },
      },
    });
    expect(JSON.stringify(answer)).not.toContain("hunter2");
    const { reference } = (answer.error as JsonObject).data as JsonObject;
    expect(hall.logged.join()).toContain(reference);
    expect(hall.logged.join()).toContain("hunter2");
  });

  test("in MCP's own way is passed on as it is", async () => {
    await using hall = await startHall({ toolkits: [createFailingToolkit(), createLiarToolkit()] });
    const client = hall.connect();
    await client.greet();
    expect(await client.result("tools/call", { name: "failing.told" })).toEqual({
      content: [{ type: "text", text: "no such issue" }],
      isError: true,
    });
    expect(await client.result("tools/call", { name: "liar.failing" })).toEqual({
      content: [{ type: "text", text: "cannot count today" }],
      isError: true,
    });
  });

  test.each([
    [
      "liar.wrong",
      "the result of liar.wrong does not match its output schema",
      [{ path: "/count", message: "must be number" }],
    ],
    [
      "liar.missing",
      "liar.missing has an output schema but returned no structured content",
      undefined,
    ],
    ["liar.empty", 'liar.empty returned a result without "content"', undefined],
    ["liar.nothing", 'liar.nothing returned a result without "content"', undefined],
  ])("to keep its promise (%s) is not passed on", async (name, message, errors) => {
    await using hall = await startHall({ toolkits: [createLiarToolkit()] });
    const client = hall.connect();
    await client.greet();
    const result = await client.result("tools/call", { name });
    const body = {
      error_type: "bad_answer",
      message,
      toolName: name,
      ...(errors ? { details: { errors } } : {}),
    };
    expect(result).toMatchObject({ isError: true, _meta: { "guildhall/error": body } });
  });

  test("and has an output schema reports the failure in _meta only, because the rest must match the schema", async () => {
    await using hall = await startHall({ toolkits: [createLiarToolkit()] });
    const client = hall.connect();
    await client.greet();
    const result = await client.result("tools/call", { name: "liar.throwing" });
    expect(result).toMatchObject({
      isError: true,
      _meta: { "guildhall/error": { error_type: "execution", message: "cannot count at all" } },
    });
    expect(result).not.toHaveProperty("structuredContent");
  });

  test.each(["cycle", "bigint", "throwing"])(
    "to give JSON (%s) is answered with -32603 and a reference, in both eras",
    async (name) => {
      await using hall = await startHall({ toolkits: [createHeavyToolkit()] });
      const client = hall.connect();
      await client.greet();
      for (const params of [{ name: `heavy.${name}` }, modern({ name: `heavy.${name}` })]) {
        const { error } = await client.request("tools/call", params);
        expect(error).toMatchObject({
          code: -32603,
          message: "cannot serialize the answer to tools/call as JSON",
          data: {
            error_type: "serialization",
            toolName: `heavy.${name}`,
            reference: expect.any(String),
          },
        });
      }
    },
  );

  test("with an answer over 10 MiB fails with advice to request less, in both versions", async () => {
    await using hall = await startHall({ toolkits: [createHeavyToolkit()] });
    const client = hall.connect();
    await client.greet();
    const body = {
      error_type: "too_large",
      message: "the answer to tools/call exceeds the limit of 10 MiB",
      suggestion: errorTable.TOO_LARGE.hint,
      toolName: "heavy.large",
    };
    expect(await client.result("tools/call", { name: "heavy.large" })).toMatchObject(inMeta(body));
    expect(await client.result("tools/call", modern({ name: "heavy.large" }))).toMatchObject({
      resultType: "complete",
      ...inMeta(body),
    });
  });

  test.each(["slow.wait", "slow.deaf"])(
    "to return (%s) is answered at its deadline, and told to stop",
    async (name) => {
      const slow = createSlowToolkit(100);
      await using hall = await startHall({ toolkits: [slow] });
      const client = hall.connect();
      await client.greet();
      for (const params of [{ name }, modern({ name })]) {
        const result = await client.result("tools/call", params);
        expect(result).toMatchObject({
          isError: true,
          structuredContent: {
            error_type: "timeout",
            message: `${name}: no answer within 0.1 s`,
            toolName: name,
          },
        });
      }
      expect(slow.aborted.map(({ code }) => code)).toEqual(
        name === "slow.wait" ? ["TIMEOUT", "TIMEOUT"] : [],
      );
    },
  );

  test("has the hall's deadline when it sets none", async () => {
    await using hall = await startHall({ toolkits: [createSlowToolkit()], timeoutMs: 50 });
    expect(await hall.connect().result("tools/call", modern({ name: "slow.deaf" }))).toMatchObject({
      isError: true,
      structuredContent: { error_type: "timeout" },
    });
  });
});

describe("lists that change", () => {
  test("are announced to initialized clients, and only to those", async () => {
    const changing = createChangingToolkit();
    await using hall = await startHall({ toolkits: [changing] });
    const [ready, greeted, unknown, current] = [
      hall.connect(),
      hall.connect(),
      hall.connect(),
      hall.connect(),
    ];
    await ready.greet();
    await greeted.result("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: {},
    });
    await current.result("server/discover", modern());
    changing.setTools(["two"]);
    expect(await ready.heard("notifications/tools/list_changed")).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
    });
    expect(await toolNames(ready)).toEqual(["changing__two"]);
    expect([...greeted.unread, ...unknown.unread, ...current.unread]).toEqual([]);
  });

  test("in a storm are announced at most four times a second, and the last list is the right one", async () => {
    const changing = createChangingToolkit();
    await using hall = await startHall({ toolkits: [changing] });
    const client = hall.connect();
    await client.greet();
    const startedAt = performance.now();
    let storms = 0;
    await until(() => {
      for (let burst = 0; burst < 20; burst++) changing.setTools([`tool${storms}`, `more${burst}`]);
      storms++;
      return client.received.length > 4;
    }, "four announcements");
    changing.setTools(["last"]);
    await until(() => hall.hall.registry.findTool("changing.last") !== undefined);
    await until(async () => (await toolNames(client)).includes("changing__last"));
    const announced = client.received.filter(
      ({ method }) => method === "notifications/tools/list_changed",
    ).length;
    expect(announced).toBeLessThanOrEqual((4 * (performance.now() - startedAt)) / 1_000 + 2);
  });

  test("end as the toolkit has them now, also when an earlier listing is still running", async () => {
    const changing = createChangingToolkit();
    await using hall = await startHall({ toolkits: [changing] });
    const client = hall.connect();
    await client.greet();
    let listOld = (): void => {};
    changing.setTools(
      ["old"],
      new Promise<void>((resolve) => {
        listOld = resolve;
      }),
    );
    changing.setTools(["new"]);
    listOld();
    await until(() => hall.hall.registry.findTool("changing.new") !== undefined);
    expect(await toolNames(client)).toEqual(["changing__new"]);
  });

  test("of resources and prompts are announced as such", async () => {
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [library] });
    const client = hall.connect();
    await client.greet();
    library.setResources(["book://carol"]);
    await client.heard("notifications/resources/list_changed");
    expect(await client.result("resources/list")).toEqual({
      resources: [{ uri: "book://carol", name: "carol" }],
    });
    library.setPrompts(["praise"]);
    await client.heard("notifications/prompts/list_changed");
    expect(await client.result("prompts/list")).toEqual({ prompts: [{ name: "library__praise" }] });
  });

  test("never change in a static hall, which declares so and announces nothing", async () => {
    const changing = createChangingToolkit();
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [changing, library], isStatic: true });
    const client = hall.connect();
    expect((await client.greet()).capabilities).toEqual({
      tools: { listChanged: false },
      resources: { subscribe: true, listChanged: false },
      prompts: { listChanged: false },
      completions: {},
    });
    const lists = async (): Promise<unknown> => [
      await toolNames(client),
      await client.result("resources/list"),
      await client.result("resources/templates/list"),
      await client.result("prompts/list"),
    ];
    const before = await lists();
    changing.setTools(["two"]);
    library.setResources([]);
    library.setPrompts(["praise"]);
    expect(await lists()).toEqual(before);
    expect(client.unread).toEqual([]);
  });

  test("do not exist in a static hall without them", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()], isStatic: true });
    expect((await hall.connect().greet()).capabilities).toEqual({
      tools: { listChanged: false },
    });
  });

  test("are only tools in a static hall that shows agents or programs", async () => {
    for (const face of ["agents", "code"] as const) {
      const toolkits = [createLibraryToolkit()];
      await using hall = await startHall({ toolkits, isStatic: true, faces: [face] });
      expect((await hall.connect().greet()).capabilities).toEqual({
        tools: { listChanged: false },
      });
    }
  });
});

describe("log messages", () => {
  const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
  const heardLevels = (client: RawClient): unknown[] =>
    client.received
      .filter(({ method }) => method === "notifications/message")
      .map(({ params }) => (params as JsonObject).level);

  test.each(levels)("from %s up reach a client that asked for them", async (level) => {
    await using hall = await startHall({ toolkits: [createReportingToolkit()] });
    const client = hall.connect();
    await client.greet();
    expect(await client.result("logging/setLevel", { level })).toEqual({});
    await client.result("tools/call", { name: "reporting.logs" });
    expect(heardLevels(client)).toEqual(levels.slice(levels.indexOf(level)));
    expect(client.unread[0]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level, logger: "reporter", data: { said: level } },
    });
  });

  test("below info are left out until a client asks for them", async () => {
    await using hall = await startHall({ toolkits: [createReportingToolkit()] });
    const client = hall.connect();
    await client.greet();
    await client.result("tools/call", { name: "reporting.logs" });
    expect(heardLevels(client)).toEqual(levels.slice(1));
  });

  test.each([{}, { level: "loud" }, { level: 3 }, { level: null }])(
    "are not changed by the level %j",
    async (params) => {
      await using hall = await startHall({ toolkits: [] });
      const client = hall.connect();
      await client.greet();
      expect(await client.request("logging/setLevel", params)).toMatchObject({
        error: {
          code: -32602,
          message:
            "unknown log level (expected: debug, info, notice, warning, error, critical, alert, emergency)",
        },
      });
    },
  );

  test("reach a modern client only for the requests that ask for them", async () => {
    await using hall = await startHall({ toolkits: [createReportingToolkit()] });
    const client = hall.connect();
    await client.result("tools/call", modern({ name: "reporting.logs" }));
    expect(heardLevels(client)).toEqual([]);
    await client.result(
      "tools/call",
      modern({ name: "reporting.logs" }, {}, { [keys.logLevel]: "alert" }),
    );
    expect(heardLevels(client)).toEqual(["alert", "emergency"]);
  });
});

describe("progress", () => {
  const steps = (progress: readonly (readonly number[])[], more: JsonObject = {}): JsonObject => ({
    name: "reporting.steps",
    arguments: { progress, ...more },
  });
  const heardSteps = (client: RawClient): JsonObject[] =>
    client.received
      .filter(({ method }) => method === "notifications/progress")
      .map(({ params }) => params as JsonObject);

  test.each(["token", 0, "0", -7])(
    "is told under the token %j, before the answer, and only while it grows",
    async (progressToken) => {
      await using hall = await startHall({ toolkits: [createReportingToolkit()] });
      const client = hall.connect();
      await client.greet();
      await client.result("tools/call", {
        ...steps(
          [
            [1, 9],
            [1, 9],
            [0.5, 9],
            [2, 9],
            [9, 9],
          ],
          { pauseMs: 60 },
        ),
        _meta: { progressToken },
      });
      expect(heardSteps(client)).toEqual(
        [1, 2, 9].map((progress) => ({
          progressToken,
          progress,
          total: 9,
          message: `at ${progress}`,
        })),
      );
      expect(client.received.at(-1)).toHaveProperty("result");
    },
  );

  test("is not sent without a token", async () => {
    await using hall = await startHall({ toolkits: [createReportingToolkit()] });
    const client = hall.connect();
    await client.result("tools/call", modern(steps([[1], [2]])));
    expect(heardSteps(client)).toEqual([]);
  });

  test("in a flood is sent twenty times at once, then twenty times a second, and the last step always", async () => {
    await using hall = await startHall({ toolkits: [createReportingToolkit()] });
    const client = hall.connect();
    const startedAt = performance.now();
    const flood = Array.from({ length: 200 }, (_, n) => [n + 1, 200]);
    await client.result(
      "tools/call",
      modern(steps(flood, { pauseMs: 1 }), {}, { progressToken: "flood" }),
    );
    const told = heardSteps(client).map(({ progress }) => progress as number);
    expect(told.length).toBeLessThanOrEqual((performance.now() - startedAt) / 50 + 22);
    expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(200);
  });

  test("that came too soon after others is sent later, while the call still runs", async () => {
    await using hall = await startHall({ toolkits: [createReportingToolkit()] });
    const client = hall.connect();
    const soon = Array.from({ length: 30 }, (_, n) => [n + 1]);
    await client.result(
      "tools/call",
      modern(steps(soon, { holdMs: 200 }), {}, { progressToken: "soon" }),
    );
    const heard = heardSteps(client).map(({ progress }) => progress);
    expect(heard.slice(0, 20)).toEqual(soon.slice(0, 20).flat());
    expect(heard.at(-1)).toBe(30);
    expect(heard.length).toBeLessThan(30);
  });

  test.each(["legacy", "modern"])("and log messages end with the answer (%s)", async (era) => {
    const reporting = createReportingToolkit();
    await using hall = await startHall({ toolkits: [reporting] });
    const client = hall.connect();
    const late = { name: "reporting.late", _meta: { progressToken: "late" } };
    if (era === "legacy") await client.greet();
    await client.result(
      "tools/call",
      era === "legacy"
        ? late
        : modern(late, {}, { progressToken: "late", [keys.logLevel]: "debug" }),
    );
    await until(() => reporting.hasReportedLate);
    await client.result("tools/list", era === "legacy" ? {} : modern());
    expect(client.unread).toEqual([]);
  });
});

describe("resources", () => {
  test.each(["legacy", "modern"])(
    "are listed, read and described by templates (%s)",
    async (era) => {
      await using hall = await startHall({ toolkits: [createLibraryToolkit()] });
      const client = hall.connect();
      if (era === "legacy") await client.greet();
      const dress = (params: JsonObject): JsonObject =>
        era === "legacy" ? params : modern(params);
      const cached = (ttlMs: number): JsonObject =>
        era === "legacy"
          ? {}
          : { resultType: "complete", ttlMs, cacheScope: "private", _meta: expect.any(Object) };
      expect(await client.result("resources/list", dress({}))).toEqual({
        resources: [
          { uri: "book://alice", name: "alice" },
          { uri: "book://bob", name: "bob" },
        ],
        ...cached(60_000),
      });
      expect(await client.result("resources/templates/list", dress({}))).toEqual({
        resourceTemplates: [{ uriTemplate: "page://{number}", name: "page" }],
        ...cached(60_000),
      });
      for (const uri of ["book://bob", "page://7"]) {
        expect(await client.result("resources/read", dress({ uri }))).toEqual({
          contents: [{ uri, mimeType: "text/plain", text: `contents of ${uri}` }],
          ...cached(0),
        });
      }
    },
  );

  test("that are subscribed to are announced when they change, once, until unsubscribed", async () => {
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [library] });
    const client = hall.connect();
    await client.greet();
    const params = { uri: "book://alice" };
    expect(await client.result("resources/subscribe", params)).toEqual({});
    expect(await client.result("resources/subscribe", params)).toEqual({});
    library.touch("book://alice");
    library.touch("book://bob");
    expect(await client.next()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params,
    });
    expect(await client.result("resources/unsubscribe", params)).toEqual({});
    expect(await client.result("resources/unsubscribe", params)).toEqual({});
    library.touch("book://alice");
    expect(await client.request("ping")).toHaveProperty("result");
    expect(client.unread).toEqual([]);
    expect(await client.request("resources/subscribe", { uri: "book://nobody" })).toMatchObject({
      error: { code: -32602 },
    });
  });

  test("are watched a thousand at once for one client, and no more until it lets go of one", async () => {
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [library] });
    const client = hall.connect();
    await client.greet();
    for (let n = 0; n < 1_000; n++) client.ask("resources/subscribe", { uri: `page://${n}` });
    const more = { uri: "page://more" };
    expect(await client.request("resources/subscribe", more)).toMatchObject({
      error: { data: { error_type: "overloaded" } },
    });
    expect(library.watchers("page://more")).toBe(0);
    await client.result("resources/unsubscribe", { uri: "page://7" });
    expect(await client.result("resources/subscribe", more)).toEqual({});
  });

  test("are no longer watched for a client that has gone", async () => {
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [library] });
    const client = hall.connectStdio();
    await client.greet();
    await client.result("resources/subscribe", { uri: "book://alice" });
    expect(library.watchers("book://alice")).toBe(1);
    client.end();
    await client.closed;
    expect(library.watchers("book://alice")).toBe(0);
  });
});

describe("a hall that closes", () => {
  test("closes every toolkit, also when one of them fails at it", async () => {
    const closed: string[] = [];
    const toolkit = (id: string, close: () => Promise<void>): ReturnType<typeof createToolkit> =>
      createToolkit(id, {}, { close });
    const hall = await startHall({
      toolkits: [
        toolkit("first", async () => void closed.push("first")),
        toolkit("broken", () => Promise.reject(new Error("still in use"))),
        toolkit("last", async () => void closed.push("last")),
      ],
    });
    await hall.hall.close();
    expect(closed).toEqual(["last", "first"]);
    expect(hall.logged.join()).toContain("still in use");
  });
});

describe("prompts", () => {
  test.each(["library.review", "review"])("are listed and given as %s", async (name) => {
    await using hall = await startHall({ toolkits: [createLibraryToolkit()] });
    const client = hall.connect();
    await client.greet();
    expect(await client.result("prompts/list")).toEqual({
      prompts: [
        {
          name: "library__review",
          description: "Review a book",
          arguments: [{ name: "title", required: true }, { name: "tone" }],
        },
      ],
    });
    expect(await client.result("prompts/get", { name, arguments: { title: "Emma" } })).toEqual({
      messages: [{ role: "user", content: { type: "text", text: 'review {"title":"Emma"}' } }],
    });
  });

  test("and resources have their arguments completed", async () => {
    await using hall = await startHall({ toolkits: [createLibraryToolkit(), createEchoToolkit()] });
    const client = hall.connect();
    await client.greet();
    const complete = (ref: JsonObject): Promise<JsonObject> =>
      client.result("completion/complete", { ref, argument: { name: "x", value: "em" } });
    expect(await complete({ type: "ref/prompt", name: "library.review" })).toEqual({
      completion: { values: ["review:em"], total: 1, hasMore: false },
    });
    expect(await complete({ type: "ref/resource", uri: "page://{number}" })).toEqual({
      completion: { values: ["page://{number}:em"], total: 1, hasMore: false },
    });
  });
});

describe("subscriptions/listen", () => {
  const listen = (client: RawClient, notifications: JsonObject): number =>
    client.ask("subscriptions/listen", modern({ notifications }));
  const under = (id: number): JsonObject => ({ [keys.subscription]: id });

  test("acknowledges its filter first, and then sends only matching notifications", async () => {
    const changing = createChangingToolkit();
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [changing, library] });
    const client = hall.connect();
    const id = listen(client, {
      toolsListChanged: true,
      promptsListChanged: false,
      resourceSubscriptions: ["book://alice"],
      taskIds: ["x"],
      future: true,
    });
    expect(await client.next()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ["book://alice"] },
        _meta: under(id),
      },
    });
    library.setPrompts(["praise"]);
    library.touch("book://bob");
    changing.setTools(["two"]);
    expect(await client.next()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      params: { _meta: under(id) },
    });
    library.touch("book://alice");
    expect(await client.next()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "book://alice", _meta: under(id) },
    });
    expect(client.unread).toEqual([]);
  });

  test("notifies two listeners of one client each under its own id", async () => {
    const changing = createChangingToolkit();
    await using hall = await startHall({ toolkits: [changing] });
    const client = hall.connect();
    const ids = [
      listen(client, { toolsListChanged: true }),
      listen(client, { toolsListChanged: true, promptsListChanged: true }),
    ];
    await client.heard("notifications/subscriptions/acknowledged");
    await client.heard("notifications/subscriptions/acknowledged");
    changing.setTools(["two"]);
    const heard = [await client.next(), await client.next()].map(
      ({ params }) => ((params as JsonObject)._meta as JsonObject)[keys.subscription],
    );
    expect(heard.sort()).toEqual(ids);
  });

  test("leaves out an unknown resource, and announces the rest", async () => {
    const changing = createChangingToolkit();
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [changing, library] });
    const client = hall.connect();
    const id = listen(client, {
      toolsListChanged: true,
      resourceSubscriptions: ["book://nobody", "book://alice"],
    });
    expect(await client.next()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ["book://alice"] },
      },
    });
    changing.setTools(["two"]);
    expect(await client.next()).toMatchObject({
      method: "notifications/tools/list_changed",
      params: { _meta: under(id) },
    });
  });

  test("promises no list changes in a static hall", async () => {
    const changing = createChangingToolkit();
    await using hall = await startHall({ toolkits: [changing], isStatic: true });
    const client = hall.connect();
    const id = listen(client, { toolsListChanged: true });
    expect(await client.next()).toMatchObject({ params: { notifications: {}, _meta: under(id) } });
    changing.setTools(["two"]);
    await client.result("tools/list", modern());
    expect(client.unread).toEqual([]);
  });

  test.each([
    {},
    { notifications: null },
    { notifications: { resourceSubscriptions: "book://alice" } },
    { notifications: { resourceSubscriptions: [1] } },
  ])("is refused when it asks for %j", async (params) => {
    await using hall = await startHall({ toolkits: [createLibraryToolkit()] });
    const client = hall.connect();
    expect(await client.request("subscriptions/listen", modern(params))).toMatchObject({
      error: { code: -32602 },
    });
    expect(client.unread).toEqual([]);
  });

  test("ends without an answer when the client cancels it, and sends nothing more", async () => {
    const changing = createChangingToolkit();
    const library = createLibraryToolkit();
    await using hall = await startHall({ toolkits: [changing, library] });
    const client = hall.connect();
    const id = listen(client, { toolsListChanged: true, resourceSubscriptions: ["book://alice"] });
    await client.heard("notifications/subscriptions/acknowledged");
    client.notify("notifications/cancelled", { requestId: id });
    await client.result("server/discover", modern());
    changing.setTools(["two"]);
    library.touch("book://alice");
    await until(() => hall.hall.registry.findTool("changing.two") !== undefined);
    await client.result("tools/list", modern());
    expect(client.unread).toEqual([]);
    expect(library.watchers("book://alice")).toBe(0);
  });

  test("ends with a result when the hall closes", async () => {
    await using hall = await startHall({ toolkits: [createChangingToolkit()] });
    const client = hall.connect();
    const id = listen(client, { toolsListChanged: true });
    await client.heard("notifications/subscriptions/acknowledged");
    await hall.hall.close(1_000);
    expect(await client.answer(id)).toEqual({
      jsonrpc: "2.0",
      id,
      result: {
        resultType: "complete",
        _meta: { ...under(id), [keys.serverInfo]: expect.any(Object) },
      },
    });
  });
});

describe("the end", () => {
  test("shutdown is answered with null and then only ping is served, until exit closes the line", async () => {
    await using hall = await startHall({ toolkits: [createEchoToolkit()] });
    const client = hall.connectStdio();
    await client.greet();
    expect(await client.request("shutdown")).toEqual({ jsonrpc: "2.0", id: 2, result: null });
    for (const method of ["tools/list", "shutdown", "nope"]) {
      expect(await client.request(method)).toMatchObject({
        error: { code: -32600, message: "shutting down" },
      });
    }
    expect(
      await client.request("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: {},
      }),
    ).toMatchObject({ error: { code: -32600 } });
    expect(await client.request("ping")).toMatchObject({ result: {} });
    client.send('{"jsonrpc":"2.0","id":null,"method":"exit"}');
    await client.closed;
    expect(client.unread).toEqual([]);
  });

  test("shutdown lets running calls end, and reports failures as the client's version requires", async () => {
    const slow = createSlowToolkit();
    let fail = (): void => {};
    const failing = new Promise<never>((_resolve, reject) => {
      fail = () => reject(new HallError("VALIDATION", "does not fit after all"));
    });
    const late = createToolkit("late", { invalid: { run: () => failing } });
    await using hall = await startHall({ toolkits: [slow, late] });
    const client = hall.connect();
    await client.greet("2025-11-25");
    const waiting = client.ask("tools/call", { name: "slow.wait" });
    const invalid = client.ask("tools/call", { name: "late.invalid" });
    await until(() => slow.running === 1, "the call runs");
    const shutdown = client.ask("shutdown");
    // Answered after the shutdown was received.
    await client.request("ping");
    slow.finish();
    fail();
    await client.answer(shutdown);
    expect(said(await client.answer(waiting))).toBe("waited");
    expect(await client.answer(invalid)).toMatchObject({
      result: { isError: true, structuredContent: { error_type: "validation" } },
    });
  });

  test("exit answers running calls with an error", async () => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow] });
    const client = hall.connectStdio();
    await client.greet();
    const id = client.ask("tools/call", { name: "slow.wait" });
    await until(() => slow.running === 1);
    client.notify("exit");
    expect(await client.answer(id)).toMatchObject({
      result: {
        isError: true,
        structuredContent: { error_type: "unavailable", message: "the hall is shutting down" },
      },
    });
    await client.closed;
    expect(slow.aborted).toMatchObject([{ code: "UNAVAILABLE" }]);
  });

  test("of a client's input lets running calls be answered, and then closes", async () => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow] });
    const client = hall.connectStdio();
    await client.greet();
    const ids = [30, 10].map((ms) =>
      client.ask("tools/call", { name: "slow.wait", arguments: { ms } }),
    );
    await until(() => slow.running === 2);
    client.end();
    await client.closed;
    for (const id of ids) expect(said(await client.answer(id))).toBe("waited");
    expect(client.unread).toEqual([]);
  });

  test("of one client does not touch another", async () => {
    const slow = createSlowToolkit();
    await using hall = await startHall({ toolkits: [slow] });
    const [leaving, staying] = [hall.connectStdio(), hall.connect()];
    await leaving.greet();
    await staying.greet();
    const id = staying.ask("tools/call", { name: "slow.wait", arguments: { ms: 30 } });
    leaving.notify("exit");
    await leaving.closed;
    expect(said(await staying.answer(id))).toBe("waited");
  });

  test("of the hall turns new requests away while running ones end, and closes every toolkit once", async () => {
    let closed = 0;
    const slow = createSlowToolkit();
    const counting = createToolkit("counting", {}, { close: async () => void closed++ });
    await using hall = await startHall({ toolkits: [slow, counting] });
    const client = hall.connect();
    await client.greet();
    const id = client.ask("tools/call", { name: "slow.wait", arguments: { ms: 50 } });
    await until(() => slow.running === 1);
    const closing = hall.hall.close(5_000);
    expect(await client.request("ping")).toMatchObject({
      error: {
        code: -32603,
        message: "the hall is shutting down",
        data: { error_type: "unavailable" },
      },
    });
    expect(said(await client.answer(id))).toBe("waited");
    await closing;
    await hall.hall.close();
    expect(closed).toBe(1);
  });

  test("of the hall answers calls that do not end in time", async () => {
    await using hall = await startHall({ toolkits: [createSlowToolkit()] });
    const client = hall.connect();
    await client.greet();
    const id = client.ask("tools/call", { name: "slow.deaf" });
    await client.result("ping");
    await hall.hall.close(20);
    expect(await client.answer(id)).toMatchObject({
      result: { isError: true, structuredContent: { error_type: "unavailable" } },
    });
  });
});
