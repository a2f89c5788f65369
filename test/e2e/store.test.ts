import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli, spawnHall } from "../servers/process.ts";

/** Recording in a project with the built program, and the commands that show it. */
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function createProject(
  files: Readonly<Record<string, string>> = { "guildhall.json": "{}" },
): string {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-project-"));
  folders.push(folder);
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), body);
  return folder;
}

async function callTools(cwd: string, names: readonly string[]): Promise<void> {
  await using hall = spawnHall([], { cwd });
  await hall.greet();
  for (const name of names) await hall.request("tools/call", { name, arguments: {} });
  hall.child.stdin.end();
  expect((await hall.exited).code).toBe(0);
}

test("stats and audit show the calls of a project after the hall has ended", async () => {
  const cwd = createProject();
  await callTools(cwd, ["time_tool.current_time", "time_tool.current_time", "no.such"]);
  expect(statSync(join(cwd, ".guildhall", "state.db")).mode & 0o777).toBe(0o600);

  const stats = await runCli(["stats", "--json", "--since", "1h"], { cwd });
  expect(JSON.parse(stats.stdout)).toMatchObject({
    by: "hour",
    total: { calls: 3, errors: 1 },
    tools: [{ tool: "time_tool.current_time", calls: 2 }, { tool: "(unknown)" }],
  });
  const shown = await runCli(["stats"], { cwd });
  expect(shown.stdout).toMatch(/time_tool\.current_time +2 +0\.0 % /);
  expect(shown.stdout).toContain("█");

  const audit = await runCli(["audit", "--json", "--tool", "time_tool"], { cwd });
  const { events } = JSON.parse(audit.stdout) as {
    events: { event: string; tool: string; outcome: string; digest: string }[];
  };
  expect(events).toMatchObject([
    {
      event: "call",
      tool: "time_tool.current_time",
      outcome: "ok",
      digest: expect.any(String),
      arguments: null,
    },
    { event: "call", tool: "time_tool.current_time" },
  ]);
  const failed = await runCli(["audit", "--outcome", "NOT_FOUND"], { cwd });
  expect(failed.stdout).toMatch(/call +no\.such .*failed NOT_FOUND/);
  const lines = (await runCli(["audit", "--export", "jsonl"], { cwd })).stdout.trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { tool: string }).tool)).toEqual([
    "time_tool.current_time",
    "time_tool.current_time",
    "no.such",
  ]);
  expect(await runCli(["audit", "--since", "yesterday-ish"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('invalid time "yesterday-ish"'),
  });
});

test("audit verify names a changed row and exits with 1", async () => {
  const cwd = createProject();
  await callTools(cwd, ["time_tool.current_time"]);
  expect(await runCli(["audit", "verify"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("0 rows verified"),
  });
  await using hall = spawnHall([], { cwd });
  await hall.greet();
  for (const name of ["weather", "tides"]) {
    const functions = [
      {
        name: "today",
        description: "returns it",
        parameters: { type: "object", properties: {} },
        returns: { type: "object" },
      },
    ];
    const tool = {
      name,
      version: "1.0.0",
      description: `returns the ${name}`,
      category: "SEARCH",
      functions,
    };
    expect(await hall.request("tools/register", { tool })).toMatchObject({
      result: { status: "registered" },
    });
  }
  hall.child.stdin.end();
  await hall.exited;
  const good = JSON.parse((await runCli(["audit", "verify", "--json"], { cwd })).stdout) as {
    rows: number;
  };
  expect(good).toMatchObject({ ok: true, rows: 2, head: expect.stringMatching(/^[\da-f]{64}$/) });
  const path = join(cwd, ".guildhall", "state.db");
  const bytes = readFileSync(path);
  bytes[bytes.indexOf("tides_v1")] = "T".charCodeAt(0);
  writeFileSync(path, bytes);
  expect(await runCli(["audit", "verify"], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the audit is broken at row 2: the row was changed"),
  });
});

test("calls are recorded from the first use of a folder, and nothing is written into it", async () => {
  const cwd = createProject({});
  expect(await runCli(["stats"], { cwd })).toMatchObject({
    code: 0,
    stdout: "no calls recorded in this folder\n",
  });
  expect(await runCli(["audit"], { cwd })).toMatchObject({
    code: 66,
    stderr: expect.stringContaining("no calls recorded in this folder"),
  });
  await callTools(cwd, ["time_tool.current_time"]);
  const { stdout } = await runCli(["stats", "--json"], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({
    tools: [{ tool: "time_tool.current_time", calls: 1 }],
  });
  expect(await runCli(["audit"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("time_tool.current_time"),
  });
  expect(readdirSync(cwd)).toEqual([]);

  mkdirSync(join(cwd, ".guildhall"));
  await callTools(cwd, ["time_tool.current_time"]);
  expect(readdirSync(join(cwd, ".guildhall"))).toContain("state.db");
});

test("a damaged file is renamed, and the hall continues", async () => {
  const cwd = createProject();
  mkdirSync(join(cwd, ".guildhall"));
  writeFileSync(
    join(cwd, ".guildhall", "state.db"),
    "not a database at all, but keep it. ".repeat(50),
  );
  await using hall = spawnHall([], { cwd });
  await hall.greet();
  expect(
    await hall.result("tools/call", { name: "time_tool.current_time", arguments: {} }),
  ).not.toMatchObject({ isError: true });
  hall.child.stdin.end();
  await hall.exited;
  expect(hall.output.stderr).toContain("it was renamed to");
  expect(
    readdirSync(join(cwd, ".guildhall")).filter((name) => name.startsWith("state.db.corrupt-")),
  ).toHaveLength(1);
  expect(JSON.parse((await runCli(["stats", "--json"], { cwd })).stdout)).toMatchObject({
    total: { calls: 1 },
  });
});
