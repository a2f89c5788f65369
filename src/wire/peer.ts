import { HallError } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import { formatBytes } from "../base/text.ts";
import { Batch } from "./batch.ts";
import type { Channel, Limits, Outgoing } from "./channel.ts";
import {
  type CallParams,
  callFrame,
  decodeFrame,
  edgesOf,
  type Id,
  type IsNotification,
  isLonger,
  type Message,
  type Notification,
  notificationFrame,
  parseFrame,
  type Request,
  type RpcError,
  readEdges,
  requestFrame,
  splitAnswer,
  type UnreadableId,
} from "./message.ts";
import {
  type AnswerFrame,
  type AskOptions,
  Exchange,
  type Explain,
  PendingRequests,
  type RequestSender,
  RunningRequests,
} from "./requests.ts";

/**
 * One JSON-RPC peer on one channel, in both roles: `RunningRequests` are the requests that it sent us,
 * `PendingRequests` those that we sent it.
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
  /** Our requests are numbered from the one after this. Default 0. */
  readonly idsAfter?: number;
  /** Receives the beginning of unreadable input. */
  junk?(text: string): void;
  /** The notification that cancels a request of ours. */
  withdrawal?(id: Id, reason: string): { readonly method: string; readonly params: unknown };
  /** No more input; the peer may still read answers. */
  ended?(): void;
  /** The connection is gone. */
  closed?(): void;
}

export class Peer implements RequestSender {
  readonly #channel: Channel;
  readonly #options: PeerOptions;
  readonly #limits: Limits;
  readonly #outlet: Outlet;
  readonly #running: RunningRequests;
  readonly #handle: (exchange: Exchange) => unknown;
  readonly #pending = new PendingRequests();
  #nextId: number;
  #refusal: HallError | undefined;
  #isClosed = false;
  #hasEnded = false;

  /** Messages that could not be read, and answers with an unknown, late or repeated id. */
  junkCount = 0;
  acceptsBatches = false;

  constructor(channel: Channel, options: PeerOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#limits = options.limits;
    this.#nextId = options.idsAfter ?? 0;
    this.#outlet = new Outlet(channel, options.limits);
    this.#running = new RunningRequests(options.limits, options.explain);
    this.#handle = (exchange) => options.handle(exchange.request, exchange);
    channel.start({
      frame: (bytes, owner) => this.#receiveFrame(bytes, owner),
      oversize: (edges) => this.#refuseOversize(edges),
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
    return this.#running.size;
  }

  /** True while the peer does not read what we send. */
  get isFull(): boolean {
    return this.#outlet.isFull;
  }

  /** How to address an answer to something unreadable; set once the peer's version is known. */
  set unreadableId(unreadableId: UnreadableId) {
    this.#running.answers.unreadableId = unreadableId;
  }

  /** A notification is only a hint: it is dropped while the peer does not read. */
  notify(method: string, params: unknown, about?: Id): void {
    if (!this.isFull) this.#sendNotification(method, params, about);
  }

  /** Sends a request. Rejects with HallError, whose `relayed` is the peer's own error if it refused. */
  request<T = unknown>(
    method: string,
    params: unknown,
    { scope: parent, timeoutMs, about, sent, argumentsText, reader }: AskOptions<T> = {},
  ): Promise<T> {
    const refusal = this.#refusesToSend(method) ?? parent?.cancelReason;
    if (refusal) return Promise.reject(reader ? reader.failed(refusal) : refusal);
    const id = ++this.#nextId;
    if (sent) sent.id = id;
    // The caller's own scope serves where it can: a call on the hot path needs no second clock.
    const own = timeoutMs === undefined ? undefined : new Scope(parent, timeoutMs);
    const waiting = { method, scope: own ?? parent, about, reader };
    const answered = this.#pending.wait(id, waiting, this.#withdraw) as Promise<T>;
    try {
      const frame = this.#requestFrame(id, method, params, argumentsText);
      this.#outlet.send(frame, { kind: "request", about, id, method, params });
    } catch (error) {
      this.#pending.fail(id, error as HallError);
    }
    return own ? answered.finally(() => own.close()) : answered;
  }

  #refusesToSend(method: string): HallError | undefined {
    if (this.#isClosed || this.#hasEnded) return connectionClosed();
    // The peer does not read: queueing more would only cost memory.
    return this.isFull
      ? new HallError("OVERLOADED", `cannot send ${method}: the other side does not read`)
      : undefined;
  }

  readonly #withdraw = (id: Id, reason: HallError, about: Id | undefined): void => {
    const notice = this.#options.withdrawal?.(id, reason.message);
    if (notice) this.#sendNotification(notice.method, notice.params, about);
  };

  #sendNotification(method: string, params: unknown, about: Id | undefined): void {
    const frame = notificationFrame(method, params);
    this.#outlet.send(frame, { kind: "notification", about, method, params });
  }

  /**
   * The peer cancels a request: the handler is cancelled, and nothing is sent, or `answer` once.
   * An id that is not in flight is ignored, as the protocol requires.
   */
  cancel(id: Id, reason: HallError, answer?: RpcError): void {
    this.#running.cancel(id, reason, answer);
  }

  /** From now on requests are refused; resolves when the running ones have answered, or after `waitMs`. */
  drain(reason: HallError, waitMs?: number): Promise<void> {
    this.#refusal ??= reason;
    return this.#running.drain(reason, waitMs);
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
    this.#running.failAll(reason);
    const cut =
      flushMs === undefined
        ? undefined
        : setTimeout(() => void this.#channel.close({ now: true }), flushMs);
    await this.#channel.close();
    clearTimeout(cut);
  }

  #receiveFrame(bytes: Buffer, owner: number | undefined): void {
    if (bytes.length > this.#limits.messageBytesMax) {
      this.#refuseOversize(edgesOf(bytes));
      return;
    }
    const text = decodeFrame(bytes);
    if (this.#takeUnparsed(text)) return;
    const parsed = parseFrame(bytes, this.#limits, this.#options.isNotification ?? never, text);
    if ("kind" in parsed && parsed.kind === "invalid")
      this.#options.junk?.(bytes.toString("utf8", 0, junkShown));
    this.receive(owner === undefined ? parsed : withOwner(parsed, owner));
  }

  /** True for an answer whose reader needs no parsed result. */
  #takeUnparsed(text: string): boolean {
    const found = this.#pending.size > 0 && !this.#isClosed ? splitAnswer(text) : undefined;
    if (!found || !this.#pending.answerUnparsed(found.id, found.json)) return false;
    this.#channel.answered?.(found.id);
    return true;
  }

  /** Receives a message that the transport has parsed itself. */
  receive(parsed: Message | readonly Message[]): void {
    if (this.#isClosed) return;
    if (Array.isArray(parsed)) this.#receiveBatch(parsed);
    else this.#take(parsed as Message, undefined);
  }

  #receiveBatch(messages: readonly Message[]): void {
    const fault = this.#findBatchFault(messages.length);
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

  /** Why messages that came together are not served, or undefined when they are. */
  #findBatchFault(messageCount: number): string | undefined {
    const countMax = this.#limits.inFlightMax;
    if (messageCount === 0) return "an empty batch";
    if (!this.acceptsBatches) return "batches are part of protocol version 2025-03-26 only";
    // Junk costs two bytes to send and a hundred to refuse.
    return messageCount > countMax ? `a batch may have ${countMax} messages` : undefined;
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
        if (!this.#pending.answer(message)) this.junkCount++;
        else if (message.id !== undefined) this.#channel.answered?.(message.id);
        return;
      case "invalid":
        this.junkCount++;
        if (!this.#pending.unreadable(message) && !this.#options.ignoresJunk)
          this.#refuse(message.id, new HallError(message.code, message.reason), batch);
    }
  }

  #serve(request: Request, batch: Batch | undefined): void {
    const refusal = this.#refusal ?? this.#overLimit(request);
    if (refusal) this.#reply(batch, this.#running.answers.failure(request, refusal), request.id);
    else this.#running.start(new Exchange(this, request, request.id, batch), this.#handle);
  }

  #overLimit(request: Request): HallError | undefined {
    if (this.#running.has(request.id))
      return new HallError(
        "INVALID_REQUEST",
        `a request with the id ${JSON.stringify(request.id)} is still running`,
      );
    if (this.#running.size >= this.#limits.inFlightMax)
      return new HallError(
        "OVERLOADED",
        `${this.#limits.inFlightMax} requests are already running`,
      );
    return undefined;
  }

  #refuse(id: Id | undefined, failure: HallError, batch?: Batch): void {
    this.#reply(batch, this.#running.answers.refusal(id, failure), id);
  }

  #reply(batch: Batch | undefined, answer: AnswerFrame, about: Id | undefined): void {
    if (batch) batch.add(answer.frame);
    else this.#outlet.send(answer.frame, { kind: answer.kind, about });
  }

  /** Called by an exchange when its request is answered or withdrawn (`undefined`). */
  deliver({ request, batch }: Exchange, answer: AnswerFrame | undefined): void {
    if (!answer && !batch) this.#channel.withdrawn?.(request.id);
    else if (!answer) batch?.add(undefined);
    else if (batch?.hasRoom(answer.frame, this.#limits.messageBytesMax) ?? true)
      this.#reply(batch, answer, request.id);
    else {
      const limit = formatBytes(this.#limits.messageBytesMax);
      const reason = new HallError(
        "TOO_LARGE",
        `the answers of one batch exceed the limit of ${limit}`,
      );
      this.#reply(batch, this.#running.answers.failure(request, reason), request.id);
    }
  }

  #lost(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#outlet.close();
    this.#running.close();
    this.#hasEnded = true;
    // An error and its stack are built only when needed.
    if (this.#running.size > 0 || this.#pending.size > 0) {
      const reason = connectionClosed();
      this.#running.abandonAll(reason);
      this.#pending.failAll(reason);
    }
    this.#options.closed?.();
  }

  #requestFrame(id: number, method: string, params: unknown, argumentsText?: string): string {
    let frame: string;
    try {
      frame =
        argumentsText === undefined
          ? requestFrame(id, method, params)
          : callFrame(id, params as CallParams, argumentsText);
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

  #refuseOversize(edges: string): void {
    const { id, isRequest } = readEdges(edges);
    this.junkCount++;
    if (!isRequest && this.#pending.tooLarge(id, this.#limits.messageBytesMax)) return;
    if (!this.#options.ignoresJunk)
      this.#refuse(
        isRequest ? id : undefined,
        new HallError(
          "INVALID_REQUEST",
          `message exceeds the limit of ${formatBytes(this.#limits.messageBytesMax)}`,
        ),
      );
  }
}

/**
 * Sends to a peer that may not read. While it is slow we stop reading from it; if it stays slow, the
 * channel is closed, so that it cannot hold our memory.
 */
class Outlet {
  readonly #channel: Channel;
  readonly #limits: Pick<Limits, "writeQueueBytesMax" | "stalledMsMax">;
  #stalled: NodeJS.Timeout | undefined;
  #isHeld = false;
  #isClosed = false;

  constructor(channel: Channel, limits: Pick<Limits, "writeQueueBytesMax" | "stalledMsMax">) {
    this.#channel = channel;
    this.#limits = limits;
  }

  /** True while the peer does not read what we send. */
  get isFull(): boolean {
    return this.#channel.queuedBytes > this.#limits.writeQueueBytesMax;
  }

  send(frame: string, message: Outgoing): void {
    if (this.#isClosed) return;
    this.#channel.send(frame, message);
    if (this.#stalled || !this.isFull) return;
    this.#channel.pause();
    this.#stalled = setTimeout(() => {
      // Slow is not stalled: a peer that has read below the limit is kept.
      if (this.isFull) void this.#channel.close({ now: true });
      else this.drained();
    }, this.#limits.stalledMsMax);
  }

  drained(): void {
    if (!this.#stalled || this.isFull) return;
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
    if (!this.#isHeld) this.#channel.resume();
  }

  /** Stops reading for other reasons, until `release`. */
  hold(): void {
    this.#isHeld = true;
    this.#channel.pause();
  }

  release(): void {
    this.#isHeld = false;
    if (!this.#stalled) this.#channel.resume();
  }

  /** The connection is gone: nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#stalled);
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

const never = (): boolean => false;
const junkShown = 500;

/** Built once: every request in the registry dialect over HTTP closes a peer. */
const shuttingDown = new HallError("UNAVAILABLE", "the hall is shutting down");

function connectionClosed(): HallError {
  return new HallError("UNAVAILABLE", "the connection was closed");
}
