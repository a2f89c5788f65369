import { setTimeout as sleep } from "node:timers/promises";
import { HallError, messageOf } from "../base/errors.ts";
import { isObject, type JsonObject, textsOf } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import { backoffMs } from "../base/timing.ts";
import { healthStatuses } from "../registry/health.ts";
import type { CallContext, Outcome, Tool, Toolkit } from "../tool.ts";
import type { Channel } from "../wire/channel.ts";
import type { Request } from "../wire/message.ts";
import type { Exchange } from "../wire/requests.ts";
import { connectHall, dialHall, type HallLine, refuse } from "./hall-line.ts";

export interface RegisterOptions {
  /** Default: GUILDHALL_TOKEN, or the user's own on this machine. */
  readonly token?: string;
  /** Replaces another toolkit of the same name. */
  readonly replace?: boolean;
  /** Called for lost connections and failed reconnects. */
  warn?(message: string): void;
}

export interface Registered {
  /** Such as `search_tool_v1`. */
  readonly toolId: string;
  /** Disconnects from the hall: the toolkit is unavailable until it is registered again. */
  close(): Promise<void>;
}

/**
 * Registers a toolkit with a running hall and serves its calls; reconnects when the connection is
 * lost. Rejects if the first registration fails.
 */
export function register(
  toolkit: Toolkit,
  url: string,
  { token, ...options }: RegisterOptions = {},
): Promise<Registered> {
  return joinHall(toolkit, () => dialHall(url, token), options);
}

const firstDelayMs = 250;
const delayMsMax = 30_000;

/** The same over any connection; `connect` opens a new one when the last is lost. */
export async function joinHall(
  toolkit: Toolkit,
  connect: () => Promise<Channel>,
  { replace = false, warn = () => {} }: Omit<RegisterOptions, "token"> = {},
): Promise<Registered> {
  const serve = await createService(toolkit);
  const declaration = await declare(toolkit, replace);
  const leaving = new AbortController();
  let line: HallLine | undefined;
  let reopening: Promise<void> | undefined;

  async function open(): Promise<string> {
    const opened: HallLine = connectHall(await connect(), {
      serve,
      lost() {
        if (leaving.signal.aborted || line !== opened) return;
        line = undefined;
        warn("lost the connection to the hall; reconnecting");
        reopening = reopen();
      },
    });
    try {
      const { tool_id: toolId } = await opened.ask("tools/register", declaration);
      if (typeof toolId !== "string")
        throw new HallError("BAD_ANSWER", "the hall returned no id for the registered toolkit");
      // Closed meanwhile: nothing else would close this connection.
      if (leaving.signal.aborted) await opened.close();
      else line = opened;
      return toolId;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  async function reopen(): Promise<void> {
    for (let attempt = 1; !leaving.signal.aborted; attempt++) {
      const waitMs = backoffMs(attempt, { firstMs: firstDelayMs, maxMs: delayMsMax });
      try {
        await sleep(waitMs, undefined, { signal: leaving.signal });
        toolId = await open();
        return;
      } catch (error) {
        if (!leaving.signal.aborted) warn(`registration failed, retrying: ${messageOf(error)}`);
      }
    }
  }

  let toolId = await open();
  return {
    get toolId() {
      return toolId;
    },
    async close() {
      leaving.abort();
      await line?.close();
      await reopening;
    },
  };
}

const timeoutSecondsMax = 30;

/** The registration of a toolkit. */
async function declare(
  { id, description = id, category, version, list }: Toolkit,
  replace: boolean,
): Promise<JsonObject> {
  const functions = (await list()).map(
    ({ name, description: text = name, inputSchema, outputSchema, annotations, facts }) => ({
      name,
      description: text,
      parameters: inputSchema,
      returns: outputSchema,
      annotations,
      metadata: facts?.deprecatedIn && { deprecated_in: facts.deprecatedIn },
      timeout_seconds: Math.min(
        timeoutSecondsMax,
        Math.max(1, (facts?.timeoutMs ?? 10_000) / 1000),
      ),
    }),
  );
  return { tool: { name: id, description, category, version, functions }, replace };
}

/** The service behind a registration: handles the hall's requests in the registry dialect. */
type Service = (request: Request, exchange: Exchange) => unknown;

async function createService(toolkit: Toolkit): Promise<Service> {
  const tools = new Map((await toolkit.list()).map((tool) => [tool.name, tool]));
  return (request, exchange) => {
    const { method, params = {} } = request;
    if (method === "health/check") return describeHealth(toolkit, tools);
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
    throw new HallError("EXECUTION", textsOf(outcome.content) || "the tool failed");
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
  return { data: structuredContent ?? textsOf(content) };
}

async function describeHealth(
  toolkit: Toolkit,
  tools: ReadonlyMap<string, Tool>,
): Promise<JsonObject> {
  const began = performance.now();
  const health = await toolkit.health();
  return {
    status: healthStatuses[health.state],
    response_time_ms: Math.round(performance.now() - began),
    version: toolkit.version ?? "1.0.0",
    capabilities: [...tools.keys()],
    last_error: "reason" in health ? health.reason : null,
  };
}
