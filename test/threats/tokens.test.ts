// What a token allows its owner, and for how long.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openNamedTokens } from "../../src/server/http/tokens.ts";
import type { Toolkit } from "../../src/tool.ts";
import { type Door, openDoor } from "../servers/door.ts";
import { askModern, connectWebSocket, greet } from "../servers/door-clients.ts";
import { createEchoToolkit, createToolkit, text } from "../servers/toolkits.ts";

/** What a server offers besides tools. */
const offers: Partial<Toolkit> = {
  resources: {
    list: async () => [{ uri: "note://1", name: "canary" }],
    templates: async () => [{ uriTemplate: "note://{id}", name: "canary" }],
    read: async (uri) => ({ contents: [{ uri, text: "canary" }] }),
  },
  prompts: {
    list: async () => [{ name: "greet", description: "canary" }],
    get: async () => ({ messages: [{ role: "user", content: { type: "text", text: "canary" } }] }),
  },
  complete: async () => ({ completion: { values: ["canary"] } }),
};

let folder: string;
let door: Door;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-tokens-"));
  const nested = createToolkit("nested", {
    run: {
      run: async (_args, { call }) => (await call?.("other.echo", {})) ?? text("nothing"),
    },
  });
  const shelf = createToolkit("shelf", {}, offers);
  door = await openDoor({
    toolkits: [createEchoToolkit(), createEchoToolkit("other"), nested, shelf],
    findOwner: openNamedTokens(folder).find,
    metrics: () => "figures",
    hasOwnResources: true,
  });
});
afterEach(async () => {
  await door[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const bearer = (token: string): { readonly authorization: string } => ({
  authorization: `Bearer ${token}`,
});
const callEcho = { name: "echo.echo", arguments: {} };

async function register(token: string, name: string): Promise<JsonObject> {
  const client = await connectWebSocket(door, { headers: bearer(token) });
  const tool = {
    name,
    description: "Finds",
    version: "1.0.0",
    functions: [{ name: "find", description: "Finds", parameters: { type: "object" } }],
  };
  const answer = await client.request("tools/register", { tool });
  client.close();
  return answer;
}

describe("a token", () => {
  test("without scopes may call tools, and neither register, read the figures nor refresh", async () => {
    const token = await openNamedTokens(folder).create("ci");
    expect((await askModern(door, "tools/call", callEcho, bearer(token))).status).toBe(200);
    expect(await register(token, "search_tool")).toMatchObject({
      error: { data: { details: expect.stringContaining("the scope register:search_tool") } },
    });
    for (const path of ["/metrics", "/api/toolkits"]) {
      const headers = bearer(token);
      expect([path, (await door.send({ method: "GET", path, headers })).status]).toEqual([
        path,
        403,
      ]);
    }
  });

  test("to register one toolkit registers no other, and calls nothing", async () => {
    const scopes = ["register:finder"];
    const token = await openNamedTokens(folder).create("service", { scopes });
    expect(await register(token, "finder")).toMatchObject({ result: { status: "registered" } });
    expect(await register(token, "other_finder")).toMatchObject({ error: {} });
    const { json } = await askModern(door, "tools/call", callEcho, bearer(token));
    expect(json).toMatchObject({ result: { structuredContent: { error_type: "denied" } } });
  });

  test("to read reads the registry and the figures, and calls nothing", async () => {
    const token = await openNamedTokens(folder).create("monitor", { scopes: ["read"] });
    for (const path of ["/metrics", "/api/toolkits"])
      expect((await door.send({ method: "GET", path, headers: bearer(token) })).status).toBe(200);
    const path = "/api/toolkits/echo/functions/echo/call";
    const reply = await door.send({ path, body: {}, headers: bearer(token) });
    expect(reply.status).toBe(403);
  });

  test("for some tools lists and calls only these, also inside other calls", async () => {
    const tools = ["echo.*", "nested__run"];
    const token = await openNamedTokens(folder).create("narrow", { tools });
    const ask = async (method: string, params: JsonObject): Promise<JsonObject> =>
      (await askModern(door, method, params, bearer(token))).json ?? {};
    const { tools: listed } = (await ask("tools/list", {})).result as { tools: JsonObject[] };
    expect(listed.map(({ name }) => name)).toEqual(["echo__echo", "echo__typed", "nested__run"]);
    expect(await ask("tools/call", callEcho)).not.toMatchObject({ result: { isError: true } });
    for (const name of ["other.echo", "nested.run"])
      expect(await ask("tools/call", { name, arguments: {} })).toMatchObject({
        result: { isError: true, structuredContent: { error_type: "denied" } },
      });
    // A misspelled name is not answered with those of others, and one of its own is not ambiguous.
    const other = JSON.stringify(await ask("tools/call", { name: "other.echos", arguments: {} }));
    expect(other).toContain("Unknown tool: other.echos");
    expect(other).not.toContain("other__echo");
    expect(await ask("tools/call", { ...callEcho, name: "echo" })).not.toHaveProperty("error");
  });

  test("for some tools reads no prompt, resource or completion of other servers", async () => {
    const narrow = bearer(await openNamedTokens(folder).create("few", { tools: ["echo.echo"] }));
    const whole = bearer(await openNamedTokens(folder).create("one", { tools: ["shelf.*"] }));
    const ask = async (headers: ReturnType<typeof bearer>, method: string, params: JsonObject) =>
      JSON.stringify((await askModern(door, method, params, headers)).json);
    const asked: readonly [string, JsonObject][] = [
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["prompts/list", {}],
      ["resources/read", { uri: "note://1" }],
      ["prompts/get", { name: "shelf.greet" }],
      [
        "completion/complete",
        {
          ref: { type: "ref/prompt", name: "shelf.greet" },
          argument: { name: "who", value: "" },
        },
      ],
    ];
    for (const [method, params] of asked) {
      expect([method, await ask(narrow, method, params)]).not.toEqual([
        method,
        expect.stringContaining("canary"),
      ]);
      expect(await ask(whole, method, params)).toContain("canary");
    }
    const misspelled = { name: "shelf.grete" };
    expect(await ask(whole, "prompts/get", misspelled)).toContain("did you mean shelf__greet");
    expect(await ask(narrow, "prompts/get", misspelled)).not.toContain("did you mean");
  });

  test("without the scope read sees neither the figures nor the registry by any way", async () => {
    const token = await openNamedTokens(folder).create("ci");
    const service = await openNamedTokens(folder).create("s", { scopes: ["register:finder"] });
    const { json } = await askModern(door, "resources/list", {}, bearer(token));
    expect(JSON.stringify(json)).not.toContain("guildhall://");
    const read = await askModern(
      door,
      "resources/read",
      { uri: "guildhall://stats" },
      bearer(token),
    );
    expect(read.json).toMatchObject({ error: { data: { error_type: "denied" } } });
    for (const given of [token, service]) {
      const client = await connectWebSocket(door, { headers: bearer(given) });
      const params = { tool_name: "echo", function_name: "echo" };
      for (const method of ["registered", "toolkits", "toolkit", "schema"])
        expect(await client.request(`tools/${method}`, params)).toMatchObject({ error: {} });
      expect(await client.request("health/check", params)).toMatchObject({ error: {} });
      client.close();
    }
  });

  test("of a name that was revoked does not take over the sessions of the one before", async () => {
    const tokens = openNamedTokens(folder);
    const before = bearer(await tokens.create("ci", { scopes: ["admin"] }));
    const { id } = await greet(door, { headers: before });
    await tokens.revoke("ci");
    const after = bearer(await tokens.create("ci", { tools: ["echo.echo"] }));
    const body = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "other.echo" } };
    const headers = { ...after, "mcp-session-id": id };
    expect((await door.send({ path: "/mcp", body, headers })).status).toBe(404);
  });

  test("that has expired is refused", async () => {
    const expiresAt = Date.now() - 1;
    const token = await openNamedTokens(folder).create("old", { expiresAt });
    expect((await askModern(door, "tools/call", callEcho, bearer(token))).status).toBe(401);
  });

  test("made by 0.1 keeps its rights; one whose limits cannot be read has none", async () => {
    const file = join(folder, "tokens.json");
    const tokens = openNamedTokens(folder);
    const token = await tokens.create("ci");
    const written = JSON.parse(readFileSync(file, "utf8")) as { ci: JsonObject };
    const { hash, createdAt } = written.ci;
    writeFileSync(file, JSON.stringify({ ci: { hash, createdAt } }));
    expect(tokens.list()).toMatchObject([{ name: "ci", scopes: ["admin"] }]);
    expect(await register(token, "finder")).toMatchObject({ result: { status: "registered" } });
    writeFileSync(file, JSON.stringify({ ci: { hash, createdAt, scopes: ["call"], tools: 1 } }));
    expect(tokens.find(token)).toBeUndefined();
  });
});
