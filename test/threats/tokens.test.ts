// What a token allows its owner, and for how long.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openNamedTokens } from "../../src/server/http/tokens.ts";
import { type Door, openDoor } from "../servers/door.ts";
import { askModern, connectWebSocket } from "../servers/door-clients.ts";
import { createEchoToolkit, createToolkit, text } from "../servers/toolkits.ts";

let folder: string;
let door: Door;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-tokens-"));
  const nested = createToolkit("nested", {
    run: {
      run: async (_args, { call }) => (await call?.("other.echo", {})) ?? text("nothing"),
    },
  });
  door = await openDoor({
    toolkits: [createEchoToolkit(), createEchoToolkit("other"), nested],
    findOwner: openNamedTokens(folder).find,
    metrics: () => "figures",
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
      error: { message: "tools/register requires a token with the scope register:search_tool" },
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
    expect(json).toMatchObject({ error: { data: { error_type: "denied" } } });
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
    const tools = ["echo.*", "nested.run"];
    const token = await openNamedTokens(folder).create("narrow", { tools });
    const ask = async (method: string, params: JsonObject): Promise<JsonObject> =>
      (await askModern(door, method, params, bearer(token))).json ?? {};
    const { tools: listed } = (await ask("tools/list", {})).result as { tools: JsonObject[] };
    expect(listed.map(({ name }) => name)).toEqual(["echo.echo", "nested.run"]);
    expect(await ask("tools/call", callEcho)).not.toMatchObject({ result: { isError: true } });
    for (const name of ["other.echo", "nested.run"])
      expect(await ask("tools/call", { name, arguments: {} })).toMatchObject({
        result: { isError: true, structuredContent: { error_type: "denied" } },
      });
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
