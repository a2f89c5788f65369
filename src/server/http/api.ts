import type { IncomingMessage, ServerResponse } from "node:http";
import { isObject, type JsonObject } from "../../base/json.ts";
import { readRegistration } from "../../registry/registration.ts";
import type { Channel, Receiver } from "../../wire/channel.ts";
import { parseFrame } from "../../wire/message.ts";
import { isNotification } from "../methods.ts";
import type { Server } from "../server.ts";
import { readBody } from "./body.ts";
import { refuseChange } from "./guard.ts";
import type { HttpRequest } from "./mcp-endpoint.ts";
import { quotaOf } from "./mcp-endpoint.ts";
import { sendJson } from "./post.ts";
import { notAllowed, type Refusal } from "./refusal.ts";

export interface ApiRequest extends Omit<HttpRequest, "url" | "isPassedOn"> {
  readonly path: string;
}

interface DialectMessage {
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * The registry dialect as REST, at `/api/toolkits`. A request becomes one message of the dialect on a
 * connection of its own, so that both pass the same checks and return the same data.
 */
export async function serveApi(
  { request, response, path, caller }: ApiRequest,
  server: Server,
): Promise<Refusal | undefined> {
  const read = request.method === "POST" ? await readJson(request, server) : { body: {} };
  if ("refusal" in read) return read.refusal;
  const segments = path.split("/").slice(3).map(decode);
  const message = readRequest(request.method ?? "", segments, read.body);
  if ("status" in message) return message;

  const { method, params } = message;
  const refusal = refuseChange(method, params, caller);
  if (refusal) return refusal;
  const quota = quotaOf(request, caller.principal);
  server
    .accept(createAnswerChannel(response, method), {
      ...caller,
      isOrdered: false,
      isNetwork: true,
      quota,
    })
    .receive({ kind: "request", id: 1, method, params });
  return undefined;
}

/** The methods of the dialect by path, with `*` for a name, and HTTP method. */
const routes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "": { GET: "tools/toolkits", POST: "tools/register" },
  "*": { GET: "tools/toolkit", DELETE: "tools/unregister" },
  "*/health": { GET: "health/check" },
  "*/refresh": { POST: "tools/refresh" },
  "*/functions/*": { GET: "tools/schema" },
  "*/functions/*/call": { POST: "tools/call" },
};

function readRequest(
  verb: string,
  [name, part, functionName, ...rest]: readonly string[],
  body: JsonObject,
): DialectMessage | Refusal {
  const path = [name && "*", part, functionName && "*", ...rest].filter(Boolean).join("/");
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (!route)
    return {
      status: 404,
      code: "NOT_FOUND",
      message:
        "Not found. Endpoints below /api/toolkits: /NAME, /NAME/health, /NAME/refresh, /NAME/functions/FUNCTION, /NAME/functions/FUNCTION/call",
      hint: "Check the address.",
    };
  const method = Object.hasOwn(route, verb) ? route[verb] : undefined;
  if (method === undefined) return notAllowed(Object.keys(route).join(", "));
  if (method === "tools/register") return { method, params: readRegistration(body) };
  return { method, params: { ...body, tool_name: name, function_name: functionName } };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // No toolkit has such a name.
    return part;
  }
}

/** The body of a POST, with the same limits as a message. */
async function readJson(
  request: IncomingMessage,
  server: Server,
): Promise<{ readonly body: JsonObject } | { readonly refusal: Refusal }> {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length === "0" && encoding === undefined) return { body: {} };
  const body = await readBody(request, server.limits.messageBytesMax);
  if (!Buffer.isBuffer(body)) return { refusal: body };
  const wrapped = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","method":"body","params":'),
    body,
    Buffer.from("}"),
  ]);
  const message = parseFrame(wrapped, server.limits, isNotification);
  if (!Array.isArray(message) && "params" in message && isObject(message.params))
    return { body: message.params };
  return { refusal: { status: 400, code: "PARSE", message: "the body must be a JSON object" } };
}

/** Sends the one answer with the matching HTTP status. */
function createAnswerChannel(response: ServerResponse, method: string): Channel {
  let receiver: Receiver | undefined;
  return {
    start(started) {
      receiver = started;
      response.on("close", () => receiver?.closed());
    },
    send(frame, message) {
      const kind = message?.kind;
      if (response.writableEnded || kind === "notification" || kind === "request") return;
      const { result, error } = JSON.parse(frame) as {
        readonly result?: JsonObject;
        readonly error?: JsonObject;
      };
      if (error) sendJson(response, statusOf(error), JSON.stringify({ error }), retryHeader(error));
      else
        sendJson(
          response,
          method === "health/check" && result?.status === "unhealthy" ? 503 : 200,
          JSON.stringify(result),
        );
    },
    queuedBytes: 0,
    pause: () => {},
    resume: () => {},
    async close() {
      if (!response.writableEnded) response.end();
    },
  };
}

const statuses: Readonly<Record<string, number>> = {
  toolkit_not_found: 404,
  not_found: 404,
  method_not_found: 404,
  validation: 400,
  invalid_params: 400,
  invalid_request: 400,
  conflict: 409,
  denied: 403,
  approval_needed: 403,
  timeout: 504,
  unavailable: 503,
  rate_limited: 429,
  overloaded: 429,
};

function statusOf({ data }: JsonObject): number {
  return (isObject(data) ? statuses[String(data.error_type)] : undefined) ?? 500;
}

function retryHeader({ data }: JsonObject): Readonly<Record<string, string>> {
  const seconds = isObject(data) ? data.retryAfterSeconds : undefined;
  return typeof seconds === "number" ? { "retry-after": String(Math.ceil(seconds)) } : {};
}
