import type { Editing } from "../editing.ts";
import { set } from "../events.ts";
import { textFieldLines } from "../parts/form.ts";
import { fitRows, hangingLines, type Line, textLine, wrapLines } from "../parts/line.ts";
import { widthOf } from "../parts/text.ts";
import type { LispEntry, LispState, TuiState } from "../state.ts";
import { bindingsFrom, bodyRows, on, type Screen, type View } from "../view.ts";

/** A Lisp prompt: one form at a time. */
export const lispScreen: Screen = {
  title: "Lisp",

  bindings({ state, view }) {
    const isTyping = isTypingForm(view);
    const type = (part: "input" | "list") => ({ kind: "focus", on: focusName, part }) as const;
    const { input, entries, mode } = state.lisp;
    const running = entries.findLast((entry) => entry.state === "running");
    const isEmpty = input.trim() === "";
    const isComplete = openParentheses(input) <= 0;
    const page = bodyRows(state) - inputRows;
    const back = state.scrolls[scrollName] ?? 0;
    const to = (lines: number) => ({ kind: "scroll", view: scrollName, to: lines }) as const;
    const isExploring = mode === "explore";
    return bindingsFrom(
      !isTyping && on("enter", "type a form", type("input")),
      !isEmpty && isComplete && on("enter", "evaluate", [{ kind: "evaluate" }, to(0)]),
      !isEmpty &&
        !isComplete &&
        on("enter", "new line (open parenthesis)", set("lisp", { input: `${input}\n` })),
      running && on("esc", "stop", { kind: "cancel run", run: running.run }),
      isTyping && on("esc", "stop typing", type("list")),
      on(
        "ctrl+t",
        isExploring ? "allow changes" : "explore only",
        set("lisp", { mode: isExploring ? "act" : "explore" }),
      ),
      on("pageup", "scroll back", () => to(Math.min(back + page, linesBack(state, page)))),
      on("pagedown", "scroll forward", to(back - page)),
    );
  },

  editing: ({ state, view }) => (isTypingForm(view) ? inputField(state) : undefined),

  body({ state, view: whole, columns, rows }) {
    const view = isTypingForm(whole) ? whole : undefined;
    const field = textFieldLines(inputField(state), {
      label: promptOf(state.lisp),
      view,
      columns,
      rows: inputRows,
      placeholder: placeholderOf(state.lisp, view !== undefined),
    });
    const transcriptRows = Math.max(1, rows - field.length - 1);
    return [
      ...fitRows(transcript(state, columns, transcriptRows), transcriptRows),
      modeLine(state, columns),
      ...field,
    ];
  },
};

const focusName = "lisp";
const isTypingForm = ({ focus }: View): boolean => focus[focusName] === "input";

function placeholderOf({ isOffered }: LispState, isTyping: boolean): string {
  if (isOffered === false) return "the server does not offer evaluate-lisp";
  return isTyping ? "a form, such as (+ 1 2) or (list-tools)" : "press Enter to type a form";
}

const inputRows = 6;
const scrollName = "lisp";

function inputField({ lisp }: TuiState): Editing {
  return {
    id: "lisp",
    text: lisp.input,
    history: lisp.entries.map(({ code }) => code),
    change: (input) => set("lisp", { input }),
  };
}

/** Unclosed parentheses outside strings, characters and comments. */
function openParentheses(code: string): number {
  const bare = code.replace(
    /"(?:\\.|[^"\\])*"?|#\\.|\|[^|]*\|?|#\|[\s\S]*?(?:\|#|$)|;.*/g,
    (part) => (/^"(?:\\.|[^"\\])*$/.test(part) ? "(" : ""),
  );
  return bare.split("(").length - bare.split(")").length;
}

function promptOf({ package: current }: LispState): string {
  return `${current === "COMMON-LISP-USER" ? "CL-USER" : current}> `;
}

function modeLine({ lisp: { mode, session }, scrolls }: TuiState, columns: number): Line {
  if (scrolls[scrollName]) return textLine("── scrolled back: PgDn goes forward ──", "warning");
  const isExploring = mode === "explore";
  const text = isExploring
    ? "explore mode: tools that change something are not called"
    : "act mode: tools may change things";
  const full = `── ${text}${session === undefined ? "" : ` · session ${session}`} ──`;
  const shown = widthOf(full) <= columns ? full : `── ${text} ──`;
  return textLine(shown, isExploring ? "quiet" : "warning");
}

const entryCharactersShown = 20_000;

/** Lays out entries from the newest backwards, no further than visible. */
function transcript({ lisp, scrolls }: TuiState, columns: number, rows: number): readonly Line[] {
  const back = scrolls[scrollName] ?? 0;
  const lines: Line[] = [];
  for (let at = lisp.entries.length - 1; at >= 0 && lines.length < rows + back; at--) {
    const entry = lisp.entries[at];
    if (entry) lines.unshift(...entryLines(entry, lisp, columns));
  }
  const end = Math.max(Math.min(rows, lines.length), lines.length - back);
  return lines.slice(Math.max(0, end - rows), end);
}

/** How far back the transcript can be scrolled. */
function linesBack({ lisp, size }: TuiState, page: number): number {
  const lines = lisp.entries.flatMap((entry) => entryLines(entry, lisp, size.columns));
  return Math.max(0, lines.length - page);
}

function entryLines(
  { code, state, text }: LispEntry,
  lisp: LispState,
  columns: number,
): readonly Line[] {
  const answer = state === "running" ? "…" : text.slice(0, entryCharactersShown);
  return [
    ...hangingLines({ text: promptOf(lisp), role: "accent" }, { text: code }, columns),
    ...wrapLines(answer, columns, state === "failed" ? "bad" : "plain"),
  ];
}
