import type { ReactElement } from "react";
import type { Page } from "../page.ts";
import { handOf, readMessage, scrollNameOf } from "../press.ts";
import { tellRest } from "../reading.ts";
import type { BodyProps } from "../screens/screen.ts";
import type { QuestionView } from "../state.ts";
import { formLines } from "./form.ts";
import { type Line, Lines } from "./line.tsx";
import { wrap } from "./width.ts";

/** What a server wants to know: a form, a yes, or a visit to a page. */
export function Question(props: BodyProps): ReactElement {
  const { state, columns, rows } = props;
  const [question] = state.questions;
  return (
    <Lines lines={question ? questionLines(question, props) : []} columns={columns} rows={rows} />
  );
}

function questionLines(
  question: QuestionView,
  { state, view, columns, rows }: BodyProps,
): readonly Line[] {
  const run = state.runs.find(({ id }) => id === question.run);
  const reading = readMessage(question, state);
  const others = state.questions.length - 1;
  const head: readonly Line[] = [
    [
      { text: `${run?.tool ?? "The server"} asks`, role: "title" },
      ...(others > 0
        ? [{ text: `  (${others} more wait; ^X ends the call)`, role: "quiet" } as const]
        : []),
    ],
    ...reading.lines.map((text): Line => [{ text: bar, role: "quiet" }, { text }]),
    ...(reading.isWhole
      ? []
      : [[{ text: `${bar}${tellRest(reading)}`, role: "warning" } as const]]),
    [],
  ];
  const room = { columns, rows: rows - head.length };
  if (question.page)
    return [
      ...head,
      ...pageLines(question.page, { ...room, from: state.scrolls[scrollNameOf(question)] ?? 0 }),
    ];
  const hand = handOf(question);
  return hand.form.fields.length === 0 ? head : [...head, ...formLines(hand, { view, ...room })];
}

/** Whose words these are is seen: they cannot be taken for ours. */
const bar = "│ ";

interface Room {
  readonly columns: number;
  readonly rows: number;
  /** The first line of the address to show. */
  readonly from: number;
}

/** The address whole, in as many lines as it takes; what does not fit is scrolled to. */
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
  return [
    ...head,
    ...shown,
    [
      {
        text:
          below > 0
            ? `↓ ${below} more lines of the address: Down`
            : "the end of the address; Up goes back",
        role: "quiet",
      },
    ],
  ];
}
