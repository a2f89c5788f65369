/**
 * Signs of life of work that may be silent for long: whoever waits for it would otherwise take it for dead. The beat hears how many
 * seconds the work has run. Returns the way to stop.
 */
export function startPulse(
  beat: (seconds: number) => void,
  everyMs: number = pulseMsUsual,
): () => void {
  const startedAt = performance.now();
  const timer = setInterval(() => beat((performance.now() - startedAt) / 1_000), everyMs).unref();
  return () => clearInterval(timer);
}

/** Twice in the shortest silence that a client can be expected to bear. */
const pulseMsUsual = 2_000;
