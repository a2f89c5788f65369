import type { Advice } from "./advice.ts";

/**
 * One error class and one table. Throw where the cause is known; only an edge (server, cli, hall)
 * translates. `docs/errors.md` lists the same rows, and a test keeps the two equal.
 */

/** A JSON-RPC error with this number, or a tool result marked `isError`. */
type Edge = number | "isError";

interface ErrorRow {
  /** The name this failure has in the schema-and-trust contract, where it has one. */
  readonly name?: string;
  /** MCP up to 2025-06-18, in answer to `tools/call`. */
  readonly old: Edge;
  /** MCP 2025-11-25 and 2026-07-28, in answer to `tools/call`. */
  readonly current: Edge;
  /** Any other method, where a result marked `isError` does not exist. */
  readonly request: number;
  /** Registry dialect. */
  readonly registry: number;
  /** Process exit code when a command ends with this failure. */
  readonly exit: number;
  readonly retry: string;
  readonly hint: string;
}

const isError = "isError";

type Numbers = Pick<ErrorRow, "old" | "current" | "request" | "registry">;

/** The same number in every version of MCP. */
function everywhere(code: number, registry: number = code): Numbers {
  return { old: code, current: code, request: code, registry };
}

/** A failed call is a result, which a model can read. */
function inResult(registry: number): Numbers {
  return { old: isError, current: isError, request: -32603, registry };
}

const rows = {
  PARSE: { ...everywhere(-32700), name: "ValidationError", exit: 1, retry: "no" },
  INVALID_REQUEST: { ...everywhere(-32600), name: "ValidationError", exit: 1, retry: "no" },
  METHOD_NOT_FOUND: { ...everywhere(-32601), name: "ValidationError", exit: 1, retry: "no" },
  INVALID_PARAMS: { ...everywhere(-32602), name: "ValidationError", exit: 2, retry: "after a fix" },
  NOT_FOUND: { ...everywhere(-32602, -32003), name: "ToolNotFoundError", exit: 66, retry: "no" },
  TOOLKIT_NOT_FOUND: {
    ...everywhere(-32602, -32002),
    name: "ToolNotFoundError",
    exit: 66,
    retry: "no",
  },
  VALIDATION: {
    ...everywhere(-32602, -32004),
    current: isError,
    name: "SchemaError",
    exit: 2,
    retry: "after a fix",
  },
  EXECUTION: { ...inResult(-32001), exit: 1, retry: "if idempotent" },
  TIMEOUT: { ...inResult(-32005), name: "TimeoutError", exit: 75, retry: "yes" },
  CANCELLED: { ...inResult(-32000), exit: 1, retry: "by user" },
  UNAVAILABLE: { ...inResult(-32006), name: "TransportError", exit: 69, retry: "later" },
  BAD_ANSWER: { ...inResult(-32001), name: "TransportError", exit: 1, retry: "maybe" },
  TOO_LARGE: { ...inResult(-32001), name: "TransportError", exit: 1, retry: "maybe" },
  RATE_LIMITED: { ...inResult(-32007), exit: 69, retry: "later" },
  OVERLOADED: { ...inResult(-32007), exit: 69, retry: "later" },
  DENIED: { ...inResult(-32000), request: -32000, exit: 77, retry: "after trust" },
  APPROVAL_NEEDED: { ...inResult(-32000), exit: 77, retry: "after trust" },
  CONFLICT: { ...everywhere(-32602, -32000), name: "RegistrationError", exit: 1, retry: "no" },
  BUDGET: { ...inResult(-32001), exit: 1, retry: "after change" },
  SERIALIZATION: {
    ...everywhere(-32603, -32000),
    name: "SerializationError",
    exit: 1,
    retry: "no",
  },
  UNSUPPORTED_VERSION: {
    ...everywhere(-32022, -32000),
    old: -32602,
    exit: 1,
    retry: "other version",
  },
  MISSING_CAPABILITY: {
    ...everywhere(-32021, -32000),
    old: isError,
    exit: 1,
    retry: "with the capability",
  },
  HEADER_MISMATCH: { ...everywhere(-32020, -32000), old: -32602, exit: 1, retry: "after a fix" },
  INTERNAL: { ...everywhere(-32603, -32000), exit: 1, retry: "maybe" },
} satisfies Record<string, Omit<ErrorRow, "hint">>;

export type ErrorCode = keyof typeof rows;

/** The default next step, in words that fit every surface. */
const hints: Readonly<Record<ErrorCode, string>> = {
  PARSE: "Send one complete JSON message in UTF-8.",
  INVALID_REQUEST: "Send a JSON-RPC 2.0 request as the protocol version in use defines it.",
  METHOD_NOT_FOUND: "Use a method of the protocol version in use.",
  INVALID_PARAMS: "Correct the parameter that the message names.",
  NOT_FOUND: "Check the name, or list again: the list may have changed.",
  TOOLKIT_NOT_FOUND: "Check the name, or list again: the list may have changed.",
  VALIDATION: "Correct the fields named in `details` and call again.",
  EXECUTION: "Read the message; try other arguments.",
  TIMEOUT: "Try again, ask for less at once, or allow more time.",
  CANCELLED: "It was cancelled. Start it again if you still need it.",
  UNAVAILABLE: "See `guildhall status`; what is down restarts by itself.",
  BAD_ANSWER: "The tool's answer violates the protocol; report it to the tool's author.",
  TOO_LARGE: "Ask for less: a narrower query, fewer items, a smaller page.",
  RATE_LIMITED: "Wait as long as `retryAfterSeconds` says.",
  OVERLOADED: "Wait for running requests to end, then try again.",
  DENIED: "A person must allow this tool first.",
  APPROVAL_NEEDED: "A person must approve this call: `guildhall approvals`.",
  CONFLICT: "Choose another name, or say `replace: true`.",
  BUDGET: "The message names the limit: do less in one go, or raise it.",
  SERIALIZATION: "The answer could not be written as JSON; quote the reference when you report it.",
  UNSUPPORTED_VERSION: "Use one of the versions in `supported`.",
  MISSING_CAPABILITY:
    "Declare the capabilities in `requiredCapabilities`, or call a tool that needs no input.",
  HEADER_MISMATCH:
    "Send headers that say the same as the body; list the tools again if one may have changed.",
  INTERNAL: "Quote the reference when you report it; the log has the details.",
};

export const errorTable = Object.fromEntries(
  Object.entries(rows).map(([code, row]) => [code, { ...row, hint: hints[code as ErrorCode] }]),
) as Readonly<Record<ErrorCode, ErrorRow>>;

export interface HallErrorOptions {
  readonly cause?: unknown;
  /** Facts sent to the caller unchanged: never a secret, never a stack trace. */
  readonly details?: { readonly [key: string]: unknown } | undefined;
  /** A JSON-RPC error from the other end of a connection, passed on unchanged. */
  readonly relayed?:
    | { readonly code: number; readonly message: string; readonly data?: unknown }
    | undefined;
  /** Replaces the table's hint. A neutral sentence: commands, tools and waits belong in `next`. */
  readonly hint?: string | undefined;
  /** Next steps, most useful first. Each surface words them for its readers. */
  readonly next?: readonly Advice[] | undefined;
}

export class HallError extends Error {
  readonly code: ErrorCode;
  readonly details: HallErrorOptions["details"];
  readonly relayed: HallErrorOptions["relayed"];
  readonly hint: string;
  readonly next: readonly Advice[];

  constructor(code: ErrorCode, message: string, options: HallErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const { name = "HallError" }: ErrorRow = errorTable[code];
    this.name = name;
    this.code = code;
    this.details = options.details;
    this.relayed = options.relayed;
    this.hint = options.hint ?? errorTable[code].hint;
    this.next = options.next ?? [];
  }
}

/** The message of anything thrown; not all of it is an Error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The message with the details that the other end of a connection sent in its error. */
export function fullMessageOf({ message, relayed }: HallError): string {
  const { data } = relayed ?? {};
  const stated =
    typeof data === "object" && data !== null && "details" in data ? data.details : data;
  if (stated === undefined || stated === null) return message;
  const details = typeof stated === "string" ? stated : JSON.stringify(stated);
  return details === "" || message.includes(details)
    ? message
    : `${message}: ${details.slice(0, 1_000)}`;
}

/** `error_type` on the wire: the code in lower case. */
export function errorType(code: ErrorCode): string {
  return code.toLowerCase();
}
