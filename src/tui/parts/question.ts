import type { BrowserPage } from "../questions.ts";
import type { QuestionView, TuiState } from "../state.ts";
import {
  type BodyOptions,
  bindingsFrom,
  bodyRows,
  type KeyBinding,
  on,
  readBindings,
  type Snapshot,
} from "../view.ts";
import { type ActiveForm, formBindings, formLines } from "./form.ts";
import { type ScreenLine, textLine, wrapLines } from "./line.ts";
import { describeRest, type TextWindow, windowOf } from "./text.ts";

/** The part of the view that says which question the user has called up with Ctrl-G. */
export const questionFocus = "question";

/** The question at the front of the queue, in place of the screen. */
export function questionLines({ state, view, columns, rows }: BodyOptions): readonly ScreenLine[] {
  const [question] = state.questions;
  if (!question) return [];
  const head = headLines(question, state);
  const room = { columns, rows: rows - head.length };
  if (question.page) {
    const from = state.scrolls[addressScroll(question)] ?? 0;
    return [...head, ...pageLines(question.page, { ...room, from })];
  }
  const active = formOf(question);
  if (active.form.fields.length === 0) return head;
  return [...head, ...formLines(active, { view, ...room })];
}

/** The bar marks the server's own words, which could otherwise pass for ours. */
const bar = "│ ";

function headLines(question: QuestionView, state: TuiState): readonly ScreenLine[] {
  const run = state.runs.find(({ id }) => id === question.run);
  const message = readMessage(question, state);
  const others = state.questions.length - 1;
  return [
    [
      { text: `${run?.tool ?? "The server"} asks`, role: "title" },
      { text: others > 0 ? `  (${others} more waiting; ^X ends the call)` : "", role: "quiet" },
    ],
    ...message.lines.map((text): ScreenLine => [{ text: bar, role: "quiet" }, { text }]),
    ...(message.isWhole ? [] : [textLine(bar + describeRest(message), "warning")]),
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
function pageLines(
  { url, host, warnings }: BrowserPage,
  { columns, rows, from }: Room,
): readonly ScreenLine[] {
  const head: readonly ScreenLine[] = [
    ...wrapLines(`It asks you to open a page on ${host} in your browser:`, columns, "strong"),
    ...warnings.flatMap((warning) => wrapLines(`! ${warning}`, columns, "warning")),
    [],
  ];
  const address = wrapLines(url, columns, "accent");
  const left = Math.max(1, rows - head.length);
  if (address.length <= left) return [...head, ...address];

  const first = Math.min(from, address.length - left + 1);
  const shown = address.slice(first, first + left - 1);
  const below = address.length - first - shown.length;
  const rest =
    below > 0 ? `↓ ${below} more lines of the address: Down` : "end of the address; Up goes back";
  return [...head, ...shown, textLine(rest, "quiet")];
}

/** The message, as far as it fits beside the page's address or the form's fields. */
function readMessage(question: QuestionView, state: TuiState): TextWindow {
  const formShare = question.form.fields.length > 0 ? 2 : 1;
  const rows = Math.floor((bodyRows(state) - 3) / (question.page ? 4 : formShare));
  return windowOf(question.message, {
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

export function formOf({ id, form }: QuestionView): ActiveForm {
  return {
    id: `question ${id}`,
    form,
    fill: (field, text) => ({ kind: "fill question", question: id, field, text }),
    send: { kind: "answer question", question: id, action: "accept" },
  };
}

export function questionBindings({ state, view }: Snapshot): readonly KeyBinding[] {
  const [question] = state.questions;
  if (!question) return [];
  const { id, run } = question;
  const message = readMessage(question, state);
  const sendLabel = question.kind === "sampling" ? "let the model answer" : "answer";
  // Accepting is only offered once the message has been read to its end.
  const isUnread = message.below > 0;
  return bindingsFrom(
    question.page && pageBindings(question, state),
    !question.page && !isUnread && formBindings(formOf(question), view, sendLabel),
    readBindings(messageScroll(question), message),
    view.focus[questionFocus] !== id &&
      on("ctrl+g", "answer it now", { kind: "focus", on: questionFocus, part: id }),
    run !== undefined && on("ctrl+x", "end the call", { kind: "cancel run", run }),
    on("esc", "dismiss", { kind: "answer question", question: id, action: "cancel" }),
    on("ctrl+n", "decline", { kind: "answer question", question: id, action: "decline" }),
  );
}

/** Enter is not among them: a key meant for something else must not open a page. */
function pageBindings(question: QuestionView, { scrolls }: TuiState): readonly KeyBinding[] {
  const { id } = question;
  const view = addressScroll(question);
  const from = scrolls[view] ?? 0;
  return [
    on("o", "open in the browser", { kind: "open page", question: id }),
    on("a", "I opened it myself", { kind: "answer question", question: id, action: "accept" }),
    on("down", "further down the address", { kind: "scroll", view, to: from + 1 }),
    on("up", "back up the address", { kind: "scroll", view, to: from - 1 }),
  ];
}
