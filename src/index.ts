/** The exports of the package. */

export {
  type AuthoredTool,
  type Handler,
  type Schema,
  type ToolkitOptions,
  type ToolOptions,
  tool,
  toolkit,
} from "./author/author.ts";
export { type ConnectOptions, type ConnectTarget, connect } from "./author/connect.ts";
export {
  getToolSchema,
  getToolSchema as get_tool_schema,
  listRegisteredTools,
  listRegisteredTools as list_registered_tools,
  type RegisteredTool,
} from "./author/inspect.ts";
export { type ListedTool, MCPClient, type MCPClientTarget } from "./author/mcp-client.ts";
export { type Registered, type RegisterOptions, register } from "./author/register.ts";
export { type ServeOptions, type Serving, serve } from "./author/serve.ts";
export { type MCPServer, type MCPServerOptions, startMCPServer } from "./author/start-server.ts";
export {
  MCPToolCall,
  MCPToolResult,
  parseToolCall,
  parseToolResult,
  serializeToolCall,
  serializeToolResult,
  type ToolCall,
  type ToolResult,
} from "./author/tool-message.ts";
export { type ErrorCode, HallError } from "./base/errors.ts";
export { Client } from "./client/client.ts";
export { createHall, type Hall } from "./hall/hall.ts";
export type { HallOptions } from "./hall/hall-options.ts";
export type { CallContext, Outcome, Question, Questions, Tool, Toolkit } from "./tool.ts";
export type { Channel } from "./wire/channel.ts";
export { createMemoryPair } from "./wire/memory.ts";
export { createStdioChannel } from "./wire/stdio.ts";
