// A review counts in another folder only for the same server, and only if its user wants that.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { findChanges } from "../../src/hall/changes.ts";
import { openProjectLedger } from "../../src/hall/project-store.ts";
import { openReview, reviewDiscoveries, takeOver } from "../../src/hall/review.ts";
import { loadSettings } from "../../src/hall/settings.ts";
import { lockServer } from "../../src/upstream/lock.ts";
import { sourceOf } from "../../src/upstream/source.ts";
import { allowUnattended, type Home, makeHome } from "../servers/home.ts";
import { reviewWith } from "../servers/reviewing.ts";

/** A review counts in other folders of the same user, if it is the same server and the user wants it. */
let home: Home;
beforeEach(() => {
  home = makeHome();
  vi.stubEnv("XDG_DATA_HOME", home.locate("~/data"));
  vi.stubEnv("XDG_CONFIG_HOME", home.locate("~/.config"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  home[Symbol.dispose]();
});

const program = { command: "/bin/cat", args: ["--verbose"] };
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const script = fileURLToPath(new URL("../servers/faulty.mjs", import.meta.url));

/** Reviews the server `notes` in a folder, as `build` does, without starting it. */
async function review(
  folder: string,
  { entry = program, description = "Lists.", answers = ["enter"] }: Reviewing = {},
) {
  const path = home.locate(`~/${folder}`);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "guildhall.json"), JSON.stringify({ mcpServers: { notes: entry } }));
  const settings = await loadSettings({ folder: path }, "silent");
  const { reviewer, shown } = reviewWith(...answers);
  const session = await takeOver(await openReview(settings, reviewer), ["notes"]);
  const config = settings.config.mcpServers.notes;
  if (!config) throw new Error("notes is configured");
  const offer = {
    tools: [{ name: "list", description, inputSchema: { type: "object" as const } }],
    prompts: [],
    resources: [],
    templates: [],
  };
  const handshake = {
    era: "legacy",
    version: "1",
    info: {},
    capabilities: {},
    instructions: undefined,
  } as const;
  const found = lockServer(sourceOf(config), handshake, offer);
  await reviewDiscoveries(session, [{ name: "notes", found, ms: 1 }]);
  return { shown, approved: Object.keys((await session.ledger.read()).servers) };
}

interface Reviewing {
  readonly entry?: JsonObject;
  readonly description?: string;
  readonly answers?: readonly string[];
}

test("a server approved in one folder is offered in another with one question", async () => {
  expect((await review("blog")).approved).toEqual(["notes"]);
  const { shown, approved } = await review("blog2", { answers: [""] });
  expect(shown).toEqual([
    expect.stringMatching(
      /^\n {2}notes: \/bin\/cat --verbose.*\nnotes: approved in .*\/blog; use here\? \[Y\/n\] $/,
    ),
  ]);
  expect(approved).toEqual(["notes"]);
  // A no leads to the review.
  const refused = await review("blog3", { answers: ["n"] });
  expect(refused.shown[1]).toContain("What these servers offer");
  expect(refused.approved).toEqual([]);
});

test("a review that was taken over stays, even if the person leaves the rest of the review", async () => {
  await review("blog");
  await review("blog2", { answers: ["n"] });
  const settings = await loadSettings({ folder: home.locate("~/blog2") }, "silent");
  await takeOver(await openReview(settings, reviewWith("").reviewer), ["notes"]);
  const { servers } = await (await openProjectLedger(settings)).read();
  expect(Object.keys(servers)).toEqual(["notes"]);
});

test("definitions that differ from those approved elsewhere are reviewed", async () => {
  await review("blog");
  const { shown } = await review("blog2", { answers: ["", "enter"], description: "Lists all." });
  expect(shown[1]).toContain("What these servers offer");
  // A change is not ticked: Enter alone does not approve it.
  expect(shown[1]).toContain("> [ ] notes");
});

test.each<[string, JsonObject]>([
  ["another argument", { ...program, args: ["--number"] }],
  ["another program", { ...program, command: "/usr/bin/tac" }],
  ["another variable", { ...program, env: { MODE: "fast" } }],
  ["a script of the project", { command: process.execPath, args: [script] }],
])("%s is another server", async (_what, entry) => {
  await review("blog");
  const isOfProject = JSON.stringify(entry).includes(script);
  const answers = isOfProject ? ["space", "enter"] : ["enter"];
  const first = await review("other", { entry, answers });
  expect(first.shown[0]).toContain("What these servers offer");
  expect(first.approved).toEqual(["notes"]);
  // The same entry again is offered, unless a file of the project runs.
  const again = await review("worktree", { entry });
  expect(again.shown[0]?.includes("approved in")).toBe(!isOfProject);
});

test.each<[string, JsonObject]>([
  ["a script of npm", { command: "npm", args: ["run", "mcp"] }],
  ["a build file", { command: "/usr/bin/make", args: ["mcp"] }],
  ["a line for a shell", { command: "/bin/bash", args: ["-c", "./mcp"] }],
  ["code for an interpreter", { command: process.execPath, args: ["-e", "import('./mcp.js')"] }],
  ["a runner behind a program", { command: "/bin/cat", args: ["5", "make", "mcp"] }],
  ["a program that PATH finds", { command: "cat" }],
  ["a file of the project", { command: "/bin/cat", args: ["--config=package.json"] }],
  ["a file in a variable", { command: "/bin/cat", env: { HOOK: "--require ./package.json" } }],
])(
  "%s of another folder is not taken over, even for a user who wants no question",
  async (_what, entry) => {
    allowUnattended(home.locate("~/.config"), { trust: { scope: "user" } });
    for (const folder of ["blog", "clone"]) {
      const { shown, approved } = await review(folder, { entry });
      expect(shown[0]).toContain("What these servers offer");
      expect(approved).toEqual(["notes"]);
    }
  },
);

test('"scope": "user" in the user\'s own file asks no question; a project cannot set it', async () => {
  await review("blog");
  allowUnattended(home.locate("~/.config"), { trust: { scope: "user" } });
  home.write("./guildhall.json", { mcpServers: { notes: program } });
  const folders = {
    XDG_DATA_HOME: home.locate("~/data"),
    XDG_CONFIG_HOME: home.locate("~/.config"),
  };
  const run = async (line: string): Promise<unknown> =>
    JSON.parse((await home.run(cli, [...line.split(" "), "--json"], folders)).stdout);
  expect(await run("list")).toMatchObject([{ name: "notes", state: "enabled" }]);
  expect(await run("audit")).toMatchObject({
    events: [{ kind: "reviewed", subject: "notes", reason: "by trust.scope" }],
  });
  home.write("~/blog3/guildhall.json", { trust: { scope: "user" } });
  await expect(loadSettings({ folder: home.locate("~/blog3") }, "silent")).rejects.toThrow(
    "lets reviews of other folders count here",
  );
});

test("a review that another user wrote into the data folder does not count", async () => {
  await review("blog");
  const settings = await loadSettings({ folder: home.locate("~/blog") }, "silent");
  const { file } = await openProjectLedger(settings);
  home.write(file, home.read(file).replace("--verbose", "--verbosf"));
  const { shown } = await review("blog2");
  expect(shown[0]).toContain("What these servers offer");
});

test("a change of only a hidden value is named", async () => {
  const folder = home.project;
  const write = (key: string): void =>
    allowUnattended(home.locate("~/.config"), {
      mcpServers: { notes: { command: "cat", args: ["--api-key", key], env: { TOKEN: "one" } } },
    });
  write("first");
  const settings = await loadSettings({ folder }, "silent");
  const config = settings.config.mcpServers.notes;
  if (!config) throw new Error("notes is configured");
  const { reviewer } = reviewWith("enter");
  const session = await openReview(settings, reviewer);
  await reviewDiscoveries(session, [
    { name: "notes", reason: "down", isDenied: false, isInstalling: false, stderr: [], ms: 1 },
  ]);
  write("second");
  const [changes] = await findChanges(await loadSettings({ folder }, "silent"), "notes");
  expect(changes?.reached).toEqual({
    before: expect.stringContaining("--api-key ***"),
    now: changes?.reached?.before,
    hidden: ["--api-key"],
  });
});
