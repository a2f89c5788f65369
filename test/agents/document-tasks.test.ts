import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sortTools } from "../../src/agents/groups.ts";
import { countVotes } from "../../src/agents/local/choose.ts";
import { HallError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Toolkit } from "../../src/tool.ts";
import type { ToldTool } from "../../src/toolkits/find/answer.ts";
import { modern } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

/**
 * The tools and the task of document 000, and thirty tasks like it, for agents without a model. A
 * task that leaves nothing open runs, with exactly these arguments; the others are handed back with
 * the tool that a person would pick first.
 */

const calls: { readonly tool: string; readonly args: JsonObject }[] = [];

interface ToolWords {
  readonly description: string;
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
}

function createRecorder(id: string, tools: Readonly<Record<string, ToolWords>>): Toolkit {
  const entries = Object.entries(tools).map(
    ([name, { description, properties = {}, required = [] }]) => [
      name,
      {
        description,
        inputSchema: { type: "object", properties, required },
        run: (args: JsonObject) => {
          calls.push({ tool: `${id}.${name}`, args });
          return text(`${name} done`);
        },
      },
    ],
  );
  return createToolkit(id, Object.fromEntries(entries));
}

const string = (description = ""): JsonObject => ({ type: "string", description });
const limit: JsonObject = { type: "integer", description: "Max results", default: 10 };

const toolkits = [
  createRecorder("web", {
    search_web: {
      description: "Search the web for information",
      properties: { query: string("Search query"), limit },
      required: ["query"],
    },
    fetch_url: {
      description: "Fetch the content of a URL",
      properties: { url: string("URL to fetch") },
      required: ["url"],
    },
    extract_content: {
      description: "Extract the main content of an HTML document",
      properties: { html: string("HTML") },
      required: ["html"],
    },
  }),
  createRecorder("weather", {
    get_weather: {
      description: "Get current weather for a location",
      properties: { location: string("City name or coordinates") },
      required: ["location"],
    },
    get_forecast: {
      description: "Get the weather forecast for a location",
      properties: {
        location: string("City name or coordinates"),
        days: { type: "integer", description: "Number of days", default: 3 },
      },
      required: ["location"],
    },
  }),
  createRecorder("data", {
    load_csv: {
      description: "Load a CSV file and show its columns",
      properties: { path: string("Path of the file") },
      required: ["path"],
    },
    describe_data: {
      description: "Calculate statistics of a column",
      properties: { path: string("Path of the file"), column: string("Name of the column") },
      required: ["path", "column"],
    },
    create_chart: {
      description: "Create a chart of a table and save it",
      properties: {
        path: string("Path of the file"),
        kind: { type: "string", enum: ["bar", "line", "pie"] },
      },
      required: ["path", "kind"],
    },
    calculate: {
      description: "Evaluate an arithmetic expression",
      properties: { expression: string("Expression") },
      required: ["expression"],
    },
  }),
  createRecorder("mail", {
    list_emails: {
      description: "List e-mails of a folder",
      properties: {
        folder: { type: "string", enum: ["inbox", "sent", "drafts"] },
        limit,
      },
      required: ["folder"],
    },
    search_emails: {
      description: "Search e-mails of a sender",
      properties: { sender: { type: "string", format: "email" } },
      required: ["sender"],
    },
    send_email: {
      description: "Send an e-mail",
      properties: { to: { type: "string", format: "email" }, subject: string(), body: string() },
      required: ["to", "subject", "body"],
    },
  }),
  createRecorder("issues", {
    get_issue: {
      description: "Get an issue of a repository",
      properties: { repo: string("owner/name"), number: { type: "integer" } },
      required: ["repo", "number"],
    },
    list_issues: {
      description: "List the issues of a repository",
      properties: {
        repo: string("owner/name"),
        state: { type: "string", enum: ["open", "closed", "all"] },
      },
      required: ["repo"],
    },
    delete_branch: {
      description: "Delete a branch of a repository",
      properties: { repo: string("owner/name"), branch: string() },
      required: ["repo", "branch"],
    },
  }),
  createToolkit(
    "search_tool",
    {
      web_search: {
        description: "Search the internet for information",
        inputSchema: {
          type: "object",
          properties: { query: string() },
          required: ["query"],
        },
        run: () => {
          throw new HallError("UNAVAILABLE", "no search provider is configured");
        },
      },
    },
    { problem: () => "no search provider is configured" },
  ),
];

const agentFile = (name: string, description: string, tools: readonly string[]) => ({
  name,
  description: `Specialized agent for ${description}.`,
  tools,
  instructions: "",
});

const web = "web_research_agent";
const data = "data_analysis_agent";
const weather = "weather_agent";
const mail = "mail_agent";
const issues = "issues_agent";

const files = [
  agentFile(web, "web research tasks", ["web.*", "search_tool.*"]),
  agentFile(data, "data analysis", ["data.*"]),
  agentFile(weather, "the weather", ["weather.*"]),
  agentFile(mail, "e-mail", ["mail.*"]),
  agentFile(issues, "issues and branches", ["issues.*"]),
];

let hall: TestHall;
beforeAll(async () => {
  hall = await startHall({ toolkits, agents: { files }, planner: { kind: "local" } });
});
afterAll(() => hall[Symbol.asyncDispose]());

async function ask(agent: string, task: string, data?: JsonObject): Promise<JsonObject> {
  calls.length = 0;
  const result = await hall
    .connect()
    .result("tools/call", modern({ name: agent, arguments: { task, data } }));
  return result.structuredContent as JsonObject;
}

type Case = [agent: string, task: string, tool: string, args: JsonObject, data?: JsonObject];

const running: readonly Case[] = [
  [
    web,
    "Find the latest TypeScript best practices for 2025",
    "web.search_web",
    { query: "latest TypeScript best practices for 2025" },
  ],
  [
    web,
    "Search for the latest TypeScript best practices for 2025",
    "web.search_web",
    { query: "latest TypeScript best practices for 2025" },
  ],
  [
    web,
    'Search the web for "artificial intelligence trends 2025"',
    "web.search_web",
    { query: "artificial intelligence trends 2025" },
  ],
  [web, "search_web query=deno limit=3", "web.search_web", { query: "deno", limit: 3 }],
  [web, 'Use search_web with query "rust async"', "web.search_web", { query: "rust async" }],
  [web, "Fetch https://example.com/a", "web.fetch_url", { url: "https://example.com/a" }],
  [
    web,
    "Get the content of the URL https://example.com/docs",
    "web.fetch_url",
    { url: "https://example.com/docs" },
  ],
  [weather, "Use get_weather with location Oslo", "weather.get_weather", { location: "Oslo" }],
  [weather, 'get_weather for location "Oslo"', "weather.get_weather", { location: "Oslo" }],
  [
    weather,
    "weather.get_weather",
    "weather.get_weather",
    { location: "Berlin" },
    { location: "Berlin" },
  ],
  [
    weather,
    "What is the current weather in San Francisco?",
    "weather.get_weather",
    { location: "San Francisco" },
  ],
  [
    weather,
    "What is the weather in San Francisco?",
    "weather.get_weather",
    { location: "San Francisco" },
  ],
  [weather, "weather in Oslo", "weather.get_weather", { location: "Oslo" }],
  [
    weather,
    "Get the forecast for Riga for the next 5 days",
    "weather.get_forecast",
    { location: "Riga", days: 5 },
  ],
  [data, "What is 17 * 240?", "data.calculate", { expression: "17 * 240" }],
  [
    data,
    "describe_data path: sales.csv, column: price",
    "data.describe_data",
    { path: "sales.csv", column: "price" },
  ],
  [mail, "List the e-mails of the inbox", "mail.list_emails", { folder: "inbox" }],
  [mail, "Search e-mails of ana@example.com", "mail.search_emails", { sender: "ana@example.com" }],
  [
    issues,
    "get_issue repo=deno/std number=12",
    "issues.get_issue",
    { repo: "deno/std", number: 12 },
  ],
  [
    issues,
    'List the open issues of the repo "deno/std"',
    "issues.list_issues",
    { repo: "deno/std", state: "open" },
  ],
];

type OpenCase = [agent: string, task: string, best: string, filled?: JsonObject];

const open: readonly OpenCase[] = [
  [web, "Compare Deno and Node for servers", ""],
  [web, "Extract the main content of the page", "web.extract_content"],
  [web, "Fetch https://example.com/a and https://example.com/b", "web.fetch_url"],
  [weather, "Should I take an umbrella in Oslo?", ""],
  [weather, "What is the weather?", "weather.get_weather"],
  [
    data,
    "Create a bar chart of sales.csv",
    "data.create_chart",
    { path: "sales.csv", kind: "bar" },
  ],
  [data, "Load the CSV file sales/2025.csv", "data.load_csv", { path: "sales/2025.csv" }],
  [data, "Show statistics of sales.csv", "data.describe_data", { path: "sales.csv" }],
  [mail, "Send an e-mail to ana@example.com", "mail.send_email", { to: "ana@example.com" }],
  [mail, "List my e-mails", "mail.list_emails"],
  [issues, "Delete the branch old of deno/std", "issues.delete_branch"],
  [issues, "Get issue 12", "issues.get_issue", { number: 12 }],
  [issues, "Don't list the issues of deno/std", ""],
];

test.each(running)("%s, %s: runs %s", async (agent, task, tool, args, given) => {
  const answer = await ask(agent, task, given);
  expect(answer.why).toBeUndefined();
  expect(calls).toEqual([{ tool, args: expect.objectContaining(args) }]);
  expect(answer).toMatchObject({
    stopped_because: "done",
    tools_used: [tool.replace(".", "__")],
  });
});

test.each(open)("%s, %s: handed back with %s first", async (agent, task, best, filled = {}) => {
  const answer = await ask(agent, task);
  expect(calls).toEqual([]);
  expect(answer.stopped_because).toBe("not sure");
  const [first] = (answer.next ?? []) as readonly JsonObject[];
  if (best !== "")
    expect(first).toMatchObject({ tool: best.replace(".", "__"), arguments: filled });
});

const chosen = [...running, ...open.filter(([, , best]) => best !== "")].map(
  ([agent, task]): [string, string] => [agent, task],
);
test.each(chosen)("%s gets the task %s", async (agent, task) => {
  const { structuredContent } = await hall
    .connect()
    .result("tools/call", modern({ name: "find_tools", arguments: { task, limit: 10 } }));
  const found = structuredContent as { fits: boolean; tools: readonly ToldTool[] };
  const { groups } = sortTools(files, hall.hall.registry.tools());
  expect(countVotes(task, groups, found).votes[0]?.name).toBe(agent);
});

test("a tool that cannot be used now is named once, and not offered", async () => {
  const { unavailable, next, answer } = await ask(web, "Compare web search engines");
  expect(unavailable).toEqual([
    { name: "search_tool__web_search", why: "no search provider is configured" },
  ]);
  expect(JSON.stringify(next)).not.toContain("search_tool");
  expect(String(answer).match(/search_tool__web_search/g)).toHaveLength(1);
});

test("the document's task runs in a project with its web tools alone, too", async () => {
  await using alone = await startHall({
    toolkits: toolkits.slice(0, 1),
    agents: { files: [agentFile(web, "web research tasks", ["web.*"])] },
    planner: { kind: "local" },
  });
  calls.length = 0;
  const task = "Find the latest TypeScript best practices for 2025";
  await alone.connect().result("tools/call", modern({ name: web, arguments: { task } }));
  const query = "latest TypeScript best practices for 2025";
  expect(calls).toEqual([{ tool: "web.search_web", args: expect.objectContaining({ query }) }]);
});

describe("beside another server", () => {
  const task = "Find the latest TypeScript best practices for 2025";
  const query = "latest TypeScript best practices for 2025";
  const lookup = (description: string): Readonly<Record<string, ToolWords>> => ({
    lookup: { description, properties: { query: string("Text") }, required: ["query"] },
  });

  async function run(kits: readonly Toolkit[], tools: readonly string[]): Promise<JsonObject> {
    await using started = await startHall({
      toolkits: kits,
      agents: { files: [agentFile(web, "web research tasks", tools)] },
      planner: { kind: "local" },
    });
    calls.length = 0;
    const result = await started
      .connect()
      .result("tools/call", modern({ name: web, arguments: { task } }));
    return result.structuredContent as JsonObject;
  }

  test.each([
    "Look a word up",
    "Find the latest practices",
    "Find best practices, for TypeScript and others",
  ])("the tool that the agent is made for runs, not a general lookup: %s", async (description) => {
    const kits = [...toolkits.slice(0, 1), createRecorder("notes", lookup(description))];
    await run(kits, ["web.*", "notes.*"]);
    expect(calls).toEqual([{ tool: "web.search_web", args: expect.objectContaining({ query }) }]);
  });

  test("the agent keeps to its own tools", async () => {
    const kits = ["notes", "other"].map((id) => createRecorder(id, lookup("Find practices")));
    await run(kits, ["notes.*"]);
    expect(calls).toEqual([{ tool: "notes.lookup", args: { query } }]);
  });

  test("two tools of the same name tie, however they are described", async () => {
    const kits = [
      createRecorder("notes", lookup("Look a word up")),
      createRecorder("other", lookup("Find the latest TypeScript best practices")),
    ];
    const answer = await run(kits, ["notes.*", "other.*"]);
    expect(calls).toEqual([]);
    expect(answer.why).toBe("more than one tool could be meant");
  });
});

test("a task that lacks an argument of every tool is handed back with the argument's name", async () => {
  const number = (description: string): JsonObject => ({ type: "number", description });
  const kit = createRecorder("weather", {
    get_forecast: {
      description: "Get weather forecast for a location",
      properties: { latitude: number("Latitude"), longitude: number("Longitude") },
      required: ["latitude", "longitude"],
    },
    get_alerts: {
      description: "Get weather alerts for a US state",
      properties: { state: string("Two-letter US state code") },
      required: ["state"],
    },
  });
  await using started = await startHall({
    toolkits: [kit],
    agents: { files: [agentFile(weather, "the weather", ["weather.*"])] },
    planner: { kind: "local" },
  });
  calls.length = 0;
  const task = "What is the weather in San Francisco?";
  const { structuredContent } = await started
    .connect()
    .result("tools/call", modern({ name: weather, arguments: { task } }));
  expect(calls).toEqual([]);
  expect(structuredContent).toMatchObject({
    why: "the task does not give latitude and longitude",
    tools: [{ missing: ["latitude", "longitude"] }, { missing: ["state"] }],
  });
});
