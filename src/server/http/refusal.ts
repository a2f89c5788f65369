import type { ServerResponse } from "node:http";
import { type ErrorCode, errorTable, errorType } from "../../base/errors.ts";
import { errorFrame, type Id, type UnreadableId } from "../../wire/message.ts";

/** An HTTP request that never becomes a message: what is said to it, as HTTP and as JSON-RPC. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** What to do next; default the code's own. */
  readonly hint?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly details?: { readonly [key: string]: unknown };
  readonly id?: Id | undefined;
  /** The rest of the request is not worth reading. */
  readonly closes?: boolean;
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
    details,
    headers,
    id,
    closes,
  } = refusal;
  const data = { ...details, error_type: errorType(code), suggestion: hint };
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

/** A socket that is closed with unread bytes is reset, and the answer may be lost with it: first the rest is read and thrown away. */
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
