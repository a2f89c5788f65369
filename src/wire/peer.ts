import { HallError } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import { SlotMap } from "../base/slot-map.ts";
import { formatBytes } from "../base/text.ts";
import { Answers, type Explain } from "./answers.ts";
import { Batch, findBatchFault } from "./batch.ts";
import type { Channel } from "./channel.ts";
import { type AnswerFrame, type AskOptions, Exchange } from "./exchange.ts";
import type { Limits } from "./limits.ts";
import {
  findIdAtEdge,
  type Id,
  type IsNotification,
  isLonger,
  type Message,
  type Notification,
  notificationFrame,
  parseFrame,
  type Request,
  type RpcError,
  requestFrame,
  type UnreadableId,
} from "./message.ts";
import { Outlet } from "./outlet.ts";
import { PendingRequests } from "./pending-requests.ts";

/**
 * One JSON-RPC peer on one channel, in both roles. It guarantees that **every request gets exactly
 * one answer**, or none when the peer cancelled it. One gate ensures that, `#settle`: the first of
 * handler, cancel, deadline and shutdown to pass it decides; the others find the request gone.
 */
export interface PeerOptions {
  readonly limits: Limits;
  /** Serves a request: returns the result, or throws. */
  handle(request: Request, exchange: Exchange): unknown;
  /** Receives notifications. Must not throw. */
  notified(notification: Notification): void;
  readonly explain: Explain;
  /** Methods that are notifications even with `"id": null`. */
  readonly isNotification?: IsNotification;
  /** Unreadable input is counted and not answered, for programs that print a banner on stdout. */
  readonly ignoresJunk?: boolean;
  /** The notification that cancels a request of ours. */
  withdrawal?(id: Id, reason: string): { readonly method: string; readonly params: unknown };
  /** No more input; the peer may still read answers. */
  ended?(): void;
  /** The connection is gone. */
  closed?(): void;
}

export interface PeerCounts {
  invalid: number;
  /** Answers with an unknown, late or repeated id. */
  strayAnswers: number;
  withdrawn: number;
  /** Notifications dropped because the peer did not read. */
  dropped: number;
}

export class Peer {
  readonly #channel: Channel;
  readonly #options: PeerOptions;
  readonly #limits: Limits;
  readonly #outlet: Outlet;
  readonly #answers: Answers;
  readonly #inFlight = new SlotMap<Id, Exchange>();
  readonly #pending = new PendingRequests();
  readonly #idle: (() => void)[] = [];
  #nextId = 0;
  #sweep: NodeJS.Timeout | undefined;
  #refusal: HallError | undefined;
  #isClosed = false;
  #hasEnded = false;

  readonly counts: PeerCounts = { invalid: 0, strayAnswers: 0, withdrawn: 0, dropped: 0 };
  acceptsBatches = false;

  constructor(channel: Channel, options: PeerOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#limits = options.limits;
    this.#outlet = new Outlet(channel, options.limits);
    this.#answers = new Answers(options.explain, options.limits.messageBytesMax);
    channel.start({
      frame: (bytes, owner) => this.#receiveFrame(bytes, owner),
      oversize: () => this.#refuseOversize(),
      skipped: (edges) => this.#pending.tooLarge(findIdAtEdge(edges), this.#limits.messageBytesMax),
      failed: (id, why) => {
        if (this.#pending.has(id)) this.#pending.fail(id, why());
      },
      drained: () => this.#outlet.drained(),
      ended: () => {
        this.#hasEnded = true;
        if (this.#pending.size > 0)
          this.#pending.failAll(
            new HallError("UNAVAILABLE", "the other side closed the connection"),
          );
        options.ended?.();
      },
      closed: () => this.#lost(),
    });
  }

  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** True while the peer does not read what we send. */
  get isFull(): boolean {
    return this.#outlet.isFull;
  }

  /** How to address an answer to something unreadable; set once the peer's version is known. */
  set unreadableId(unreadableId: UnreadableId) {
    this.#answers.unreadableId = unreadableId;
  }

  /** A notification is only a hint: it is dropped while the peer does not read. */
  notify(method: string, params: unknown, about?: Id): void {
    if (this.isFull) this.counts.dropped++;
    else this.#sendNotification(method, params, about);
  }

  /** Sends a request. Rejects with HallError, whose `relayed` is the peer's own error if it refused. */
  request(
    method: string,
    params: unknown,
    { scope: parent, timeoutMs, about, onId }: AskOptions = {},
  ): Promise<unknown> {
    if (this.#isClosed || this.#hasEnded) return Promise.reject(connectionClosed());
    // The peer does not read: queueing more would only cost memory.
    if (this.isFull)
      return Promise.reject(
        new HallError("OVERLOADED", `cannot send ${method}: the other side does not read`),
      );
    if (parent?.cancelled) return Promise.reject(parent.cancelled);
    const id = ++this.#nextId;
    onId?.(id);
    // The caller's own scope serves where it can: a call on the hot path needs no second clock.
    const own = timeoutMs === undefined ? undefined : new Scope(parent, timeoutMs);
    const answered = this.#pending.wait(id, method, own ?? parent, (reason) =>
      this.#withdraw(id, reason, about),
    );
    try {
      const frame = this.#requestFrame(id, method, params);
      this.#outlet.send(frame, { kind: "request", about, id, method, params });
    } catch (error) {
      this.#pending.fail(id, error as HallError);
    }
    return own ? answered.finally(() => own.close()) : answered;
  }

  #withdraw(id: Id, reason: HallError, about: Id | undefined): void {
    const notice = this.#options.withdrawal?.(id, reason.message);
    if (notice) this.#sendNotification(notice.method, notice.params, about);
  }

  #sendNotification(method: string, params: unknown, about: Id | undefined): void {
    const frame = notificationFrame(method, params);
    this.#outlet.send(frame, { kind: "notification", about, method, params });
  }

  /**
   * The peer cancels a request: the handler is told to stop, and nothing is sent, or `answer` once.
   * An id that is not in flight is ignored, as the protocol requires.
   */
  cancel(id: Id, reason: HallError, answer?: RpcError): void {
    const exchange = this.#inFlight.get(id);
    if (!exchange || !this.#settle(exchange)) return;
    this.counts.withdrawn++;
    exchange.reply(answer && this.#answers.error(id, answer));
    exchange.scope.cancel(reason);
  }

  /** From now on requests are refused; resolves when the running ones have answered. */
  drain(reason: HallError): Promise<void> {
    this.#refusal ??= reason;
    for (const exchange of this.#inFlight.values())
      if (exchange.isStanding) exchange.scope.cancel(reason);
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Stops reading while the handlers cannot take more. */
  hold(): void {
    this.#outlet.hold();
  }

  release(): void {
    this.#outlet.release();
  }

  /** Answers what still runs with an error, writes everything out, for `flushMs` at most, and closes. Idempotent. */
  async close(reason: HallError = shuttingDown, flushMs?: number): Promise<void> {
    this.#refusal ??= reason;
    for (const exchange of this.#inFlight.values()) {
      this.#fail(exchange, reason);
      exchange.scope.cancel(reason);
    }
    const cut =
      flushMs === undefined
        ? undefined
        : setTimeout(() => void this.#channel.close({ now: true }), flushMs);
    await this.#channel.close();
    clearTimeout(cut);
  }

  #receiveFrame(bytes: Buffer, owner: number | undefined): void {
    if (bytes.length > this.#limits.messageBytesMax) {
      this.#refuseOversize();
      return;
    }
    const parsed = parseFrame(bytes, this.#limits, this.#options.isNotification ?? never);
    this.receive(owner === undefined ? parsed : withOwner(parsed, owner));
  }

  /** Receives a message that the transport has parsed itself. */
  receive(parsed: Message | readonly Message[]): void {
    if (this.#isClosed) return;
    if (Array.isArray(parsed)) this.#receiveBatch(parsed);
    else this.#take(parsed as Message, undefined);
  }

  #receiveBatch(messages: readonly Message[]): void {
    const fault = findBatchFault(messages.length, this.acceptsBatches, this.#limits.inFlightMax);
    if (fault !== undefined) {
      this.#refuse(undefined, new HallError("INVALID_REQUEST", fault));
      return;
    }
    const expected = messages.filter(
      (message) => message.kind === "request" || message.kind === "invalid",
    ).length;
    const about = messages.find((message) => message.kind === "request")?.id;
    const batch = new Batch(expected, (frame) => {
      if (frame !== undefined) this.#outlet.send(frame, { kind: "result", about });
      else if (about !== undefined) this.#channel.withdrawn?.(about);
    });
    for (const message of messages) this.#take(message, batch);
  }

  #take(message: Message, batch: Batch | undefined): void {
    switch (message.kind) {
      case "request":
        this.#serve(message, batch);
        return;
      case "notification":
        this.#options.notified(message);
        return;
      case "answer":
        if (!this.#pending.answer(message)) this.counts.strayAnswers++;
        else if (message.id !== undefined) this.#channel.answered?.(message.id);
        return;
      case "invalid":
        this.counts.invalid++;
        if (!this.#pending.unreadable(message) && !this.#options.ignoresJunk)
          this.#refuse(message.id, new HallError(message.code, message.reason), batch);
    }
  }

  #serve(request: Request, batch: Batch | undefined): void {
    const refusal = this.#refusal ?? this.#overLimit(request);
    if (refusal) {
      this.#reply(batch, this.#answers.failure(request, refusal), request.id);
      return;
    }
    const exchange = new Exchange(
      this,
      request,
      batch,
      performance.now() + this.#limits.answerMsMax,
    );
    this.#inFlight.set(request.id, exchange);
    this.#watchDeadlines();
    let result: unknown;
    try {
      result = this.#options.handle(request, exchange);
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

  #overLimit(request: Request): HallError | undefined {
    if (this.#inFlight.has(request.id))
      return new HallError(
        "INVALID_REQUEST",
        `a request with the id ${JSON.stringify(request.id)} is still running`,
      );
    if (this.#inFlight.size >= this.#limits.inFlightMax)
      return new HallError(
        "OVERLOADED",
        `${this.#limits.inFlightMax} requests are already running`,
      );
    return undefined;
  }

  #complete(exchange: Exchange, result: unknown): void {
    if (!this.#settle(exchange)) return;
    exchange.reply(this.#answers.result(exchange.request, result));
    exchange.scope.close();
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (!this.#settle(exchange)) return;
    exchange.reply(this.#answers.failure(exchange.request, error));
    exchange.scope.close();
  }

  /** The gate: true for the first caller, false for all later ones. */
  #settle(exchange: Exchange): boolean {
    const { id } = exchange.request;
    if (this.#inFlight.get(id) !== exchange) return false;
    this.#inFlight.delete(id);
    if (this.#inFlight.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    return true;
  }

  #refuse(id: Id | undefined, failure: HallError, batch?: Batch): void {
    this.#reply(batch, this.#answers.refusal(id, failure), id);
  }

  #reply(batch: Batch | undefined, answer: AnswerFrame, about: Id | undefined): void {
    if (batch) batch.add(answer.frame);
    else this.#outlet.send(answer.frame, { kind: answer.kind, about });
  }

  /** Called by an exchange when its request is answered or withdrawn (`undefined`). */
  deliver(exchange: Exchange, answer: AnswerFrame | undefined): void {
    if (!answer && !exchange.batch) this.#channel.withdrawn?.(exchange.request.id);
    else if (!answer) exchange.batch?.add(undefined);
    else if (exchange.batch?.hasRoom(answer.frame, this.#limits.messageBytesMax) ?? true)
      this.#reply(exchange.batch, answer, exchange.request.id);
    else {
      const reason = new HallError(
        "TOO_LARGE",
        `the answers of one batch exceed the limit of ${formatBytes(this.#limits.messageBytesMax)}`,
      );
      this.#reply(
        exchange.batch,
        this.#answers.failure(exchange.request, reason),
        exchange.request.id,
      );
    }
  }

  /** One coarse timer for all requests of the connection: the hot path only compares numbers once a second. */
  #watchDeadlines(): void {
    this.#sweep ??= setInterval(() => {
      const now = performance.now();
      for (const exchange of this.#inFlight.values()) {
        if (exchange.expiresAt > now) continue;
        const reason = new HallError(
          "TIMEOUT",
          `no answer to ${exchange.request.method} within ${this.#limits.answerMsMax / 1000} s`,
        );
        this.#fail(exchange, reason);
        exchange.scope.cancel(reason);
      }
      if (this.#inFlight.size > 0) return;
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }, sweepMs);
  }

  #lost(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#outlet.close();
    clearInterval(this.#sweep);
    this.#hasEnded = true;
    // Every stateless HTTP request ends here; an error and its stack are built only when needed.
    if (this.#inFlight.size > 0 || this.#pending.size > 0) this.#cancelAll(connectionClosed());
    this.#options.closed?.();
  }

  #cancelAll(reason: HallError): void {
    for (const exchange of this.#inFlight.values()) {
      this.#settle(exchange);
      exchange.scope.cancel(reason);
    }
    this.#pending.failAll(reason);
  }

  #requestFrame(id: Id, method: string, params: unknown): string {
    let frame: string;
    try {
      frame = requestFrame(id, method, params);
    } catch (cause) {
      throw new HallError("SERIALIZATION", `cannot serialize the params of ${method} as JSON`, {
        cause,
      });
    }
    if (isLonger(frame, this.#limits.messageBytesMax))
      throw new HallError(
        "TOO_LARGE",
        `request ${method} exceeds the limit of ${formatBytes(this.#limits.messageBytesMax)}`,
      );
    return frame;
  }

  #refuseOversize(): void {
    this.counts.invalid++;
    if (!this.#options.ignoresJunk)
      this.#refuse(
        undefined,
        new HallError(
          "INVALID_REQUEST",
          `message exceeds the limit of ${formatBytes(this.#limits.messageBytesMax)}`,
        ),
      );
  }
}

/** A batch has several messages, and no stream of its own. */
function withOwner(
  parsed: Message | readonly Message[],
  owner: number,
): Message | readonly Message[] {
  if (!("kind" in parsed)) return parsed;
  return parsed.kind === "request" || parsed.kind === "notification"
    ? { ...parsed, owner }
    : parsed;
}

const sweepMs = 1_000;
const never = (): boolean => false;

/** Built once: every stateless HTTP request closes a peer. */
const shuttingDown = new HallError("UNAVAILABLE", "the hall is shutting down");

function connectionClosed(): HallError {
  return new HallError("UNAVAILABLE", "the connection was closed");
}
