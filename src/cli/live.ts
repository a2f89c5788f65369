import { styleText } from "node:util";
import { harmlessLines, makeHarmless } from "../base/harmless.ts";
import { withoutAge } from "../base/pulse.ts";
import type { AnswerQuestion } from "../client/client.ts";
import type { Progress } from "../tool.ts";

/** What a call tells while it runs, on stderr: at a terminal lines with a bar below them, elsewhere one plain line for each piece of news. */
export interface Live {
  progress(progress: Progress): void;
  /** What a tool, or a command it runs, says. */
  log(data: unknown): void;
  /** Takes the bar away: something else is about to be written, or it is over. */
  clear(): void;
}

/** The part of `process.stderr` that is needed. */
export interface LiveOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export function createLive(output: LiveOutput = process.stderr): Live {
  const isTerminal = output.isTTY === true;
  let bar = "";
  let lastNews: string | undefined;

  function clear(): void {
    if (bar !== "") output.write("\r\x1b[K");
    bar = "";
  }

  function draw(text: string): void {
    // A bar that wraps cannot be taken away again.
    bar = text.slice(0, Math.max(20, (output.columns || 80) - 1));
    output.write(`\r\x1b[K${bar}`);
  }

  return {
    clear,
    progress({ progress, total, message }) {
      const share =
        total === undefined || total <= 0 ? undefined : Math.max(0, Math.min(1, progress / total));
      const said = message === undefined ? "" : makeHarmless(message).replace(/\s+/g, " ");
      if (isTerminal) return draw(`${drawShare(share, progress)} ${said}`);
      // How long something has run is no news.
      const news = withoutAge(said);
      if (news !== "" && news !== lastNews)
        output.write(`${share === undefined ? "" : `[${Math.round(share * 100)} %] `}${news}\n`);
      lastNews = news;
    },
    log(data) {
      const lines = harmlessLines(typeof data === "string" ? data : (JSON.stringify(data) ?? ""));
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

/** For a program that reads JSON: nothing. */
export const quiet: Live = { progress: () => {}, log: () => {}, clear: () => {} };

/** The same answers, asked for below what was told so far. */
export function below(live: Live, answer: AnswerQuestion): AnswerQuestion {
  return (params) => {
    live.clear();
    return answer(params);
  };
}
