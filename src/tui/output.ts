import type { Picture } from "./picture.ts";

/** What a run said, the newest lines of it: bounded, so that a talkative server costs no memory. All of it is in the run's log. */
export interface OutputRing {
  readonly lines: readonly OutputLine[];
  /** How many older lines are gone from here. */
  readonly dropped: number;
}

export interface OutputLine {
  /** `out` from the result and what commands print, `err` from the server's and their stderr and from warnings, `progress` and `log` while it runs. */
  readonly source: "out" | "err" | "progress" | "log";
  /** Made harmless; one line. */
  readonly text: string;
  /** What the line is about, shown above it. */
  readonly picture?: Picture | undefined;
}

export const emptyOutput: OutputRing = { lines: [], dropped: 0 };
const linesMax = 5_000;
/** What is kept of a line; the log has the rest. */
export const lineCharactersMax = 4_000;

/** The same ring with more lines. Many at once cost what one costs. */
export function appendOutput(
  { lines, dropped }: OutputRing,
  more: readonly OutputLine[],
  max: number = linesMax,
): OutputRing {
  if (more.length === 0) return { lines, dropped };
  const excess = Math.max(0, lines.length + more.length - max);
  const fromOld = Math.min(excess, lines.length);
  return {
    lines: [...lines.slice(fromOld), ...more.slice(excess - fromOld).map(shorten)],
    dropped: dropped + excess,
  };
}

function shorten(line: OutputLine): OutputLine {
  if (line.text.length <= lineCharactersMax) return line;
  return { ...line, text: `${keepHead(line.text, lineCharactersMax)}… (all of it is in the log)` };
}

/** The beginning of a long text, and nothing else of it: a mere slice would keep all of it in memory. */
export function keepHead(text: string, characters: number): string {
  return text.length <= characters ? text : Buffer.from(text.slice(0, characters)).toString();
}
