import type { ReactElement } from "react";
import type { OutputLine } from "../output.ts";
import type { RunView, TuiState } from "../state.ts";
import { type Binding, on } from "../view.ts";
import { type Line, Lines, type Role } from "./line.tsx";
import { wrap } from "./width.ts";

export interface OutputProps {
  readonly run: RunView;
  readonly state: TuiState;
  readonly columns: number;
  readonly rows: number;
}

/**
 * The end of what a run said, or a part further up. Only lines that are seen are looked at, whatever the ring holds. How far one has
 * scrolled is kept as the number of the last line shown, counted from the first the run said, so that new lines move nothing.
 */
export function Output({ run, state, columns, rows }: OutputProps): ReactElement {
  return <Lines lines={outputLines(run, { bottom: bottomOf(run, state), columns, rows })} columns={columns} rows={rows} />;
}

interface Window {
  readonly bottom: number;
  readonly columns: number;
  readonly rows: number;
}

function outputLines({ output: { lines, dropped } }: RunView, { bottom, columns, rows }: Window): readonly Line[] {
  const shown: Line[] = [];
  for (let at = bottom - dropped - 1; at >= 0 && shown.length < rows; at--) {
    const line = lines[at];
    if (line) shown.unshift(...showLine(line, columns));
  }
  if (shown.length < rows && dropped > 0) shown.unshift([{ text: `… ${dropped} earlier lines are in the log`, role: "quiet" }]);
  return shown.slice(-rows);
}

const charactersShown = 4_000;
const looks: Readonly<Record<OutputLine["source"], { readonly mark: string; readonly role: Role }>> = {
  out: { mark: "  ", role: "plain" },
  err: { mark: "! ", role: "bad" },
  progress: { mark: "· ", role: "quiet" },
  log: { mark: "- ", role: "quiet" },
  note: { mark: "# ", role: "accent" },
};

function showLine({ source, text }: OutputLine, columns: number): readonly Line[] {
  const { mark, role } = looks[source];
  const shown = text.length > charactersShown ? `${text.slice(0, charactersShown)}… (all of it is in the log)` : text;
  return wrap(shown, columns - mark.length).map(
    (part, index): Line => [
      { text: index === 0 ? mark : "  ", role },
      { text: part, role },
    ],
  );
}

function scrollName({ id }: RunView): string {
  return `run ${id}`;
}

function lastOf({ output: { lines, dropped } }: RunView): number {
  return dropped + lines.length;
}

/** The number of the last line shown. */
function bottomOf(run: RunView, { scrolls }: Pick<TuiState, "scrolls">): number {
  const wanted = scrolls[scrollName(run)] ?? 0;
  return wanted === 0 ? lastOf(run) : Math.min(lastOf(run), Math.max(run.output.dropped + 1, wanted));
}

export function isFollowing(run: RunView, state: TuiState): boolean {
  return bottomOf(run, state) === lastOf(run);
}

/** `byLine` only where up and down mean nothing else. */
export function outputBindings(run: RunView, state: TuiState, { page, byLine }: { readonly page: number; readonly byLine: boolean }): readonly Binding[] {
  const to = (line: number) => () => {
    const first = run.output.dropped + Math.min(page, run.output.lines.length);
    return { kind: "scroll", view: scrollName(run), to: line >= lastOf(run) ? 0 : Math.max(first, line) } as const;
  };
  const bottom = bottomOf(run, state);
  const pages = [on("pageup", "scroll back", to(bottom - page)), on("pagedown", "scroll on", to(bottom + page))];
  if (!byLine) return pages;
  return [
    ...pages,
    on("up", "line back", to(bottom - 1)),
    on("down", "line on", to(bottom + 1)),
    on("home", "to the start", to(0)),
    on("end", "to the end", to(lastOf(run))),
  ];
}
