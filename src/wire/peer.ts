import { HallError } from "../base/errors.ts";
import { FleetingMap } from "../base/fleeting-map.ts";
import { Scope } from "../base/scope.ts";
import { formatBytes } from "../base/text.ts";
import { Answers, type Explain } from "./answers.ts";
import { Asked } from "./asked.ts";
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

/**
 * One JSON-RPC peer on one channel, in both roles. Its promise: **every request gets exactly one answer**, or none
 * when the peer withdrew it. There is one gate for that, `#settle`: whoever gets through it first (the handler, a
 * cancel, the deadline, the shutdown) decides, and everybody later finds the request gone.
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
  /** What cannot be read is counted and left unanswered: a program that prints a banner is not to be argued with. */
  readonly ignoresJunk?: boolean;
  /** Tells the peer that we no longer wait for a request of ours. */
  withdrawal?(id: Id, reason: string): { readonly method: string; readonly params: unknown };
  /** No more input: the peer may still read answers. */
  ended?(): void;
  /** The line is gone. */
  closed?(): void;
}

export interface PeerCounts {
  invalid: number;
  /** Answers nobody waits for: unknown, late or repeated ids. */
  strayAnswers: number;
  withdrawn: number;
  /** Notifications left out because the peer did not read. */
  dropped: number;
}

export class Peer {
  readonly #channel: Channel;
  readonly #options: PeerOptions;
  readonly #limits: Limits;
  readonly #outlet: Outlet;
  readonly #answers: Answers;
  readonly #inFlight = new FleetingMap<Id, Exchange>();
  readonly #asked = new Asked();
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
      frame: (bytes) => this.#receiveFrame(bytes),
      oversize: () => this.#refuseOversize(),
      skipped: (edges) => this.#asked.tooLarge(findIdAtEdge(edges), this.#limits.messageBytesMax),
      failed: (id, why) => {
        if (this.#asked.has(id)) this.#asked.fail(id, why());
      },
      drained: () => this.#outlet.drained(),
      ended: () => {
        this.#hasEnded = true;
        if (this.#asked.size > 0)
          this.#asked.giveUp(new HallError("UNAVAILABLE", "the other side closed its end"));
        options.ended?.();
      },
      closed: () => this.#lost(),
    });
  }

  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** True while the peer does not take what we send. */
  get isFull(): boolean {
    return this.#outlet.isFull;
  }

  /** How to address an answer to something unreadable; the server sets it once it knows the peer's era. */
  set unreadableId(unreadableId: UnreadableId) {
    this.#answers.unreadableId = unreadableId;
  }

  /** A notification is a hint: it is left out when the peer does not take what it already has. */
  notify(method: string, params: unknown, about?: Id): void {
    if (this.isFull) this.counts.dropped++;
    else this.#outlet.send(notificationFrame(method, params), about, "notification");
  }

  /** Sends a request of ours. Rejects with HallError; with the peer's own error as `relayed` when it refused. */
  request(
    method: string,
    params: unknown,
    { scope: parent, timeoutMs, about, onId }: AskOptions = {},
  ): Promise<unknown> {
    if (this.#isClosed || this.#hasEnded) return Promise.reject(connectionClosed());
    // It does not read what it has: more of it would only cost memory.
    if (this.isFull)
      return Promise.reject(
        new HallError("OVERLOADED", `${method} cannot be sent: the other side does not read`),
      );
    if (parent?.cancelled) return Promise.reject(parent.cancelled);
    const id = ++this.#nextId;
    onId?.(id);
    // The caller's own scope serves where it can: a call on the hot path needs no second clock.
    const own = timeoutMs === undefined ? undefined : new Scope(parent, timeoutMs);
    const answered = this.#asked.wait(id, method, own ?? parent, (reason) =>
      this.#withdraw(id, reason, about),
    );
    try {
      this.#outlet.send(this.#requestFrame(id, method, params), about, "request");
    } catch (error) {
      this.#asked.fail(id, error as HallError);
    }
    return own ? answered.finally(() => own.close()) : answered;
  }

  #withdraw(id: Id, reason: HallError, about: Id | undefined): void {
    const notice = this.#options.withdrawal?.(id, reason.message);
    if (notice)
      this.#outlet.send(notificationFrame(notice.method, notice.params), about, "notification");
  }

  /**
   * The peer withdraws a request: the handler is told to stop, and nothing is answered, or `answer` once.
   * An id that is not in flight is ignored, as the protocol wants.
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

  /** Stops reading, for as long as whoever serves the requests cannot take more. */
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

  #receiveFrame(bytes: Buffer): void {
    if (bytes.length > this.#limits.messageBytesMax) {
      this.#refuseOversize();
      return;
    }
    this.receive(parseFrame(bytes, this.#limits, this.#options.isNotification ?? never));
  }

  /** Takes what a transport has parsed itself. */
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
      if (frame !== undefined) this.#outlet.send(frame, about, "result");
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
        if (!this.#asked.answer(message)) this.counts.strayAnswers++;
        return;
      case "invalid":
        this.counts.invalid++;
        if (!this.#asked.unreadable(message) && !this.#options.ignoresJunk)
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
        `a request with id ${JSON.stringify(request.id)} is still running`,
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

  /** The gate: true for the first who comes, false for all after. */
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
    else this.#outlet.send(answer.frame, about, answer.kind);
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
        `the answers of one batch are over ${this.#limits.messageBytesMax} bytes`,
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
          `${exchange.request.method} did not answer in ${this.#limits.answerMsMax / 1000} s`,
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
    // Every modern HTTP request ends here: only where somebody is left to be told is an error made, with its stack.
    if (this.#inFlight.size > 0 || this.#asked.size > 0) this.#callOff(connectionClosed());
    this.#options.closed?.();
  }

  #callOff(reason: HallError): void {
    for (const exchange of this.#inFlight.values()) {
      this.#settle(exchange);
      exchange.scope.cancel(reason);
    }
    this.#asked.giveUp(reason);
  }

  #requestFrame(id: Id, method: string, params: unknown): string {
    let frame: string;
    try {
      frame = requestFrame(id, method, params);
    } catch (cause) {
      throw new HallError("SERIALIZATION", `the params of ${method} cannot be written as JSON`, {
        cause,
      });
    }
    if (isLonger(frame, this.#limits.messageBytesMax))
      throw new HallError(
        "TOO_LARGE",
        `the request ${method} is over ${this.#limits.messageBytesMax} bytes`,
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

const sweepMs = 1_000;
const never = (): boolean => false;

/** Made once: every modern HTTP request closes a peer, nearly always with nobody left to be told. */
const shuttingDown = new HallError("UNAVAILABLE", "the hall is shutting down");

function connectionClosed(): HallError {
  return new HallError("UNAVAILABLE", "the connection closed");
}
