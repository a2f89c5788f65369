// The first ten minutes of a newcomer, one act per test, each on what the one before left.
import { execFile, execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type Home, makeHome, type Ran } from "../servers/home.ts";
import { buildTestCli, spawnHall } from "../servers/process.ts";
import { makeSlowInstaller, type SlowInstaller } from "../servers/slow-installer.ts";
import { openTerminal, type Terminal } from "../servers/terminal.ts";
import { until } from "../servers/until.ts";
import { callTool, faultyFile, isAlive } from "../servers/upstreams.ts";

const token = "ghp_canarycanarycanary0123456789";
const cursorFile = `{
  // My servers.
  "mcpServers": {
    "github": { "command": "HOME/bin/github-server", "env": { "GITHUB_TOKEN": "${token}" }, },
  },
}
`;
let home: Home;
let cli: string;
let installer: SlowInstaller;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  cli = await buildTestCli();
  // A clean home: nobody has allowed approvals without a person.
  home = makeHome({ "~/.config/guildhall/config.json": { trust: { unattended: false } } });
  installer = makeSlowInstaller(home.locate("~/slow"), faultyFile);
  env = { ...home.env, PATH: `${installer.bin}:${home.env.PATH}`, NO_COLOR: "1" };
  const notes = writeProgram("notes-server", "resources touch");
  writeProgram("github-server", "whoami");
  home.write("./.mcp.json", { mcpServers: { notes: { command: notes } } });
  home.write("~/.claude.json", {
    mcpServers: {
      memory: { command: "npx", args: ["-y", "some-server", "tools=1"] },
      billing: { command: "no-such-program-anywhere" },
    },
  });
  home.write("~/.cursor/mcp.json", cursorFile.replace("HOME", home.path));
  home.write("./.vscode/mcp.json", {
    servers: { "dead-http": { type: "http", url: "http://127.0.0.1:9/mcp" } },
  });
  home.write(
    "~/.codex/config.toml",
    '[mcp_servers.memory]\ncommand = "npx"\nargs = ["-y", "some-server", "tools=1"]\n',
  );
  home.write("~/.config/Claude/claude_desktop_config.json", {
    mcpServers: { memory: { command: "npx", args: ["-y", "some-server", "tools=1"] } },
  });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "A blog");
});

afterAll(async () => {
  installer.release();
  await until(() => !installer.starts().some(isAlive), "no installer is left");
  home[Symbol.dispose]();
});

function writeProgram(name: string, words: string): string {
  const file = home.write(
    `~/bin/${name}`,
    `#!/bin/sh\necho "${name} is up" >&2\nexec '${process.execPath}' '${faultyFile}' ${words}\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

function git(...args: string[]): void {
  const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
  execFileSync("git", [...who, ...args], { cwd: home.project, env: { ...home.env } });
}

const run = (line: string): Promise<Ran> => home.run(cli, line.split(" "), env);

function atTerminal(line: string, folder = home.project): Terminal {
  return openTerminal([process.execPath, cli, ...line.split(" ")], { folder, env });
}

test("init: one list, keys stored, one progress, one review", async () => {
  await using terminal = atTerminal("init");
  await terminal.shows("Which servers should the hall run?");
  await terminal.shows("also in Claude Desktop, Codex");
  await terminal.shows("q: stop");
  terminal.type("\r");
  await terminal.shows(/Store GITHUB_TOKEN in the secrets of this project/);
  terminal.type("\r");
  await terminal.confirm();
  await terminal.shows("memory: installing");
  installer.release();
  await terminal.shows("What these servers offer");
  await terminal.shows("q: stop");
  terminal.type("\r");
  await terminal.shows("3 of 5 servers answered");
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).not.toContain(token);
  expect(home.read("./guildhall.json")).not.toContain(token);
});

test("build again asks nothing, and ends with the clients' view and the next step", async () => {
  const { code, stdout } = await run("build");
  expect({ code, stdout }).toMatchObject({ code: 0 });
  expect(stdout).toMatch(/Next:\s+guildhall install/);
});

test("install: the client has the hall instead of its servers", async () => {
  await using terminal = atTerminal("install cursor --user --move");
  await terminal.shows("Write these changes?");
  terminal.type("\r");
  await terminal.shows("moved to the hall: github");
  expect(await terminal.ended).toBe(0);
  const written = home.read("~/.cursor/mcp.json");
  expect(written).toContain("// My servers.");
  expect(written).toContain('"guildhall"');
  expect(terminal.screen() + written).not.toContain(token);
});

test("status names servers that are down and why; a pipe gets all of it", async () => {
  const { stdout } = await run("status");
  expect(stdout).toMatch(/^billing .*"no-such-program-anywhere" was not found/m);
  expect(stdout).toMatch(/^dead-http .*ECONNREFUSED/m);
  const piped = await promisify(execFile)(
    "sh",
    ["-c", `'${process.execPath}' '${cli}' tools --json | cat`],
    { cwd: home.project, env },
  );
  expect((JSON.parse(piped.stdout) as JsonObject[]).length).toBeGreaterThanOrEqual(6);
});

test("add, disable, logs", async () => {
  await using adding = atTerminal(`add diary -- ${home.path}/bin/notes-server`);
  await adding.confirm();
  await adding.shows("q: stop");
  adding.type("\r");
  expect(await adding.ended).toBe(0);
  expect((await run("call diary.echo text=hello")).stdout).toContain("hello");
  expect(await run("disable diary")).toMatchObject({ code: 0 });
  expect((await run("list")).stdout).toMatch(/^diary +disabled/m);
  expect((await run("logs diary")).stdout).toContain("notes-server is up");
  expect(await run("remove diary")).toMatchObject({ code: 0 });
});

test("a client from the desktop has the key, which no file has", async () => {
  await using hall = spawnHall([], {
    cli,
    cwd: home.project,
    env: { ...env, XDG_DATA_HOME: home.locate("~/.local/share") },
  });
  await hall.greet();
  expect(JSON.stringify(await callTool(hall, "github.whoami"))).toContain(token);
});

test("another worktree of the repository takes over the approvals with one question", async () => {
  git("add", "guildhall.json");
  git("commit", "-qm", "Share the servers");
  const second = join(home.path, "second");
  git("worktree", "add", "-q", second);
  await using terminal = atTerminal("build", second);
  await terminal.shows(/approved in ~\/project[\s\S]*use here\? \[Y\/n\] /);
  terminal.type("\r");
  await terminal.confirm();
  // Two servers never answered, so nobody has approved them.
  await terminal.shows("Start them?");
  await terminal.shows("q: stop");
  terminal.type("\r");
  await terminal.shows("3 of 5 servers answered");
  await terminal.ended;
  const called = await home.run(cli, ["call", "github.whoami", "--folder", second], env);
  expect(called.stdout, terminal.screen()).toContain(token);
});

test("uninstall restores the client's file byte for byte", async () => {
  const { code } = await run("uninstall cursor --user --yes");
  expect(code).toBe(0);
  expect(home.read("~/.cursor/mcp.json")).toBe(cursorFile.replace("HOME", home.path));
});
