// An MCP server over stdio whose one tool says how the key begins that it was started with.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "key-server", version: "1.0.0" });
server.registerTool("key", { description: "Says how its key begins" }, () => ({
  content: [{ type: "text", text: `starts with ${(process.env.DESK_KEY ?? "").slice(0, 12)}` }],
}));
await server.connect(new StdioServerTransport());
