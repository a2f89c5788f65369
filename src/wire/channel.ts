import type { HallError } from "../base/errors.ts";
import type { Id } from "./message.ts";

/**
 * A transport: frames in, frames out, one message per frame. Implementations: stdio lines, an
 * in-memory pair, WebSocket, and the HTTP transports at both ends. `test/contract/channel.ts` tests
 * what they have in common.
 */
export interface Channel {
  /** Called once; frames that arrived earlier are delivered then. */
  start(receiver: Receiver): void;
  /**
   * Queues a frame and returns. `message` is what the text says, so that no transport parses what
   * was just written; it is absent only for text passed on unread.
   */
  send(frame: string, message?: Outgoing): void;
  /** The answer to a request of ours has arrived. */
  answered?(id: Id): void;
  /** The peer cancelled this request, so no answer will follow: its resources can be freed. */
  withdrawn?(about: Id): void;
  /** Bytes accepted by `send` and not yet taken by the peer. */
  readonly queuedBytes: number;
  /** Stops and restarts reading. */
  pause(): void;
  resume(): void;
  /** Writes the queue, then closes the transport. Idempotent. `now` drops the queue instead. */
  close(options?: { readonly now?: boolean }): Promise<void>;
}

/** The kind of a frame; a number is the code of an error answer. */
export type FrameKind = "notification" | "request" | "result" | number;

/** A message on its way out, beside its text. */
export interface Outgoing {
  readonly kind: FrameKind;
  /** The peer's request that it belongs to, for transports with a stream per request. */
  readonly about?: Id | undefined;
  /** Of a request of ours. */
  readonly id?: Id | undefined;
  /** Of a request or notification of ours. */
  readonly method?: string | undefined;
  readonly params?: unknown;
}

export interface Receiver {
  /** `owner` is the progress token of the request on whose stream the frame came, if any. */
  frame(bytes: Buffer, owner?: number): void;
  /** A message over the size limit was skipped: the first and last few hundred characters of it, joined. */
  oversize(edges: string): void;
  /** A request of ours could not be delivered, or its answer is lost. Ignored if it was answered. */
  failed?(request: Id, why: () => HallError): void;
  /** The queue is empty again. */
  drained(): void;
  /** The peer will send nothing more, but may still read. */
  ended(): void;
  /** Nothing can be sent any more. Called once, as the last event. */
  closed(): void;
}

/** Limits of one connection, the same for every transport. */
export interface Limits {
  /** One message, in and out. */
  readonly messageBytesMax: number;
  /** Nesting of arrays and objects. */
  readonly depthMax: number;
  /** Values in one message: bytes alone do not bound memory, `{},{},…` grows thirty-fold when parsed. */
  readonly nodesMax: number;
  /** Requests of one peer that may run at once. */
  readonly inFlightMax: number;
  /** Bytes waiting to be written; past this the peer is not read from. */
  readonly writeQueueBytesMax: number;
  /** How long a peer may leave its queue full before it is cut. */
  readonly stalledMsMax: number;
  /** The last resort for a handler that never returns; tools have shorter deadlines of their own. */
  readonly answerMsMax: number;
}

export const defaultLimits: Limits = {
  messageBytesMax: 10 * 1024 * 1024,
  depthMax: 64,
  nodesMax: 1_000_000,
  inFlightMax: 1_000,
  writeQueueBytesMax: 16 * 1024 * 1024,
  stalledMsMax: 10_000,
  answerMsMax: 660_000,
};
