import { chmodSync, existsSync, statSync, symlinkSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Home, makeHome } from "../servers/home.ts";
import { buildTestCli } from "../servers/process.ts";
import { openTerminal, type Terminal } from "../servers/terminal.ts";

/** `guildhall init` in a home of its own: what it finds, what it writes, what it never writes. */
let cli: string;

beforeAll(async () => {
  cli = await buildTestCli();
});

const github = { command: "npx", args: ["-y", "@modelcontextprotocol/server-github"] };
const canary = "ghp_canarycanarycanary0123456789";

/**
 * The same server in three clients, another one of the same name, one of each other kind, a hall,
 * and a broken file.
 */
function crowdedHome(): Home {
  return makeHome({
    "./.mcp.json": {
      mcpServers: {
        github: { ...github, env: { GITHUB_TOKEN: canary } },
        guildhall: { command: "guildhall", args: ["mcp"] },
      },
    },
    "~/.claude.json": {
      mcpServers: {
        sentry: {
          type: "http",
          url: "https://mcp.sentry.dev/mcp",
          headers: { Authorization: "Bearer canary-bearer-1234" },
        },
      },
      projects: { "/elsewhere": { mcpServers: { theirs: { command: "theirs" } } } },
    },
    "~/.cursor/mcp.json": {
      mcpServers: {
        gh: { ...github, env: { GITHUB_TOKEN: canary } },
        "My Files": { command: "files", args: ["--token=canary-in-arg"] },
      },
    },
    "./.vscode/mcp.json": {
      servers: { github: { type: "http", url: "https://api.githubcopilot.com/mcp/" } },
    },
    "~/.codex/config.toml": `[mcp_servers.github]\ncommand = "npx"\nargs = ["-y", "@modelcontextprotocol/server-github"]\nenv = { GITHUB_TOKEN = "${canary}" }\n`,
    "~/.gemini/settings.json": '{ "mcpServers": ',
    "~/.continue/config.yaml": "mcpServers:\n  - name: diary\n    command: diary\n",
    "~/.codeium/windsurf/mcp_config.json": {
      mcpServers: {
        search: { serverUrl: "https://mcp.example.com/s/Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5MTIz/mcp" },
      },
    },
  });
}

async function initJson(home: Home, ...args: string[]): Promise<JsonObject> {
  const { code, stdout, stderr } = await home.run(cli, ["init", "--yes", ...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as JsonObject;
}

describe("guildhall init", () => {
  test("writes the servers of all clients into one valid config, without a secret in the file or the output", async () => {
    using home = crowdedHome();
    const before = home.files();
    const { code, stdout, stderr } = await home.run(cli, ["init", "--yes"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(
      "stored as secrets of this project: GITHUB_TOKEN, SENTRY_TOKEN, MY_FILES_TOKEN, SEARCH_KEY",
    );
    expect(stdout).toContain("~/.gemini/settings.json:1:");
    expect(stdout).toContain("1 server of other projects not added");
    expect(stdout).toContain("guildhall install claude-code");

    const text = home.read("./guildhall.json");
    expect(text).not.toContain("$schema");
    expect(text).toContain("// from Claude Code: .mcp.json; also in Cursor, Codex");
    expect(text + stdout).not.toMatch(/canary/i);
    expect(text + stdout).not.toContain("Y2FuYXJ5");
    // A hall that is started from the desktop has the same keys.
    const { config, warnings } = await loadConfig({ folder: home.project, env: home.env });
    expect(Object.keys(config.mcpServers)).toEqual([
      "github",
      "sentry",
      "My-Files",
      "github-vscode",
      "search",
      "diary",
    ]);
    expect(warnings).toEqual([]);
    expect(config.mcpServers.sentry).toMatchObject({
      url: "https://mcp.sentry.dev/mcp",
      headers: { Authorization: "Bearer canary-bearer-1234" },
    });

    // Other programs' files are as they were, and there is nothing else new.
    const { [home.locate("./guildhall.json")]: _, ...after } = home.files();
    const ours = home.locate("~/.local/share/guildhall/secrets");
    const others = Object.entries(after).filter(([file]) => !file.startsWith(ours));
    expect(Object.fromEntries(others)).toEqual(before);
  });

  test("a second run finds everything known and changes nothing; --dry-run never writes", async () => {
    using home = crowdedHome();
    const dry = await initJson(home, "--dry-run");
    expect(dry).toMatchObject({ state: "would be written", secrets: expect.arrayContaining([]) });
    expect(existsSync(home.locate("./guildhall.json"))).toBe(false);
    expect(existsSync(home.locate("~/.local/share/guildhall/secrets"))).toBe(false);
    expect(await initJson(home, "--yes")).toMatchObject({ state: "written" });
    const text = home.read("./guildhall.json");
    expect(await initJson(home)).toMatchObject({
      state: "unchanged",
      added: [],
      secrets: [],
      variables: [],
    });
    // Also when a secret has been renewed since, and the client still has the old one.
    const { stdout } = await home.run(cli, ["init", "--json"], {
      MY_FILES_TOKEN: "renewed",
      SEARCH_KEY: "renewed",
    });
    expect(JSON.parse(stdout)).toMatchObject({ state: "unchanged", added: [] });
    expect(home.read("./guildhall.json")).toBe(text);
  });

  test("leaves keys where they are with --no-secrets, and stores them when it is run again without", async () => {
    using home = makeHome({
      "./.mcp.json": { mcpServers: { github: { ...github, env: { GITHUB_TOKEN: canary } } } },
    });
    const { stdout } = await home.run(cli, ["init", "--yes", "--no-secrets"]);
    expect(stdout).toMatch(
      /still missing:\n {2}guildhall secret set GITHUB_TOKEN {3}# .*\.mcp\.json/,
    );
    expect(existsSync(home.locate("~/.local/share/guildhall/secrets"))).toBe(false);
    expect(await initJson(home)).toMatchObject({ state: "unchanged", secrets: ["GITHUB_TOKEN"] });
    const { config } = await loadConfig({ folder: home.project, env: home.env });
    expect(config.mcpServers.github).toMatchObject({ env: { GITHUB_TOKEN: canary } });
  });

  test("without a terminal, takes no server without --yes", async () => {
    using home = crowdedHome();
    const { code, stderr } = await home.run(cli, ["init"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("with --yes")]);
    expect(existsSync(home.locate("./guildhall.json"))).toBe(false);
  });

  test("adds to a config that is there, and keeps its servers, its comments, its mode and its link", async () => {
    using home = makeHome({
      "./shared.json":
        '{\n  // ours\n  "expose": "tools",\n  "mcpServers": {\n    "github": { "command": "own" }, // not theirs\n  },\n}\n',
      "./.mcp.json": { mcpServers: { github, files: { command: "files" } } },
    });
    chmodSync(home.locate("./shared.json"), 0o600);
    symlinkSync("shared.json", home.locate("./guildhall.json"));
    expect(await initJson(home)).toMatchObject({
      added: [{ name: "github-claude-code" }, { name: "files" }],
    });
    const text = home.read("./shared.json");
    expect(text).toMatch(/\/\/ ours\n {2}"expose"/);
    expect(text).toContain('"github": { "command": "own" }, // not theirs\n');
    expect(statSync(home.locate("./shared.json")).mode & 0o777).toBe(0o600);
    const { config } = await loadConfig({ folder: home.project, env: home.env });
    expect(Object.keys(config.mcpServers)).toEqual(["github", "github-claude-code", "files"]);
  });

  test("adds to guildhall.toml where that is the config", async () => {
    using home = makeHome({
      "./guildhall.toml": '# ours\nexpose = "tools"\n',
      "./.mcp.json": { mcpServers: { github: { ...github, env: { A: "b" } } } },
    });
    await initJson(home);
    expect(home.read("./guildhall.toml")).toMatch(
      /^# ours\nexpose = "tools"\n\n\[mcpServers\.github\]\n/,
    );
    const { config } = await loadConfig({ folder: home.project, env: home.env });
    expect(config.mcpServers.github).toMatchObject({ ...github, env: { A: "b" } });
  });

  test("overwrites with --force only, and then keeps the existing entries", async () => {
    using home = makeHome({
      "./guildhall.json": '{ "mcpServers": { "old": { "command": "old" } } } // mine',
      "./.mcp.json": { mcpServers: { github } },
    });
    const { backup } = await initJson(home, "--force");
    expect(home.read("./guildhall.json")).not.toContain("old");
    expect(home.files()[String(backup)]).toContain("// mine");
  });

  test("refuses a config it does not understand, naming the line, and a client it does not know", async () => {
    using home = makeHome({
      "./guildhall.json": '{\n  "mcpServers": {\n}',
      "./.mcp.json": { mcpServers: { github } },
    });
    const broken = await home.run(cli, ["init"]);
    expect(broken).toMatchObject({ code: 78, stdout: "" });
    expect(broken.stderr).toMatch(/guildhall\.json:3:2: not valid JSON/);
    expect(home.read("./guildhall.json")).toBe('{\n  "mcpServers": {\n}');
    const unknown = await home.run(cli, ["init", "--from", "curser"]);
    expect(unknown).toMatchObject({ code: 66 });
  });

  test("takes only the named clients, and servers of other projects with --all", async () => {
    using home = crowdedHome();
    const named = (told: JsonObject): string[] =>
      (told.added as { name: string }[]).map(({ name }) => name);
    expect(named(await initJson(home, "--dry-run", "--from", "windsurf", "codex"))).toEqual([
      "search",
      "github",
    ]);
    expect(named(await initJson(home, "--dry-run", "--from", "claude-code", "--all"))).toEqual([
      "github",
      "sentry",
      "theirs",
    ]);
  });

  test("in an empty home writes a config to begin with", async () => {
    using home = makeHome();
    const { code, stdout } = await home.run(cli, ["init"]);
    expect(code).toBe(0);
    expect(stdout).toContain("no servers of other clients found");
    const { config } = await loadConfig({ folder: home.project, env: home.env });
    expect(config.mcpServers).toEqual({});
  });

  test("on a terminal lets a person choose, and starts nothing after an empty answer", async () => {
    using home = makeHome({
      "./.mcp.json": { mcpServers: { first: { command: "first" }, second: { command: "second" } } },
    });
    await using terminal = openInit(home);
    await terminal.shows("q: stop");
    // The first is under the cursor: a space takes it out.
    terminal.type(" ");
    await terminal.shows("[ ] first");
    terminal.type("\r");
    await terminal.confirm("");
    await terminal.shows("guildhall build ");
    expect(await terminal.ended).toBe(0);
    const { config } = await loadConfig({ folder: home.project, env: home.env });
    expect(Object.keys(config.mcpServers)).toEqual(["second"]);
  });

  test("on a terminal writes nothing when a person turns away", async () => {
    using home = makeHome({ "./.mcp.json": { mcpServers: { first: { command: "first" } } } });
    await using terminal = openInit(home);
    await terminal.shows("q: stop");
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(1);
    expect(existsSync(home.locate("./guildhall.json"))).toBe(false);
  });
});

function openInit(home: Home): Terminal {
  home.write("~/.config/guildhall/config.json", {});
  return openTerminal([process.execPath, cli, "init"], { folder: home.project, env: home.env });
}
