import { setTimeout as sleep } from "node:timers/promises";

/** A guard against hanging, not a measurement: far longer than a busy machine needs. */
const guardMs = 30_000;

/** Resolves with the first truthy value of `condition`; fails once the guard time has passed. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what = "the condition",
): Promise<NonNullable<T>> {
  const endsAt = performance.now() + guardMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > endsAt)
      throw new Error(`${what} was not met within ${guardMs / 1_000} s`);
    await sleep(5);
  }
}
