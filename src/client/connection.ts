import { HallError } from "../base/errors.ts";
import { isObject, type JsonObject, TextOutcome } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Scope } from "../base/scope.ts";
import {
  type CallContext,
  type ClientLink,
  type ListKind,
  type LogLevel,
  logLevels,
  type TaskNews,
} from "../tool.ts";
import type { Channel, Limits } from "../wire/channel.ts";
import { isId, type Notification, type Request } from "../wire/message.ts";
import { Peer } from "../wire/peer.ts";
import type { AnswerReader, AskOptions, Exchange, Reply } from "../wire/requests.ts";
import { explainFailure } from "./hall-error.ts";
import { envelope, type Handshake, type HandshakeOptions, shakeHands } from "./handshake.ts";
import { createListening, type Listening } from "./listening.ts";
import { isAskable, readQuestions, urlElicitationRequired } from "./questions.ts";
import {
  askable,
  type RelayedCall,
  RelayedCalls,
  stripEnvelope,
  stripHallMeta,
  withMeta,
} from "./relayed-call.ts";
import type { RetryAfterGate } from "./retry-after.ts";
import { awaitTask, declareTasks, followTask, readTask, type TaskCall } from "./tasks.ts";

/**
 * Our end of a connection to an MCP server, whatever its protocol version and transport. Upstreams,
 * the command line, the terminal client and the author library all use this one. Requests carry
 * what the server's version expects; progress, logs and questions find the call they belong to.
 */
export interface McpConnectionOptions extends Omit<HandshakeOptions, "scope"> {
  /** Receives output of the server that is not a message. */
  readonly junk?: ((text: string) => void) | undefined;
  readonly limits: Limits;
  readonly log?: Log | undefined;
  /** Only for transports on which a server can ask for a pause. */
  readonly retryAfter?: RetryAfterGate | undefined;
  /**
   * Some older servers follow the language server protocol: they expect `$/cancelRequest`, and send
   * progress under tokens of their own. Default false: behind a hall, a call that runs alone may be
   * another client's.
   */
  readonly lspCompat?: boolean | undefined;
  /** The name a server's questions are passed on under. Default none. */
  readonly name?: string | undefined;
  /** Serves requests other than MCP's questions, such as the calls of a registered service. */
  readonly serve?: ((request: Request, exchange: Exchange) => unknown) | undefined;
  /** How a failure is answered to the server. Default: the error table's number and the message. */
  readonly explain?: ((failure: unknown, request: Request | undefined) => Reply) | undefined;
  /** The server asked something without saying for which call. */
  asked?(): void;
  listChanged?(kind: ListKind): void;
  resourceUpdated?(uri: string): void;
  /** The connection was lost; not called after `close`. */
  closed?(): void;
  /** Runs after `close`, for example to stop the process at the other end. */
  release?(): Promise<void>;
}

const inputRoundsMax = 16;

/** Opens a connection and shakes hands. Throws HallError; the channel is then the caller's to close. */
export async function openMcpConnection(
  channel: Channel,
  options: McpConnectionOptions & { readonly scope: Scope },
): Promise<McpConnection> {
  const connection = new McpConnection(channel, options);
  await connection.open(options.scope);
  return connection;
}

export class McpConnection {
  readonly #channel: Channel;
  readonly #options: McpConnectionOptions;
  readonly #peer: Peer;
  readonly #calls: RelayedCalls;
  readonly #listening: Listening;
  /** Listeners for the tasks of an older server. */
  readonly #tasks = new Map<string, (news: TaskNews) => void>();
  #handshake: Handshake | undefined;
  #isModern = false;
  #isLost = false;
  #isClosing = false;
  #nextToken = 0;
  #logLevel: LogLevel | undefined;

  /** Without `open` there is no handshake: for a hall of ours, whose version is known. */
  constructor(channel: Channel, options: McpConnectionOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#calls = new RelayedCalls(options.name);
    this.#listening = createListening({
      log: options.log,
      isLost: () => this.#isLost,
      send: (params, scope) => this.#send("subscriptions/listen", params, scope),
    });
    this.#peer = new Peer(channel, {
      limits: options.limits,
      ignoresJunk: true,
      ...(options.junk ? { junk: options.junk } : {}),
      handle: (request, exchange) => this.#handle(request, exchange),
      notified: (notification) => this.#notified(notification),
      explain: options.explain ?? explainFailure,
      withdrawal: (requestId, reason) => {
        if (options.lspCompat && !this.#isModern)
          this.#peer.notify("$/cancelRequest", { id: requestId });
        return { method: "notifications/cancelled", params: { requestId, reason } };
      },
      ended: () => {
        this.#isLost = true;
        void channel.close();
      },
      closed: () => {
        this.#isLost = true;
        if (!this.#isClosing) options.closed?.();
      },
    });
  }

  async open(scope: Scope): Promise<void> {
    this.#handshake = await shakeHands(this.#peer, { ...this.#options, scope });
    this.#isModern = this.#handshake.era === "modern";
  }

  /** Skips the handshake with a hall of ours: it speaks the newest version. */
  assumeModern(): this {
    this.#isModern = true;
    return this;
  }

  /** Throws INTERNAL before `open`. */
  get handshake(): Handshake {
    if (!this.#handshake) throw new HallError("INTERNAL", "the connection has no handshake");
    return this.#handshake;
  }

  /** True once the other side is gone; the reason may follow later. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Lines from the server that were not messages. */
  get junkCount(): number {
    return this.#peer.junkCount;
  }

  /** True if no other client has a call on it. */
  isFreeFor(connection: string | undefined): boolean {
    return this.#calls.isFreeFor(connection);
  }

  /** Tells an older server what has changed for a client that uses the connection. */
  clientChanged(link: ClientLink, change: { readonly logLevel: LogLevel } | "roots"): void {
    if (this.#isModern || !this.#calls.isUsedBy(link)) return;
    if (change === "roots") this.#peer.notify("notifications/roots/list_changed", undefined);
    else this.#raiseLogLevel(change.logLevel);
  }

  /** Asks a modern server to report changes of its lists and of these resources; resolves with those it accepts. */
  listen(uris: readonly string[]): Promise<readonly unknown[]> {
    return this.#isModern ? this.#listening.listen(uris) : Promise.resolve([]);
  }

  /** Sends a request of our own: lists, subscriptions. */
  async request(method: string, params: JsonObject, scope: Scope): Promise<JsonObject> {
    return readResult(method, await this.#send(method, params, scope));
  }

  /** Sends a request of another dialect than MCP: nothing is added to its params. */
  async requestPlain(
    method: string,
    params: JsonObject,
    { scope, timeoutMs }: { readonly scope?: Scope; readonly timeoutMs?: number },
  ): Promise<unknown> {
    return this.#peer.request(method, params, { scope, timeoutMs });
  }

  /** Relays a client's request. Questions the server asks meanwhile go to that client. */
  relay(
    method: string,
    params: JsonObject,
    caller: CallContext,
    taskSupport?: unknown,
  ): Promise<JsonObject> {
    const progressToken = ++this.#nextToken;
    const call = this.#calls.start(progressToken, caller);
    if (!this.#isModern) this.#raiseLogLevel(caller.logLevel);

    const extras: RequestExtras = {
      meta: this.#metaFor(caller, progressToken),
      capabilities: this.#isModern
        ? declareTasks(askable(caller.capabilities), caller, this.#handshake)
        : undefined,
      call,
    };
    const reader: AnswerReader<JsonObject> = {
      answered: (answer) => {
        if (isObject(answer) && isUnfinished(answer))
          return this.#finish(answer, { method, params, caller, call, extras }, progressToken);
        this.#calls.end(progressToken, call);
        return this.#conclude(readResult(method, answer), call);
      },
      // A result of text only has no `_meta` and no error that we would have to read, so it is not parsed.
      readUnparsed: (json) => {
        const outcome = caller.takesText ? TextOutcome.read(json) : undefined;
        if (outcome) this.#calls.end(progressToken, call);
        return outcome;
      },
      failed: (error) => this.#endFailed(error, call, progressToken),
    };
    const asTask =
      taskSupport === "required" || (taskSupport === "optional" && caller.task !== undefined);
    const argumentsText = writtenArguments(params, caller);
    const isTask = asTask && !this.#isModern;
    // Without tasks and retries there is only one answer, so the reader can be passed on and no promise is
    // added.
    if (!isTask && !this.#options.retryAfter)
      return this.#send(method, params, caller.scope, extras, { argumentsText, reader });
    const sent = isTask
      ? this.#runAsTask(params, caller, { call, extras })
      : this.#send(method, params, caller.scope, extras, { argumentsText });
    return sent.then(reader.answered, (error) => Promise.reject(reader.failed(error)));
  }

  #metaFor({ meta, logLevel }: CallContext, progressToken: number): JsonObject {
    if (this.#isModern && logLevel)
      return { ...meta, progressToken, "io.modelcontextprotocol/logLevel": logLevel };
    return meta ? { ...meta, progressToken } : { progressToken };
  }

  /** The server asks for input, or answers with a task. */
  async #finish(
    answer: JsonObject,
    { method, params, caller, call, extras }: Unfinished,
    progressToken: number,
  ): Promise<JsonObject> {
    try {
      let result = answer;
      for (let round = 0; result.resultType === "input_required"; round++) {
        if (round === inputRoundsMax)
          throw new HallError(
            "BAD_ANSWER",
            `${method} asked for input ${inputRoundsMax} times in a row`,
          );
        const { requestState, inputRequests } = result;
        // Between two requests nothing is on the wire that a cancel could end.
        const inputResponses = await caller.scope.race(call.ask(readQuestions(inputRequests)));
        const answers =
          requestState === undefined ? { inputResponses } : { inputResponses, requestState };
        result = readResult(
          method,
          await this.#send(method, { ...params, ...answers }, caller.scope, extras),
        );
      }
      if (result.resultType === "task")
        result = await followTask(result, this.#taskCall(caller, { call, extras }));
      this.#calls.end(progressToken, call);
      return this.#conclude(result, call);
    } catch (error) {
      throw this.#endFailed(error, call, progressToken);
    }
  }

  #conclude(result: JsonObject, call: RelayedCall): JsonObject {
    // The server could not continue without an answer: report the capability the client lacks.
    if (call.unaskable && result.isError) throw call.unaskable;
    const body = stripEnvelope(result);
    return this.#options.name === undefined ? body : stripHallMeta(body);
  }

  #endFailed(error: unknown, call: RelayedCall, progressToken: number): unknown {
    if (error instanceof HallError && error.relayed?.code === urlElicitationRequired)
      this.#calls.sentTo(error.relayed.data, call);
    this.#calls.end(progressToken, call);
    return error;
  }

  /** The call of a tool that an older server runs as a task. */
  async #runAsTask(params: JsonObject, caller: CallContext, running: Running): Promise<JsonObject> {
    const asked = { ...params, task: {} };
    const sent = await this.#send("tools/call", asked, caller.scope, running.extras);
    const result = readResult("tools/call", sent);
    return isObject(result.task)
      ? awaitTask(result.task, this.#taskCall(caller, running), this.#tasks)
      : result;
  }

  #taskCall({ scope, task: report }: CallContext, { call, extras }: Running): TaskCall {
    return {
      scope,
      report,
      ask: (questions) => call.ask(questions),
      send: async (method, params, own) =>
        readResult(method, await this.#send(method, params, own, { ...extras, call: undefined })),
    };
  }

  /** Ends a language-server-like session: `shutdown`, then `exit` if it agrees. Never throws. */
  async leave(scope: Scope): Promise<void> {
    if (this.#isModern || this.#isLost) return;
    // Most servers do not know the method and refuse it.
    const isAgreed = await this.#peer.request("shutdown", undefined, { scope }).then(
      () => true,
      () => false,
    );
    if (isAgreed) this.#peer.notify("exit", undefined);
  }

  /** Ends requests of the other side with `reason`, where it has any, then closes. */
  async close(reason?: HallError): Promise<void> {
    this.#isClosing = true;
    this.#listening.close();
    if (reason) await this.#peer.close(reason);
    else await this.#channel.close();
    await this.#options.release?.();
  }

  #send<T = unknown>(
    method: string,
    params: JsonObject,
    scope: Scope,
    { meta, capabilities, call }: RequestExtras = {},
    { argumentsText, reader }: Pick<AskOptions<T>, "argumentsText" | "reader"> = {},
  ): Promise<T> {
    const own = capabilities ?? this.#options.capabilities;
    const body = withMeta(params, meta, this.#isModern ? envelope(own) : undefined);
    const asked = { scope, sent: call, argumentsText, reader };
    const { retryAfter } = this.#options;
    return retryAfter
      ? retryAfter(scope, () => this.#peer.request(method, body, asked))
      : this.#peer.request(method, body, asked);
  }

  #handle(request: Request, exchange: Exchange): unknown {
    if (this.#options.serve) return this.#options.serve(request, exchange);
    if (this.#isModern)
      throw new HallError(
        "METHOD_NOT_FOUND",
        "a server of 2026-07-28 asks in its results, not in requests of its own",
      );
    if (request.owner === undefined && isAskable(request.method)) this.#options.asked?.();
    return this.#calls.answer(request, exchange.scope, (progress) =>
      this.#peer.notify("notifications/progress", progress),
    );
  }

  #notified(notification: Notification): void {
    const { method, params = {} } = notification;
    switch (method) {
      case "notifications/cancelled":
        if (isId(params.requestId))
          this.#peer.cancel(
            params.requestId,
            new HallError("CANCELLED", "the server withdrew its request"),
          );
        return;
      case "notifications/subscriptions/acknowledged":
        this.#listening.acknowledged(params);
        return;
      case "notifications/progress":
        this.#calls.progress(notification, this.#options.lspCompat === true);
        return;
      case "notifications/message":
        this.#calls.log(notification);
        return;
      case "notifications/tasks/status":
        this.#tasks.get(String(params.taskId))?.(readTask(params));
        return;
      case "notifications/elicitation/complete":
        this.#calls.elicitationDone(params);
        return;
      case "notifications/tools/list_changed":
      case "notifications/resources/list_changed":
      case "notifications/prompts/list_changed":
        this.#options.listChanged?.(method.split("/")[1] as ListKind);
        return;
      case "notifications/resources/updated":
        if (typeof params.uri === "string") this.#options.resourceUpdated?.(params.uri);
        return;
      default:
        this.#options.log?.debug({ method }, "notification not used");
    }
  }

  /** An older server has one level for all clients: the most verbose that any of them wants. */
  #raiseLogLevel(wanted: LogLevel | undefined): void {
    if (wanted === undefined || !this.#handshake?.capabilities.logging) return;
    const level = this.#logLevel;
    if (level !== undefined && logLevels.indexOf(level) <= logLevels.indexOf(wanted)) return;
    this.#logLevel = wanted;
    this.#peer
      .request("logging/setLevel", { level: wanted }, { timeoutMs: 10_000 })
      .catch((error: unknown) =>
        this.#options.log?.debug({ err: error }, "logging/setLevel refused"),
      );
  }
}

/** An open connection as its users see it; tests pass doubles. */
export type ServerConnection = Omit<
  Pick<McpConnection, keyof McpConnection>,
  "open" | "assumeModern" | "requestPlain"
>;

/** Goes with the params of a request, depending on the server's version and the caller. */
interface RequestExtras {
  readonly meta?: JsonObject | undefined;
  readonly capabilities?: JsonObject | undefined;
  /** Learns the id of the request. */
  readonly call?: RelayedCall | undefined;
}

/** A call under way, and what goes with each of its requests. */
interface Running {
  readonly call: RelayedCall;
  readonly extras: RequestExtras;
}

interface Unfinished extends Running {
  readonly method: string;
  readonly params: JsonObject;
  readonly caller: CallContext;
}

function isUnfinished({ resultType }: JsonObject): boolean {
  return resultType === "input_required" || resultType === "task";
}

/** The text of the call's arguments, if these are the ones that the hall has written. */
function writtenArguments(params: JsonObject, { written }: CallContext): string | undefined {
  return written && params.arguments === written.value ? written.text : undefined;
}

function readResult(method: string, result: unknown): JsonObject {
  if (isObject(result)) return result;
  throw new HallError("BAD_ANSWER", `the result of ${method} is not an object`);
}
