import type { Advice } from "./advice.ts";

/**
 * One error class and one table. Throw where the cause is known; only an edge (server, cli, hall)
 * translates. `docs/errors.md` lists the same rows, and a test keeps the two equal.
 */

/** A JSON-RPC error with this number, or a tool result marked `isError`. */
type Edge = number | "isError";

interface ErrorRow {
  /** The name this failure has in the schema-and-trust contract, where it has one. */
  readonly name: string | null;
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
  /** The default next step, in words that fit every surface. */
  readonly hint: string;
}

const isError = "isError";

export const errorTable = {
  PARSE: {
    name: "ValidationError",
    old: -32700,
    current: -32700,
    request: -32700,
    registry: -32700,
    exit: 1,
    retry: "no",
    hint: "Send one complete JSON message in UTF-8.",
  },
  INVALID_REQUEST: {
    name: "ValidationError",
    old: -32600,
    current: -32600,
    request: -32600,
    registry: -32600,
    exit: 1,
    retry: "no",
    hint: "Send a JSON-RPC 2.0 request as the protocol version in use defines it.",
  },
  METHOD_NOT_FOUND: {
    name: "ValidationError",
    old: -32601,
    current: -32601,
    request: -32601,
    registry: -32601,
    exit: 1,
    retry: "no",
    hint: "Use a method of the protocol version in use.",
  },
  INVALID_PARAMS: {
    name: "ValidationError",
    old: -32602,
    current: -32602,
    request: -32602,
    registry: -32602,
    exit: 2,
    retry: "after a fix",
    hint: "Correct the parameter the message names.",
  },
  NOT_FOUND: {
    name: "ToolNotFoundError",
    old: -32602,
    current: -32602,
    request: -32602,
    registry: -32003,
    exit: 66,
    retry: "no",
    hint: "List again: the list may have changed.",
  },
  TOOLKIT_NOT_FOUND: {
    name: "ToolNotFoundError",
    old: -32602,
    current: -32602,
    request: -32602,
    registry: -32002,
    exit: 66,
    retry: "no",
    hint: "List again: the list may have changed.",
  },
  VALIDATION: {
    name: "SchemaError",
    old: -32602,
    current: isError,
    request: -32602,
    registry: -32004,
    exit: 2,
    retry: "after a fix",
    hint: "Correct the fields named in `details` and call again.",
  },
  EXECUTION: {
    name: null,
    old: isError,
    current: isError,
    request: -32603,
    registry: -32001,
    exit: 1,
    retry: "if idempotent",
    hint: "Read the message; try other arguments.",
  },
  TIMEOUT: {
    name: "TimeoutError",
    old: isError,
    current: isError,
    request: -32603,
    registry: -32005,
    exit: 75,
    retry: "yes",
    hint: "Try again, ask for less at once, or allow more time.",
  },
  CANCELLED: {
    name: null,
    old: isError,
    current: isError,
    request: -32603,
    registry: -32000,
    exit: 1,
    retry: "by user",
    hint: "The call was withdrawn; call again if it is still wanted.",
  },
  UNAVAILABLE: {
    name: "TransportError",
    old: isError,
    current: isError,
    request: -32603,
    registry: -32006,
    exit: 69,
    retry: "later",
    hint: "See `guildhall status`; what is down restarts by itself.",
  },
  BAD_ANSWER: {
    name: "TransportError",
    old: isError,
    current: isError,
    request: -32603,
    registry: -32001,
    exit: 1,
    retry: "maybe",
    hint: "The tool answered something the protocol does not allow; tell its author.",
  },
  TOO_LARGE: {
    name: "TransportError",
    old: isError,
    current: isError,
    request: -32603,
    registry: -32001,
    exit: 1,
    retry: "maybe",
    hint: "Ask for less: a narrower query, fewer items, a smaller page.",
  },
  RATE_LIMITED: {
    name: null,
    old: isError,
    current: isError,
    request: -32603,
    registry: -32007,
    exit: 69,
    retry: "later",
    hint: "Wait as long as `retryAfterSeconds` says.",
  },
  OVERLOADED: {
    name: null,
    old: isError,
    current: isError,
    request: -32603,
    registry: -32007,
    exit: 69,
    retry: "later",
    hint: "Wait for running requests to end, then try again.",
  },
  DENIED: {
    name: null,
    old: isError,
    current: isError,
    request: -32603,
    registry: -32000,
    exit: 77,
    retry: "after trust",
    hint: "A person must allow this tool first.",
  },
  APPROVAL_NEEDED: {
    name: null,
    old: isError,
    current: isError,
    request: -32603,
    registry: -32000,
    exit: 77,
    retry: "after trust",
    hint: "A person must approve this call; `details` has the command and the token.",
  },
  CONFLICT: {
    name: "RegistrationError",
    old: -32602,
    current: -32602,
    request: -32602,
    registry: -32000,
    exit: 1,
    retry: "no",
    hint: "Choose another name, or say `replace: true`.",
  },
  BUDGET: {
    name: null,
    old: isError,
    current: isError,
    request: -32603,
    registry: -32001,
    exit: 1,
    retry: "after change",
    hint: "The message names the limit: do less in one go, or raise it.",
  },
  SERIALIZATION: {
    name: "SerializationError",
    old: -32603,
    current: -32603,
    request: -32603,
    registry: -32000,
    exit: 1,
    retry: "no",
    hint: "The answer could not be written as JSON; quote the reference when you report it.",
  },
  UNSUPPORTED_VERSION: {
    name: null,
    old: -32602,
    current: -32022,
    request: -32022,
    registry: -32000,
    exit: 1,
    retry: "other version",
    hint: "Use one of the versions in `supported`.",
  },
  MISSING_CAPABILITY: {
    name: null,
    old: isError,
    current: -32021,
    request: -32021,
    registry: -32000,
    exit: 1,
    retry: "with the capability",
    hint: "Declare the capabilities in `requiredCapabilities`, or call a tool that needs no input.",
  },
  HEADER_MISMATCH: {
    name: null,
    old: -32602,
    current: -32020,
    request: -32020,
    registry: -32000,
    exit: 1,
    retry: "after a fix",
    hint: "Send headers that say the same as the body; list the tools again if one may have changed.",
  },
  INTERNAL: {
    name: null,
    old: -32603,
    current: -32603,
    request: -32603,
    registry: -32000,
    exit: 1,
    retry: "maybe",
    hint: "Quote the reference when you report it; the log has the details.",
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export interface HallErrorOptions {
  readonly cause?: unknown;
  /** Facts sent to the caller unchanged: never a secret, never a stack trace. */
  readonly details?: { readonly [key: string]: unknown } | undefined;
  /** A JSON-RPC error from the other end of a connection, passed on unchanged. */
  readonly relayed?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** Replaces the table's hint. A neutral sentence: commands, tools and waits belong in `next`. */
  readonly hint?: string | undefined;
  /** Next steps, most useful first. Each surface words them for its readers. */
  readonly next?: readonly Advice[];
}

export class HallError extends Error {
  readonly code: ErrorCode;
  readonly details: HallErrorOptions["details"];
  readonly relayed: HallErrorOptions["relayed"];
  readonly hint: string;
  readonly next: readonly Advice[];

  constructor(code: ErrorCode, message: string, options: HallErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HallError";
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

/** `error_type` on the wire: the code in lower case. */
export function errorType(code: ErrorCode): string {
  return code.toLowerCase();
}
