import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Question, Questions } from "../tool.ts";

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
  return { method, ...(params === undefined ? {} : { params }) };
}

function isAskable(method: unknown): method is Question["method"] {
  return (
    method === "elicitation/create" ||
    method === "sampling/createMessage" ||
    method === "roots/list"
  );
}

/** Names the server in its questions: the client knows only the hall, and its user must see who asks. */
export function askedBy(server: string, questions: Questions): Questions {
  return Object.fromEntries(
    Object.entries(questions).map(([key, { method, params }]) => [
      key,
      params ? { method, params: nameServer(server, method, params) } : { method },
    ]),
  );
}

function nameServer(server: string, method: Question["method"], params: JsonObject): JsonObject {
  if (method === "elicitation/create")
    return { ...params, message: `The server "${server}" asks:\n\n${params.message ?? ""}` };
  // To the client "this server" is the hall, whose context includes all other servers.
  const { includeContext: _context, ...rest } = params;
  return rest;
}
