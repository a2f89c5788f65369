// Requirements of documents 001 and 004 that no other test proves. docs/requirements.md names them.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { openDoor } from "../servers/door.ts";
import { startHall } from "../servers/hall.ts";
import * as document from "../servers/registry-document.ts";
import { createEchoToolkit, createToolkit } from "../servers/toolkits.ts";

const schema = { type: "object", properties: { word: { type: "string" } } };
const toolkitOf = (names: readonly string[]): JsonObject => ({
  name: "dictionary",
  description: "Words",
  functions: names.map((name) => ({ name, description: "A word", parameters: schema })),
});

test("a missing token has the dialect's number, also over HTTP", async () => {
  await using door = await openDoor({ toolkits: [] });
  const answer = await door.send({ body: document.registration });
  expect(answer).toMatchObject({
    status: 401,
    json: { error: { code: -32000, data: { error_type: "denied" } } },
  });
});

test("POST /api/toolkits takes the document's whole message, and the list says that no service is attached", async () => {
  await using door = await openDoor({ toolkits: [] });
  const headers = { authorization: `Bearer ${door.token}`, "content-type": "application/json" };
  const at = door.url.replace(/\/mcp$/, "");
  const posted = await fetch(`${at}/api/toolkits`, {
    method: "POST",
    headers,
    body: JSON.stringify(document.registration),
  });
  expect(await posted.json()).toMatchObject({ tool_id: "search_tool_v1", status: "registered" });
  const listed = (await (await fetch(`${at}/api/toolkits`, { headers })).json()) as JsonObject;
  expect(listed.toolkits).toMatchObject([{ name: "search_tool", status: "unhealthy" }]);
});

test("capabilities come in the order in which they were declared", async () => {
  await using hall = await startHall({ toolkits: [] });
  await hall.hall.registrations.register({ tool: toolkitOf(["zoom", "add", "make"]) });
  const health = await hall.connect().result("health/check", { tool_name: "dictionary" });
  expect(health.capabilities).toEqual(["zoom", "add", "make"]);
});

test("more than 200 functions are refused, unknown arguments pass, and arguments must be an object", async () => {
  await using hall = await startHall({ toolkits: [createEchoToolkit()] });
  const many = toolkitOf(Array.from({ length: 201 }, (_, at) => `word_${at}`));
  await expect(hall.hall.registrations.register({ tool: many })).rejects.toMatchObject({
    details: { errors: [{ path: "/tool/functions" }] },
  });
  const client = hall.connect();
  const call = (args: unknown) =>
    client.request("tools/call", { tool_name: "echo", function_name: "echo", arguments: args });
  expect(await call({ other: 1 })).toMatchObject({ result: { data: { other: 1 } } });
  expect(await call([1])).toMatchObject({ error: { code: -32602 } });
  expect(await call("text")).toMatchObject({ error: { code: -32602 } });
});

test("a registered function may take 10 seconds, a single tool 30, and a declaration says otherwise", async () => {
  await using hall = await startHall({ toolkits: [] });
  const { registrations, registry } = hall.hall;
  await registrations.register({ tool: toolkitOf(["look_up"]) });
  const slow = { name: "wait", description: "Waits", parameters: schema, timeout_seconds: 25 };
  await registrations.register({ tool: { ...toolkitOf([]), name: "slow", functions: [slow] } });
  await registrations.register({
    tool: { name: "memory_put", description: "Stores a value.", inputSchema: schema },
  });
  const times = registry.tools().map(({ fullName, tool }) => [fullName, tool.facts?.timeoutMs]);
  expect(Object.fromEntries(times)).toEqual({
    "dictionary.look_up": 10_000,
    "slow.wait": 25_000,
    memory_put: 30_000,
  });
});

test("details of a server's own error reach the caller in the dialect", async () => {
  const relayed = {
    code: -32603,
    message: "Tool execution failed",
    data: { toolName: "get_weather", details: "API rate limit exceeded" },
  };
  const weather = createToolkit("weather", {
    get_weather: {
      run: () => Promise.reject(new HallError("EXECUTION", relayed.message, { relayed })),
    },
  });
  await using hall = await startHall({ toolkits: [weather] });
  const { error } = await hall.connect().request("tools/call", {
    tool_name: "weather",
    function_name: "get_weather",
  });
  expect(error).toMatchObject({
    code: -32001,
    data: { details: expect.stringContaining("API rate limit exceeded") },
  });
});

test("a batch of dialect messages without a handshake is refused", async () => {
  await using hall = await startHall({ toolkits: [createEchoToolkit()] });
  const client = hall.connect();
  client.send([document.healthCheck, document.call] as unknown as JsonObject);
  const answer = await client.take((message) => "error" in message, "the refusal");
  expect(answer).toMatchObject({ error: { code: -32600 } });
});

test("errors carry the names of document 004 on the wire", async () => {
  const down = createServer((_request, response) => void response.writeHead(503).end("down"));
  await new Promise<void>((resolve) => void down.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void down.close());
  const { port } = down.address() as AddressInfo;
  const odd = createToolkit("odd", {
    strict: { inputSchema: { ...schema, required: ["word"] }, run: () => ({ content: [] }) },
    slow: { run: () => Promise.reject(new HallError("TIMEOUT", "no answer within 30 s")) },
    wild: { run: () => ({ content: [{ type: "text", text: "x", n: 1n }] }) },
  });
  await using hall = await startHall({ toolkits: [odd] });
  const endpoint = `http://127.0.0.1:${port}/rpc`;
  await hall.hall.registrations.register({ tool: { ...toolkitOf(["look_up"]), endpoint } });
  const client = hall.connect();
  await client.greet();

  const nameOf = async (method: string, params: JsonObject): Promise<unknown> => {
    const { error, result } = await client.request(method, params);
    const { data } = (error ?? {}) as { data?: JsonObject };
    const { _meta } = (result ?? {}) as { _meta?: Record<string, JsonObject> };
    return (data ?? _meta?.["guildhall/error"])?.error_name;
  };
  const call = (name: string) => nameOf("tools/call", { name, arguments: {} });
  expect({
    unknown: await call("odd.strickt"),
    arguments: await call("odd.strict"),
    timeout: await call("odd.slow"),
    transport: await call("dictionary.look_up"),
    json: await call("odd.wild"),
    message: await nameOf("tools/call", { name: 3 }),
    conflict: await nameOf("tools/register", { tool: toolkitOf(["other"]) }),
  }).toEqual({
    unknown: "ToolNotFoundError",
    arguments: "SchemaError",
    timeout: "TimeoutError",
    transport: "TransportError",
    json: "SerializationError",
    message: "ValidationError",
    conflict: "RegistrationError",
  });
});

test("the human page, the file map and the specification are there, and name each other", () => {
  const read = (path: string): string =>
    readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  expect(read("README.md")).toContain("AGENTS.md");
  expect(read("AGENTS.md")).toContain("docs/requirements.md");
  expect(read("AGENTS.md")).toContain("docs/architecture.md");
  expect(read("docs/requirements.md")).toContain("## 004");
  expect(JSON.parse(read("package.json")).scripts.test).toEqual(expect.any(String));
});

test("the recorded figures meet the targets of document 004", () => {
  const page = readFileSync(new URL("../../docs/figures.md", import.meta.url), "utf8");
  const rows = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const measured = (figure: string): number => {
    const row = rows.find((cells) => cells[1] === figure);
    return Number.parseFloat((row?.[3] ?? "").replaceAll(",", ""));
  };
  const below: readonly (readonly [string, number])[] = [
    ["registration until found, empty hall, p99", 1],
    ["registration until found, beside 1,000 tools, p99", 1],
    ["list of 1,000 tools, in process, p99", 5],
    ["schema lookup among 1,000 tools, p99", 1],
    ["stdio dispatch, p99", 10],
    ["HTTP dispatch, p99", 100],
    ["validation, p99 of the whole call in process", 1],
    ["scan of 200 modules, hall included", 2],
  ];
  for (const [figure, limit] of below) expect(measured(figure), figure).toBeLessThan(limit);
  expect(measured("stdio throughput")).toBeGreaterThanOrEqual(1_000);
  expect(measured("HTTP throughput")).toBeGreaterThanOrEqual(100);
});
