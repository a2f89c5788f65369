// The MCP server of document 000 on stdio: `node document-000.mjs NAME LOG`. It answers
// `initialize` as the document writes it and appends every message that it gets to LOG. NAME
// selects its tools.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , name, log] = process.argv;
/** The issues come in pages. */
const pageSize = name === "issues" ? 2 : 100;

const text = (description) => ({ type: "string", description });
const tool = (description, properties, required) => ({
  description,
  inputSchema: { type: "object", properties, required },
});
const limit = { type: "integer", description: "Max results", default: 10 };
const location = text("City name or coordinates");
const path = text("Path of the file");
const repo = text("owner/name");

const servers = {
  web: {
    search_web: tool("Search the web for information", { query: text("Search query"), limit }, [
      "query",
    ]),
    fetch_url: tool("Fetch the content of a URL", { url: text("URL to fetch") }, ["url"]),
    extract_content: tool("Extract the main content of a web page", { html: text("HTML") }, [
      "html",
    ]),
    list_links: tool("List the links of a web page", { url: text("URL of the page") }, ["url"]),
    search_news: tool("Search the web for news", { query: text("Search query") }, ["query"]),
  },
  weather: {
    get_weather: tool("Get current weather for a location", { location }, ["location"]),
    get_forecast: tool("Get the weather forecast for a location", { location }, ["location"]),
    get_alerts: tool("Get weather alerts for a location", { location }, ["location"]),
    get_rain: tool("Get the rain of the last days in a location", { location }, ["location"]),
    get_wind: tool("Get the wind in a location", { location }, ["location"]),
  },
  data: {
    load_csv: tool("Load a CSV file with data", { path }, ["path"]),
    describe_data: tool("Calculate statistics of a dataset", { path }, ["path"]),
    correlate: tool("Calculate the correlation of two columns of a dataset", { path }, ["path"]),
    fit_model: tool("Fit a regression model to data", { path }, ["path"]),
    plot_data: tool("Visualize a dataset", { path }, ["path"]),
  },
  issues: {
    list_issues: tool("List the issues of a repository", { repo }, ["repo"]),
    get_issue: tool("Get an issue of a repository", { repo, number: limit }, ["repo"]),
    list_branches: tool("List the branches of a repository", { repo }, ["repo"]),
    list_pulls: tool("List the pull requests of a repository", { repo }, ["repo"]),
    delete_branch: {
      ...tool("Delete a branch of a repository", { repo, branch: text("Name") }, [
        "repo",
        "branch",
      ]),
      annotations: { destructiveHint: true },
    },
    get_commit: tool("Get a commit of a repository", { repo, sha: text("Commit") }, ["repo"]),
  },
};

const answers = {
  initialize: () => ({
    result: {
      protocolVersion: "2024-11-05",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "example-mcp-server", version: "1.0.0" },
    },
  }),
  "tools/list": ({ cursor = "0" }) => {
    const tools = Object.entries(servers[name]).map(([key, value]) => ({ name: key, ...value }));
    const end = Number(cursor) + pageSize;
    const nextCursor = end < tools.length ? { nextCursor: String(end) } : {};
    return { result: { tools: tools.slice(Number(cursor), end), ...nextCursor } };
  },
  "tools/call": ({ name: called, arguments: args }) => {
    if (args.location === "")
      return { error: { code: -32602, message: "Invalid location parameter" } };
    if (args.location === "Atlantis") {
      const data = { toolName: called, details: "API rate limit exceeded" };
      return { error: { code: -32603, message: "Tool execution failed", data } };
    }
    const said =
      called === "get_weather"
        ? `Weather in ${args.location}: 18°C, partly cloudy`
        : `${called} got ${JSON.stringify(args)}`;
    return { result: { content: [{ type: "text", text: said }] } };
  },
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    appendFileSync(log, `${JSON.stringify({ server: name, method, params })}\n`);
    if (id === undefined) return;
    const answer = answers[method]?.(params) ?? { error: { code: -32601, message: "unknown" } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  })
  .on("close", () => process.exit(0));
