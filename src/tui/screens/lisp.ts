import { fitRows, type Line } from "../parts/line.ts";
import { textFieldLines } from "../parts/text-field.ts";
import { widthOf, wrap } from "../parts/width.ts";
import type { LispEntry, LispState, TuiState } from "../state.ts";
import { type Binding, cursorOf, type Moment, on } from "../view.ts";
import { type BodyProps, bodyRows, type Screen } from "./screen.ts";

/** The Lisp, a form at a time. */
export const lispScreen: Screen = { name: "lisp", title: "Lisp", bindings, editing, body };

const inputId = "lisp";
const inputRows = 6;
const scrollName = "lisp";

function bindings({ state }: Moment): readonly Binding[] {
  const { lisp } = state;
  const running = lisp.entries.findLast((entry) => entry.state === "running");
  const isWhole = lisp.input.trim() !== "" && openParentheses(lisp.input) <= 0;
  const page = bodyRows(state) - inputRows;
  const back = state.scrolls[scrollName] ?? 0;
  const to = (lines: number) => () => ({ kind: "scroll", view: scrollName, to: lines }) as const;
  return [
    ...(isWhole ? [on("enter", "evaluate", () => [{ kind: "evaluate" }, to(0)()])] : []),
    ...(lisp.input.trim() !== "" && !isWhole
      ? [
          on("enter", "new line: a parenthesis is open", () => ({
            kind: "type lisp",
            text: `${lisp.input}\n`,
          })),
        ]
      : []),
    ...(running ? [on("esc", "stop", () => ({ kind: "cancel run", run: running.run }))] : []),
    on("ctrl+t", lisp.mode === "explore" ? "let it act" : "only explore", () => ({
      kind: "lisp mode",
      mode: lisp.mode === "explore" ? "act" : "explore",
    })),
    on("pageup", "scroll back", () => to(Math.min(back + page, linesBack(state, page)))()),
    on("pagedown", "scroll on", to(back - page)),
  ];
}

/** How many parentheses are not closed; those in strings, characters and comments do not count. */
function openParentheses(code: string): number {
  const bare = code.replace(
    /"(?:\\.|[^"\\])*"?|#\\.|\|[^|]*\|?|#\|[\s\S]*?(?:\|#|$)|;.*/g,
    (part) => (/^"(?:\\.|[^"\\])*$/.test(part) ? "(" : ""),
  );
  return [...bare].reduce(
    (open, character) => open + (character === "(" ? 1 : character === ")" ? -1 : 0),
    0,
  );
}

function editing({ state: { lisp } }: Moment): ReturnType<NonNullable<Screen["editing"]>> {
  return {
    id: inputId,
    text: lisp.input,
    history: lisp.entries.map(({ code }) => code),
    change: (text) => ({ kind: "type lisp", text }),
  };
}

function body({ state, view, columns, rows }: BodyProps): readonly Line[] {
  const { lisp } = state;
  const field = textFieldLines({
    label: promptOf(lisp),
    text: lisp.input,
    cursor: cursorOf(view, { id: inputId, text: lisp.input }),
    columns,
    rows: inputRows,
    placeholder: placeholderOf(lisp),
  });
  const transcriptRows = Math.max(1, rows - field.length - 1);
  return [
    ...fitRows(transcript(state, columns, transcriptRows), transcriptRows),
    modeLine(state, columns),
    ...field,
  ];
}

function promptOf({ package: current }: LispState): string {
  return `${current === "COMMON-LISP-USER" ? "CL-USER" : current}> `;
}

function placeholderOf({ isOffered }: LispState): string {
  return isOffered === false
    ? "the server does not offer evaluate-lisp"
    : "a form, such as (+ 1 2) or (list-tools)";
}

function modeLine({ lisp: { mode, session }, scrolls }: TuiState, columns: number): Line {
  if (scrolls[scrollName]) return [{ text: "── scrolled back: PgDn goes on ──", role: "warning" }];
  const said =
    mode === "explore"
      ? "explores: tools that change something are not called"
      : "acts: tools may change things";
  const whole = `── ${said}${session === undefined ? "" : ` · session ${session}`} ──`;
  return [
    {
      text: widthOf(whole) <= columns ? whole : `── ${said} ──`,
      role: mode === "explore" ? "quiet" : "warning",
    },
  ];
}

const entryCharactersShown = 20_000;

/** From the newest entry backwards, no further than is seen. */
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

/** How far back there is something to see. */
function linesBack({ lisp, size }: TuiState, page: number): number {
  return Math.max(
    0,
    lisp.entries.reduce((sum, entry) => sum + entryLines(entry, lisp, size.columns).length, 0) -
      page,
  );
}

function entryLines(
  { code, state, text }: LispEntry,
  lisp: LispState,
  columns: number,
): readonly Line[] {
  const prompt = promptOf(lisp);
  const asked = wrap(code, columns - prompt.length).map(
    (part, index): Line => [
      { text: index === 0 ? prompt : " ".repeat(prompt.length), role: "accent" },
      { text: part },
    ],
  );
  const answer = state === "running" ? "…" : text.slice(0, entryCharactersShown);
  const told = wrap(answer, columns).map(
    (part): Line => [{ text: part, role: state === "failed" ? "bad" : "plain" }],
  );
  return [...asked, ...told];
}
