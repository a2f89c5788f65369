import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { CallContext, Outcome, Tool, Toolkit } from "../tool.ts";
import type { Request } from "../wire/message.ts";
import type { Exchange } from "../wire/requests.ts";
import { refuse } from "./hall-line.ts";

/** The service behind a registration: handles the hall's requests in the registry dialect. */
export type Service = (request: Request, exchange: Exchange) => unknown;

export async function createService(toolkit: Toolkit): Promise<Service> {
  const tools = new Map((await toolkit.list()).map((tool) => [tool.name, tool]));
  return (request, exchange) => {
    const { method, params = {} } = request;
    if (method === "health/check") return tellHealth(toolkit, tools);
    if (method === "tools/call" && typeof params.function_name === "string")
      return call(toolkit, tools.get(params.function_name), params, exchange.scope);
    return refuse(request);
  };
}

async function call(
  toolkit: Toolkit,
  tool: Tool | undefined,
  params: JsonObject,
  parent: Scope,
): Promise<JsonObject> {
  const { function_name: name, arguments: args, call_id: callId, timeout } = params;
  if (!tool) throw new HallError("NOT_FOUND", `${toolkit.id} has no function named "${name}"`);
  const began = performance.now();
  const scope = new Scope(
    parent,
    typeof timeout === "number" ? timeout * 1000 : tool.facts?.timeoutMs,
    `${toolkit.id}.${name}`,
  );
  const outcome = await scope.closeAfter(
    toolkit.call(tool, isObject(args) ? args : {}, contextOf(scope)),
  );
  if (outcome.isError)
    throw new HallError("EXECUTION", textOf(outcome.content) || "the tool failed");
  return {
    call_id: callId,
    status: "completed",
    ...bodyOf(outcome),
    execution_time_ms: Math.round(performance.now() - began),
  };
}

function contextOf(scope: Scope): CallContext {
  return {
    scope,
    // The registry dialect supports neither.
    progress: () => {},
    log: () => {},
    ask: () =>
      Promise.reject(new HallError("EXECUTION", "a registered tool cannot ask the client")),
  };
}

/** Structured content as `data`; other content in MCP's form. */
function bodyOf({ content, structuredContent }: Outcome): JsonObject {
  if (content.some(({ type }) => type !== "text")) return { content, structuredContent };
  return { data: structuredContent ?? textOf(content) };
}

function textOf(content: Outcome["content"]): string {
  return content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
}

const words = {
  available: "healthy",
  degraded: "degraded",
  unavailable: "unhealthy",
  maintenance: "maintenance",
} as const;

async function tellHealth(toolkit: Toolkit, tools: ReadonlyMap<string, Tool>): Promise<JsonObject> {
  const began = performance.now();
  const health = await toolkit.health();
  return {
    status: words[health.state],
    response_time_ms: Math.round(performance.now() - began),
    version: toolkit.version ?? "1.0.0",
    capabilities: [...tools.keys()],
    last_error: "reason" in health ? health.reason : null,
  };
}
