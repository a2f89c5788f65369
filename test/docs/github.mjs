// A stand-in for the GitHub server that the documentation uses as its example. Speaks MCP on stdio.
import { createInterface } from "node:readline";

const text = { type: "string" };
const number = { type: "integer" };
const issues = [
  { number: 1, title: "Crash on start", state: "open" },
  { number: 2, title: "A typo in the manual", state: "open" },
  { number: 3, title: "A slow list", state: "closed", week: "2026-W47" },
];

const tools = {
  create_issue: {
    description: "Create an issue in a repository.",
    properties: { title: text },
    run: ({ title }) => ({ number: issues.length + 1, title }),
  },
  list_issues: {
    description: "List the issues of a repository.",
    properties: { state: text, week: text },
    required: ["state"],
    annotations: { readOnlyHint: true },
    run: ({ state, week }) => ({
      issues: issues.filter((one) => one.state === state && (!week || one.week === week)),
    }),
  },
  get_issue: {
    description: "Get one issue by its number.",
    properties: { number },
    annotations: { readOnlyHint: true },
    run: ({ number: wanted }) => {
      const issue = issues.find((one) => one.number === wanted);
      if (!issue) throw new Error(`no issue ${wanted}`);
      return issue;
    },
  },
  ...Object.fromEntries(
    ["branch", "release", "comment", "label"].map((kind) => [
      `delete_${kind}`,
      {
        description: `Delete a ${kind}.`,
        properties: { name: text },
        annotations: { destructiveHint: true },
        run: ({ name }) => ({ deleted: name }),
      },
    ]),
  ),
};

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "github", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: Object.entries(tools).map(
      ([name, { description, properties, required, annotations }]) => ({
        name,
        description,
        inputSchema: { type: "object", properties, required: required ?? Object.keys(properties) },
        annotations,
      }),
    ),
  }),
  "tools/call": ({ name, arguments: args }) => {
    try {
      const value = tools[name].run(args);
      return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    } catch (error) {
      return { content: [{ type: "text", text: error.message }], isError: true };
    }
  },
};

createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = handlers[method];
  const reply = handler
    ? { result: handler(params ?? {}) }
    : { error: { code: -32601, message: `unknown method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
});
