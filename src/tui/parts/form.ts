import { type Field, textOf } from "../form.ts";
import { type FormInHand, fieldInHand, isChosen } from "../form-keys.ts";
import { cursorOf, type View } from "../view.ts";
import type { Line } from "./line.tsx";
import { textFieldLines } from "./text-field.ts";
import { pad, wrap } from "./width.ts";

const labelColumnsMax = 24;
const fieldRowsMax = 5;

/** A form, the field that has the keys always in sight with what it is for. `view` is undefined while the keys are elsewhere. */
export function formLines(
  hand: FormInHand,
  { view, columns, rows }: { readonly view: View | undefined; readonly columns: number; readonly rows: number },
): readonly Line[] {
  const { fields } = hand.form;
  if (fields.length === 0) return [[{ text: "It takes no arguments.", role: "quiet" }]];
  const current = view && fieldInHand(hand, view);
  const label = Math.min(labelColumnsMax, Math.max(...fields.map(({ title }) => title.length)) + 3);
  const blocks = fields.map((field) => fieldLines(field, hand, { view: field === current ? view : undefined, columns, label }));
  const lines = blocks.flat();
  const at = current ? fields.indexOf(current) : 0;
  const start = blocks.slice(0, at).flat().length;
  const first = Math.max(0, Math.min(start + (blocks[at]?.length ?? 0) - rows, start));
  return lines.slice(first, first + rows);
}

interface Place {
  readonly view: View | undefined;
  readonly columns: number;
  readonly label: number;
}

function fieldLines(field: Field, { id, form }: FormInHand, { view, columns, label }: Place): readonly Line[] {
  const text = textOf(form, field);
  const title = `${view ? "› " : "  "}${pad(field.title + (field.isRequired ? "*" : ""), label - 1)} `;
  const cursor = view && cursorOf(view, { id: `${id} ${field.name}`, text });
  const problem = form.problems[field.name];
  const below: readonly Line[] = [
    ...(view && field.description !== ""
      ? wrap(field.description, columns - 4)
          .slice(0, 3)
          .map((part): Line => [{ text: `    ${part}`, role: "quiet" }])
      : []),
    ...(problem === undefined ? [] : [[{ text: `    ! ${problem}`, role: "bad" } as const]]),
  ];
  if (isChosen(field)) return [choiceLine(field, title, text), ...below];
  return [...textFieldLines({ label: title, text, cursor, columns, rows: fieldRowsMax, placeholder: placeholderOf(field) }), ...below];
}

function choiceLine({ kind, choices }: Field, title: string, text: string): Line {
  const titles = kind === "boolean" ? ["yes", "no"] : choices.map((choice) => choice.title);
  const at = titles.indexOf(text);
  // What is chosen comes first, so that it is seen whatever there is.
  const order = at < 0 ? titles : [...titles.slice(at), ...titles.slice(0, at)];
  return [
    { text: title, role: "strong" },
    ...order.flatMap((one) => (one === text ? [{ text: `(${one})`, role: "selected" as const }, { text: "  " }] : [{ text: `${one}  ` }])),
  ];
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
