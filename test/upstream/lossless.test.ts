/** One test for each message that a gateway may lose or change on its way between a client and a server. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { RawClient } from "../servers/client.ts";
import { until } from "../servers/until.ts";
import {
  callTool,
  faulty,
  saidJson,
  startUpstreams,
  type UpstreamHall,
} from "../servers/upstreams.ts";

const file = fileURLToPath(new URL("../servers/scripted-steps.mjs", import.meta.url));
const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

async function startRaw(): Promise<UpstreamHall> {
  const hall = await startUpstreams({ raw: faulty("", { args: [file] }) });
  await hall.untilListed("raw.do");
  return hall;
}

async function join(hall: UpstreamHall, capabilities: JsonObject = everything): Promise<RawClient> {
  const client = hall.connect();
  await client.greet("2025-11-25", capabilities);
  return client;
}

const steps = (...list: readonly JsonObject[]): JsonObject => ({ steps: list });
const params = ({ params: found }: JsonObject): JsonObject => found as JsonObject;

/** The messages with this method that the server got. */
async function upstream(client: RawClient, method: string): Promise<readonly JsonObject[]> {
  const heard = saidJson(await callTool(client, "raw.heard")) as JsonObject[];
  return heard.filter((message) => message.method === method);
}

test("all progress of a short burst arrives, and the last one before the answer", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  const burst = (count: number) =>
    steps(...Array.from({ length: count }, (_, n) => ({ progress: n + 1 })));
  const told = (): readonly unknown[] =>
    client.received
      .filter(({ method }) => method === "notifications/progress")
      .map((message) => params(message).progress);

  await callTool(client, "raw.do", burst(10), { progressToken: "a" });
  expect(told()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  client.received.length = 0;
  await callTool(client, "raw.do", burst(500), { progressToken: "b" });
  expect(told().at(-1)).toBe(500);
  expect(told().length).toBeGreaterThanOrEqual(20);
  expect(client.received.at(-1)?.result).toBeDefined();
});

test("a result of text arrives as it was sent, with all its other fields", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  const texts = ['"quoted" \\ /', "line\nbreak \u0000 \u2028 \ud83d\ude00 \ud800", ""];
  const content = texts.map((text) => ({ type: "text", text }));
  const results: readonly JsonObject[] = [
    { content },
    { content, isError: false },
    { content, isError: true },
    { content, json: '{"content":[]}' },
    { content: [], structuredContent: { a: 1 } },
  ];
  for (const result of results) {
    const answer = await callTool(client, "raw.do", steps({ result }));
    expect(answer.result).toEqual({ isError: false, ...result });
  }
});

test("the reason of a cancellation reaches the server", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  const id = client.ask("tools/call", { name: "raw.do", arguments: steps({ sleep: 60_000 }) });
  await until(
    async () => (await upstream(client, "tools/call")).length >= 2,
    "the server has the call",
  );
  client.notify("notifications/cancelled", { requestId: id, reason: "the user pressed escape" });
  const notices = await until(async () => {
    const found = await upstream(client, "notifications/cancelled");
    return found.length > 0 ? found : undefined;
  }, "the server hears of it");
  expect(notices.map(params)).toMatchObject([{ reason: "the user pressed escape" }]);
});

test("a client's refusal of a question reaches the server with code, message and data", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  const request = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
  const id = client.ask("tools/call", { name: "raw.do", arguments: steps({ request }) });
  const question = await client.heard("sampling/createMessage");
  const error = { code: -1, message: "User rejected sampling request", data: { by: "Ada" } };
  client.send({ jsonrpc: "2.0", id: question.id, error });
  expect(saidJson(await client.answer(id))).toEqual([{ error }]);
});

test.each([
  ["roots", {}, { method: "roots/list" }, -32_601],
  ["a question", {}, { method: "elicitation/create", params: { message: "?" } }, -32_601],
  [
    "a web page",
    { elicitation: { form: {} } },
    { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://x.y" } },
    -32_602,
  ],
  [
    "tools for its model",
    { sampling: {} },
    { method: "sampling/createMessage", params: { messages: [], maxTokens: 1, tools: [] } },
    -32_602,
  ],
])(
  "a server that asks a client for %s it does not support gets an error of its own version",
  async (_what, capabilities, request, code) => {
    await using hall = await startRaw();
    const client = await join(hall, capabilities);
    const answer = await callTool(client, "raw.do", steps({ request }));
    expect(saidJson(answer)).toMatchObject([{ error: { code } }]);
  },
);

test("sampling with tools and pages of apps are declared to servers with a handshake", async () => {
  await using hall = await startRaw();
  const [greeting] = await upstream(await join(hall), "initialize");
  expect(params(greeting ?? {}).capabilities).toEqual({
    roots: { listChanged: true },
    sampling: { tools: {} },
    elicitation: { form: {}, url: {} },
    extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
  });
});

test("extensions of a server are declared to clients", async () => {
  await using hall = await startRaw();
  expect(await hall.connect().greet()).toMatchObject({
    capabilities: { extensions: { "example.com/maps": { zoom: 3 } } },
  });
});

test("a client's progress on a question reaches the server under the server's token", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  const request = {
    method: "elicitation/create",
    params: {
      message: "?",
      requestedSchema: { type: "object", properties: {} },
      _meta: { progressToken: "mine" },
    },
  };
  const id = client.ask("tools/call", { name: "raw.do", arguments: steps({ request }) });
  const question = await client.heard("elicitation/create");
  const { progressToken } = params(question)._meta as JsonObject;
  expect(progressToken).not.toBe("mine");
  client.notify("notifications/progress", { progressToken, progress: 1, message: "typing" });
  client.send({ jsonrpc: "2.0", id: question.id, result: { action: "decline" } });
  await client.answer(id);
  expect((await upstream(client, "notifications/progress")).map(params)).toEqual([
    { progressToken: "mine", progress: 1, message: "typing" },
  ]);
});

test("the end of a URL flow reaches the client that was sent there, after the call too", async () => {
  await using hall = await startRaw();
  const [ada, bob] = [await join(hall), await join(hall)];
  const done = (elicitationId: string) => ({
    notify: { method: "notifications/elicitation/complete", params: { elicitationId } },
  });
  await callTool(bob, "raw.do");
  const request = {
    method: "elicitation/create",
    params: { mode: "url", message: "?", url: "https://x.y", elicitationId: "e1" },
  };
  const id = ada.ask("tools/call", {
    name: "raw.do",
    arguments: { steps: [{ request }], later: [done("e1")] },
  });
  const question = await ada.heard("elicitation/create");
  ada.send({ jsonrpc: "2.0", id: question.id, result: { action: "accept" } });
  await ada.answer(id);
  ada.notify("notifications/roots/list_changed");
  expect((await ada.heard("notifications/elicitation/complete")).params).toEqual({
    elicitationId: "e1",
  });

  const error = {
    code: -32_042,
    message: "visit first",
    data: {
      elicitations: [{ mode: "url", elicitationId: "e2", url: "https://x.y", message: "?" }],
    },
  };
  const refused = await callTool(ada, "raw.do", { steps: [{ error }], later: [done("e2")] });
  expect(refused.error).toEqual(error);
  ada.notify("notifications/roots/list_changed");
  expect((await ada.heard("notifications/elicitation/complete")).params).toEqual({
    elicitationId: "e2",
  });
  await bob.request("ping");
  expect(bob.received.filter(({ method }) => String(method).includes("elicitation"))).toEqual([]);
});

test("a log message outside of calls reaches the clients that use the server, at their level", async () => {
  await using hall = await startRaw();
  const [ada, bob, other] = [await join(hall), await join(hall), await join(hall)];
  await bob.request("logging/setLevel", { level: "error" });
  await callTool(bob, "raw.do");
  const log = (level: string) => ({
    notify: { method: "notifications/message", params: { level, logger: "job", data: level } },
  });
  await callTool(ada, "raw.do", { later: [log("info"), log("error")] });
  ada.notify("notifications/roots/list_changed");
  for (const [client, levels] of [
    [ada, ["info", "error"]],
    [bob, ["error"]],
  ] as const)
    for (const level of levels)
      expect((await client.heard("notifications/message")).params).toEqual({
        level,
        logger: "raw/job",
        data: level,
      });
  await Promise.all([bob, other].map((client) => client.request("ping")));
  for (const client of [bob, other])
    expect(client.unread.filter(({ method }) => method === "notifications/message")).toEqual([]);
});

test("a level that a client sets later reaches the server at once", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  await callTool(client, "raw.do");
  await client.request("logging/setLevel", { level: "debug" });
  await until(
    async () => (await upstream(await join(hall), "logging/setLevel")).length === 2,
    "the server has both levels",
  );
});

test("changed roots are announced to the server, which may ask for them outside of calls", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  await callTool(client, "raw.do", { later: [{ request: { method: "roots/list" } }] });
  client.notify("notifications/roots/list_changed");
  const question = await client.heard("roots/list");
  client.send({ jsonrpc: "2.0", id: question.id, result: { roots: [{ uri: "file:///a" }] } });
  expect(await upstream(client, "notifications/roots/list_changed")).toHaveLength(1);
  const heard = saidJson(await callTool(client, "raw.heard")) as JsonObject[];
  expect(heard).toContainEqual(
    expect.objectContaining({ result: { roots: [{ uri: "file:///a" }] } }),
  );
});

test("resources that a result links and pages that a tool names can be read and watched, though not listed", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  const result = {
    content: [{ type: "resource_link", uri: "hidden://1", name: "h" }],
  };
  const read = (uri: string): Promise<JsonObject> => client.request("resources/read", { uri });
  expect((await read("hidden://1")).error).toMatchObject({ code: -32_002 });
  await callTool(client, "raw.do", steps({ result }));
  for (const uri of ["hidden://1", "ui://app", "raw://not-listed"])
    expect((await read(uri)).result).toEqual({ contents: [{ uri, text: `text of ${uri}` }] });
  expect((await client.request("resources/subscribe", { uri: "hidden://1" })).result).toEqual({});
});

test("a subscription is answered by the server, with its error too", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  const uri = "raw://x/refused";
  expect((await client.request("resources/subscribe", { uri })).error).toMatchObject({
    code: -32_000,
    message: "no subscriptions today",
  });
  await client.request("resources/subscribe", { uri: "raw://listed" });
  expect((await upstream(client, "resources/subscribe")).map(params)).toEqual([
    { uri },
    { uri: "raw://listed" },
  ]);
});

test("null for an optional argument that allows none is left out", async () => {
  await using hall = await startRaw();
  const client = await join(hall);
  expect(saidJson(await callTool(client, "raw.app", { zone: null, other: null }))).toEqual({
    other: null,
  });
});
