import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { tablesOf } from "../../src/store/schema.ts";
import { until } from "../servers/until.ts";
import { type Cluster, startCluster } from "../store/cluster.ts";
import { startService } from "./service.ts";
import {
  ask,
  call,
  decline,
  greeting,
  type HttpAnswer,
  post,
  said,
  startTeam,
  type Team,
} from "./team.ts";

/** Three halls behind a balancer act as one. */
let cluster: Cluster;
let team: Team;

/** The tables of the version before, with a call. */
const lastTables = `${tablesOf("postgresql", 2)}
  CREATE TABLE version (number integer NOT NULL); INSERT INTO version VALUES (2);
  ${insertCall("before")}`;

/** As a hall of that version writes it: without the columns that were added. */
function insertCall(id: string): string {
  return `INSERT INTO calls (id, root, at, caller, connection, tool, outcome, ms, bytes_in, bytes_out, bucket)
    VALUES ('${id}', '${id}', ${Date.now()}, 'local', 'c', 'work.${id}', 'ok', 1, 1, 1, 1);`;
}

const countLimit = { perSecond: 10, burst: 10 };

beforeAll(async () => {
  cluster = await startCluster();
  const tasks = fileURLToPath(new URL("../servers/tasks.mjs", import.meta.url));
  team = await startTeam(cluster, {
    servers: { tasks: { command: process.execPath, args: [tasks, "legacy"] } },
    tables: lastTables,
    env: {
      "GUILDHALL__LIMITS__TOOLS__work.count__PERSECOND": String(countLimit.perSecond),
      "GUILDHALL__LIMITS__TOOLS__work.count__BURST": String(countLimit.burst),
    },
  });
});

afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

test("a review on one machine counts on all", async () => {
  for (const [index, { url }] of team.halls.entries())
    expect(said(await call(url, "read", `r${index}`))).toMatchObject({ id: `r${index}` });
});

test("agents that were approved on one machine are used by all", async () => {
  const { stdout } = await team.run(0, "groups", "list", "--json");
  const [{ name }] = JSON.parse(stdout).groups;
  const task = { name, arguments: { task: "read r0" } };
  for (const { url } of team.halls)
    await until(async () => {
      const { result } = (await ask(url, "tools/call", task)).body;
      return (result as JsonObject | undefined)?.isError === false;
    }, "the agent runs");
});

test("a question is answered through whichever hall the answer reaches", async () => {
  for (let index = 0; index < 6; index++) {
    const first = await call(team.url, "ask", `q${index}`);
    const { resultType, requestState, inputRequests } = first.body.result as JsonObject;
    expect(resultType).toBe("input_required");
    const [key = ""] = Object.keys(inputRequests as JsonObject);
    const answer = { action: "accept", content: { word: `w${index}` } };
    const more = { requestState, inputResponses: { [key]: answer } };
    expect(said(await call(team.url, "ask", `q${index}`, more))).toMatchObject({
      id: `q${index}`,
      word: `w${index}`,
    });
    // Used once, in every hall.
    const again = await call(team.url, "ask", `q${index}`, more);
    expect(again.body.error).toMatchObject({ code: -32602 });
  }
  expect(team.done().filter((line) => line.startsWith("ask"))).toHaveLength(6);
});

test("an approval that one hall asks for is given through another, and lets the call through once", async () => {
  for (const [index, { url }] of team.halls.entries()) {
    const id = `asked${index}`;
    const { requestState, inputRequests } = (await call(url, "change", id)).body
      .result as JsonObject;
    const [key = ""] = Object.keys(inputRequests as JsonObject);
    const answer = { action: "accept", content: { decision: "once" } };
    const more = { requestState, inputResponses: { [key]: answer } };
    const other = team.halls[(index + 1) % team.halls.length]?.url ?? "";
    expect(said(await call(other, "change", id, more))).toMatchObject({ id });
    expect(team.done().filter((line) => line === `change ${id}`)).toHaveLength(1);
    const next = await call(other, "change", id);
    await decline(other, id, next);
  }
});

test("a legacy session is known to all halls, and one whose hall has ended is unknown", async () => {
  const { headers } = await post(team.url, greeting);
  const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
  await post(team.url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  for (let id = 2; id < 8; id++) {
    const params = { name: "work__read", arguments: { id: `s${id}` } };
    const answer = await post(
      team.url,
      { jsonrpc: "2.0", id, method: "tools/call", params },
      session,
    );
    expect([answer.body.id, said(answer).id]).toEqual([id, `s${id}`]);
  }
  const gone = { "mcp-session-id": "0123456789ab.somethingelse" };
  const answer = await post(team.url, { jsonrpc: "2.0", id: 9, method: "tools/list" }, gone);
  expect(answer.status).toBe(404);
});

test("a grant and its revocation hold in every hall when the command has ended", async () => {
  const denied = await call(team.halls[2]?.url ?? "", "change", "before");
  await decline(team.halls[2]?.url ?? "", "before", denied);
  expect((await team.run(0, "trust", "work.change")).stderr).toBe("");
  for (const [index, { url }] of team.halls.entries())
    expect(said(await call(url, "change", `c${index}`))).toMatchObject({ id: `c${index}` });
  await team.run(1, "revoke", "work.change");
  for (const { url } of team.halls) await decline(url, "after", await call(url, "change", "after"));
  expect(team.done()).toEqual(expect.arrayContaining(["change c0", "change c1", "change c2"]));
  expect(team.done()).not.toContain("change after");
});

test("an approval given at one hall releases the call that waits in another", async () => {
  const url = team.halls[2]?.url ?? "";
  const { headers } = await post(url, greeting);
  const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
  const params = { name: "work__change", arguments: { id: "approved" } };
  const waiting = post(url, { jsonrpc: "2.0", id: 2, method: "tools/call", params }, session);
  const token = await until(async () => {
    const { stdout } = await team.run(0, "approvals", "--json");
    const waits: readonly JsonObject[] = JSON.parse(stdout);
    return waits.find(({ preview }) => String(preview).includes("approved"))?.token;
  }, "the first hall shows what waits in the third");
  const approved = await team.run(0, "approve", String(token));
  expect(approved.stderr).toBe("");
  expect(said(await waiting)).toMatchObject({ id: "approved" });
  expect(team.done().filter((line) => line === "change approved")).toHaveLength(1);
});

test("a task that one hall began is followed, answered and read through the others", async () => {
  const capabilities = {
    elicitation: { form: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  };
  const result = async (method: string, params: JsonObject): Promise<JsonObject> =>
    (await ask(team.url, method, params, { capabilities })).body.result as JsonObject;
  const params = { name: "tasks__work", arguments: { asks: true } };
  const { taskId } = await result("tools/call", params);
  const untilTask = (status: string): Promise<JsonObject> =>
    until(async () => {
      const task = await result("tasks/get", { taskId });
      return task.status === status ? task : undefined;
    }, `the task is ${status}`);
  const { inputRequests } = await untilTask("input_required");
  const [key = ""] = Object.keys(inputRequests as JsonObject);
  const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } };
  await result("tasks/update", { taskId, inputResponses });
  expect((await untilTask("completed")).result).toMatchObject({
    content: [{ text: "done for Ada" }],
  });
  // Each request came on a connection of its own, so all halls had some of them.
  for (const { url } of team.halls)
    expect((await ask(url, "tasks/get", { taskId }, { capabilities })).body.result).toMatchObject({
      status: "completed",
    });
});

test("the messages of an event stream are taken by any hall, and answered on the stream", async () => {
  const [first, ...others] = team.halls;
  const ending = new AbortController();
  const stream = await fetch(`${first?.url}/sse`, {
    headers: { accept: "text/event-stream" },
    signal: ending.signal,
  });
  const events = readEvents(stream);
  const endpoint = await events.next();
  const say = async (url: string, message: JsonObject): Promise<number> => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const headers = { "content-type": "application/json" };
    return (await fetch(`${url}${endpoint}`, { method: "POST", headers, body })).status;
  };
  const initialize = { ...greeting.params, protocolVersion: "2024-11-05" };
  expect(await say(others[0]?.url ?? "", { ...greeting, params: initialize })).toBe(202);
  expect(JSON.parse(await events.next())).toMatchObject({ id: 1 });
  await say(others[1]?.url ?? "", { method: "notifications/initialized" });
  for (const [at, { url }] of team.halls.entries()) {
    const params = { name: "work__read", arguments: { id: `sse${at}` } };
    await say(url, { id: at + 2, method: "tools/call", params });
    const answer = JSON.parse(await events.next());
    expect([answer.id, JSON.stringify(answer.result)]).toEqual([
      at + 2,
      expect.stringContaining(`sse${at}`),
    ]);
  }
  ending.abort();
  await until(
    async () => (await say(others[0]?.url ?? "", { id: 9, method: "ping" })) === 404,
    "the connection has ended",
  );
});

/** The data of each event, one after the other. */
function readEvents(stream: Response): { next(): Promise<string> } {
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    async next() {
      for (;;) {
        const data = /^data: ?(.*)\n/m.exec(rest);
        if (data) {
          rest = rest.slice(data.index + data[0].length);
          return data[1] ?? "";
        }
        const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) throw new Error("the stream has ended");
        rest += value;
      }
    },
  };
}

test("a question to a legacy session is answered through another hall than the one that asks", async () => {
  const [first, second, third] = team.halls.map(({ url }) => url);
  const params = { ...greeting.params, capabilities: { elicitation: {} } };
  const { headers } = await post(first ?? "", { ...greeting, params });
  const session = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-session-id": String(headers["mcp-session-id"]),
  };
  const say = (url: string | undefined, message: JsonObject): Promise<Response> =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: session,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const call = { name: "work__ask", arguments: { id: "legacy" } };
  const events = readEvents(await say(second, { id: 2, method: "tools/call", params: call }));
  const next = async (): Promise<JsonObject> => {
    const data = await events.next();
    return data === "" ? next() : JSON.parse(data);
  };
  const asked = await next();
  expect(asked).toMatchObject({ method: "elicitation/create" });
  const result = { action: "accept", content: { word: "far" } };
  expect((await say(third, { id: asked.id ?? null, result })).status).toBe(202);
  const answer = await next();
  expect([answer.id, JSON.stringify(answer.result)]).toEqual([2, expect.stringContaining("far")]);
  expect(team.done().filter((line) => line === "ask legacy")).toHaveLength(1);
});

test("an approval given after its call has failed lets the next attempt through, in any hall, once", async () => {
  const params = {
    tool_name: "work",
    function_name: "change",
    arguments: { id: "retried" },
  };
  // A call that is not approved fails when this is over, and can still be approved.
  const attempt = async (hall: number, timeout: number): Promise<JsonObject> => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, timeout } };
    return (await post(team.halls[hall]?.url ?? "", message)).body;
  };
  const refused = { error: { data: { error_type: "approval_needed" } } };
  expect(await attempt(2, 0.5)).toMatchObject(refused);
  const { stdout } = await team.run(0, "approvals", "--json");
  const waits: readonly JsonObject[] = JSON.parse(stdout);
  const token = waits.find(({ preview }) => String(preview).includes("retried"))?.token;
  expect((await team.run(0, "approve", String(token))).stderr).toBe("");
  expect(await attempt(1, 60)).toMatchObject({ result: { status: "completed" } });
  expect(await attempt(2, 0.5)).toMatchObject(refused);
  expect(team.done().filter((line) => line === "change retried")).toHaveLength(1);
});

test("halls take over the tables of the previous version, and a hall of that version continues", async () => {
  const { schema } = team;
  expect(await cluster.query(`SELECT number, added FROM ${schema}.version`)).toEqual([
    { number: 2, added: 3 },
  ]);
  await cluster.query(`SET search_path = ${schema}; ${insertCall("during")}`);
  for (const id of ["before", "during"]) {
    const { stdout } = await team.run(1, "audit", "--tool", `work.${id}`, "--json");
    expect(stdout).toContain(`work.${id}`);
  }
  const verified = await team.run(2, "audit", "verify");
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
});

test("a toolkit that is registered in one hall is called through another, and gone from all when it is removed", async () => {
  await using service = await startService();
  const file = join(team.home, "weather.json");
  const parameters = { type: "object", properties: { place: { type: "string" } } };
  const forecast = { name: "forecast", description: "The forecast for a place.", parameters };
  const weather = { name: "weather", description: "Forecasts", category: "DATA", version: "1.0.0" };
  const { url: endpoint } = service;
  writeFileSync(file, JSON.stringify({ ...weather, endpoint, functions: [forecast] }));
  expect((await team.run(0, "register", file)).stderr).toBe("");
  const params = { name: "weather__forecast", arguments: { place: "Lima" } };
  for (const { url } of team.halls)
    expect(JSON.stringify((await ask(url, "tools/call", params)).body)).toContain("rain in Lima");
  expect((await team.run(2, "unregister", "weather")).stderr).toBe("");
  for (const { url } of team.halls)
    expect((await ask(url, "tools/call", params)).body).toHaveProperty("error");
  expect(service.places).toEqual(["Lima", "Lima", "Lima"]);
});

test("a breaker that opens in one hall is open in all, and a list that changes in one is announced in all", async () => {
  await using service = await startService("fails");
  const { headers } = await post(team.halls[2]?.url ?? "", greeting);
  const ending = new AbortController();
  const stream = await fetch(`${team.halls[2]?.url}/mcp`, {
    headers: { accept: "text/event-stream", "mcp-session-id": String(headers["mcp-session-id"]) },
    signal: ending.signal,
  });
  const events = readEvents(stream);
  const file = join(team.home, "storms.json");
  const storms = { name: "storms", description: "Storms", category: "DATA", version: "1.0.0" };
  const parameters = { type: "object", properties: { place: { type: "string" } } };
  const functions = [{ name: "next", description: "The next storm.", parameters }];
  writeFileSync(file, JSON.stringify({ ...storms, endpoint: service.url, functions }));
  expect((await team.run(0, "register", file)).stderr).toBe("");
  let announced = await events.next();
  while (announced === "") announced = await events.next();
  expect(JSON.parse(announced)).toMatchObject({ method: "notifications/tools/list_changed" });
  ending.abort();

  const storm = (hall: number, place: string): Promise<HttpAnswer> =>
    ask(team.halls[hall]?.url ?? "", "tools/call", { name: "storms__next", arguments: { place } });
  for (let count = 0; count < 5; count++) await storm(0, `first${count}`);
  await until(async () => {
    await storm(1, "second");
    const before = service.places.length;
    const { body } = await storm(1, "third");
    return service.places.length === before && JSON.stringify(body).includes("unavailable");
  }, "the second hall refuses at once");
  // Its own breaker opens after five failures.
  expect(service.places.filter((place) => /second|third/.test(place)).length).toBeLessThan(5);
  expect((await team.run(1, "unregister", "storms")).stderr).toBe("");
});

test("a named token is good in every hall, and in none once it is revoked", async () => {
  const { stdout } = await team.run(0, "token", "create", "ci", "--json");
  const headers = { authorization: `Bearer ${JSON.parse(stdout).token}` };
  const list = (url: string) => post(url, greeting, headers);
  for (const { url } of team.halls) expect((await list(url)).status).toBe(200);
  expect((await team.run(2, "token", "revoke", "ci")).stderr).toBe("");
  for (const { url } of team.halls) expect((await list(url)).status).toBe(401);
});

test("a limit holds for all halls together, by at most 5 % more", async () => {
  const start = performance.now();
  let passed = 0;
  let refused = 0;
  // Both are reached on a slow machine too: it only takes longer, and more calls are allowed meanwhile.
  const isOver = (): boolean => passed >= 60 && refused >= 60;
  async function callOften(url: string): Promise<void> {
    while (!isOver()) {
      const { body } = await call(url, "count", "n");
      if ((body.result as JsonObject | undefined)?.isError === true || body.error) refused++;
      else passed++;
    }
  }
  await Promise.all(team.halls.flatMap(({ url }) => [callOften(url), callOften(url)]));
  const seconds = (performance.now() - start) / 1_000;
  const allowed = countLimit.burst + countLimit.perSecond * seconds;
  expect(passed).toBeLessThanOrEqual(allowed * 1.05);
});

test("a hall that leaves refuses new work, and its ready check says so", async () => {
  const [leaving] = team.halls;
  const url = leaving?.url ?? "";
  const asked = (await call(url, "ask", "last")).body.result as JsonObject;
  const [key = ""] = Object.keys(asked.inputRequests as JsonObject);
  leaving?.process.child.kill("SIGTERM");
  await until(async () => (await fetch(`${url}/ready`)).status === 503, "it is not ready");
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(said(await call(url, "read", "handed"))).toMatchObject({ id: "handed" });
  // Its open questions can still be answered, through any hall.
  const inputResponses = { [key]: { action: "accept", content: { word: "end" } } };
  const more = { requestState: asked.requestState, inputResponses };
  const other = team.halls[1]?.url ?? "";
  expect(said(await call(other, "ask", "last", more))).toMatchObject({ word: "end" });
  expect((await leaving?.process.exited)?.code).toBe(0);
});
