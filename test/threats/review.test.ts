// A person who approves a server can see every word that a model will read, and is warned of the suspicious ones.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { summariseReview } from "../../src/hall/changes.ts";
import { openReview, reviewDiscoveries } from "../../src/hall/review.ts";
import { loadSettings } from "../../src/hall/settings.ts";
import { createBuiltinToolkits } from "../../src/toolkits/builtin.ts";
import { findSuspicions } from "../../src/trust/suspicion.ts";
import type { Offer } from "../../src/upstream/lists.ts";
import { lockServer } from "../../src/upstream/lock.ts";
import { sourceOf } from "../../src/upstream/source.ts";
import { makeHome } from "../servers/home.ts";
import { binOf } from "../servers/real.ts";
import { reviewWith } from "../servers/reviewing.ts";
import { startUpstreams } from "../servers/upstreams.ts";
import { poisoned } from "./poisoned.ts";

const data = mkdtempSync(join(tmpdir(), "guildhall-review-"));
vi.stubEnv("XDG_DATA_HOME", data);
vi.stubEnv("XDG_CONFIG_HOME", data);
afterAll(() => rmSync(data, { recursive: true, force: true }));

const hidden = ["POISON-AT-END", "SCHEMA-POISON", "ANNOT-POISON", "PROMPT-POISON", "RES-POISON"];
const offer: Offer = {
  tools: [
    { name: "get_short", description: "Reads.", inputSchema: { type: "object" } },
    {
      name: "get_long",
      description: `${"It is very handy and safe. ".repeat(40)}POISON-AT-END`,
      inputSchema: {
        type: "object",
        properties: { id: { type: "string", description: "SCHEMA-POISON" } },
      },
      annotations: { title: "ANNOT-POISON" },
    },
  ],
  prompts: [{ name: "ask", description: "Asks.", arguments: [{ name: "PROMPT-POISON" }] }],
  resources: [{ uri: "note://1", name: "one", description: "RES-POISON" }],
  templates: [],
};

/** Reviews the server at a terminal and returns all that a person sees, answer by answer. */
async function review(offered: Offer, ...answers: string[]) {
  using home = makeHome({ "./guildhall.json": { mcpServers: { notes: { command: "x" } } } });
  const settings = await loadSettings({ folder: home.project }, "silent");
  const config = settings.config.mcpServers.notes;
  if (!config) throw new Error("notes is configured");
  const { reviewer, shown, left } = reviewWith(...answers);
  const writing = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    shown.push(String(text));
    return true;
  });
  try {
    const session = await openReview(settings, reviewer);
    const handshake = {
      era: "legacy",
      version: "1",
      info: {},
      capabilities: {},
      instructions: undefined,
    } as const;
    const found = lockServer(sourceOf(config), handshake, offered);
    const { reviews } = await reviewDiscoveries(session, [{ name: "notes", found, ms: 1 }]);
    return { shown, reviews, left, entries: await session.ledger.read() };
  } finally {
    writing.mockRestore();
  }
}

test("every word of an offer can be opened, and a cut says how much is missing", async () => {
  const { shown } = await review(offer, "v", "v 1", "v 2", "v 3", "v 4");
  const [, overview = "", ...opened] = shown;
  // Items are sorted by name: get_long comes first.
  expect(overview).toMatch(
    /1 get_long: It is very handy and safe\..* \(1,\d\d\d more characters: v 1\)/,
  );
  expect(overview).toMatch(/2 get_short: Reads\. \(\d+ more characters: v 2\)/);
  const all = opened.join("\n");
  for (const words of hidden) expect(all).toContain(words);
});

test("the summary for programs has whole definitions", async () => {
  const { reviews } = await review(offer);
  const summary = JSON.stringify(reviews.map(summariseReview));
  for (const words of hidden) expect(summary).toContain(words);
});

test("a long definition is shown a screen at a time", async () => {
  const description = Array.from({ length: 200 }, (_, line) => `line ${line}`).join("\n");
  const tools = [{ name: "long", description, inputSchema: { type: "object" } }];
  const { shown } = await review({ ...offer, tools }, "v", "v 1", ...Array(20).fill(""));
  expect(shown.filter((text) => text.includes("more lines, Enter: next"))).not.toEqual([]);
  expect(shown.join("\n")).toContain("line 199");
});

test("a marked definition is opened before it can be approved", async () => {
  const tools = [{ name: "add", description: poisoned[0] ?? "", inputSchema: { type: "object" } }];
  const suspicious = { ...offer, tools };
  // It is not ticked.
  const enter = await review(suspicious, "enter");
  expect(enter.shown[0]).toMatch(/> \[ \] notes[\s\S]*! add: tags like a prompt's/);
  expect(enter.entries.servers).toEqual({});
  const ticked = await review(suspicious, "space", "enter");
  expect(ticked.shown.join("\n")).toContain("and you had not opened them");
  expect(ticked.entries.servers).toEqual({});
  const opened = await review(suspicious, "v", "v 1", "", "space", "enter");
  expect(opened.shown.join("\n")).not.toContain("you had not opened them");
  expect(opened.entries.servers).toHaveProperty("notes");
});

test("of 60 poisoned definitions at least 54 are marked, wherever the words are", () => {
  const others = ["github", "mail"];
  const places: ((words: string) => JsonObject)[] = [
    (words) => ({ name: "x", description: words }),
    (words) => ({ name: "x", inputSchema: { properties: { a: { description: words } } } }),
    (words) => ({ name: "x", annotations: { title: words } }),
    (words) => ({ name: "x", arguments: [{ name: "a", description: words }] }),
    (words) => ({ name: "x", inputSchema: { properties: { [words]: {} } } }),
  ];
  expect(poisoned).toHaveLength(60);
  for (const place of places) {
    const marked = poisoned.filter((words) => findSuspicions(place(words), others).length > 0);
    expect(marked.length).toBeGreaterThanOrEqual(54);
  }
});

test("of the definitions of published servers and of our own tools at most 2 % are marked", async () => {
  const scope = "@modelcontextprotocol/server-";
  const programs: Record<string, string[]> = {
    everything: [binOf(`${scope}everything`), "stdio"],
    files: [binOf(`${scope}filesystem`), data],
    memory: [binOf(`${scope}memory`)],
    thinking: [binOf(`${scope}sequential-thinking`)],
    context7: [binOf("@upstash/context7-mcp")],
  };
  const entries = Object.entries(programs).map(([name, args]) => [
    name,
    {
      type: "stdio" as const,
      command: process.execPath,
      args,
      env: {},
      start: "lazy" as const,
      idleTimeoutSeconds: 600,
      tools: { include: ["*"], exclude: [] },
      disabled: false,
      allowPrivate: false,
    },
  ]);
  await using hall = await startUpstreams(Object.fromEntries(entries));
  const names = Object.keys(programs);
  const real = await Promise.all(
    names.map(async (name) => {
      const { offer: found } = await hall.upstream(name).discover();
      const others = names.filter((other) => other !== name);
      return Object.values(found).flatMap((list) =>
        (list as readonly JsonObject[]).map((definition) => findSuspicions(definition, others)),
      );
    }),
  );
  const own = await Promise.all(createBuiltinToolkits().map((toolkit) => toolkit.list()));
  const ours = own.flat().map(({ facts: _ours, ...tool }) => findSuspicions(tool, names));
  const all = [...real.flat(), ...ours];
  const marked = all.filter((suspicions) => suspicions.length > 0);
  expect(all.length).toBeGreaterThanOrEqual(50);
  expect(marked.length, JSON.stringify(marked)).toBeLessThanOrEqual(all.length * 0.02);
});
