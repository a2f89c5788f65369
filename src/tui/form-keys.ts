import type { Editing } from "./editing.ts";
import { type Field, type Form, textOf } from "./form.ts";
import type { Intention } from "./intentions.ts";
import { type Act, type Binding, focusOf, on, type View } from "./view.ts";

/** A form that has the keys: a tool's, or what a server asks. */
export interface FormInHand {
  /** Keeps cursors and focus of forms apart. */
  readonly id: string;
  readonly form: Form;
  fill(field: string, text: string): Intention;
  readonly send: Intention;
}

export function fieldInHand(
  { id, form }: Pick<FormInHand, "id" | "form">,
  view: View,
): Field | undefined {
  const name = focusOf(view, id, form.fields[0]?.name ?? "");
  return form.fields.find((field) => field.name === name) ?? form.fields[0];
}

/** Fields with choices are not typed: arrows go through them. */
export function formEditing(hand: FormInHand, view: View): Editing | undefined {
  const field = fieldInHand(hand, view);
  if (!field || isChosen(field)) return undefined;
  return {
    id: `${hand.id} ${field.name}`,
    text: textOf(hand.form, field),
    change: (text) => hand.fill(field.name, text),
  };
}

export function formBindings(hand: FormInHand, view: View, sends: string): readonly Binding[] {
  const { fields } = hand.form;
  const field = fieldInHand(hand, view);
  const at = field ? fields.indexOf(field) : -1;
  const go = (to: number) => (): Act | undefined => {
    const next = fields[(to + fields.length) % fields.length];
    return next && { kind: "focus", on: hand.id, part: next.name };
  };
  const isLast = at >= fields.length - 1;
  // Arrows go through choices where there are some, else through fields.
  const isChoice = field !== undefined && isChosen(field);
  return [
    ...(isLast
      ? [on("enter ctrl+s", sends, () => hand.send)]
      : [on("enter", "next field", go(at + 1)), on("ctrl+s", sends, () => hand.send)]),
    ...(isChoice
      ? [
          on("right down", "next choice", choose(hand, field, 1)),
          on("left up", "previous choice", choose(hand, field, -1)),
        ]
      : []),
    ...(fields.length > 1
      ? [
          on(isChoice ? "tab" : "tab down", "next field", go(at + 1)),
          on(isChoice ? "shift+tab" : "shift+tab up", "previous field", go(at - 1)),
        ]
      : []),
  ];
}

export function isChosen({ kind }: Field): boolean {
  return kind === "choice" || kind === "boolean";
}

function choose(hand: FormInHand, field: Field, step: number): () => Intention | undefined {
  const titles = field.kind === "boolean" ? ["yes", "no"] : field.choices.map(({ title }) => title);
  // Nothing is an answer too, where none is needed.
  const all = field.isRequired ? titles : ["", ...titles];
  const at = all.indexOf(textOf(hand.form, field));
  const next =
    all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length];
  return () => (next === undefined ? undefined : hand.fill(field.name, next));
}
