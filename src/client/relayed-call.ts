import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { escapeCommands, escapeCommandsIn } from "../base/sanitize.ts";
import { Scope } from "../base/scope.ts";
import { SlotMap } from "../base/slot-map.ts";
import {
  type CallContext,
  type ClientLink,
  elapsedKey,
  type LogLevel,
  logLevels,
  type Progress,
  type Question,
  type Questions,
} from "../tool.ts";
import type { Notification, Request } from "../wire/message.ts";
import { askedBy, isAskable } from "./questions.ts";

/** A call that a connection relays to its server: passes progress, logs and questions back to the caller. */
export class RelayedCall implements Pick<CallContext, "progress" | "log" | "ask"> {
  readonly #caller: CallContext;
  readonly #server: string | undefined;
  /** Created for the first question: most calls ask none. */
  #asking: Scope | undefined;
  /** Set if the server asked something that the caller cannot answer. */
  unaskable: HallError | undefined;
  /** The id of its request on the connection. */
  id: number | undefined;
  hasEnded = false;

  constructor(caller: CallContext, server: string | undefined) {
    this.#caller = caller;
    this.#server = server;
  }

  /** The client that made the call. */
  get connection(): string | undefined {
    return this.#caller.caller?.connection;
  }

  get link(): ClientLink | undefined {
    return this.#caller.caller?.link;
  }

  /** True if the client supports this kind of question, in at least one form. */
  supports(method: Question["method"]): boolean {
    return isObject(this.#caller.capabilities?.[method.split("/")[0] ?? ""]);
  }

  progress(progress: Progress): void {
    const { message } = progress;
    if (this.#server === undefined || message === undefined) this.#caller.progress(progress);
    else this.#caller.progress({ ...progress, message: escapeCommands(message) });
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    this.#caller.log(level, data, logger);
  }

  async ask(questions: Questions, withdrawn?: Scope): ReturnType<CallContext["ask"]> {
    this.#asking ??= new Scope();
    const named = this.#server === undefined ? questions : askedBy(this.#server, questions);
    // The question is withdrawn when its call ends or the server cancels it.
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

  /** Stops the clock of the call. */
  pauseWhile(asking: Promise<unknown>): void {
    const over = asking.catch(() => {});
    void this.#caller.scope.pauseWhile(() => over);
  }

  end(): void {
    this.hasEnded = true;
    this.#asking?.cancel(new HallError("CANCELLED", "the call has ended"));
  }
}

/** A message of a server; HTTP knows on which request's stream it came. */
type Owned = Pick<Request, "owner">;

/** The most URL flows whose end a connection waits for. */
const flowsMax = 1_000;

/** The calls that run on a connection, the clients behind them, and what the server sends to either. */
export class RelayedCalls {
  readonly #server: string | undefined;
  readonly #running = new SlotMap<number, RelayedCall>();
  /** Clients with a session that have used the connection. */
  readonly #clients = new Set<ClientLink>();
  /** Clients that were sent to a web page, by `elicitationId`. */
  readonly #flows = new Map<string, ClientLink>();

  constructor(server: string | undefined) {
    this.#server = server;
  }

  start(token: number, caller: CallContext): RelayedCall {
    const call = new RelayedCall(caller, this.#server);
    this.#running.set(token, call);
    const link = caller.caller?.link;
    if (link && !this.#clients.has(link)) {
      this.#clients.add(link);
      link.onClosed(() => this.#clients.delete(link));
    }
    return call;
  }

  end(token: number, call: RelayedCall): void {
    this.#running.delete(token);
    call.end();
  }

  /** True if no other client has a call on the connection. */
  isFreeFor(connection: string | undefined): boolean {
    return this.#running.values().every((call) => call.connection === connection);
  }

  /** True if the client has used the connection. */
  isUsedBy(link: ClientLink): boolean {
    return this.#clients.has(link);
  }

  progress(notification: Notification, lspCompat: boolean): void {
    const { params = {} } = notification;
    const { progressToken: token } = params;
    const progress = readProgress(params);
    if (!progress) return;
    if (typeof token === "number") this.#running.get(token)?.progress(progress);
    else if (lspCompat && typeof token === "string")
      this.#ownerByToken(token, notification)?.progress(progress);
  }

  /** Outside of calls a log message is for all clients that use the connection, if they are one person's. */
  log(notification: Notification): void {
    const { data, ...params } = notification.params ?? {};
    const level = logLevels.find((known) => known === params.level) ?? "info";
    const logger = typeof params.logger === "string" ? params.logger : undefined;
    const server = this.#server;
    const name = server !== undefined && logger !== undefined ? `${server}/${logger}` : server;
    const said = server === undefined ? data : escapeCommandsIn(data);
    const shown = name === undefined ? logger : escapeCommands(name);
    if (this.#running.size > 0) this.#ownerOf(notification)?.log(level, said, shown);
    else if (notification.owner === undefined && this.#isOnePerson())
      for (const client of this.#clients) client.log(level, said, shown);
  }

  /** Passes the end of a URL flow to the client that was sent there. */
  elicitationDone(params: JsonObject): void {
    const id = String(params.elicitationId);
    // The error that names the flow may have come in the same read, and is handled after it.
    setImmediate(() => {
      this.#flows.get(id)?.notify("notifications/elicitation/complete", params);
      this.#flows.delete(id);
    });
  }

  /** Remembers the web pages that an error sends the client to (-32042). */
  sentTo(data: unknown, { link }: RelayedCall): void {
    const flows = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
    for (const flow of flows) if (isObject(flow)) this.#addFlow(flow, link);
  }

  /** Answers a request of an older server: a question for the client whose call caused it. */
  async answer(
    request: Request,
    scope: Scope,
    progress: (params: JsonObject) => void,
  ): Promise<unknown> {
    const { id, method, params } = request;
    if (method === "ping") return {};
    if (!isAskable(method)) throw new HallError("METHOD_NOT_FOUND", `Method not found: ${method}`);
    const question = { method, params, ...progressOf(params, progress) };
    const call = this.#ownerOf(request);
    // A key per question: a server may ask several at once.
    const key = `question ${id}`;
    if (!call) return (await this.#askOutside({ [key]: question }, scope))[key];
    if (params?.mode === "url") this.#addFlow(params, call.link);
    try {
      const asking = call.ask({ [key]: question }, scope);
      if (request.owner === undefined) this.#pauseOthers(call, asking);
      return (await scope.race(asking))[key];
    } catch (error) {
      // The call that was asked has ended, so the question belongs to another call of the same client: ask that
      // one.
      if (call.hasEnded && !scope.cancelReason && this.#ownerOf(request))
        return this.answer(request, scope, progress);
      throw error instanceof HallError && error.code === "MISSING_CAPABILITY"
        ? refuseLegacy(error.message, call.supports(method))
        : error;
    }
  }

  /** Any call of the client may be the one that waits for the answer. */
  #pauseOthers(asked: RelayedCall, asking: Promise<unknown>): void {
    for (const call of this.#running.values()) if (call !== asked) call.pauseWhile(asking);
  }

  /** Roots may be asked for at any time. They are those of the only client that uses the connection. */
  async #askOutside(questions: Questions, scope: Scope): ReturnType<CallContext["ask"]> {
    const [question] = Object.values(questions);
    const [client] = this.#clients;
    const isOnly = client && this.#clients.size === 1 && this.#running.size === 0;
    if (isOnly && question?.method === "roots/list")
      return scope.race(client.ask(questions, scope));
    throw new HallError(
      "METHOD_NOT_FOUND",
      this.#running.size > 0
        ? `${question?.method} does not say which of several clients it is for`
        : `${question?.method} belongs to no running call`,
    );
  }

  #addFlow({ elicitationId }: JsonObject, link: ClientLink | undefined): void {
    if (typeof elicitationId !== "string" || !link) return;
    const [oldest] = this.#flows.keys();
    if (this.#flows.size >= flowsMax && oldest !== undefined) this.#flows.delete(oldest);
    this.#flows.set(elicitationId, link);
  }

  #isOnePerson(): boolean {
    const [first] = this.#clients;
    for (const { principal } of this.#clients) if (principal !== first?.principal) return false;
    return true;
  }

  /**
   * The call that a server's message belongs to. stdio does not say: it is the last call of the only
   * client that has any. Undefined while several clients have: a message for one must not reach
   * another.
   */
  #ownerOf({ owner }: Owned): RelayedCall | undefined {
    if (owner !== undefined) return this.#running.get(owner);
    const calls = this.#running.values();
    const last = calls.at(-1);
    return calls.every(({ connection }) => connection === last?.connection) ? last : undefined;
  }

  /**
   * The call that progress under a server's own token belongs to: by the stream it came on, by the
   * request id in the token (`tool-3`), or because nothing else runs. Undefined where it is a guess.
   */
  #ownerByToken(token: string, { owner }: Owned): RelayedCall | undefined {
    if (owner !== undefined) return this.#running.get(owner);
    const calls = this.#running.values();
    return (
      calls.find(({ id }) => token === `tool-${id}`) ?? (calls.length === 1 ? calls[0] : undefined)
    );
  }
}

/** Up to 2025-11-25 an unsupported question is an unknown method, an unsupported form of it invalid. */
function refuseLegacy(message: string, isSupported: boolean): HallError {
  const code = isSupported ? -32602 : -32601;
  return new HallError("EXECUTION", message, { relayed: { code, message } });
}

/** The client's progress on a question, for a server that asked for it. */
function progressOf(
  params: JsonObject | undefined,
  tell: (params: JsonObject) => void,
): Pick<Question, "progress"> {
  const token = isObject(params?._meta) ? params._meta.progressToken : undefined;
  if (token === undefined) return {};
  return { progress: (news) => tell({ ...news, progressToken: token }) };
}

function readProgress(params: JsonObject): Progress | undefined {
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

/** Params with `_meta` as the connection and its version expect it. */
export function withMeta(
  params: JsonObject,
  meta: JsonObject | undefined,
  envelope: JsonObject | undefined,
): JsonObject {
  if (!meta && !envelope) return params;
  const own = isObject(params._meta) ? params._meta : undefined;
  // Object.assign: a spread followed by a field costs more on Node 20 than all else done per call.
  return Object.assign({}, params, {
    _meta: own || envelope ? { ...own, ...envelope, ...meta } : meta,
  });
}

/** The capabilities of the client behind a call: a modern server must not ask or use more. */
export function askable(capabilities: JsonObject = {}): JsonObject {
  const { elicitation, sampling, roots, extensions } = capabilities;
  return {
    ...(isObject(elicitation) ? { elicitation } : {}),
    ...(isObject(sampling) ? { sampling } : {}),
    ...(isObject(roots) ? { roots: {} } : {}),
    ...(isObject(extensions) ? { extensions } : {}),
  };
}

/** Removes the fields of a modern result that concern only this hop. */
export function stripEnvelope(result: JsonObject): JsonObject {
  if (result.resultType === undefined) return result;
  if (result.resultType !== "complete")
    throw new HallError("BAD_ANSWER", `unknown result type ${JSON.stringify(result.resultType)}`);
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, _meta, ...body } = result;
  const { "io.modelcontextprotocol/serverInfo": _info, ...meta } = isObject(_meta) ? _meta : {};
  return Object.keys(meta).length > 0 ? { ...body, _meta: meta } : body;
}

/** Keys of the hall's own in `_meta` are removed from a server's results: no server speaks for us. */
export function stripHallMeta(result: JsonObject): JsonObject {
  if (!isObject(result._meta)) return result;
  const isOurs = (key: string): boolean => key.startsWith("guildhall/");
  const { _meta, ...body } = result;
  if (!Object.keys(_meta).some(isOurs)) return result;
  const meta = Object.entries(_meta).filter(([key]) => !isOurs(key));
  return meta.length > 0 ? { ...body, _meta: Object.fromEntries(meta) } : body;
}
