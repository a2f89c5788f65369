import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createHealthBook } from "../../src/registry/health.ts";
import { modern } from "../servers/client.ts";
import { openDoor } from "../servers/door.ts";
import { startHall } from "../servers/hall.ts";
import { createEchoToolkit, createToolkit } from "../servers/toolkits.ts";
import { until } from "../servers/until.ts";

/** How toolkits are watched, and services behind an address. */
const lookUp = {
  name: "look_up",
  description: "Looks a word up.",
  parameters: { type: "object", properties: { word: { type: "string" } } },
};
const dictionary = {
  name: "dictionary",
  description: "Words",
  category: "REFERENCE",
  functions: [lookUp],
};

test("two probes in a row without an answer make a toolkit unavailable, one that answers begins its way back", () => {
  const record = createHealthBook({ now: () => 0 }).record(createEchoToolkit());
  record.probeFailed("silent");
  expect(record.health).toEqual({ state: "degraded", reason: "silent" });
  record.probeFailed("silent");
  expect(record.health.state).toBe("unavailable");
  expect(record.admit()).toBe(30_000);
  record.probed({ state: "available" }, 3);
  expect(record.admit()).toBe(0);
  record.succeeded();
  expect(record.health.state).toBe("available");
  // A recovery ends the error, too.
  expect(record.lastError).toBeUndefined();
});

test("a tool in maintenance is not called until maintenance ends", async () => {
  await using started = await startHall({
    toolkits: [
      {
        ...createEchoToolkit("shop"),
        source: "registered",
        probe: async () => ({ state: "maintenance", reason: "moving" }),
      },
    ],
  });
  const client = started.connect();
  expect(await client.result("health/check", { tool_name: "shop" })).toMatchObject({
    status: "maintenance",
    last_error: "moving",
  });
  expect(
    await client.request("tools/call", { tool_name: "shop", function_name: "echo" }),
  ).toMatchObject({
    error: { code: -32006, data: { details: expect.stringContaining("in maintenance (moving)") } },
  });
});

test("every toolkit has health: built-in ones are asked themselves", async () => {
  const sick = createToolkit(
    "sick",
    {},
    { health: async () => ({ state: "degraded", reason: "half asleep" }), version: "2.0.0" },
  );
  await using started = await startHall({ toolkits: [createEchoToolkit(), sick] });
  const client = started.connect();
  expect(await client.result("health/check", { tool_name: "echo" })).toMatchObject({
    status: "healthy",
    capabilities: ["echo", "typed"],
    last_error: null,
  });
  expect(await client.result("health/check", { tool_name: "sick" })).toMatchObject({
    status: "degraded",
    version: "2.0.0",
  });
  expect(await client.request("health/check", { tool_name: "sic" })).toMatchObject({
    error: { code: -32002, data: { near: ["sick"] } },
  });
});

test("a probe that is not answered in time is a failure, and the monitor continues", async () => {
  let probes = 0;
  const probe = (): Promise<never> => {
    probes++;
    return new Promise(() => {});
  };
  const hung = { ...createEchoToolkit("hung"), source: "registered" as const, probe };
  await using started = await startHall({
    toolkits: [hung],
    healthCheck: { intervalSeconds: 0.02, timeoutMs: 60 },
  });
  await until(() => started.hall.health.record(hung).health.state === "unavailable", "unavailable");
  expect(probes).toBeGreaterThanOrEqual(2);
  expect(started.hall.health.record(hung).lastError).toBe("no answer within 0.06 s");
});

describe("an endpoint", () => {
  type Answer = (
    message: JsonObject,
  ) =>
    | { status?: number; body?: unknown; type?: string; headers?: Record<string, string> }
    | undefined;

  async function listen(
    answer: Answer,
  ): Promise<{ url: string; asked: JsonObject[]; [Symbol.asyncDispose](): Promise<void> }> {
    const asked: JsonObject[] = [];
    const http = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const message = (
        text === "" ? { method: `${request.method} ${request.url}` } : JSON.parse(text)
      ) as JsonObject;
      asked.push(message);
      const { status = 200, body, type = "application/json", headers = {} } = answer(message) ?? {};
      if (body !== undefined)
        response
          .writeHead(status, { "content-type": type, ...headers })
          .end(typeof body === "string" ? body : JSON.stringify(body));
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return {
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
      asked,
      async [Symbol.asyncDispose]() {
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    };
  }

  const result = (message: JsonObject, value: unknown) => ({
    body: { jsonrpc: "2.0", id: message.id, result: value },
  });
  const call = {
    tool_name: "dictionary",
    function_name: "look_up",
    arguments: { word: "x" },
    call_id: "1",
  };

  test("gets calls and health checks as JSON-RPC", async () => {
    await using service = await listen((message) =>
      message.method === "health/check"
        ? result(message, { status: "degraded", last_error: "busy" })
        : result(message, { status: "completed", data: { found: true } }),
    );
    await using started = await startHall({ toolkits: [] });
    const client = started.connect();
    await client.result("tools/register", {
      tool: { ...dictionary, endpoint: `${service.url}/rpc` },
    });
    expect(await client.result("tools/call", call)).toMatchObject({
      call_id: "1",
      data: { found: true },
    });
    expect(service.asked).toMatchObject([
      {
        jsonrpc: "2.0",
        method: "tools/call",
        params: { tool_name: "dictionary", function_name: "look_up", arguments: { word: "x" } },
      },
    ]);
    expect(await client.result("health/check", { tool_name: "dictionary" })).toMatchObject({
      status: "degraded",
      last_error: "busy",
    });
  });

  test("may have an address for its health alone", async () => {
    await using service = await listen(() => ({ body: "OK", type: "text/plain" }));
    await using started = await startHall({ toolkits: [] });
    const client = started.connect();
    await client.result("tools/register", {
      tool: {
        ...dictionary,
        endpoint: `${service.url}/rpc`,
        health_check_url: `${service.url}/up`,
      },
    });
    expect(await client.result("health/check", { tool_name: "dictionary" })).toMatchObject({
      status: "healthy",
    });
    expect(service.asked).toEqual([{ method: "GET /up" }]);
  });

  const failures: readonly [string, Answer, number, string][] = [
    [
      "an error of its own",
      (message) => ({
        body: {
          jsonrpc: "2.0",
          id: message.id,
          error: { code: -32001, message: "x", data: { details: "no such word" } },
        },
      }),
      -32001,
      "no such word",
    ],
    ["503", () => ({ status: 503, type: "text/plain", body: "later" }), -32006, "HTTP 503"],
    [
      "a redirect into the network",
      () => ({
        status: 302,
        type: "text/plain",
        body: "",
        headers: { location: "http://169.254.169.254/" },
      }),
      -32001,
      "redirect",
    ],
    ["what is not JSON", () => ({ body: "<html>" }), -32001, "does not match"],
    [
      "the answer to another request",
      () => ({ body: { jsonrpc: "2.0", id: "other", result: {} } }),
      -32001,
      "does not match",
    ],
    ["a web page", () => ({ type: "text/html", body: "<html>" }), -32001, "text/html"],
  ];
  test.each(failures)("that answers with %s", async (_what, answer, code, details) => {
    await using service = await listen(answer);
    await using started = await startHall({ toolkits: [] });
    const client = started.connect();
    await client.result("tools/register", { tool: { ...dictionary, endpoint: service.url } });
    expect(await client.request("tools/call", call)).toMatchObject({
      error: { code, data: { details: expect.stringContaining(details) } },
    });
  });

  test("that hangs costs the call its time and no more, and the next one is free", async () => {
    let isHung = true;
    await using service = await listen((message) =>
      isHung ? undefined : result(message, { data: 1 }),
    );
    await using started = await startHall({ toolkits: [] });
    const client = started.connect();
    await client.result("tools/register", { tool: { ...dictionary, endpoint: service.url } });
    expect(await client.request("tools/call", { ...call, timeout: 0.1 })).toMatchObject({
      error: { code: -32005 },
    });
    isHung = false;
    expect(await client.result("tools/call", call)).toMatchObject({ data: 1 });
  });
});

test("the same over plain HTTP, with the token", async () => {
  await using door = await openDoor({ toolkits: [createEchoToolkit()] });
  const headers = { authorization: `Bearer ${door.token}` };
  const api = (method: string, path: string, body?: JsonObject) =>
    door.send({ method, path: `/api/toolkits${path}`, headers, ...(body ? { body } : {}) });
  expect(await door.send({ method: "GET", path: "/api/toolkits" })).toMatchObject({ status: 401 });
  expect(await api("POST", "", dictionary)).toMatchObject({
    status: 200,
    json: { tool_id: "dictionary_v1", status: "registered", health_check_interval: 60 },
  });
  expect(await api("POST", "", { tool: { ...dictionary, description: "Others" } })).toMatchObject({
    status: 409,
    json: { error: { data: { error_type: "conflict" } } },
  });
  expect(await api("POST", "", { name: "x" })).toMatchObject({ status: 400 });
  expect((await api("GET", "")).json).toMatchObject({
    toolkits: [
      { name: "echo", source: "built-in", status: "healthy" },
      { name: "dictionary", status: "unhealthy" },
    ],
  });
  expect((await api("GET", "/dictionary")).json).toMatchObject({
    tool_id: "dictionary_v1",
    functions: [{ name: "look_up", parameters: lookUp.parameters }],
  });
  expect((await api("GET", "/dictionary/functions/look_up")).json).toMatchObject({
    parameters: lookUp.parameters,
  });
  expect(await api("GET", "/dictionary/health")).toMatchObject({
    status: 503,
    json: { status: "unhealthy" },
  });
  expect(await api("GET", "/echo/health")).toMatchObject({
    status: 200,
    json: { status: "healthy" },
  });
  expect(
    await api("POST", "/echo/functions/echo/call", { arguments: { a: 1 }, call_id: "c" }),
  ).toMatchObject({
    status: 200,
    json: { call_id: "c", data: { a: 1 } },
  });
  expect(await api("POST", "/echo/functions/typed/call", {})).toMatchObject({
    status: 400,
    json: { error: { code: -32004 } },
  });
  expect(await api("POST", "/dictionary/functions/look_up/call", {})).toMatchObject({
    status: 503,
    json: { error: { code: -32006 } },
  });
  expect(await api("GET", "/dictonary")).toMatchObject({
    status: 404,
    json: { error: { data: { near: ["dictionary"] } } },
  });
  expect(await api("PUT", "/dictionary")).toMatchObject({
    status: 405,
    headers: { allow: "GET, DELETE" },
  });
  expect(await api("GET", "/dictionary/nothing/there")).toMatchObject({ status: 404 });
  expect(await api("POST", "", "{" as unknown as JsonObject)).toMatchObject({ status: 400 });
  expect(await api("DELETE", "/dictionary")).toMatchObject({
    status: 200,
    json: { status: "unregistered" },
  });
  expect(await api("DELETE", "/dictionary")).toMatchObject({ status: 404 });
});

test("a toolkit that reports itself as unhealthy is listed so before its first call", async () => {
  const poor = createToolkit(
    "poor",
    {},
    { health: async () => ({ state: "unavailable", reason: "no key is configured" }) },
  );
  await using hall = await startHall({
    toolkits: [poor, createToolkit("fine", {})],
    hasOwnResources: true,
  });
  const client = hall.connect();
  const { toolkits } = await client.result("tools/toolkits", {});
  expect(toolkits).toMatchObject([
    { name: "poor", status: "unhealthy", last_error: "no key is configured" },
    { name: "fine", status: "healthy", last_error: null },
  ]);
  const { contents } = await client.result("resources/read", modern({ uri: "guildhall://health" }));
  expect(JSON.parse(String((contents as JsonObject[])[0]?.text)).toolkits).toMatchObject([
    { toolkit: "poor", state: "unavailable", reason: "no key is configured" },
    { toolkit: "fine", state: "available" },
  ]);
});
