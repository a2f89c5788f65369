import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { parseJsonText, readValue } from "../../src/config/json.ts";
import { loadConfig } from "../../src/config/load.ts";
import { addServers, editConfig, editServer } from "../../src/hall/config-edit.ts";
import { entryFrom, readPasted, splitWords } from "../../src/hall/import/pasted.ts";
import { loadSettings } from "../../src/hall/settings.ts";
import { switchTools } from "../../src/hall/shown-tools.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-add-")));
  for (const name of ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"])
    vi.stubEnv(name, join(folder, "home"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const file = (): string => readFileSync(join(folder, "guildhall.json"), "utf8");
const write = (text: string, name = "guildhall.json"): void =>
  writeFileSync(join(folder, name), text);
function servers(): JsonObject {
  const { root } = parseJsonText({ file: "guildhall.json", text: file() });
  return (readValue(root) as { mcpServers: JsonObject }).mcpServers;
}

describe("a pasted text", () => {
  const npx = { command: "npx", args: ["-y", "some-server"] };
  test.each([
    ["the object of a client", JSON.stringify({ mcpServers: { one: npx } }), { one: npx }],
    ["VS Code's object", JSON.stringify({ servers: { one: npx } }), { one: npx }],
    ["the map alone", JSON.stringify({ one: npx, two: npx }), { one: npx, two: npx }],
    ["an entry without braces", `"one": ${JSON.stringify(npx)}`, { one: npx }],
    ["an object with comments", `{ /* here */ "one": ${JSON.stringify(npx)}, }`, { one: npx }],
    ["a line", "claude mcp add one -- npx -y some-server", { one: npx }],
    ["a line with a prompt", "$ claude mcp add one -s user -- npx -y some-server", { one: npx }],
    ["a line with JSON", `claude mcp add-json one '${JSON.stringify(npx)}'`, { one: npx }],
    [
      "a line with variables",
      "claude mcp add -e MODE=a LEVEL=2 one -- npx -y some-server",
      { one: { ...npx, env: { MODE: "a", LEVEL: "2" } } },
    ],
    [
      "a line with a URL",
      `claude mcp add --transport sse one https://example.com/sse \\\n  --header "X-Team: blue moon"`,
      { one: { type: "sse", url: "https://example.com/sse", headers: { "X-Team": "blue moon" } } },
    ],
  ])("may be %s", async (_what, text, expected) => {
    await addServers(folder, readPasted(text, undefined));
    expect(servers()).toEqual(expected);
  });

  test.each([
    ["[]", "names no server"],
    ["{}", "names no server"],
    ['{"one": 1}', "names no server"],
    [JSON.stringify(npx), "has no name"],
    ["claude mcp add", "names no server"],
    ["claude mcp add one npx -y some-server", "cannot be read"],
    ["make me a server", "pasted text:1:1"],
  ])("is refused: %s", (text, said) => {
    expect(() => readPasted(text, undefined)).toThrow(said);
  });

  test("gets its name from the command line, if it is one server", () => {
    expect(readPasted(JSON.stringify(npx), "mine")).toEqual([{ name: "mine", value: npx }]);
    expect(readPasted(JSON.stringify({ mcpServers: { one: npx } }), "mine")).toEqual([
      { name: "mine", value: npx },
    ]);
  });

  test("is split as a shell does", () => {
    expect(splitWords(`a 'b c' "d \\" e" f\\ g h="i j"`)).toEqual([
      "a",
      "b c",
      'd " e',
      "f g",
      "h=i j",
    ]);
  });
});

test("secrets in headers, variables and arguments are stored, and the file has their names", async () => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const env = [`GITHUB_TOKEN=${secret}`, "MODE=test", "PASSED"];
  const report = await addServers(folder, [
    { name: "git", value: entryFrom(["npx", "git-server"], { env, headers: [] }) },
    {
      name: "docs",
      value: entryFrom([], {
        url: "https://example.com/mcp",
        env: [],
        headers: [`Authorization: Bearer ${secret}`],
      }),
    },
  ]);
  expect(file()).not.toContain(secret);
  expect(JSON.stringify(report)).not.toContain(secret);
  expect(servers()).toEqual({
    git: {
      command: "npx",
      args: ["git-server"],
      env: { GITHUB_TOKEN: `\${GITHUB_TOKEN}`, MODE: "test", PASSED: `\${PASSED}` },
    },
    docs: {
      url: "https://example.com/mcp",
      headers: { Authorization: `Bearer \${GITHUB_TOKEN}` },
    },
  });
  expect(report).toMatchObject({ secrets: ["GITHUB_TOKEN"], variables: ["PASSED"] });
  const { config } = await loadConfig({ folder, env: { ...process.env, PASSED: "yes" } });
  expect(config.mcpServers.git).toMatchObject({ env: { GITHUB_TOKEN: secret } });

  // Another server's secret of the same name gets another one.
  const other = "ghp_ABCDEFGHIJ0123456789abcdefghij543210";
  const value = entryFrom(["npx", "b"], { env: [`GITHUB_TOKEN=${other}`], headers: [] });
  expect(await addServers(folder, [{ name: "b", value }])).toMatchObject({
    secrets: ["B_GITHUB_TOKEN"],
    variables: [],
  });
});

test("nothing is written if one of the servers cannot be added", async () => {
  const good = { name: "good", value: { command: "npx" } };
  for (const [bad, said] of [
    [{ name: "bad", value: { command: "npx -y x" } }, "is a whole command line"],
    [{ name: "hall", value: { command: "guildhall", args: ["mcp"] } }, "is a hall"],
    [{ name: "calculator", value: { command: "npx" } }, "built-in toolkit"],
  ] as const)
    await expect(addServers(folder, [good, bad])).rejects.toThrow(said);
  expect(() => file()).toThrow("ENOENT");
  await addServers(folder, [good]);
  await expect(addServers(folder, [{ ...good, name: "GOOD" }])).rejects.toMatchObject({
    code: "CONFLICT",
  });
});

const commented = `{
  // our servers
  "mcpServers": {
    "one": { "command": "a" }, // the first
    /* the second */
    "two": {
      "command": "b", // runs b
      "tools": { "exclude": ["x"] },
    },
  },
}
`;

test("an edit leaves every other character of the file as it was", async () => {
  write(commented);
  await editServer(folder, "two", (entry) => ({ ...entry, disabled: true }));
  expect(file()).toBe(commented.replace(`["x"] },\n`, `["x"] },\n      "disabled": true,\n`));
  await editServer(folder, "two", ({ disabled: _off, ...entry }) => entry);
  expect(file()).toBe(commented);
  await editServer(folder, "one", () => undefined);
  expect(file()).toBe(
    commented.replace(`    "one": { "command": "a" }, // the first\n`, "     // the first\n"),
  );
  await expect(editServer(folder, "tow", () => undefined)).rejects.toThrow("did you mean two?");
  await editConfig(folder, (tree) => ({ ...tree, expose: "search" }));
  expect(file()).toContain('  "expose": "search",\n}\n');
});

test("a failed addition names the next step in plain words", async () => {
  const value = { command: "npx" };
  await expect(addServers(folder, [{ name: "time_tool", value }])).rejects.toMatchObject({
    hint: "Choose another name.",
  });
  await expect(addServers(folder, [{ name: "one", value: { command: 1 } }])).rejects.toMatchObject({
    hint: "Correct the entry and add it again.",
  });
  expect(() => entryFrom(["npx"], { headers: ["a: b"], env: [] })).toThrow(
    expect.objectContaining({ hint: "Set a variable instead: --env NAME=value" }),
  );
});

test("edits and additions at the same time are all kept", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const entries = names.map((name) => [name, { command: "npx" }]);
  write(JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
  await Promise.all([
    ...names.map((name) => editServer(folder, name, (entry) => ({ ...entry, disabled: true }))),
    editConfig(folder, (tree) => ({ ...tree, names: "dot" })),
    addServers(folder, [{ name: "g", value: { command: "npx", disabled: true } }]),
  ]);
  expect(
    Object.entries(servers()).filter(([, entry]) => (entry as JsonObject).disabled),
  ).toHaveLength(7);
  expect(file()).toContain('"names"');
});

test("a server of the user's own file is changed there", async () => {
  mkdirSync(join(folder, "home", "guildhall"), { recursive: true });
  const users = '{"mcpServers":{"mine":{"command":"a"}}}';
  write(users, "home/guildhall/config.json");
  write(commented);
  await editServer(folder, "mine", (entry) => ({ ...entry, disabled: true }));
  expect(file()).toBe(commented);
  expect(readFileSync(join(folder, "home/guildhall/config.json"), "utf8")).toContain("disabled");
});

test("a table of TOML is written whole", async () => {
  write(
    '# ours\n[mcpServers.one]\ncommand = "a"\n\n[mcpServers.two]\ncommand = "b"\n',
    "guildhall.toml",
  );
  await editServer(folder, "one", (entry) => ({ ...entry, disabled: true }));
  expect(readFileSync(join(folder, "guildhall.toml"), "utf8")).toBe(
    '# ours\n[mcpServers.two]\ncommand = "b"\n\n[mcpServers.one]\ncommand = "a"\ndisabled = true\n',
  );
});

describe("tools of a server", () => {
  async function switched(pattern: string, isOn: boolean): Promise<unknown> {
    const settings = await loadSettings({ folder }, "silent");
    await switchTools(settings, pattern, isOn);
    return (servers().git as JsonObject).tools;
  }
  beforeEach(() => {
    const tools = ["read", "delete_branch", "delete_tag"].map((name) => ({
      name,
      inputSchema: {},
    }));
    const offer = { tools, resources: [], templates: [], prompts: [] };
    const git = {
      source: "",
      era: "legacy",
      protocol: "",
      info: {},
      capabilities: {},
      pins: {},
      offer,
    };
    mkdirSync(join(folder, ".guildhall"));
    write(JSON.stringify({ lockVersion: 1, servers: { git } }), ".guildhall/tools.lock.json");
    write('{"mcpServers": {"git": {"command": "a"}, "hub": {"command": "b", "prefix": "h"}}}');
  });

  test("are disabled and enabled by pattern, by full name or by a name that only one has", async () => {
    expect(await switched("git.delete_*", false)).toEqual({ exclude: ["delete_*"] });
    expect(await switched("git__delete_*", false)).toEqual({ exclude: ["delete_*"] });
    expect(await switched("read", false)).toEqual({ exclude: ["delete_*", "read"] });
    expect(await switched("git.read", true)).toEqual({ exclude: ["delete_*"] });
    // One tool of a pattern: the others stay disabled.
    expect(await switched("delete_tag", true)).toEqual({ exclude: ["delete_branch"] });
    expect(await switched("git.*", true)).toBeUndefined();
  });

  test("are added to a list of the tools to offer", async () => {
    write('{"mcpServers": {"git": {"command": "a", "tools": {"include": ["read"]}}}}');
    expect(await switched("git.delete_tag", true)).toEqual({ include: ["read", "delete_tag"] });
  });

  test.each([
    ["git", '"git" is a server'],
    ["gti.read", "did you mean git?"],
    ["git.reed", "did you mean git.read?"],
    ["nothing", 'unknown tool "nothing"'],
  ])("are not guessed: %s", async (pattern, said) => {
    await expect(switched(pattern, false)).rejects.toThrow(said);
  });
});
