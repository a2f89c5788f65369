import { type FormInHand, formBindings } from "./form-keys.ts";
import type { Page } from "./page.ts";
import { formLines } from "./parts/form.ts";
import type { Line } from "./parts/line.ts";
import { wrap } from "./parts/width.ts";
import { type Reading, readFrom, tellRest } from "./reading.ts";
import { type BodyProps, bodyRows } from "./screens/screen.ts";
import type { QuestionView, TuiState } from "./state.ts";
import { type Binding, type Moment, on } from "./view.ts";

/** The part of the view that says which question the user has called up with Ctrl-G. */
export const questionFocus = "question";

/** The question at the front of the queue, in place of the screen. */
export function questionLines({ state, view, columns, rows }: BodyProps): readonly Line[] {
  const [question] = state.questions;
  if (!question) return [];
  const head = headLines(question, state);
  const room = { columns, rows: rows - head.length };
  if (question.page) {
    const from = state.scrolls[addressScroll(question)] ?? 0;
    return [...head, ...pageLines(question.page, { ...room, from })];
  }
  const hand = formOf(question);
  return hand.form.fields.length === 0 ? head : [...head, ...formLines(hand, { view, ...room })];
}

/** The bar marks the server's own words, which could otherwise pass for ours. */
const bar = "│ ";

function headLines(question: QuestionView, state: TuiState): readonly Line[] {
  const run = state.runs.find(({ id }) => id === question.run);
  const reading = readMessage(question, state);
  const others = state.questions.length - 1;
  return [
    [
      { text: `${run?.tool ?? "The server"} asks`, role: "title" },
      { text: others > 0 ? `  (${others} more wait; ^X ends the call)` : "", role: "quiet" },
    ],
    ...reading.lines.map((text): Line => [{ text: bar, role: "quiet" }, { text }]),
    ...(reading.isWhole
      ? []
      : [[{ text: `${bar}${tellRest(reading)}`, role: "warning" } as const]]),
    [],
  ];
}

interface Room {
  readonly columns: number;
  readonly rows: number;
  /** The first line of the address to show. */
  readonly from: number;
}

/** Shows the whole address, on as many lines as it takes; a long one is scrolled. */
function pageLines({ url, host, warnings }: Page, { columns, rows, from }: Room): readonly Line[] {
  const head: readonly Line[] = [
    ...wrap(`It wants you to open a page of ${host} in your browser:`, columns).map(
      (text): Line => [{ text, role: "strong" }],
    ),
    ...warnings
      .flatMap((warning) => wrap(`! ${warning}`, columns))
      .map((text): Line => [{ text, role: "warning" }]),
    [],
  ];
  const address = wrap(url, columns).map((text): Line => [{ text, role: "accent" }]);
  const left = Math.max(1, rows - head.length);
  if (address.length <= left) return [...head, ...address];

  const first = Math.min(from, address.length - left + 1);
  const shown = address.slice(first, first + left - 1);
  const below = address.length - first - shown.length;
  const text =
    below > 0
      ? `↓ ${below} more lines of the address: Down`
      : "the end of the address; Up goes back";
  return [...head, ...shown, [{ text, role: "quiet" }]];
}

/** The message, as far as it fits beside the page's address or the form's fields. */
function readMessage(question: QuestionView, state: TuiState): Reading {
  const formShare = question.form.fields.length > 0 ? 2 : 1;
  const rows = Math.floor((bodyRows(state) - 3) / (question.page ? 4 : formShare));
  return readFrom(question.message, {
    columns: state.size.columns - 2,
    rows,
    from: state.scrolls[messageScroll(question)] ?? 0,
  });
}

function messageScroll({ id }: QuestionView): string {
  return `message ${id}`;
}

function addressScroll({ id }: QuestionView): string {
  return `question ${id}`;
}

export function formOf({ id, form }: QuestionView): FormInHand {
  return {
    id: `question ${id}`,
    form,
    fill: (field, text) => ({ kind: "fill question", question: id, field, text }),
    send: { kind: "answer question", question: id, action: "accept" },
  };
}

export function questionBindings({ state, view }: Moment): readonly Binding[] {
  const [question] = state.questions;
  if (!question) return [];
  const { id, run } = question;
  const reading = readMessage(question, state);
  const sends = question.kind === "sampling" ? "let the model answer" : "answer";
  // Accepting is only offered once the message has been read to its end.
  const isUnread = reading.below > 0;
  return [
    ...(question.page ? pageBindings(question, state) : []),
    ...(question.page || isUnread ? [] : formBindings(formOf(question), view, sends)),
    ...messageBindings(question, reading),
    ...(view.focus[questionFocus] === id
      ? []
      : [on("ctrl+g", "answer it now", () => ({ kind: "focus", on: questionFocus, part: id }))]),
    ...(run === undefined
      ? []
      : [on("ctrl+x", "end the call", () => ({ kind: "cancel run", run }))]),
    on("esc", "dismiss", () => ({ kind: "answer question", question: id, action: "cancel" })),
    on("ctrl+n", "decline", () => ({ kind: "answer question", question: id, action: "decline" })),
  ];
}

function messageBindings(
  question: QuestionView,
  { isWhole, from, lines }: Reading,
): readonly Binding[] {
  if (isWhole) return [];
  const page = Math.max(1, lines.length - 1);
  const to = (line: number) => () =>
    ({ kind: "scroll", view: messageScroll(question), to: line }) as const;
  return [on("pagedown", "read on", to(from + page)), on("pageup", "read back", to(from - page))];
}

/** Enter is not among them: a key meant for something else must not open a page. */
function pageBindings(question: QuestionView, { scrolls }: TuiState): readonly Binding[] {
  const { id } = question;
  const view = addressScroll(question);
  const from = scrolls[view] ?? 0;
  return [
    on("o", "open it in the browser", () => ({ kind: "open page", question: id })),
    on("a", "opened it myself", () => ({
      kind: "answer question",
      question: id,
      action: "accept",
    })),
    on("down", "further down the address", () => ({ kind: "scroll", view, to: from + 1 })),
    on("up", "back up the address", () => ({ kind: "scroll", view, to: from - 1 })),
  ];
}
