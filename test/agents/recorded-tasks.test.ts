// Twenty everyday tasks without a model, over the servers that this package installs and the definitions of others.
// They were written before the planner was changed.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Tool } from "../../src/tool.ts";
import { modern } from "../servers/client.ts";
import { binOf } from "../servers/real.ts";
import { createToolkit, text } from "../servers/toolkits.ts";
import { faulty, startUpstreams, type UpstreamHall } from "../servers/upstreams.ts";

/** Recorded from the packages that it names. */
const recorded = JSON.parse(
  readFileSync(new URL("../servers/recorded-tools.json", import.meta.url), "utf8"),
) as Readonly<Record<string, { readonly tools: readonly Tool[] }>>;

const folder = mkdtempSync(join(tmpdir(), "guildhall-everyday-"));
const folderFiles = {
  "README.md": "read me",
  "package.json": '{"name":"x"}',
  "docs/plan.md": "a plan",
};

/** They run in the folder; of the others we have the definitions. */
const real = {
  filesystem: startReal("filesystem", folder),
  memory: startReal("memory"),
};

function startReal(name: string, ...args: string[]) {
  return faulty("", {
    args: [binOf(`@modelcontextprotocol/server-${name}`), ...args],
    cwd: folder,
    env: { MEMORY_FILE_PATH: join(folder, "memory.json") },
  });
}

const toolkits = Object.entries(recorded)
  .filter(([id]) => !(id in real))
  .map(([id, { tools }]) =>
    createToolkit(
      id,
      Object.fromEntries(
        tools.map(({ name, ...tool }) => [
          name,
          { ...tool, description: tool.description ?? "", run: () => text("done") },
        ]),
      ),
    ),
  );

let hall: UpstreamHall;
beforeAll(async () => {
  mkdirSync(join(folder, "docs"));
  for (const [path, content] of Object.entries(folderFiles))
    writeFileSync(join(folder, path), content);
  const files = Object.entries(agents).map(([name, server]) => ({
    name,
    description: `Specialized agent for ${server}.`,
    tools: [`${server}.*`],
    instructions: "",
  }));
  hall = await startUpstreams(real, { toolkits, agents: { files }, planner: { kind: "local" } });
  await hall.untilListed("filesystem.read_text_file");
  await hall.untilListed("memory.read_graph");
});
afterAll(async () => {
  await hall[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const agents = {
  file_management_agent: "filesystem",
  code_hosting_agent: "github",
  notes_agent: "memory",
  slack_agent: "slack",
  maps_agent: "maps",
  web_research_agent: "brave",
};
type Agent = keyof typeof agents;

async function ask(agent: Agent, task: string): Promise<JsonObject> {
  const { structuredContent } = await hall
    .connect()
    .result("tools/call", modern({ name: agent, arguments: { task } }));
  return structuredContent as JsonObject;
}

const files = "file_management_agent";
const code = "code_hosting_agent";

// Before the tasks that run: calls that went well would decide between tools that fit alike.
test.each<[agent: Agent, task: string, why: RegExp, best?: string]>([
  [files, "what files are in src?", /path/, "filesystem__list_directory"],
  [files, "find all .ts files in src", /path and pattern/, "filesystem__search_files"],
  [files, "how big is README.md?", /ignore "big"/, "filesystem__get_file_info"],
  // None can.
  [files, "delete notes.txt", /no tool here clearly fits/],
  [files, "list folders I can access", /ignore/, "filesystem__list_allowed_directories"],
  ["notes_agent", "what do you remember about Ana?", /clearly fits/, "memory__search_nodes"],
  ["slack_agent", "post hello to #general", /channel_id/, "slack__slack_post_message"],
  ["maps_agent", "where is the Eiffel Tower?", /clearly fits/, "maps__maps_geocode"],
])("%s, %s: handed back, because %s", async (agent, task, reason, best) => {
  const { stopped_because: stopped, steps, why, next } = await ask(agent, task);
  expect(steps).toEqual([]);
  expect(stopped).toBe("not sure");
  expect(why).toMatch(reason);
  const [first] = (next ?? []) as readonly JsonObject[];
  expect(first?.tool).toBe(best);
});

test.each<[agent: Agent, task: string, tool: string, args: JsonObject, answer?: string]>([
  [
    files,
    "list the files here",
    "filesystem__list_directory",
    { path: "." },
    "[FILE] README.md\n[DIR] docs\n[FILE] package.json",
  ],
  [files, "read README.md", "filesystem__read_text_file", { path: "README.md" }, "read me"],
  [
    files,
    "show me package.json",
    "filesystem__read_text_file",
    { path: "package.json" },
    '{"name":"x"}',
  ],
  [
    files,
    "what's in docs/plan.md",
    "filesystem__read_text_file",
    { path: "docs/plan.md" },
    "a plan",
  ],
  [
    files,
    `List the files in the directory ${folder}/docs`,
    "filesystem__list_directory",
    { path: `${folder}/docs` },
    "[FILE] plan.md",
  ],
  [
    code,
    "list the open issues of nodejs/node",
    "github__list_issues",
    { owner: "nodejs", repo: "node", state: "open" },
  ],
  [
    code,
    "search repositories for mcp gateway",
    "github__search_repositories",
    { query: "mcp gateway" },
  ],
  [
    code,
    "show pull request 12 of nodejs/node",
    "github__get_pull_request",
    { owner: "nodejs", repo: "node", pull_number: 12 },
  ],
  [
    "notes_agent",
    "read the graph",
    "memory__read_graph",
    {},
    JSON.stringify({ entities: [], relations: [] }, null, 2),
  ],
  ["slack_agent", "list the channels", "slack__slack_list_channels", {}],
  [
    "web_research_agent",
    "search the web for rust async runtimes",
    "brave__brave_web_search",
    { query: "rust async runtimes" },
  ],
  [
    "web_research_agent",
    "find pizza places near Riga",
    "brave__brave_local_search",
    { query: "pizza places near Riga" },
  ],
])("%s, %s: runs %s", async (agent, task, tool, args, said = "done") => {
  const { why, answer, steps } = await ask(agent, task);
  expect(why).toBeUndefined();
  expect(steps).toEqual([
    expect.objectContaining({ tool, arguments: expect.objectContaining(args), outcome: "ok" }),
  ]);
  expect(answer).toBe(said);
});

test("a page of five of published tools takes at most 2.5 KB, text and data together", async () => {
  for (const task of ["read a file", "create an issue on GitHub", "find a place on the map"]) {
    const page = await hall
      .connect()
      .result("tools/call", modern({ name: "find_tools", arguments: { task } }));
    expect((page.structuredContent as { tools: unknown[] }).tools).toHaveLength(5);
    expect(Buffer.byteLength(JSON.stringify(page)), task).toBeLessThanOrEqual(2_560);
  }
});
