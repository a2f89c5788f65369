import { setTimeout as sleep } from "node:timers/promises";
import { HallError } from "../base/errors.ts";
import type { Scope } from "../base/scope.ts";

/**
 * A server that asks for a pause (429 or 503 with Retry-After) gets it, from all callers on its line. Who has the time
 * waits and tries again; who has not is told at once how long it would take.
 */
export type Pace = <T>(scope: Scope, send: () => Promise<T>) => Promise<T>;

const retriesMax = 3;

export function createPace(): Pace {
  let restingUntil = 0;

  async function pause(scope: Scope, reason: HallError | undefined): Promise<void> {
    const waitMs = restingUntil - performance.now();
    if (waitMs <= 0) return;
    if (waitMs >= scope.remainingMs) {
      const { code, message, details } =
        reason ?? new HallError("RATE_LIMITED", "the server wants fewer calls");
      throw new HallError(code, message, {
        details: { ...details, retryAfterSeconds: Math.ceil(waitMs) / 1000 },
      });
    }
    await scope.race(sleep(waitMs, undefined, { ref: false }));
  }

  return async (scope, send) => {
    let reason: HallError | undefined;
    for (let retries = 0; ; retries++) {
      if (restingUntil > 0) await pause(scope, reason);
      try {
        return await send();
      } catch (error) {
        const seconds = error instanceof HallError ? error.details?.retryAfterSeconds : undefined;
        if (!(error instanceof HallError) || typeof seconds !== "number") throw error;
        reason = error;
        restingUntil = Math.max(restingUntil, performance.now() + seconds * 1000);
        if (retries === retriesMax) throw error;
      }
    }
  };
}
