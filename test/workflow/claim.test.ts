import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findBirth } from "../../src/base/processes.ts";
import { findClaim, type NewClaim, takeClaim } from "../../src/workflow/claim.ts";
import { startBench } from "./bench.ts";
import { makeProject, type Project } from "./projects.ts";

const spec = "# Feature Specification: Photos\n";
const claimOf = (project: Project, run = "run_1"): NewClaim => ({
  run,
  step: "plan",
  directory: project.path("specs/001-photos"),
  startedAt: "2026-11-16T09:30:00.000Z",
  arguments: { technical_context: "Fastify" },
});

test("the start time of a process tells it from another with the same id", async () => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const exited = once(child, "exit");
  const birth = await findBirth(child.pid ?? 0);
  expect(birth).toBeDefined();
  expect(await findBirth(child.pid ?? 0)).toBe(birth);
  expect(birth).not.toBe(await findBirth(process.pid));
  child.stdin.end();
  await exited;
  expect(await findBirth(child.pid ?? 0)).toBeUndefined();
  for (const pid of [0, -1, 1.5, Number.NaN]) expect(await findBirth(pid)).toBeUndefined();
});

test("a claim holds while its run is active, and is removed when it ends", async () => {
  using project = makeProject();
  const leave = await takeClaim(project.folder, claimOf(project));
  await expect(takeClaim(project.folder, claimOf(project, "run_2"))).rejects.toMatchObject({
    code: "EXECUTION",
    details: { run: "run_1" },
  });
  const { directory } = claimOf(project);
  expect(await findClaim(directory, project.folder)).toMatchObject({
    run: "run_1",
    isAtWork: true,
    arguments: { technical_context: "Fastify" },
  });
  await leave();
  expect(readdirSync(project.folder)).toEqual([]);
  expect(await findClaim(directory, project.folder)).toBeUndefined();
});

test.each([
  ["the id of another process", { pid: process.ppid }],
  ["the first process of the machine", { pid: 1 }],
  ["another boot, or another machine", { birth: "00000000-0000-0000-0000-000000000000 4711" }],
  ["a run of this process that has ended", { run: "run_0" }],
])("a stale claim is replaced: %s", async (_name, change) => {
  using project = makeProject();
  const leave = await takeClaim(project.folder, claimOf(project));
  const file = join(project.folder, readdirSync(project.folder)[0] ?? "");
  const written = JSON.parse(readFileSync(file, "utf8"));
  await leave();
  writeFileSync(file, JSON.stringify({ ...written, ...change }));
  expect(await findClaim(written.directory, project.folder)).toMatchObject({
    step: "plan",
    isAtWork: false,
  });
  const leaveAgain = await takeClaim(project.folder, claimOf(project, "run_2"));
  expect(await findClaim(written.directory, project.folder)).toMatchObject({
    run: "run_2",
    isAtWork: true,
  });
  await leaveAgain();
});

test.each([
  ["invalid JSON", () => "{"],
  ["an unknown step", (claim: object) => JSON.stringify({ ...claim, step: "command" })],
  ["another feature", (claim: object) => JSON.stringify({ ...claim, directory: "/elsewhere" })],
  ["invalid arguments", (claim: object) => JSON.stringify({ ...claim, arguments: ["--force"] })],
  [
    "a process without a start time",
    (claim: object) => JSON.stringify({ ...claim, birth: undefined }),
  ],
])("a file with %s is not a claim", async (_name, spoil) => {
  using project = makeProject();
  const leave = await takeClaim(project.folder, claimOf(project));
  const file = join(project.folder, readdirSync(project.folder)[0] ?? "");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, spoil(JSON.parse(text)));
  expect(await findClaim(claimOf(project).directory, project.folder)).toBeUndefined();
  await leave();
});

test("a claim inside a repository is ignored", async () => {
  const hostile = {
    run: "run_hostile",
    step: "implement",
    pid: 1,
    startedAt: "2026-11-16T09:30:00.000Z",
    arguments: { agent: "shell_agent", force: true, spec_directory: "/etc" },
  };
  using claims = makeProject();
  using project = makeProject({ "specs/001-photos/spec.md": spec });
  for (const path of [".guildhall/workflow/001-photos.run.json", "specs/001-photos/.run.json"])
    project.write(
      path,
      JSON.stringify({
        ...hostile,
        birth: await findBirth(1),
        directory: project.path("specs/001-photos"),
      }),
    );
  await using bench = await startBench({ folder: project.folder, claims: claims.folder });
  const { data } = await bench.call("status", {});
  expect(data.features).toMatchObject([{ name: "001-photos", phase: "plan" }]);
  expect(JSON.stringify(data)).not.toContain("shell_agent");
  expect(
    await bench.call("plan", { spec_directory: project.path("specs/001-photos") }),
  ).toMatchObject({ isError: false });
  expect(readdirSync(claims.folder)).toEqual([]);
});
