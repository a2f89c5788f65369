import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { buildTestCli } from "../servers/process.ts";

/** `guildhall install` and `uninstall` in a home of its own. */
let cli: string;

beforeAll(async () => {
  cli = await buildTestCli();
});

const canary = "sk-canary0123456789abcdef";
const cursorFile = `{
  // mine
  "mcpServers": {
    "search": { "command": "search", "env": { "SEARCH_KEY": "${canary}" } }, // keep an eye on it
    "odd": { "command": "a whole line" },
  },
}
`;

async function json(home: Home, ...args: string[]): Promise<JsonObject> {
  const { code, stdout, stderr } = await home.run(cli, [...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as JsonObject;
}

describe("guildhall install", () => {
  test("shows the diff, writes, keeps a backup; twice is once; uninstall restores every byte", async () => {
    using home = makeHome({ "./.cursor/mcp.json": cursorFile });
    const { code, stdout } = await home.run(cli, ["install", "cursor"]);
    expect(code).toBe(0);
    expect(stdout).toContain('+     "guildhall": {');
    expect(stdout).not.toContain(canary);
    expect(stdout).toContain("undo with: guildhall uninstall cursor");
    const installed = home.read("./.cursor/mcp.json");
    expect(installed).toContain("// keep an eye on it");
    expect(await json(home, "install", "cursor")).toMatchObject({
      state: "unchanged",
      backup: null,
    });
    expect(home.read("./.cursor/mcp.json")).toBe(installed);
    expect(await json(home, "uninstall", "cursor")).toMatchObject({ state: "restored" });
    expect(home.read("./.cursor/mcp.json")).toBe(cursorFile);
  });

  test("--move puts the file's servers behind the hall, leaves those it cannot take, and writes no secret but into the backup", async () => {
    using home = makeHome({
      "./.cursor/mcp.json": cursorFile,
      "~/.cursor/mcp.json": { mcpServers: { everywhere: { command: "e" } } },
    });
    const told = await json(home, "install", "cursor", "--move");
    expect(told).toMatchObject({
      state: "changed",
      moved: ["search"],
      secrets: ["SEARCH_KEY"],
      variables: [],
    });
    expect(told.warnings).toEqual([
      expect.stringMatching(/^the command "guildhall" is not on the PATH.*--local-path$/),
      expect.stringMatching(
        /^\.cursor\/mcp\.json:5:5: odd: skipped: command: is a whole command line/,
      ),
      "~/.cursor/mcp.json:3:5: everywhere stays there; move it with: guildhall install cursor --user --move",
      "not tried in the hall yet: search; run `guildhall build` before you restart the client",
    ]);
    expect(JSON.stringify(told)).not.toContain(canary);
    const { config } = await loadConfig({ folder: home.project, env: home.env });
    expect(Object.keys(config.mcpServers)).toEqual(["search"]);
    expect(JSON.stringify(config.mcpServers.search)).toContain(canary);
    expect(home.read("./.cursor/mcp.json")).toContain('"odd"');
    const holding = Object.entries(home.files()).flatMap(([name, text]) =>
      text.includes(canary) ? [name] : [],
    );
    expect(holding).toEqual([told.backup]);
    expect(await json(home, "uninstall", "cursor")).toMatchObject({
      state: "restored",
      moved: ["search"],
    });
    expect(home.read("./.cursor/mcp.json")).toBe(cursorFile);
  });

  test("a project's file, which is committed, gets no path of this machine unless asked", async () => {
    using home = makeHome();
    const entryOf = (): JsonObject =>
      (JSON.parse(home.read("./.mcp.json")) as { mcpServers: { guildhall: JsonObject } }).mcpServers
        .guildhall;
    expect((await json(home, "install", "claude-code")).warnings).toHaveLength(1);
    expect(entryOf()).toMatchObject({ command: "guildhall", args: ["mcp"] });
    const program = home.write("~/bin/guildhall", "#!/bin/sh\n");
    chmodSync(program, 0o755);
    const { stdout } = await home.run(cli, ["install", "claude-code", "--json"], {
      PATH: `${home.locate("~/bin")}:${home.env.PATH}`,
    });
    expect(JSON.parse(stdout)).toMatchObject({ state: "unchanged", warnings: [] });
    expect(await json(home, "install", "claude-code", "--local-path")).toMatchObject({
      state: "changed",
      warnings: [],
    });
    expect(entryOf()).toMatchObject({ command: process.execPath, args: [cli, "mcp"] });
    await json(home, "uninstall", "claude-code");
    expect(existsSync(home.locate("./.mcp.json"))).toBe(false);
  });

  test("servers of the hall that stay in a file of the client are named, with the command that moves them", async () => {
    const shop = { command: "shop" };
    using home = makeHome({
      "./guildhall.json": { mcpServers: { shop, bank: { command: "bank" } } },
      "./.mcp.json": { mcpServers: { shop, own: { command: "own" } } },
      "~/.claude.json": { mcpServers: { bank: { command: "bank" } } },
    });
    const warningsOf = async (...args: string[]): Promise<unknown> =>
      ((await json(home, "install", "claude-code", "--local-path", ...args)).warnings as string[])
        .map((text) => text.replace(/:\d+:\d+:/, ":"))
        .sort();
    const bank =
      "~/.claude.json: bank is in the hall, too; move it with: guildhall install claude-code --user --move";
    expect(await warningsOf()).toEqual([
      ".mcp.json: shop is in the hall, too; move it with: guildhall install claude-code --move",
      bank,
    ]);
    const untried = (names: string): string =>
      `not tried in the hall yet: ${names}; run \`guildhall build\` before you restart the client`;
    expect(await warningsOf("--move")).toEqual([untried("own, shop"), bank]);
    expect(await warningsOf("--user", "--move")).toEqual([
      expect.stringContaining("in every project, Claude Code will use the hall"),
      untried("bank"),
    ]);
    expect(home.read("~/.claude.json")).not.toContain("bank");
  });

  test("uninstall names the other file that has the hall", async () => {
    using home = makeHome();
    await json(home, "install", "cursor", "--user");
    expect(await json(home, "uninstall", "cursor")).toMatchObject({
      state: "unchanged",
      warnings: ["the hall is in ~/.cursor/mcp.json: run `guildhall uninstall cursor --user`"],
    });
    expect(await json(home, "uninstall", "cursor", "--user")).toMatchObject({ state: "restored" });
  });

  test("for all projects tells the hall whose config to use", async () => {
    using home = makeHome({ "./guildhall.json": "{}" });
    const { file, warnings } = await json(home, "install", "claude-desktop");
    expect(warnings).toEqual([
      `in every project, Claude Desktop will use the hall and the servers of ${home.project}`,
    ]);
    expect((await json(home, "install", "cursor", "--user", "--dry-run")).warnings).toEqual([
      `in every project, Cursor will use the hall and the servers of ${home.project}; with --project, only this one`,
    ]);
    const { mcpServers } = JSON.parse(readFileSync(String(file), "utf8")) as {
      mcpServers: { guildhall: { command: string; args: string[] } };
    };
    expect(mcpServers.guildhall.command).toBe(process.execPath);
    expect(mcpServers.guildhall.args).toEqual([cli, "mcp", "--folder", home.project]);
    const handshake = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      },
    };
    // As the client does it: anywhere.
    const start = () =>
      spawnSync(mcpServers.guildhall.command, mcpServers.guildhall.args, {
        cwd: "/",
        env: home.env,
        input: `${JSON.stringify(handshake)}\n`,
        encoding: "utf8",
        timeout: 30_000,
      });
    expect(JSON.parse(start().stdout)).toMatchObject({
      id: 1,
      result: { serverInfo: { name: "guildhall" } },
    });
    home.write("./guildhall.json", "{ broken");
    expect(start().stderr).toContain(home.locate("./guildhall.json:1:"));
    await json(home, "uninstall", "claude-desktop");
    expect(existsSync(String(file))).toBe(false);
  });

  test("--dry-run changes nothing; a broken file, an unknown client and contrary options are refused", async () => {
    using home = makeHome({ "./.cursor/mcp.json": cursorFile, "./.vscode/mcp.json": "{ // half" });
    const before = home.files();
    expect(await json(home, "install", "cursor", "--move", "--dry-run")).toMatchObject({
      state: "would be changed",
    });
    const refused = async (...args: string[]): Promise<unknown> => {
      const { code, stderr } = await home.run(cli, args);
      return [code, stderr.replaceAll(home.path, "~")];
    };
    expect(await refused("install", "vscode")).toEqual([
      78,
      expect.stringContaining("/.vscode/mcp.json:1:"),
    ]);
    expect(await refused("install", "emacs")).toEqual([
      66,
      expect.stringContaining('unknown client "emacs"'),
    ]);
    expect(await refused("install", "cursor", "--user", "--project")).toEqual([
      2,
      expect.stringContaining("cannot be combined"),
    ]);
    expect(await refused("install", "windsurf", "--project")).toEqual([
      2,
      expect.stringContaining("has no project config file"),
    ]);
    expect(home.files()).toEqual(before);
  });

  test.each(["init", "install", "uninstall"])(
    "%s explains itself with examples",
    async (command) => {
      using home = makeHome();
      const { code, stdout } = await home.run(cli, [command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`Examples:\n {2}\\$ guildhall ${command}`));
      expect(stdout).toContain("--dry-run");
      expect(stdout).toContain("--json");
    },
  );
});
