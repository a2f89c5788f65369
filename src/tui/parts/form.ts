import { type Field, problemOf, textOf } from "../form.ts";
import { type FormInHand, fieldInHand, isChosen } from "../form-keys.ts";
import { cursorOf, type View } from "../view.ts";
import type { Line, Span } from "./line.ts";
import { firstShown } from "./table.ts";
import { textFieldLines } from "./text-field.ts";
import { pad, widthOf, wrap } from "./width.ts";

const labelShareMax = 0.4;
const fieldRowsMax = 5;
const choiceRowsMax = 8;

/** A form, the field that has the keys always in sight with what it is for. `view` is undefined while the keys are elsewhere. */
export function formLines(
  hand: FormInHand,
  {
    view,
    columns,
    rows,
  }: { readonly view: View | undefined; readonly columns: number; readonly rows: number },
): readonly Line[] {
  const { fields } = hand.form;
  if (fields.length === 0) return [[{ text: "It takes no arguments.", role: "quiet" }]];
  const current = view && fieldInHand(hand, view);
  const longest = fields.reduce((most, { title }) => Math.max(most, title.length), 0);
  const label = Math.min(Math.floor(columns * labelShareMax), longest + 3);
  // Each takes a line at least: those further away are out of sight.
  const place = current ? fields.indexOf(current) : 0;
  const near = fields.slice(Math.max(0, place - rows), place + rows);
  const at = Math.min(place, rows);
  const blocks = near.map((field) =>
    fieldLines(field, hand, { view: field === current ? view : undefined, columns, label }),
  );
  const lines = blocks.flat();
  const start = blocks.slice(0, at).flat().length;
  const first = Math.max(0, Math.min(start + (blocks[at]?.length ?? 0) - rows, start));
  return lines.slice(first, first + rows);
}

interface Place {
  readonly view: View | undefined;
  readonly columns: number;
  readonly label: number;
}

function fieldLines(
  field: Field,
  { id, form }: FormInHand,
  { view, columns, label }: Place,
): readonly Line[] {
  const text = textOf(form, field);
  const title = `${view ? "› " : "  "}${pad(field.title + (field.isRequired ? "*" : ""), label - 1)} `;
  const cursor = view && cursorOf(view, { id: `${id} ${field.name}`, text });
  const problem = problemOf(form, field);
  const below: readonly Line[] = [
    ...(view && field.description !== ""
      ? wrap(field.description, columns - 4)
          .slice(0, 3)
          .map((part): Line => [{ text: `    ${part}`, role: "quiet" }])
      : []),
    ...(problem === undefined ? [] : [[{ text: `    ! ${problem}`, role: "bad" } as const]]),
  ];
  if (isChosen(field))
    return [
      ...choiceLines(field, { title, text, columns, isInHand: view !== undefined }),
      ...below,
    ];
  return [
    ...textFieldLines({
      label: title,
      text,
      cursor,
      columns,
      rows: fieldRowsMax,
      placeholder: placeholderOf(field),
    }),
    ...below,
  ];
}

interface ChoicePlace {
  readonly title: string;
  readonly text: string;
  readonly columns: number;
  readonly isInHand: boolean;
}

/** Side by side where they fit, else one below the other; in a field that does not have the keys, what is chosen. */
function choiceLines(
  { kind, choices }: Field,
  { title, text, columns, isInHand }: ChoicePlace,
): readonly Line[] {
  const titles = kind === "boolean" ? ["yes", "no"] : choices.map((choice) => choice.title);
  const width =
    titles.length > columns
      ? Number.POSITIVE_INFINITY
      : widthOf(title) + titles.reduce((sum, one) => sum + widthOf(one) + 4, 0);
  if (width <= columns)
    return [
      [
        { text: title, role: "strong" },
        ...titles.flatMap((one) => [choiceSpan(one, text), { text: " " }]),
      ],
    ];
  if (!isInHand) return [[{ text: title, role: "strong" }, { text }]];
  // The chosen one is always in sight.
  const first = firstShown(titles.indexOf(text), titles.length, choiceRowsMax);
  const rest = titles
    .slice(first, first + choiceRowsMax)
    .flatMap((one) =>
      wrap(one, columns - 8).map(
        (part, index): Line => [
          { text: index === 0 ? (one === text ? "    ● " : "    ○ ") : "      " },
          { text: part, role: one === text ? "selected" : "plain" },
        ],
      ),
    );
  const hidden = titles.length - choiceRowsMax;
  return [
    [
      { text: title, role: "strong" },
      ...(hidden > 0 ? [{ text: `${hidden} more choices`, role: "quiet" } as const] : []),
    ],
    ...rest,
  ];
}

function choiceSpan(one: string, text: string): Span {
  return one === text ? { text: `(${one})`, role: "selected" } : { text: ` ${one} ` };
}

function placeholderOf({ kind, choices }: Field): string {
  switch (kind) {
    case "number":
      return "a number";
    case "integer":
      return "a whole number";
    case "list":
      return "one a line (Alt-Enter)";
    case "choices":
      return `some of: ${choices.map(({ title }) => title).join(", ")}`;
    case "json":
      return "JSON";
    default:
      return "";
  }
}
