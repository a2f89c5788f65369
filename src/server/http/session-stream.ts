import type { ServerResponse } from "node:http";
import { arm, disarm, type Timed } from "../../base/scope.ts";
import { EventStream, type EventStreamOptions } from "../../net/event-stream.ts";
import type { FrameKind } from "../../wire/channel.ts";
import type { Id } from "../../wire/message.ts";
import { sendJson } from "./post.ts";

/**
 * One stream of a legacy HTTP connection: that of a POST, which ends with its last answer, or of a
 * GET. It outlives its socket: a client resumes it with the id of the last event that it received.
 */
export interface SessionStreamOptions extends EventStreamOptions {
  /** A POST without an answer becomes an event stream after this long. */
  readonly streamAfterMs: number;
  /**
   * A client that can poll is disconnected after this long and resumes later, so that no socket
   * stays open for hours.
   */
  readonly pollAfterMs: number;
}

/** The connection a stream belongs to. */
export interface StreamOwner {
  /** Clients of 2025-11-25 resume streams; older ones fail on the empty event that announces it. */
  canPoll(): boolean;
  /** Called when the last answer was sent. */
  ended(): void;
  /** Called when the answer was plain JSON: there is nothing to resume. */
  forget(number: number): void;
}

interface Logged {
  readonly sequence: number;
  readonly frame: string;
}

/** Limit of the replay log, which always keeps the last event. */
const logBytesMax = 32 * 1024;
/** Memory of an event besides its text. */
const eventBytes = 128;
const retryMs = 1_000;

export class SessionStream implements Timed {
  readonly #options: SessionStreamOptions;
  readonly #owner: StreamOwner;
  readonly #number: number;
  /** The requests that this stream answers; none for a GET. */
  readonly requests: readonly Id[];
  #isAnswered = false;
  #response: ServerResponse | undefined;
  #sink: EventStream | undefined;
  /** When a POST without an answer becomes an event stream. */
  deadlineAt = 0;
  place: number | undefined = undefined;
  #poll: NodeJS.Timeout | undefined;
  #log: Logged[] = [];
  #logBytes = 0;
  #sequence = 0;
  /** The last event that reached a socket. */
  #written = 0;

  constructor(
    number: number,
    requests: readonly Id[],
    owner: StreamOwner,
    options: SessionStreamOptions,
  ) {
    this.#number = number;
    this.#owner = owner;
    this.#options = options;
    this.requests = requests;
  }

  get isOpen(): boolean {
    return this.#sink !== undefined || this.#response !== undefined;
  }

  /** Size of its replay log. */
  get keptBytes(): number {
    return this.#logBytes;
  }

  get isDone(): boolean {
    return this.#isAnswered;
  }

  /** Uses the POST's response: plain JSON if the answer comes soon and alone, else an event stream. */
  answerOn(response: ServerResponse): void {
    this.#response = response;
    response.on("close", () => this.#leave(response));
    const now = performance.now();
    this.deadlineAt = now + this.#options.streamAfterMs;
    arm(this, now);
  }

  expire(): void {
    if (this.#response) this.#open(this.#response, this.#written);
  }

  /** Sends a GET the events after `last`, by default all that were not sent yet. */
  streamTo(response: ServerResponse, last = this.#written): void {
    this.#sink?.end();
    response.on("close", () => this.#leave(response));
    this.#open(response, last);
    if (this.isDone) this.#end();
  }

  send(frame: string, kind: FrameKind, about: Id | undefined): void {
    const isAnswer = kind === "result" || typeof kind === "number";
    // A batch is answered once, under the id of its first request.
    if (isAnswer && about !== undefined && about === this.requests[0]) this.#isAnswered = true;
    if (isAnswer && this.isDone && this.#response && !this.#sink && this.#sequence === 0) {
      sendJson(this.#response, kind === -32600 || kind === -32700 ? 400 : 200, frame);
      this.#release();
      this.#owner.forget(this.#number);
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
    this.#isAnswered = true;
    if (!this.#sink && this.#response && !this.#response.headersSent)
      this.#open(this.#response, this.#written);
    this.#end();
  }

  close(): void {
    this.#sink?.end();
    const response = this.#response;
    if (!response) return;
    if (!response.writableEnded) response.end();
    // Not when the socket says that it was closed: an answer may arrive before that.
    this.#leave(response);
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
    this.#release();
    this.#response = response;
    this.#sink = new EventStream(response, this.#options);
    const canPoll = this.#owner.canPoll();
    // An empty event with an id: from now on the client can resume.
    if (canPoll) this.#sink.send({ id: this.#eventId(last), retry: retryMs, data: "" });
    for (const logged of this.#log) if (logged.sequence > last) this.#write(logged, false);
    if (canPoll && this.requests.length > 0 && !this.isDone) {
      this.#poll = setTimeout(() => this.#sink?.end(), this.#options.pollAfterMs);
      this.#poll.unref();
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
    disarm(this);
    clearTimeout(this.#poll);
  }

  #eventId(sequence: number): string {
    return `${this.#number}-${sequence}`;
  }
}
