import type { OutputLine } from "../output.ts";
import { imageLines } from "../picture.ts";
import { isAtWork, type RunView, type TuiState } from "../state.ts";
import { type KeyBinding, on } from "../view.ts";

import { hangingLines, type Line, type Role, textLine } from "./line.ts";

/**
 * The end of a run's output, or the part scrolled to; an answer is shown from its start. Only visible
 * lines are laid out, whatever the ring holds. The scroll position is the number of the last visible
 * line, counted from the first line of the run, so that new lines do not move the text.
 */
export function outputLines(
  run: RunView,
  state: TuiState,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly Line[] {
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

function firstLines(run: RunView, { rows, ...room }: Omit<Window, "bottom">): readonly Line[] {
  const { lines } = run.output;
  const shown: Line[] = [];
  let at = answerStart(run);
  for (; at < lines.length && shown.length <= rows; at++) {
    const line = lines[at];
    if (line) shown.push(...showLine(line, { rows, ...room }));
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
): readonly Line[] {
  const shown: Line[] = [];
  for (let at = bottom - dropped - 1; at >= 0 && shown.length < rows; at--) {
    const line = lines[at];
    if (line) shown.unshift(...showLine(line, { rows, ...room }));
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

/** Rows left for the image's caption and a neighbouring line. */
const rowsBesideImage = 2;

function showLine(
  { source, text, picture }: OutputLine,
  { columns, rows, folder }: Omit<Window, "bottom">,
): readonly Line[] {
  const { mark, role } = styles[source];
  const shown = withinProject(text, folder);
  const words = hangingLines({ text: mark, role }, { text: shown, role }, columns);
  if (!picture) return words;
  const image = imageLines(picture, {
    columns: columns - mark.length,
    rows: rows - rowsBesideImage,
  });
  return [...image.map((line): Line => [{ text: "  " }, ...line]), ...words];
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
