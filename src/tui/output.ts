/** What a run said, the newest lines of it: bounded, so that a talkative server costs no memory. All of it is in the run's log. */
export interface OutputRing {
  readonly lines: readonly OutputLine[];
  /** How many older lines are gone from here. */
  readonly dropped: number;
}

export interface OutputLine {
  /** `out` from the result, `err` from the server's stderr and its warnings, `progress` and `log` while it runs. */
  readonly source: "out" | "err" | "progress" | "log";
  /** Made harmless; one line. */
  readonly text: string;
}

export const emptyOutput: OutputRing = { lines: [], dropped: 0 };
const linesMax = 5_000;

/** The same ring with more lines. Many at once cost what one costs. */
export function appendOutput({ lines, dropped }: OutputRing, more: readonly OutputLine[], max: number = linesMax): OutputRing {
  if (more.length === 0) return { lines, dropped };
  const excess = Math.max(0, lines.length + more.length - max);
  const fromOld = Math.min(excess, lines.length);
  return { lines: [...lines.slice(fromOld), ...more.slice(excess - fromOld)], dropped: dropped + excess };
}
