import { setTimeout as sleep } from "node:timers/promises";
import { errorTable, HallError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import { type CallContext, type ListKind, type LogLevel, logLevels, type Questions } from "../tool.ts";
import type { Channel } from "../wire/channel.ts";
import type { Limits } from "../wire/limits.ts";
import type { Notification, Request } from "../wire/message.ts";
import { Peer, type Reply } from "../wire/peer.ts";
import { envelope, type Greeting, type GreetOptions, greet } from "./greeting.ts";

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
  readonly runningCount: number;
  /** Lines it wrote that were no messages. */
  readonly junkCount: number;
  close(): Promise<void>;
}

export interface LineOptions extends GreetOptions {
  readonly limits: Limits;
  readonly log: Log;
  listChanged(kind: ListKind): void;
  resourceUpdated(uri: string): void;
  closed(): void;
}

const roundsMax = 16;
const listenFailuresMax = 5;
const listenHealthyMs = 10_000;
const listenAgainMs = 1_000;

export async function openLine(channel: Channel, options: LineOptions): Promise<Line> {
  const running = new Map<number, CallContext>();
  let nextToken = 0;

  const peer = new Peer(channel, {
    limits: options.limits,
    ignoresJunk: true,
    handle: (request, exchange) => answerUpstream(request, newest(running), exchange.scope),
    notified: (notification) => hear(notification, running, options),
    explain: explainToUpstream,
    withdrawal: (requestId, reason) => ({ method: "notifications/cancelled", params: { requestId, reason } }),
    ended: () => void channel.close(),
    closed: options.closed,
  });
  const greeting = await greet(peer, options);
  const isModern = greeting.era === "modern";

  async function send(method: string, params: JsonObject, scope: Scope, meta: JsonObject, capabilities?: JsonObject): Promise<JsonObject> {
    const _meta = { ...(isObject(params._meta) ? params._meta : {}), ...(isModern ? envelope(capabilities) : {}), ...meta };
    const result = await peer.request(method, { ...params, ...(Object.keys(_meta).length > 0 ? { _meta } : {}) }, { scope });
    if (!isObject(result)) throw new HallError("BAD_ANSWER", `${method} was answered with something that is not an object`);
    return result;
  }

  let level: LogLevel | undefined;

  /** A legacy server has one level for all: the most talkative that any client wants. Each client's own is kept in the hall. */
  function raiseLevel(wanted: LogLevel | undefined): void {
    if (wanted === undefined || !greeting.capabilities.logging) return;
    if (level !== undefined && logLevels.indexOf(level) <= logLevels.indexOf(wanted)) return;
    level = wanted;
    peer.request("logging/setLevel", { level }, { timeoutMs: 10_000 }).catch((error: unknown) => options.log.debug({ err: error }, "logging/setLevel refused"));
  }

  let listening: Scope | undefined;

  /** One standing request; opened again when it ends by itself, for as long as the line is there. */
  async function keepListening(uris: readonly string[], scope: Scope): Promise<void> {
    const notifications = {
      toolsListChanged: true,
      resourcesListChanged: true,
      promptsListChanged: true,
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    };
    for (let failures = 0; !scope.cancelled && failures < listenFailuresMax; failures++) {
      const started = performance.now();
      try {
        await send("subscriptions/listen", { notifications }, scope, {});
      } catch (error) {
        options.log.debug({ err: error }, "subscriptions/listen ended");
      }
      if (performance.now() - started > listenHealthyMs) failures = 0;
      await sleep(listenAgainMs, undefined, { ref: false });
    }
  }

  return {
    greeting,
    listen(uris) {
      if (!isModern) return;
      listening?.cancel(new HallError("CANCELLED", "listening for something else"));
      listening = new Scope();
      void keepListening(uris, listening);
    },
    request: (method, params, scope) => send(method, params, scope, {}),
    async relay(method, params, caller) {
      const progressToken = ++nextToken;
      let unaskable: HallError | undefined;
      const context: CallContext = {
        ...caller,
        ask: (questions) =>
          caller.ask(questions).catch((error: unknown) => {
            if (error instanceof HallError && error.code === "MISSING_CAPABILITY") unaskable = error;
            throw error;
          }),
      };
      running.set(progressToken, context);
      const meta = { ...context.meta, progressToken, ...(isModern && context.logLevel ? { "io.modelcontextprotocol/logLevel": context.logLevel } : {}) };
      if (!isModern) raiseLevel(context.logLevel);
      try {
        const capabilities = askable(context.capabilities);
        let result = await send(method, params, context.scope, meta, capabilities);
        for (let round = 0; result.resultType === "input_required"; round++) {
          if (round === roundsMax) throw new HallError("BAD_ANSWER", `${method} asked for input ${roundsMax} times in a row`);
          const inputResponses = isObject(result.inputRequests) ? await context.ask(result.inputRequests as Questions) : {};
          const requestState = result.requestState === undefined ? {} : { requestState: result.requestState };
          result = await send(method, { ...params, inputResponses, ...requestState }, context.scope, meta, capabilities);
        }
        // The upstream could not go on without an answer: the client is told what it would need, not how the upstream put it.
        if (unaskable && result.isError) throw unaskable;
        return withoutEnvelope(result);
      } finally {
        running.delete(progressToken);
      }
    },
    get runningCount() {
      return running.size;
    },
    get junkCount() {
      return peer.counts.invalid + peer.counts.strayAnswers;
    },
    close() {
      listening?.cancel(new HallError("CANCELLED", "the line is closed"));
      return channel.close();
    },
  };
}

/** What the client behind a call can be asked: a modern upstream must not ask for more. */
function askable(capabilities: JsonObject = {}): JsonObject {
  const { elicitation, sampling, roots } = capabilities;
  return { ...(isObject(elicitation) ? { elicitation } : {}), ...(isObject(sampling) ? { sampling } : {}), ...(isObject(roots) ? { roots: {} } : {}) };
}

/** What a modern result says only to us; the client's era puts its own on. */
function withoutEnvelope(result: JsonObject): JsonObject {
  if (result.resultType === undefined) return result;
  if (result.resultType !== "complete") throw new HallError("BAD_ANSWER", `the result type ${JSON.stringify(result.resultType)} is not known`);
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, _meta, ...body } = result;
  const { "io.modelcontextprotocol/serverInfo": _info, ...meta } = isObject(_meta) ? _meta : {};
  return Object.keys(meta).length > 0 ? { ...body, _meta: meta } : body;
}

/** stdio does not say which call a question belongs to; with several running it is most likely the last one. */
function newest(running: ReadonlyMap<number, CallContext>): CallContext | undefined {
  return [...running.values()].at(-1);
}

async function answerUpstream({ method, params }: Request, context: CallContext | undefined, scope: Scope): Promise<unknown> {
  switch (method) {
    case "ping":
      return {};
    case "elicitation/create":
    case "sampling/createMessage":
    case "roots/list": {
      if (!context) throw new HallError("METHOD_NOT_FOUND", `${method} belongs to no running call`);
      const { answer } = await scope.race(context.ask({ answer: { method, ...(params ? { params } : {}) } }));
      return answer;
    }
    default:
      throw new HallError("METHOD_NOT_FOUND", `Method not found: ${method}`);
  }
}

function hear({ method, params = {} }: Notification, running: ReadonlyMap<number, CallContext>, options: LineOptions): void {
  switch (method) {
    case "notifications/progress": {
      const { progressToken, progress, total, message } = params;
      const context = typeof progressToken === "number" ? running.get(progressToken) : undefined;
      if (typeof progress === "number") {
        context?.progress({ progress, ...(typeof total === "number" ? { total } : {}), ...(typeof message === "string" ? { message } : {}) });
      }
      return;
    }
    case "notifications/message": {
      const level: LogLevel = logLevels.find((known) => known === params.level) ?? "info";
      newest(running)?.log(level, params.data, typeof params.logger === "string" ? params.logger : undefined);
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
  if (!(failure instanceof HallError)) return { error: { code: -32603, message: "something went wrong inside the hall" } };
  return { error: failure.relayed ?? { code: errorTable[failure.code].request, message: failure.message } };
}
