import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createHandlers } from "../../src/hall/admin-handlers.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { until } from "../servers/until.ts";

const library = new URL("../../dist/index.js", import.meta.url).href;

/** Toolkits from files that the config names: each for itself, and again when it has changed. */
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => void rmSync(folder, { recursive: true, force: true })));

interface Project {
  readonly folder: string;
  write(file: string, text: string): void;
}

let edits = 0;

function newProject(files: Readonly<Record<string, string>>): Project {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-modules-"));
  folders.push(folder);
  mkdirSync(join(folder, "tools", "deep"), { recursive: true });
  const project: Project = {
    folder,
    write(file, text) {
      const path = join(folder, file);
      writeFileSync(path, text);
      // Two edits in one tick of the file system's clock are still two.
      utimesSync(path, new Date(), new Date(1_700_000_000_000 + ++edits * 1_000));
    },
  };
  for (const [file, text] of Object.entries(files)) project.write(file, text);
  return project;
}

const module = (id: string, said = id): string => `export const kit = {
  id: "${id}",
  list: async () => [{ name: "say", inputSchema: { type: "object" } }],
  call: async () => ({ content: [{ type: "text", text: ${JSON.stringify(said)} }] }),
};`;

const start = ({ folder }: Project, patterns = ["./tools/*.mjs"]): Promise<TestHall> =>
  startHall({ toolkits: [], modules: { patterns, folder } });
const namesOf = ({ hall }: TestHall): string[] =>
  hall.registry.tools().map(({ fullName }) => fullName);

async function say(started: TestHall, name: string): Promise<unknown> {
  const client = started.connect();
  await client.greet();
  const { content } = (await client.result("tools/call", { name })) as {
    content: { text: string }[];
  };
  return content[0]?.text;
}

test("globs find modules; each of their toolkits is there", async () => {
  const project = newProject({
    "tools/a.mjs": module("a"),
    "tools/b.mjs": module("b"),
    "tools/c.txt": "no",
    "tools/deep/d.mjs": module("d"),
    "tools/.e.mjs": module("e"),
  });
  {
    await using started = await start(project);
    expect(namesOf(started)).toEqual(["a.say", "b.say"]);
    expect(await say(started, "a.say")).toBe("a");
  }
  await using all = await start(project, ["tools/**/?.mjs"]);
  expect(namesOf(all)).toEqual(["a.say", "b.say", "d.say"]);
});

test("broken ones are listed with their errors, and do not affect others", async () => {
  const project = newProject({
    "tools/bad-syntax.mjs": "export const = 3",
    "tools/empty.mjs": "export const three = 3;",
    "tools/good.mjs": module("good"),
    "tools/missing.mjs": 'import "no-such-package";',
    "tools/reserved.mjs": module("guildhall_x"),
    "tools/same.mjs": module("good", "something else"),
    "tools/throws.mjs": 'throw new Error("not today")',
  });
  await using started = await start(project);
  expect(namesOf(started)).toEqual(["good.say"]);
  const failures = Object.fromEntries(
    started.hall.modules.failures().map(({ module: name, error }) => [name, error]),
  );
  expect(failures).toMatchObject({
    "tools/bad-syntax.mjs": expect.any(String),
    "tools/empty.mjs": expect.stringContaining("no toolkit exported"),
    "tools/missing.mjs": expect.stringContaining("no-such-package"),
    "tools/reserved.mjs": expect.stringContaining("guildhall"),
    "tools/same.mjs": expect.stringContaining('"good" already exists'),
    "tools/throws.mjs": "not today",
  });
  expect(Object.keys(failures)).toHaveLength(6);
  const client = started.connect();
  const { instructions } = await client.greet();
  expect(instructions).toContain("6 not reviewed or not loadable");
  expect(instructions).not.toContain("throws.mjs");
  expect(instructions).not.toContain("not today");
  expect(await client.result("tools/registered")).toMatchObject({
    tools: [{ name: "good", source: "module" }],
    failed_modules: expect.arrayContaining([{ module: "tools/throws.mjs", error: "not today" }]),
  });
});

test("a second file with the same code changes nothing, and serves when the first is gone", async () => {
  const project = newProject({ "tools/a.mjs": module("a"), "tools/copy.mjs": module("a") });
  await using started = await start(project);
  expect(started.hall.modules.failures()).toEqual([]);
  expect(namesOf(started)).toEqual(["a.say"]);
  await started.hall.modules.scan();
  expect(await say(started, "a.say")).toBe("a");
  rmSync(join(project.folder, "tools/a.mjs"));
  await started.hall.modules.scan();
  expect(await say(started, "a.say")).toBe("a");
});

test("lists state how long a definition may be cached, 300 seconds by default", async () => {
  const short = module("short").replace("{", "{\n  cacheTtlSeconds: 20,");
  const project = newProject({ "tools/a.mjs": module("a"), "tools/short.mjs": short });
  await using started = await start(project);
  const client = started.connect();
  await client.greet();
  const { tools } = (await client.result("tools/list")) as { tools: readonly JsonObject[] };
  expect(tools.map(({ _meta }) => _meta)).toMatchObject([
    { "guildhall/cache_ttl": 300 },
    { "guildhall/cache_ttl": 20 },
  ]);
});

test.each([
  ["300 seconds by default", module("a"), 300_000],
  ["the time its toolkit says", module("a").replace("{", "{\n  cacheTtlSeconds: 20,"), 20_000],
])("modules are looked at again after %s", async (_what, text, ms) => {
  const waits = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => waits.mockRestore());
  const project = newProject({ "tools/a.mjs": text });
  await using started = await start(project);
  const look = waits.mock.calls.findLast(([, wait]) => wait === ms)?.[0];
  project.write("tools/b.mjs", module("b"));
  expect(namesOf(started)).toEqual(["a.say"]);
  look?.();
  await until(() => namesOf(started).includes("b.say"), "the new module");
});

test("a scan loads new and changed modules, keeps the last good version of a broken one, and drops removed ones", async () => {
  const project = newProject({ "tools/a.mjs": module("a", "first"), "tools/b.mjs": module("b") });
  await using started = await start(project);
  project.write("tools/a.mjs", module("a", "second"));
  project.write("tools/c.mjs", module("c"));
  rmSync(join(project.folder, "tools/b.mjs"));
  await started.hall.modules.scan();
  expect(namesOf(started)).toEqual(["a.say", "c.say"]);
  expect(await say(started, "a.say")).toBe("second");
  project.write("tools/a.mjs", "export const = 3");
  await started.hall.modules.scan();
  expect(await say(started, "a.say")).toBe("second");
  expect(started.hall.modules.failures()).toMatchObject([{ module: "tools/a.mjs" }]);
  project.write("tools/a.mjs", module("renamed"));
  await started.hall.modules.scan();
  expect(namesOf(started)).toEqual(["c.say", "renamed.say"]);
  expect(started.hall.modules.failures()).toEqual([]);
});

test("one is looked at again on request, alone", async () => {
  const project = newProject({
    "tools/a.mjs": module("a", "first"),
    "tools/b.mjs": module("b", "first"),
  });
  await using started = await start(project);
  for (const id of ["a", "b"]) project.write(`tools/${id}.mjs`, module(id, "second"));
  const client = started.connect();
  expect(await client.result("tools/refresh", { tool_name: "a" })).toEqual({
    status: "refreshed",
    failed_modules: [],
  });
  expect([await say(started, "a.say"), await say(started, "b.say")]).toEqual(["second", "first"]);
  expect(await client.request("tools/refresh", { tool_name: "tools/x.mjs" })).toMatchObject({
    error: { code: -32002 },
  });
});

test("a module that never finishes loading is given up", async () => {
  const project = newProject({
    "tools/hangs.mjs": "await new Promise((resolve) => setTimeout(resolve, 60_000).unref());",
    "tools/good.mjs": module("good"),
  });
  await using started = await startHall({
    toolkits: [],
    modules: { patterns: ["tools/*.mjs"], folder: project.folder, loadMsMax: 2_000 },
  });
  expect(namesOf(started)).toEqual(["good.say"]);
  expect(started.hall.modules.failures()).toMatchObject([
    { module: "tools/hangs.mjs", error: expect.stringContaining("2.0 s") },
  ]);
});

test("a module that ends or blocks its process while it is loaded is named, and the others run", async () => {
  const project = newProject({
    "tools/blocks.mjs": "for (;;);",
    "tools/ends.mjs": "process.exit(3);",
    "tools/good.mjs": module("good"),
  });
  await using started = await startHall({
    toolkits: [],
    modules: { patterns: ["tools/*.mjs"], folder: project.folder, loadMsMax: 2_000 },
  });
  expect(started.hall.modules.failures()).toMatchObject([
    { module: "tools/blocks.mjs", error: expect.stringContaining("2.0 s") },
    { module: "tools/ends.mjs", error: expect.stringContaining("exited with code 3") },
  ]);
  expect(await say(started, "good.say")).toBe("good");
});

test("a module prints, reports progress and logs, asks the client, and fails with its own errors", async () => {
  const project = newProject({
    "tools/a.mjs": `import { HallError } from ${JSON.stringify(library)};
console.log("not a message of the protocol");
export const kit = {
  id: "a",
  list: async () => ["ask", "fail", "refuse"].map((name) => ({ name, inputSchema: { type: "object" } })),
  async call({ name }, args, context) {
    if (name === "fail") throw new Error("broken");
    if (name === "refuse") throw new HallError("VALIDATION", "wrong word", { details: { errors: [] } });
    context.progress({ progress: 1, message: "half" });
    context.log("warning", "careful");
    const { it } = await context.ask({ it: { method: "elicitation/create", params: { message: "Which?", requestedSchema: { type: "object", properties: {} } } } });
    return { content: [{ type: "text", text: it.action }] };
  },
  resources: {
    list: async () => [{ uri: "a://one", name: "one" }],
    templates: async () => [],
    read: async (uri) => ({ contents: [{ uri, text: "read" }] }),
  },
  prompts: { list: async () => [{ name: "p" }], get: async (name) => ({ messages: [{ role: "user", content: { type: "text", text: name } }] }) },
};`,
  });
  await using started = await start(project);
  expect(started.hall.modules.failures()).toEqual([]);
  const client = started.connect();
  await client.greet("2025-11-25", { elicitation: {} });
  const asking = client.ask("tools/call", { name: "a.ask", _meta: { progressToken: 7 } });
  const { id } = await client.heard("elicitation/create");
  client.send({ jsonrpc: "2.0", id, result: { action: "decline" } });
  expect(await client.answer(asking)).toMatchObject({ result: { content: [{ text: "decline" }] } });
  expect(await client.heard("notifications/progress")).toMatchObject({
    params: { progressToken: 7, progress: 1, message: "half" },
  });
  expect(await client.heard("notifications/message")).toMatchObject({
    params: { level: "warning", data: "careful" },
  });
  expect(await client.result("tools/call", { name: "a.fail" })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("broken") }],
  });
  await expect(started.hall.call("a.refuse")).rejects.toMatchObject({
    code: "VALIDATION",
    message: "wrong word",
  });
  expect(await client.result("resources/read", { uri: "a://one" })).toMatchObject({
    contents: [{ text: "read" }],
  });
  expect(await client.result("prompts/get", { name: "a.p" })).toMatchObject({
    messages: [{ content: { text: "p" } }],
  });
});

test("status names the modules that are not loaded, and why", async () => {
  const project = newProject({
    "tools/good.mjs": module("good"),
    "tools/bad.mjs": 'throw new Error("kaboom");',
  });
  await using hall = await start(project);
  const settings = { folder: project.folder } as Parameters<typeof createHandlers>[2];
  await hall.hall.modules.scan();
  const { failedModules } = await createHandlers(hall.hall, async () => {}, settings).status({});
  expect(failedModules).toEqual([{ module: "tools/bad.mjs", error: "kaboom" }]);
});

test("status of a hall names the policy file that denies everything", async () => {
  await using hall = await startHall();
  const handlers = createHandlers(hall.hall, async () => {}, {} as never);
  expect((await handlers.status({})).brokenPolicies).toEqual([]);
  const file = "/policies/bad.cedar";
  await hall.hall.policies.replace([{ file, text: "forbid (nobody);", isProject: false }]);
  expect((await handlers.status({})).brokenPolicies).toEqual([expect.stringContaining(file)]);
});
