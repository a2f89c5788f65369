import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Scope } from "../base/scope.ts";
import {
  type CallContext,
  type Caller,
  elapsedKey,
  type LogLevel,
  logLevels,
  type Progress,
  type Question,
} from "../tool.ts";
import { readToolCall } from "../toolkits/find/find.ts";
import { Prepared, type Request } from "../wire/message.ts";
import type { Exchange } from "../wire/requests.ts";
import type { Ask } from "./asking.ts";
import { isAllowed, type Rights } from "./rights.ts";

/** `legacy`: a handshake first. `modern`: every request carries its own version and capabilities. */
export type Era = "legacy" | "modern";

export const legacyVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
export const modernVersions = ["2026-07-28"] as const;
export type Version = (typeof legacyVersions)[number] | (typeof modernVersions)[number];

export const newestLegacy = "2025-11-25" satisfies Version;

export function isLegacyVersion(version: unknown): version is (typeof legacyVersions)[number] {
  return (legacyVersions as readonly unknown[]).includes(version);
}

export function isModernVersion(version: unknown): version is (typeof modernVersions)[number] {
  return (modernVersions as readonly unknown[]).includes(version);
}

/** The keys of the modern envelope in `params._meta`. */
export const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

/** One request as its handler sees it: the client's version and capabilities, and the way back. */
export interface ClientRequest {
  readonly era: Era;
  readonly version: Version;
  readonly capabilities: JsonObject;
  readonly caller: Caller;
  readonly rights: Rights;
  readonly exchange: Exchange;
  /** The lowest level of log messages that the client wants; undefined for none. */
  readonly logLevel: LogLevel | undefined;
  /** Adds a token for the client's progress on a question; undefined where the client cannot report any. */
  readonly reportTo: ((report: ReportProgress) => QuestionToken) | undefined;
  /** Progress tokens in use on this connection; undefined where a connection has one request. */
  readonly progressTokens: Set<string | number> | undefined;
}

/** Receives a client's progress on a question. */
export type ReportProgress = NonNullable<Question["progress"]>;

export interface QuestionToken {
  readonly token: string;
  release(): void;
}

/** The part of a modern request that `_meta` declares. */
export type Envelope = Pick<ClientRequest, "era" | "version" | "capabilities" | "logLevel"> & {
  /** Name and version that the client reports: for logs, never for decisions. */
  readonly client: string;
};

/** The caller of a client's requests. With a link it has a session. */
export function createCaller(
  identity: Pick<Caller, "connection" | "principal" | "person" | "client" | "quota" | "link">,
  rights: Rights,
): Caller {
  const mayAnswer = isAllowed(rights, "admin") ? (rights.mayAnswer ?? "lasting") : "once";
  const { connection, client, principal, person, quota, link } = identity;
  const { tools } = rights;
  const isLasting = link !== undefined;
  return { connection, client, principal, person, mayAnswer, tools, quota, isLasting, link };
}

/** The envelope of a modern request, or undefined for a legacy one. Throws when it is incomplete. */
export function readEnvelope(params: JsonObject | undefined): Envelope | undefined {
  const meta = params?._meta;
  if (!isObject(meta) || !hasEnvelope(params)) return undefined;
  const version = meta[metaKeys.version];
  const capabilities = meta[metaKeys.capabilities];
  if (typeof version !== "string")
    throw new HallError("INVALID_PARAMS", `params._meta requires "${metaKeys.version}"`);
  if (!isModernVersion(version)) {
    const requested = version.slice(0, 40);
    throw new HallError("UNSUPPORTED_VERSION", `unsupported protocol version "${requested}"`, {
      details: { supported: modernVersions, requested },
    });
  }
  if (!isObject(capabilities))
    throw new HallError(
      "INVALID_PARAMS",
      `params._meta requires "${metaKeys.capabilities}", at least {}`,
    );
  return {
    era: "modern",
    version,
    capabilities,
    client: clientName(meta[metaKeys.clientInfo]),
    logLevel: readLogLevel(meta[metaKeys.logLevel]),
  };
}

/** True when a request has any part of a modern envelope, complete or not. */
export function hasEnvelope(params: JsonObject | undefined): boolean {
  const meta = params?._meta;
  return (
    isObject(meta) &&
    (metaKeys.version in meta || metaKeys.capabilities in meta || metaKeys.clientInfo in meta)
  );
}

/** Kept as long as the connection. */
const introductionMax = 16 * 1024;

/** The required fields of `initialize`. Throws INVALID_REQUEST, or TOO_LARGE. */
export function readGreeting({ protocolVersion, capabilities, clientInfo }: JsonObject): {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
} {
  if (typeof protocolVersion !== "string" || !isObject(capabilities) || !isObject(clientInfo))
    throw new HallError(
      "INVALID_REQUEST",
      "initialize requires protocolVersion, capabilities and clientInfo",
    );
  if (JSON.stringify([capabilities, clientInfo]).length > introductionMax)
    throw new HallError("TOO_LARGE", "clientInfo and capabilities exceed the limit of 16 KB");
  return { protocolVersion, capabilities, clientInfo };
}

export function clientName(clientInfo: unknown): string {
  if (!isObject(clientInfo) || typeof clientInfo.name !== "string") return "unnamed client";
  return `${clientInfo.name} ${typeof clientInfo.version === "string" ? clientInfo.version : ""}`
    .trim()
    .slice(0, 100);
}

export function readLogLevel(level: unknown): LogLevel | undefined {
  if (level === undefined) return undefined;
  const found = logLevels.find((known) => known === level);
  if (!found)
    throw new HallError("INVALID_PARAMS", `unknown log level (expected: ${logLevels.join(", ")})`);
  return found;
}

/**
 * A call of `call_tool` becomes a call of the tool that it names, so that approvals, records,
 * cancellation and errors concern that tool. Throws VALIDATION when it names none.
 */
export function resolveCallTool(request: Request): Request {
  const { method, params } = request;
  if (method !== "tools/call" || params?.name !== "call_tool" || !isObject(params.arguments ?? {}))
    return request;
  const { name, args } = readToolCall(isObject(params.arguments) ? params.arguments : {});
  return { ...request, params: { ...params, name, arguments: args } };
}

/** How long a modern client may cache a result. Nothing is shared between callers. */
const cacheMs: Readonly<Record<string, number>> = {
  "server/discover": 60_000,
  "tools/list": 60_000,
  "resources/list": 60_000,
  "resources/templates/list": 60_000,
  "prompts/list": 60_000,
  "resources/read": 0,
};

/** Adds what every modern result carries: its type, how long it may be cached, and our name as `_meta` has it. */
export function addModernEnvelope(
  method: string,
  result: unknown,
  signature: JsonObject,
): JsonObject | Prepared {
  const body = isObject(result) ? result : {};
  const ttlMs = cacheMs[method];
  const hints =
    ttlMs === undefined || body.resultType === "input_required"
      ? {}
      : { ttlMs, cacheScope: "private" };
  if (result instanceof Prepared) {
    const envelope = JSON.stringify({ resultType: "complete", ...hints, _meta: signature });
    return new Prepared(`${envelope.slice(0, -1)},${result.text.slice(1)}`);
  }
  // Not spread: V8 on Node 20 makes a hidden class for every object that is, which JSON writes slowly.
  const signed: Record<string, unknown> = Object.assign({ resultType: "complete" }, hints, body);
  signed._meta = isObject(body._meta) ? { ...body._meta, ...signature } : signature;
  return signed;
}

/** The methods of the registry dialect, see `dialect.ts`. */
const dialectMethods = [
  "tools/register",
  "tools/unregister",
  "tools/registered",
  "tools/toolkits",
  "tools/toolkit",
  "tools/schema",
  "tools/refresh",
  "tools/call",
  "health/check",
] as const;
export type DialectMethod = (typeof dialectMethods)[number];

/** `tools/call` exists in MCP too; its params tell which. */
export function isInDialect(method: string, params: JsonObject): method is DialectMethod {
  if (method === "tools/call") return "tool_name" in params || "function_name" in params;
  return (dialectMethods as readonly string[]).includes(method);
}

/** The modern era cannot call a client back, so it does not include the dialect. */
export function refuseEnvelope(method: string): HallError {
  return new HallError(
    "INVALID_PARAMS",
    `${method} in the registry dialect does not accept a protocol version in _meta`,
    { hint: "Remove _meta, or use the parameters that MCP defines." },
  );
}

/** The client's reason is passed on to the server. */
export function cancelled(reason: unknown): HallError {
  const isGiven = typeof reason === "string" && reason !== "";
  return new HallError("CANCELLED", isGiven ? reason : "the client cancelled the request");
}

/** The request that the work answers now: suspended work continues under a later request. */
export interface Current {
  readonly params: JsonObject;
  readonly request: ClientRequest;
}

/** The client's side of a call, as toolkits see it in both eras. */
export function createContext(
  current: () => Current,
  { ask, scope, task }: { readonly ask: Ask; readonly scope: Scope } & Pick<CallContext, "task">,
): CallContext {
  const { params, request } = current();
  const log: CallContext["log"] = (level, data, logger) =>
    sendLog(current().request, level, data, logger);
  // A legacy request is never continued by another one that could bring a token.
  const takesProgress = tokenOf(params) !== undefined;
  const { progress, flush } =
    takesProgress || request.era === "modern" ? createProgress(current) : noProgress;
  const askNow: Ask = (...asked) => {
    // A question ends a modern request, so pending progress must be sent first.
    flush();
    return ask(...asked);
  };
  const { logLevel, capabilities, caller } = request;
  return {
    scope,
    ask: askNow,
    takesProgress,
    progress,
    log,
    logLevel,
    capabilities,
    meta: foreignMeta(params._meta),
    task,
    caller,
  };
}

/** The part of `_meta` that does not concern the connection between the client and us. */
function foreignMeta(meta: unknown): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const entries = Object.entries(meta).filter(
    ([key]) => key !== "progressToken" && !key.startsWith("io.modelcontextprotocol/"),
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/**
 * Reserves the progress token until the request is answered or cancelled, even if its work ends later.
 * Throws INVALID_PARAMS if it is in use.
 */
export function claimProgressToken(
  params: JsonObject,
  { progressTokens, exchange }: ClientRequest,
): (() => void) | undefined {
  const token = tokenOf(params);
  if (token === undefined || !progressTokens) return undefined;
  if (progressTokens.has(token))
    throw new HallError(
      "INVALID_PARAMS",
      `progress token ${JSON.stringify(token)} is already in use`,
    );
  progressTokens.add(token);
  let isHeld = true;
  const release = (): void => {
    if (isHeld) progressTokens.delete(token);
    isHeld = false;
  };
  exchange.scope.onCancel(release);
  return release;
}

function tokenOf(params: JsonObject): string | number | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  if (token === undefined || typeof token === "string" || Number.isSafeInteger(token))
    return token as string | number | undefined;
  throw new HallError("INVALID_PARAMS", "progressToken must be a string or an integer");
}

/** Progress messages at once, and per second after that. */
const progressMax = 20;
const progressMsMin = 1_000 / progressMax;

const noProgress = { progress(): void {}, flush(): void {} };

/** Forwards increasing progress: 20 messages at once, then 20 per second. The newest of the others waits. */
function createProgress(current: () => Current): {
  readonly progress: CallContext["progress"];
  flush(): void;
} {
  let last = Number.NEGATIVE_INFINITY;
  /** When the message before the last 20 would have been sent at an even pace. */
  let paceAt = Number.NEGATIVE_INFINITY;
  let waiting: { readonly timer: NodeJS.Timeout; newest: Progress } | undefined;

  function send({ progress, total, message, elapsedSeconds }: Progress): void {
    clearTimeout(waiting?.timer);
    waiting = undefined;
    paceAt = Math.max(paceAt, performance.now() - progressMax * progressMsMin) + progressMsMin;
    const { params, request } = current();
    const progressToken = tokenOf(params);
    if (progressToken === undefined) return;
    request.exchange.notify("notifications/progress", {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
      ...(elapsedSeconds === undefined ? {} : { _meta: { [elapsedKey]: elapsedSeconds } }),
    });
  }

  function flush(): void {
    if (waiting) send(waiting.newest);
  }

  return {
    progress(update) {
      if (!(update.progress > last) || tokenOf(current().params) === undefined) return;
      last = update.progress;
      const earlyMs = paceAt - performance.now();
      if (earlyMs <= 0) send(update);
      else if (waiting) waiting.newest = update;
      else {
        waiting = { timer: setTimeout(flush, earlyMs).unref(), newest: update };
        // The last one is sent before the answer.
        current().request.exchange.beforeReply = flush;
      }
    },
    flush,
  };
}

function sendLog(
  { exchange, logLevel }: ClientRequest,
  level: LogLevel,
  data: unknown,
  logger?: string,
): void {
  if (logLevel === undefined || logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
  exchange.notify("notifications/message", {
    level,
    ...(logger === undefined ? {} : { logger }),
    data,
  });
}
