import type { Progress } from "../../tool.ts";
import type { Failure } from "../failure.ts";
import { isAtWork, type Load, type RunView, type TuiState } from "../state.ts";
import { fitRows, type Line, type Role, type TextSpan, textLine, wrapLines } from "./line.ts";
import { outputLines } from "./output.ts";

/** The state of a run and its duration. */
export function runStateSpans({ state, startedAt }: RunView, now: number): Line {
  switch (state.kind) {
    case "running":
      return textLine(`running ${formatDuration(now - startedAt)}`, "accent");
    case "cancelling":
      return textLine("cancelling: waiting for the server", "warning");
    case "completed":
      return textLine(`completed in ${formatDuration(state.endedAt - startedAt)}`, "good");
    case "failed":
    case "timed out":
    case "cancelled": {
      const role = state.kind === "cancelled" ? "warning" : "bad";
      return textLine(`${state.kind} after ${formatDuration(state.endedAt - startedAt)}`, role);
    }
  }
}

/** Saved files, or the failure and its remedy. */
export function runEndLines({ state }: RunView, columns: number): readonly Line[] {
  switch (state.kind) {
    case "running":
    case "cancelling":
      return [];
    case "completed":
      return state.saved.map((path) => [{ text: "saved: " }, { text: path, role: "accent" }]);
    default:
      return failureLines(state.failure, columns);
  }
}

export function failureLines({ kind, message, hint }: Failure, columns: number): readonly Line[] {
  const role: Role = kind === "cancelled" ? "warning" : "bad";
  return [
    ...wrapLines(message, columns, role).slice(0, 4),
    ...wrapLines(hint, columns).slice(0, 2),
  ];
}

export function loadLines(load: Load, columns: number): readonly Line[] {
  switch (load.kind) {
    case "loaded":
      return [];
    case "loading":
      return [textLine("loading …", "quiet")];
    case "failed":
      return failureLines(load.failure, columns);
  }
}

/** "1.2 s", "42 s", "3 min 5 s", "1 h 4 min". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export interface CallResultOptions {
  readonly state: TuiState;
  readonly now: number;
  readonly columns: number;
  readonly rows: number;
}

/** A call below the form or the task it was started from. */
export function callResultLines(
  run: RunView,
  { state, now, columns, rows }: CallResultOptions,
): readonly Line[] {
  const about = run.about === "" ? " ───" : ` ─── ${run.about}`;
  const head: readonly Line[] = [
    [{ text: "─── ", role: "quiet" }, ...runStateSpans(run, now), { text: about, role: "quiet" }],
    ...(run.progress && isAtWork(run) ? [progressLine(run.progress, columns)] : []),
  ];
  const foot = runEndLines(run, columns);
  const outputRows = Math.max(1, rows - head.length - foot.length);
  const output = outputLines(run, state, { columns, rows: outputRows });
  return [...head, ...fitRows(output, outputRows), ...foot];
}

const barColumnsMax = 30;

/** A bar with its message; without a total, the message, or how much is done. */
export function progressLine(
  { progress, total, message = "", elapsedSeconds }: Progress,
  columns: number,
): Line {
  const age = elapsedSeconds === undefined ? "" : ` (${formatDuration(elapsedSeconds * 1000)})`;
  const text: Line[number] = { text: message + age };
  const count: TextSpan = { text: elapsedSeconds ? "" : ` · ${round(progress)}`, role: "quiet" };
  if (total === undefined || total <= 0)
    return message === "" ? textLine(`${round(progress)} done`, "accent") : [text, count];
  const share = Math.min(1, Math.max(0, progress / total));
  const width = Math.min(barColumnsMax, Math.floor(columns / 3));
  const full = Math.round(share * width);
  // A total of 100 would repeat the percentage.
  const parts = total === 100 ? "" : `${round(progress)}/${round(total)}  `;
  return [
    { text: "█".repeat(full), role: "accent" },
    { text: "░".repeat(width - full), role: "quiet" },
    { text: ` ${String(Math.floor(share * 100)).padStart(3)} %  ${parts}` },
    text,
  ];
}

function round(number: number): string {
  return String(Math.round(number * 100) / 100);
}

const levels = "▁▂▃▄▅▆▇█";

/** Values as a row of bars; neighbours are added up until they fit. */
export function sparkline(values: readonly number[], columns: number): string {
  const each = Math.max(1, Math.ceil(values.length / Math.max(1, columns)));
  const sums: number[] = [];
  for (let at = 0; at < values.length; at += each)
    sums.push(values.slice(at, at + each).reduce((sum, value) => sum + value, 0));
  const most = Math.max(...sums, 1e-9);
  return sums.map((sum) => levels[Math.ceil((sum / most) * (levels.length - 1))]).join("");
}
