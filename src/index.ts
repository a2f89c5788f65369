/** The exports of the package. */

export {
  type AuthoredTool,
  getToolSchema,
  getToolSchema as get_tool_schema,
  type Handler,
  listRegisteredTools,
  listRegisteredTools as list_registered_tools,
  type RegisteredTool,
  type Schema,
  type ToolkitOptions,
  type ToolOptions,
  tool,
  toolkit,
} from "./author/author.ts";
export {
  type ConnectOptions,
  type ConnectTarget,
  connect,
  type ListedTool,
  MCPClient,
  type MCPClientTarget,
} from "./author/connect.ts";
export { type Registered, type RegisterOptions, register } from "./author/register.ts";
export {
  type MCPServer,
  type MCPServerOptions,
  type ServeOptions,
  type Serving,
  serve,
  startMCPServer,
} from "./author/serve.ts";
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
