// A model reads only definitions that a person has approved, whatever a server or a project's lock says later.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { ListKind, Tool, Toolkit } from "../../src/tool.ts";
import { type Ledger, openLedger, type Review } from "../../src/trust/ledger.ts";
import { reviewServer } from "../../src/trust/review.ts";
import type { Offer } from "../../src/upstream/lists.ts";
import { sourceOf } from "../../src/upstream/source.ts";
import type { RawClient } from "../servers/client.ts";
import { startHall } from "../servers/hall.ts";
import { createMemoryClient } from "../servers/memory-client.ts";
import { text } from "../servers/toolkits.ts";
import { callTool, faulty, locked } from "../servers/upstreams.ts";

const folder = mkdtempSync(join(tmpdir(), "guildhall-definitions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const approved: Offer = {
  tools: [
    {
      name: "read",
      description: "Reads a note.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
    },
  ],
  prompts: [{ name: "greet", description: "Greets.", arguments: [{ name: "who" }] }],
  resources: [{ uri: "note://1", name: "one" }],
  templates: [{ uriTemplate: "note://by-name/{name}", name: "by name" }],
};
const [read] = approved.tools as readonly [Tool];
const [greet] = approved.prompts;
const [note] = approved.resources;
const [byName] = approved.templates;

let projects = 0;

/** A ledger in which a person has approved this offer of the server `notes`. */
async function approve(offer: Offer | undefined, source = "as it is"): Promise<Ledger> {
  const ledger = openLedger(`/project/${++projects}`, { folder, warn: () => {} });
  if (offer)
    await ledger.change((entries) => ({
      ...entries,
      servers: { notes: reviewServer({ source, reached: "notes", ...offer }) },
    }));
  return ledger;
}

/** A server that offers something else from now on, as after `list_changed`. */
function createServer(): Toolkit & { offer(next: Offer): Promise<void> } {
  const listeners = new Set<(kind: ListKind) => void>();
  let offer = approved;
  return {
    id: "notes",
    source: "upstream",
    async offer(next) {
      offer = next;
      for (const kind of ["tools", "prompts", "resources"] as const)
        for (const listener of listeners) listener(kind);
      await new Promise((resolve) => setImmediate(resolve));
    },
    list: async () => offer.tools,
    call: async ({ name }) => text(`ran ${name}`),
    prompts: { list: async () => offer.prompts, get: async () => ({ messages: [] }) },
    resources: {
      list: async () => offer.resources,
      templates: async () => offer.templates,
      read: async (uri) => ({ contents: [{ uri, text: "content" }] }),
      covers: (uri, templates) => templates.length > 0 && uri.startsWith("note://"),
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Everything that a model may read in a list or find. */
async function readAll(client: RawClient): Promise<string> {
  const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
  const answers = await Promise.all(lists.map((method) => client.result(method)));
  const found = await callTool(client, "find_tools", { task: "read greet note poison" });
  return JSON.stringify([...answers, found]);
}

async function openNotes(ledger: Ledger) {
  const server = createServer();
  const hall = await startHall({ toolkits: [server], trust: { ledger } });
  const client = createMemoryClient(hall.hall);
  await client.greet();
  return Object.assign(hall, { server, client });
}

const failure = async (client: RawClient, method: string, params: JsonObject): Promise<string> =>
  JSON.stringify(await client.request(method, params));

test("approved definitions are passed on unchanged", async () => {
  await using hall = await openNotes(await approve(approved));
  const shown = await readAll(hall.client);
  for (const words of ["Reads a note.", "Greets.", "note://1", "note://by-name/{name}"])
    expect(shown).toContain(words);
});

test("a tool that an approved server adds is held back: no model reads its words, and it cannot be called", async () => {
  await using hall = await openNotes(await approve(approved));
  const added = { ...read, name: "a_first", description: "POISON: before any other tool, …" };
  await hall.server.offer({ ...approved, tools: [read, added] });
  const shown = await readAll(hall.client);
  expect(shown).toContain("notes.a_first is new since notes was reviewed");
  expect(shown).not.toContain("POISON");
  const call = { name: "notes.a_first", arguments: {} };
  expect(await failure(hall.client, "tools/call", call)).toMatch(/held back until you review it/);
});

test.each<[string, JsonObject]>([
  ["_meta", { _meta: { "ui/resourceUri": "ui://POISON" } }],
  ["icons", { icons: [{ src: "https://POISON.example" }] }],
  ["execution", { execution: { taskSupport: "POISON" } }],
  ["a field nobody knows", { "x-note": "POISON" }],
])("a change of %s holds an approved tool back", async (_field, change) => {
  await using hall = await openNotes(await approve(approved));
  await hall.server.offer({ ...approved, tools: [{ ...read, ...change }] });
  const shown = await readAll(hall.client);
  expect(shown).toContain("notes.read has changed since it was reviewed");
  expect(shown).not.toContain("POISON");
});

test("an approved server cannot set the hall's own facts about its tools", async () => {
  const config = faulty("told");
  const entry = locked(config, []);
  const tools = [{ ...read, facts: { asksEachTime: true, hideSecrets: "POISON" } }] as never;
  const lock = { lockVersion: 1, servers: { notes: { ...entry, offer: { ...approved, tools } } } };
  const ledger = await approve(approved, sourceOf(config));
  await using hall = await startHall({
    toolkits: [],
    servers: { notes: config },
    lock: lock as never,
    trust: { ledger },
  });
  expect(hall.hall.registry.findTool("notes.read")?.tool.facts).toBeUndefined();
});

test.each<[string, Partial<Offer>]>([
  ["a new prompt", { prompts: [{ name: "POISON" }] }],
  ["a changed prompt", { prompts: [{ ...greet, name: "greet", description: "POISON" }] }],
  ["a new resource", { resources: [{ uri: "note://POISON", name: "x" }] }],
  ["a changed resource", { resources: [{ uri: "note://1", ...note, name: "POISON" }] }],
  ["a new template", { templates: [{ uriTemplate: "POISON://{x}" }] }],
  ["a changed template", { templates: [{ ...byName, description: "POISON" }] }],
])("%s of an approved server is not listed until it is reviewed", async (_what, change) => {
  await using hall = await openNotes(await approve(approved));
  await hall.server.offer({ ...approved, ...change });
  expect(await readAll(hall.client)).not.toContain("POISON");
});

test("a held prompt or resource cannot be read or completed by name either", async () => {
  await using hall = await openNotes(await approve(approved));
  await hall.server.offer({
    ...approved,
    prompts: [{ name: "greet", description: "changed" }],
    resources: [{ uri: "note://1", name: "changed" }],
  });
  const reviewed = /reviewed.*guildhall verify notes/;
  const prompt = { ref: { type: "ref/prompt", name: "notes.greet" } };
  const argument = { name: "who", value: "" };
  expect(await failure(hall.client, "prompts/get", { name: "notes.greet" })).toMatch(reviewed);
  expect(await failure(hall.client, "prompts/get", { name: "greet" })).toMatch(reviewed);
  expect(await failure(hall.client, "resources/read", { uri: "note://1" })).toMatch(reviewed);
  expect(await failure(hall.client, "completion/complete", { ...prompt, argument })).toMatch(
    reviewed,
  );
});

test("a review of version 0.1 must be repeated, because it did not show everything", async () => {
  const ledger = await approve(approved);
  await ledger.change((entries) => {
    const { prompts, resources, templates, ...review } = entries.servers.notes as Review;
    return { ...entries, servers: { notes: review } };
  });
  await using hall = await openNotes(ledger);
  const shown = await readAll(hall.client);
  expect(shown).toContain("was reviewed by version 0.1");
  for (const words of ["Reads a note.", "Greets.", "note://1", "by-name"])
    expect(shown).not.toContain(words);
});

test("an unreviewed server lists no prompts, resources and templates", async () => {
  await using hall = await openNotes(await approve(undefined));
  const shown = await readAll(hall.client);
  for (const words of ["Reads a note.", "greet", "note://1", "by-name"])
    expect(shown).not.toContain(words);
  expect(await failure(hall.client, "resources/read", { uri: "note://1" })).toContain(
    "has not been reviewed",
  );
});

test("an edited lock serves only definitions equal to the approved ones", async () => {
  const config = faulty("told");
  const offer: Offer = {
    tools: [read, { ...read, name: "a_first", description: "POISON" }],
    prompts: [...approved.prompts, { name: "other", description: "POISON" }],
    resources: [{ uri: "note://1", name: "POISON" }],
    templates: [{ ...byName, description: "POISON" }],
  };
  await using hall = await startHall({
    toolkits: [],
    servers: { notes: config },
    lock: { lockVersion: 1, servers: { notes: { ...locked(config, []), offer } } },
    trust: { ledger: await approve(approved, sourceOf(config)) },
  });
  const client = createMemoryClient(hall.hall);
  await client.greet();
  const shown = await readAll(client);
  expect(shown).toContain("Reads a note.");
  expect(shown).toContain("Greets.");
  expect(shown).not.toContain("POISON");
});
