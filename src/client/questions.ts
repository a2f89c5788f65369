import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Question, Questions } from "../tool.ts";

/** What a server asks in its answer. Throws BAD_ANSWER for what no client can be asked: a server does not choose what we send. */
export function readQuestions(requests: unknown): Questions {
  if (!isObject(requests)) return {};
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, readQuestion(request)]),
  );
}

function readQuestion(request: unknown): Question {
  const { method, params } = isObject(request) ? request : {};
  if (!isAskable(method) || !(params === undefined || isObject(params)))
    throw new HallError("BAD_ANSWER", "it asks for what no client can be asked");
  return { method, ...(params === undefined ? {} : { params }) };
}

function isAskable(method: unknown): method is Question["method"] {
  return (
    method === "elicitation/create" ||
    method === "sampling/createMessage" ||
    method === "roots/list"
  );
}

/** The same as the hall passes them on: its client knows only the hall, and a person must see which server wants to know. */
export function askedBy(server: string, questions: Questions): Questions {
  return Object.fromEntries(
    Object.entries(questions).map(([key, { method, params }]) => [
      key,
      params ? { method, params: sayWho(server, method, params) } : { method },
    ]),
  );
}

function sayWho(server: string, method: Question["method"], params: JsonObject): JsonObject {
  if (method === "elicitation/create")
    return { ...params, message: `The server "${server}" asks:\n\n${params.message ?? ""}` };
  // To the client "this server" is the hall: its context is what all the others said.
  const { includeContext: _context, ...rest } = params;
  return rest;
}
