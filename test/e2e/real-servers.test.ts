import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allowUnattended } from "../servers/home.ts";
import { binOf } from "../servers/real.ts";

/**
 * Servers people use, from npm, behind the built command: found by `build`, listed from the lock,
 * started when called.
 */
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const run = promisify(execFile);
let project: string;
let env: Record<string, string>;

beforeAll(async () => {
  if (!existsSync(cli)) throw new Error("dist/cli.js is missing: run `npm run build` first");
  project = mkdtempSync(join(tmpdir(), "guildhall-real-"));
  for (const folder of ["run", "data", "config", "files"])
    mkdirSync(join(project, folder), { mode: 0o700 });
  writeFileSync(join(project, "files", "note.txt"), "a note");
  env = {
    ...(process.env as Record<string, string>),
    XDG_RUNTIME_DIR: join(project, "run"),
    XDG_DATA_HOME: join(project, "data"),
    XDG_CONFIG_HOME: join(project, "config"),
  };
  allowUnattended(join(project, "config"));
  writeFileSync(
    join(project, "guildhall.json"),
    JSON.stringify({ expose: "tools", mcpServers: servers() }, null, 2),
  );
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Twelve entries; several are the same server under another name, as in a team's config. */
function servers(): Record<string, object> {
  const everything = {
    command: process.execPath,
    args: [binOf("@modelcontextprotocol/server-everything"), "stdio"],
  };
  const files = {
    command: process.execPath,
    args: [binOf("@modelcontextprotocol/server-filesystem"), join(project, "files")],
  };
  const memory = (name: string): object => ({
    command: process.execPath,
    args: [binOf("@modelcontextprotocol/server-memory")],
    env: { MEMORY_FILE_PATH: join(project, `${name}.json`) },
  });
  const thinking = {
    command: process.execPath,
    args: [binOf("@modelcontextprotocol/server-sequential-thinking")],
  };
  const context7 = { command: process.execPath, args: [binOf("@upstash/context7-mcp")] };
  return {
    everything,
    everything_two: everything,
    files,
    files_two: files,
    memory: memory("one"),
    memory_two: memory("two"),
    memory_three: memory("three"),
    thinking,
    thinking_two: thinking,
    context7,
    context7_two: context7,
    files_three: files,
  };
}

async function connect(
  command: string,
  args: readonly string[],
): Promise<{ client: Client; pid: number; close(): Promise<void> }> {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    cwd: project,
    env,
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0, close: () => client.close() };
}

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
}

test("build finds the tools of twelve real servers, each greeted with initialize, and writes the same lock twice", async () => {
  const lock = join(project, ".guildhall", "tools.lock.json");
  const { stdout } = await run(process.execPath, [cli, "build", "--yes", "--json"], {
    cwd: project,
    env,
    timeout: 60_000,
  });
  const built = JSON.parse(stdout) as {
    servers: { name: string; ok: boolean; protocol: string; tools: string[] }[];
  };
  expect(built.servers.map(({ name, ok }) => [name, ok])).toEqual(
    Object.keys(servers()).map((name) => [name, true]),
  );
  // context7 speaks 2026-07-28 too; a process has one version for all its clients, the older one.
  expect(new Set(built.servers.map(({ protocol }) => protocol))).toEqual(new Set(["2025-11-25"]));
  const first = readFileSync(lock, "utf8");
  await run(process.execPath, [cli, "build", "--yes", "--json"], {
    cwd: project,
    env,
    timeout: 60_000,
  });
  expect(readFileSync(lock, "utf8")).toBe(first);
});

test("with the lock, the first list needs no running server, and only called servers are started", async () => {
  const hall = await connect(process.execPath, [cli, "mcp"]);
  try {
    const { tools } = await hall.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(100);
    expect(names).toEqual([...names].sort());
    expect(childrenOf(hall.pid)).toEqual([]);
    // The same tool of three servers: each stays callable under its own name.
    expect(names.filter((name) => name.endsWith("__read_graph"))).toEqual([
      "memory__read_graph",
      "memory_three__read_graph",
      "memory_two__read_graph",
    ]);
    await hall.client.callTool({
      name: "memory_two.create_entities",
      arguments: { entities: [{ name: "hall", entityType: "place", observations: ["old"] }] },
    });
    const [two, three] = await Promise.all([
      hall.client.callTool({ name: "memory_two.read_graph", arguments: {} }),
      hall.client.callTool({ name: "memory_three.read_graph", arguments: {} }),
    ]);
    expect(JSON.stringify(two)).toContain("hall");
    expect(JSON.stringify(three)).not.toContain("place");
    // Two servers and the shell that ends them should the hall be killed.
    expect(childrenOf(hall.pid)).toHaveLength(3);
    const note = await hall.client.callTool({
      name: "files.read_text_file",
      arguments: { path: join(project, "files", "note.txt") },
    });
    expect(note.content).toEqual([{ type: "text", text: "a note" }]);
    const refused = await hall.client.callTool({
      name: "context7.resolve-library-id",
      arguments: {},
    });
    expect(refused.isError).toBe(true);
  } finally {
    await hall.close();
  }
});

test("results are the same through the hall as direct", async () => {
  const direct = await connect(process.execPath, [
    binOf("@modelcontextprotocol/server-everything"),
    "stdio",
  ]);
  const hall = await connect(process.execPath, [cli, "mcp"]);
  try {
    const calls = [
      ["echo", { message: "hi" }],
      ["get-sum", { a: 2, b: 3 }],
      ["get-tiny-image", {}],
      ["get-structured-content", { location: "Chicago" }],
      ["get-annotated-message", { messageType: "error", includeImage: true }],
      ["get-resource-links", { count: 3 }],
    ] as const;
    for (const [name, args] of calls) {
      const [expected, actual] = await Promise.all([
        direct.client.callTool({ name, arguments: { ...args } }),
        hall.client.callTool({ name: `everything.${name}`, arguments: { ...args } }),
      ]);
      // The hall says `isError` in every result.
      expect(actual, name).toEqual({ isError: false, ...expected });
    }
    const { resources } = await direct.client.listResources();
    const known = (await hall.client.listResources()).resources.map(({ uri }) => uri);
    // Two servers here have the same resources, so each is listed with the name of its server.
    for (const { uri } of resources)
      expect(known).toContain(`guildhall://servers/everything/${uri}`);
    const prompts = (await hall.client.listPrompts()).prompts.map(({ name }) => name);
    for (const { name } of (await direct.client.listPrompts()).prompts)
      expect(prompts).toContain(`everything__${name}`);
  } finally {
    await Promise.all([direct.close(), hall.close()]);
  }
});
