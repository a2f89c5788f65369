/**
 * Calls `beat` regularly with the elapsed seconds while work may be silent for long, so that a client does
 * not time out. Returns a function that stops it.
 */
export function startHeartbeat(
  beat: (seconds: number) => void,
  everyMs: number = heartbeatMsUsual,
): () => void {
  const startedAt = performance.now();
  const timer = setInterval(() => beat((performance.now() - startedAt) / 1_000), everyMs).unref();
  return () => clearInterval(timer);
}

/** Half of the shortest client timeout we expect. */
const heartbeatMsUsual = 2_000;
