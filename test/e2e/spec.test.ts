import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { modern } from "../servers/client.ts";
import { allowUnattended } from "../servers/home.ts";
import { runCli, spawnHall } from "../servers/process.ts";
import { until } from "../servers/until.ts";
import { makeProject, type Project, typescriptService } from "../workflow/projects.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
let home: Project | undefined;

beforeAll(() => {
  if (!existsSync(cli)) throw new Error("dist/cli.js is missing: run `npm run build` first");
  const own = makeProject();
  home = own;
  // Keep trust decisions of these tests apart from the user's.
  for (const name of ["XDG_DATA_HOME", "XDG_CONFIG_HOME"]) process.env[name] = own.path(name);
  allowUnattended(own.path("XDG_CONFIG_HOME"));
});

afterAll(() => home?.[Symbol.dispose]());

async function guildhall(
  project: Project,
  ...args: string[]
): Promise<{ code: number | null; json: JsonObject; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runCli(args, { cwd: project.folder });
  return {
    code,
    stdout,
    stderr,
    json: stdout.trimStart().startsWith("{") ? (JSON.parse(stdout) as JsonObject) : {},
  };
}

test("from a description to tasks at the command line", async () => {
  using project = makeProject({ ...typescriptService, "guildhall.json": "{}" });
  const created = await guildhall(
    project,
    "spec",
    "new",
    "Users can upload photos",
    "--name",
    "photos",
    "--json",
  );
  expect(created, created.stderr).toMatchObject({
    code: 0,
    json: { folder: "specs/001-photos", next: [{ do: "run-step", step: "clarify" }] },
  });
  const asked = await guildhall(project, "spec", "run", "--json");
  expect(asked).toMatchObject({
    code: 1,
    json: {
      error: { code: "EXECUTION", details: { result: { step: "clarify", state: "paused" } } },
    },
    stderr: expect.stringContaining("--recommended"),
  });
  const ran = await guildhall(project, "spec", "run", "--recommended", "--json");
  expect(ran, ran.stderr).toMatchObject({
    code: 0,
    json: { steps: [{ step: "clarify" }, { step: "plan" }, { step: "tasks" }] },
  });
  // The only destructive step needs approval.
  expect(await guildhall(project, "spec", "run", "implement", "--force")).toMatchObject({
    code: 77,
  });
  // Ticking tasks needs none.
  expect(await guildhall(project, "spec", "run", "implement", "--completed", "T001")).toMatchObject(
    {
      code: 0,
      stdout: expect.stringMatching(
        /^1 of \d+ tasks are done[\s\S]*guildhall spec run implement --completed T\d+/,
      ),
    },
  );
  expect(await guildhall(project, "spec", "run", "implement", "--agent", "nope")).toMatchObject({
    code: 66,
    stderr: expect.stringContaining('unknown agent "nope"'),
  });
  expect(await guildhall(project, "spec", "new", "asdf")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Next: guildhall spec run clarify"),
  });
  expect(await guildhall(project, "spec", "run", "taks")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown step "taks" (expected: tasks)'),
  });
});

test("a feature is updated, asked own questions, checked and turned into issues at the command line", async () => {
  using project = makeProject({ "AGENTS.md": "## Rules\n\n- Money is in cents\n" });
  // The constitution comes before the first feature.
  expect(await guildhall(project, "spec", "run", "constitution", "--json")).toMatchObject({
    code: 0,
    json: { principles: ["Money is in cents"] },
  });
  await guildhall(project, "spec", "new", "Users can upload photos");
  const file = "specs/001-users-upload-photos/spec.md";
  project.write(
    file,
    project.read(file).replace("## Assumptions\n\n", "## Assumptions\n\n- Mine\n"),
  );
  const updated = await guildhall(
    project,
    "spec",
    "update",
    "Users can upload photos. 10 MB each.",
  );
  expect(updated, updated.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Specification updated successfully at ${project.path(file)}`),
  });
  expect(project.read(file)).toMatch(/FR-002\*\*: 10 MB each\.[\s\S]*- Mine\n/);

  const own = ["--question", "Which formats?", "--answer", "PNG only"];
  expect(await guildhall(project, "spec", "run", "clarify", ...own, "--json")).toMatchObject({
    json: { error: { details: { result: { answered: 1 } } } },
  });
  expect(project.read(file)).toContain("- Q: Which formats? → A: PNG only");
  await guildhall(project, "spec", "run", "--recommended");
  await guildhall(project, "spec", "run", "checklist", "--domain", "security");
  expect(project.read("specs/001-users-upload-photos/checklists/security.md")).toContain("CHK001");
  expect(
    await guildhall(project, "spec", "run", "taskstoissues", "--filter", "US1", "--json"),
  ).toMatchObject({ code: 0, json: { issues: [{ task: "T003" }, { task: "T004" }] } });
  expect(await guildhall(project, "spec", "run", "converge")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("tasks.md has open tasks"),
  });
});

test("an MCP client on stdio is asked the open questions, in either protocol", async () => {
  using project = makeProject({ "guildhall.json": "{}" });
  await using client = spawnHall(["--expose", "tools"], { cwd: project.folder });
  const args = {
    feature_description: "Users can upload photos",
    spec_directory: project.path("specs"),
  };
  await client.greet("2025-11-25", { elicitation: {} });
  const specified = await client.result("tools/call", {
    name: "speckit.specify",
    arguments: args,
    _meta: { progressToken: "tool-3" },
  });
  const [created] = specified.content as JsonObject[];
  expect(created?.text).toContain(
    `Specification created successfully at ${project.path("specs/001-users-upload-photos/spec.md")}`,
  );
  expect(specified.isError).toBe(false);
  expect(client.received.some(({ method }) => method === "notifications/progress")).toBe(true);
  const spec_directory = project.path("specs/001-users-upload-photos");
  const id = client.ask("tools/call", { name: "speckit.clarify", arguments: { spec_directory } });
  const asked = await client.heard("elicitation/create");
  client.send({
    jsonrpc: "2.0",
    id: asked.id as number,
    result: { action: "accept", content: { answer: "", other: "the photo is in the list" } },
  });
  const more = await client.heard("elicitation/create");
  client.send({ jsonrpc: "2.0", id: more.id as number, result: { action: "decline" } });
  expect(await client.answer(id)).toMatchObject({ result: { structuredContent: { answered: 1 } } });
  await using late = spawnHall(["--expose", "tools"], { cwd: project.folder });
  const params = { name: "speckit.clarify", arguments: { spec_directory } };
  const forms = { elicitation: { form: {} } };
  const question = await late.result("tools/call", modern(params, forms));
  expect(question).toMatchObject({
    resultType: "input_required",
    inputRequests: {
      "clarify-1": { params: { message: expect.stringContaining("What happens when an action") } },
    },
  });
  const inputResponses = {
    "clarify-1": { action: "accept", content: { answer: "", other: "It is tried again" } },
  };
  const next = await late.result(
    "tools/call",
    modern({ ...params, requestState: question.requestState, inputResponses }, forms),
  );
  expect(next.resultType).toBe("input_required");
  expect(project.read("specs/001-users-upload-photos/spec.md")).toContain(
    "its input is missing or wrong: it is tried again",
  );
});

test("a killed step is shown as interrupted, and resumed after its ticks", async () => {
  using project = makeProject({
    "guildhall.json": '{ "workflow": { "agent": "slow_agent" }, "toolkits": ["./slow.mjs"] }',
    "slow.mjs": slowAgent,
    ...planned,
  });
  await guildhall(project, "verify", "--yes");
  expect(await guildhall(project, "trust", "speckit.implement")).toMatchObject({ code: 0 });
  const child = spawn(process.execPath, [cli, "spec", "run", "implement", "--force"], {
    cwd: project.folder,
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  await until(() => existsSync(project.path("reached-T002")), "the second task");
  child.kill("SIGKILL");
  await exited;
  expect(project.read("specs/001-photos/tasks.md")).toContain("- [X] T001");
  expect(project.read("specs/001-photos/tasks.md")).toContain("- [ ] T002");
  expect((await guildhall(project, "spec", "list")).stdout).toMatch(
    /001-photos {2}next: implement {2}1\/2 +implement interrupted/,
  );
  project.write("go-on", "");
  const resumed = await guildhall(project, "spec", "resume", "--json");
  expect(resumed, resumed.stderr).toMatchObject({
    code: 0,
    json: { step: "implement", done: 2, total: 2 },
  });
  const after = await guildhall(project, "spec", "status", "1", "--json");
  expect(after.json).toMatchObject({
    name: "001-photos",
    phase: "done",
    tasks: { done: 2, total: 2 },
  });
  expect(after.json).not.toHaveProperty("run");
});

test("an interrupted run that came with a cloned project is not resumed", async () => {
  const hostile = {
    run: "run_hostile",
    step: "implement",
    pid: 2 ** 22,
    startedAt: "2026-11-16T09:30:00Z",
    arguments: { agent: "shell_agent", force: true },
  };
  using project = makeProject({ "specs/001-photos/spec.md": planned["specs/001-photos/spec.md"] });
  project.write(
    ".guildhall/workflow/001-photos.run.json",
    JSON.stringify({ ...hostile, directory: project.path("specs/001-photos") }),
  );
  const resumed = await guildhall(project, "spec", "resume", "1");
  expect(resumed.code).not.toBe(0);
  expect(resumed.stderr).toContain("001-photos has no interrupted step");
  expect((await guildhall(project, "spec", "list")).stdout).not.toContain("interrupted");
});

const planned = {
  "specs/001-photos/spec.md": "# Feature Specification: Photos\n",
  "specs/001-photos/plan.md": "# Implementation Plan: Photos\n",
  "specs/001-photos/tasks.md":
    "# Tasks: Photos\n\n## Phase 1: Setup\n\n- [ ] T001 Write src/a.ts\n- [ ] T002 Write src/b.ts\n",
};

/** Does the first task at once, and the second once the file `go-on` exists. */
const slowAgent = `import { existsSync, writeFileSync } from "node:fs";
const agent = {
  name: "slow_agent",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
};
export default {
  id: "slow",
  prefix: "",
  list: async () => [agent],
  async call(_tool, { task }) {
    const id = /T\\d{3}/.exec(String(task))?.[0];
    writeFileSync(\`reached-\${id}\`, "");
    while (id === "T002" && !existsSync("go-on")) await new Promise((resolve) => setTimeout(resolve, 20));
    return { content: [{ type: "text", text: "ok" }], structuredContent: { stopped_because: "done", planner: "model", approvals_needed: [] } };
  },
  health: async () => ({ state: "available" }),
  close: async () => {},
};
`;
