import { errorTable, HallError } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import { SlotMap } from "../base/slot-map.ts";
import { formatBytes } from "../base/text.ts";
import type { Batch } from "./batch.ts";
import type { FrameKind, Limits } from "./channel.ts";
import {
  type Answer,
  errorFrame,
  type Id,
  type Invalid,
  isLonger,
  type Request,
  type RpcError,
  resultFrame,
  type UnreadableId,
} from "./message.ts";

/**
 * Requests of the other side while they run. **Every request gets exactly one answer**, or none when
 * it was cancelled. One gate ensures that, `#settle`: the first of handler, cancel, deadline and
 * shutdown to pass it decides; the others find the request gone.
 */
export class RunningRequests {
  readonly answers: Answers;
  readonly #answerMsMax: number;
  readonly #running = new SlotMap<Id, Exchange>();
  readonly #idle: (() => void)[] = [];
  #sweep: NodeJS.Timeout | undefined;

  constructor(limits: Pick<Limits, "answerMsMax" | "messageBytesMax">, explain: Explain) {
    this.answers = new Answers(explain, limits.messageBytesMax);
    this.#answerMsMax = limits.answerMsMax;
  }

  get size(): number {
    return this.#running.size;
  }

  has(key: Id): boolean {
    return this.#running.has(key);
  }

  /** Runs a request; its answer is what `handle` returns or throws. */
  start(exchange: Exchange, handle: (exchange: Exchange) => unknown): void {
    exchange.expiresAt = performance.now() + this.#answerMsMax;
    this.#running.set(exchange.key, exchange);
    this.#watchDeadlines();
    let result: unknown;
    try {
      result = handle(exchange);
    } catch (error) {
      this.#fail(exchange, error);
      return;
    }
    if (result instanceof Promise) {
      result.then(
        (value) => this.#complete(exchange, value),
        (error: unknown) => this.#fail(exchange, error),
      );
    } else this.#complete(exchange, result);
  }

  /** Stops a request with no answer, or with this error. A request that does not run is ignored. */
  cancel(key: Id, reason: HallError, answer?: RpcError): void {
    const exchange = this.#running.get(key);
    if (!exchange || !this.#settle(exchange)) return;
    exchange.reply(answer && this.answers.error(exchange.request.id, answer));
    exchange.scope.cancel(reason);
  }

  /**
   * Asks running requests to finish soon and cancels standing ones, such as subscriptions. Resolves when all
   * are answered, or after `waitMs`.
   */
  async drain(reason: HallError, waitMs?: number): Promise<void> {
    for (const { isStanding, scope } of this.#running.values())
      isStanding ? scope.cancel(reason) : scope.hurry();
    if (this.#running.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
      if (waitMs !== undefined) timer = setTimeout(resolve, waitMs);
    });
    clearTimeout(timer);
  }

  /** Answers all with an error. */
  failAll(reason: HallError): void {
    for (const exchange of this.#running.values()) this.#stop(exchange, reason);
  }

  /** The other side is gone: all are cancelled, and nothing is sent. */
  abandonAll(reason: HallError): void {
    for (const exchange of this.#running.values()) {
      this.#settle(exchange);
      exchange.scope.cancel(reason);
    }
  }

  /** Stops the clock. */
  close(): void {
    clearInterval(this.#sweep);
  }

  #complete(exchange: Exchange, result: unknown): void {
    let fitted = result;
    try {
      if (exchange.finish) fitted = exchange.finish(result);
    } catch (error) {
      this.#fail(exchange, error);
      return;
    }
    if (!this.#settle(exchange)) return;
    exchange.reply(this.answers.result(exchange.request, fitted));
    exchange.scope.close();
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (!this.#settle(exchange)) return;
    exchange.reply(this.answers.failure(exchange.request, error));
    exchange.scope.close();
  }

  #stop(exchange: Exchange, reason: HallError): void {
    this.#fail(exchange, reason);
    exchange.scope.cancel(reason);
  }

  /** The gate: true for the first caller, false for all later ones. */
  #settle(exchange: Exchange): boolean {
    if (this.#running.get(exchange.key) !== exchange) return false;
    this.#running.delete(exchange.key);
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    return true;
  }

  /** One coarse timer for all requests: the hot path only compares numbers once a second. */
  #watchDeadlines(): void {
    this.#sweep ??= setInterval(() => {
      const now = performance.now();
      for (const exchange of this.#running.values()) {
        if (exchange.expiresAt > now) continue;
        const { method } = exchange.request;
        const seconds = this.#answerMsMax / 1000;
        this.#stop(
          exchange,
          new HallError("TIMEOUT", `no answer to ${method} within ${seconds} s`),
        );
      }
      if (this.#running.size > 0) return;
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }, sweepMs);
  }
}

const sweepMs = 1_000;

/** One running request: how its handler learns of cancellation and talks back. */
export class Exchange {
  /** Unique among the requests that run together. */
  readonly key: Id;
  readonly request: Request;
  readonly scope = new Scope();
  readonly batch: Batch | undefined;
  /** Set when it starts. */
  expiresAt = 0;
  readonly #sender: RequestSender;
  #isOver = false;
  /** Notifications are sent after the answer too. */
  outlives = false;
  /** Turns the handler's result into the one that is sent. Cheaper than a promise of its own. */
  finish: ((result: unknown) => unknown) | undefined;
  /** Sends what must arrive before the answer. */
  beforeReply: (() => void) | undefined;

  constructor(sender: RequestSender, request: Request, key: Id = request.id, batch?: Batch) {
    this.#sender = sender;
    this.request = request;
    this.key = key;
    this.batch = batch;
  }

  /** A request that stays open until one side ends it, such as a subscription. */
  get isStanding(): boolean {
    return this.expiresAt === Number.POSITIVE_INFINITY;
  }

  keepOpen(): void {
    this.expiresAt = Number.POSITIVE_INFINITY;
  }

  /** Does nothing once the request is answered or withdrawn, unless `outlives` is set. */
  notify(method: string, params: unknown): void {
    if (!this.#isOver || this.outlives) this.#sender.notify(method, params, this.request.id);
  }

  ask(method: string, params: unknown, options: Omit<AskOptions, "about">): Promise<unknown> {
    return this.#sender.request(method, params, { ...options, about: this.request.id });
  }

  reply(answer: AnswerFrame | undefined): void {
    if (answer) this.beforeReply?.();
    this.#isOver = true;
    this.#sender.deliver(this, answer);
  }
}

/** The sender of a request, as far as its exchange uses it. */
export interface RequestSender {
  notify(method: string, params: unknown, about?: Id): void;
  request(method: string, params: unknown, options?: AskOptions): Promise<unknown>;
  /** Takes the answer; undefined when the request was withdrawn. */
  deliver(exchange: Exchange, answer: AnswerFrame | undefined): void;
}

export interface AskOptions<T = unknown> {
  readonly scope?: Scope | undefined;
  readonly timeoutMs?: number | undefined;
  /** The peer's request that this one belongs to. */
  readonly about?: Id;
  /** Gets the request's id before it is sent. */
  readonly sent?: { id: number | undefined } | undefined;
  /** Of `tools/call` with a name and `_meta` only: its arguments as JSON text. */
  readonly argumentsText?: string | undefined;
  /** Reads the answer as soon as it arrives. */
  readonly reader?: AnswerReader<T> | undefined;
}

/** Cheaper than `then`: a relayed call would need one more promise. */
export interface AnswerReader<T = unknown> {
  /** Returns what the request resolves with, or throws. */
  answered(result: unknown): T | Promise<T>;
  /** Reads a result from its text, which may not be JSON. Undefined if it has to be parsed. */
  readUnparsed?(json: string): T | undefined;
  /** Returns what the request rejects with. */
  failed(error: HallError): unknown;
}

/**
 * Requests of ours that wait for an answer. Each is settled once: by its answer, a fault in it, or
 * the end of the connection.
 */
export class PendingRequests {
  readonly #waiting = new SlotMap<Id, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  has(id: Id): boolean {
    return this.#waiting.has(id);
  }

  /** Settles with the answer, or as soon as the scope is cancelled: then `withdrawn` is called. */
  wait(
    id: Id,
    { method, scope, about, reader }: Pick<Waiting, "method" | "scope" | "about" | "reader">,
    withdrawn: Withdrawn,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        method,
        scope,
        about,
        reader,
        resolve,
        reject: reader ? (error) => reject(reader.failed(error)) : reject,
        cancel: (reason) => {
          if (this.fail(id, reason)) withdrawn(id, reason, about);
        },
      };
      this.#waiting.set(id, waiting);
      scope?.attach(waiting);
    });
  }

  /** False for an answer with an unknown, late or repeated id. */
  answer({ id, outcome }: Answer): boolean {
    const waiting = this.#take(id);
    if (!waiting) return false;
    const { method, reader } = waiting;
    if ("result" in outcome) {
      try {
        waiting.resolve(reader ? reader.answered(outcome.result) : outcome.result);
      } catch (error) {
        waiting.reject(error as HallError);
      }
    } else if ("error" in outcome)
      waiting.reject(new HallError("EXECUTION", outcome.error.message, { relayed: outcome.error }));
    else
      waiting.reject(
        new HallError("BAD_ANSWER", `the answer to ${method} is malformed: ${outcome.bad}`),
      );
    return true;
  }

  /** False if nobody waits for it, or if it has to be parsed. */
  answerUnparsed(id: Id, json: string): boolean {
    const result = this.#waiting.get(id)?.reader?.readUnparsed?.(json);
    if (result === undefined) return false;
    this.#take(id)?.resolve(result);
    return true;
  }

  /** An unreadable message that starts or ends with a pending id fails that request at once. */
  unreadable({ answerId, reason }: Invalid): boolean {
    const waiting = this.#take(answerId);
    waiting?.reject(
      new HallError("BAD_ANSWER", `the answer to ${waiting.method} is malformed: ${reason}`),
    );
    return waiting !== undefined;
  }

  tooLarge(id: Id | undefined, bytesMax: number): boolean {
    const waiting = this.#take(id);
    waiting?.reject(
      new HallError(
        "TOO_LARGE",
        `the answer to ${waiting.method} exceeds the limit of ${formatBytes(bytesMax)}`,
      ),
    );
    return waiting !== undefined;
  }

  /** True if the request was still pending. */
  fail(id: Id, reason: HallError): boolean {
    const waiting = this.#take(id);
    waiting?.reject(reason);
    return waiting !== undefined;
  }

  failAll(reason: HallError): void {
    for (const id of this.#waiting.keys()) this.fail(id, reason);
  }

  #take(id: Id | undefined): Waiting | undefined {
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return undefined;
    this.#waiting.delete(id);
    waiting.scope?.detach(waiting);
    return waiting;
  }
}

interface Waiting {
  readonly method: string;
  readonly reader: AnswerReader | undefined;
  /** The peer's request that this one belongs to. */
  readonly about: Id | undefined;
  readonly scope: Scope | undefined;
  resolve(result: unknown): void;
  reject(reason: HallError): void;
  /** Called by the scope. */
  cancel(reason: HallError): void;
}

/** Tells the peer that its answer is no longer wanted. */
type Withdrawn = (id: Id, reason: HallError, about: Id | undefined) => void;

export type Reply = { readonly result: unknown } | { readonly error: RpcError };

/** Turns a failure into what the peer expects: an error, or a result that carries it. */
export type Explain = (failure: unknown, request: Request | undefined) => Reply;

export interface AnswerFrame {
  readonly frame: string;
  readonly kind: FrameKind;
}

/** Writes answers: anything a handler returned or threw becomes a frame. Nothing here throws. */
class Answers {
  readonly #explain: Explain;
  readonly #bytesMax: number;
  /** How to address an answer to something unreadable. */
  unreadableId: UnreadableId = "null";

  constructor(explain: Explain, bytesMax: number) {
    this.#explain = explain;
    this.#bytesMax = bytesMax;
  }

  result(request: Request, result: unknown): AnswerFrame {
    let frame: string;
    try {
      frame = resultFrame(request.id, result);
    } catch (cause) {
      const message = `cannot serialize the answer to ${request.method} as JSON`;
      return this.failure(request, new HallError("SERIALIZATION", message, { cause }));
    }
    if (!isLonger(frame, this.#bytesMax)) return { frame, kind: "result" };
    const limit = formatBytes(this.#bytesMax);
    const message = `the answer to ${request.method} exceeds the limit of ${limit}`;
    return this.failure(request, new HallError("TOO_LARGE", message));
  }

  /** Falls back to a plain error when the explanation itself cannot be sent. */
  failure(request: Request, failure: unknown): AnswerFrame {
    try {
      const reply = this.#explain(failure, request);
      const answer: AnswerFrame =
        "result" in reply
          ? { frame: resultFrame(request.id, reply.result), kind: "result" }
          : this.error(request.id, reply.error);
      if (!isLonger(answer.frame, this.#bytesMax)) return answer;
    } catch {
      // The failure cannot be explained or serialized: the plain error below is sent instead.
    }
    return this.error(request.id, {
      code: -32603,
      message: "the error could not be serialized as JSON",
    });
  }

  /** The answer to something that is not a request, with its id if it could be read. */
  refusal(id: Id | undefined, failure: HallError): AnswerFrame {
    return this.error(id, this.#explainRefusal(failure));
  }

  error(id: Id | undefined, error: RpcError): AnswerFrame {
    return { frame: errorFrame(id, error, this.unreadableId), kind: error.code };
  }

  #explainRefusal(failure: HallError): RpcError {
    try {
      const reply = this.#explain(failure, undefined);
      if ("error" in reply) return reply.error;
    } catch {
      // The explanation itself failed: send the plain message.
    }
    return { code: errorTable[failure.code].request, message: failure.message };
  }
}
