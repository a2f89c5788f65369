import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { set } from "../../src/tui/events.ts";
import {
  type ClientConfig,
  createServerTarget,
  namesNoServer,
  serverOf,
} from "../../src/tui/target.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { startScripted } from "../servers/scripted.ts";
import { benchOf, makeFolder, openForeign, outputOf } from "./client-bench.ts";

describe.each(["stdio", "http", "websocket"] as const)("a foreign agent over %s", (transport) => {
  test("takes a feature from a description to a plan, with progress, a log and missing steps named", async () => {
    await using bench = await openForeign(transport);
    const { session, folder } = bench;
    const ready = await bench.until(({ tools }) => tools.load.kind === "loaded");
    expect(ready.connection).toMatchObject({
      kind: "ready",
      era: "legacy",
      version: "2025-11-25",
      server: "foreign",
    });
    expect(ready.features.missing).toContain("speckit.clarify");
    expect(ready.features.missing).not.toContain("speckit.plan");
    await session.send(
      set("features", {
        draft: { step: "specify", feature: undefined, text: "Export reports as PDF" },
      }),
    );
    await session.send({ kind: "send draft" });
    const specify = await bench.ended();
    expect(specify).toMatchObject({
      tool: "speckit.specify",
      state: { kind: "completed" },
      progress: { progress: 100, total: 100, message: "Written" },
    });
    expect(outputOf(specify, "progress")).toContain("Analyzing requirements...");
    expect(outputOf(specify, "out").join()).toContain("001-export-reports-pdf/spec.md");
    const [feature] = session.state().features.items;
    expect(feature).toMatchObject({ name: "001-export-reports-pdf", phase: "plan", number: "001" });
    void session.send({ kind: "run step", feature: "001-export-reports-pdf" });
    await bench.until(({ runs: [run] }) => run?.tool === "speckit.plan");
    const plan = await bench.ended();
    // The moment it is over, the next step is the next one.
    expect(session.state().features.items[0]).toMatchObject({ phase: "tasks" });
    expect(plan).toMatchObject({ tool: "speckit.plan", state: { kind: "completed" } });
    expect(outputOf(plan, "progress")).toEqual(["Reading the repository"]);
    if (transport === "stdio")
      await bench.until(
        ({ runs: [run] }) =>
          run !== undefined && outputOf(run, "err").includes("plan: warming up "),
      );
    const log = readFileSync(join(folder, String(plan.logPath)), "utf8");
    if (transport === "stdio") {
      expect(outputOf(plan, "err")).toContain("stdout: no message at all");
      expect(log).toContain("stdout: no message at all");
    }
    expect(log).toContain("speckit.plan on ");
    expect(log).toContain("out      planned");
  });

  test("is notified of a cancel in both forms, and a cancelled run can be retried", async () => {
    await using bench = await openForeign(transport);
    await bench.until(({ tools }) => tools.load.kind === "loaded");
    await bench.session.send({ kind: "select tool", name: "speckit.tasks" });
    await bench.session.send({ kind: "fill tool", field: "spec_directory", text: bench.folder });
    void bench.session.send({ kind: "call tool" });
    const { runs } = await bench.until(({ runs: [run] }) => run?.progress !== undefined);
    await bench.session.send({ kind: "cancel run", run: String(runs[0]?.id) });
    const { state } = await bench.ended();
    expect(state).toMatchObject({
      kind: "cancelled",
      failure: { message: "speckit.tasks was cancelled", mayRetry: true },
    });
    // The connection continues, and everything sent before this call has arrived.
    await bench.session.send({ kind: "select tool", name: "refuse" });
    await bench.session.send({ kind: "fill tool", field: "code", text: "-32000" });
    await bench.session.send({ kind: "call tool" });
    expect(bench.journal()).toEqual(
      expect.arrayContaining(["$/cancelRequest", "notifications/cancelled"]),
    );
  });
});

test.each(["stdio", "http"] as const)(
  "progress with a foreign token over %s reaches only its own call",
  async (transport) => {
    await using bench = await openForeign(transport);
    await bench.until(({ tools }) => tools.load.kind === "loaded");
    await bench.session.send({ kind: "select tool", name: "mumble" });
    for (const [index, token] of ["alone", "among others", ""].entries()) {
      await bench.session.send({ kind: "fill tool", field: "token", text: token });
      void bench.session.send({ kind: "call tool" });
      await bench.until(
        ({ runs }) => runs.length === index + 1 && runs[0]?.progress?.message === "as agreed",
      );
    }
    const [byId, amongOthers, alone] = bench.state().runs.map((run) => outputOf(run, "progress"));
    expect(alone).toEqual(["about alone", "as agreed"]);
    // A stream over HTTP belongs to one call; the one pipe of stdio tells nothing.
    expect(amongOthers).toEqual(
      transport === "http" ? ["about among others", "as agreed"] : ["as agreed"],
    );
    expect(byId).toEqual(["about itself", "as agreed"]);
  },
);

test("errors are short on screen and complete in the log", async () => {
  await using bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "refuse" });
  for (const [code, kind, message, mayRetry] of [
    [-32000, "failed", "refuse failed: as you wish", true],
    [-32001, "timed out", "refuse timed out: as you wish", true],
    [-32002, "cancelled", "refuse was cancelled", true],
    [-32602, "failed", "refuse failed: as you wish", false],
  ] as const) {
    await bench.session.send({ kind: "fill tool", field: "code", text: String(code) });
    await bench.session.send({ kind: "call tool" });
    const run = await bench.ended();
    expect(run.state).toMatchObject({ kind, failure: { kind, message, mayRetry } });
    expect(run.output.lines).toEqual([]);
    expect(readFileSync(join(bench.folder, String(run.logPath)), "utf8")).toContain(
      `"code":${code}`,
    );
  }
});

test("the message of a failed result is shown once: below the output if short, otherwise in it", async () => {
  await using bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "regret" });
  for (const [words, shown] of [
    ["out of paper", []],
    ["out of paper. ".repeat(30), ["out of paper. ".repeat(30)]],
  ] as const) {
    await bench.session.send({ kind: "fill tool", field: "words", text: words });
    await bench.session.send({ kind: "call tool" });
    const run = await bench.ended();
    expect(run.state).toMatchObject({
      kind: "failed",
      failure: { message: expect.stringContaining("regret failed: out of paper") },
    });
    expect(outputOf(run, "err")).toEqual(shown);
    expect(readFileSync(join(bench.folder, String(run.logPath)), "utf8")).toContain(
      "failed: regret failed: out of paper",
    );
  }
});

test("a call that is silent for too long times out, and the server is notified", async () => {
  await using bench = await openForeign("stdio", { timeoutMs: 1_000 });
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "speckit.tasks" });
  await bench.session.send({ kind: "fill tool", field: "spec_directory", text: bench.folder });
  await bench.session.send({ kind: "call tool" });
  const run = await bench.ended();
  expect(run.state).toMatchObject({
    kind: "timed out",
    failure: {
      message: "speckit.tasks timed out: no message for 1 s",
      mayRetry: true,
    },
  });
  // It is below the output; here it would appear twice.
  expect(run.output.lines.filter(({ source }) => source !== "progress")).toEqual([]);
  await bench.session.close();
  expect(bench.journal()).toEqual(
    expect.arrayContaining(["$/cancelRequest", "notifications/cancelled"]),
  );
});

test("a question is a form that rejects invalid values and sends valid ones", async () => {
  await using bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "ask" });
  const called = bench.session.send({ kind: "call tool" });
  const { questions } = await bench.until(({ questions: [question] }) => question !== undefined);
  const id = String(questions[0]?.id);
  expect(questions[0]).toMatchObject({ kind: "form", message: "Which colour?", run: "run_1" });
  await bench.session.send({ kind: "answer question", question: id, action: "accept" });
  expect(bench.state().questions[0]?.form.problems).toEqual({ colour: "required" });
  await bench.session.send({ kind: "fill question", question: id, field: "colour", text: "green" });
  await bench.session.send({ kind: "answer question", question: id, action: "accept" });
  expect(bench.state().questions[0]?.form.problems).toEqual({
    colour: "expected one of: red, blue",
  });
  await bench.session.send({ kind: "fill question", question: id, field: "colour", text: "blue" });
  await bench.session.send({ kind: "answer question", question: id, action: "accept" });
  await called;
  const run = await bench.ended();
  expect(outputOf(run, "out")).toEqual([
    '{"action":"accept","content":{"colour":"blue","count":2}}',
  ]);
  expect(bench.state().questions).toEqual([]);
});

test("without a model, sampling is neither announced nor answered", async () => {
  await using bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  expect(bench.journal()).toContain("capabilities elicitation,roots");
  await bench.session.send({ kind: "select tool", name: "lend" });
  await bench.session.send({ kind: "call tool" });
  const run = await bench.ended();
  expect(run.state).toMatchObject({ kind: "completed" });
  expect(outputOf(run, "out").join()).toContain("no model is configured for sampling");
});

test("with a model, sampling is announced and answered after approval", async () => {
  await using model = await startOpenAi([{ say: "Hello there." }]);
  await using bench = await openForeign("stdio", {
    planner: { model: model.model, baseUrl: model.url },
  });
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  expect(bench.journal()).toContain("capabilities elicitation,roots,sampling");
  await bench.session.send({ kind: "select tool", name: "lend" });
  for (const [action, said] of [
    ["decline", "User rejected sampling request"],
    ["accept", "Hello there."],
  ] as const) {
    const called = bench.session.send({ kind: "call tool" });
    const { questions } = await bench.until(({ questions: [question] }) => question !== undefined);
    expect(questions[0]).toMatchObject({
      kind: "sampling",
      message: expect.stringContaining("user: Say hello."),
    });
    await bench.session.send({
      kind: "answer question",
      question: String(questions[0]?.id),
      action,
    });
    await called;
    expect(outputOf(await bench.ended(), "out").join()).toContain(said);
  }
  expect(model.requests.length).toBe(1);
});

test("a server that crashes during a call is restarted, and typed text is kept", async () => {
  await using bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send(set("agents", { task: "half a sen" }));
  await bench.session.send({ kind: "select tool", name: "crash" });
  await bench.session.send({ kind: "call tool" });
  const run = await bench.ended();
  expect(run.state).toMatchObject({
    kind: "failed",
    failure: {
      kind: "unavailable",
      message: "crash failed: the server exited with code 3",
      hint: "The client reconnects by itself; then press r to retry.",
      mayRetry: true,
    },
  });
  const lost = await bench.until(({ connection }) => connection.kind === "lost");
  expect(lost.connection).toMatchObject({
    failure: { message: expect.stringContaining("exited with code 3") },
  });
  // A call that cannot be sent is reported and changes nothing.
  await bench.session.send({ kind: "call tool" });
  expect(bench.state().notices.at(-1)).toMatchObject({
    level: "error",
    retry: { kind: "call tool" },
  });
  await bench.session.send({ kind: "reconnect" });
  const back = await bench.until(({ connection }) => connection.kind === "ready");
  expect(back.agents.task).toBe("half a sen");
  expect(back.tools.selected).toBe("crash");
  await bench.session.send({ kind: "select tool", name: "chatter" });
  await bench.session.send({ kind: "call tool" });
  expect((await bench.ended()).state.kind).toBe("completed");
});

test.each(["legacy", "modern"] as const)(
  "reconnects to a %s HTTP server that was restarted",
  async (era) => {
    await using server = await startScripted({ type: "http", era });
    const folder = makeFolder();
    const target = createServerTarget(
      { transport: "http", endpoint: server.config.url, args: [], timeout: 60 },
      { folder, log: createLog({ level: "silent" }) },
    );
    await using bench = benchOf(target, folder);
    const ready = await bench.until(({ tools }) => tools.load.kind === "loaded");
    expect(ready.connection).toMatchObject({ kind: "ready", era });
    await bench.session.send({ kind: "select tool", name: "echo" });
    await server.leave();
    server.cut();
    await bench.session.send({ kind: "call tool" });
    expect((await bench.ended()).state).toMatchObject({
      kind: "failed",
      failure: { kind: "unavailable", mayRetry: true },
    });
    await bench.until(({ connection }) => connection.kind === "lost");
    await server.comeBack();
    await bench.session.send({ kind: "reconnect" });
    await bench.until(({ connection }) => connection.kind === "ready");
    await bench.session.send({ kind: "retry run", run: "run_1" });
    expect((await bench.ended()).state.kind).toBe("completed");
  },
);

test("reads the server from the file given with --config", async () => {
  const folder = makeFolder();
  const file = join(folder, "client.toml");
  writeFileSync(file, '[mcp]\ntransport = "http"\nendpoint = "http://localhost:8080/mcp"\n');
  const { config } = await loadConfig({ folder, projectFile: file, env: { HOME: folder } });
  expect(config.mcp).toEqual({
    transport: "http",
    endpoint: "http://localhost:8080/mcp",
    args: [],
    timeout: 60,
  });
  const { config: over } = await loadConfig({
    folder,
    projectFile: file,
    env: { HOME: folder, GUILDHALL__MCP__TIMEOUT: "90" },
  });
  expect(over.mcp?.timeout).toBe(90);
  const log = createLog({ level: "silent" });
  expect(() =>
    createServerTarget({ transport: "stdio", args: [], timeout: 60 }, { folder, log }),
  ).toThrow("mcp.command is missing");
  rmSync(folder, { recursive: true });
});

test.each([
  ['transport = "http"', "mcp.endpoint is missing"],
  ['transport = "websocket"\ntimeout = 5', "mcp.endpoint is missing"],
  ['endpoint = "http://localhost:8080/mcp"', "mcp.endpoint needs a transport"],
  ['args = ["--mcp"]', "mcp.command is missing"],
  ['transport = "http"\ncommand = "claude"', 'mcp.command does not fit transport "http"'],
])("half an [mcp] section is refused: %j", async (text, message) => {
  const folder = makeFolder();
  const file = join(folder, "client.toml");
  writeFileSync(file, `[mcp]\n${text}\n`);
  const { config } = await loadConfig({ folder, projectFile: file, env: { HOME: folder } });
  const mcp = config.mcp as ClientConfig;
  expect(namesNoServer(mcp)).toBe(false);
  expect(() => serverOf(mcp, folder)).toThrow(message);
  rmSync(folder, { recursive: true });
});

test("an [mcp] section with a timeout alone is about the hall", async () => {
  const folder = makeFolder();
  const file = join(folder, "client.toml");
  writeFileSync(file, "[mcp]\ntimeout = 90\n");
  const { config } = await loadConfig({ folder, projectFile: file, env: { HOME: folder } });
  expect(namesNoServer(config.mcp as ClientConfig)).toBe(true);
  rmSync(folder, { recursive: true });
});

test.each([
  [
    "clarify",
    "Who may see it?\n\nFor how long?",
    { questions: ["Who may see it?", "For how long?"] },
  ],
  ["clarify", "", {}],
  ["implement", "US1", { task_filter: "US1" }],
  ["specify", "Exports as CSV, too", { feature_description: "Exports as CSV, too" }],
  ["constitution", "Small: one file", { principles: ["Small: one file"] }],
  ["checklist", "security", { domain: "security" }],
] as const)("%s is sent with what was typed: %j", async (step, text, args) => {
  await using bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  const directory = join(bench.folder, "specs", "001-export");
  mkdirSync(directory, { recursive: true });
  for (const name of ["spec", "plan", "tasks"])
    writeFileSync(join(directory, `${name}.md`), "# X\n");
  await bench.session.send({ kind: "refresh", screen: "features" });
  // This server has only some of the steps.
  await bench.session.send(set("features", { missing: [] }));
  await bench.session.send(set("features", { draft: { step, feature: "001-export", text } }));
  await bench.session.send({ kind: "send draft" });
  const { runs, features } = bench.state();
  const where = step === "constitution" ? bench.folder : directory;
  expect(runs[0]).toMatchObject({ tool: `speckit.${step}` });
  expect(runs[0]?.arguments).toEqual({ ...args, spec_directory: where });
  expect(features.draft).toBeUndefined();
});

test("a missing program is named in the failure and retried", async () => {
  const folder = makeFolder();
  const target = createServerTarget(
    { transport: "stdio", command: "no-such-agent", args: [], timeout: 60 },
    { folder, log: createLog({ level: "silent" }) },
  );
  await using bench = benchOf(target, folder);
  const failure = { message: expect.stringContaining('"no-such-agent" was not found') };
  const { connection } = await bench.until(({ connection: { kind } }) => kind === "lost");
  expect(connection).toMatchObject({ attempt: 1, failure });
  // Why it is tried again stays in sight while it is.
  const again = bench.until(({ connection: { kind } }) => kind === "connecting");
  await bench.session.send({ kind: "reconnect" });
  expect((await again).connection).toMatchObject({ attempt: 2, failure });
});

test("images are saved, text is sanitised, and a command's streams stay apart", async () => {
  await using bench = await openForeign();
  const { tools } = await bench.until(({ tools: { load } }) => load.kind === "loaded");
  expect(tools.items.find(({ name }) => name === "paint")?.description).toBe(
    "A picture and nasty text",
  );
  await bench.session.send({ kind: "select tool", name: "paint" });
  await bench.session.send({ kind: "call tool" });
  const run = await bench.ended();
  const [shown, saved, red] = outputOf(run, "out");
  expect(shown).toBe("abc");
  expect(saved).toMatch(/^image saved to \.guildhall\/saved\/image-[0-9a-f]{8}\.png$/);
  expect(red).toMatch(/^image saved to /);
  const [file = ""] = run.state.kind === "completed" ? run.state.saved : [];
  expect(readFileSync(join(bench.folder, file), "utf8")).toBe("picture");
  await bench.session.send({ kind: "select tool", name: "speckit.implement" });
  await bench.session.send({ kind: "fill tool", field: "spec_directory", text: bench.folder });
  await bench.session.send({ kind: "call tool" });
  const failed = await bench.ended();
  expect(outputOf(failed, "out")).toEqual(["built"]);
  expect(outputOf(failed, "err")).toEqual(["one test failed"]);
  expect(failed.state).toMatchObject({
    kind: "failed",
    failure: { message: "speckit.implement failed: exited with code 1" },
  });
});

test("without write access, calls work without a log", async () => {
  await using bench = await openForeign();
  writeFileSync(join(bench.folder, ".guildhall"), "no folder");
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "paint" });
  await bench.session.send({ kind: "call tool" });
  const run = await bench.ended();
  expect(run).toMatchObject({ state: { kind: "completed", saved: [] }, logPath: undefined });
  expect(outputOf(run, "out")[2]).toMatch(/^cannot save the image: E/);
});

test("a new feature gets the project's numbering", async () => {
  await using bench = await openForeign();
  mkdirSync(join(bench.folder, ".specify"));
  writeFileSync(
    join(bench.folder, ".specify", "init-options.json"),
    '{"feature_numbering":"timestamp"}',
  );
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send(
    set("features", {
      draft: { step: "specify", feature: undefined, text: "Export reports as PDF" },
    }),
  );
  await bench.session.send({ kind: "send draft" });
  expect(bench.state().features.items[0]?.name).toMatch(/^\d{8}-\d{6}-export-reports-pdf$/);
});

test("an agent of another server can be asked, and its progress is shown", async () => {
  await using bench = await openForeign();
  const { agents } = await bench.until(({ tools }) => tools.load.kind === "loaded");
  expect(agents).toMatchObject({
    items: [{ name: "reader_agent", description: "Reads for you" }],
    selected: "reader_agent",
  });
  await bench.session.send(set("agents", { task: "the first chapter" }));
  await bench.session.send({ kind: "ask agent" });
  const run = await bench.ended();
  expect(run).toMatchObject({
    kind: "agent",
    tool: "reader_agent",
    about: "the first chapter",
    state: { kind: "completed" },
  });
  expect(outputOf(run, "progress")).toEqual(["1/2 opening the book"]);
  expect(outputOf(run, "out")).toEqual(["read: the first chapter"]);
  expect(bench.state().agents.task).toBe("");
});

test("thousands of stderr lines cause few changes, and the oldest are dropped", async () => {
  await using bench = await openForeign("stdio", { intervalMs: 20 });
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.send({ kind: "select tool", name: "chatter" });
  await bench.session.send({ kind: "fill tool", field: "lines", text: "12000" });
  let changes = 0;
  bench.session.subscribe(() => changes++);
  await bench.session.send({ kind: "call tool" });
  // Output of the other pipe may arrive after the answer.
  const { runs } = await bench.until(
    ({ runs: [run] }) =>
      run !== undefined && run.output.dropped + run.output.lines.length === 12_001,
  );
  expect(runs[0]?.output.lines.length).toBe(5_000);
  expect(changes).toBeLessThan(1_000);
  await bench.session.close();
  const log = readFileSync(join(bench.folder, String(runs[0]?.logPath)), "utf8");
  expect(log).toContain("err      line 1\n");
  expect(log).toContain("err      line 12000\n");
});

test("closing sends shutdown and exit, and the server exits", async () => {
  const bench = await openForeign();
  await bench.until(({ tools }) => tools.load.kind === "loaded");
  await bench.session.close();
  const journal = bench.journal();
  const order = ["initialize", "notifications/initialized", "tools/list", "shutdown", "exit"];
  expect(journal[0]).toBe("initialize");
  expect(journal.filter((method) => order.includes(method))).toEqual(order);
  expect(journal.slice(-2)).toEqual(["shutdown", "exit"]);
  expect(bench.state().connection).toEqual({ kind: "closed" });
  await bench[Symbol.asyncDispose]();
  expect(existsSync(bench.folder)).toBe(false);
});
