import { adviceForModel } from "../base/advice.ts";
import { type ErrorCode, errorTable, errorType, fullMessageOf, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Request, RpcError } from "../wire/message.ts";
import type { Reply } from "../wire/requests.ts";
import { addModernEnvelope, isInDialect, resolveCallTool, type Version } from "./client-request.ts";
import { callIdOf } from "./dialect.ts";
import type { ServerParts } from "./server.ts";

/**
 * Turns a failure into the answer that the client's version of MCP, or the registry dialect, expects.
 * `version` is undefined before it is known. No other place translates errors.
 */
export function explainRequest(
  failure: unknown,
  request: Request | undefined,
  version: Version | undefined,
  { registry, reference, signature }: Pick<ServerParts, "registry" | "reference" | "signature">,
): Reply {
  const isDialect = request !== undefined && isInDialect(request.method, request.params ?? {});
  const error =
    failure instanceof HallError
      ? failure
      : new HallError("INTERNAL", "unexpected error inside the hall", { cause: failure });
  if (error.relayed && !isDialect) return { error: relay(error.relayed, version) };

  const described = {
    error,
    reference: hasReference.has(error.code) ? reference(failure) : undefined,
  };
  if (isDialect) return { error: dialectError(described, request) };
  const called = request && calledRequest(request);
  if (called?.method !== "tools/call")
    return { error: requestError(described, called?.method, version) };

  const row = errorTable[error.code];
  const edge = version === "2025-11-25" || version === "2026-07-28" ? row.current : row.old;
  if (edge !== "isError")
    return {
      error: {
        code: edge,
        message: error.message,
        data: { ...toolDetails(error), ...commonData(described), toolName: toolName(called) },
      },
    };

  const name = called.params?.name;
  // Some clients check even an error's structured content against the tool's output schema.
  const hasOutputSchema =
    typeof name === "string" && registry.findTool(name)?.tool.outputSchema !== undefined;
  const result = errorResult(described, called, hasOutputSchema);
  return version === "2026-07-28"
    ? { result: addModernEnvelope("tools/call", result, signature) }
    : { result };
}

/** The tool that `call_tool` names, or the request itself when that is what failed. */
function calledRequest(request: Request): Request {
  try {
    return resolveCallTool(request);
  } catch {
    return request;
  }
}

function requestError(
  described: Described,
  method: string | undefined,
  version: Version | undefined,
): RpcError {
  const { error } = described;
  const isLegacyResource =
    method === "resources/read" && error.code === "NOT_FOUND" && version !== "2026-07-28";
  return {
    code: isLegacyResource ? legacyResourceNotFound : errorTable[error.code].request,
    message: error.message,
    data: { ...error.details, ...commonData(described) },
  };
}

/** Keeps an upstream's code, message and data, except the one code that modern clients must not see. */
function relay(
  error: NonNullable<HallError["relayed"]>,
  version: Version | undefined,
): NonNullable<HallError["relayed"]> {
  return error.code === legacyResourceNotFound && version === "2026-07-28"
    ? { ...error, code: errorTable.NOT_FOUND.request }
    : error;
}

/** The code for an unknown resource up to 2025-11-25. */
const legacyResourceNotFound = -32002;
const hasReference: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "SERIALIZATION"]);

interface Described {
  readonly error: HallError;
  readonly reference: string | undefined;
}

function commonData({ error, reference }: Described): JsonObject {
  return {
    error_type: errorType(error.code),
    ...nameOf(error),
    suggestion: suggestionOf(error),
    ...(error.next.length === 0 ? {} : { next: error.next }),
    ...(reference === undefined ? {} : { reference }),
  };
}

/** The name that document 004 gives the failure, where it has one. */
function nameOf({ code }: HallError): JsonObject {
  const { name } = errorTable[code];
  return name === undefined ? {} : { error_name: name };
}

/** Below `details`, as in an error result, except where MCP defines the place. */
function toolDetails({ code, details }: HallError): JsonObject {
  if (details === undefined) return {};
  return code === "MISSING_CAPABILITY" || code === "UNSUPPORTED_VERSION" ? details : { details };
}

function errorResult(
  { error, reference }: Described,
  request: Request,
  hasOutputSchema: boolean,
): JsonObject {
  const suggestion = suggestionOf(error);
  const body = {
    error_type: errorType(error.code),
    ...nameOf(error),
    message: error.message,
    suggestion,
    ...(error.next.length === 0 ? {} : { next: error.next }),
    toolName: toolName(request),
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(reference === undefined ? {} : { reference }),
  };
  return {
    content: [{ type: "text", text: `${error.message}\n${suggestion}` }],
    ...(hasOutputSchema ? {} : { structuredContent: body }),
    isError: true,
    _meta: { "guildhall/error": body },
  };
}

/** Advice in words for a model; the hint where there is no advice. */
function suggestionOf({ next, hint }: HallError): string {
  return next.length === 0 ? hint : adviceForModel(next);
}

function toolName(request: Request): unknown {
  const name = isObject(request.params) ? request.params.name : undefined;
  return typeof name === "string" ? name.slice(0, 100) : undefined;
}

/** The message that the dialect defines for each number. */
const messages: Readonly<Record<number, string>> = {
  [-32000]: "Server error",
  [-32001]: "Tool execution failed",
  [-32002]: "Tool not found",
  [-32003]: "Function not found",
  [-32004]: "Invalid parameters",
  [-32005]: "Timeout",
  [-32006]: "Service unavailable",
  [-32007]: "Rate limited",
};

/** A failure with the dialect's number; `details` has our message, `error_type` its kind. */
function dialectError(described: Described, { method, params }: Request): RpcError {
  const { error } = described;
  const code = errorTable[error.code].registry;
  const isCall = method === "tools/call" && params !== undefined;
  const stated = error.details?.error_type;
  return {
    code,
    message: messages[code] ?? error.message,
    data: {
      ...error.details,
      ...(isCall ? { call_id: callIdOf(params) } : {}),
      ...commonData(described),
      ...(stated === undefined ? {} : { error_type: stated }),
      details: fullMessageOf(error),
    },
  };
}
