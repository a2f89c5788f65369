import { setTimeout as sleep } from "node:timers/promises";

/** Every wait in a test ends after this time: a guard against hanging, not a measurement. */
export const guardMs = 60_000;

/** Resolves with the first truthy value of `condition`; fails once the guard time has passed. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what = "the condition is met",
): Promise<NonNullable<T>> {
  const endsAt = performance.now() + guardMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > endsAt)
      throw new Error(`still waiting after ${guardMs / 1_000} s: ${what}`);
    await sleep(5);
  }
}

/** Resolves with true when `event` happens, with false when the guard time has passed first. */
export async function happens(event: Promise<unknown>): Promise<boolean> {
  const guard = new AbortController();
  const late = sleep(guardMs, false, { signal: guard.signal }).catch(() => false);
  return Promise.race([event.then(() => true), late]).finally(() => guard.abort());
}
