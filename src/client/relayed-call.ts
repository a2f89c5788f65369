import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { escapeCommands, escapeCommandsIn } from "../base/sanitize.ts";
import { Scope } from "../base/scope.ts";
import type { SlotMap } from "../base/slot-map.ts";
import {
  type CallContext,
  elapsedKey,
  type LogLevel,
  type Progress,
  type Question,
  type Questions,
} from "../tool.ts";
import type { Request } from "../wire/message.ts";

/** A call on its way through a connection: its caller, and questions that end when the call does. */
export class RelayedCall implements Pick<CallContext, "progress" | "log" | "ask"> {
  readonly #caller: CallContext;
  readonly #server: string | undefined;
  /** Created for the first question: most calls ask none. */
  #asking: Scope | undefined;
  unaskable: HallError | undefined;
  /** The id of its request on the connection. */
  id: number | undefined;

  constructor(caller: CallContext, server: string | undefined) {
    this.#caller = caller;
    this.#server = server;
  }

  get principal(): string | undefined {
    return this.#caller.caller?.principal;
  }

  progress(progress: Progress): void {
    const { message } = progress;
    if (this.#server === undefined || message === undefined) this.#caller.progress(progress);
    else this.#caller.progress({ ...progress, message: escapeCommands(message) });
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    const server = this.#server;
    const name = server !== undefined && logger !== undefined ? `${server}/${logger}` : server;
    if (name === undefined) this.#caller.log(level, data, logger);
    else this.#caller.log(level, escapeCommandsIn(data), escapeCommands(name));
  }

  async ask(questions: Questions, withdrawn?: Scope): ReturnType<CallContext["ask"]> {
    this.#asking ??= new Scope();
    const named = this.#server === undefined ? questions : askedBy(this.#server, questions);
    // A question is open for as long as its call runs and the server wants to know.
    const open = new Scope(this.#asking);
    const stopWatching = withdrawn?.onCancel((reason) => open.cancel(reason));
    try {
      return await this.#caller.ask(named, open);
    } catch (error) {
      if (error instanceof HallError && error.code === "MISSING_CAPABILITY") this.unaskable = error;
      throw error;
    } finally {
      stopWatching?.();
      open.close();
    }
  }

  end(): void {
    this.#asking?.cancel(new HallError("CANCELLED", "the call has ended"));
  }
}

/** A message of a server; HTTP knows on which request's stream it came. */
type Owned = Pick<Request, "owner">;

export type RunningCalls = Pick<SlotMap<number, RelayedCall>, "get" | "values">;

/**
 * The call that a server's message belongs to. stdio does not say; with several calls running it is
 * most likely the last one. Undefined while they belong to several people: a message for one must
 * not reach another.
 */
export function ownerOf({ owner }: Owned, running: RunningCalls): RelayedCall | undefined {
  if (owner !== undefined) return running.get(owner);
  const calls = running.values();
  const last = calls.at(-1);
  return calls.every(({ principal }) => principal === last?.principal) ? last : undefined;
}

/**
 * The call that progress under a server's own token belongs to: by the stream it came on, by the
 * request id in the token (`tool-3`), or because nothing else runs. Undefined where it is a guess.
 */
export function ownerByToken(
  token: string,
  { owner }: Owned,
  running: RunningCalls,
): RelayedCall | undefined {
  if (owner !== undefined) return running.get(owner);
  const calls = running.values();
  return (
    calls.find(({ id }) => token === `tool-${id}`) ?? (calls.length === 1 ? calls[0] : undefined)
  );
}

/** Answers a request of an older server: a question for the client whose call caused it. */
export async function answerQuestion(
  { id, method, params }: Request,
  call: RelayedCall | undefined,
  scope: Scope,
): Promise<unknown> {
  if (method === "ping") return {};
  if (!isAskable(method)) throw new HallError("METHOD_NOT_FOUND", `Method not found: ${method}`);
  if (!call) throw new HallError("METHOD_NOT_FOUND", `${method} belongs to no running call`);

  // A key per question: a server may ask several at once.
  const key = `question ${id}`;
  const answers = await scope.race(call.ask({ [key]: { method, params } }, scope));
  return answers[key];
}

export function readProgress(params: JsonObject): Progress | undefined {
  const { progress, total, message, _meta } = params;
  if (typeof progress !== "number") return undefined;
  const elapsedSeconds = isObject(_meta) ? _meta[elapsedKey] : undefined;
  return {
    progress,
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof elapsedSeconds === "number" ? { elapsedSeconds } : {}),
  };
}

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

function isAskable(method: unknown): method is Question["method"] {
  return (
    method === "elicitation/create" ||
    method === "sampling/createMessage" ||
    method === "roots/list"
  );
}

/** Names the server in its questions: the client knows only the hall, and its user must see who asks. */
function askedBy(server: string, questions: Questions): Questions {
  return Object.fromEntries(
    Object.entries(questions).map(([key, { method, params }]) => [
      key,
      { method, params: params && nameServer(server, method, params) },
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
