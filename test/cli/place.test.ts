import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { makeCommandLine } from "../servers/command-line.ts";

/** Where commands look for the project they work in. */
test("a command finds the project of a parent folder and says so", async () => {
  using line = makeCommandLine();
  mkdirSync(join(line.root, "repo", ".git"), { recursive: true });
  mkdirSync(join(line.root, "repo", "src", "deep"), { recursive: true });
  const config = { mcpServers: { files: { command: "no-such-program" } } };
  writeFileSync(join(line.root, "repo", "guildhall.json"), JSON.stringify(config));

  const inside = await line.run("repo/src/deep", "status");
  expect(inside).toMatchObject({ exit: 0, stderr: expect.stringContaining("project: ../..\n") });
  expect(inside.stdout).toContain("files");
  const json = await line.run("repo/src", "status", "--json");
  expect(json).toMatchObject({ exit: 0, stderr: "" });
  expect((await line.run("repo", "status")).stderr).not.toContain("project:");
  const given = await line.run("", "status", "--folder", "repo");
  expect(given).toMatchObject({ exit: 0, stdout: expect.stringContaining("files") });
  expect(await line.run("repo", "--folder", "../repo/src", "status")).toMatchObject({
    stdout: expect.stringContaining("no servers are configured"),
  });
});

test("files are named from where the command was typed", async () => {
  using line = makeCommandLine();
  mkdirSync(join(line.root, "repo", ".git"), { recursive: true });
  mkdirSync(join(line.root, "repo", "src"));
  writeFileSync(join(line.root, "repo", "guildhall.json"), "{}");
  writeFileSync(join(line.root, "repo", "src", "weather.json"), "no JSON");
  const ended = await line.run("repo/src", "register", "weather.json");
  expect(ended.stderr).toContain(`${join(line.root, "repo/src/weather.json")} is invalid JSON`);
});

test("a command that was added below the project starts where it was typed", async () => {
  using line = makeCommandLine();
  mkdirSync(join(line.root, "repo", ".git"), { recursive: true });
  mkdirSync(join(line.root, "repo", "src", "deep"), { recursive: true });
  mkdirSync(join(line.root, "beside"));
  const file = join(line.root, "repo", "guildhall.json");
  writeFileSync(file, "{}");
  await line.run("repo/src/deep", "add", "below", "--json", "--", "node", "./server.js");
  await line.run("repo/src", "add", "remote", "--json", "--url", "https://example.invalid/mcp");
  await line.run("repo", "add", "top", "--json", "--", "node", "./server.js");
  await line.run("beside", "add", "beside", "--json", "--folder", "../repo", "--", "node", "a.js");
  const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
  expect(Object.keys(mcpServers)).toEqual(["below", "remote", "top", "beside"]);
  expect(mcpServers.below).toMatchObject({ args: ["./server.js"], cwd: "src/deep" });
  for (const name of ["remote", "top", "beside"])
    expect(mcpServers[name]).not.toHaveProperty("cwd");
});

test("a config of another user in a parent folder is named", async () => {
  using line = makeCommandLine();
  mkdirSync(join(line.root, "repo", ".git"), { recursive: true });
  mkdirSync(join(line.root, "repo", "src"));
  const file = join(line.root, "repo", "guildhall.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { files: { command: "no-such-program" } } }));
  const own = process.geteuid?.() ?? 0;
  vi.spyOn(process, "geteuid").mockReturnValue(own + 1);
  const { stdout, stderr } = await line.run("repo/src", "status");
  expect(stderr).toContain(`note: "${file}" is not used, because another user owns it`);
  expect(stdout).not.toContain("files");
});

test("a build in a folder without a config creates nothing and says so", async () => {
  using line = makeCommandLine();
  mkdirSync(join(line.root, "empty"));
  for (const args of [["build"], ["build", "--dry-run"], ["status"], ["tools"], ["verify"]])
    await line.run("empty", ...args);
  expect(readdirSync(join(line.root, "empty"))).toEqual([]);
  expect(await line.run("empty", "build")).toMatchObject({
    exit: 66,
    stderr: expect.stringContaining("no config found for the folder"),
  });
  expect(existsSync(join(line.root, "empty", ".guildhall"))).toBe(false);
});

test("a built-in tool is added by its name, once", async () => {
  using line = makeCommandLine();
  mkdirSync(join(line.root, "p"));
  const file = join(line.root, "p", "guildhall.json");
  writeFileSync(file, '{"mcpServers": {"files": {"command": "no-such-program"}}} // ours');
  const added = await line.run("p", "add", "time_tool", "--json");
  expect(JSON.parse(added.stdout)).toMatchObject({ builtin: "time_tool", changed: true });
  expect(readFileSync(file, "utf8")).toContain('"builtin": ["time_tool"]} // ours');
  expect((await line.run("p", "add", "time_tool")).stdout).toBe("time_tool is on already\n");
});
