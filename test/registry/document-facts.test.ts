import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Runner } from "../../src/registry/registered.ts";
import { readRegistration } from "../../src/registry/registration.ts";
import { modern } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import * as document from "../servers/registry-document.ts";

/**
 * Facts of a call, of its service and of its definition that pass through the hall, as documents
 * 001 and 004 have them.
 */

const entry = {
  name: "memory_put",
  description: "Stores a value.",
  inputSchema: {
    type: "object",
    properties: { key: { type: "string" } },
    required: ["key"],
  },
  metadata: {
    module: "codomyrmex.agentic_memory",
    destructive: false,
    deprecated_in: null,
    cache_ttl: 60,
  },
};

function createService(answer: (method: string, params: JsonObject) => unknown): {
  readonly runner: Runner;
  readonly asked: JsonObject[];
} {
  const asked: JsonObject[] = [];
  const runner: Runner = {
    kind: "connection",
    id: "service",
    async request(method, params) {
      asked.push(params);
      return answer(method, params);
    },
    onGone: () => () => {},
    close() {},
  };
  return { runner, asked };
}

const refuse = (data: JsonObject, code = -32001): never => {
  const relayed = { code, message: "Tool execution failed", data };
  throw new HallError("EXECUTION", relayed.message, { relayed });
};

const call = (more: JsonObject = {}): JsonObject => ({
  tool_name: "memory_put",
  function_name: "memory_put",
  arguments: { key: "a" },
  ...more,
});

test("the caller's call_id reaches the service, and is in answers and errors", async () => {
  let fails = false;
  const { runner, asked } = createService(() =>
    fails ? refuse({ details: "no" }) : { status: "completed", data: {} },
  );
  await using hall = await startHall();
  await hall.hall.registrations.register({ tool: entry }, runner);
  const client = hall.connect();
  const call_id = "uuid-123-456-789";
  expect(await client.result("tools/call", call({ call_id }))).toMatchObject({ call_id });
  expect(asked).toMatchObject([{ call_id }]);

  fails = true;
  const known = await client.request("tools/call", call({ call_id }));
  expect(known.error).toMatchObject({ data: { call_id } });
  const { error } = await client.request("tools/call", call());
  const made = (error as { data: JsonObject }).data.call_id;
  expect(made).toEqual(expect.any(String));
  expect(asked.at(-1)).toMatchObject({ call_id: made });
  const missing = await client.request("tools/call", call({ tool_name: "nope" }));
  expect(missing.error).toMatchObject({ code: -32002, data: { call_id: expect.any(String) } });
});

test("a service's own error_type and waiting time are passed on", async () => {
  const { runner } = createService(() =>
    refuse({ error_type: "boom", details: "it broke", retry_after: 3 }, -32007),
  );
  await using hall = await startHall();
  await hall.hall.registrations.register({ tool: entry }, runner);
  const { error } = await hall.connect().request("tools/call", call());
  expect(error).toMatchObject({
    code: -32007,
    data: { error_type: "boom", details: "it broke", retry_after: 3, retryAfterSeconds: 3 },
  });
});

test("health answers keep the service's own report, and the first good probe reads healthy", async () => {
  let silent = false;
  const { runner } = createService(() => {
    if (silent) throw new HallError("UNAVAILABLE", "no answer");
    return {
      status: "healthy",
      response_time_ms: 45,
      version: "7.7.7",
      capabilities: ["go", "extra"],
      last_error: null,
    };
  });
  await using hall = await startHall();
  await hall.hall.registrations.register({ tool: entry }, runner);
  const client = hall.connect();
  const check = () => client.result("health/check", { tool_name: "memory_put" });
  expect(await check()).toEqual({
    status: "healthy",
    response_time_ms: 45,
    version: "7.7.7",
    capabilities: ["go", "extra"],
    last_error: null,
  });
  silent = true;
  await check();
  expect(await check()).toMatchObject({ status: "unhealthy" });
  silent = false;
  expect(await check()).toMatchObject({ status: "healthy" });
});

test.each([
  [429, "application/json", -32007],
  [500, "application/json", -32006],
  [503, "text/plain", -32006],
])("an endpoint's status %i with %s decides before its body", async (status, type, code) => {
  const server = createServer((_request, response) => {
    response.writeHead(status, { "content-type": type, "retry-after": "4" });
    response.end('{"detail":"busy"}');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await using hall = await startHall();
  const endpoint = `http://127.0.0.1:${port}/rpc`;
  await hall.hall.registrations.register({ tool: { ...entry, endpoint } });
  const { error } = await hall.connect().request("tools/call", call());
  expect(error).toMatchObject({ code });
  if (status === 429) expect(error).toMatchObject({ data: { retryAfterSeconds: 4 } });
});

test("a registration is read as message, as params, as toolkit and as single tool", async () => {
  const { tool } = (document.registration as { params: { tool: JsonObject } }).params;
  for (const form of [document.registration, { tool }, tool])
    expect(readRegistration(form as JsonObject)).toMatchObject({ tool });

  await using hall = await startHall();
  const client = hall.connect();
  const tool_id = "memory_put_v1";
  expect(await client.result("tools/register", entry)).toMatchObject({ tool_id });
  expect(await client.result("tools/register", entry)).toMatchObject({ tool_id });
  const other = { ...entry, inputSchema: { type: "object" } };
  expect((await client.request("tools/register", other)).error).toMatchObject({ code: -32000 });
});

test("a single tool keeps its name, its metadata and 30 seconds", async () => {
  const { runner } = createService(() => ({ status: "completed", data: {} }));
  await using hall = await startHall({ toolkits: [] });
  await hall.hall.registrations.register({ tool: entry }, runner);
  const [target] = hall.hall.registry.tools();
  expect(target).toMatchObject({ fullName: "memory_put", tool: { facts: { timeoutMs: 30_000 } } });
  const client = hall.connect();
  const { tools } = await client.result("tools/list", modern());
  expect((tools as JsonObject[]).find(({ name }) => name === "memory_put")).toMatchObject({
    inputSchema: entry.inputSchema,
    annotations: { destructiveHint: false },
    _meta: { "guildhall/module": entry.metadata.module, "guildhall/cache_ttl": 60 },
  });
  const name = { tool_name: "memory_put", function_name: "memory_put" };
  expect(await client.result("tools/schema", name)).toMatchObject({ metadata: entry.metadata });
  expect(await client.result("tools/toolkit", name)).toMatchObject({
    functions: [{ name: "memory_put", metadata: entry.metadata }],
  });
});

test("an agent can be called in the dialect", async () => {
  const { runner } = createService(() => ({ status: "completed", data: { stored: true } }));
  const file = {
    name: "memory_agent",
    description: "Specialized agent for memory.",
    tools: ["memory_put"],
    instructions: "",
  };
  await using hall = await startHall({ agents: { files: [file] }, planner: { kind: "local" } });
  await hall.hall.registrations.register({ tool: entry }, runner);
  const client = hall.connect();
  for (const tool_name of ["memory_agent", "agents"])
    expect(
      await client.result("tools/call", {
        tool_name,
        function_name: "memory_agent",
        arguments: { task: "memory_put key=a" },
      }),
    ).toMatchObject({ status: "completed", data: { agent: "memory_agent" } });
});
