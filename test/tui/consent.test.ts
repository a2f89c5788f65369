import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createLog } from "../../src/base/log.ts";
import { requireConsent } from "../../src/cli/commands/tui-target.ts";
import { noEntries, openLedger } from "../../src/trust/ledger.ts";
import type { ClientConfig } from "../../src/tui/target.ts";
import { makeFolder } from "./client-bench.ts";

/** A server that only the project's own file names: whether the client may have it. */
let home = "";
let folder = "";

beforeAll(() => {
  home = makeFolder();
  vi.stubEnv("XDG_DATA_HOME", home);
  vi.stubEnv("XDG_CONFIG_HOME", join(home, "config"));
});
beforeEach(() => {
  folder = join(home, "project");
  rmSync(folder, { recursive: true, force: true });
  rmSync(join(home, "guildhall"), { recursive: true, force: true });
  mkdirSync(folder);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const agent: ClientConfig = { transport: "stdio", command: "claude", args: ["--mcp"], timeout: 60 };
const log = createLog({ level: "silent" });

/** The question; `says` is the person's input. */
async function ask(
  config: ClientConfig,
  says: string,
  project = folder,
): Promise<readonly string[]> {
  const questions: string[] = [];
  const answer = async (question: string): Promise<string> => {
    questions.push(question);
    return says;
  };
  await requireConsent(config, {
    file: join(project, "guildhall.toml"),
    folder: project,
    log,
    ask: answer,
  });
  return questions;
}

test("asks once, shows the whole command and keeps the answer", async () => {
  expect(await ask(agent, "y")).toEqual([
    `${join(folder, "guildhall.toml")} wants to start claude --mcp. Do you trust it? [y/N] `,
  ]);
  expect(await ask(agent, "n")).toEqual([]);
  // How long one waits for it is no other server.
  expect(await ask({ ...agent, timeout: 90 }, "n")).toEqual([]);
});

test("names headers without their values, and asks again when a value changes", async () => {
  const remote: ClientConfig = {
    transport: "http",
    endpoint: "https://a.example.com/mcp",
    headers: { "X-Key": "secret-one" },
    args: [],
    timeout: 60,
  };
  const [question = ""] = await ask(remote, "y");
  expect(question).toContain(
    "wants to connect to https://a.example.com/mcp and send X-Key, which may contain your secrets.",
  );
  expect(question).not.toContain("secret-one");
  expect(await ask(remote, "n")).toEqual([]);
  expect(await ask({ ...remote, headers: { "X-Key": "secret-two" } }, "y")).toHaveLength(1);
});

test("a refusal starts nothing, and the next start asks again", async () => {
  await expect(ask(agent, "")).rejects.toMatchObject({
    code: "DENIED",
    hint: expect.stringContaining("--command"),
  });
  expect(await ask(agent, "yes")).toHaveLength(1);
});

test.each<[string, ClientConfig]>([
  ["program", { ...agent, command: "./claude" }],
  ["argument", { ...agent, args: ["--mcp", "--yolo"] }],
  ["place of a space", { ...agent, command: "claude --mcp", args: [] }],
  ["transport", { transport: "http", endpoint: "http://127.0.0.1:1/mcp", args: [], timeout: 60 }],
  [
    "header",
    {
      transport: "http",
      endpoint: "http://127.0.0.1:1/mcp",
      headers: { Authorization: "Bearer x" },
      args: [],
      timeout: 60,
    },
  ],
])(
  "another %s is another server: it is asked for again, and takes the place of the first",
  async (_what, changed) => {
    await ask(agent, "y");
    await expect(ask(changed, "n")).rejects.toMatchObject({ code: "DENIED" });
    expect(await ask(agent, "n")).toEqual([]);
    expect(await ask(changed, "y")).not.toEqual([]);
    expect(await ask(agent, "y")).toHaveLength(1);
  },
);

test("no file in a clone replaces the user's consent", async () => {
  await ask(agent, "y");
  const clone = join(home, "clone");
  cpSync(folder, clone, { recursive: true });
  const trust = join(home, "guildhall", "trust");
  for (const name of readdirSync(trust)) {
    // A ledger in the project is no ledger, and another project's under this one's name is not this one's.
    mkdirSync(join(clone, ".guildhall", "trust"), { recursive: true });
    cpSync(join(trust, name), join(clone, ".guildhall", "trust", name));
  }
  const { file: own } = openLedger(folder, { warn: () => {} });
  const { file: theirs } = openLedger(clone, { warn: () => {} });
  cpSync(own, theirs);
  await expect(ask(agent, "n", clone)).rejects.toMatchObject({ code: "DENIED" });
  rmSync(clone, { recursive: true });
});

test("a server of the user's own config needs no consent", async () => {
  mkdirSync(join(home, "config", "guildhall"), { recursive: true });
  const file = join(home, "config", "guildhall", "config.json");
  writeFileSync(file, '{ "mcp": { "command": "claude", "args": ["--mcp"] } }');
  expect(await ask(agent, "n")).toEqual([]);
  rmSync(file);
});

test("trust reset forgets the consent", async () => {
  await ask(agent, "y");
  await openLedger(folder, { warn: () => {} }).change(() => noEntries);
  expect(await ask(agent, "y")).toHaveLength(1);
});
