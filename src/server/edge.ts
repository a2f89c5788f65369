import { adviceForModel } from "../base/advice.ts";
import { type ErrorCode, errorTable, errorType, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Reply } from "../wire/answers.ts";
import type { Request } from "../wire/message.ts";
import type { Version } from "./versions.ts";

/** Failures on their way out: the one place where a HallError becomes what this version of MCP expects. */
export interface EdgeOptions {
  /** The version in use; undefined before any is known. */
  readonly version: Version | undefined;
  readonly request: Request | undefined;
  /** Structured content must fit a tool's output schema even in an error, for some clients: then it goes to `_meta` only. */
  readonly hasOutputSchema: boolean;
  /** Keeps what nobody expected and gives it a name the caller can quote. */
  reference(failure: unknown): string;
}

export function explainFailure(
  failure: unknown,
  { version, request, hasOutputSchema, reference }: EdgeOptions,
): Reply {
  const error =
    failure instanceof HallError
      ? failure
      : new HallError("INTERNAL", "something went wrong inside the hall", { cause: failure });
  if (error.relayed) return { error: relay(error.relayed, version) };
  const described = {
    error,
    ...(hasReference.has(error.code) ? { reference: reference(failure) } : {}),
  };
  if (request?.method !== "tools/call") {
    const code =
      request?.method === "resources/read" && error.code === "NOT_FOUND" && version !== "2026-07-28"
        ? legacyResourceNotFound
        : errorTable[error.code].request;
    return {
      error: { code, message: error.message, data: { ...error.details, ...commonData(described) } },
    };
  }
  const row = errorTable[error.code];
  const edge = version === "2025-11-25" || version === "2026-07-28" ? row.current : row.old;
  if (edge === "isError") return { result: errorResult(described, request, hasOutputSchema) };
  return {
    error: {
      code: edge,
      message: error.message,
      data: { ...toolDetails(error), ...commonData(described), toolName: toolName(request) },
    },
  };
}

/** An upstream's own error keeps its code, message and data; the number a modern peer must not see is said in its words. */
function relay(
  error: NonNullable<HallError["relayed"]>,
  version: Version | undefined,
): NonNullable<HallError["relayed"]> {
  return error.code === legacyResourceNotFound && version === "2026-07-28"
    ? { ...error, code: errorTable.NOT_FOUND.request }
    : error;
}

/** Its own number until 2025-11-25. */
const legacyResourceNotFound = -32002;
const hasReference: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "SERIALIZATION"]);

interface Described {
  readonly error: HallError;
  readonly reference?: string;
}

function commonData({ error, reference }: Described): JsonObject {
  return {
    error_type: errorType(error.code),
    suggestion: suggestionOf(error),
    ...(error.next.length === 0 ? {} : { next: error.next }),
    ...(reference === undefined ? {} : { reference }),
  };
}

/** As in a result that is an error; but what MCP itself gives a place stays there. */
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
