import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import {
  CreateMessageRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { openDoor } from "../servers/door.ts";
import { connectPair } from "../servers/door-clients.ts";
import {
  createAskingToolkit,
  createChangingToolkit,
  createEchoToolkit,
  createLibraryToolkit,
  createReportingToolkit,
  createSlowToolkit,
  said,
} from "../servers/toolkits.ts";
import { happens, until } from "../servers/until.ts";

/** The transport of 2024-11-05: a stream that says where to post, and posts that are answered on the stream. */
const ping = (id: unknown): JsonObject => ({ jsonrpc: "2.0", id, method: "ping" });

test("the first event names the endpoint, which is unguessable", async () => {
  await using door = await openDoor({ toolkits: [] });
  const [one, two] = [await connectPair(door), await connectPair(door)];
  expect(one.stream.headers["content-type"]).toBe("text/event-stream");
  expect(one.endpoint).toMatch(/^\/messages\?sessionId=[\w-]{22,}$/);
  expect(one.endpoint).not.toBe(two.endpoint);
  one.close();
  two.close();
});

test("a message is accepted with 202 and answered on the stream, as an event named message", async () => {
  await using door = await openDoor({ toolkits: [createEchoToolkit()] });
  const client = await connectPair(door);
  expect(await client.greet("2024-11-05")).toMatchObject({ protocolVersion: "2024-11-05" });
  expect(
    await client.result("tools/call", { name: "echo.echo", arguments: { a: "1\n2" } }),
  ).toMatchObject({ structuredContent: { a: "1\n2" } });
  const reply = await door.send({ path: client.endpoint, body: ping("p") });
  expect([reply.status, reply.text]).toEqual([202, ""]);
  expect(await client.answer("p")).toEqual({ jsonrpc: "2.0", id: "p", result: {} });
  expect(
    client.stream.events.events
      .slice(1)
      .every(({ event, id }) => event === "message" && id === undefined),
  ).toBe(true);
  client.close();
});

test("progress, questions and changes come on the stream too", async () => {
  const changing = createChangingToolkit();
  await using door = await openDoor({
    toolkits: [createReportingToolkit(), createAskingToolkit(), changing],
  });
  const client = await connectPair(door);
  await client.greet("2024-11-05", { elicitation: {} });
  const id = client.ask("tools/call", {
    name: "reporting.steps",
    arguments: { progress: [[1]] },
    _meta: { progressToken: "p" },
  });
  expect(await client.heard("notifications/progress")).toMatchObject({
    params: { progressToken: "p", progress: 1 },
  });
  expect(said(await client.answer(id))).toBe("reported");
  const asking = client.ask("tools/call", { name: "asking.one" });
  const question = await client.heard("elicitation/create");
  client.send({
    jsonrpc: "2.0",
    id: question.id,
    result: { action: "accept", content: { name: "Ada" } },
  });
  expect(await client.answer(asking)).toMatchObject({
    result: { structuredContent: { name: { content: { name: "Ada" } } } },
  });
  changing.setTools(["two"]);
  await client.heard("notifications/tools/list_changed");
  client.close();
});

test("a modern request is served as well", async () => {
  await using door = await openDoor({ toolkits: [createEchoToolkit()] });
  const client = await connectPair(door);
  expect(
    await client.result("tools/call", modern({ name: "echo.echo", arguments: {} })),
  ).toMatchObject({ resultType: "complete" });
  client.close();
});

describe("posts that go nowhere", () => {
  test.each([
    "/messages",
    "/messages?sessionId=",
    "/messages?sessionId=nobody",
    "/messages?sessionid=x",
    "/messages?sessionId=__proto__",
  ])("%s is 404", async (path) => {
    await using door = await openDoor({ toolkits: [] });
    const reply = await door.send({ path, body: ping(1) });
    expect([reply.status, reply.json]).toMatchObject([404, { error: { code: -32600 } }]);
  });

  test("the id of one transport does not work on the other", async () => {
    await using door = await openDoor({ toolkits: [] });
    const client = await connectPair(door);
    const id = new URL(client.endpoint, door.url).searchParams.get("sessionId") ?? "";
    expect((await door.send({ body: ping(1), headers: { "mcp-session-id": id } })).status).toBe(
      404,
    );
    client.close();
  });

  test("an invalid message is refused, and the connection stays open", async () => {
    await using door = await openDoor({ toolkits: [] });
    const client = await connectPair(door);
    await client.greet("2024-11-05");
    expect(
      (
        await door.send({
          path: client.endpoint,
          body: ping(1),
          headers: { "content-type": "text/plain" },
        })
      ).status,
    ).toBe(415);
    for (const [body, code] of [
      ["{", -32700],
      ["[]", -32600],
      ["42", -32600],
    ] as const) {
      expect([202, 400]).toContain((await door.send({ path: client.endpoint, body })).status);
      expect(await client.next()).toMatchObject({ id: null, error: { code } });
    }
    expect(await client.result("ping")).toEqual({});
    client.close();
  });
});

describe("the end of the stream", () => {
  test("ends everything: running calls are cancelled, and the endpoint is gone", async () => {
    const [slow, library] = [createSlowToolkit(), createLibraryToolkit()];
    await using door = await openDoor({ toolkits: [slow, library] });
    const client = await connectPair(door);
    await client.greet("2024-11-05");
    await client.result("resources/subscribe", { uri: "book://alice" });
    client.ask("tools/call", { name: "slow.wait" });
    await until(() => slow.running === 1);
    client.close();
    await until(() => slow.aborted.length === 1);
    expect(library.watchers("book://alice")).toBe(0);
    expect((await door.send({ path: client.endpoint, body: ping(1) })).status).toBe(404);
  });

  test("follows the end of the hall", async () => {
    const door = await openDoor({ toolkits: [] });
    const client = await connectPair(door);
    await door[Symbol.asyncDispose]();
    expect(await happens(client.stream.events.ended)).toBe(true);
  });

  test("a stream in silence is kept alive", async () => {
    await using door = await openDoor({ toolkits: [], keepAliveMs: 20 });
    const client = await connectPair(door);
    await until(() => client.stream.events.comments.length > 3);
    client.close();
  });
});

test("past the limit the next one is asked to retry later", async () => {
  await using door = await openDoor({ toolkits: [], sessionsMax: 2 });
  const clients = [await connectPair(door), await connectPair(door)];
  const reply = await door.send({ method: "GET", path: "/sse" });
  expect([reply.status, reply.headers["retry-after"]]).toEqual([503, "5"]);
  clients[0]?.close();
  await expect
    .poll(async () =>
      connectPair(door).then(
        (client) => client.close(),
        () => "full",
      ),
    )
    .toBeUndefined();
});

test("SDK 1 over its SSE transport: calls, questions, notifications, cancels, close", async () => {
  const [slow, changing] = [createSlowToolkit(), createChangingToolkit()];
  await using door = await openDoor({
    toolkits: [createEchoToolkit(), createAskingToolkit(), slow, changing],
  });
  const client = new Client(
    { name: "sse-test", version: "1" },
    { capabilities: { sampling: {}, roots: {}, elicitation: {} } },
  );
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: "assistant",
    model: "m",
    content: { type: "text", text: "a poem" },
  }));
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  await client.connect(new SSEClientTransport(new URL(`${door.url}/sse`)));
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo__echo");
  expect(await client.callTool({ name: "echo.echo", arguments: { a: 1 } })).toMatchObject({
    structuredContent: { a: 1 },
  });
  await expect(client.callTool({ name: "nope" })).rejects.toMatchObject({ code: -32602 });
  changing.setTools(["two"]);
  await expect.poll(() => changes).toBe(1);
  const stop = new AbortController();
  const waiting = client.callTool({ name: "slow.wait" }, undefined, { signal: stop.signal });
  await until(() => slow.running === 1);
  stop.abort("enough");
  await expect(waiting).rejects.toThrow();
  await until(() => slow.aborted.length === 1);
  await client.close();
});
