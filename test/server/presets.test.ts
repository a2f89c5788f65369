import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { loadConfig } from "../../src/config/load.ts";
import { isListed } from "../../src/gateway/allow-list.ts";
import { presetsOf } from "../../src/hall/settings.ts";
import { allRights, within } from "../../src/server/rights.ts";
import { clientInfo } from "../servers/client.ts";
import { type Door, openDoor } from "../servers/door.ts";
import { call } from "../servers/door-clients.ts";
import { createEchoToolkit, createToolkit, text } from "../servers/toolkits.ts";

/** Presets: what a connection sees and calls, over HTTP and in the config. */
const box = createToolkit("box", {
  look: { run: async () => text("seen") },
  drop: { run: async () => text("gone") },
});
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

async function openPresets(): Promise<Door> {
  const door = await openDoor({ toolkits: [createEchoToolkit(), box] });
  door.hall.server.presets = { looking: ["box.look"], echo: ["echo.*"] };
  return door;
}

async function greetAt(door: Door, path: string) {
  const { headers } = await door.send({ path, body: initialize });
  const session = { "mcp-session-id": String(headers["mcp-session-id"]) };
  return (body: JsonObject, at = path) => door.send({ path: at, body, headers: session });
}

const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
const namesOf = ({ json }: { json: JsonObject | undefined }): string[] =>
  ((json?.result ?? { tools: [] }) as { tools: { name: string }[] }).tools.map(({ name }) => name);

test("a client at /mcp/NAME lists and calls only the tools of the preset", async () => {
  await using door = await openPresets();
  const send = await greetAt(door, "/mcp/looking");
  expect(namesOf(await send(list))).toEqual(["box__look"]);
  expect((await send(call(3, "box.look", {}))).json).toMatchObject({
    result: { content: [{ text: "seen" }] },
  });
  for (const name of ["box.drop", "echo.echo", "find_tools", "evaluate-lisp"])
    expect((await send(call(4, name, {}))).json).toMatchObject({
      result: { isError: true, structuredContent: { error_type: "denied" } },
    });
  const echo = await greetAt(door, "/mcp/echo");
  expect(namesOf(await echo(list))).toEqual(["echo__echo", "echo__typed"]);
});

test("an address that the hall does not have is answered with those it has", async () => {
  await using door = await openPresets();
  const { status, text } = await door.send({ path: "/nothing", body: initialize });
  expect(status).toBe(404);
  expect(text).toContain("/ready");
  expect(text).toContain("Check the address.");
});

test("a session belongs to its preset, and an unknown preset is a 404 that names the others", async () => {
  await using door = await openPresets();
  const send = await greetAt(door, "/mcp/looking");
  expect((await send(list, "/mcp")).status).toBe(404);
  expect((await send(list, "/mcp/echo")).status).toBe(404);
  expect(await door.send({ path: "/mcp/nothing", body: initialize })).toMatchObject({
    status: 404,
    text: expect.stringContaining("(expected: looking, echo)"),
  });
  expect((await door.send({ path: "/mcp/a/b", body: initialize })).status).toBe(404);
});

test("a token and a preset allow what both name", () => {
  const presets = { work: ["github.*", "box.look"] };
  const toolsOf = (tools: readonly string[]) =>
    within("work", { ...allRights, tools }, presets).tools;
  expect(toolsOf(["github.create_issue", "box.*", "mail.*"])).toEqual([
    "github.create_issue",
    "box.look",
  ]);
  expect(toolsOf(["github.*"])).toEqual(["github.*"]);
  expect(toolsOf(["mail.send"])).toEqual([]);
  expect(within("work", allRights, presets).tools).toEqual(presets.work);
  expect(within(undefined, allRights, presets)).toBe(allRights);
});

describe("in the config", () => {
  async function load(project: object, user: object = {}) {
    const folder = mkdtempSync(join(tmpdir(), "guildhall-presets-"));
    try {
      writeFileSync(join(folder, "guildhall.json"), JSON.stringify(project));
      writeFileSync(join(folder, "user.json"), JSON.stringify(user));
      return await loadConfig({ folder, userFile: join(folder, "user.json"), env: {} });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  test("a preset names servers and tools; a server's prefix counts", async () => {
    const { config } = await load({
      mcpServers: { github: { command: "node", prefix: "gh" } },
      presets: { work: { servers: ["github", "time_tool"], tools: ["box.look"] } },
    });
    expect(presetsOf(config)).toEqual({ work: ["gh.*", "time_tool.*", "box.look"] });
  });

  test("a server without a prefix cannot be named whole, and the config says so", async () => {
    const { warnings } = await load({
      mcpServers: { github: { command: "node", prefix: "" }, files: { command: "node" } },
      presets: { work: { servers: ["github", "files"] } },
    });
    expect(warnings).toEqual([
      expect.stringMatching(/presets\.work\.servers: names github, which has no prefix/),
    ]);
  });

  test.each([
    ["github.list", true],
    ["githubs", false],
    ["github", false],
    [".list", false],
    ["list", true],
  ])("github.*, .* and list name %s: %j", (name, isNamed) => {
    expect(isListed(["github.*", ".*", "list"], name)).toBe(isNamed);
  });

  test("a project cannot change a preset of the user's file", async () => {
    const user = { presets: { work: { tools: ["box.look"] } } };
    await expect(load({ presets: { work: { tools: ["box.*"] } } }, user)).rejects.toThrow(
      "is a preset of the user's own config file",
    );
  });
});
