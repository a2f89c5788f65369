// Legacy sessions when their hall leaves or is killed, and streams that are cut.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { until } from "../servers/until.ts";
import { type Cluster, startCluster } from "../store/cluster.ts";
import { type HttpAnswer, post, said, startTeam, type Team } from "./team.ts";

let cluster: Cluster;
let team: Team;

beforeAll(async () => {
  cluster = await startCluster();
  team = await startTeam(cluster);
});
afterAll(async () => {
  await team?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

const urlOf = (hall: number): string => team.halls[hall]?.url ?? "";

interface Session {
  readonly headers: Record<string, string>;
  say(url: string, message: JsonObject): Promise<HttpAnswer>;
  read(url: string, id: string): Promise<HttpAnswer>;
}

async function initialize(url: string): Promise<Session> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "editor", version: "1" },
  };
  const greeted = await post(url, { jsonrpc: "2.0", id: 0, method: "initialize", params });
  const headers = { "mcp-session-id": String(greeted.headers["mcp-session-id"]) };
  const say: Session["say"] = (at, message) => post(at, { jsonrpc: "2.0", ...message }, headers);
  await say(url, { method: "notifications/initialized" });
  let ids = 0;
  return {
    headers,
    say,
    read: (at, id) =>
      say(at, {
        id: ++ids,
        method: "tools/call",
        params: { name: "work__read", arguments: { id } },
      }),
  };
}

interface Event {
  readonly id: string | undefined;
  readonly message: JsonObject;
}

/** The messages of a stream with the ids of their events. */
async function* readStream(stream: Response): AsyncGenerator<Event, undefined> {
  let rest = "";
  for await (const bytes of stream.body ?? []) {
    rest += Buffer.from(bytes).toString();
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(\\S.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      if (data !== undefined) yield { id: field("id"), message: JSON.parse(data) };
    }
  }
  return undefined;
}

/** Calls the tool that asks, on a stream. Resolves with its question. */
async function askQuestion(url: string, { headers }: Session, id: string) {
  const ending = new AbortController();
  const params = { name: "work__ask", arguments: { id } };
  const stream = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 99, method: "tools/call", params }),
    signal: ending.signal,
  });
  if (stream.headers.get("content-type") !== "text/event-stream")
    throw new Error(`no question, but ${stream.status} ${await stream.text()}`);
  const events = readStream(stream);
  const { value: question } = await events.next();
  expect(question?.message).toMatchObject({ method: "elicitation/create" });
  const answer = { action: "accept", content: { word: `word for ${id}` } };
  return {
    lastId: question?.id,
    reply: { id: question?.message.id, result: answer },
    events,
    cut: () => ending.abort(),
  };
}

test("a stream that is cut is resumed through another hall, with the answer that came meanwhile", async () => {
  const session = await initialize(urlOf(0));
  const { lastId, reply, cut } = await askQuestion(urlOf(1), session, "cut");
  cut();
  expect((await session.say(urlOf(2), reply)).status).toBe(202);
  await until(() => team.done().includes("ask cut"), "the tool has its answer");
  const resumed = await fetch(`${urlOf(2)}/mcp`, {
    headers: { ...session.headers, accept: "text/event-stream", "last-event-id": String(lastId) },
  });
  const { value: event } = await readStream(resumed).next();
  expect([event?.message.id, JSON.stringify(event?.message.result)]).toEqual([
    99,
    expect.stringContaining("word for cut"),
  ]);
});

test("the sessions of a hall that leaves go on in the others under their ids, and it ends in time", async () => {
  const idle = await initialize(urlOf(0));
  const busy = await initialize(urlOf(0));
  await idle.say(urlOf(0), {
    id: "watch",
    method: "resources/subscribe",
    params: { uri: "work://notes" },
  });
  const { reply, events } = await askQuestion(urlOf(0), busy, "late");
  const leaving = team.halls[0];
  const first = urlOf(0);
  leaving?.process.child.kill("SIGTERM");
  await until(async () => (await fetch(`${first}/ready`)).status === 503, "it is not ready");

  // A session without running requests is taken over once, whichever halls are asked at the same time.
  const halls = [first, urlOf(1), urlOf(2), first, urlOf(1), urlOf(2)];
  const answers = await Promise.all(halls.map((url, at) => idle.read(url, `moved${at}`)));
  expect(answers.map(said)).toMatchObject(halls.map((_, at) => ({ id: `moved${at}` })));
  // One that runs something gets its answer, and is taken over then.
  expect((await busy.say(urlOf(2), reply)).status).toBe(202);
  const { value: answered } = await events.next();
  expect(JSON.stringify(answered?.message.result)).toContain("word for late");
  expect((await leaving?.process.exited)?.code).toBe(0);

  for (const session of [idle, busy])
    for (const hall of [1, 2, 1, 2])
      expect(said(await session.read(urlOf(hall), `after${hall}`))).toMatchObject({
        id: `after${hall}`,
      });
  // Still the session of its caller only, and ended for all when it is ended.
  const { stdout } = await team.run(1, "token", "create", "other", "--json");
  const stranger = { ...idle.headers, authorization: `Bearer ${JSON.parse(stdout).token}` };
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const hall of [1, 2]) expect((await post(urlOf(hall), list, stranger)).status).toBe(404);
  const headers = idle.headers;
  expect((await fetch(`${urlOf(1)}/mcp`, { method: "DELETE", headers })).status).toBe(204);
  for (const hall of [1, 2])
    await until(
      async () => (await idle.read(urlOf(hall), "ended")).status === 404,
      "the session has ended",
    );
});

test("a session whose hall was killed is unknown, and its client initialises again", async () => {
  const session = await initialize(urlOf(1));
  expect(said(await session.read(urlOf(2), "before"))).toMatchObject({ id: "before" });
  team.halls[1]?.process.child.kill("SIGKILL");
  await team.halls[1]?.process.exited;
  await until(
    async () => (await session.read(urlOf(2), "killed")).status === 404,
    "its session is unknown",
  );
  const next = await initialize(urlOf(2));
  expect(said(await next.read(urlOf(2), "again"))).toMatchObject({ id: "again" });
});
