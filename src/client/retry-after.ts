import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";

/**
 * Honours Retry-After (429, 503) for all callers of a connection. A call with enough time left waits
 * and retries; one without fails at once with the time it would take.
 */
export type RetryAfterGate = <T>(scope: Scope, send: () => Promise<T>) => Promise<T>;

export function createRetryAfterGate(): RetryAfterGate {
  let pausedUntil = 0;

  async function pause(scope: Scope, reason: HallError | undefined): Promise<void> {
    const waitMs = pausedUntil - performance.now();
    if (waitMs <= 0) return;
    if (waitMs >= scope.remainingMs) {
      const { code, message, details } =
        reason ?? new HallError("RATE_LIMITED", "the server limits its rate");
      throw new HallError(code, message, {
        details: { ...details, retryAfterSeconds: Math.ceil(waitMs) / 1000 },
      });
    }
    await scope.race(sleep(waitMs, undefined, { ref: false }));
  }

  return async (scope, send) => {
    let reason: HallError | undefined;
    for (;;) {
      if (pausedUntil > 0) await pause(scope, reason);
      try {
        return await send();
      } catch (error) {
        const seconds = error instanceof HallError ? error.details?.retryAfterSeconds : undefined;
        if (!(error instanceof HallError) || typeof seconds !== "number") throw error;
        reason = error;
        pausedUntil = Math.max(pausedUntil, performance.now() + seconds * 1000);
        if (!scope.takeRetry()) throw error;
      }
    }
  };
}
