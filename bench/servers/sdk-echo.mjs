// The same tool on the official SDK, for comparison.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { echo, echoTool } from "./echo-tool.mjs";

const { name, description, inputSchema } = echoTool;
const server = new McpServer({ name: "sdk-echo", version: "1.0.0" });
server.registerTool(name, { description, inputSchema: fromJsonSchema(inputSchema) }, async (args) =>
  echo(args),
);
await server.connect(new StdioServerTransport());
