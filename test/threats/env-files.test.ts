// A dotenv file of a project counts like `env` in its config: refused names, a review of the names, bound contents.
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type LoadedConfig, loadConfig } from "../../src/config/load.ts";
import type { ServerConfig } from "../../src/config/schema.ts";
import { approvalOf, describeSource, sourceOf } from "../../src/upstream/source.ts";
import { type Home, makeHome } from "../servers/home.ts";

const canary = "canary-0123456789-canary";

function load(home: Home): Promise<LoadedConfig> {
  return loadConfig({ folder: home.project, env: home.env });
}

async function serverIn(home: Home): Promise<Extract<ServerConfig, { readonly type: "stdio" }>> {
  const { config, unusable } = await load(home);
  expect(unusable).toEqual({});
  const server = config.mcpServers.box;
  if (server?.type !== "stdio") throw new Error("no server");
  return server;
}

async function refusalIn(home: Home): Promise<string> {
  return (await load(home)).unusable.box?.problems.join("\n") ?? "";
}

const box = { command: "box", envFile: ".env", env: { MODE: "own" } };
const entry = { mcpServers: { box } };

test("a server gets the variables of its file, and those of its entry win", async () => {
  using home = makeHome({ "./guildhall.json": entry, "./.env": `KEY=${canary}\nMODE=file\n` });
  expect((await serverIn(home)).env).toEqual({ KEY: canary, MODE: "own" });
  expect((await load(home)).places).toContain(home.locate("./.env"));
  expect((await load(home)).secrets).toContain(canary);
});

test("the review shows its names and no value, and a change needs another approval", async () => {
  using home = makeHome({ "./guildhall.json": entry, "./.env": `KEY=${canary}\n` });
  const before = await serverIn(home);
  expect(describeSource(before)).toContain("box with MODE=own and KEY from .env");
  expect(describeSource(before)).not.toContain(canary);
  home.write("./.env", `KEY=${canary}2\n`);
  const after = await serverIn(home);
  expect(approvalOf(after)).not.toBe(approvalOf(before));
  expect(describeSource(after)).not.toBe(describeSource(before));
  // The lock is committed: it tells nothing of the file.
  home.write("./.env", `OTHER=${canary}\n`);
  expect(sourceOf(await serverIn(home))).toBe(sourceOf(before));
});

test.each([
  "NODE_OPTIONS",
  "LD_PRELOAD",
  "HTTPS_PROXY",
  "npm_config_registry",
  "NODE_EXTRA_CA_CERTS",
])("it cannot set %s", async (name) => {
  using home = makeHome({ "./guildhall.json": entry, "./.env": `${name}=/evil\n` });
  expect(await refusalIn(home)).toMatch(new RegExp(`^env\\.${name}: `));
  // A file inside the project is the project's, whoever names it.
  const users = { box: { ...box, envFile: home.locate("./.env") } };
  home.write("./guildhall.json", {});
  home.write("~/.config/guildhall/config.json", { mcpServers: users });
  expect(await refusalIn(home)).toMatch(new RegExp(`^env\\.${name}: `));
});

describe("it is refused", () => {
  test.each(["../keys.env", `\${HOME}/keys.env`])("outside the project: %s", async (envFile) => {
    using home = makeHome({
      "./guildhall.json": { mcpServers: { box: { ...box, envFile } } },
      "~/keys.env": `KEY=${canary}`,
    });
    expect(await refusalIn(home)).toMatch(/^envFile: is outside the project/);
  });

  test.each(["a link", "a pipe", "nothing"])("if it is %s", async (kind) => {
    using home = makeHome({ "./guildhall.json": entry, "./other.env": `KEY=${canary}` });
    const file = home.locate("./.env");
    if (kind === "a link") symlinkSync(home.locate("./other.env"), file);
    if (kind === "a pipe") execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", file]);
    expect(await refusalIn(home)).toMatch(
      /^envFile: .*(is a link, which is not followed|is not a regular file|was not found)/,
    );
  });
});

test("the user's own file is beside the user's config, and may set a proxy", async () => {
  using home = makeHome({
    "~/.config/guildhall/config.json": { mcpServers: { box } },
    "~/.config/guildhall/.env": "HTTPS_PROXY=http://proxy.example.com",
  });
  const server = await serverIn(home);
  expect(server.env).toMatchObject({ HTTPS_PROXY: "http://proxy.example.com" });
  expect(describeSource(server)).toContain("and HTTPS_PROXY from .env");
});
