import { errorTable, HallError } from "../base/errors.ts";
import { FleetingMap } from "../base/fleeting-map.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import {
  type CallContext,
  elapsedKey,
  type ListKind,
  type LogLevel,
  logLevels,
  type Progress,
  type Questions,
} from "../tool.ts";
import type { Reply } from "../wire/answers.ts";
import type { Channel } from "../wire/channel.ts";
import type { Limits } from "../wire/limits.ts";
import { isId, type Notification, type Request } from "../wire/message.ts";
import { Peer } from "../wire/peer.ts";
import { ownerKey } from "./answer-body.ts";
import { envelope, type Greeting, type GreetOptions, greet } from "./handshake.ts";
import { createListening } from "./listening.ts";
import { askedBy, readQuestions } from "./questions.ts";
import type { Pace } from "./retry-after.ts";

/**
 * Our end of an open line to an upstream, whatever its era and transport. Requests go out with what its era wants on
 * them; what comes back on the side (progress, logs, questions) finds the call it belongs to.
 */
export interface Line {
  readonly greeting: Greeting;
  /** Relays a request of a client. Questions the upstream asks meanwhile go to that client. */
  relay(method: string, params: JsonObject, context: CallContext): Promise<JsonObject>;
  /** Sends a request of our own: lists, subscriptions. */
  request(method: string, params: JsonObject, scope: Scope): Promise<JsonObject>;
  /** Asks a modern server to tell of changes: of its lists, and of these resources. Again for another set of resources. */
  listen(uris: readonly string[]): void;
  /** True once the other side is gone, which is heard of before the reason. */
  readonly isLost: boolean;
  readonly runningCount: number;
  /** Lines it wrote that were no messages. */
  readonly junkCount: number;
  /** Says goodbye to a server with the ways of a language server: `shutdown`, and `exit` once it agreed. Never throws. */
  leave(scope: Scope): Promise<void>;
  close(): Promise<void>;
}

export interface LineOptions extends GreetOptions {
  readonly limits: Limits;
  readonly log: Log;
  /** Only for lines on which a server can ask for a pause. */
  readonly pace?: Pace | undefined;
  /**
   * Some legacy servers have the ways of language servers: they hear `$/cancelRequest`, and send progress under tokens of their own.
   * Default false: behind a hall a call that runs alone may be one of another client.
   */
  readonly hasLanguageWays?: boolean | undefined;
  /** The name its questions are passed on under. Default none: who is asked knows whom they speak to. */
  readonly name?: string | undefined;
  listChanged(kind: ListKind): void;
  resourceUpdated(uri: string): void;
  closed(): void;
}

const roundsMax = 16;

export async function openLine(channel: Channel, options: LineOptions): Promise<Line> {
  const running = new FleetingMap<number, RelayedCall>();
  const { pace } = options;
  let nextToken = 0;
  let isLost = false;

  let isModern = false;
  const listening = createListening({
    log: options.log,
    isLost: () => isLost,
    send: (params, scope) => send("subscriptions/listen", params, scope),
  });
  const peer = new Peer(channel, {
    limits: options.limits,
    ignoresJunk: true,
    handle: (request, exchange) => {
      if (isModern) throw new HallError("METHOD_NOT_FOUND", "a modern server asks in its answers");
      return answerUpstream(request, ownerOf(request, running), exchange.scope);
    },
    notified: (notification) => {
      const { method, params = {} } = notification;
      if (method === "notifications/subscriptions/acknowledged") listening.acknowledged();
      else if (method !== "notifications/cancelled") hear(notification, running, options);
      else if (isId(params.requestId))
        peer.cancel(
          params.requestId,
          new HallError("CANCELLED", "the server withdrew its question"),
        );
    },
    explain: explainToUpstream,
    withdrawal: (requestId, reason) => {
      if (options.hasLanguageWays && !isModern) peer.notify("$/cancelRequest", { id: requestId });
      return { method: "notifications/cancelled", params: { requestId, reason } };
    },
    ended: () => {
      isLost = true;
      void channel.close();
    },
    closed: () => {
      isLost = true;
      options.closed();
    },
  });
  const greeting = await greet(peer, options);
  isModern = greeting.era === "modern";

  function send(
    method: string,
    params: JsonObject,
    scope: Scope,
    { meta, capabilities, named }: Manner = {},
  ): Promise<unknown> {
    const body = dress(params, meta, isModern ? envelope(capabilities) : undefined);
    return pace
      ? pace(scope, () => peer.request(method, body, { scope, named }))
      : peer.request(method, body, { scope, named });
  }

  let level: LogLevel | undefined;

  /** A legacy server has one level for all: the most talkative that any client wants. Each client's own is kept in the hall. */
  function raiseLevel(wanted: LogLevel | undefined): void {
    if (wanted === undefined || !greeting.capabilities.logging) return;
    if (level !== undefined && logLevels.indexOf(level) <= logLevels.indexOf(wanted)) return;
    level = wanted;
    peer
      .request("logging/setLevel", { level }, { timeoutMs: 10_000 })
      .catch((error: unknown) => options.log.debug({ err: error }, "logging/setLevel refused"));
  }

  return {
    greeting,
    listen(uris) {
      if (isModern) listening.listen(uris);
    },
    request: async (method, params, scope) => readResult(method, await send(method, params, scope)),
    async relay(method, params, caller) {
      const progressToken = ++nextToken;
      const context = new RelayedCall(caller, options.name);
      running.set(progressToken, context);
      const { logLevel } = caller;
      const meta = {
        ...caller.meta,
        progressToken,
        ...(isModern && logLevel ? { "io.modelcontextprotocol/logLevel": logLevel } : undefined),
      };
      if (!isModern) raiseLevel(logLevel);
      try {
        const named = (id: number): void => {
          context.id = id;
        };
        const manner: Manner = {
          meta,
          named,
          capabilities: isModern ? askable(caller.capabilities) : undefined,
        };
        let result = readResult(method, await send(method, params, caller.scope, manner));
        for (let round = 0; result.resultType === "input_required"; round++) {
          if (round === roundsMax)
            throw new HallError(
              "BAD_ANSWER",
              `${method} asked for input ${roundsMax} times in a row`,
            );
          // Nothing is on the line meanwhile that a cancel could end.
          const inputResponses = await caller.scope.race(
            context.ask(readQuestions(result.inputRequests)),
          );
          const requestState =
            result.requestState === undefined ? {} : { requestState: result.requestState };
          result = readResult(
            method,
            await send(
              method,
              { ...params, inputResponses, ...requestState },
              caller.scope,
              manner,
            ),
          );
        }
        // The upstream could not go on without an answer: the client is told what it would need, not how the upstream put it.
        if (context.unaskable && result.isError) throw context.unaskable;
        const body = withoutEnvelope(result);
        return options.name === undefined ? body : withoutOurWords(body);
      } finally {
        running.delete(progressToken);
        context.end();
      }
    },
    get isLost() {
      return isLost;
    },
    get runningCount() {
      return running.size;
    },
    get junkCount() {
      return peer.counts.invalid + peer.counts.strayAnswers;
    },
    async leave(scope) {
      if (isModern || isLost) return;
      // Most do not know it, and say so.
      const isAgreed = await peer.request("shutdown", undefined, { scope }).then(
        () => true,
        () => false,
      );
      if (isAgreed) peer.notify("exit", undefined);
    },
    close() {
      listening.close();
      return channel.close();
    },
  };
}

/** What goes with the params of a request, by its era and by who sends it. */
interface Manner {
  readonly meta?: JsonObject | undefined;
  readonly capabilities?: JsonObject | undefined;
  readonly named?: ((id: number) => void) | undefined;
}

/** A call on its way through a line: what its caller offers, with questions that end when the call does. */
class RelayedCall implements Pick<CallContext, "progress" | "log" | "ask"> {
  readonly #caller: CallContext;
  readonly #server: string | undefined;
  /** Made for the first question: most calls ask none. */
  #asking: Scope | undefined;
  unaskable: HallError | undefined;
  /** The id of its request on the line. */
  id: number | undefined;

  constructor(caller: CallContext, server: string | undefined) {
    this.#caller = caller;
    this.#server = server;
  }

  get principal(): string | undefined {
    return this.#caller.caller?.principal;
  }

  progress(progress: Progress): void {
    this.#caller.progress(progress);
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    this.#caller.log(level, data, logger);
  }

  ask(questions: Questions, withdrawn?: Scope): ReturnType<CallContext["ask"]> {
    this.#asking ??= new Scope();
    const told = this.#server === undefined ? questions : askedBy(this.#server, questions);
    return askWithin(this.#asking, withdrawn, (asked) => this.#caller.ask(told, asked)).catch(
      (error: unknown) => {
        if (error instanceof HallError && error.code === "MISSING_CAPABILITY")
          this.unaskable = error;
        throw error;
      },
    );
  }

  end(): void {
    this.#asking?.cancel(new HallError("CANCELLED", "the call is over"));
  }
}

/** Params with everything in their `_meta` that the line and its era want there. */
function dress(
  params: JsonObject,
  meta: JsonObject | undefined,
  envelope: JsonObject | undefined,
): JsonObject {
  if (!meta && !envelope) return params;
  const own = isObject(params._meta) ? params._meta : undefined;
  // Not a spread with a field after it: on Node 20 that costs more than all else that is done here for a call.
  return Object.assign({}, params, {
    _meta: own || envelope ? { ...own, ...envelope, ...meta } : meta,
  });
}

function readResult(method: string, result: unknown): JsonObject {
  if (isObject(result)) return result;
  throw new HallError("BAD_ANSWER", `${method} was answered with something that is not an object`);
}

/** What the client behind a call can be asked: a modern upstream must not ask for more. */
function askable(capabilities: JsonObject = {}): JsonObject {
  const { elicitation, sampling, roots } = capabilities;
  return {
    ...(isObject(elicitation) ? { elicitation } : {}),
    ...(isObject(sampling) ? { sampling } : {}),
    ...(isObject(roots) ? { roots: {} } : {}),
  };
}

/** What a modern result says only to us; the client's era puts its own on. */
function withoutEnvelope(result: JsonObject): JsonObject {
  if (result.resultType === undefined) return result;
  if (result.resultType !== "complete")
    throw new HallError(
      "BAD_ANSWER",
      `the result type ${JSON.stringify(result.resultType)} is not known`,
    );
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, _meta, ...body } = result;
  const { "io.modelcontextprotocol/serverInfo": _info, ...meta } = isObject(_meta) ? _meta : {};
  return Object.keys(meta).length > 0 ? { ...body, _meta: meta } : body;
}

/** What the hall says of a result stands in `_meta` under its own name: nobody else says it. */
function withoutOurWords(result: JsonObject): JsonObject {
  const { _meta, ...body } = result;
  if (!isObject(_meta) || !Object.keys(_meta).some(isOurs)) return result;
  const meta = Object.entries(_meta).filter(([key]) => !isOurs(key));
  return meta.length > 0 ? { ...body, _meta: Object.fromEntries(meta) } : body;
}

function isOurs(key: string): boolean {
  return key.startsWith("guildhall/");
}

type Running = Pick<FleetingMap<number, RelayedCall>, "get" | "values">;

/**
 * The call that something from the server belongs to. stdio does not say it; with several running it is most likely the last one. Undefined while
 * they are of several people: what is meant for one must not reach another.
 */
function ownerOf(
  { params }: { readonly params: JsonObject | undefined },
  running: Running,
): RelayedCall | undefined {
  const owner = isObject(params?._meta) ? params._meta[ownerKey] : undefined;
  if (typeof owner === "number") return running.get(owner);
  const calls = running.values();
  const last = calls.at(-1);
  return calls.every(({ principal }) => principal === last?.principal) ? last : undefined;
}

/**
 * The call that progress under a token of the server's own belongs to, where that can be known: by the stream it came on, by the id of
 * the request in the token (`tool-3`), or because nothing else runs. Undefined where it would be a guess.
 */
function ownerByToken(
  token: string,
  { _meta }: JsonObject,
  running: Running,
): RelayedCall | undefined {
  const owner = isObject(_meta) ? _meta[ownerKey] : undefined;
  if (typeof owner === "number") return running.get(owner);
  const calls = running.values();
  return (
    calls.find(({ id }) => token === `tool-${id}`) ?? (calls.length === 1 ? calls[0] : undefined)
  );
}

/** A question is open for as long as its call runs and the server wants to know. */
function askWithin<T>(
  call: Scope,
  withdrawn: Scope | undefined,
  ask: (asked: Scope) => Promise<T>,
): Promise<T> {
  const asked = new Scope(call);
  const leave = withdrawn?.onCancel((reason) => asked.cancel(reason));
  return ask(asked).finally(() => {
    leave?.();
    asked.close();
  });
}

/** What the transport has noted for us is not the client's business. */
function withoutOwner(params: JsonObject): JsonObject {
  if (!isObject(params._meta) || !(ownerKey in params._meta)) return params;
  const { _meta, ...rest } = params;
  const { [ownerKey]: _owner, ...meta } = _meta as JsonObject;
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}

async function answerUpstream(
  { id, method, params }: Request,
  call: RelayedCall | undefined,
  scope: Scope,
): Promise<unknown> {
  switch (method) {
    case "ping":
      return {};
    case "elicitation/create":
    case "sampling/createMessage":
    case "roots/list": {
      if (!call) throw new HallError("METHOD_NOT_FOUND", `${method} belongs to no running call`);
      // A key of its own: a server may ask several things at once.
      const key = `question ${id}`;
      const answers = await scope.race(
        call.ask({ [key]: { method, ...(params ? { params: withoutOwner(params) } : {}) } }, scope),
      );
      return answers[key];
    }
    default:
      throw new HallError("METHOD_NOT_FOUND", `Method not found: ${method}`);
  }
}

function hear(notification: Notification, running: Running, options: LineOptions): void {
  const { method, params = {} } = notification;
  switch (method) {
    case "notifications/progress": {
      const { progressToken, progress, total, message } = params;
      const known = typeof progressToken === "number" ? running.get(progressToken) : undefined;
      const context =
        known ??
        (options.hasLanguageWays && typeof progressToken === "string"
          ? ownerByToken(progressToken, params, running)
          : undefined);
      if (typeof progress === "number") {
        context?.progress({
          progress,
          ...(typeof total === "number" ? { total } : {}),
          ...(typeof message === "string" ? { message } : {}),
          ...readElapsed(params),
        });
      }
      return;
    }
    case "notifications/message": {
      const level: LogLevel = logLevels.find((known) => known === params.level) ?? "info";
      ownerOf(notification, running)?.log(
        level,
        params.data,
        typeof params.logger === "string" ? params.logger : undefined,
      );
      return;
    }
    case "notifications/tools/list_changed":
      options.listChanged("tools");
      return;
    case "notifications/resources/list_changed":
      options.listChanged("resources");
      return;
    case "notifications/prompts/list_changed":
      options.listChanged("prompts");
      return;
    case "notifications/resources/updated":
      if (typeof params.uri === "string") options.resourceUpdated(params.uri);
      return;
    default:
      options.log.debug({ method }, "notification not used");
  }
}

/** A refusal goes to the upstream as the client said it. */
function explainToUpstream(failure: unknown): Reply {
  if (!(failure instanceof HallError))
    return { error: { code: -32603, message: "something went wrong inside the hall" } };
  return {
    error: failure.relayed ?? { code: errorTable[failure.code].request, message: failure.message },
  };
}

/** The time the work has taken so far, where a hall at the other end reports it. */
export function readElapsed({ _meta }: JsonObject): { elapsedSeconds?: number } {
  const seconds = isObject(_meta) ? _meta[elapsedKey] : undefined;
  return typeof seconds === "number" ? { elapsedSeconds: seconds } : {};
}
