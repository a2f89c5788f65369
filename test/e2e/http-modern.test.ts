import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { Outcome } from "../../src/tool.ts";
import { keys, modern, modernVersion } from "../servers/client.ts";
import { doorToken, openDoor, type Reply, untilCut } from "../servers/door.ts";
import { askModern, modernHeaders, openModern } from "../servers/door-clients.ts";
import {
  createAskingToolkit,
  createChangingToolkit,
  createEchoToolkit,
  createHeavyToolkit,
  createLibraryToolkit,
  createReportingToolkit,
  createSlowToolkit,
  createToolkit,
  text,
} from "../servers/toolkits.ts";
import { happens, until } from "../servers/until.ts";

/**
 * Streamable HTTP of 2026-07-28: no handshake, no connection, one POST for each request, and
 * nothing left when it ends.
 */
const json = "application/json";
const eventStream = "text/event-stream";
const resultOf = ({ json: message }: Reply): JsonObject =>
  isObject(message?.result) ? message.result : {};

describe("an answer", () => {
  test("is one line of JSON when nothing precedes it", async () => {
    await using door = await openDoor({ toolkits: [createEchoToolkit()] });
    const reply = await askModern(door, "tools/call", {
      name: "echo.echo",
      arguments: { a: "1\n2" },
    });
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, json]);
    expect(reply.headers["content-length"]).toBe(String(Buffer.byteLength(reply.text)));
    expect(reply.text).not.toContain("\n");
    expect(reply.json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "complete",
        content: [{ type: "text", text: '{"a":"1\\n2"}' }],
        structuredContent: { a: "1\n2" },
        isError: false,
        _meta: { [keys.serverInfo]: expect.objectContaining({ name: "guildhall" }) },
      },
    });
  });

  test("becomes a stream with the first message before it, and ends with it", async () => {
    await using door = await openDoor({ toolkits: [createReportingToolkit()] });
    const steps = {
      name: "reporting.steps",
      arguments: {
        progress: [
          [1, 3],
          [3, 3],
        ],
      },
    };
    const stream = await openModern(door, "tools/call", modern(steps, {}, { progressToken: "p" }));
    expect([
      stream.status,
      stream.headers["content-type"],
      stream.headers["x-accel-buffering"],
    ]).toEqual([200, eventStream, "no"]);
    expect(stream.headers).not.toHaveProperty("mcp-session-id");
    expect(await happens(stream.events.ended)).toBe(true);
    expect(stream.events.messages).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "p", progress: 1, total: 3 } },
      { method: "notifications/progress", params: { progressToken: "p", progress: 3, total: 3 } },
      { id: 1, result: { resultType: "complete" } },
    ]);
    // These streams cannot be resumed, so nothing in them says they can.
    expect(
      stream.events.events.every(({ id, retry }) => id === undefined && retry === undefined),
    ).toBe(true);
  });

  test("without a token or a level nothing precedes it", async () => {
    await using door = await openDoor({ toolkits: [createReportingToolkit()] });
    expect(
      (
        await askModern(door, "tools/call", {
          name: "reporting.steps",
          arguments: { progress: [[1]] },
        })
      ).headers["content-type"],
    ).toBe(json);
    expect(
      (await askModern(door, "tools/call", { name: "reporting.logs" })).headers["content-type"],
    ).toBe(json);
    const stream = await openModern(
      door,
      "tools/call",
      modern({ name: "reporting.logs" }, {}, { [keys.logLevel]: "alert" }),
    );
    await stream.events.ended;
    expect(stream.events.messages.map(({ method, id }) => method ?? id)).toEqual([
      "notifications/message",
      "notifications/message",
      1,
    ]);
  });

  test("a client that reads no events gets the answer alone", async () => {
    await using door = await openDoor({ toolkits: [createReportingToolkit()] });
    const params = modern(
      { name: "reporting.steps", arguments: { progress: [[1]] } },
      {},
      { progressToken: "p" },
    );
    const reply = await askModern(door, "tools/call", params, { accept: json });
    expect([reply.headers["content-type"], reply.json]).toMatchObject([
      json,
      { id: 1, result: { resultType: "complete" } },
    ]);
  });

  test("that takes long is kept alive with comments, so that proxies wait", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], keepAliveMs: 50 });
    const stream = await openModern(door, "tools/call", modern({ name: "slow.wait" }));
    expect(stream.headers["content-type"]).toBe(eventStream);
    await until(() => stream.events.comments.length >= 3);
    slow.finish();
    await stream.events.ended;
    expect(stream.events.messages).toMatchObject([
      { id: 1, result: { content: [{ text: "waited" }] } },
    ]);
    const plain = await askModern(
      door,
      "tools/call",
      { name: "slow.wait", arguments: { ms: 200 } },
      { accept: json },
    );
    expect([plain.headers["content-type"], plain.json]).toMatchObject([json, { id: 1 }]);
  });

  test("keeps its status when it is late: an error is not hidden in a stream", async () => {
    const late = createToolkit("late", {
      asks: {
        async run(_args, context) {
          await wait(100);
          await context.ask({ name: { method: "elicitation/create", params: { message: "?" } } });
          return text("never");
        },
      },
    });
    await using door = await openDoor({ toolkits: [late] });
    const reply = await askModern(door, "tools/call", { name: "late.asks" });
    expect([reply.status, reply.json]).toMatchObject([
      400,
      { id: 1, error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } } },
    ]);
  });

  test("that cannot be sent is an error like any other", async () => {
    await using door = await openDoor({ toolkits: [createHeavyToolkit()] });
    for (const name of ["cycle", "bigint", "throwing", "large"]) {
      const reply = await askModern(door, "tools/call", { name: `heavy.${name}` });
      expect([reply.status, reply.json?.id]).toEqual([200, 1]);
      expect(reply.text.length).toBeLessThan(10_000);
    }
  });

  test("the same id may run many times at once, each with its own answer", async () => {
    await using door = await openDoor({ toolkits: [createEchoToolkit()] });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        askModern(door, "tools/call", { name: "echo.echo", arguments: { n } }),
      ),
    );
    expect(replies.map((reply) => resultOf(reply).structuredContent)).toEqual(
      replies.map((_, n) => ({ n })),
    );
  });

  test("that is never read ends the connection", async () => {
    let answered = false;
    const run = (): Outcome => {
      answered = true;
      return text("x".repeat(9 * 1024 * 1024));
    };
    await using door = await openDoor({
      toolkits: [createToolkit("big", { answer: { run } })],
      stalledMsMax: 500,
    });
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: modern({ name: "big.answer" }),
    };
    const body = JSON.stringify(message);
    const headers = Object.entries({
      ...modernHeaders(message),
      host: "localhost",
      "content-type": json,
      "content-length": String(body.length),
    });
    const dialled = door.dial();
    dialled.socket.pause();
    dialled.write(
      `POST /mcp HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
    );
    await until(() => answered);
    await untilCut(door, dialled);
    const gone = new Promise((resolve) => dialled.socket.on("close", resolve).on("end", resolve));
    dialled.socket.resume();
    expect(await happens(gone)).toBe(true);
    expect(dialled.received.length).toBeLessThan(9 * 1024 * 1024);
  });

  test("that takes long does not count as unread, also when another was sent before it", async () => {
    await using door = await openDoor({ toolkits: [createSlowToolkit()], stalledMsMax: 100 });
    const dialled = door.dial();
    for (const ms of [1, 500]) {
      const message = {
        jsonrpc: "2.0",
        id: ms,
        method: "tools/call",
        params: modern({ name: "slow.wait", arguments: { ms } }),
      };
      const body = JSON.stringify(message);
      const headers = Object.entries({
        ...modernHeaders(message),
        host: "localhost",
        accept: json,
        "content-type": json,
        "content-length": String(body.length),
      });
      dialled.write(
        `POST /mcp HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
      );
    }
    await dialled.until(/"id":1,[\s\S]*"id":500,"result"/);
  });

  test("a slow but steady reader gets all of it, however long it takes", async () => {
    await using door = await openDoor({
      toolkits: [
        createToolkit("big", { answer: { run: () => text("x".repeat(9 * 1024 * 1024)) } }),
      ],
      stalledMsMax: 2_000,
    });
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: modern({ name: "big.answer" }),
    };
    const body = JSON.stringify(message);
    const headers = Object.entries({
      ...modernHeaders(message),
      host: "localhost",
      "content-type": json,
      "content-length": String(body.length),
    });
    const dialled = door.dial();
    dialled.write(
      `POST /mcp HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
    );
    const sip = setInterval(() => {
      dialled.socket.pause();
      setTimeout(() => dialled.socket.resume(), 80);
    }, 100);
    const [, length] = await dialled.until(/content-length: (\d+)\r\n/i);
    await until(() => dialled.received.length > 1_000_000, "the first megabyte");
    await expect.poll(() => dialled.received.length).toBeGreaterThanOrEqual(Number(length));
    clearInterval(sip);
  });
});

describe("a client that hangs up", () => {
  test.each([
    ["before anything was sent", 60_000],
    ["while the stream is open", 20],
  ])("%s cancels its call", async (_what, keepAliveMs) => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], keepAliveMs });
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: modern({ name: "slow.wait" }),
    };
    const body = JSON.stringify(message);
    const headers = Object.entries({
      ...modernHeaders(message),
      host: "localhost",
      "content-type": json,
      "content-length": String(body.length),
    });
    const dialled = door.dial();
    dialled.write(
      `POST /mcp HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
    );
    await until(() => slow.running === 1);
    if (keepAliveMs === 20) await dialled.until(/: keep-alive/);
    dialled.socket.destroy();
    await until(() => slow.aborted.length === 1);
    expect(slow.running).toBe(0);
  });

  test("withdraws only its own call", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], keepAliveMs: 20 });
    const stays = askModern(
      door,
      "tools/call",
      { name: "slow.wait", arguments: { ms: 300 } },
      { accept: json },
    );
    const leaves = await openModern(door, "tools/call", modern({ name: "slow.wait" }));
    leaves.cut();
    await until(() => slow.aborted.length === 1);
    expect((await stays).json).toMatchObject({ result: { content: [{ text: "waited" }] } });
    expect(slow.aborted).toHaveLength(1);
  });

  test("leaves nothing behind, a hundred times", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], keepAliveMs: 5 });
    const streams = await Promise.all(
      Array.from({ length: 100 }, () =>
        openModern(door, "tools/call", modern({ name: "slow.wait" })),
      ),
    );
    expect(slow.running).toBe(100);
    for (const stream of streams) stream.cut();
    await until(() => slow.running === 0);
    expect(slow.aborted).toHaveLength(100);
  });
});

describe("subscriptions/listen", () => {
  const everything = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["book://alice"],
  };

  test("is acknowledged first, then sends the requested notifications under its own id", async () => {
    const [changing, library] = [createChangingToolkit(), createLibraryToolkit()];
    await using door = await openDoor({ toolkits: [changing, library] });
    const stream = await openModern(
      door,
      "subscriptions/listen",
      modern({ notifications: everything }),
    );
    expect([stream.status, stream.headers["content-type"]]).toEqual([200, eventStream]);
    const _meta = { [keys.subscription]: 1 };
    expect(await stream.events.message()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: everything, _meta },
    });
    changing.setTools(["one", "two"]);
    expect(await stream.events.message()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      params: { _meta },
    });
    library.setPrompts(["other"]);
    expect(await stream.events.message()).toMatchObject({
      method: "notifications/prompts/list_changed",
      params: { _meta },
    });
    library.touch("book://bob");
    library.touch("book://alice");
    expect(await stream.events.message()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "book://alice", _meta },
    });
    stream.cut();
  });

  test("sends nothing else", async () => {
    const changing = createChangingToolkit();
    await using door = await openDoor({ toolkits: [changing] });
    const stream = await openModern(
      door,
      "subscriptions/listen",
      modern({ notifications: { promptsListChanged: true } }),
    );
    await stream.events.message();
    changing.setTools(["one", "two"]);
    await until(() => door.hall.registry.findTool("changing.two") !== undefined);
    await askModern(door, "tools/list");
    expect(stream.events.messages).toHaveLength(1);
    stream.cut();
  });

  test("names the resources it watches: unknown ones are left out", async () => {
    const library = createLibraryToolkit();
    await using door = await openDoor({ toolkits: [library] });
    const notifications = { resourceSubscriptions: ["book://nobody", "book://alice"] };
    const stream = await openModern(door, "subscriptions/listen", modern({ notifications }));
    expect(await stream.events.message()).toMatchObject({
      params: { notifications: { resourceSubscriptions: ["book://alice"] } },
    });
    library.touch("book://alice");
    expect(await stream.events.message()).toMatchObject({
      method: "notifications/resources/updated",
    });
    stream.cut();
  });

  test("ends when the client closes it, and so do its watches", async () => {
    const library = createLibraryToolkit();
    await using door = await openDoor({ toolkits: [library] });
    const streams = await Promise.all(
      Array.from({ length: 5 }, () =>
        openModern(door, "subscriptions/listen", modern({ notifications: everything })),
      ),
    );
    await Promise.all(streams.map(({ events }) => events.message()));
    expect(library.watchers("book://alice")).toBe(5);
    for (const stream of streams) stream.cut();
    await until(() => library.watchers("book://alice") === 0);
  });

  test("stays open in silence, with something now and then to keep the line", async () => {
    await using door = await openDoor({ toolkits: [], keepAliveMs: 25 });
    const stream = await openModern(
      door,
      "subscriptions/listen",
      modern({ notifications: { toolsListChanged: true } }),
    );
    await until(() => stream.events.comments.length >= 4);
    expect(stream.events.messages).toHaveLength(1);
    stream.cut();
  });

  test("is answered when the hall closes", async () => {
    const door = await openDoor({ toolkits: [] });
    const stream = await openModern(
      door,
      "subscriptions/listen",
      modern({ notifications: { toolsListChanged: true } }),
    );
    await stream.events.message();
    await door.hall.close();
    expect(await stream.events.message()).toMatchObject({
      id: 1,
      result: { resultType: "complete", _meta: { [keys.subscription]: 1 } },
    });
    expect(await happens(stream.events.ended)).toBe(true);
    await door[Symbol.asyncDispose]();
  });

  test.each([
    ["nothing to listen for", {}, -32602],
    ["uris that are none", { notifications: { resourceSubscriptions: [5] } }, -32602],
  ])("%s is an error and no stream", async (_what, params, code) => {
    await using door = await openDoor({ toolkits: [createLibraryToolkit()] });
    const reply = await askModern(door, "subscriptions/listen", params);
    expect([reply.status, reply.headers["content-type"], reply.json]).toMatchObject([
      200,
      json,
      { id: 1, error: { code } },
    ]);
  });
});

describe("questions of the hall", () => {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const asks = (more: JsonObject = {}, name = "asking.one"): JsonObject =>
    modern({ name, arguments: { a: 1 }, ...more }, capabilities);
  const ada = { name: { action: "accept", content: { name: "Ada" } } };

  test("end the POST, and the next one continues where it stopped", async () => {
    const asking = createAskingToolkit();
    await using door = await openDoor({ toolkits: [asking] });
    const first = await askModern(door, "tools/call", asks());
    expect([first.status, first.headers["content-type"]]).toEqual([200, json]);
    const { resultType, inputRequests, requestState } = resultOf(first);
    expect(resultType).toBe("input_required");
    expect(inputRequests).toMatchObject({ name: { method: "elicitation/create" } });
    expect(asking.steps).toEqual(["before"]);
    const second = await askModern(door, "tools/call", asks({ inputResponses: ada, requestState }));
    expect(resultOf(second)).toMatchObject({
      resultType: "complete",
      structuredContent: { ...ada, args: { a: 1 } },
    });
    expect(asking.steps).toEqual(["before", "after"]);
  });

  test("twice in one call: three POSTs, and no state twice", async () => {
    const asking = createAskingToolkit();
    await using door = await openDoor({ toolkits: [asking] });
    const one = resultOf(await askModern(door, "tools/call", asks({}, "asking.twice")));
    const two = resultOf(
      await askModern(
        door,
        "tools/call",
        asks({ inputResponses: ada, requestState: one.requestState }, "asking.twice"),
      ),
    );
    expect(two.resultType).toBe("input_required");
    expect(two.requestState).not.toBe(one.requestState);
    const replayed = await askModern(
      door,
      "tools/call",
      asks({ inputResponses: ada, requestState: one.requestState }, "asking.twice"),
    );
    expect(replayed.json).toMatchObject({ error: { code: -32602 } });
    const three = await askModern(
      door,
      "tools/call",
      asks({ inputResponses: ada, requestState: two.requestState }, "asking.twice"),
    );
    expect(resultOf(three)).toMatchObject({ resultType: "complete" });
    expect(asking.steps).toEqual(["first", "second"]);
  });

  test("a state is good for its caller only: local and token are two", async () => {
    await using door = await openDoor({ toolkits: [createAskingToolkit()] });
    const token = { authorization: `Bearer ${doorToken}` };
    for (const [mine, theirs] of [
      [{}, token],
      [token, {}],
    ]) {
      const { requestState } = resultOf(await askModern(door, "tools/call", asks(), mine));
      const stolen = await askModern(
        door,
        "tools/call",
        asks({ inputResponses: ada, requestState }),
        theirs,
      );
      expect([stolen.status, stolen.json]).toMatchObject([200, { error: { code: -32602 } }]);
      // The theft that failed has not used it up.
      const own = await askModern(
        door,
        "tools/call",
        asks({ inputResponses: ada, requestState }),
        mine,
      );
      expect(resultOf(own)).toMatchObject({ resultType: "complete", structuredContent: ada });
    }
  });

  test("a state is good for its own request only", async () => {
    await using door = await openDoor({ toolkits: [createAskingToolkit()] });
    const { requestState } = resultOf(await askModern(door, "tools/call", asks()));
    const state = String(requestState);
    const flipped = `${state.slice(0, -1)}${state.endsWith("A") ? "B" : "A"}`;
    const others = [
      asks({ inputResponses: ada, requestState }, "asking.other"),
      asks({ inputResponses: ada, requestState, arguments: { a: 2 } }),
      asks({ inputResponses: ada, requestState: `${state}-TAMPERED` }),
      asks({ inputResponses: ada, requestState: flipped }),
    ];
    for (const params of others)
      expect((await askModern(door, "tools/call", params)).json).toMatchObject({
        error: { code: -32602 },
      });
    expect(
      resultOf(await askModern(door, "tools/call", asks({ inputResponses: ada, requestState }))),
    ).toMatchObject({ resultType: "complete" });
  });

  test("a client that drops the socket after the question can still answer it", async () => {
    const asking = createAskingToolkit();
    await using door = await openDoor({ toolkits: [asking] });
    const stream = await openModern(door, "tools/call", asks());
    await stream.events.ended;
    stream.cut();
    const { result } = JSON.parse(stream.events.text) as { result: JsonObject };
    const reply = await askModern(
      door,
      "tools/call",
      asks({ inputResponses: ada, requestState: result.requestState }),
    );
    expect(resultOf(reply)).toMatchObject({ resultType: "complete" });
    expect(asking.steps).toEqual(["before", "after"]);
  });
});

describe("the rest of the door", () => {
  test("a modern POST is served at / too", async () => {
    await using door = await openDoor({ toolkits: [] });
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params: modern() };
    const reply = await door.send({ path: "/", body: message, headers: modernHeaders(message) });
    expect([reply.status, resultOf(reply)]).toMatchObject([
      200,
      { supportedVersions: [modernVersion] },
    ]);
  });

  test("both eras side by side on one socket", async () => {
    await using door = await openDoor({ toolkits: [createEchoToolkit()] });
    for (let n = 0; n < 3; n++) {
      expect((await askModern(door, "tools/list")).status).toBe(200);
      const handshake = {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} },
      };
      const legacy = await door.send({ body: handshake });
      expect(legacy.headers["mcp-session-id"]).toBeDefined();
      // A modern request that carries an old id is modern all the same.
      const mixed = await askModern(
        door,
        "tools/list",
        {},
        { "mcp-session-id": String(legacy.headers["mcp-session-id"]) },
      );
      expect(resultOf(mixed).resultType).toBe("complete");
    }
  });

  test("requests are refused while the hall closes", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow] });
    const running = askModern(door, "tools/call", { name: "slow.wait", arguments: { ms: 300 } });
    await until(() => slow.running === 1);
    const closing = door.hall.close(2_000);
    const late = await askModern(door, "tools/list");
    expect([late.status, late.headers.connection, late.json]).toMatchObject([
      503,
      "close",
      { error: { data: { error_type: "unavailable" } } },
    ]);
    expect(late.json).not.toHaveProperty("id");
    // It lives, and wants no more.
    expect((await door.send({ method: "GET", path: "/health" })).status).toBe(200);
    expect((await door.send({ method: "GET", path: "/ready" })).status).toBe(503);
    expect(resultOf(await running)).toMatchObject({ content: [{ text: "waited" }] });
    await closing;
  });
});
