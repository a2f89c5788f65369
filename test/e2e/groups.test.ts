import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { allowUnattended } from "../servers/home.ts";
import { binOf } from "../servers/real.ts";

/** From a config of twelve real servers to agents a client can ask: `build`, then `mcp`, with the built command. */
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const exec = promisify(execFile);
let project: string;
let env: Record<string, string>;

beforeAll(async () => {
  if (!existsSync(cli)) throw new Error("dist/cli.js is missing: run `npm run build` first");
  project = mkdtempSync(join(tmpdir(), "guildhall-groups-"));
  for (const folder of ["run", "data", "config", "files"])
    mkdirSync(join(project, folder), { mode: 0o700 });
  env = {
    ...(process.env as Record<string, string>),
    NO_COLOR: "1",
    XDG_RUNTIME_DIR: join(project, "run"),
    XDG_DATA_HOME: join(project, "data"),
    XDG_CONFIG_HOME: join(project, "config"),
  };
  allowUnattended(join(project, "config"));
  configure(servers());
  await guildhall("build", "--yes", "--json");
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function configure(mcpServers: Record<string, object>, more: JsonObject = {}): void {
  writeFileSync(join(project, "guildhall.json"), JSON.stringify({ ...more, mcpServers }, null, 2));
}

/** Twelve entries; several are the same server under another name, as in a team's config. */
function servers() {
  const node = (name: string, ...args: string[]): object => ({
    command: process.execPath,
    args: [binOf(name), ...args],
  });
  const memory = (file: string): object => ({
    ...node("@modelcontextprotocol/server-memory"),
    env: { MEMORY_FILE_PATH: join(project, `${file}.json`) },
  });
  const files = node("@modelcontextprotocol/server-filesystem", join(project, "files"));
  const everything = node("@modelcontextprotocol/server-everything", "stdio");
  const thinking = node("@modelcontextprotocol/server-sequential-thinking");
  const context7 = node("@upstash/context7-mcp");
  return {
    ...{ everything, everything_two: everything, files, files_two: files, files_three: files },
    ...{ memory: memory("one"), memory_two: memory("two"), memory_three: memory("three") },
    ...{ thinking, thinking_two: thinking, context7, context7_two: context7 },
  };
}

async function guildhall(...args: string[]): Promise<string> {
  const { stdout } = await exec(process.execPath, [cli, ...args], {
    cwd: project,
    env,
    timeout: 100_000,
  });
  return stdout;
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await guildhall(...args, "--json")) as T;
}

/** Every file a build writes about groups, by name. */
function groupFiles(): Record<string, string> {
  const folder = join(project, ".guildhall");
  const names = [
    ...readdirSync(join(folder, "agents")).map((name) => `agents/${name}`),
    "agents.lock.json",
    "instructions.md",
    "tools.lock.json",
  ];
  return Object.fromEntries(
    names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

async function withClient<T>(work: (client: Client) => Promise<T>, ...args: string[]): Promise<T> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, "mcp", ...args],
    cwd: project,
    env,
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

test("a client sees a few agents instead of every tool, and reaches every tool", async () => {
  const shown = await withClient(
    async (client) => (await client.listTools()).tools,
    "--expose",
    "tools",
  );
  // The workflow's steps stand beside the agents, behind none.
  const all = shown.filter(({ name }) => name !== "evaluate-lisp");
  expect(all.length).toBeGreaterThan(100);
  await withClient(async (client) => {
    const { tools } = await client.listTools();
    const agents = tools.filter(({ name }) => name.endsWith("_agent"));
    expect(tools.map(({ name }) => name)).toEqual(
      [...agents.map(({ name }) => name), "call_tool", "evaluate-lisp", "find_tools"].sort(),
    );
    expect(agents.length).toBeGreaterThanOrEqual(3);
    expect(agents.length).toBeLessThanOrEqual(10);
    for (const { name, description, inputSchema } of agents) {
      expect(name).toMatch(/^[a-z][a-z0-9_]+_agent$/);
      expect(description).toMatch(/^Specialized agent for /);
      expect(inputSchema.required).toEqual(["task"]);
    }
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(12 * 1_024);
    expect(client.getInstructions()).toContain("find_tools");

    const asked = await client.callTool({
      name: "find_tools",
      arguments: { task: "read the whole knowledge graph", limit: 1 },
    });
    const [found] = (asked.structuredContent as { tools: JsonObject[] }).tools;
    expect([found?.name, ...((found?.alike as string[] | undefined) ?? [])].sort()).toEqual([
      "memory__read_graph",
      "memory_three__read_graph",
      "memory_two__read_graph",
    ]);
    const graph = await client.callTool({
      name: "call_tool",
      arguments: { name: "memory_two.read_graph", arguments: {} },
    });
    expect(graph.structuredContent).toEqual({ entities: [], relations: [] });
    // Whatever the face, a tool answers to its own name.
    expect(
      (await client.callTool({ name: "everything.echo", arguments: { message: "hi" } })).content,
    ).toEqual([{ type: "text", text: "Echo: hi" }]);
  });
  const { groups } = await json<{ groups: { tools: string[] }[] }>("groups", "list");
  expect(groups.flatMap(({ tools }) => tools).sort()).toEqual(
    all.map(({ name }) => name.replace("__", ".")).sort(),
  );
});

test("an agent answers with its best tools for a task", async () => {
  const { groups } = await json<{ groups: { name: string }[] }>(
    "groups",
    "explain",
    "read",
    "a",
    "text",
    "file",
  );
  const [best] = groups;
  await withClient(async (client) => {
    const { structuredContent } = await client.callTool({
      name: best?.name ?? "",
      arguments: { task: "read a text file" },
    });
    const { tools } = structuredContent as { tools: { name: string; signature: string }[] };
    expect(tools[0]?.name).toMatch(/^files(_two|_three)?__read_/);
    expect(tools[0]?.signature).toContain("(path: string");
  });
});

test("a second build writes the same bytes, and a thirteenth server changes one or two agents", async () => {
  const before = groupFiles();
  await guildhall("build", "--yes", "--json");
  expect(groupFiles()).toEqual(before);
  configure({
    ...servers(),
    notes: { ...servers().memory, env: { MEMORY_FILE_PATH: join(project, "notes.json") } },
  });
  const built = await json<{ groups: { changes: { file: string }[] } }>("build", "--yes");
  const after = groupFiles();
  const changed = Object.keys({ ...before, ...after }).filter(
    (name) => name.startsWith("agents/") && before[name] !== after[name],
  );
  expect(changed.length).toBeGreaterThanOrEqual(1);
  expect(changed.length).toBeLessThanOrEqual(2);
  expect(built.groups.changes.map(({ file }) => file)).toEqual(changed);
});

test("a dry run shows the groups; moved tools and renamed groups survive the next build", async () => {
  const { memory, files } = servers();
  configure({ memory, files }, { expose: "agents" });
  // From thirteen servers to two: most of what there was would go.
  const dry = await guildhall("build", "--yes", "--dry-run");
  expect(dry).toMatch(
    /^(deleted|changed) \.guildhall\/agents\/.*\.md\n[\s\S]*\n- {3}- everything\.echo\n/,
  );
  expect(groupFiles()["tools.lock.json"]).toContain('"notes"');
  await guildhall("build", "--yes", "--regroup", "--json");
  const { groups } = await json<{ groups: { name: string; tools: string[] }[] }>("groups", "list");
  const to = groups.find(({ tools }) => !tools.includes("memory.read_graph"))?.name ?? "";
  await withClient(async (client) => {
    await client.listTools();
    await expect(json("groups", "move", "memory.read_graph", to)).resolves.toMatchObject({
      tool: "memory.read_graph",
      to,
    });
    await guildhall("groups", "rename", to, "favourites");
    // The hall that runs shows it at once.
    await expect
      .poll(async () => (await client.listTools()).tools.map(({ name }) => name))
      .toContain("favourites_agent");
    await expect(json("groups", "create", "my graph", "memory.open_nodes")).resolves.toMatchObject({
      name: "my_graph_agent",
      tools: ["memory.open_nodes"],
    });
    await expect
      .poll(async () => (await client.listTools()).tools.map(({ name }) => name))
      .toContain("my_graph_agent");
  });
  await guildhall("build", "--yes", "--regroup", "--json");
  expect((await json<{ tools: string[] }>("groups", "show", "favourites")).tools).toContain(
    "memory.read_graph",
  );
  expect((await json<{ tools: string[] }>("groups", "show", "my_graph")).tools).toEqual([
    "memory.open_nodes",
  ]);
  const refusals = [
    [["show", "favorites"], 66, "did you mean favourites_agent"],
    [["move", "memory.raed_graph", "favourites"], 66, "did you mean memory.read_graph"],
    [["rename", "favourites", "Favourites"], 1, "already exists"],
  ] as const;
  for (const [words, code, message] of refusals) {
    await expect(guildhall("groups", ...words)).rejects.toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
  }
});

test("without groups, the commands about them name the next step", async () => {
  const empty = mkdtempSync(join(tmpdir(), "guildhall-no-groups-"));
  try {
    const run = exec(process.execPath, [cli, "groups"], { cwd: empty, env, timeout: 60_000 });
    await expect(run).rejects.toMatchObject({
      code: 66,
      stderr: expect.stringContaining("guildhall build"),
    });
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
});
