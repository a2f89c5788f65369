import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { SlotMap } from "../../base/slot-map.ts";
import type { EventStreamOptions } from "../../net/event-stream.ts";
import type { Channel, Outgoing, Receiver } from "../../wire/channel.ts";
import type { Id, Message } from "../../wire/message.ts";
import type { ClientConnection, ConnectionState } from "../connection.ts";
import type { Server } from "../server.ts";
import { type Identity, isSameCaller } from "./guard.ts";
import type { Moving } from "./moved-sessions.ts";
import { accepts, sendJson } from "./post.ts";
import { invalidRequest, type Refusal, tooManyConnections } from "./refusal.ts";
import { SessionStream } from "./session-stream.ts";

export interface SessionsOptions extends EventStreamOptions {
  readonly server: Server;
  readonly streamAfterMs: number;
  readonly pollAfterMs: number;
  /** Unused connections are closed after this long. */
  readonly idleMsMax: number;
  /** Beyond this many, an unused connection of the caller with the most is closed. */
  readonly countMax: number;
  /** Of several halls, the one whose sessions these are: their ids begin with it. */
  readonly hall?: string | undefined;
}

const presentMsMax = 60_000;

interface Session {
  readonly id: string;
  readonly caller: Identity;
  readonly connection: ClientConnection;
  readonly streams: SessionStreams;
  usedAt: number;
  /** False until the client has done more than introduce itself. */
  isUsed: boolean;
}

/** Legacy connections over HTTP, identified by `Mcp-Session-Id`: one client, many streams. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#endIdle(), Math.min(60_000, options.idleMsMax));
    this.#sweep.unref();
  }

  /** Opens a connection for `initialize` without a session id. */
  open(message: Message, response: ServerResponse, caller: Identity): Refusal | undefined {
    if (!this.#makeRoom(caller.principal)) return tooManyConnections(this.#options.countMax);
    const { hall } = this.#options;
    const random = randomBytes(24).toString("base64url");
    const { id, streams, connection } = this.#create(
      hall === undefined ? random : `${hall}.${random}`,
      caller,
    );
    response.setHeader("mcp-session-id", id);
    streams.post(message, response);
    connection.receive(message);
    return undefined;
  }

  /** Continues a session of another hall. */
  adopt(id: string, state: ConnectionState, caller: Identity): void {
    if (!this.#makeRoom(caller.principal)) return;
    const session = this.#create(id, caller);
    session.isUsed = true;
    session.connection.resume(state);
  }

  #create(id: string, caller: Identity): Session {
    const streams = new SessionStreams(this.#options);
    const connection = this.#options.server.accept(streams, {
      ...caller,
      isOrdered: false,
      isNetwork: true,
      isPresent: () => this.#isPresent(id),
    });
    streams.canPoll = () => connection.version === "2025-11-25";
    const usedAt = performance.now();
    const session: Session = { id, caller, connection, streams, usedAt, isUsed: false };
    this.#sessions.set(id, session);
    return session;
  }

  /** Called with the id of each session that has ended. */
  forgotten: (id: string) => void = () => {};

  get isLeaving(): boolean {
    return this.#options.server.isLeaving;
  }

  ids(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  /** How many have running requests. */
  get answeringCount(): number {
    return [...this.#sessions.values()].filter(({ streams }) => streams.isAnswering).length;
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** Removes a session so that another hall can continue it; undefined while something runs. */
  release(id: string):
    | {
        readonly moving: Moving;
        /** Ends it here. */
        close(): void;
        takeBack(): void;
      }
    | undefined {
    const session = this.#sessions.get(id);
    if (!session || session.streams.isAnswering || this.#options.server.hasTasks) return undefined;
    const { caller, connection } = session;
    const state = connection.movable;
    if (!state) return undefined;
    this.#sessions.delete(id);
    return {
      moving: { caller, state },
      close: () => void connection.close(0),
      takeBack: () => void this.#sessions.set(id, session),
    };
  }

  /** A message, or a batch, on an existing connection. */
  post(
    id: string,
    parsed: Message | readonly Message[],
    response: ServerResponse,
    caller: Identity,
  ): Refusal | undefined {
    const session = this.#find(id, caller);
    if ("status" in session) return session;
    const isRequest = session.streams.post(parsed, response);
    if (typeof isRequest === "object") return isRequest;
    session.isUsed ||= isRequest;
    session.streams.receive(response, () => session.connection.receive(parsed));
    if (!isRequest && !response.headersSent) response.writeHead(202).end();
    return undefined;
  }

  /** Opens the stream for messages that belong to no request, or resumes a lost one. */
  get(request: IncomingMessage, response: ServerResponse, caller: Identity): Refusal | undefined {
    const session = this.#find(header(request, "mcp-session-id"), caller);
    if ("status" in session) return session;
    if (!accepts(request, "text/event-stream"))
      return invalidRequest(406, "Accept must include text/event-stream");
    session.isUsed = true;
    return session.streams.get(header(request, "last-event-id"), response);
  }

  end(id: string | undefined, caller: Identity): Refusal | undefined {
    const session = this.#find(id, caller);
    if ("status" in session) return session;
    this.#forget(session);
    return undefined;
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const session of this.#sessions.values()) session.streams.closeAll();
  }

  #find(id: string | undefined, caller: Identity): Session | Refusal {
    if (id === undefined)
      return invalidRequest(400, "Mcp-Session-Id is missing: send initialize first");
    const session = this.#sessions.get(id);
    // Another caller's session is indistinguishable from one that does not exist.
    if (session && isSameCaller(session.caller, caller)) {
      session.usedAt = performance.now();
      return session;
    }
    return /^[\x21-\x7e]{1,256}$/.test(id)
      ? invalidRequest(404, "unknown session: send initialize again")
      : invalidRequest(400, "Mcp-Session-Id must be visible ASCII");
  }

  /**
   * Closes a connection if there are too many. A caller displaces only its own and those of callers
   * that have as many or more: first of the one with the most, never used before used, then the one
   * that idles longest.
   */
  #makeRoom(principal: string): boolean {
    if (this.#sessions.size < this.#options.countMax) return true;
    const counts = new Map<string, number>();
    for (const { caller } of this.#sessions.values())
      counts.set(caller.principal, (counts.get(caller.principal) ?? 0) + 1);
    const countOf = ({ caller }: Session): number => counts.get(caller.principal) ?? 0;
    const own = counts.get(principal) ?? 0;
    const [first] = [...this.#sessions.values()]
      .filter((session) => !session.streams.isBusy && countOf(session) >= own)
      .sort(
        (a, b) =>
          countOf(b) - countOf(a) || Number(a.isUsed) - Number(b.isUsed) || a.usedAt - b.usedAt,
      );
    if (first) this.#forget(first);
    return first !== undefined;
  }

  /** Clients rarely end their session: one without a stream or a recent request counts as gone. */
  #isPresent(id: string): boolean {
    const session = this.#sessions.get(id);
    if (!session) return false;
    return session.streams.isBusy || performance.now() - session.usedAt < presentMsMax;
  }

  #endIdle(): void {
    const oldest = performance.now() - this.#options.idleMsMax;
    for (const session of this.#sessions.values())
      if (session.usedAt < oldest && !session.streams.isBusy) this.#forget(session);
  }

  #forget(session: Session): void {
    this.#sessions.delete(session.id);
    this.forgotten(session.id);
    void session.connection.close(0);
  }
}

function requestIds(parsed: Message | readonly Message[]): readonly Id[] {
  if (Array.isArray(parsed)) return (parsed as readonly Message[]).flatMap(requestIds);
  const message = parsed as Message;
  return message.kind === "request" ? [message.id] : [];
}

function header({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const endedStreamsMax = 16;
const endedBytesMax = 1024 * 1024;

/** Messages about a request go to the stream of its POST, all others to the stream of the GET. */
class SessionStreams implements Channel {
  readonly #options: SessionsOptions;
  readonly #general: SessionStream;
  readonly #byRequest = new SlotMap<Id, SessionStream>();
  readonly #byNumber = new SlotMap<number, SessionStream>();
  #nextNumber = 0;
  #incoming: ServerResponse | undefined;
  #receiver: Receiver | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#general = this.#create([]);
  }

  readonly queuedBytes = 0;
  canPoll = (): boolean => false;

  get isBusy(): boolean {
    return this.isAnswering || this.#general.isOpen;
  }

  get isAnswering(): boolean {
    return this.#byRequest.size > 0;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  /** An immediate answer without a request id, such as to an invalid batch, belongs to this POST. */
  receive(response: ServerResponse, take: () => void): void {
    this.#incoming = response;
    take();
    this.#incoming = undefined;
  }

  send(frame: string, { about, kind }: Outgoing = { kind: "notification" }): void {
    if (about === undefined && this.#incoming && (kind === "result" || typeof kind === "number")) {
      this.#refuse(this.#incoming, frame);
      return;
    }
    const stream = (about === undefined ? undefined : this.#byRequest.get(about)) ?? this.#general;
    stream.send(frame, kind, about);
    if (about !== undefined && (kind === "result" || typeof kind === "number"))
      this.#release(stream);
  }

  #refuse(response: ServerResponse, frame: string): void {
    const stream = this.#byRequest.values().find((running) => running.answersOn(response));
    sendJson(response, 400, frame);
    stream?.abandon();
    if (stream) this.#release(stream);
  }

  /** A cancelled request gets no answer, so its POST ends. */
  withdrawn(about: Id): void {
    const stream = this.#byRequest.get(about);
    if (!stream) return;
    stream.abandon();
    this.#release(stream);
  }

  #release(stream: SessionStream): void {
    for (const id of stream.requests) this.#byRequest.delete(id);
  }

  /** Opens the stream for a POST's answers; false if it contains no request. */
  post(parsed: Message | readonly Message[], response: ServerResponse): boolean | Refusal {
    const ids = requestIds(parsed);
    if (ids.length === 0) return false;
    // Refused here, because the running request needs its stream.
    const running = ids.find((id) => this.#byRequest.has(id));
    if (running !== undefined)
      return invalidRequest(
        400,
        `a request with the id ${JSON.stringify(running)} is still running`,
        { id: running },
      );
    const stream = this.#create(ids);
    for (const id of ids) this.#byRequest.set(id, stream);
    stream.answerOn(response);
    return true;
  }

  get(lastEventId: string | undefined, response: ServerResponse): Refusal | undefined {
    if (lastEventId === undefined) {
      this.#general.streamTo(response);
      return undefined;
    }
    const [, number, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(lastEventId) ?? [];
    const stream = this.#byNumber.get(Number(number));
    if (!stream) return invalidRequest(400, "Last-Event-ID is unknown or too old");
    stream.streamTo(response, Number(sequence));
    return undefined;
  }

  pause(): void {}
  resume(): void {}

  closeAll(): void {
    for (const stream of this.#byNumber.values()) stream.close();
  }

  async close(): Promise<void> {
    this.closeAll();
    this.#receiver?.closed();
  }

  #create(requests: readonly Id[]): SessionStream {
    const number = this.#nextNumber++;
    const stream: SessionStream = new SessionStream(number, requests, this, this.#options);
    this.#byNumber.set(number, stream);
    return stream;
  }

  forget(number: number): void {
    this.#byNumber.delete(number);
  }

  /** Keeps the last finished streams for clients that resume them. */
  ended(): void {
    const done = this.#byNumber.entries().filter(([, stream]) => stream.isDone);
    let bytes = done.reduce((sum, [, stream]) => sum + stream.keptBytes, 0);
    let left = done.length;
    for (const [number, stream] of done) {
      if (left === 1 || (left <= endedStreamsMax && bytes <= endedBytesMax)) return;
      this.#byNumber.delete(number);
      bytes -= stream.keptBytes;
      left--;
    }
  }
}
