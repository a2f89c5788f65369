// One name that a model API refuses makes a client lose every tool.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { RawClient } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

const safe = /^[a-zA-Z0-9_-]{1,64}$/;

async function listNames(
  client: RawClient,
  kind: "tools" | "prompts",
  _meta?: JsonObject,
): Promise<string[]> {
  const listed = await client.result(`${kind}/list`, _meta ? { _meta } : {});
  return (listed[kind] as { name: string }[]).map(({ name }) => name);
}

const odd = [
  "create_issue",
  "issues.list",
  "issues_list",
  "búsqueda",
  "日本",
  "a b",
  "x".repeat(100),
  `${"x".repeat(100)}y`,
];

test("every tool and prompt is listed under a name that model APIs accept, and found by it", async () => {
  const run = (name: string) => () => text(`answered by ${name}`);
  const shop = createToolkit(
    "shop",
    Object.fromEntries(odd.map((name) => [name, { run: run(name) }])),
    {
      source: "upstream",
      prompts: {
        list: async () => odd.map((name) => ({ name })),
        get: async (name) => ({ description: `answered by ${name}`, messages: [] }),
      },
    },
  );
  await using hall = await startHall({ toolkits: [shop], names: "underscore" });
  const client = hall.connect();
  await client.greet();

  const tools = await listNames(client, "tools");
  expect(new Set(tools).size).toBe(odd.length);
  expect(tools).toEqual(expect.arrayContaining(["shop__create_issue", "shop__issues_list"]));
  const answers: string[] = [];
  for (const name of tools) {
    expect(name).toMatch(safe);
    answers.push(JSON.stringify(await client.result("tools/call", { name, arguments: {} })));
  }
  for (const name of odd) expect(answers.join()).toContain(`answered by ${name}"`);
  // Names of the config and the audit stay callable.
  for (const name of odd)
    expect(
      JSON.stringify(await client.result("tools/call", { name: `shop.${name}`, arguments: {} })),
    ).toContain(`answered by ${name}"`);

  const prompts = await listNames(client, "prompts");
  expect(new Set(prompts).size).toBe(odd.length);
  for (const name of prompts) {
    expect(name).toMatch(safe);
    expect(await client.result("prompts/get", { name })).toHaveProperty("description");
  }
});

test("steps of the workflow keep their dots, except for clients that refuse them, and are listed where they are used", async () => {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-names-"));
  try {
    const listed = async (isListed: boolean, client: string, _meta?: JsonObject) => {
      await using hall = await startHall({
        toolkits: [],
        names: "underscore",
        workflow: { folder, isListed },
      });
      const connected = hall.connect();
      await connected.result("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: client, version: "1.0" },
      });
      connected.notify("notifications/initialized");
      const names = await listNames(connected, "tools", _meta);
      return names.filter((name) => /specify$/.test(name));
    };
    expect(await listed(true, "some-client")).toEqual(["speckit.specify"]);
    expect(await listed(true, "claude-ai")).toEqual(["speckit__specify"]);
    expect(await listed(false, "some-client")).toEqual([]);
    expect(await listed(false, "some-client", { "guildhall/expose": "tools" })).toEqual([
      "speckit.specify",
    ]);
    mkdirSync(join(folder, ".specify"));
    expect(await listed(false, "some-client")).toEqual(["speckit.specify"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
