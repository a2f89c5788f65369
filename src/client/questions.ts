import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { escapeCommandsIn } from "../base/sanitize.ts";
import type { Question, Questions } from "../tool.ts";

/** Up to 2025-11-25: the user must visit a web page before the call can succeed. */
export const urlElicitationRequired = -32042;

/** The questions of servers to clients: elicitation, sampling and roots. */

/** The questions in a server's answer. Throws BAD_ANSWER for a method that no client serves. */
export function readQuestions(requests: unknown): Questions {
  if (!isObject(requests)) return {};
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, readQuestion(request)]),
  );
}

function readQuestion(request: unknown): Question {
  const { method, params } = isObject(request) ? request : {};
  if (!isAskable(method) || !(params === undefined || isObject(params)))
    throw new HallError("BAD_ANSWER", "the server asks for an unknown kind of input");
  return { method, params };
}

export function isAskable(method: unknown): method is Question["method"] {
  return (
    method === "elicitation/create" ||
    method === "sampling/createMessage" ||
    method === "roots/list"
  );
}

/**
 * Adds the server's name to its questions. The client knows only the hall, but its user must see which server
 * asks.
 */
export function askedBy(server: string, questions: Questions): Questions {
  return Object.fromEntries(
    Object.entries(questions).map(([key, { method, params, progress }]) => [
      key,
      { method, params: params && nameServer(server, method, params), progress },
    ]),
  );
}

function nameServer(server: string, method: Question["method"], params: JsonObject): JsonObject {
  if (method === "elicitation/create") {
    const { message = "", requestedSchema } = params;
    return {
      ...params,
      message: `The server "${server}" asks:\n\n${escapeCommandsIn(message)}`,
      ...(requestedSchema !== undefined && { requestedSchema: showLabels(requestedSchema) }),
    };
  }
  if (method === "roots/list") return params;
  // To the client "this server" is the hall, whose context includes all other servers.
  const { includeContext: _context, systemPrompt, ...rest } = params;
  const source = `This request comes from the MCP server "${server}".`;
  const said = typeof systemPrompt === "string" ? `\n\n${systemPrompt}` : "";
  return { ...rest, systemPrompt: `${source}${said}` };
}

const labels = new Set(["title", "description", "enumNames"]);

/** The labels of a form without commands to a terminal. Names and values stay: they come back in the answer. */
function showLabels(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(showLabels);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const isLabel = labels.has(key) && (typeof value === "string" || Array.isArray(value));
      return [key, isLabel ? escapeCommandsIn(value) : showLabels(value)];
    }),
  );
}
