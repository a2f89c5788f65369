import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { createMemoryClient } from "../servers/memory-client.ts";
import { questions } from "../servers/toolkits.ts";
import { faulty, startUpstreams, type UpstreamHall } from "../servers/upstreams.ts";

/** A server's question reaches a person who trusts the hall: it names the server, and goes to one client only. */
const everything = { elicitation: { form: {}, url: {} }, sampling: { context: {} }, roots: {} };
const ada = { action: "accept", content: { name: "Ada" } };

async function startBox(words: string): Promise<UpstreamHall> {
  const hall = await startUpstreams({ box: faulty(words) });
  await hall.untilListed("box.ask");
  return hall;
}

async function greeted(hall: UpstreamHall, principal?: string): Promise<RawClient> {
  const client = createMemoryClient(hall.hall, principal === undefined ? {} : { principal });
  await client.greet("2025-11-25", everything);
  return client;
}

/** Messages that it was sent without asking, except for list changes. */
function heardBy({ received }: RawClient): readonly JsonObject[] {
  return received.filter(
    ({ method }) => method !== undefined && !String(method).endsWith("list_changed"),
  );
}

describe.each(["legacy", "modern"])("a %s server", (era) => {
  test("that asks a person as if it were the hall is named first", async () => {
    await using hall = await startBox(`${era} ask`);
    const client = await greeted(hall);
    for (const params of [
      questions.name.params,
      { mode: "url", url: "https://evil.example", elicitationId: "1" },
    ]) {
      const requests = {
        name: {
          method: "elicitation/create",
          params: { ...params, message: "Allow this call?\n\nfiles.read" },
        },
      };
      const id = client.ask("tools/call", { name: "box.ask", arguments: { requests } });
      const question = await client.heard("elicitation/create");
      expect(question).toMatchObject({
        params: { ...params, message: 'The server "box" asks:\n\nAllow this call?\n\nfiles.read' },
      });
      client.send({ jsonrpc: "2.0", id: question.id, result: ada });
      expect(JSON.stringify(await client.answer(id))).toContain("Ada");
    }
  });

  test("that wants the client's model to see everything the client knows gets its own words answered only", async () => {
    await using hall = await startBox(`${era} ask`);
    const client = await greeted(hall);
    const requests = {
      poem: {
        ...questions.poem,
        params: { ...questions.poem.params, includeContext: "allServers" },
      },
    };
    client.ask("tools/call", { name: "box.ask", arguments: { requests } });
    expect((await client.heard("sampling/createMessage")).params).toMatchObject(
      questions.poem.params,
    );
    expect(
      client.received.find(({ method }) => method === "sampling/createMessage")?.params,
    ).not.toHaveProperty("includeContext");
  });
});

test("a server does not speak in the hall's name", async () => {
  await using hall = await startUpstreams({ box: faulty("hall_words") });
  await hall.untilListed("box.hall_words");
  const { result } = await hall.client.request("tools/call", { name: "box.hall_words" });
  expect(result).toEqual({
    content: [{ type: "text", text: "no" }],
    isError: true,
    _meta: { "example.com/x": 1 },
  });
});

test.each<[string, unknown]>([
  ["nothing", null],
  ["a method of its own choice", { method: "tools/call", params: { name: "files.delete" } }],
  ["params that are none", { method: "roots/list", params: [1] }],
])("a modern server that asks for %s asks nobody", async (_what, request) => {
  await using hall = await startBox("modern ask");
  const params = { name: "box.ask", arguments: { requests: { evil: request } } };
  for (const client of [await greeted(hall), hall.connect()]) {
    const { result, error } = await client.request(
      "tools/call",
      client.received.length > 0 ? params : modern(params, everything),
    );
    expect(JSON.stringify(result ?? error)).toContain("bad_answer");
    expect(heardBy(client)).toEqual([]);
  }
});

test("a question that names no call is refused while several people use the connection", async () => {
  await using hall = await startBox("legacy ask hang log");
  const [alice, bob] = [await greeted(hall, "alice"), await greeted(hall, "bob")];
  // The server is up, and reads both calls before it asks.
  await alice.request("tools/call", { name: "box.ask", arguments: { requests: {} } });
  const asking = alice.ask("tools/call", {
    name: "box.ask",
    arguments: { requests: { name: questions.name } },
  });
  bob.ask("tools/call", { name: "box.hang" });
  expect(JSON.stringify(await alice.answer(asking))).toContain("-32601");
  await bob.request("logging/setLevel", { level: "debug" });
  expect([...heardBy(alice), ...heardBy(bob)]).toEqual([]);
  // From now on each of them is served by a process of its own.
  await alice.request("tools/call", { name: "box.log" });
  expect(heardBy(alice)).toMatchObject([{ method: "notifications/message" }]);
  expect(heardBy(bob)).toEqual([]);
});

test("and goes to the only person if all calls are theirs", async () => {
  await using hall = await startBox("legacy ask hang");
  const client = await greeted(hall, "alice");
  client.ask("tools/call", { name: "box.hang" });
  const asking = client.ask("tools/call", {
    name: "box.ask",
    arguments: { requests: { name: questions.name } },
  });
  client.send({
    jsonrpc: "2.0",
    id: (await client.heard("elicitation/create")).id,
    result: ada as JsonObject,
  });
  expect(JSON.stringify(await client.answer(asking))).toContain("Ada");
});
