import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { legacyVersions } from "../../src/server/client-request.ts";
import type { Outcome } from "../../src/tool.ts";
import { clientInfo } from "../servers/client.ts";
import { type Door, doorToken, openDoor, untilCut } from "../servers/door.ts";
import { call, greet } from "../servers/door-clients.ts";
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
 * Streamable HTTP as the versions with a handshake know it: a connection behind an id, a stream for
 * each POST, one for the rest.
 */
const list = (id: unknown): JsonObject => ({ jsonrpc: "2.0", id, method: "tools/list" });
const cancel = (requestId: unknown): JsonObject => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});
const answerTo = (id: unknown, result: JsonObject): JsonObject => ({ jsonrpc: "2.0", id, result });
const initialize = (params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo, ...params },
});
const statusOf = async (door: Door, id: string): Promise<number> =>
  (await door.send({ body: list(1), headers: { "mcp-session-id": id } })).status;

describe("the handshake", () => {
  test.each(legacyVersions)("%s: greets, lists, calls, leaves", async (version) => {
    await using door = await openDoor({ toolkits: [createEchoToolkit()] });
    const reply = await door.send({ body: initialize({ protocolVersion: version }) });
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(reply.json).toMatchObject({
      id: 1,
      result: { protocolVersion: version, serverInfo: { name: "guildhall" } },
    });
    const id = String(reply.headers["mcp-session-id"]);
    expect(id).toMatch(/^[\x21-\x7e]{22,256}$/);
    // Versions before 2025-06-18 have no header for theirs.
    const headers = {
      "mcp-session-id": id,
      ...(version >= "2025-06-18" ? { "mcp-protocol-version": version } : {}),
    };
    expect(
      await door.send({ body: { jsonrpc: "2.0", method: "notifications/initialized" }, headers }),
    ).toMatchObject({ status: 202, text: "" });
    expect((await door.send({ body: list(2), headers })).json).toMatchObject({
      id: 2,
      result: { tools: [{ name: "echo__echo" }, { name: "echo__typed" }] },
    });
    expect(
      (await door.send({ body: call("three", "echo.echo", { a: 1 }), headers })).json,
    ).toMatchObject({
      id: "three",
      result: { structuredContent: { a: 1 } },
    });
    expect(await door.send({ method: "DELETE", headers })).toMatchObject({ status: 204, text: "" });
    expect((await door.send({ body: list(4), headers })).status).toBe(404);
    expect((await door.send({ method: "GET", headers })).status).toBe(404);
    expect((await door.send({ method: "DELETE", headers })).status).toBe(404);
  });

  test("an unknown version is answered with the newest of its kind", async () => {
    await using door = await openDoor({ toolkits: [] });
    expect(
      (await door.send({ body: initialize({ protocolVersion: "2020-01-01" }) })).json,
    ).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });

  test("one that fails leaves no connection behind, and names none", async () => {
    await using door = await openDoor({ toolkits: [], sessionsMax: 1 });
    const kept = await greet(door);
    const reply = await door.send({ body: initialize({ clientInfo: "me" }) });
    expect([reply.status, reply.json]).toMatchObject([400, { id: 1, error: { code: -32600 } }]);
    expect(reply.headers).not.toHaveProperty("mcp-session-id");
    // And nobody had to make room for it.
    expect(await statusOf(door, kept.id)).toBe(200);
  });

  test("calls may overtake notifications/initialized", async () => {
    await using door = await openDoor({ toolkits: [createEchoToolkit()] });
    const { headers } = await door.send({ body: initialize() });
    const reply = await door.send({
      body: call(2, "echo.echo"),
      headers: { "mcp-session-id": String(headers["mcp-session-id"]) },
    });
    expect(reply.json).toMatchObject({ id: 2, result: {} });
  });

  test("every connection has an id of its own, and ids of requests do not meet across them", async () => {
    await using door = await openDoor({ toolkits: [createEchoToolkit(), createSlowToolkit()] });
    const sessions = await Promise.all(Array.from({ length: 50 }, () => greet(door)));
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(50);
    const answers = await Promise.all(
      sessions.map((session, n) => session.send(call(1, "echo.echo", { n }))),
    );
    expect(answers.map(({ json }) => json?.result)).toMatchObject(
      sessions.map((_, n) => ({ structuredContent: { n } })),
    );
  });
});

describe("how long a connection lives", () => {
  test("an idle one is forgotten, one in use is not", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    await using door = await openDoor({ toolkits: [], sessionIdleMsMax: 60_000 });
    const [idle, used, listening] = [await greet(door), await greet(door), await greet(door)];
    const stream = await listening.listen();
    for (let n = 0; n < 8; n++) {
      expect(await statusOf(door, used.id)).toBe(200);
      vi.advanceTimersByTime(30_000);
    }
    expect(await statusOf(door, idle.id)).toBe(404);
    expect(await statusOf(door, used.id)).toBe(200);
    expect(await statusOf(door, listening.id)).toBe(200);
    stream.cut();
  });

  test("past the limit those that idle longest go first; those in use stay", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], sessionsMax: 3 });
    const [first, second, third] = [await greet(door), await greet(door), await greet(door)];
    const running = first.send(call(1, "slow.wait", { ms: 600 }));
    await until(() => slow.running === 1);
    const stream = await second.listen();
    await greet(door);
    expect(await statusOf(door, third.id)).toBe(404);
    expect(await statusOf(door, second.id)).toBe(200);
    expect((await running).json).toMatchObject({
      id: 1,
      result: { content: [{ text: "waited" }] },
    });
    stream.cut();
  });

  test("when all are in use the next one is asked to retry later", async () => {
    await using door = await openDoor({ toolkits: [], sessionsMax: 2 });
    const streams = [await (await greet(door)).listen(), await (await greet(door)).listen()];
    const reply = await door.send({ body: initialize() });
    expect([reply.status, reply.headers["retry-after"], reply.json]).toMatchObject([
      503,
      "5",
      { error: { data: { error_type: "overloaded" } } },
    ]);
    for (const stream of streams) stream.cut();
    await expect.poll(async () => (await door.send({ body: initialize() })).status).toBe(200);
  });

  test("running calls of an ended session are answered, and its streams end", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow] });
    const session = await greet(door);
    const stream = await session.listen();
    const running = session.send(call(1, "slow.wait"));
    await until(() => slow.running === 1);
    expect((await door.send({ method: "DELETE", headers: session.headers })).status).toBe(204);
    expect((await running).json).toMatchObject({ id: 1, result: { isError: true } });
    expect(await happens(stream.events.ended)).toBe(true);
    expect(slow.aborted).toHaveLength(1);
  });
});

describe("the stream of a GET", () => {
  test("announces changed lists and resources", async () => {
    const [changing, library] = [createChangingToolkit(), createLibraryToolkit()];
    await using door = await openDoor({ toolkits: [changing, library] });
    const session = await greet(door);
    const stream = await session.listen();
    expect([stream.status, stream.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    expect(stream.headers).toMatchObject({
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    await session.send({
      jsonrpc: "2.0",
      id: 1,
      method: "resources/subscribe",
      params: { uri: "book://alice" },
    });
    changing.setTools(["one", "two"]);
    expect(await stream.events.message()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
    });
    library.touch("book://bob");
    library.touch("book://alice");
    expect(await stream.events.message()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "book://alice" },
    });
    await session.send({
      jsonrpc: "2.0",
      id: 2,
      method: "resources/unsubscribe",
      params: { uri: "book://alice" },
    });
    library.touch("book://alice");
    library.setPrompts(["other"]);
    expect(await stream.events.message()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/prompts/list_changed",
    });
    stream.cut();
  });

  test("announcements without a listener are not lost", async () => {
    const changing = createChangingToolkit();
    await using door = await openDoor({ toolkits: [changing] });
    const session = await greet(door);
    changing.setTools(["one", "two"]);
    await until(() => door.hall.registry.findTool("changing.two") !== undefined);
    const stream = await session.listen();
    expect(await stream.events.message()).toMatchObject({
      method: "notifications/tools/list_changed",
    });
    stream.cut();
  });

  test("a second one takes the place of the first", async () => {
    const changing = createChangingToolkit();
    await using door = await openDoor({ toolkits: [changing] });
    const session = await greet(door);
    const first = await session.listen();
    const second = await session.listen();
    expect(second.status).toBe(200);
    expect(await happens(first.events.ended)).toBe(true);
    changing.setTools(["one", "two"]);
    expect(await second.events.message()).toMatchObject({
      method: "notifications/tools/list_changed",
    });
    expect(first.events.messages).toEqual([]);
    // The end of the first is not the end of the second.
    expect(await statusOf(door, session.id)).toBe(200);
    changing.setTools(["three"]);
    expect(await second.events.message()).toMatchObject({
      method: "notifications/tools/list_changed",
    });
    second.cut();
  });

  test("resumes with the id of the last event, and misses nothing", async () => {
    const library = createLibraryToolkit();
    await using door = await openDoor({ toolkits: [library] });
    const session = await greet(door);
    await session.send({
      jsonrpc: "2.0",
      id: 1,
      method: "resources/subscribe",
      params: { uri: "book://alice" },
    });
    const stream = await session.listen();
    library.touch("book://alice");
    await stream.events.message();
    const last = stream.events.events.at(-1)?.id;
    stream.cut();
    for (let n = 0; n < 3; n++) library.touch("book://alice");
    const again = await session.listen(last);
    for (let n = 0; n < 3; n++)
      expect(await again.events.message()).toMatchObject({
        method: "notifications/resources/updated",
      });
    const ids = again.events.events.filter(({ data }) => data).map(({ id }) => id);
    expect(new Set([last, ...ids]).size).toBe(4);
    again.cut();
  });

  test.each(["nonsense", "0", "99-1", "-1-1", "1e3-1", "9".repeat(40), "0-0-0", "constructor"])(
    "Last-Event-ID %s is refused",
    async (last) => {
      await using door = await openDoor({ toolkits: [] });
      const session = await greet(door);
      const reply = await door.send({
        method: "GET",
        headers: { ...session.headers, accept: "text/event-stream", "last-event-id": last },
      });
      expect([reply.status, reply.json]).toMatchObject([
        400,
        { id: null, error: { code: -32600 } },
      ]);
    },
  );

  test("needs a client that reads events", async () => {
    await using door = await openDoor({ toolkits: [] });
    const session = await greet(door);
    expect(
      (
        await door.send({
          method: "GET",
          headers: { ...session.headers, accept: "application/json" },
        })
      ).status,
    ).toBe(406);
  });

  test("ends with the hall", async () => {
    const door = await openDoor({ toolkits: [] });
    const stream = await (await greet(door)).listen();
    await door[Symbol.asyncDispose]();
    expect(await happens(stream.events.ended)).toBe(true);
  });
});

describe("the stream of a POST", () => {
  test("is plain JSON when the answer is quick and alone, events when something precedes it", async () => {
    await using door = await openDoor({
      toolkits: [createReportingToolkit(), createSlowToolkit()],
      streamAfterMs: 100,
    });
    const session = await greet(door, { version: "2025-06-18" });
    expect((await session.open(list(1))).headers["content-type"]).toBe("application/json");
    const steps = await session.open(
      call(
        2,
        "reporting.steps",
        {
          progress: [
            [1, 2],
            [2, 2],
          ],
        },
        { _meta: { progressToken: "p" } },
      ),
    );
    expect(steps.headers["content-type"]).toBe("text/event-stream");
    await steps.events.ended;
    expect(steps.events.messages).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "p", progress: 1 } },
      { method: "notifications/progress", params: { progressToken: "p", progress: 2 } },
      { id: 2, result: {} },
    ]);
    const slow = await session.open(call(3, "slow.wait", { ms: 250 }));
    expect(slow.headers["content-type"]).toBe("text/event-stream");
    await slow.events.ended;
    expect(slow.events.messages).toMatchObject([
      { id: 3, result: { content: [{ text: "waited" }] } },
    ]);
  });

  test("logs go to the call they belong to, and not to the GET", async () => {
    await using door = await openDoor({ toolkits: [createReportingToolkit()] });
    const session = await greet(door);
    const general = await session.listen();
    await session.send({
      jsonrpc: "2.0",
      id: 1,
      method: "logging/setLevel",
      params: { level: "critical" },
    });
    const stream = await session.open(call(2, "reporting.logs"));
    await stream.events.ended;
    expect(
      stream.events.messages.map(({ method, params, id }) =>
        method ? (params as JsonObject).level : id,
      ),
    ).toEqual(["critical", "alert", "emergency", 2]);
    expect(general.events.messages).toEqual([]);
    general.cut();
  });

  test("many run at once, each with its own answer", async () => {
    await using door = await openDoor({
      toolkits: [createSlowToolkit(), createReportingToolkit()],
      streamAfterMs: 10,
    });
    const session = await greet(door);
    const streams = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        session.open(
          n % 2
            ? call(n, "slow.wait", { ms: 100 - n })
            : call(
                n,
                "reporting.steps",
                { progress: [[n + 1]], pauseMs: 50 },
                { _meta: { progressToken: n } },
              ),
        ),
      ),
    );
    await Promise.all(streams.map(({ events }) => events.ended));
    streams.forEach(({ events }, n) => {
      const ids = events.messages.map(
        ({ id, params }) => id ?? (params as JsonObject).progressToken,
      );
      expect(new Set(ids)).toEqual(new Set([n]));
      expect(events.messages.at(-1)).toMatchObject({ id: n, result: {} });
    });
  });

  test("an id that is still running is refused, and the first is unharmed", async () => {
    const slow = createSlowToolkit();
    const toolkits = [slow, createEchoToolkit()];
    await using door = await openDoor({ toolkits, streamAfterMs: 60_000 });
    const session = await greet(door);
    const running = session.send(call(7, "slow.wait"));
    await until(() => slow.running === 1);
    const second = await session.send(call(7, "echo.echo"));
    expect([second.status, second.json]).toMatchObject([400, { id: 7, error: { code: -32600 } }]);
    // A text is not a number.
    expect((await session.send(call("7", "echo.echo"))).json).toMatchObject({
      id: "7",
      result: {},
    });
    slow.finish();
    expect((await running).json).toMatchObject({
      id: 7,
      result: { content: [{ text: "waited" }] },
    });
    expect((await session.send(call(7, "echo.echo"))).json).toMatchObject({ id: 7, result: {} });
  });

  test("is let go of when the client withdraws the call, and so is the connection", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], sessionsMax: 1, streamAfterMs: 50 });
    const session = await greet(door);
    const quick = session.open(call(1, "slow.wait"));
    const streaming = await session.open(call(2, "slow.wait"));
    await until(() => slow.running === 2);
    expect((await session.send(cancel(1))).status).toBe(202);
    expect((await session.send(cancel(2))).status).toBe(202);
    expect(slow.aborted).toHaveLength(2);
    for (const { events } of [await quick, streaming]) {
      expect(await happens(events.ended)).toBe(true);
      expect(events.messages).toEqual([]);
    }
    // No session is busy any more: there is room for another.
    expect((await door.send({ body: initialize() })).status).toBe(200);
  });

  test("calls that were withdrawn leave nothing behind, however many", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow] });
    const session = await greet(door);
    for (let id = 0; id < 50; id++) {
      const running = session.open(call(id, "slow.wait"));
      await until(() => slow.running === 1);
      await session.send(cancel(id));
      expect(await happens(running.then(({ events }) => events.ended))).toBe(true);
    }
    expect((await session.send(call(0, "slow.wait", { ms: 1 }))).json).toMatchObject({
      id: 0,
      result: {},
    });
  });

  test("a client that never reads its answer is disconnected", async () => {
    let answered = false;
    const run = (): Outcome => {
      answered = true;
      return text("x".repeat(9 * 1024 * 1024));
    };
    await using door = await openDoor({
      toolkits: [createToolkit("big", { answer: { run } })],
      stalledMsMax: 500,
    });
    const session = await greet(door);
    const body = JSON.stringify(call(1, "big.answer"));
    const dialled = door.dial();
    dialled.socket.pause();
    dialled.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nMcp-Session-Id: ${session.id}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => answered);
    await untilCut(door, dialled);
    const gone = new Promise((resolve) => dialled.socket.on("close", resolve).on("end", resolve));
    dialled.socket.resume();
    expect(await happens(gone)).toBe(true);
    expect(dialled.received.length).toBeLessThan(9 * 1024 * 1024);
  });
});

describe("questions of the hall", () => {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };

  test.each(["2025-06-18", "2025-11-25"])(
    "%s: come on the stream of the call and are answered by a POST",
    async (version) => {
      await using door = await openDoor({ toolkits: [createAskingToolkit()] });
      const session = await greet(door, { version, capabilities });
      const general = await session.listen();
      const stream = await session.open(call(1, "asking.many"));
      const answers: Record<string, JsonObject> = {
        "elicitation/create": { action: "accept", content: { name: "Ada" } },
        "sampling/createMessage": {
          role: "assistant",
          model: "m",
          content: { type: "text", text: "a poem" },
        },
        "roots/list": { roots: [{ uri: "file:///here" }] },
      };
      for (let n = 0; n < 3; n++) {
        const question = await stream.events.message();
        const reply = await session.send(
          answerTo(question.id, answers[String(question.method)] ?? {}),
        );
        expect([reply.status, reply.text]).toEqual([202, ""]);
      }
      expect(await stream.events.message()).toMatchObject({
        id: 1,
        result: {
          structuredContent: {
            name: answers["elicitation/create"],
            poem: answers["sampling/createMessage"],
            roots: answers["roots/list"],
          },
        },
      });
      expect(await happens(stream.events.ended)).toBe(true);
      expect(general.events.messages).toEqual([]);
      general.cut();
    },
  );

  test("are asked on each call's own stream", async () => {
    await using door = await openDoor({ toolkits: [createAskingToolkit()] });
    const session = await greet(door, { capabilities });
    const streams = await Promise.all(
      [1, 2, 3, 4].map((n) => session.open(call(n, "asking.one", { n }))),
    );
    const asked = await Promise.all(streams.map(({ events }) => events.message()));
    expect(new Set(asked.map(({ id }) => id)).size).toBe(4);
    for (const index of [2, 0, 3, 1])
      await session.send(answerTo(asked[index]?.id, { action: "accept", content: { index } }));
    const answers = await Promise.all(streams.map(({ events }) => events.message()));
    expect(answers).toMatchObject(
      [0, 1, 2, 3].map((index) => ({
        id: index + 1,
        result: { structuredContent: { name: { content: { index } }, args: { n: index + 1 } } },
      })),
    );
  });

  test("can be refused, by an error", async () => {
    await using door = await openDoor({ toolkits: [createAskingToolkit()] });
    const session = await greet(door, { capabilities });
    const stream = await session.open(call(1, "asking.one"));
    const { id } = await stream.events.message();
    expect(
      (await session.send({ jsonrpc: "2.0", id, error: { code: -1, message: "no user here" } }))
        .status,
    ).toBe(202);
    expect(await stream.events.message()).toMatchObject({ id: 1, result: { isError: true } });
  });

  test("cannot be answered from another connection", async () => {
    await using door = await openDoor({ toolkits: [createAskingToolkit()] });
    const [asked, other] = [
      await greet(door, { capabilities }),
      await greet(door, { capabilities }),
    ];
    const stream = await asked.open(call(1, "asking.one"));
    const { id } = await stream.events.message();
    await other.send(answerTo(id, { action: "accept", content: { name: "Eve" } }));
    await asked.send(answerTo(id, { action: "accept", content: { name: "Ada" } }));
    expect(await stream.events.message()).toMatchObject({
      result: { structuredContent: { name: { content: { name: "Ada" } } } },
    });
  });

  test("a client without the capability is not asked", async () => {
    await using door = await openDoor({ toolkits: [createAskingToolkit()] });
    const session = await greet(door, { capabilities: { roots: {} } });
    expect((await session.send(call(1, "asking.one"))).json).toMatchObject({
      id: 1,
      error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } },
    });
  });
});

describe("a client that loses its socket", () => {
  test("does not lose its call: the answer waits on a GET", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], streamAfterMs: 20 });
    const session = await greet(door);
    const stream = await session.open(call(1, "slow.wait"));
    const { id: last } = await stream.events.next();
    stream.cut();
    expect((await session.send(list(2))).status).toBe(200);
    expect(slow.running).toBe(1);
    const again = await session.listen(last);
    slow.finish();
    expect(await again.events.message()).toMatchObject({
      id: 1,
      result: { content: [{ text: "waited" }] },
    });
    expect(await happens(again.events.ended)).toBe(true);
    expect(slow.aborted).toEqual([]);
  });

  test("gets the rest of a call that ended meanwhile", async () => {
    const reporting = createReportingToolkit();
    await using door = await openDoor({ toolkits: [reporting] });
    const session = await greet(door);
    const stream = await session.open(
      call(
        1,
        "reporting.steps",
        { progress: [[1], [2], [3]], pauseMs: 60 },
        { _meta: { progressToken: "p" } },
      ),
    );
    await stream.events.message();
    const last = stream.events.events.at(-1)?.id;
    stream.cut();
    await until(() => reporting.finished === 1);
    expect(await statusOf(door, session.id)).toBe(200);
    const again = await session.listen(last);
    await again.events.ended;
    expect(again.events.messages).toMatchObject([
      { params: { progress: 2 } },
      { params: { progress: 3 } },
      { id: 1, result: {} },
    ]);
    // And again, for as long as it is kept.
    const third = await session.listen(last);
    await third.events.ended;
    expect(third.events.messages).toEqual(again.events.messages);
  });

  test("does not cancel by it, even before anything was sent", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow] });
    const session = await greet(door);
    const dialled = door.dial();
    const body = JSON.stringify(call(1, "slow.wait", { ms: 200 }));
    dialled.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nMcp-Session-Id: ${session.id}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => slow.running === 1);
    dialled.socket.destroy();
    await until(() => slow.running === 0);
    expect(slow.aborted).toEqual([]);
    expect((await session.send(call(1, "slow.wait", { ms: 1 }))).json).toMatchObject({
      id: 1,
      result: {},
    });
  });

  test("gets the question of the lost stream again on the GET", async () => {
    await using door = await openDoor({ toolkits: [createAskingToolkit()], streamAfterMs: 10 });
    const session = await greet(door, { capabilities: { elicitation: {} } });
    const stream = await session.open(call(1, "asking.one"));
    const { id: priming } = await stream.events.next();
    stream.cut();
    const again = await session.listen(priming);
    const question = await again.events.message();
    expect(question).toMatchObject({ method: "elicitation/create" });
    await session.send(answerTo(question.id, { action: "accept", content: { name: "Ada" } }));
    expect(await again.events.message()).toMatchObject({
      id: 1,
      result: { structuredContent: { name: { content: { name: "Ada" } } } },
    });
  });

  test("cannot come back to the streams of others", async () => {
    await using door = await openDoor({ toolkits: [createSlowToolkit()], streamAfterMs: 10 });
    const [mine, other] = [
      await greet(door),
      await greet(door, { headers: { authorization: `Bearer ${doorToken}` } }),
    ];
    const stream = await mine.open(call(1, "slow.wait", { ms: 200 }));
    const { id: last } = await stream.events.next();
    expect((await other.listen(last)).status).toBe(400);
    await stream.events.ended;
    expect(stream.events.messages).toMatchObject([{ id: 1, result: {} }]);
  });
});

describe("polling", () => {
  test("2025-11-25: the stream of a long call ends early, and the client polls for the answer", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], streamAfterMs: 30, pollAfterMs: 100 });
    const session = await greet(door);
    const stream = await session.open(call(1, "slow.wait"));
    const first = await stream.events.next();
    expect(first).toMatchObject({
      id: expect.stringMatching(/^[\x21-\x7e]+$/),
      retry: expect.stringMatching(/^\d+$/),
      data: "",
    });
    await stream.events.ended;
    expect(stream.events.messages).toEqual([]);
    let last = first.id;
    let answer: JsonObject | undefined;
    let comings = 0;
    for (; !answer; comings++) {
      if (comings === 2) slow.finish();
      const again = await session.listen(last);
      expect(again.status).toBe(200);
      await again.events.ended;
      last = again.events.events.at(-1)?.id ?? last;
      [answer] = again.events.messages;
    }
    expect(answer).toMatchObject({ id: 1, result: { content: [{ text: "waited" }] } });
    expect(comings).toBeGreaterThan(1);
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18"])(
    "%s: no empty event, and the stream stays until the answer",
    async (version) => {
      await using door = await openDoor({
        toolkits: [createSlowToolkit()],
        streamAfterMs: 30,
        pollAfterMs: 60,
      });
      const session = await greet(door, { version });
      const stream = await session.open(call(1, "slow.wait", { ms: 300 }));
      await stream.events.ended;
      expect(stream.events.events).toHaveLength(1);
      expect(stream.events.events[0]).toMatchObject({
        retry: undefined,
        data: expect.stringContaining('"waited"'),
      });
      const general = await session.listen();
      expect(await statusOf(door, session.id)).toBe(200);
      expect(general.events.events).toEqual([]);
      general.cut();
    },
  );

  test("silent streams are kept alive", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow], streamAfterMs: 10, keepAliveMs: 30 });
    const session = await greet(door);
    const general = await session.listen();
    const stream = await session.open(call(1, "slow.wait"));
    await until(() => [stream, general].every(({ events }) => events.comments.length > 3));
    slow.finish();
    await stream.events.ended;
    general.cut();
  });
});

describe("batches, in 2025-03-26", () => {
  const version = "2025-03-26";

  test("are answered as one array, in JSON", async () => {
    await using door = await openDoor({ toolkits: [createEchoToolkit()] });
    const session = await greet(door, { version });
    const reply = await session.send([
      list(1),
      call("two", "echo.echo", { n: 2 }),
      { jsonrpc: "2.0", method: "notifications/nope" },
      5,
      call(3, "nope"),
    ]);
    expect(reply.status).toBe(200);
    const answers = reply.json as unknown as JsonObject[];
    expect(answers).toHaveLength(4);
    expect(answers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 1, result: expect.anything() }),
        expect.objectContaining({ id: "two", result: expect.anything() }),
        expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
        expect.objectContaining({ id: 3, error: expect.objectContaining({ code: -32602 }) }),
      ]),
    );
  });

  test("of notifications and answers only are accepted with 202", async () => {
    await using door = await openDoor({ toolkits: [] });
    const session = await greet(door, { version });
    const reply = await session.send([
      { jsonrpc: "2.0", method: "notifications/nope" },
      answerTo(99, {}),
    ]);
    expect([reply.status, reply.text]).toEqual([202, ""]);
  });

  test.each([
    ["an empty one", "[]"],
    ["one with nothing readable in it", "[1,2]"],
    [
      "one with too many messages",
      JSON.stringify(
        Array.from({ length: 1_001 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })),
      ),
    ],
  ])("%s is refused on its own POST", async (_what, body) => {
    await using door = await openDoor({ toolkits: [] });
    const session = await greet(door, { version });
    const general = await session.listen();
    const reply = await session.send(body);
    expect([reply.status, reply.text.includes("-32600")]).toEqual([400, true]);
    expect(await statusOf(door, session.id)).toBe(200);
    expect(general.events.messages).toEqual([]);
    general.cut();
  });

  test("messages before the answers arrive on the stream of the batch, for every request in it", async () => {
    await using door = await openDoor({
      toolkits: [createReportingToolkit(), createAskingToolkit()],
    });
    const session = await greet(door, {
      version,
      capabilities: { sampling: {}, elicitation: {}, roots: {} },
    });
    const general = await session.listen();
    const steps = (id: number): JsonObject =>
      call(id, "reporting.steps", { progress: [[id]] }, { _meta: { progressToken: id } });
    const stream = await session.open([steps(1), steps(2), call(3, "asking.many")]);
    const heard: JsonObject[] = [];
    while (heard.length < 5) {
      const message = await stream.events.message();
      heard.push(message);
      if (message.id !== undefined)
        await session.send([
          answerTo(
            message.id,
            message.method === "roots/list" ? { roots: [] } : { action: "decline" },
          ),
        ]);
    }
    expect(heard.map(({ method }) => method).sort()).toEqual(
      [
        "elicitation/create",
        "notifications/progress",
        "notifications/progress",
        "roots/list",
        "sampling/createMessage",
      ].sort(),
    );
    const last = (await stream.events.message()) as unknown as JsonObject[];
    expect(last.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
    expect(general.events.messages).toEqual([]);
    general.cut();
  });

  test("with an id that is still running is refused, at any position", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow] });
    const session = await greet(door, { version });
    const running = session.send(call(2, "slow.wait", { ms: 200 }));
    await until(() => slow.running === 1);
    const reply = await session.send([list(1), list(2)]);
    const refused =
      reply.status === 400
        ? reply.json
        : (reply.json as unknown as JsonObject[]).find(({ id }) => id === 2);
    expect(refused).toMatchObject({ id: 2, error: { code: -32600 } });
    expect((await running).json).toMatchObject({
      id: 2,
      result: { content: [{ text: "waited" }] },
    });
  });

  test("whose calls are all withdrawn are let go of", async () => {
    const slow = createSlowToolkit();
    await using door = await openDoor({ toolkits: [slow] });
    const session = await greet(door, { version });
    const running = session.open([call(1, "slow.wait"), call(2, "slow.wait")]);
    await until(() => slow.running === 2);
    await session.send([cancel(1), cancel(2)]);
    expect(await happens(running.then(({ events }) => events.ended))).toBe(true);
  });
});

describe("answers that cannot be sent", () => {
  test("are errors like any other", async () => {
    await using door = await openDoor({ toolkits: [createHeavyToolkit()] });
    const session = await greet(door);
    for (const name of ["cycle", "bigint", "throwing", "large"]) {
      const reply = await session.send(call(name, `heavy.${name}`));
      expect(reply.status).toBe(200);
      expect(reply.json).toMatchObject({ id: name });
      expect(reply.text.length).toBeLessThan(10_000);
    }
  });
});

test("a message whose body arrives after the hall has closed its connections is refused, not left without an answer", async () => {
  await using door = await openDoor({ toolkits: [createSlowToolkit()] });
  const session = await greet(door);
  const dialled = door.dial();
  const body = JSON.stringify(call(1, "slow.wait", { ms: 1 }));
  dialled.write(
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nMcp-Session-Id: ${session.id}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await dialled.until(/100 Continue/);
  await door.hall.server.close(0);
  dialled.write(body);
  await dialled.until(/HTTP\/1\.1 503[\s\S]*"id":1\b/);
  expect(dialled.received).toContain("the hall is shutting down");
});
