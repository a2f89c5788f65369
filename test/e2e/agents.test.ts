import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { withApprovedTexts } from "../../src/hall/project-texts.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { startAnthropic } from "../servers/anthropic-endpoint.ts";
import type { ModelEndpoint, Script } from "../servers/model-script.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";

/** `ask`, `runs` and `models` as a person types them, with a model on this machine. */
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const key = "sk-test-0123456789abcdef";
let home: string;
let projects = 0;

beforeAll(() => {
  if (!existsSync(cli)) throw new Error("dist/cli.js is missing: run `npm run build` first");
  home = mkdtempSync(join(tmpdir(), "guildhall-agents-"));
  for (const folder of ["run", "data"]) mkdirSync(join(home, folder), { mode: 0o700 });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Project {
  /** Runs a program with Node. */
  node(program: string): Promise<Ran>;
  run(...args: string[]): Promise<Ran>;
  json(...args: string[]): Promise<JsonObject>;
}

const sums = `---
name: sums_agent
description: Specialized agent for sums.
tools:
  - calculator.*
---

Add up.
`;
const clock = `---
name: clock_agent
description: Specialized agent for times and zones.
tools:
  - time_tool.*
planner: local
---

Tell the time.
`;

async function newProject(planner: JsonObject): Promise<Project> {
  const folder = join(home, `project-${++projects}`);
  mkdirSync(join(folder, ".guildhall", "agents"), { recursive: true });
  writeFileSync(join(folder, "guildhall.json"), "{}");
  // In the user's own file: an address from the project's gets no key.
  const config = join(folder, "config");
  mkdirSync(join(config, "guildhall"), { recursive: true });
  writeFileSync(join(config, "guildhall", "config.json"), JSON.stringify({ planner }));
  writeFileSync(join(folder, ".guildhall", "agents", "sums.md"), sums);
  writeFileSync(join(folder, ".guildhall", "agents", "clock.md"), clock);
  const trust = join(home, "data", "guildhall", "trust");
  const ledger = openLedger(realpathSync(folder), { folder: trust, warn: () => {} });
  await ledger.change((entries) =>
    withApprovedTexts(entries, [
      { name: "agents/sums.md", text: sums },
      { name: "agents/clock.md", text: clock },
    ]),
  );
  const env = {
    ...process.env,
    NO_COLOR: "1",
    GUILDHALL_API_KEY: key,
    ANTHROPIC_API_KEY: key,
    OPENAI_API_KEY: "",
    XDG_RUNTIME_DIR: join(home, "run"),
    XDG_DATA_HOME: join(home, "data"),
    XDG_CONFIG_HOME: config,
  };
  const node = (args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        args,
        { cwd: folder, env, timeout: 100_000 },
        (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });
  const run = (...args: string[]): Promise<Ran> => node([cli, ...args]);
  return {
    run,
    node: (program) => node(["--input-type=module", "--eval", program]),
    async json(...args) {
      const { code, stdout, stderr } = await run(...args, "--json");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout) as JsonObject;
    },
  };
}

const using = async (
  script: Script,
  work: (project: Project, model: ModelEndpoint) => Promise<void>,
): Promise<void> => {
  await using model = await startOpenAi(script);
  await work(await newProject({ kind: "model", model: model.model, baseUrl: model.url }), model);
};

const sum: Script = [
  { calls: [{ name: "calculator__calculate", arguments: { expression: "6 * 7" } }] },
  { say: "It is 42." },
];

test("a task goes to the agent that fits, its steps are shown live, and the run can be shown and replayed", () =>
  using([...sum, ...sum], async (project, model) => {
    const asked = await project.run("ask", "calculate", "6 * 7");
    expect(asked.code).toBe(0);
    expect(asked.stderr).toContain("sums_agent");
    expect(asked.stderr).toContain("1/16 calculator.calculate …");
    expect(asked.stdout).toContain("It is 42.");
    expect(asked.stdout).toMatch(/model planner, 1 step, 2 turns, 240 tokens, ended: done, run_/);

    const told = await project.json("ask", "sums", "what is six times seven?");
    expect(told).toMatchObject({
      answer: "It is 42.",
      planner: "model",
      stopped_because: "done",
      steps: [{ tool: "calculator.calculate", outcome: "ok" }],
    });

    const { runs } = (await project.json("runs", "list")) as { runs: JsonObject[] };
    expect(runs).toMatchObject([
      { id: told.run, agent: "sums_agent", planner: "model" },
      { task: "calculate 6 * 7" },
    ]);
    const shown = await project.run("runs", "show", String(told.run));
    for (const words of [
      "observe",
      "think",
      "execute",
      "verify",
      "learn",
      "calculator.calculate",
      "It is 42.",
    ])
      expect(shown.stdout).toContain(words);

    const before = model.requests.length;
    expect(await project.json("runs", "replay", String(told.run))).toMatchObject({
      same: true,
      differences: [],
      answer: "It is 42.",
      steps: [{ outcome: "ok" }],
    });
    expect(model.requests).toHaveLength(before);
    expect(await project.run("runs", "show", "run_nobody")).toMatchObject({
      code: 66,
      stderr: expect.stringContaining("guildhall runs list"),
    });
    expect(JSON.stringify(await project.json("runs", "show", String(told.run)))).not.toContain(key);
  }));

test("the planner can be chosen, and errors list the known agents", () =>
  using([{ say: "No tools needed." }], async (project) => {
    expect(
      await project.json("ask", "clock_agent", "what time is it in UTC?", "--planner", "model"),
    ).toMatchObject({
      planner: "model",
      answer: "No tools needed.",
    });
    expect(await project.json("ask", "sums", "add", "--planner", "local")).toMatchObject({
      planner: "local",
    });
    expect(await project.run("ask", "nobody_agent", "x")).toMatchObject({
      code: 66,
      stderr: expect.stringContaining("clock_agent, sums_agent"),
    });
    expect(await project.run("ask", "sums", "x", "--planner", "magic")).toMatchObject({ code: 2 });
    expect(await project.run("ask", "")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("missing task"),
    });
    expect(await project.run("ask", "sums", "x", "--data", "{bad")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--data is not valid JSON"),
    });
  }));

test("without a model a task runs or is handed back with the command to type", async () => {
  const project = await newProject({ kind: "local" });
  const done = await project.run("ask", "calculate 17 * 23");
  expect(done).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("391"),
    stderr: expect.stringContaining("sums_agent"),
  });
  const left = await project.run("ask", "clock", "what time is it in Lima?");
  expect(left).toMatchObject({ code: 0, stderr: expect.stringContaining("clock_agent") });
  expect(left.stdout).toContain("guildhall call time_tool.current_time timezone=America/Lima");
  expect(left.stdout).not.toContain("call_tool");
  expect(await project.run("ask", "bake a loaf of rye bread")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("no tool here clearly fits it"),
  });
});

test("the contract tests of document 000 run with the exports of the package", async () => {
  const project = await newProject({ kind: "local" });
  const server = fileURLToPath(
    import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  );
  const library = join(dirname(cli), "index.js");
  const ran = await project.node(`
    import { MCPClient, startMCPServer } from ${JSON.stringify(library)};
    {
      const client = new MCPClient({ transport: "stdio", command: process.execPath, args: [${JSON.stringify(server)}] });
      await client.initialize();
      const tools = await client.listTools();
      console.log(tools.length > 0, tools[0].name, tools[0].inputSchema.type);
      await client.close();
    }
    const server = await startMCPServer({ port: 0 });
    const client = new MCPClient({ transport: "http", url: server.url });
    const tools = await client.listTools();
    const agent = tools.find((t) => t.name.endsWith("_agent"));
    console.log(agent !== undefined, agent.description.includes("Specialized agent"));
    await client.close();
    await server.close();
  `);
  expect(ran).toMatchObject({ code: 0, stdout: "true echo object\ntrue true\n" });
});

test("models test reports that a model works, or its problem", async () => {
  await using model = await startAnthropic([
    { say: "ready" },
    { status: 401, message: `bad key ${key}` },
  ]);
  const project = await newProject({ model: model.model, baseUrl: model.url });
  expect(await project.json("models", "test")).toMatchObject({
    model: "anthropic/scripted",
    ok: true,
    said: "ready",
    tokens: { output: 20 },
  });
  expect(await project.run("models", "test")).toMatchObject({
    code: 77,
    stderr: expect.stringContaining("401: bad key ***"),
  });
  expect(await project.run("models", "test", "openai/any")).toMatchObject({
    code: 69,
    stderr: expect.stringContaining("OPENAI_API_KEY"),
  });
  expect(await project.run("models", "test", "openia/any")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("did you mean openai"),
  });
});
