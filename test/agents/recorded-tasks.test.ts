// Twenty everyday tasks over the definitions of published servers, without a model. They were written before the planner was changed.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Tool } from "../../src/tool.ts";
import { modern } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

/** Recorded from the packages that it names. */
const recorded = JSON.parse(
  readFileSync(new URL("../servers/recorded-tools.json", import.meta.url), "utf8"),
) as Readonly<Record<string, { readonly tools: readonly Tool[] }>>;

const calls: { readonly tool: string; readonly args: JsonObject }[] = [];
let hall: TestHall;
beforeAll(async () => {
  const toolkits = Object.entries(recorded).map(([id, { tools }]) =>
    createToolkit(
      id,
      Object.fromEntries(
        tools.map(({ name, ...tool }) => [
          name,
          {
            ...tool,
            description: tool.description ?? "",
            run: (args: JsonObject) => {
              calls.push({ tool: `${id}.${name}`, args });
              return text("done");
            },
          },
        ]),
      ),
    ),
  );
  const files = Object.entries(agents).map(([name, server]) => ({
    name,
    description: `Specialized agent for ${server}.`,
    tools: [`${server}.*`],
    instructions: "",
  }));
  hall = await startHall({ toolkits, agents: { files }, planner: { kind: "local" } });
});
afterAll(() => hall[Symbol.asyncDispose]());

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
  calls.length = 0;
  const { structuredContent } = await hall
    .connect()
    .result("tools/call", modern({ name: agent, arguments: { task } }));
  return structuredContent as JsonObject;
}

const files = "file_management_agent";
const code = "code_hosting_agent";

test.each<[Agent, string, string, JsonObject]>([
  [files, "list the files here", "filesystem.list_directory", { path: "." }],
  [files, "read README.md", "filesystem.read_text_file", { path: "README.md" }],
  [files, "show me package.json", "filesystem.read_text_file", { path: "package.json" }],
  [files, "what's in docs/plan.md", "filesystem.read_text_file", { path: "docs/plan.md" }],
  [files, "List the files in the directory /tmp", "filesystem.list_directory", { path: "/tmp" }],
  [
    code,
    "list the open issues of nodejs/node",
    "github.list_issues",
    { owner: "nodejs", repo: "node", state: "open" },
  ],
  [
    code,
    "search repositories for mcp gateway",
    "github.search_repositories",
    { query: "mcp gateway" },
  ],
  [
    code,
    "show pull request 12 of nodejs/node",
    "github.get_pull_request",
    { owner: "nodejs", repo: "node", pull_number: 12 },
  ],
  ["notes_agent", "read the graph", "memory.read_graph", {}],
  ["slack_agent", "list the channels", "slack.slack_list_channels", {}],
  [
    "web_research_agent",
    "search the web for rust async runtimes",
    "brave.brave_web_search",
    { query: "rust async runtimes" },
  ],
  [
    "web_research_agent",
    "find pizza places near Riga",
    "brave.brave_local_search",
    { query: "pizza places near Riga" },
  ],
])("%s, %s: runs %s", async (agent, task, tool, args) => {
  const answer = await ask(agent, task);
  expect(answer.why).toBeUndefined();
  expect(calls).toEqual([{ tool, args: expect.objectContaining(args) }]);
});

test.each<[Agent, string, string?]>([
  [files, "what files are in src?"],
  [files, "find all .ts files in src", "filesystem__search_files"],
  [files, "how big is README.md?"],
  [files, "delete notes.txt"],
  [files, "list folders I can access", "filesystem__list_allowed_directories"],
  ["notes_agent", "what do you remember about Ana?"],
  ["slack_agent", "post hello to #general", "slack__slack_post_message"],
  ["maps_agent", "where is the Eiffel Tower?", "maps__maps_geocode"],
])("%s, %s: handed back with %s", async (agent, task, best) => {
  const { stopped_because: stopped, next } = await ask(agent, task);
  expect(calls).toEqual([]);
  expect(stopped).toBe("not sure");
  const [first] = next as readonly JsonObject[];
  expect(first).toMatchObject({ do: "call-tool", tool: best ?? expect.any(String) });
});

test("a page of five of published tools takes at most 2.5 KB, text and data together", async () => {
  for (const task of ["read a file", "create an issue on GitHub", "find a place on the map"]) {
    const page = await hall
      .connect()
      .result("tools/call", modern({ name: "find_tools", arguments: { task } }));
    expect((page.structuredContent as { tools: unknown[] }).tools).toHaveLength(5);
    expect(JSON.stringify(page).length, task).toBeLessThanOrEqual(2_560);
  }
});
