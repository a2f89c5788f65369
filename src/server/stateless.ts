import { HallError } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import { SlotMap } from "../base/slot-map.ts";
import { Answers } from "../wire/answers.ts";
import type { AnswerFrame } from "../wire/exchange.ts";
import { notificationFrame, type Request } from "../wire/message.ts";
import {
  addModernEnvelope,
  type ClientRequest,
  type Envelope,
  type RequestExchange,
  resolveCallTool,
} from "./client-request.ts";
import { isInDialect, refuseEnvelope } from "./dialect.ts";
import { explainRequest } from "./edge.ts";
import { discover, type MethodHandler, methods, unknownMethod } from "./methods.ts";
import type { ServerParts } from "./server.ts";
import { listen } from "./subscriptions.ts";

/** Where the answer to one stateless request goes. */
export interface ReplyTarget {
  /** `kind` is "result", or the number of the error. */
  answer(frame: string, kind: AnswerFrame["kind"]): void;
  notify(frame: string): void;
  /** Calls back once the client can no longer be reached, also after a complete answer. */
  onClose(listener: () => void): void;
}

export interface StatelessOptions {
  readonly principal: string;
  readonly quota: string;
}

const sweepMs = 1_000;

/**
 * Modern requests over HTTP. Each one carries its version and capabilities, so it needs neither a
 * connection nor a peer: only a scope, a deadline and one answer.
 */
export class StatelessRequests {
  readonly #parts: ServerParts;
  readonly #answers: Answers;
  readonly #running = new SlotMap<string, StatelessExchange>();
  readonly #onIdle: (() => void)[] = [];
  #sweep: NodeJS.Timeout | undefined;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#answers = new Answers(
      (failure, request) => explainRequest(failure, request, "2026-07-28", parts),
      parts.limits.messageBytesMax,
    );
  }

  get count(): number {
    return this.#running.size;
  }

  /** Runs one request whose envelope the listener has read, and answers it exactly once. */
  serve(
    request: Request,
    envelope: Envelope,
    target: ReplyTarget,
    { principal, quota }: StatelessOptions,
  ): void {
    const id = this.#parts.connectionId();
    const expiresAt = performance.now() + this.#parts.limits.answerMsMax;
    const exchange = new StatelessExchange(id, request, target, expiresAt);
    this.#running.set(id, exchange);
    this.#watchDeadlines();
    target.onClose(() => this.#abandon(exchange));

    const { era, version, capabilities, client, logLevel } = envelope;
    const clientRequest: ClientRequest = {
      era,
      version,
      capabilities,
      client,
      logLevel,
      exchange,
      connection: id,
      principal,
      quota,
      progressTokens: undefined,
    };
    let result: unknown;
    try {
      result = whenListed(request, exchange.scope, this.#parts, () =>
        this.#dispatch(request, clientRequest),
      );
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

  /** Lets running requests end for up to `drainMs`, then answers the rest with an error. */
  async close(drainMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const reason = new HallError("UNAVAILABLE", "the hall is shutting down");
    for (const exchange of this.#running.values())
      if (exchange.isStanding) exchange.scope.cancel(reason);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
      timer = setTimeout(resolve, drainMs);
    });
    clearTimeout(timer);
    for (const exchange of this.#running.values()) {
      this.#fail(exchange, reason);
      exchange.scope.cancel(reason);
    }
  }

  #dispatch(request: Request, clientRequest: ClientRequest): unknown {
    const { method, params = {} } = resolveCallTool(request);
    if (isInDialect(method, params)) throw refuseEnvelope(method);
    return handleModern(method, params, clientRequest, this.#parts);
  }

  #complete(exchange: StatelessExchange, result: unknown): void {
    if (!this.#settle(exchange)) return;
    exchange.reply(this.#answers.result(exchange.request, result));
    exchange.scope.close();
  }

  #fail(exchange: StatelessExchange, error: unknown): void {
    if (!this.#settle(exchange)) return;
    exchange.reply(this.#answers.failure(exchange.request, error));
    exchange.scope.close();
  }

  /** The client closed the response: its request is cancelled and gets no answer. */
  #abandon(exchange: StatelessExchange): void {
    if (!this.#settle(exchange)) return;
    exchange.isOver = true;
    exchange.scope.cancel(new HallError("UNAVAILABLE", "the connection was closed"));
  }

  /** True for the first caller only, which decides how the request ends. */
  #settle(exchange: StatelessExchange): boolean {
    if (!this.#running.delete(exchange.id)) return false;
    if (this.#running.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    return true;
  }

  #watchDeadlines(): void {
    this.#sweep ??= setInterval(() => {
      const now = performance.now();
      for (const exchange of this.#running.values()) {
        if (exchange.expiresAt > now) continue;
        const { method } = exchange.request;
        const seconds = this.#parts.limits.answerMsMax / 1000;
        const reason = new HallError("TIMEOUT", `no answer to ${method} within ${seconds} s`);
        this.#fail(exchange, reason);
        exchange.scope.cancel(reason);
      }
      if (this.#running.size > 0) return;
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }, sweepMs);
  }
}

class StatelessExchange implements RequestExchange {
  readonly id: string;
  readonly request: Request;
  readonly scope = new Scope();
  readonly #target: ReplyTarget;
  expiresAt: number;
  isOver = false;

  constructor(id: string, request: Request, target: ReplyTarget, expiresAt: number) {
    this.id = id;
    this.request = request;
    this.#target = target;
    this.expiresAt = expiresAt;
  }

  get isStanding(): boolean {
    return this.expiresAt === Number.POSITIVE_INFINITY;
  }

  keepOpen(): void {
    this.expiresAt = Number.POSITIVE_INFINITY;
  }

  notify(method: string, params: unknown): void {
    if (!this.isOver) this.#target.notify(notificationFrame(method, params));
  }

  /** Questions to a modern client are `input_required` results, see `asking.ts`. */
  ask(method: string): Promise<never> {
    return Promise.reject(new HallError("EXECUTION", `cannot send ${method} to this client`));
  }

  reply({ frame, kind }: AnswerFrame): void {
    this.isOver = true;
    this.#target.answer(frame, kind);
  }
}

const modernMethods: Readonly<Record<string, MethodHandler>> = {
  ...methods,
  "server/discover": (_params, _request, parts) => discover(parts),
  "subscriptions/listen": listen,
};

/** Runs a modern request and adds the envelope to its result. Throws METHOD_NOT_FOUND. */
export function handleModern(
  method: string,
  params: Parameters<MethodHandler>[0],
  request: ClientRequest,
  parts: ServerParts,
): unknown {
  const handler = Object.hasOwn(modernMethods, method) ? modernMethods[method] : undefined;
  if (!handler) throw unknownMethod(method);
  const { info } = parts;
  const result = handler(params, request, parts);
  return result instanceof Promise
    ? result.then((value) => addModernEnvelope(method, value, info))
    : addModernEnvelope(method, result, info);
}

/** Dispatches again after discovery if a name is unknown and a server that may have it is still being listed. */
export function whenListed(
  { params }: Request,
  scope: Scope,
  { registry }: ServerParts,
  dispatch: () => unknown,
): unknown {
  try {
    return dispatch();
  } catch (error) {
    if (!(error instanceof HallError) || error.code !== "NOT_FOUND") throw error;
    const name = params?.name;
    const pending = registry.looking(typeof name === "string" ? name : undefined);
    if (!pending) throw error;
    return scope.race(pending).then(dispatch);
  }
}
