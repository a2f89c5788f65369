import type { Progress } from "../../tool.ts";
import type { Failure } from "../failure.ts";
import type { OutputLine } from "../output.ts";
import { isAtWork, type Load, type RunView, type TuiState } from "../state.ts";
import { type KeyBinding, on } from "../view.ts";
import {
  fitRows,
  hangingLines,
  type Role,
  type ScreenLine,
  type TextSpan,
  textLine,
  wrapLines,
} from "./line.ts";

/** The state of a run and its duration. */
export function runStateSpans({ state, startedAt }: RunView, now: number): ScreenLine {
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
export function runEndLines({ state }: RunView, columns: number): readonly ScreenLine[] {
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

export function failureLines(
  { kind, message, hint }: Failure,
  columns: number,
): readonly ScreenLine[] {
  const role: Role = kind === "cancelled" ? "warning" : "bad";
  return [
    ...wrapLines(message, columns, role).slice(0, 4),
    ...wrapLines(hint, columns).slice(0, 2),
  ];
}

export function loadLines(load: Load, columns: number): readonly ScreenLine[] {
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

interface CallResultOptions {
  readonly state: TuiState;
  readonly now: number;
  readonly columns: number;
  readonly rows: number;
}

/** A call below the form or the task it was started from. */
export function callResultLines(
  run: RunView,
  { state, now, columns, rows }: CallResultOptions,
): readonly ScreenLine[] {
  const about = run.about === "" ? " ───" : ` ─── ${run.about}`;
  const head: readonly ScreenLine[] = [
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
): ScreenLine {
  const age = elapsedSeconds === undefined ? "" : ` (${formatDuration(elapsedSeconds * 1000)})`;
  const text: ScreenLine[number] = { text: message + age };
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

/**
 * The end of a run's output, or the part scrolled to; an answer is shown from its start. Only visible
 * lines are laid out, whatever the ring holds. The scroll position is the number of the last visible
 * line, counted from the first line of the run, so that new lines do not move the text.
 */
export function outputLines(
  run: RunView,
  state: TuiState,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly ScreenLine[] {
  const room = { columns, rows, folder: state.target.folder };
  const isAtStart = isAnswer(run) && (state.scrolls[scrollName(run)] ?? 0) === 0;
  const first = isAtStart ? firstLines(run, room) : [];
  const bottom = isAtStart ? lastOf(run) : bottomOf(run, state, rows);
  // A short answer leaves room for the lines before it.
  return first.length < rows ? lastLines(run, { bottom, ...room }) : first;
}

/** A tool or an agent answers; a step reports, and the end of its report matters most. */
function isAnswer(run: RunView): boolean {
  return run.kind !== "step" && !isAtWork(run);
}

/** The first line of the answer, after progress and log lines. */
function answerStart({ output: { lines } }: RunView): number {
  const last = lines.findLastIndex(({ source }) => source === "out");
  return lines.slice(0, Math.max(0, last)).findLastIndex(({ source }) => source !== "out") + 1;
}

function firstLines(
  run: RunView,
  { rows, ...room }: Omit<Window, "bottom">,
): readonly ScreenLine[] {
  const { lines } = run.output;
  const shown: ScreenLine[] = [];
  let at = answerStart(run);
  for (; at < lines.length && shown.length <= rows; at++) {
    const line = lines[at];
    if (line) shown.push(...showLine(line, room));
  }
  if (shown.length <= rows) return shown;
  const left = shown.length - rows + 1 + lines.length - at;
  return [...shown.slice(0, rows - 1), textLine(`↓ ${left} more lines: PgDn`, "quiet")];
}

interface Window {
  readonly bottom: number;
  readonly columns: number;
  readonly rows: number;
  readonly folder: string;
}

function lastLines(
  { output: { lines, dropped } }: RunView,
  { bottom, rows, ...room }: Window,
): readonly ScreenLine[] {
  const shown: ScreenLine[] = [];
  for (let at = bottom - dropped - 1; at >= 0 && shown.length < rows; at--) {
    const line = lines[at];
    if (line) shown.unshift(...showLine(line, room));
  }
  if (shown.length < rows && dropped > 0)
    shown.unshift(textLine(`… ${dropped} earlier lines are in the log`, "quiet"));
  return shown.slice(-rows);
}

const styles: Readonly<
  Record<OutputLine["source"], { readonly mark: string; readonly role: Role }>
> = {
  out: { mark: "  ", role: "plain" },
  err: { mark: "! ", role: "bad" },
  progress: { mark: "· ", role: "quiet" },
  log: { mark: "- ", role: "quiet" },
};

function showLine(
  { source, text }: OutputLine,
  { columns, folder }: Pick<Window, "columns" | "folder">,
): readonly ScreenLine[] {
  const { mark, role } = styles[source];
  const shown = withinProject(text, folder);
  return hangingLines({ text: mark, role }, { text: shown, role }, columns);
}

/** Shows project files relative to the project; the log has full paths. */
function withinProject(text: string, folder: string): string {
  const start = `${folder}/`;
  return text.replaceAll(start, (found, at: number) =>
    /[\w./-]/.test(text[at - 1] ?? " ") || !/[\w.]/.test(text[at + found.length] ?? " ")
      ? found
      : "",
  );
}

function scrollName({ id }: RunView): string {
  return `run ${id}`;
}

function lastOf({ output: { lines, dropped } }: RunView): number {
  return dropped + lines.length;
}

/** The number of the last visible line. */
function bottomOf(run: RunView, { scrolls }: Pick<TuiState, "scrolls">, page: number): number {
  const wanted = scrolls[scrollName(run)] ?? 0;
  if (wanted === 0) return isAnswer(run) ? firstPage(run, page) : lastOf(run);
  return Math.min(lastOf(run), Math.max(run.output.dropped + 1, wanted));
}

/** The number of the last line of the answer's first page. */
function firstPage(run: RunView, page: number): number {
  return Math.min(run.output.dropped + answerStart(run) + page, lastOf(run));
}

export function isScrolledBack(run: RunView, { scrolls }: TuiState): boolean {
  return !isAnswer(run) && (scrolls[scrollName(run)] ?? 0) !== 0;
}

/** `byLine`: up and down scroll, where they have no other meaning. */
export function outputBindings(
  run: RunView,
  state: TuiState,
  { page, byLine }: { readonly page: number; readonly byLine: boolean },
): readonly KeyBinding[] {
  const last = lastOf(run);
  const top = Math.min(run.output.dropped + page, last);
  // Position 0 means the default: the start of an answer, or the growing end.
  const byDefault = isAnswer(run) ? firstPage(run, page) : last;
  const to = (line: number) => () => {
    const at = Math.min(last, Math.max(top, line));
    return { kind: "scroll", view: scrollName(run), to: at === byDefault ? 0 : at } as const;
  };
  const bottom = bottomOf(run, state, page);
  const pages = [
    on("pageup", "scroll back", to(bottom - page)),
    on("pagedown", "scroll forward", to(bottom + page)),
  ];
  if (!byLine) return pages;
  return [
    ...pages,
    on("up", "line back", to(bottom - 1)),
    on("down", "line forward", to(bottom + 1)),
    on("home", "to the start", to(0)),
    on("end", "to the end", to(last)),
  ];
}
