import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Secrets } from "../../src/base/log.ts";
import { type CallContext, elapsedKey } from "../../src/tool.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { createCommandOutput } from "../../src/workflow/command.ts";
import { keys, modern, type RawClient } from "../servers/client.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { read, startBench } from "./bench.ts";
import { makeProject, type Project } from "./projects.ts";

/** Runs until the file `go` exists. */
const waiting = `import { existsSync } from "node:fs";
const look = setInterval(() => existsSync("go") && clearInterval(look), 10);
`;
const talking = `process.stdout.write("\\u001b[32mbuilding\\u001b[0m with hunter2hunter2\\n");
${waiting}process.on("exit", () => {
  process.stderr.write("cannot find it\\nas hunter2hunter2 without an end");
  process.exitCode = 3;
});
`;

function projectWith(task: string): Project {
  return makeProject({
    "wait.mjs": waiting,
    "talk.mjs": talking,
    "specs/001-x/spec.md": "# Feature Specification: X\n",
    "specs/001-x/plan.md": "# Implementation Plan: X\n",
    "specs/001-x/tasks.md": `# Tasks: X\n\n## Phase 1: Setup\n\n- [ ] T001 ${task}\n`,
  });
}

function paramsFor(project: Project, args: JsonObject = {}): JsonObject {
  return {
    name: "speckit.implement",
    arguments: { spec_directory: project.path("specs/001-x"), ...args },
  };
}

const heard = { progressToken: "here", [keys.logLevel]: "info" };

/** Progress notifications up to the first that matches. */
async function progressUntil(client: RawClient, message: string): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  const isFound = (): boolean => {
    const last = all.at(-1);
    return last?.message === message && isObject(last._meta) && elapsedKey in last._meta;
  };
  do all.push((await client.heard("notifications/progress")).params as JsonObject);
  while (!isFound());
  return all;
}

test.each(["modern", "legacy"])(
  "a silent command reports elapsed time within the progress of the step, to a %s client",
  async (era) => {
    using project = projectWith("Run `node wait.mjs`");
    await using bench = await startBench({ folder: project.folder, commands: true, pulseMs: 20 });
    const { client } = bench;
    if (era === "legacy") await client.greet();
    const params = paramsFor(project);
    const id = client.ask(
      "tools/call",
      era === "modern"
        ? modern(params, {}, heard)
        : { ...params, _meta: { progressToken: "here" } },
    );
    const told: JsonObject[] = [];
    for (let beats = 0; beats < 3; beats++)
      told.push(...(await progressUntil(client, "T001: node wait.mjs")));
    project.write("go", "");
    expect(read(await client.answer(id))).toMatchObject({
      isError: false,
      data: { done: 1 },
    });
    const values = told.map(({ progress }) => Number(progress));
    expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
    expect(values.at(-1)).toBeLessThan(100);
    expect(told.every(({ total }) => total === 100)).toBe(true);
  },
);

test("command output is forwarded by stream without control characters and secrets; its end is in the result, all of it in the log", async () => {
  using project = projectWith("Run `node talk.mjs`");
  const secrets = new Secrets();
  secrets.add("hunter2hunter2");
  await using bench = await startBench({ folder: project.folder, commands: true, secrets });
  const id = bench.client.ask("tools/call", modern(paramsFor(project), {}, heard));
  const first = await bench.client.heard("notifications/message");
  expect(first.params).toEqual({
    level: "info",
    logger: "speckit.command.stdout",
    data: "building with ***",
  });
  project.write("go", "");
  // In one message or two: the last line has no end, so it may be sent when the command has ended.
  let said = "";
  while (!said.endsWith("without an end")) {
    const next = await bench.client.heard("notifications/message");
    expect(next.params).toMatchObject({ level: "notice", logger: "speckit.command.stderr" });
    const { data } = next.params as { data: string };
    said += said === "" ? data : `\n${data}`;
  }
  expect(said).toBe("cannot find it\nas *** without an end");
  const failed = read(await bench.client.answer(id));
  expect(failed).toMatchObject({ isError: true, code: "execution" });
  expect(failed.text).toContain("T001 (node talk.mjs exited with code 3)");
  expect(failed.text).toContain(
    "stdout:\nbuilding with ***\nstderr:\ncannot find it\nas *** without an end",
  );
  const log = logOf(project);
  expect(log).toContain("T001 speckit.command.stdout: building with ***");
  expect(log).toContain("T001 speckit.command.stderr: cannot find it\n  as *** without an end");
  for (const never of ["hunter2", "\u001b"]) expect(log).not.toContain(never);
});

function logOf(project: Project): string {
  const [file = ""] = project.files(".guildhall").filter((name) => name.endsWith(".log"));
  return readFileSync(
    project.path(file.startsWith(".guildhall") ? file : `.guildhall/${file}`),
    "utf8",
  );
}

test("after an approval a modern client gets the progress of the command", async () => {
  using project = projectWith("Run `node wait.mjs`");
  using data = makeProject();
  await using bench = await startBench(
    { folder: project.folder, commands: true },
    { trust: { ledger: openLedger(project.folder, { folder: data.folder, warn: () => {} }) } },
  );
  const { client } = bench;
  const params = paramsFor(project);
  const forms = { elicitation: { form: {} } };
  let id = client.ask("tools/call", modern(params, forms, heard));
  for (const decision of ["always", "once"]) {
    const { requestState, inputRequests } = (await client.answer(id)).result as JsonObject;
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests as object).map((key) => [
        key,
        { action: "accept", content: { decision } },
      ]),
    );
    id = client.ask(
      "tools/call",
      modern({ ...params, requestState, inputResponses }, forms, {
        ...heard,
        progressToken: decision,
      }),
    );
  }
  const running = await client.take(
    ({ method, params: told }) =>
      method === "notifications/progress" && (told as JsonObject).progressToken === "once",
    "progress after the last yes",
  );
  expect(running.params).toMatchObject({ message: "T001: node wait.mjs" });
  project.write("go", "");
  expect(read(await client.answer(id))).toMatchObject({ isError: false });
});

test("progress and messages of an agent are forwarded, a silent agent reports elapsed time, and its report is shown", async () => {
  using project = projectWith("Write src/a.ts");
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const agent = async (_args: JsonObject, { progress, log }: CallContext) => {
    progress({ progress: 1, total: 4, message: "1/4 files.write …" });
    log("info", "written", "files");
    await finished;
    return {
      ...text("Wrote src/a.ts.\nIt has two functions."),
      structuredContent: { stopped_because: "done", planner: "model", approvals_needed: [] },
    };
  };
  const coding = createToolkit(
    "coding",
    { coding_agent: { annotations: { readOnlyHint: true }, run: agent } },
    { prefix: "" },
  );
  await using bench = await startBench(
    { folder: project.folder, pulseMs: 20 },
    { toolkits: [coding] },
  );
  const id = bench.client.ask(
    "tools/call",
    modern(paramsFor(project, { agent: "coding_agent" }), {}, heard),
  );
  await progressUntil(bench.client, "T001: 1/4 files.write …");
  expect((await bench.client.heard("notifications/message")).params).toEqual({
    level: "info",
    logger: "files",
    data: "written",
  });
  finish();
  expect((await bench.client.heard("notifications/message")).params).toMatchObject({
    logger: "coding_agent",
    data: expect.stringContaining("two functions"),
  });
  expect(read(await bench.client.answer(id))).toMatchObject({
    isError: false,
    text: expect.stringContaining("T001: Wrote src/a.ts.\nIt has two functions."),
    data: { reports: [{ id: "T001" }] },
  });
  expect(logOf(project)).toContain("T001 coding_agent: Wrote src/a.ts.");
});

test("a flood of output is forwarded in small pieces up to a limit, and its end is kept", () => {
  const told: string[] = [];
  const output = createCommandOutput({
    onLines: (_stream, lines) => told.push(lines),
    scrub: (words) => words.replaceAll("secret", "***"),
  });
  output.take("stdout", `${"x".repeat(3_998)}secret${"y".repeat(100_000)}\n`);
  for (let at = 0; at < 60; at++) output.take("stdout", `line ${at} is secret\n`.repeat(4_000));
  const { stdout, stderr } = output.end();
  expect(stdout).toMatch(/^line 59 is \*\*\*\n/);
  expect(stdout).toMatch(/\nline 59 is \*\*\*\n$/);
  expect(stdout.length).toBeLessThanOrEqual(32 * 1024);
  expect(stderr).toBe("");
  expect(told.join("")).not.toContain("secret");
  expect(told[0]?.split("\n")[0]).toMatch(/^x{3998}\*\*… \(line cut\)$/);
  expect(Math.max(...told.map((piece) => piece.length))).toBeLessThan(64 * 1024);
  expect(told.join("\n").length).toBeLessThan(5 * 1024 * 1024);
  expect(told.at(-1)).toMatch(/output limit of 4 MiB reached/);
});
