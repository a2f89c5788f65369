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
