import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { Scope } from "../base/scope.ts";
import type { CallContext, Progress, Questions } from "../tool.ts";
import { createActivityTimeout } from "./activity-timeout.ts";
import type { ServerConnection } from "./connection.ts";
import { readHallError } from "./hall-error.ts";

/** An MCP client for programs: requests with progress, logs, questions and a timeout on silence. */
export interface ClientRequestOptions {
  readonly progress?: ((progress: Progress) => void) | undefined;
  /** Receives log messages while the request runs. Without it none are requested. */
  readonly log?: ((data: unknown) => void) | undefined;
  /** Cancels the request. */
  readonly scope?: Scope | undefined;
  /** Sent in the request's `_meta`. */
  readonly meta?: JsonObject | undefined;
}

/** Answers a server's question, as in MCP's elicitation. */
export type AnswerQuestion = (params: JsonObject) => Promise<JsonObject>;

export interface ClientOptions {
  /** Present where a person can be asked. */
  readonly answer?: AnswerQuestion | undefined;
  /** How long a request may be silent. Default 60 s. */
  readonly silentMsMax?: number | undefined;
  /** How long a request may take in all. Default 600 s. */
  readonly totalMsMax?: number | undefined;
}

/** A call as a message, such as an `MCPToolCall`. */
export interface NamedCall {
  readonly params: { readonly name: string; readonly arguments?: JsonObject };
}

/** The parameters of a call that is given by name and arguments, or as a message. Throws INVALID_PARAMS. */
export function readNamedCall(
  call: string | NamedCall,
  args: JsonObject = {},
): { readonly name: string; readonly arguments: JsonObject } {
  if (typeof call === "string") return { name: call, arguments: args };
  const { name, arguments: given = args } =
    isObject(call) && isObject(call.params) ? call.params : {};
  if (typeof name !== "string" || !isObject(given))
    throw new HallError("INVALID_PARAMS", "expected the name of a tool, or an MCPToolCall");
  return { name, arguments: given };
}

const pagesMax = 1_000;

export class Client {
  readonly #connection: Pick<ServerConnection, "relay" | "close">;
  readonly #options: ClientOptions;

  constructor(connection: Pick<ServerConnection, "relay" | "close">, options: ClientOptions = {}) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Throws HallError; TIMEOUT once the server has been silent for too long. */
  async request(
    method: string,
    params: JsonObject = {},
    options: ClientRequestOptions = {},
  ): Promise<JsonObject> {
    const { answer, silentMsMax = 60_000, totalMsMax = 600_000 } = this.#options;
    const { progress, log, meta } = options;
    const scope = new Scope(options.scope);
    const timeout = createActivityTimeout({
      silentMsMax,
      totalMsMax,
      expired: (why) =>
        scope.cancel(timeoutError(method, why === "silent" ? silentMsMax : totalMsMax, why)),
    });
    const context: CallContext = {
      scope,
      meta,
      capabilities: answer ? { elicitation: { form: {} } } : {},
      ...(log ? { logLevel: "info" as const } : {}),
      progress(news) {
        timeout.renew();
        progress?.(news);
      },
      log(_level, data) {
        timeout.renew();
        log?.(data);
      },
      ask: (questions) => timeout.pauseWhile(() => answerAll(questions, answer)),
    };

    try {
      return await this.#connection.relay(method, params, context);
    } catch (error) {
      throw readHallError(error);
    } finally {
      timeout.end();
      scope.close();
    }
  }

  /** All pages of a list. */
  async list(
    method: string,
    field: string,
    options?: ClientRequestOptions,
  ): Promise<readonly JsonObject[]> {
    const items: JsonObject[] = [];
    let cursor: unknown;
    for (let page = 0; page < pagesMax; page++) {
      const result = await this.request(method, cursor === undefined ? {} : { cursor }, options);
      const found = result[field];
      if (Array.isArray(found)) items.push(...found.filter(isObject));
      cursor = result.nextCursor;
      if (cursor === undefined) return items;
    }
    throw new HallError("BAD_ANSWER", `${method} has more than ${pagesMax} pages`);
  }

  listTools(): Promise<readonly JsonObject[]> {
    return this.list("tools/list", "tools");
  }

  listResources(): Promise<readonly JsonObject[]> {
    return this.list("resources/list", "resources");
  }

  listPrompts(): Promise<readonly JsonObject[]> {
    return this.list("prompts/list", "prompts");
  }

  async callTool(
    call: string | NamedCall,
    args?: JsonObject,
    options?: ClientRequestOptions,
  ): Promise<JsonObject> {
    return this.request("tools/call", readNamedCall(call, args), options);
  }

  readResource(uri: string, options?: ClientRequestOptions): Promise<JsonObject> {
    return this.request("resources/read", { uri }, options);
  }

  getPrompt(name: string, args: JsonObject = {}): Promise<JsonObject> {
    return this.request("prompts/get", { name, arguments: args });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function answerAll(
  questions: Questions,
  answer: AnswerQuestion | undefined,
): Promise<Readonly<Record<string, JsonObject>>> {
  const answers: Record<string, JsonObject> = {};
  for (const [key, { method, params }] of Object.entries(questions)) {
    if (!answer || method !== "elicitation/create")
      throw new HallError("MISSING_CAPABILITY", `this client does not support ${method}`);
    answers[key] = await answer(params ?? {});
  }
  return answers;
}

function timeoutError(method: string, ms: number, why: "silent" | "long"): HallError {
  const limit = ms >= 3_600_000 ? `${ms / 3_600_000} h` : `${ms / 1_000} s`;
  const message =
    why === "silent"
      ? `${method}: no message for ${limit}`
      : `${method}: still running after ${limit}`;
  return new HallError("TIMEOUT", message, {
    hint: "Work done so far is kept. Ask for less at once.",
  });
}
