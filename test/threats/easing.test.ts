// What the user's config eases by name counts only for a server whose review has shown it: any
// project can use that name.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { summariseReview } from "../../src/hall/changes.ts";
import { openReview, reviewDiscoveries } from "../../src/hall/review.ts";
import { loadSettings, trustSettingsOf } from "../../src/hall/settings.ts";
import { easingOf } from "../../src/trust/easing.ts";
import { createTrust, type Verdict } from "../../src/trust/trust.ts";
import { lockServer } from "../../src/upstream/lock.ts";
import { sourceOf } from "../../src/upstream/source.ts";
import { makeHome } from "../servers/home.ts";
import { reviewWith } from "../servers/reviewing.ts";

const data = mkdtempSync(join(tmpdir(), "guildhall-easing-"));
vi.stubEnv("XDG_DATA_HOME", data);
vi.stubEnv("XDG_CONFIG_HOME", join(data, "config"));
afterAll(() => rmSync(data, { recursive: true, force: true }));

const inputSchema = { type: "object" };
const tools = [
  { name: "delete_everything", inputSchema, annotations: { destructiveHint: true } },
  { name: "read_file", inputSchema },
  { name: "sync", inputSchema },
];
const handshake = {
  era: "legacy",
  version: "1",
  info: {},
  capabilities: {},
  instructions: undefined,
} as const;

/** A project whose server is called `files`, and a user whose config can change. */
function makeProject() {
  const home = makeHome({ "./guildhall.json": { mcpServers: { files: { command: "x" } } } });
  const userFile = join(data, "config/guildhall/config.json");
  const load = async (trust: JsonObject) => {
    home.write(userFile, { trust });
    return loadSettings({ folder: home.project }, "silent");
  };
  return {
    /** Reviews the server at a terminal and returns what a person sees. */
    async review(trust: JsonObject, ...answers: string[]) {
      const settings = await load(trust);
      const config = settings.config.mcpServers.files;
      if (!config) throw new Error("files is configured");
      const { reviewer, shown } = reviewWith(...answers);
      const session = await openReview(settings, reviewer);
      const offer = { tools, prompts: [], resources: [], templates: [] };
      const found = lockServer(sourceOf(config), handshake, offer);
      const { reviews } = await reviewDiscoveries(session, [{ name: "files", found, ms: 1 }]);
      return { shown, summary: reviews.map(summariseReview) };
    },
    /** How a hall with this config judges the tool. */
    async judge(trust: JsonObject, name = "delete_everything"): Promise<Verdict> {
      const settings = await load(trust);
      const { ledger } = await openReview(settings, undefined);
      const judging = createTrust({ ledger, ...trustSettingsOf(settings.config) });
      judging.refresh();
      const tool = tools.find((known) => known.name === name);
      if (!tool) throw new Error(`no ${name}`);
      const toolkit = { id: "files", source: "upstream", tools } as never;
      return judging.judge({ toolkit, tool, fullName: `files.${name}` });
    },
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

const safe = { tools: { "files.*": "safe" } };

test("a tool that the user's config calls safe by name asks until a review has shown that", async () => {
  using project = makeProject();
  const before = await project.review({}, "v", "", "enter");
  expect(before.shown[1]).toMatch(/delete_everything +new +yes/);
  expect(await project.judge(safe)).toMatchObject({
    ask: "the config calls it safe, which counts once a review of files has shown that",
    marks: { effect: "changes" },
  });
  expect((await project.judge(safe, "sync")).marks.effect).toBe("unknown");

  const after = await project.review(safe, "v", "", "enter");
  expect(after.shown[0]).toContain("your config: files.* is safe");
  expect(after.shown[1]).toMatch(/delete_everything +no +your config calls it safe/);
  expect(after.summary).toMatchObject([
    { eased: "files.* is safe", tools: [{ asks: false }, {}, {}] },
  ]);
  expect(await project.judge(safe)).toMatchObject({ ask: undefined, marks: { effect: "reads" } });
  expect((await project.judge(safe, "sync")).marks.effect).toBe("reads");
  // Nothing is asked again.
  expect((await project.review(safe)).shown).toEqual([]);
});

test("it asks again when the line is gone from the config, or says more than was shown", async () => {
  using project = makeProject();
  await project.review(safe, "enter");
  expect((await project.judge({})).ask).toBe("it is marked destructive");
  const more = { ...safe, unguarded: ["files.read_file"] };
  expect(await project.judge(more)).toMatchObject({ ask: expect.any(String), isGuarded: true });
  expect((await project.review({}, "v")).shown[1]).toMatch(/delete_everything +yes/);
});

test("a person's decision overrides the config", async () => {
  using project = makeProject();
  const { shown } = await project.review(safe, "v", "1", "", "enter");
  expect(shown[2]).toMatch(/delete_everything +new +yes +it is marked destructive/);
  expect((await project.judge(safe)).ask).toBe("it is marked destructive");
  expect((await project.judge(safe, "sync")).marks.effect).toBe("reads");
  expect((await project.review(safe)).shown).toEqual([]);
});

test("neither the flow guard nor a policy is lifted by name alone", async () => {
  using project = makeProject();
  await project.review({}, "enter");
  const unguarded = { unguarded: ["files.*"] };
  expect((await project.judge(unguarded, "read_file")).isGuarded).toBe(true);
  const exempt = { policy: "all", servers: { files: "destructive" } };
  expect((await project.judge(exempt, "read_file")).ask).toBeDefined();

  expect((await project.review(exempt, "v", "", "enter")).shown[1]).toMatch(
    /your config: only changing tools ask[\s\S]*read_file +no/,
  );
  expect((await project.judge(exempt, "read_file")).ask).toBeUndefined();
  expect((await project.review(unguarded, "enter")).shown[0]).toContain("files.* is unguarded");
  expect((await project.judge(unguarded, "read_file")).isGuarded).toBe(false);
});

test("the review says which tools ask because the config demands it", async () => {
  using project = makeProject();
  const strict = { tools: { "files.read_file": "destructive" } };
  const marked = await project.review(strict, "v", "2");
  for (const table of marked.shown.slice(1, 3))
    expect(table).toMatch(/read_file +new +yes +the config marks it destructive/);
  expect((await project.review({ policy: "all" }, "v")).shown[1]).toMatch(
    /sync +new +yes +the config requires approval for every call/,
  );
  expect(easingOf("files", { policy: "all", overrides: { "files.a": "destructive" } })).toBe(
    undefined,
  );
});
