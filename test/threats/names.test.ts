// One name that a model API refuses makes a client lose every tool.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createLog } from "../../src/base/log.ts";
import { createRegistry } from "../../src/registry/registry.ts";
import type { Toolkit } from "../../src/tool.ts";
import type { RawClient } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { createShop } from "../servers/shop.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { workers } from "../toolkits/lisp-hall.ts";

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
  await using hall = await startHall({ toolkits: [shop] });
  const client = hall.connect();
  await client.greet();

  const tools = (await listNames(client, "tools")).filter((name) => name !== "evaluate-lisp");
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
        workflow: { folder, isListed: () => isListed },
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

test("names that would be equal differ by a hash, the same in every order and while servers are not listed yet", async () => {
  const shownBy = async (toolkits: readonly Toolkit[]): Promise<Record<string, string>> => {
    const registry = createRegistry({ log: createLog({ level: "silent" }) });
    for (const toolkit of toolkits) await registry.add(toolkit);
    const shown = registry
      .tools()
      .map((target) => [`${target.toolkit.id} ${target.tool.name}`, registry.shownName(target)]);
    return Object.fromEntries(shown);
  };
  const offer = (id: string, ...names: string[]): Toolkit =>
    createToolkit(id, Object.fromEntries(names.map((name) => [name, { run: () => text(name) }])), {
      source: "upstream",
    });
  const long = "x".repeat(70);
  const first = offer("a", "b.c", "b_c", "b c", "b__c", `${long}1`, `${long}2`);
  const second = offer("a__b", "c");

  const shown = await shownBy([first, second]);
  expect(new Set(Object.values(shown)).size).toBe(7);
  for (const name of Object.values(shown)) expect(name).toMatch(safe);
  expect(await shownBy([second, first])).toEqual(shown);
  // Its server is known and has not answered: the names of others are already those that they keep.
  expect(shown).toMatchObject(await shownBy([first, offer("a__b")]));
});

test("answers and errors name tools as the client sees them in its list, and our commands see dots", async () => {
  await using hall = await startHall({
    toolkits: createShop(),
    workers,
    agents: {
      files: [{ name: "files_agent", description: "", tools: ["files.*"], instructions: "" }],
    },
  });
  const client = hall.connect();
  await client.greet();
  const ask = async (name: string, args: JsonObject, _meta?: JsonObject): Promise<string> =>
    JSON.stringify(
      await client.request("tools/call", { name, arguments: args, ...(_meta && { _meta }) }),
    );
  const questions: readonly [tool: string, args: JsonObject][] = [
    ["find_tools", { task: "read a file" }],
    ["files_agent", { task: "read a file" }],
    ["files_agent", { task: "read a file", data: { path: "/a" } }],
    ["evaluate-lisp", { code: '(list-tools :match "files")' }],
    ["evaluate-lisp", { code: '(find-tools "read a file")' }],
    ["evaluate-lisp", { code: '(files:read-file :path "/a")' }],
    ["evaluate-lisp", { code: '(call-tool "files__read_fil")' }],
    ["files__read_fil", {}],
    ["files__read_file", {}],
    ["files__read_file", { path: 1 }],
  ];
  const dots: JsonObject = { "guildhall/names": "dot" };
  for (const [tool, args] of questions) {
    const answer = await ask(tool, args);
    expect(answer, tool).toContain("files__read_file");
    expect(answer, tool).not.toContain("files.read_file");
  }
  for (const [tool, args] of questions.slice(0, -2)) {
    const answer = await ask(tool, args, dots);
    expect(answer, tool).toContain("files.read_file");
    expect(answer, tool).not.toContain("files__read_file");
  }
  // The record keeps one name, whatever the caller wrote.
  const rows = await hall.hall.store.calls.list();
  expect(rows.map(({ tool }) => tool)).toContain("files.read_file");
  expect(JSON.stringify(rows.map(({ tool }) => tool))).not.toContain('files__read_file"');
});

test("prompts are found by every spelling, for completions too, and one that is held makes no name ambiguous", async () => {
  const offer = (id: string): Toolkit =>
    createToolkit(
      id,
      {},
      {
        source: "upstream",
        prompts: {
          list: async () => [{ name: "greet.all" }, { name: "part" }],
          get: async (name) => ({ description: `${name} of ${id}`, messages: [] }),
        },
        complete: async ({ name }) => ({ completion: { values: [`${String(name)} of ${id}`] } }),
      },
    );
  await using hall = await startHall({ toolkits: [offer("desk")] });
  const client = hall.connect();
  await client.greet();
  for (const name of ["desk.greet.all", "desk__greet.all", "desk__greet_all"]) {
    expect(await client.result("prompts/get", { name })).toMatchObject({
      description: "greet.all of desk",
    });
    const ref = { type: "ref/prompt", name };
    expect(
      await client.result("completion/complete", { ref, argument: { name: "a", value: "" } }),
    ).toMatchObject({ completion: { values: ["greet.all of desk"] } });
  }
  expect((await client.request("prompts/get", { name: "desk__pert" })).error).toMatchObject({
    message: "Unknown prompt: desk__pert; did you mean desk__part?",
  });

  const registry = createRegistry({
    log: createLog({ level: "silent" }),
    holds: ({ id }) => (id === "new" ? { kind: "new", reason: "not reviewed" } : undefined),
  });
  await registry.add(offer("desk"));
  await registry.add(offer("new"));
  expect(registry.getPrompt("part").fullName).toBe("desk.part");
  expect(() => registry.getPrompt("new.part")).toThrow("not reviewed");
});
