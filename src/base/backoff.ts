/**
 * The wait before attempt `attempt` (1 is the first retry): doubles from `firstMs` up to `maxMs`.
 * Full jitter, so that clients that failed together do not come back together.
 */
export function backoffMs(
  attempt: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
  random: () => number = Math.random,
): number {
  return random() * Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, attempt - 1)));
}
