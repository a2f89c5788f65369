import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createLog, Secrets } from "../../src/base/log.ts";
import { readFlags } from "../../src/cli/commands/tui.ts";
import { openHallTarget } from "../../src/cli/commands/tui-target.ts";
import { loadConfig } from "../../src/config/load.ts";
import { connectHall } from "../../src/hall/hall-client.ts";
import type { Settings } from "../../src/hall/settings.ts";
import { set } from "../../src/tui/events.ts";
import { benchOf, type ClientBench, makeFolder } from "./client-bench.ts";

const variables = ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] as const;
let home = "";

beforeAll(() => {
  home = makeFolder();
  // Trust and sockets are kept for the user: here for nobody but these tests.
  for (const name of variables) {
    vi.stubEnv(name, join(home, name));
    mkdirSync(join(home, name), { mode: 0o700 });
  }
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

async function settingsOf(folder: string): Promise<Settings> {
  const load = () => loadConfig({ folder });
  const loaded = await load();
  return {
    folder,
    config: loaded.config,
    loaded,
    load,
    faces: "auto",
    log: createLog({ level: "silent" }),
    secrets: new Secrets(),
  };
}

/** In a folder that is no project yet: its calls are kept in memory. */
async function openClient(
  folder: string,
  more: Partial<Settings["config"]> = {},
): Promise<ClientBench> {
  const settings = await settingsOf(folder);
  const loaded = { ...settings.loaded, config: { ...settings.loaded.config, ...more } };
  return benchOf(
    openHallTarget({ folder, settings: { ...settings, config: loaded.config, loaded } }),
    folder,
  );
}

test("steps are found in a hall that shows names with underscores", async () => {
  await using bench = await openClient(makeFolder(), { names: "underscore" });
  const ready = await bench.until(
    ({ tools }) => tools.load.kind === "loaded" && tools.items.length > 0,
  );
  // A person sees names as the config and the audit write them.
  const names = ready.tools.items.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["speckit.specify", "calculator.calculate"]));
  expect(ready.features.missing).not.toContain("speckit.specify");
  await bench.session.send(
    set("features", {
      draft: { step: "specify", feature: undefined, text: "Users can upload photos" },
    }),
  );
  await bench.session.send({ kind: "send draft" });
  expect(bench.session.state().runs[0]).toMatchObject({ state: { kind: "completed" } });
});

test("with its own hall: from a description to a question, and the hall's screens", async () => {
  await using bench = await openClient(makeFolder());
  const { session } = bench;
  const ready = await bench.until(
    ({ tools }) => tools.load.kind === "loaded" && tools.items.length > 0,
  );
  expect(ready).toMatchObject({
    target: { kind: "hall", transport: "in process" },
    connection: { kind: "ready", era: "modern" },
  });
  expect(ready.features.missing).not.toContain("speckit.specify");
  await session.send(
    set("features", {
      draft: { step: "specify", feature: undefined, text: "Users can upload photos" },
    }),
  );
  await session.send({ kind: "send draft" });
  const [feature] = session.state().features.items;
  expect(feature).toMatchObject({
    name: "001-users-upload-photos",
    phase: "clarify",
    isActive: true,
  });
  expect(session.state().runs[0]).toMatchObject({
    state: { kind: "completed" },
    progress: { total: 100 },
  });
  const clarified = session.send({ kind: "run step", feature: "001-users-upload-photos" });
  const { questions } = await bench.until(({ questions: [question] }) => question !== undefined);
  expect(questions[0]?.form.fields.length).toBeGreaterThan(0);
  await session.send({
    kind: "answer question",
    question: String(questions[0]?.id),
    action: "cancel",
  });
  await clarified;
  expect(session.state().runs[0]).toMatchObject({
    tool: "speckit.clarify",
    state: { kind: expect.stringMatching(/completed|cancelled/) },
  });
  // A step names missing inputs before it asks the server.
  await session.send({ kind: "run step", feature: "001-users-upload-photos", step: "implement" });
  expect(session.state().notices.at(-1)?.text).toContain(
    "implement needs tasks.md of 001-users-upload-photos. Run the step tasks.",
  );
  await session.send({ kind: "go", screen: "servers" });
  expect(session.state().servers).toMatchObject({
    load: { kind: "loaded" },
    status: { pid: process.pid, project: bench.folder },
  });
  await session.send({ kind: "restart server", server: "nobody" });
  expect(session.state().notices.at(-1)).toMatchObject({ level: "error" });
});

test("a call of another client can be approved here", async () => {
  await using bench = await openClient(makeFolder());
  const { session, folder } = bench;
  await bench.until(({ tools }) => tools.load.kind === "loaded" && tools.items.length > 0);
  await session.send(
    set("features", {
      draft: { step: "specify", feature: undefined, text: "Users can upload photos" },
    }),
  );
  await session.send({ kind: "send draft" });
  const other = await connectHall({ folder, settings: await settingsOf(folder) });
  try {
    const call = {
      name: "speckit.implement",
      arguments: { spec_directory: join(folder, "specs", "001-users-upload-photos") },
    };
    const calling = other.request("tools/call", call);
    await session.send({ kind: "go", screen: "approvals" });
    await bench.until(({ approvals }) => approvals.pending.length > 0);
    const [pending] = session.state().approvals.pending;
    expect(pending).toMatchObject({
      tool: "speckit.implement",
      preview: expect.stringContaining("001-users-upload-photos"),
    });
    expect(session.state().approvals.selected).toBe(pending?.token);
    await session.send({ kind: "approve", token: String(pending?.token), answer: "hall" });
    expect(session.state().approvals.pending).toEqual([]);
    // Past the question now, and refused by the step itself.
    expect(await calling).toMatchObject({
      isError: true,
      _meta: { "guildhall/error": { error_type: "execution" } },
    });
  } finally {
    await other.close();
  }
});

test("when the hall ends, an attached client becomes the next hall", async () => {
  const folder = makeFolder();
  const first = await openClient(folder);
  await first.until(({ connection }) => connection.kind === "ready");
  await using second = await openClient(folder);
  const attached = await second.until(({ tools }) => tools.load.kind === "loaded");
  expect(attached.target.transport).toBe("socket");
  await second.session.send({ kind: "select tool", name: "speckit.status" });
  await first.session.close();
  await second.session.send({ kind: "call tool" });
  expect((await second.ended()).state).toMatchObject({
    kind: "completed",
    result: { structuredContent: { features: [] } },
  });
  await second.session.send({ kind: "go", screen: "servers" });
  expect(second.state().servers.status?.pid).toBe(process.pid);
});

test("opens on the servers, or on the features of a project with a .specify folder", async () => {
  await using plain = await openClient(makeFolder());
  expect(plain.state().screen).toBe("servers");
  await plain.until(({ servers }) => servers.status !== undefined);
  const folder = makeFolder();
  mkdirSync(join(folder, ".specify"));
  await using workflow = await openClient(folder);
  expect(workflow.state().screen).toBe("features");
});

/** A client at a feature whose tasks can be implemented. */
async function openAtTasks(folder = makeFolder()): Promise<ClientBench> {
  const feature = join(folder, "specs", "001-x");
  mkdirSync(feature, { recursive: true });
  for (const name of ["spec", "plan"]) writeFileSync(join(feature, `${name}.md`), "# X\n");
  const tasks = "# Tasks: X\n\n## Phase 1: Setup\n\n- [ ] T001 Write a\n- [ ] T002 Write b\n";
  writeFileSync(join(feature, "tasks.md"), tasks);
  const bench = await openClient(folder);
  await bench.until(({ tools, features }) => tools.items.length > 0 && features.items.length > 0);
  return bench;
}

test("after the user's own done, implement is not asked about again", async () => {
  await using bench = await openAtTasks();
  const step = { kind: "run step", feature: "001-x", step: "implement" } as const;
  const asking = bench.session.send(step);
  const { questions } = await bench.until((state) => state.questions.length > 0);
  await bench.session.send({
    kind: "fill question",
    question: String(questions[0]?.id),
    field: "decision",
    text: "once",
  });
  await bench.session.send({
    kind: "answer question",
    question: String(questions[0]?.id),
    action: "accept",
  });
  await asking;
  expect((await bench.ended()).state.kind).toBe("completed");

  let wasAsked = false;
  bench.session.subscribe(() => {
    wasAsked ||= bench.state().questions.length > 0;
  });
  await bench.session.send({ ...step, arguments: { completed: ["T001"] }, isConfirmed: true });
  expect((await bench.ended()).state.kind).toBe("completed");
  expect(wasAsked).toBe(false);
  expect(readFileSync(join(bench.folder, "specs/001-x/tasks.md"), "utf8")).toContain("[X] T001");
});

test("the question of a hall that ended is withdrawn, and the run can be retried", async () => {
  const folder = makeFolder();
  const first = await openClient(folder);
  await first.until(({ connection }) => connection.kind === "ready");
  await using second = await openAtTasks(folder);
  const step = { kind: "run step", feature: "001-x", step: "implement" } as const;
  void second.session.send(step);
  await second.until(({ questions }) => questions.length > 0);
  await first.session.close();
  const run = await second.ended();
  expect(second.state().questions).toEqual([]);
  expect(run.state).toMatchObject({
    kind: "failed",
    failure: {
      message: expect.stringContaining("the hall ended before its question was answered"),
      hint: "Nothing was done. Press r to retry with the new hall.",
      mayRetry: true,
    },
  });
  void second.session.send({ kind: "retry run", run: run.id });
  await second.until(({ questions }) => questions.length > 0);
});

test("flags name one server by its program or its address", () => {
  expect(readFlags([], {})).toBeUndefined();
  expect(readFlags(["--mcp"], { command: "claude" })).toMatchObject({
    transport: "stdio",
    command: "claude",
    args: ["--mcp"],
  });
  expect(readFlags([], { endpoint: "https://example.org/mcp" })).toMatchObject({
    transport: "http",
  });
  expect(readFlags([], { endpoint: "ws://127.0.0.1:1" })).toMatchObject({ transport: "websocket" });
  expect(() => readFlags([], { endpoint: "example" })).toThrow("invalid --endpoint");
  expect(() => readFlags(["x"], {})).toThrow("unexpected argument");
  expect(() => readFlags([], { command: "a", endpoint: "http://b" })).toThrow("cannot be combined");
});
