import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { digestModules } from "../../src/registry/modules.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { type ServeProcess, spawnServe, watchProcess } from "../servers/serve-process.ts";
import { until } from "../servers/until.ts";

/**
 * The examples, run as a reader would run them, against a hall in a process of its own; and what
 * happens when one of the two dies.
 */
const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-registration-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = (): NodeJS.ProcessEnv => ({
  ...process.env,
  XDG_DATA_HOME: join(folder, "data"),
  XDG_RUNTIME_DIR: folder,
});

async function openHall(port = 0): Promise<ServeProcess & { readonly url: string }> {
  const hall = spawnServe(["--port", String(port), "--json", "--log-level", "error"], { folder });
  const { url } = JSON.parse(await hall.firstLine) as { url: string };
  return Object.assign(hall, { url });
}

async function ask(url: string, method: string, params: JsonObject): Promise<JsonObject> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return (await response.json()) as JsonObject;
}

const callNotes = (
  url: string,
  name: string,
  args: JsonObject,
  more: JsonObject = {},
): Promise<JsonObject> =>
  ask(url, "tools/call", {
    tool_name: "notes",
    function_name: name,
    arguments: args,
    call_id: "c",
    ...more,
  });

/** Asks until the answer fits. */
function untilAnswer(
  ask: () => Promise<JsonObject>,
  fits: (answer: JsonObject) => boolean,
): Promise<JsonObject> {
  return until(async () => {
    const answer = await ask();
    return fits(answer) ? answer : undefined;
  });
}

describe("notes-service.mjs, a service that joins a hall", () => {
  const start = (url: string): ServeProcess =>
    watchProcess([example("notes-service.mjs"), url], { env: env() });

  test("is called; when it is killed its calls fail at once; restarted it is back", async () => {
    await using hall = await openHall();
    const first = start(hall.url);
    expect(await first.firstLine).toBe("registered as notes_v1");
    expect(await callNotes(hall.url, "add", { text: "one" })).toMatchObject({
      result: { status: "completed", data: { id: 1, pid: first.pid } },
    });
    await first[Symbol.asyncDispose]();
    const gone = await untilAnswer(
      () => callNotes(hall.url, "add", { text: "two" }),
      ({ error }) => error !== undefined,
    );
    expect(gone).toMatchObject({
      error: {
        code: -32006,
        data: { call_id: "c", error_type: "unavailable", limited: "notes.add" },
      },
    });
    expect(await ask(hall.url, "health/check", { tool_name: "notes" })).toMatchObject({
      result: { status: "unhealthy" },
    });
    await using second = start(hall.url);
    expect(await second.firstLine).toBe("registered as notes_v1");
    expect(await callNotes(hall.url, "add", { text: "three" })).toMatchObject({
      result: { data: { id: 1, pid: second.pid } },
    });
    expect(await ask(hall.url, "health/check", { tool_name: "notes" })).toMatchObject({
      result: { status: "healthy", capabilities: ["add", "search"] },
    });
  });

  test("hung, it costs a call its time and no more, and others nothing; awake, it is as before", async () => {
    await using hall = await openHall();
    await using service = start(hall.url);
    await service.firstLine;
    process.kill(service.pid, "SIGSTOP");
    const hung = callNotes(hall.url, "search", { word: "x" }, { timeout: 1 });
    expect(
      await ask(hall.url, "tools/call", { tool_name: "time_tool", function_name: "current_time" }),
    ).toMatchObject({ result: { status: "completed" } });
    expect(await hung).toMatchObject({ error: { code: -32005, data: { error_type: "timeout" } } });
    process.kill(service.pid, "SIGCONT");
    expect(await callNotes(hall.url, "search", { word: "x" })).toMatchObject({
      result: { data: { notes: [] } },
    });
  });

  test("outlives its hall: the next one at the same address has it again", async () => {
    const first = await openHall();
    await using service = start(first.url);
    await service.firstLine;
    await callNotes(first.url, "add", { text: "kept" });
    await first[Symbol.asyncDispose]();
    await using second = await openHall(Number(new URL(first.url).port));
    const found = await untilAnswer(
      () => callNotes(second.url, "search", { word: "kept" }),
      ({ result }) => result !== undefined,
    );
    expect(found).toMatchObject({ result: { data: { notes: ["kept"] } } });
  });
});

describe("dice-server.mjs, an MCP server of its own", () => {
  async function roll(client: Client): Promise<void> {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["roll"]);
    const { structuredContent } = await client.callTool({ name: "roll", arguments: { count: 3 } });
    const { rolls, sum } = structuredContent as { rolls: number[]; sum: number };
    expect(rolls).toHaveLength(3);
    expect(rolls.every((shown) => shown >= 1 && shown <= 6)).toBe(true);
    expect(sum).toBe(rolls.reduce((total, shown) => total + shown, 0));
    await client.close();
  }

  test("on stdio", async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [example("dice-server.mjs")] }),
    );
    await roll(client);
  });

  test("over HTTP", async () => {
    await using server = watchProcess([example("dice-server.mjs"), "0"], { env: env() });
    const client = new Client({ name: "test", version: "1" });
    // The SDK's transports are not typed for exactOptionalPropertyTypes.
    await client.connect(
      new StreamableHTTPClientTransport(new URL(await server.firstLine)) as Parameters<
        Client["connect"]
      >[0],
    );
    await roll(client);
  });
});

describe("tools/greeter.mjs, a toolkit in a module", () => {
  const greet = {
    tool_name: "greeter",
    function_name: "greet",
    arguments: { name: "Ada", language: "de" },
  };

  test("is loaded by a hall whose config names it, once a person has approved it", async () => {
    const config = join(folder, "guildhall.json");
    const patterns = [example("tools/*.mjs")];
    writeFileSync(config, JSON.stringify({ toolkits: patterns }));
    const ledger = openLedger(realpathSync(folder), {
      folder: join(folder, "data", "guildhall", "trust"),
      warn: () => {},
    });
    const modules = await digestModules(patterns, realpathSync(folder));
    await ledger.change((entries) => ({ ...entries, modules }));
    await using hall = await openHall();
    rmSync(config);
    expect(await ask(hall.url, "tools/call", greet)).toMatchObject({
      result: { data: { greeting: "Guten Tag, Ada!" } },
    });
    expect(await ask(hall.url, "tools/registered", {})).toMatchObject({
      result: { tools: [{ name: "greeter", source: "module", category: "TEXT" }] },
    });
  });

  test("is served to a running hall by `guildhall register`", async () => {
    await using hall = await openHall();
    {
      await using service = watchProcess(
        [cli, "register", example("tools/greeter.mjs"), "--url", hall.url, "--json"],
        { env: env() },
      );
      await service.firstLine;
      expect(await ask(hall.url, "tools/call", greet)).toMatchObject({
        result: { data: { greeting: "Guten Tag, Ada!" } },
      });
      service.child.kill("SIGTERM");
      expect(await service.exited).toMatchObject({ code: 0 });
    }
    const after = await untilAnswer(
      () => ask(hall.url, "tools/call", greet),
      ({ error }) => error !== undefined,
    );
    expect(after).toMatchObject({ error: { code: -32006 } });
  });
});

test("`guildhall register FILE.json` and `guildhall unregister NAME` print the result and set the exit code", async () => {
  await using hall = await openHall();
  const runWith = async (
    variables: NodeJS.ProcessEnv,
    ...args: string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string }> => {
    await using command = watchProcess([cli, ...args], { env: variables, cwd: folder });
    const { code } = await command.exited;
    return { code, ...command.output };
  };
  const run = (...args: string[]) => runWith(env(), ...args);
  // The hall's socket is where the hall was told to put it.
  const status = async (...args: string[]) =>
    (await runWith({ ...process.env, XDG_DATA_HOME: join(folder, "data") }, "status", ...args))
      .stdout;
  const file = join(folder, "weather.json");
  const write = (tool: JsonObject): void => writeFileSync(file, JSON.stringify(tool));
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const weather = {
    name: "weather",
    description: "The weather",
    category: "WEATHER",
    functions: [{ name: "today", description: "Today's", parameters }],
  };
  write({ ...weather, endpoint: "http://127.0.0.1:9/" });
  expect(await run("register", file, "--url", hall.url)).toEqual({
    code: 0,
    stdout: "registered as weather_v1\n",
    stderr: "",
  });
  expect(JSON.parse(await status("--json"))).toMatchObject({
    registrations: expect.arrayContaining([
      expect.objectContaining({ name: "weather", runner: "endpoint", tools: 1 }),
    ]),
  });
  expect(await status()).toMatch(/^registered .*\n(.*\n)*weather +\w+ +endpoint +1 /m);
  expect(
    await ask(hall.url, "tools/call", { tool_name: "weather", function_name: "today" }),
  ).toMatchObject({ error: { code: -32006 } });
  write(weather);
  const again = await run("register", file, "--url", hall.url, "--json");
  expect(JSON.parse(again.stdout)).toEqual({
    tool_id: "weather_v1",
    status: "registered",
    health_check_interval: 60,
  });
  write({ ...weather, description: "Another" });
  expect(await run("register", file, "--url", hall.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("already registered as weather_v1"),
  });
  expect(await run("register", file, "--url", hall.url, "--replace")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("weather_v2"),
  });
  write({ ...weather, name: "hall" });
  expect(await run("register", file, "--url", hall.url)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("/tool/name"),
  });
  expect(await run("unregister", "weather", "--url", hall.url)).toMatchObject({
    code: 0,
    stdout: "weather_v2 is no longer registered\n",
  });
  expect(await run("unregister", "weather", "--url", hall.url)).toMatchObject({ code: 66 });
  expect(await run("register", join(folder, "missing.json"))).toMatchObject({ code: 66 });
  expect(await run("register", file, "--url", "http://127.0.0.1:9")).toMatchObject({ code: 69 });
  expect(readFileSync(join(folder, "data", "guildhall", "token"), "utf8").trim()).not.toBe("");
});
