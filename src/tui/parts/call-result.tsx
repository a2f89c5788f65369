import { Box } from "ink";
import type { ReactElement } from "react";
import type { RunView, TuiState } from "../state.ts";
import { type Line, Lines } from "./line.tsx";
import { Output } from "./output.tsx";
import { progressLine } from "./progress.ts";
import { isAtWork, runEndLines, runStateLine } from "./run-state.ts";

export interface CallResultProps {
  readonly run: RunView;
  readonly state: TuiState;
  readonly now: number;
  readonly columns: number;
  readonly rows: number;
}

/** A call under the form it was made with, or under the task an agent was given. */
export function CallResult({ run, state, now, columns, rows }: CallResultProps): ReactElement {
  const foot = runEndLines(run, columns);
  const head: readonly Line[] = [
    [
      { text: "─── ", role: "quiet" },
      ...runStateLine(run, now),
      { text: run.about === "" ? " ───" : ` ─── ${run.about}`, role: "quiet" },
    ],
    ...(run.progress && isAtWork(run) ? [progressLine(run.progress, columns)] : []),
  ];
  return (
    <Box flexDirection="column">
      <Lines lines={head} columns={columns} />
      <Output
        run={run}
        state={state}
        columns={columns}
        rows={Math.max(1, rows - head.length - foot.length)}
      />
      <Lines lines={foot} columns={columns} />
    </Box>
  );
}
