import type { LogEntry } from "../src/hall/server-logs.ts";

/** Of all servers; the page forgets the oldest. */
const linesMax = 5_000;
const shownMax = 1_000;

export function addLines(
  lines: readonly LogEntry[],
  added: readonly LogEntry[],
): readonly LogEntry[] {
  return [...lines, ...added].slice(-linesMax);
}

/** The log as it was read, and the lines that came later. */
export function joinLog(read: readonly LogEntry[], live: readonly LogEntry[]): readonly LogEntry[] {
  const last = read.at(-1)?.at ?? 0;
  return [...read, ...live.filter(({ at }) => at > last)].slice(-shownMax);
}

/** Differs once there is a newer line; their number does not, once the oldest are forgotten. */
export function newestOf(live: readonly LogEntry[]): unknown {
  return live.at(-1);
}
