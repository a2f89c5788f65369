import type { ServerResponse } from "node:http";
import { EventStream, type EventStreamOptions } from "../../net/event-writer.ts";
import type { FrameKind } from "../../wire/channel.ts";
import type { Id } from "../../wire/message.ts";
import { sendJson } from "./post.ts";

/**
 * One stream of a legacy HTTP connection: that of a POST, which ends with its last answer, or the one a GET opened.
 * It outlives the socket it is written to: a client that lost it comes back with the id of the last event it saw.
 */
export interface SessionStreamOptions extends EventStreamOptions {
  /** A POST that has no answer after this long becomes an event stream. */
  readonly streamAfterMs: number;
  /** After this long a client that can poll is sent away to come back for the rest, so that no socket is held for hours. */
  readonly pollAfterMs: number;
}

/** The connection a stream belongs to. */
export interface StreamOwner {
  /** Clients of 2025-11-25 come back for what they missed; older ones stumble over the empty event that announces it. */
  canPoll(): boolean;
  /** The last answer is out. */
  ended(): void;
}

interface Logged {
  readonly sequence: number;
  readonly frame: string;
}

/** What is kept for a client that comes back: so much at most, but always the last event. */
const logBytesMax = 32 * 1024;
/** An event costs this much beside its text. */
const eventBytes = 128;
const retryMs = 1_000;

export class SessionStream {
  readonly #options: SessionStreamOptions;
  readonly #owner: StreamOwner;
  readonly #number: number;
  readonly #pending: Set<Id>;
  readonly #isPost: boolean;
  #response: ServerResponse | undefined;
  #sink: EventStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #log: Logged[] = [];
  #logBytes = 0;
  #sequence = 0;
  /** The last event that reached a socket. */
  #written = 0;

  /** `pending` are the requests this stream owes an answer to; none for the stream of a GET. */
  constructor(
    number: number,
    pending: readonly Id[],
    owner: StreamOwner,
    options: SessionStreamOptions,
  ) {
    this.#number = number;
    this.#owner = owner;
    this.#options = options;
    this.#pending = new Set(pending);
    this.#isPost = this.#pending.size > 0;
  }

  get isOpen(): boolean {
    return this.#sink !== undefined || this.#response !== undefined;
  }

  /** What it keeps for a client that comes back. */
  get keptBytes(): number {
    return this.#logBytes;
  }

  get isDone(): boolean {
    return this.#isPost && this.#pending.size === 0;
  }

  /** The POST's own response: plain JSON if the answer comes soon and alone, else an event stream. */
  answerOn(response: ServerResponse): void {
    this.#response = response;
    response.on("close", () => this.#leave(response));
    this.#timer = setTimeout(
      () => this.#open(response, this.#written),
      this.#options.streamAfterMs,
    );
  }

  /** A GET: events after `last`, or everything that has not been sent yet. */
  streamTo(response: ServerResponse, last = this.#written): void {
    this.#sink?.end();
    response.on("close", () => this.#leave(response));
    this.#open(response, last);
    if (this.isDone) this.#end();
  }

  send(frame: string, kind: FrameKind, about: Id | undefined): void {
    const isAnswer = kind === "result" || typeof kind === "number";
    if (isAnswer && about !== undefined) this.#pending.delete(about);
    if (isAnswer && this.isDone && this.#response && !this.#sink && this.#sequence === 0) {
      sendJson(this.#response, kind === -32600 || kind === -32700 ? 400 : 200, frame);
      this.#release();
      this.#owner.ended();
      return;
    }
    if (!this.#sink && this.#response) this.#open(this.#response, this.#written);
    this.#record(frame, kind === "notification");
    if (isAnswer && this.isDone) this.#end();
  }

  answersOn(response: ServerResponse): boolean {
    return this.#response === response;
  }

  /** No answer will come. */
  abandon(): void {
    this.#pending.clear();
    if (!this.#sink && this.#response && !this.#response.headersSent)
      this.#open(this.#response, this.#written);
    this.#end();
  }

  close(): void {
    this.#release();
    this.#sink?.end();
    if (this.#response && !this.#response.writableEnded) this.#response.end();
  }

  #record(frame: string, isHint: boolean): void {
    const logged = { sequence: ++this.#sequence, frame };
    this.#log.push(logged);
    this.#logBytes += frame.length + eventBytes;
    while (this.#logBytes > logBytesMax && this.#log.length > 1)
      this.#logBytes -= (this.#log.shift()?.frame.length ?? 0) + eventBytes;
    this.#write(logged, isHint);
  }

  #write({ sequence, frame }: Logged, isHint: boolean): void {
    if (this.#sink?.send({ data: frame, id: this.#eventId(sequence) }, isHint))
      this.#written = sequence;
  }

  #open(response: ServerResponse, last: number): void {
    clearTimeout(this.#timer);
    this.#response = response;
    this.#sink = new EventStream(response, this.#options);
    const canPoll = this.#owner.canPoll();
    // An event with an id and nothing in it: from now on the client can come back.
    if (canPoll) this.#sink.send({ id: this.#eventId(last), retry: retryMs, data: "" });
    for (const logged of this.#log) if (logged.sequence > last) this.#write(logged, false);
    if (canPoll && this.#isPost && !this.isDone) {
      this.#timer = setTimeout(() => this.#sink?.end(), this.#options.pollAfterMs);
      this.#timer.unref();
    }
  }

  #end(): void {
    this.#release();
    this.#sink?.end();
    this.#owner.ended();
  }

  #leave(response: ServerResponse): void {
    if (this.#response !== response) return;
    this.#release();
    this.#response = undefined;
    this.#sink = undefined;
  }

  #release(): void {
    clearTimeout(this.#timer);
  }

  #eventId(sequence: number): string {
    return `${this.#number}-${sequence}`;
  }
}
