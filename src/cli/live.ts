import { styleText } from "node:util";
import { sanitize, sanitizeLines } from "../base/sanitize.ts";
import type { AnswerQuestion } from "../client/client.ts";
import type { Progress } from "../tool.ts";

/** Progress and logs of a running call on stderr: in a terminal lines above a bar, elsewhere one plain line per change. */
export interface Live {
  progress(progress: Progress): void;
  /** A log message of the tool. */
  log(data: unknown): void;
  /** Removes the bar before something else is written. */
  clear(): void;
}

/** The part of `process.stderr` in use. */
export interface LiveOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export function createLive(output: LiveOutput = process.stderr): Live {
  const isTerminal = output.isTTY === true;
  let bar = "";
  let lastText: string | undefined;

  function clear(): void {
    if (bar !== "") output.write("\r\x1b[K");
    bar = "";
  }

  function draw(text: string): void {
    // A bar that wraps cannot be erased.
    bar = text.slice(0, Math.max(20, (output.columns || 80) - 1));
    output.write(`\r\x1b[K${bar}`);
  }

  return {
    clear,
    progress({ progress, total, message, elapsedSeconds }) {
      const share =
        total === undefined || total <= 0 ? undefined : Math.max(0, Math.min(1, progress / total));
      const text = message === undefined ? "" : sanitize(message).replace(/\s+/g, " ");
      const elapsed = elapsedSeconds === undefined ? "" : ` (${Math.round(elapsedSeconds)} s)`;
      if (isTerminal) return draw(`${drawShare(share, progress)} ${text}${elapsed}`);
      if (text !== "" && text !== lastText)
        output.write(`${share === undefined ? "" : `[${Math.round(share * 100)} %] `}${text}\n`);
      lastText = text;
    },
    log(data) {
      const lines = sanitizeLines(typeof data === "string" ? data : (JSON.stringify(data) ?? ""));
      const below = bar;
      clear();
      for (const line of lines)
        output.write(
          `${isTerminal && process.env.NO_COLOR === undefined ? styleText("dim", line, { validateStream: false }) : line}\n`,
        );
      if (below !== "") draw(below);
    },
  };
}

function drawShare(share: number | undefined, progress: number): string {
  return share === undefined
    ? `${progress}`
    : `[${"█".repeat(Math.round(share * 20)).padEnd(20, "░")}] ${Math.round(share * 100)} %`;
}

/** Shows nothing, for --json. */
export const quiet: Live = { progress: () => {}, log: () => {}, clear: () => {} };

/** Clears the bar before a question is shown. */
export function below(live: Live, answer: AnswerQuestion): AnswerQuestion {
  return (params) => {
    live.clear();
    return answer(params);
  };
}
