// Document 000 as it is written: a project's servers are found, grouped and exposed as agents by the built command.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { allowUnattended, type Home, makeHome } from "../servers/home.ts";
import type { ModelEndpoint, Reply } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { type ProcessClient, spawnHall } from "../servers/process.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const server = fileURLToPath(new URL("../servers/document-000.mjs", import.meta.url));
const servers = ["web", "weather", "data", "issues"];

let home: Home;
let model: ModelEndpoint;
let log: string;
/** The answers of the model, turn by turn. */
let script: readonly Reply[] = [];
let turn = 0;

beforeAll(async () => {
  model = await startOpenAi(() => script[turn++] ?? { say: "nothing more" });
  home = makeHome();
  log = home.locate("~/log.jsonl");
  const planner = { kind: "model", model: model.model, baseUrl: model.url };
  // The user lets the web tools run one after another, although pages may ask to send data out.
  const trust = { tools: { "web.*": "safe" }, unguarded: ["web.*"] };
  allowUnattended(home.locate("~/.config"), { planner, trust });
  home.write("./.mcp.json", {
    mcpServers: Object.fromEntries(
      servers.map((name) => [name, { command: process.execPath, args: [server, name, log] }]),
    ),
  });
  for (const command of [
    ["init", "--yes"],
    ["build", "--yes"],
  ])
    expect(await home.run(cli, command, { GUILDHALL_API_KEY: "key" })).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await model?.[Symbol.asyncDispose]();
  home?.[Symbol.dispose]();
});

const heard = (): JsonObject[] =>
  existsSync(log)
    ? readFileSync(log, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as JsonObject)
    : [];
let heardBefore = 0;
beforeEach(() => {
  heardBefore = heard().length;
  turn = 0;
});
const callsHeard = (): JsonObject[] =>
  heard()
    .slice(heardBefore)
    .filter(({ method }) => method === "tools/call")
    .map(({ params }) => params as JsonObject);

async function connect(...args: string[]): Promise<ProcessClient & { initialized: JsonObject }> {
  const client = spawnHall(args, {
    cwd: home.project,
    cli,
    env: {
      ...home.env,
      GUILDHALL_API_KEY: "key",
      XDG_CONFIG_HOME: home.locate("~/.config"),
      XDG_DATA_HOME: home.locate("~/.local/share"),
    },
  });
  const initialized = await client.result("initialize", {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    clientInfo: { name: "claude-code", version: "1.0.0" },
  });
  client.notify("notifications/initialized");
  return Object.assign(client, { initialized });
}

const call = (client: ProcessClient, name: string, args: JsonObject): Promise<JsonObject> =>
  client.request("tools/call", { name, arguments: args });

test("init and build find the servers, greet each once and list its tools", () => {
  const ofBuild = heard().slice(0, heardBefore);
  for (const name of servers) {
    const said = ofBuild.filter((message) => message.server === name);
    const greetings = said.filter(({ method }) => method === "initialize");
    expect(greetings).toHaveLength(1);
    expect(greetings[0]?.params).toMatchObject({ clientInfo: { name: "guildhall" } });
    expect(said.map(({ method }) => method)).toContain("notifications/initialized");
    expect(said.find(({ method }) => method === "tools/list")).toMatchObject({ params: {} });
  }
  const lock = JSON.parse(home.read("./.guildhall/tools.lock.json")) as JsonObject;
  expect(JSON.stringify(lock)).toContain('"default":10');
  // Three pages of two tools.
  expect(
    Object.keys((lock.servers as Record<string, { pins: object }>).issues?.pins ?? {}),
  ).toHaveLength(6);
  expect(existsSync(join(home.project, ".guildhall", "agents"))).toBe(true);
});

test("a call reaches its server as the document writes it, and comes back unchanged", async () => {
  await using client = await connect();
  const args = { location: "San Francisco" };
  expect(await call(client, "get_weather", args)).toMatchObject({
    result: {
      content: [{ type: "text", text: "Weather in San Francisco: 18°C, partly cloudy" }],
    },
  });
  expect(callsHeard()).toMatchObject([{ name: "get_weather", arguments: args }]);

  expect(await call(client, "web.search_web", { query: "deno" })).toMatchObject({
    result: { content: [{ text: 'search_web got {"query":"deno","limit":10}' }] },
  });
  expect(await call(client, "get_weather", { location: "" })).toMatchObject({
    error: { code: -32602, message: "Invalid location parameter" },
  });
  expect(await call(client, "get_weather", { location: "Atlantis" })).toMatchObject({
    error: {
      code: -32603,
      message: "Tool execution failed",
      data: { toolName: "get_weather", details: "API rate limit exceeded" },
    },
  });
});

test("with --expose agents --static a client is offered the agents and nothing else", async () => {
  await using client = await connect("--expose", "agents", "--static");
  expect(client.initialized).toMatchObject({
    protocolVersion: "2024-11-05",
    serverInfo: { name: "guildhall" },
  });
  expect(client.initialized.capabilities).toEqual({ tools: { listChanged: false } });

  const { tools } = (await client.result("tools/list", {})) as { tools: JsonObject[] };
  expect(tools.map(({ name }) => name)).toEqual([
    "code_hosting_agent",
    "data_analysis_agent",
    "weather_agent",
    "web_research_agent",
  ]);
  for (const { description, inputSchema } of tools) {
    expect(description).toMatch(/^Specialized agent for .+can /s);
    expect(inputSchema).toMatchObject({
      type: "object",
      properties: { task: { type: "string" }, data: { type: "object" } },
      required: ["task"],
    });
  }
});

test("an agent plans with the model, calls the original servers and names the tools it used", async () => {
  script = [
    { calls: [{ name: "web__search_web", arguments: { query: "TypeScript 2025" } }] },
    { calls: [{ name: "web__fetch_url", arguments: { url: "https://example.com/ts" } }] },
    { calls: [{ name: "web__extract_content", arguments: { html: "<p>" } }] },
    { say: "1. TypeScript 5.x features" },
  ];
  await using client = await connect("--expose", "agents", "--static");
  const task = "Find the latest TypeScript best practices for 2025";
  const { result } = (await call(client, "web_research_agent", { task })) as { result: JsonObject };
  expect(callsHeard().map(({ name }) => name)).toEqual([
    "search_web",
    "fetch_url",
    "extract_content",
  ]);
  expect(result.isError).toBe(false);
  const [{ text = "" } = {}] = result.content as readonly { text?: string }[];
  expect(text).toContain("1. TypeScript 5.x features");
  expect(text).toMatch(/Tools used: web\S+search_web, web\S+fetch_url, web\S+extract_content\.?$/);
});

test("details of a failed call reach the model and the agent's answer", async () => {
  script = [
    { calls: [{ name: "weather__get_weather", arguments: { location: "Atlantis" } }] },
    { say: "The weather service refused." },
  ];
  await using client = await connect("--expose", "agents", "--static");
  const answer = await call(client, "weather_agent", { task: "Weather in Atlantis" });
  expect(JSON.stringify(model.requests.at(-1))).toContain("API rate limit exceeded");
  expect(JSON.stringify(answer)).toContain("API rate limit exceeded");
});

test("an invented tool and a tool of another agent are refused, and not among the tools used", async () => {
  script = [
    { calls: [{ name: "no_such_tool", arguments: {} }] },
    { calls: [{ name: "web__search_web", arguments: { query: "x" } }] },
    { say: "I could not do it." },
  ];
  await using client = await connect("--expose", "agents", "--static");
  const answer = await call(client, "weather_agent", { task: "Do something odd" });
  expect(callsHeard()).toEqual([]);
  const { content } = answer.result as { content: readonly { text?: string }[] };
  expect(content[0]?.text).not.toMatch(/Tools used:.*(?:no_such_tool|search_web)/);
});

test("a destructive call inside a run is not made, and the answer names the command that allows it", async () => {
  script = [
    { calls: [{ name: "issues__delete_branch", arguments: { repo: "a/b", branch: "old" } }] },
    { say: "It needs your approval." },
  ];
  await using client = await connect("--expose", "agents", "--static");
  const answer = await call(client, "code_hosting_agent", { task: "Delete the branch old of a/b" });
  expect(callsHeard()).toEqual([]);
  const { content } = answer.result as { content: readonly { text?: string }[] };
  expect(content[0]?.text).not.toContain("Tools used");
  expect(JSON.stringify(answer.result)).toContain("guildhall approvals");
});

test("many calls of agents at once are each answered once, and limits below one are refused", async () => {
  script = [];
  await using client = await connect("--expose", "agents", "--static");
  const asked = Array.from({ length: 20 }, () =>
    client.ask("tools/call", { name: "weather_agent", arguments: { task: "Say hello" } }),
  );
  for (const id of asked)
    expect(await client.answer(id)).toMatchObject({ result: { isError: false } });
  expect(client.unread.filter(({ id }) => id !== undefined)).toEqual([]);
  const args = { task: "Say hello", limits: { seconds: -1 } };
  expect(await call(client, "weather_agent", args)).toMatchObject({ error: { code: -32602 } });
});

test("before a build an unreviewed server offers nothing, and a call names the next step", async () => {
  using other = makeHome();
  const entry = { command: process.execPath, args: [server, "web", other.locate("~/log.jsonl")] };
  other.write("./guildhall.json", { mcpServers: { web: entry } });
  await using client = spawnHall([], {
    cwd: other.project,
    cli,
    env: {
      ...other.env,
      XDG_CONFIG_HOME: other.locate("~/.config"),
      XDG_DATA_HOME: other.locate("~/.data"),
    },
  });
  await client.result("initialize", {
    protocolVersion: "2024-11-05",
    capabilities: {},
    clientInfo: { name: "claude-code", version: "1.0.0" },
  });
  client.notify("notifications/initialized");
  const { tools } = (await client.result("tools/list", {})) as { tools: JsonObject[] };
  expect(tools.map(({ name }) => name)).not.toContain("web__search_web");
  const refused = await call(client, "web.search_web", { query: "x" });
  expect(JSON.stringify(refused)).toContain("has not been approved");
  expect(existsSync(other.locate("~/log.jsonl"))).toBe(false);
});

test("the document's error codes", async () => {
  await using client = await connect("--expose", "agents", "--static");
  const code = async (id: unknown): Promise<unknown> =>
    ((await client.answer(id)).error as JsonObject).code;
  client.send("{not json");
  expect(await code(null)).toBe(-32700);
  client.send({ jsonrpc: "2.0", id: 90 });
  expect(await code(90)).toBe(-32600);
  expect(await code(client.ask("tools/unknown"))).toBe(-32601);
  const wrongTask = { name: "web_research_agent", arguments: { task: 5 } };
  expect(await code(client.ask("tools/call", wrongTask))).toBe(-32602);
  expect(await code(client.ask("tools/call", { name: 3 }))).toBe(-32602);
  expect(await code(client.ask("tools/call", [1, 2] as unknown as JsonObject))).toBe(-32602);
  const notAnObject = { name: "web_research_agent", arguments: { task: "x", data: "text" } };
  expect(await code(client.ask("tools/call", notAnObject))).toBe(-32602);
});
