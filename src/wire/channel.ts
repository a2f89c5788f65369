import type { HallError } from "../base/errors.ts";
import type { Id } from "./message.ts";

/**
 * A transport: frames in, frames out, one frame one message. It knows nothing of JSON-RPC.
 * Implementations: stdio lines, an in-memory pair, WebSocket, and one for each way of HTTP at both ends. What they share is in `test/contract/channel.ts`.
 */
export interface Channel {
  /** Called once; frames that arrived earlier are delivered then. */
  start(receiver: Receiver): void;
  /** Queues a frame and returns. `about` is the request it belongs to, for transports with a stream per request. */
  send(frame: string, about?: Id, kind?: FrameKind): void;
  /** A request that will never be answered, because the peer withdrew it: what is held for its answer can go. */
  withdrawn?(about: Id): void;
  /** Bytes accepted by `send` and not yet taken by the peer. */
  readonly queuedBytes: number;
  /** Stops and restarts reading. */
  pause(): void;
  resume(): void;
  /** Writes what is queued, then lets go. Idempotent. `now` drops the queue. */
  close(options?: { readonly now?: boolean }): Promise<void>;
}

/** What a frame is, for transports that treat kinds differently; a number is the code of an error answer. */
export type FrameKind = "notification" | "request" | "result" | number;

export interface Receiver {
  frame(bytes: Buffer): void;
  /** A message over the size limit is being skipped. */
  oversize(): void;
  /** It has been skipped: the first and last few hundred characters of it, joined. */
  skipped?(edges: string): void;
  /** A request of ours could not be delivered, or its answer is lost; nothing happens, and `why` is not asked, if it was answered. */
  failed?(request: Id, why: () => HallError): void;
  /** The queue is empty again. */
  drained(): void;
  /** The peer will send nothing more, but may still read. */
  ended(): void;
  /** Nothing can be sent any more. Called once, last. */
  closed(): void;
}
