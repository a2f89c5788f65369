import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Toolkit } from "../../src/tool.ts";
import { modern } from "../servers/client.ts";
import { startHall, type TestHall } from "../servers/hall.ts";
import { createToolkit, text } from "../servers/toolkits.ts";

/**
 * Everyday tasks without a model. Tasks that leave nothing open run with exactly these arguments;
 * the others are handed back with the tool a person would pick first. A wrong action is a failure
 * of its own, in either half.
 */

const calls: { readonly tool: string; readonly args: JsonObject }[] = [];

const shown = (tool: string): string => tool.replace(".", "__");

type Fields = Readonly<Record<string, string | JsonObject>>;

interface ToolWords {
  readonly description: string;
  readonly required?: Fields;
  readonly optional?: Fields;
}

function createRecorder(id: string, tools: Readonly<Record<string, ToolWords>>): Toolkit {
  const property = (field: string | JsonObject): JsonObject =>
    typeof field === "string" ? { type: "string", description: field } : field;
  const entries = Object.entries(tools).map(
    ([name, { description, required = {}, optional = {} }]) => [
      name,
      {
        description,
        inputSchema: {
          type: "object",
          properties: Object.fromEntries(
            Object.entries({ ...required, ...optional }).map(([key, field]) => [
              key,
              property(field),
            ]),
          ),
          required: Object.keys(required),
          additionalProperties: false,
        },
        run: (args: JsonObject) => {
          calls.push({ tool: `${id}.${name}`, args });
          return text(`${name} done`);
        },
      },
    ],
  );
  return createToolkit(id, Object.fromEntries(entries));
}

const integer = (description: string): JsonObject => ({ type: "integer", description });
const choice = (...values: string[]): JsonObject => ({ type: "string", enum: values });

const toolkits = [
  createRecorder("web", {
    web_search: {
      description: "Search the web. Returns titles, addresses and snippets.",
      required: { query: "A few telling words" },
      optional: { max_results: integer("1 to 20") },
    },
    news_search: {
      description: "Search recent news articles on a subject.",
      required: { query: "The subject" },
      optional: { days_back: integer("How many days old articles may be") },
    },
    fetch_page: {
      description: "Fetch a web page and return its text.",
      required: { url: { type: "string", format: "uri" } },
    },
  }),
  createRecorder("files", {
    read_text_file: {
      description:
        "Read the complete contents of a file as text. Use `head` to read only the first lines.",
      required: { path: "" },
      optional: { head: integer("Only the first N lines") },
    },
    list_directory: {
      description: "List the files and folders in a directory.",
      required: { path: "" },
    },
    write_file: {
      description: "Create a file or overwrite it with new content.",
      required: { path: "", content: "" },
    },
    delete_file: { description: "Delete a file.", required: { path: "" } },
    search_files: {
      description: "Search for files whose names match a pattern.",
      required: { path: "Where to start", pattern: "A glob" },
    },
  }),
  createRecorder("tracker", {
    get_issue: {
      description: "Get an issue with its comments.",
      required: { issue_number: integer("") },
    },
    list_issues: {
      description: "List the issues of the project.",
      optional: { state: choice("open", "closed"), since: { type: "string", format: "date" } },
    },
    create_issue: {
      description: "Create an issue.",
      required: { title: "" },
      optional: { body: "" },
    },
  }),
  createRecorder("daily", {
    get_weather: {
      description: "Get the weather of a city.",
      required: { city: "The name of the city" },
      optional: { units: choice("celsius", "fahrenheit") },
    },
    current_time: {
      description: "The current time in a time zone.",
      optional: { timezone: "An IANA name" },
    },
    calculate: { description: "Evaluate an arithmetic expression.", required: { expression: "" } },
    convert_units: {
      description: "Convert a value between units.",
      required: { value: { type: "number" }, from_unit: "", to_unit: "" },
    },
    list_events: {
      description: "List the events in the calendar of a day.",
      required: { date: { type: "string", format: "date" } },
    },
    send_email: {
      description: "Send an e-mail.",
      required: { to: { type: "string", format: "email" }, subject: "", body: "" },
    },
    translate: {
      description: "Translate a text into another language.",
      required: { text: "", language: choice("english", "german", "french") },
    },
  }),
];

const agentFile = (name: string, description: string, tools: readonly string[]) => ({
  name,
  description,
  tools,
  instructions: "",
});

const files = [
  agentFile("web_research_agent", "Searches the web and reads pages.", ["web.*"]),
  agentFile("files_agent", "Reads and writes files.", ["files.*"]),
  agentFile("issues_agent", "Works with issues.", ["tracker.*"]),
  agentFile("daily_agent", "Weather, time, sums, calendar and mail.", ["daily.*"]),
];

let hall: TestHall;
beforeAll(async () => {
  hall = await startHall({ toolkits, agents: { files }, planner: { kind: "local" } });
});
afterAll(() => hall[Symbol.asyncDispose]());

async function ask(agent: string, task: string, data?: unknown): Promise<JsonObject> {
  calls.length = 0;
  const result = await hall
    .connect()
    .result("tools/call", modern({ name: agent, arguments: { task, data } }));
  return result.structuredContent as JsonObject;
}

const web = "web_research_agent";
const disk = "files_agent";
const issues = "issues_agent";
const daily = "daily_agent";

test.each<[agent: string, task: string, tool: string, args: JsonObject, data?: unknown]>([
  [web, "Search for the latest AI news", "web.news_search", { query: "latest AI news" }],
  [
    web,
    "Search the web for web components tutorials",
    "web.web_search",
    { query: "web components tutorials" },
  ],
  [
    web,
    "Search for flights from Berlin to Lima",
    "web.web_search",
    { query: "flights from Berlin to Lima" },
  ],
  [
    web,
    "web_search query=bread max_results=3",
    "web.web_search",
    { query: "bread", max_results: 3 },
  ],
  [
    web,
    "Search news about chip exports from the last 7 days",
    "web.news_search",
    { query: "chip exports", days_back: 7 },
  ],
  [
    web,
    "Fetch the page https://example.com/a?b=1.",
    "web.fetch_page",
    { url: "https://example.com/a?b=1" },
  ],
  [disk, "Read the file /etc/hosts", "files.read_text_file", { path: "/etc/hosts" }],
  [disk, "Show me the contents of docs/plan.md", "files.read_text_file", { path: "docs/plan.md" }],
  [
    disk,
    "Use read_text_file with head=5 on notes.txt",
    "files.read_text_file",
    { path: "notes.txt", head: 5 },
  ],
  [disk, "List the files in the directory ./src", "files.list_directory", { path: "./src" }],
  [
    disk,
    "Search for files",
    "files.search_files",
    { path: ".", pattern: "*.md" },
    { path: ".", pattern: "*.md" },
  ],
  [issues, "Get issue #42", "tracker.get_issue", { issue_number: 42 }],
  [issues, "List the open issues", "tracker.list_issues", { state: "open" }],
  [issues, "List issues since 2026-11-01", "tracker.list_issues", { since: "2026-11-01" }],
  [daily, "What is the weather in Riga?", "daily.get_weather", { city: "Riga" }],
  [
    daily,
    "Get the weather of New York in celsius",
    "daily.get_weather",
    { city: "New York", units: "celsius" },
  ],
  [daily, "Get the weather", "daily.get_weather", { city: "Lima" }, { city: "Lima" }],
  [daily, "current time in Europe/Berlin", "daily.current_time", { timezone: "Europe/Berlin" }],
  [daily, "(3 + 4) * 2", "daily.calculate", { expression: "(3 + 4) * 2" }],
  [daily, "what is 17 * 23?", "daily.calculate", { expression: "17 * 23" }],
  [
    daily,
    "Convert 5 miles to km",
    "daily.convert_units",
    { value: 5, from_unit: "miles", to_unit: "km" },
  ],
  [
    daily,
    "List the calendar events of 24 December 2026",
    "daily.list_events",
    { date: "2026-12-24" },
  ],
  [
    daily,
    'Translate "good morning" into German',
    "daily.translate",
    { text: "good morning", language: "german" },
  ],
])("%s, %s: runs %s", async (agent, task, tool, args, data) => {
  const answer = await ask(agent, task, data);
  expect(answer.why).toBeUndefined();
  expect(calls).toEqual([{ tool, args }]);
  expect(answer).toMatchObject({ stopped_because: "done", tools_used: [shown(tool)] });
});

test.each<[agent: string, task: string, best: string, why: RegExp, filled?: JsonObject]>([
  [web, "Compare the two leading JavaScript bundlers", "", /fits|ignore|check/],
  [web, "Don't search for anything yet", "", /needs judgement/],
  [
    disk,
    "Delete the file /tmp/a.txt",
    "files.delete_file",
    /may change something/,
    { path: "/tmp/a.txt" },
  ],
  [disk, "Write a haiku to /tmp/a.txt", "files.write_file", /content/, { path: "/tmp/a.txt" }],
  [disk, "Read the files /etc/hosts and /etc/passwd", "files.read_text_file", /path/],
  [disk, "Read the first 3 lines of /etc/hosts", "files.read_text_file", /ignore|check/],
  [disk, "Read the file /etc/hosts aloud in a funny voice", "files.read_text_file", /ignore/],
  [disk, "If /etc/hosts is old, read it", "", /needs judgement/],
  [
    issues,
    'Create an issue titled "Fix the door"',
    "tracker.create_issue",
    /may change something|title/,
  ],
  [issues, "Get the issue that Ana wrote last week", "tracker.get_issue", /issue_number/],
  [daily, "What is the weather?", "daily.get_weather", /city/],
  [
    daily,
    "what time is it in Lima?",
    "daily.current_time",
    /timezone must be checked/,
    { timezone: "America/Lima" },
  ],
  [
    daily,
    "Send an e-mail to ana@example.com",
    "daily.send_email",
    /subject/,
    { to: "ana@example.com" },
  ],
  [daily, "List the calendar events of next Friday", "daily.list_events", /date must be checked/],
  [daily, "Add 2 and 3", "", /fits|expression/],
  [daily, "Bake a loaf of rye bread", "", /fits/],
  [daily, "Wie wird das Wetter morgen in Riga?", "", /fits|ignore|city|check/],
])("%s, %s: handed back with %s first", async (agent, task, best, why, filled = {}) => {
  const answer = await ask(agent, task);
  expect(calls).toEqual([]);
  expect(answer.stopped_because).toBe("not sure");
  expect(answer.why).toMatch(why);
  const [first] = (answer.next ?? []) as readonly JsonObject[];
  if (best !== "")
    expect(first).toMatchObject({ do: "call-tool", tool: shown(best), arguments: filled });
});
