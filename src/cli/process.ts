/** How long running requests may take to finish once the process is asked to stop. */
export const drainMs = 10_000;

/** The first signal asks to end, the second insists. Returns a function that stops listening. */
export function onStopSignals(ask: () => void, insist: () => void): () => void {
  let count = 0;
  const heard = (): void => (++count === 1 ? ask() : insist());
  process.on("SIGTERM", heard).on("SIGINT", heard);
  return () => void process.off("SIGTERM", heard).off("SIGINT", heard);
}
