import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject, requireJson } from "../base/json.ts";
import { checkContentOf, type Report } from "../gateway/validate.ts";
import { type Id, isId } from "../wire/message.ts";

// Tool calls and results as JSON-RPC messages, validated when they are parsed and when they are
// serialized.

/** A call by `name`, as in MCP, or by `tool_name` and `function_name` (see docs/registry.md). */
export type ToolCall = CallMessage<McpParams> | CallMessage<RegistryParams>;

interface CallMessage<Params> {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly method: "tools/call";
  readonly params: Params;
}

interface McpParams {
  readonly name: string;
  readonly arguments?: JsonObject;
  readonly [field: string]: unknown;
}

interface RegistryParams {
  readonly tool_name: string;
  readonly function_name: string;
  readonly arguments?: JsonObject;
  readonly call_id?: string;
  readonly timeout?: number;
}

export interface ToolResult {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly result: {
    readonly content: readonly JsonObject[];
    readonly isError?: boolean;
    readonly [field: string]: unknown;
  };
}

let nextId = 0;

/** A call by name, ready to be sent. Throws INVALID_REQUEST. */
export function MCPToolCall(call: {
  readonly name: string;
  readonly arguments?: JsonObject;
  /** Default: a number of its own. */
  readonly id?: Id;
}): CallMessage<McpParams> {
  const { name, arguments: args = {}, id = ++nextId } = call;
  const params = { name, arguments: args };
  return check({ jsonrpc: "2.0", id, method: "tools/call", params }, checkCall);
}
export type MCPToolCall = CallMessage<McpParams>;

/** A result, ready to be sent. Throws INVALID_REQUEST. */
export function MCPToolResult(result: {
  readonly id: Id;
  readonly content: readonly JsonObject[];
  readonly isError?: boolean;
}): ToolResult {
  const { id, content, isError = false } = result;
  return check({ jsonrpc: "2.0", id, result: { content, isError } }, checkResult);
}
export type MCPToolResult = ToolResult;

/**
 * Parses JSON text, or takes a parsed value. Throws PARSE for text that is not JSON, and
 * INVALID_REQUEST with a JSON pointer per error for an invalid message.
 */
export function parseToolCall(message: unknown): ToolCall {
  return check<ToolCall>(read(message), checkCall);
}

/** Throws as `parseToolCall` does. */
export function parseToolResult(message: unknown): ToolResult {
  return check<ToolResult>(read(message), checkResult);
}

/**
 * Throws INVALID_REQUEST for an invalid message, SERIALIZATION for one that JSON cannot express,
 * such as a cycle.
 */
export function serializeToolCall(call: ToolCall): string {
  return write(check<ToolCall>(call, checkCall));
}

/** Throws as `serializeToolCall` does. */
export function serializeToolResult(result: ToolResult): string {
  return write(check<ToolResult>(result, checkResult));
}

function check<Message>(
  value: unknown,
  checkBody: (message: JsonObject, report: Report) => void,
): Message {
  const errors: { path: string; message: string }[] = [];
  const report: Report = (path, message) => void errors.push({ path, message });
  if (!isObject(value)) report("", "must be a JSON object");
  else {
    if (value.jsonrpc !== "2.0") report("/jsonrpc", 'must be "2.0"');
    if (!isId(value.id)) report("/id", "must be an integer or a string");
    checkBody(value, report);
  }
  if (errors.length === 0) return value as Message;
  const summary = errors.map(({ path, message }) => `${path} ${message}`.trim()).join("; ");
  throw new HallError("INVALID_REQUEST", `not a valid message: ${summary}`, {
    details: { errors },
  });
}

function checkCall({ method, params }: JsonObject, report: Report): void {
  if (method !== "tools/call") report("/method", 'must be "tools/call"');
  if (!isObject(params)) {
    report("/params", "must be an object");
    return;
  }
  const isRegistry = "tool_name" in params || "function_name" in params;
  if (isRegistry && "name" in params)
    report("/params/name", "cannot be combined with tool_name and function_name");
  for (const key of isRegistry ? ["tool_name", "function_name"] : ["name"]) {
    if (typeof params[key] !== "string" || params[key] === "")
      report(`/params/${key}`, "must be a non-empty string");
  }
  if (params.arguments !== undefined && !isObject(params.arguments))
    report("/params/arguments", "must be an object");
  const { call_id: callId, timeout } = params;
  if (isRegistry && callId !== undefined && (typeof callId !== "string" || callId.length > 128))
    report("/params/call_id", "must be a string of at most 128 characters");
  if (isRegistry && timeout !== undefined && !(typeof timeout === "number" && timeout > 0))
    report("/params/timeout", "must be a number of seconds");
}

function checkResult({ result }: JsonObject, report: Report): void {
  if (!isObject(result)) {
    report("/result", "must be an object");
    return;
  }
  checkContentOf(result, (path, message) => void report(`/result${path}`, message));
}

function read(message: unknown): unknown {
  if (typeof message !== "string") return message;
  try {
    return JSON.parse(message);
  } catch (cause) {
    throw new HallError("PARSE", "not valid JSON", { cause });
  }
}

function write(message: unknown): string {
  requireJson(message, "the message");
  return JSON.stringify(message);
}
