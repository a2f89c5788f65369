import type { ServerResponse } from "node:http";
import { type Advice, adviceForModel } from "../../base/advice.ts";
import { type ErrorCode, errorTable, errorType, type HallError } from "../../base/errors.ts";
import { errorFrame, type Id, type UnreadableId } from "../../wire/message.ts";

/** The answer to an HTTP request that never becomes a message, as HTTP and as JSON-RPC. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** Default: the hint of the error code. */
  readonly hint?: string | undefined;
  readonly next?: readonly Advice[] | undefined;
  /** The right that the caller lacks. */
  readonly scope?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly details?: { readonly [key: string]: unknown } | undefined;
  readonly id?: Id | undefined;
  /** Close the connection without reading the rest of the request. */
  readonly closes?: boolean | undefined;
}

/** Where clients find the metadata of a resource (RFC 9728). */
export const wellKnownPath = "/.well-known/oauth-protected-resource";

export function invalidRequest(
  status: number,
  message: string,
  more: Partial<Refusal> = {},
): Refusal {
  return { status, code: "INVALID_REQUEST", message, ...more };
}

export function notAllowed(allow: string): Refusal {
  const message = `method not allowed (expected: ${allow})`;
  return invalidRequest(405, message, { headers: { allow } });
}

export function tooManyConnections(countMax: number): Refusal {
  const message = `too many connections (limit: ${countMax})`;
  return { status: 503, code: "OVERLOADED", message, headers: { "retry-after": "5" } };
}

export const shuttingDown: Refusal = {
  status: 503,
  code: "UNAVAILABLE",
  message: "the hall is shutting down",
  closes: true,
};

/** The halls' database does not answer. */
export function refuseUnavailable({ code, message, next }: HallError): Refusal {
  const retryAfterSeconds = 1;
  return {
    status: 503,
    code,
    message,
    next,
    headers: { "retry-after": String(retryAfterSeconds) },
    details: { retryAfterSeconds },
  };
}

export function sendRefusal(
  response: ServerResponse,
  refusal: Refusal,
  unreadableId: UnreadableId = "null",
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const {
    status,
    code,
    message,
    hint = errorTable[code].hint,
    next = [],
    details,
    headers,
    id,
    closes,
  } = refusal;
  const data = {
    ...details,
    error_type: errorType(code),
    suggestion: [hint, adviceForModel(next)].filter(Boolean).join(" "),
    ...(next.length === 0 ? {} : { next }),
  };
  const body = errorFrame(id, { code: errorTable[code].request, message, data }, unreadableId);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(closes ? { connection: "close" } : {}),
    ...headers,
  });
  if (closes && !response.req.complete) endLater(response, body);
  else response.end(body);
}

const lingerMsMax = 1_000;

/** Closing a socket with unread bytes resets it, and the answer may be lost: discard the rest first. */
function endLater(response: ServerResponse, body: string): void {
  const { req: request } = response;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMsMax);
  response.write(body);
  request.unpipe();
  request.on("end", end).on("close", end).resume();
}
