/**
 * The registry dialect: services register toolkits, and callers name a toolkit and one of its
 * functions. It shares connections with MCP, is recognized by its methods and params, and has its own
 * error numbers.
 */
import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject, textsOf } from "../base/json.ts";
import { findNear } from "../base/text.ts";
import { healthStatuses } from "../registry/health.ts";
import { metadataOf } from "../registry/metadata.ts";
import { fullNameOf } from "../registry/names.ts";
import type { RegisteredToolkit, Runner } from "../registry/registered.ts";
import { readRegistration } from "../registry/registration.ts";
import type { Outcome, Target, Toolkit } from "../tool.ts";
import { readableTool } from "../trust/trust.ts";
import type { ClientRequest, DialectMethod } from "./client-request.ts";
import { createContext } from "./client-request.ts";
import { createCall, readString } from "./methods.ts";
import { seenBy } from "./policy.ts";
import { isScope, mayRead, requireBuiltInName, requireScope } from "./rights.ts";
import type { ServerParts } from "./server.ts";

/** A request in the dialect, and how the client receives calls. */
export interface DialectRequest extends ClientRequest {
  /** Undefined if the client cannot receive requests. */
  readonly runner: Runner | undefined;
}

type DialectHandler = (
  params: JsonObject,
  request: DialectRequest,
  parts: ServerParts,
) => Promise<unknown>;

export const dialectMethods: Readonly<Record<DialectMethod, DialectHandler>> = {
  async "tools/register"(given, request, parts) {
    const params = readRegistration(given);
    const name = nameOf(params);
    requireScope(request.rights, `register:${name}`, "tools/register");
    if (isBuiltIn(name, parts)) requireBuiltInName(request.rights, name);
    parts.policies.require({
      caller: request.caller,
      action: "register",
      subject: { server: name },
    });
    const { toolId } = await parts.registrations.register(params, request.runner);
    return {
      tool_id: toolId,
      status: "registered",
      health_check_interval: parts.monitor.intervalSeconds,
    };
  },

  async "tools/unregister"(params, request, parts) {
    const scope = `register:${typeof params.tool_name === "string" ? params.tool_name : ""}`;
    requireScope(request.rights, scope, "tools/unregister");
    const name = readString(params, "tool_name");
    parts.policies.require({
      caller: request.caller,
      action: "register",
      subject: { server: name },
    });
    const { toolId } = await parts.registrations.unregister(name);
    return { tool_id: toolId, status: "unregistered" };
  },

  async "tools/registered"(params, request, whole) {
    requireRead(request, params, "tools/registered");
    const parts = seenIn(whole, request);
    const { findToolkit, toolkits } = parts.registry;
    const registered = parts.registrations.all().filter(({ id }) => findToolkit(id));
    const modules = toolkits().filter(({ source }) => source === "module");
    return {
      tools: await describeToolkits([...registered, ...modules], parts),
      failed_modules: parts.modules.failures(),
    };
  },

  /** Every toolkit, registered or not. */
  async "tools/toolkits"(params, request, whole) {
    requireRead(request, params, "tools/toolkits");
    const parts = seenIn(whole, request);
    return {
      toolkits: await describeToolkits(parts.registry.toolkits(), parts),
      failed_modules: parts.modules.failures(),
    };
  },

  /** One toolkit with the schemas of its functions. */
  async "tools/toolkit"(params, request, whole) {
    requireRead(request, params, "tools/toolkit");
    const parts = seenIn(whole, request);
    const toolkit = getToolkit(readString(params, "tool_name"), parts);
    const [described] = await describeToolkits([toolkit], parts);
    return {
      ...described,
      functions: toolsOf(toolkit, parts).map((target) => describeFunction(target, parts)),
    };
  },

  async "tools/schema"(params, request, parts) {
    requireRead(request, params, "tools/schema");
    const seen = seenIn(parts, request);
    return describeFunction(await findFunction(params, seen, seen), seen);
  },

  /** Reloads a module of the config. */
  async "tools/refresh"(params, request, parts) {
    requireScope(request.rights, "admin", "tools/refresh");
    const subject = { method: "tools/refresh" };
    if (request.caller.person)
      parts.policies.require({ caller: request.caller, action: "admin", subject });
    await parts.modules.refresh(readString(params, "tool_name"));
    return { status: "refreshed", failed_modules: parts.modules.failures() };
  },

  async "tools/call"(params, request, parts) {
    requireScope(request.rights, "call", "tools/call");
    const { args, timeoutMs } = readCall(params);
    const callId = callIdOf(params);
    // Resolved among all tools: the gateway denies the others by name, and records it.
    const { fullName } = await findFunction(params, parts, seenIn(parts, request), request);
    const began = performance.now();
    const context = {
      ...createContext(() => ({ params, request }), {
        ask: refuseToAsk,
        scope: request.exchange.scope,
      }),
      callId,
    };
    const outcome = await parts.gateway.call(
      createCall(fullName, args, request, { timeoutMs }),
      context,
    );
    if (outcome.isError)
      throw new HallError("EXECUTION", textsOf(outcome.content) || "the tool failed");
    return {
      call_id: callId,
      status: "completed",
      data: dataOf(outcome),
      execution_time_ms: Math.round(performance.now() - began),
      ...noticeOf(outcome),
    };
  },

  async "health/check"(params, request, parts) {
    requireRead(request, params, "health/check");
    const toolkit = getToolkit(readString(params, "tool_name"), seenIn(parts, request));
    await request.exchange.scope.race(parts.monitor.check(toolkit));
    return await describeHealth(toolkit, parts);
  },
};

/** The parts with what policies show to the caller. */
function seenIn(parts: ServerParts, { caller }: ClientRequest): ServerParts {
  return parts.policies.isOn ? { ...parts, registry: seenBy(caller, parts) } : parts;
}

/** Throws DENIED for a token without the scope `read`, except about the toolkit that it may register. */
function requireRead({ rights }: DialectRequest, { tool_name: name }: JsonObject, method: string) {
  const isOwn = typeof name === "string" && rights.scopes.includes(`register:${name}`);
  if (!isOwn && !mayRead(rights)) requireScope(rights, "read", method);
}

/** Methods that require the token over the network. */
export function changesRegistry(method: string): boolean {
  return method === "tools/register" || method === "tools/unregister" || method === "tools/refresh";
}

/** The scope that a change requires; undefined if it names no toolkit, which is reported when it is parsed. */
export function scopeOfChange(method: string, params: JsonObject): string | undefined {
  if (method === "tools/refresh") return "admin";
  const isNew = method === "tools/register";
  const scope = `register:${isNew ? nameOf(readRegistration(params)) : String(params.tool_name)}`;
  return isScope(scope) ? scope : undefined;
}

/** The name that a registration asks for; what is no name is reported when it is parsed. */
function nameOf({ tool }: JsonObject): string {
  return isObject(tool) && typeof tool.name === "string" ? tool.name : "";
}

/** True if a built-in toolkit has the name, or had it until a registration took it. */
function isBuiltIn(name: string, { registry, registrations }: ServerParts): boolean {
  const there = registry.findToolkit(name);
  const isThere = there !== undefined && (there.source ?? "built-in") === "built-in";
  return isThere || registrations.isReplacement(name);
}

const callIdLengthMax = 128;
const timeoutSecondsMax = 600;

const madeCallIds = new WeakMap<JsonObject, string>();

/** The caller's id of a call, else one of ours, which stays the same for the answer, the service and the error. */
export function callIdOf(params: JsonObject): string {
  if (isCallId(params.call_id)) return params.call_id;
  const made = madeCallIds.get(params) ?? crypto.randomUUID();
  madeCallIds.set(params, made);
  return made;
}

function isCallId(id: unknown): id is string {
  return typeof id === "string" && id.length <= callIdLengthMax;
}

interface DialectCall {
  readonly args: JsonObject;
  readonly timeoutMs: number | undefined;
}

/** The params of a call. Throws INVALID_PARAMS. */
function readCall(params: JsonObject): DialectCall {
  if ("name" in params)
    throw new HallError(
      "INVALID_PARAMS",
      "use either `name` or `tool_name` and `function_name`, not both",
    );
  const { call_id: callId, arguments: args = {}, timeout } = params;
  if (callId !== undefined && !isCallId(callId)) {
    throw new HallError(
      "INVALID_PARAMS",
      `call_id must be a string of at most ${callIdLengthMax} characters`,
    );
  }
  if (!isObject(args)) throw new HallError("INVALID_PARAMS", "arguments must be an object");
  if (
    timeout !== undefined &&
    (typeof timeout !== "number" || !(timeout > 0) || timeout > timeoutSecondsMax)
  ) {
    throw new HallError(
      "INVALID_PARAMS",
      `timeout must be a number of seconds, more than 0 and at most ${timeoutSecondsMax}`,
    );
  }
  return { args, timeoutMs: timeout === undefined ? undefined : timeout * 1000 };
}

/** Throws TOOLKIT_NOT_FOUND with the names that the caller may see. */
function getToolkit(name: string, { registry }: ServerParts, seen = registry): Toolkit {
  const found =
    registry.findToolkit(name) ??
    registry.toolkits().find((toolkit) => (toolkit as Partial<RegisteredToolkit>).toolId === name);
  if (found) return found;
  const ids = seen.toolkits().map(({ id }) => id);
  throw new HallError("TOOLKIT_NOT_FOUND", `unknown tool "${name.slice(0, 100)}"`, {
    details: { near: findNear(name, ids), available: ids.sort().slice(0, 50) },
  });
}

/** Throws TOOLKIT_NOT_FOUND, or NOT_FOUND with the known functions. */
async function findFunction(
  params: JsonObject,
  parts: ServerParts,
  seen: ServerParts,
  request?: ClientRequest,
): Promise<Target> {
  const agent = findAgent(params, parts);
  if (agent) return agent;
  const toolkit = getToolkit(readString(params, "tool_name"), parts, seen.registry);
  const name = readString(params, "function_name");
  const find = (): Target | undefined => {
    const target = parts.registry.findTool(fullNameOf(toolkit, name));
    return target?.toolkit === toolkit ? target : undefined;
  };
  let target = find();
  const pending = target ? undefined : toolkit.pendingDiscovery?.();
  if (pending && request) {
    await request.exchange.scope.race(pending);
    target = find();
  }
  if (target) return target;
  const names = toolsOf(toolkit, seen).map(({ tool }) => tool.name);
  throw new HallError("NOT_FOUND", `unknown function "${name.slice(0, 100)}" of ${toolkit.id}`, {
    details: { near: findNear(name, names), available: names.slice(0, 50) },
  });
}

/** Agents are called as tool `NAME_agent` with the function of the same name, or as functions of the tool `agents`. */
function findAgent(
  { tool_name: tool, function_name: name }: JsonObject,
  { own }: ServerParts,
): Target | undefined {
  if (tool !== "agents" && tool !== name) return undefined;
  return own.agents.targets().find(({ fullName }) => fullName === name);
}

function toolsOf(toolkit: Toolkit, { registry }: ServerParts): readonly Target[] {
  return registry.tools().filter((target) => target.toolkit === toolkit);
}

const refuseToAsk = (): Promise<never> =>
  Promise.reject(
    new HallError("MISSING_CAPABILITY", "callers in the registry dialect cannot answer questions"),
  );

/** Structured content if present, plus content items that are not text. */
function dataOf({ content, structuredContent }: Outcome): unknown {
  if (structuredContent === undefined) return { content };
  const others = content.filter(({ type }) => type !== "text");
  return others.length > 0 && isObject(structuredContent) && !("content" in structuredContent)
    ? { ...structuredContent, content: others }
    : structuredContent;
}

function noticeOf({ _meta }: Outcome): JsonObject {
  const deprecatedIn = _meta?.["guildhall/deprecated_in"];
  return deprecatedIn === undefined ? {} : { deprecated_in: deprecatedIn };
}

/** A service's own report comes first. */
async function describeHealth(toolkit: Toolkit, parts: ServerParts): Promise<JsonObject> {
  const { health, responseMs = 0, lastError = null } = parts.health.record(toolkit);
  const { version, capabilities, responseMs: reportedMs } = health.reported ?? {};
  // In the order of the definition, where that is known without starting a server.
  const tools =
    toolkit.source === "upstream"
      ? toolsOf(toolkit, parts).map(({ tool }) => tool)
      : await toolkit.list();
  return {
    status: healthStatuses[health.state],
    response_time_ms: Math.round(reportedMs ?? responseMs),
    version: version ?? versionOf(toolkit, parts),
    capabilities: capabilities ?? tools.map(({ name }) => name),
    last_error: lastError,
  };
}

function versionOf({ version, source = "built-in" }: Toolkit, parts: ServerParts): string | null {
  return version ?? (source === "built-in" ? parts.version : null);
}

function describeToolkits(
  toolkits: readonly Toolkit[],
  parts: ServerParts,
): Promise<readonly JsonObject[]> {
  const names = new Map<Toolkit, string[]>(toolkits.map((toolkit) => [toolkit, []]));
  for (const { toolkit, tool } of parts.registry.tools()) names.get(toolkit)?.push(tool.name);
  const described = toolkits.map(async (toolkit): Promise<JsonObject> => {
    const health = await parts.health.read(toolkit);
    const { toolId, registeredAt, runner, registration } = toolkit as Partial<RegisteredToolkit>;
    return {
      name: toolkit.id,
      ...(toolId === undefined ? {} : { tool_id: toolId }),
      source: toolkit.source ?? "built-in",
      description: toolkit.description ?? null,
      category: toolkit.category ?? null,
      version: versionOf(toolkit, parts),
      status: healthStatuses[health.state],
      functions: registration?.tools.map(({ name }) => name) ?? names.get(toolkit) ?? [],
      ...(toolId === undefined
        ? {}
        : {
            served_by: runner?.kind ?? null,
            registered_at: new Date(registeredAt ?? 0).toISOString(),
          }),
      last_error:
        ("reason" in health ? health.reason : parts.health.record(toolkit).lastError) ?? null,
    };
  });
  return Promise.all(described);
}

function describeFunction(target: Target, { trust }: ServerParts): JsonObject {
  const tool = readableTool(target, trust);
  const { name, description, inputSchema, outputSchema } = tool;
  const isHeld = tool !== target.tool;
  return {
    name,
    full_name: target.fullName,
    description,
    parameters: inputSchema,
    ...(outputSchema === undefined ? {} : { returns: outputSchema }),
    ...(isHeld ? {} : { metadata: metadataOf(target) }),
  };
}
