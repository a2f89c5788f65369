import { expect, test } from "vitest";
import {
  agentName,
  fileNameOf,
  parseAgentFile,
  replaceFields,
  writeAgentFile,
} from "../../src/agents/agent-file.ts";

const agent = {
  name: "web_research_agent",
  description: "Specialized agent for the web: pages, news; can search web and open page.",
  tools: ["browser.open_page", "search_tool.web_search"],
  limits: { steps: 8, seconds: 120 },
  instructions: "You work with the web.\n\n- Look first.",
};

test("a written file is read back as the same agent, and written again as the same bytes", () => {
  const text = writeAgentFile(agent);
  const { matter: _matter, unknown, ...read } = parseAgentFile(text, "any");
  expect(read).toEqual(agent);
  expect(unknown).toEqual([]);
  expect(writeAgentFile(read)).toBe(text);
});

test("people may write it the way other programs have it", () => {
  const text = [
    "---",
    "# made by hand",
    "name: Web Research",
    "description: >",
    "  Finds things",
    "  on the web.",
    "tools: browser.*, 'search_tool.web_search'",
    "color: blue",
    "---",
    "Be brief.",
  ].join("\r\n");
  const read = parseAgentFile(text, "any");
  expect(read).toMatchObject({
    name: "web_research_agent",
    description: "Finds things on the web.",
    instructions: "Be brief.",
    unknown: ["color"],
  });
  expect(read.tools).toEqual(["browser.*", "'search_tool.web_search'"]);
  expect(
    parseAgentFile('---\ndescription: d\ntools: [a.b, "c.d"]\n---\n', "my-file"),
  ).toMatchObject({ name: "my_file_agent", tools: ["a.b", "c.d"] });
  expect(
    parseAgentFile("---\ndescription: 'it''s'\ntools:\n- a.b\n- a.b\n---\n", "x"),
  ).toMatchObject({ description: "it's", tools: ["a.b"] });
});

test.each([
  ["no front matter", "hello", /line 1: missing front matter/],
  ["no end", "---\nname: a\n", /not closed by a line/],
  ["no description", "---\ntools: [a.b]\n---\n", /missing description/],
  ["no tools", "---\ndescription: d\n---\n", /missing tools/],
  [
    "a line without a key",
    "---\ndescription: d\nwhat is this\n---\n",
    /line 3: "what is this" is not `key: value`/,
  ],
  [
    "a key twice",
    "---\ndescription: d\ndescription: e\n---\n",
    /line 3: duplicate key "description"/,
  ],
  ["an open quote", '---\ndescription: "d\n---\n', /line 2: unterminated double quotes/],
  ["an open list", "---\ndescription: d\ntools: [a,\n---\n", /line 3: a list that begins with \[/],
  [
    "a list for a text",
    "---\ndescription: [a]\ntools: [a.b]\n---\n",
    /line 2: description must be text/,
  ],
  ["keys for a list", "---\ndescription: d\ntools:\n  a: b\n---\n", /line 3: tools must be a list/],
  [
    "an unknown limit",
    "---\ndescription: d\ntools: []\nlimits:\n  money: 5\n---\n",
    /unknown limit "money"/,
  ],
  [
    "a limit that is no number",
    "---\ndescription: d\ntools: []\nlimits:\n  steps: many\n---\n",
    /steps must be a whole number/,
  ],
  [
    "a name without letters",
    '---\nname: "123"\ndescription: d\ntools: []\n---\n',
    /invalid agent name "123"/,
  ],
  ["too long", `---\n${"x".repeat(1_100_000)}`, /exceeds the limit of 1 MiB/],
])("a file with %s is refused with its line", (_what, text, message) => {
  expect(() => parseAgentFile(text, "any")).toThrow(message);
});

test.each([
  ["web research", "web_research_agent"],
  ["Web-Research Agent", "web_research_agent"],
  ["web_research_agent", "web_research_agent"],
  ["3d printing", "d_printing_agent"],
])("%s is the agent %s", (text, name) => {
  expect(agentName(text)).toBe(name);
});

test("an agent's file is named after it", () => {
  expect(fileNameOf("web_research_agent")).toBe("web-research.md");
});

test("an edit changes its own lines and no other", () => {
  const text =
    "---\n# keep me\nname: a_agent\ntools:\n  - a.b\n\ndescription: d\ncolor: blue\n---\n\nBody.\n";
  const edited = replaceFields(parseAgentFile(text, "any").matter, {
    tools: ["tools:", "  - a.b", "  - c.d"],
  });
  expect(edited).toBe(
    "---\n# keep me\nname: a_agent\ntools:\n  - a.b\n  - c.d\n\ndescription: d\ncolor: blue\n---\n\nBody.\n",
  );
});
