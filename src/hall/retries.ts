import type { Secrets } from "../base/log.ts";
import type { Retried } from "../gateway/retry.ts";
import { type DocumentStore, defaultRetention, type Retention } from "../store/store.ts";
import type { Call } from "../tool.ts";

/** A call that failed and was tried again after `delayMs`. */
export interface CallRetry {
  readonly call: string;
  readonly at: number;
  readonly delayMs: number;
  readonly reason: string;
}

const dayMs = 86_400_000;

/**
 * Keeps the retries of a client's call and of the calls inside it as one document, as long as the rows of the calls.
 * Only calls that were retried have one.
 */
export function keepRetries(
  documents: DocumentStore,
  secrets: Secrets,
  { keepDays }: Retention = defaultRetention,
): Retried {
  const kept = new WeakMap<Call, readonly CallRetry[]>();
  return (call, delayMs, reason) => {
    const root = call.rootCall ?? call;
    const retry = { call: call.id, at: Date.now(), delayMs, reason: secrets.scrub(reason) };
    const all = [...(kept.get(root) ?? []), retry];
    kept.set(root, all);
    // The store reports that it cannot be written.
    documents.putText(root.id, JSON.stringify(all), { ttlMs: keepDays * dayMs }).catch(() => {});
  };
}

export async function findRetries(
  documents: DocumentStore,
  root: string,
): Promise<readonly CallRetry[]> {
  return ((await documents.find(root)) ?? []) as unknown as readonly CallRetry[];
}
