import type { RunView, TuiState } from "../state.ts";
import { fitRows, type Line } from "./line.ts";
import { outputLines } from "./output.ts";
import { progressLine } from "./progress.ts";
import { isAtWork, runEndLines, runStateLine } from "./run-state.ts";

export interface CallResultOptions {
  readonly run: RunView;
  readonly state: TuiState;
  readonly now: number;
  readonly columns: number;
  readonly rows: number;
}

/** A call below the form or the task it was started from. */
export function callResultLines({
  run,
  state,
  now,
  columns,
  rows,
}: CallResultOptions): readonly Line[] {
  const head: readonly Line[] = [
    [
      { text: "─── ", role: "quiet" },
      ...runStateLine(run, now),
      { text: run.about === "" ? " ───" : ` ─── ${run.about}`, role: "quiet" },
    ],
    ...(run.progress && isAtWork(run) ? [progressLine(run.progress, columns)] : []),
  ];
  const foot = runEndLines(run, columns);
  const outputRows = Math.max(1, rows - head.length - foot.length);
  return [
    ...head,
    ...fitRows(outputLines(run, state, { columns, rows: outputRows }), outputRows),
    ...foot,
  ];
}
