import type { Editing } from "../editing.ts";
import type { Intention } from "../events.ts";
import { expectedValue, type Form, type FormField, problemOf, textOf } from "../form.ts";
import { bindingsFrom, cursorOf, type KeyAction, type KeyBinding, on, type View } from "../view.ts";
import { hangingLines, type ScreenLine, type TextSpan, textLine } from "./line.ts";
import { firstShown } from "./table.ts";
import { pad, widthOf, wrap } from "./text.ts";

/** A form that has the keys: a tool's arguments, or a server's question. */
export interface ActiveForm {
  /** Keeps cursors and focus of different forms apart. */
  readonly id: string;
  readonly form: Form;
  fill(field: string, text: string): Intention;
  readonly send: Intention;
}

function activeField({ id, form }: ActiveForm, view: View): FormField | undefined {
  return form.fields.find(({ name }) => name === view.focus[id]) ?? form.fields[0];
}

/** The text field that has the keys; fields with choices are not typed. */
export function formEditing(active: ActiveForm, view: View): Editing | undefined {
  const field = activeField(active, view);
  if (!field || hasChoices(field)) return undefined;
  return {
    id: `${active.id} ${field.name}`,
    text: textOf(active.form, field),
    change: (text) => active.fill(field.name, text),
  };
}

export function formBindings(
  active: ActiveForm,
  view: View,
  sendLabel: string,
): readonly KeyBinding[] {
  const { fields } = active.form;
  const field = activeField(active, view);
  const at = field ? fields.indexOf(field) : -1;
  const go = (to: number): KeyAction | undefined => {
    const next = fields[(to + fields.length) % fields.length];
    return next && { kind: "focus", on: active.id, part: next.name };
  };
  const send = (keys: string): KeyBinding => on(keys, sendLabel, active.send);
  const isLast = at >= fields.length - 1;
  const isChoice = field !== undefined && hasChoices(field);
  return bindingsFrom(
    isLast ? send("enter ctrl+s") : [on("enter", "next field", go(at + 1)), send("ctrl+s")],
    isChoice && [
      on("right down", "next choice", choose(active, field, 1)),
      on("left up", "previous choice", choose(active, field, -1)),
    ],
    fields.length > 1 && [
      on(isChoice ? "tab" : "tab down", "next field", go(at + 1)),
      on(isChoice ? "shift+tab" : "shift+tab up", "previous field", go(at - 1)),
    ],
  );
}

function hasChoices({ kind }: FormField): boolean {
  return kind === "choice" || kind === "boolean";
}

function titlesOf({ kind, choices }: FormField): readonly string[] {
  return kind === "boolean" ? ["yes", "no"] : choices.map(({ title }) => title);
}

function choose(active: ActiveForm, field: FormField, step: 1 | -1): Intention | undefined {
  // An optional field can also be left empty.
  const all = field.isRequired ? titlesOf(field) : ["", ...titlesOf(field)];
  const at = all.indexOf(textOf(active.form, field));
  const first = step > 0 ? 0 : all.length - 1;
  const next = all[at < 0 ? first : (at + step + all.length) % all.length];
  return next === undefined ? undefined : active.fill(field.name, next);
}

const labelShareMax = 0.4;
const fieldRowsMax = 5;
const choiceRowsMax = 8;

/** Keeps the focused field and its description visible. */
export function formLines(
  active: ActiveForm,
  { view, columns, rows }: { view: View; readonly columns: number; readonly rows: number },
): readonly ScreenLine[] {
  const { fields } = active.form;
  if (fields.length === 0) return [textLine("It takes no arguments.", "quiet")];
  const current = activeField(active, view);
  const longest = fields.reduce((most, { title }) => Math.max(most, title.length), 0);
  const label = Math.min(Math.floor(columns * labelShareMax), longest + 3);

  // Each field takes at least a row, so fields further away than `rows` need no layout.
  const place = current ? fields.indexOf(current) : 0;
  const near = fields.slice(Math.max(0, place - rows), place + rows);
  const at = Math.min(place, rows);
  const blocks = near.map((field) =>
    fieldLines(field, active, { view: field === current ? view : undefined, columns, label }),
  );
  const start = blocks.slice(0, at).flat().length;
  const first = Math.max(0, Math.min(start + (blocks[at]?.length ?? 0) - rows, start));
  return blocks.flat().slice(first, first + rows);
}

interface FieldLayout {
  /** Undefined unless the field has the focus. */
  readonly view: View | undefined;
  readonly columns: number;
  readonly label: number;
}

function fieldLines(
  field: FormField,
  { id, form }: ActiveForm,
  { view, columns, label }: FieldLayout,
): readonly ScreenLine[] {
  const text = textOf(form, field);
  const name = field.title + (field.isRequired ? "*" : "");
  const title = `${view ? "› " : "  "}${pad(name, label - 1)} `;
  const problem = problemOf(form, field);
  const hasDescription = view !== undefined && field.description !== "";
  const description = hasDescription ? wrap(field.description, columns - 4).slice(0, 3) : [];
  const below = [
    ...description.map((part) => textLine(`    ${part}`, "quiet")),
    ...(problem === undefined ? [] : [textLine(`    ! ${problem}`, "bad")]),
  ];
  if (hasChoices(field))
    return [
      ...choiceLines(field, { title, text, columns, isFocused: view !== undefined }),
      ...below,
    ];
  const placeholder = expectedValue(field);
  const layout = { label: title, view, columns, rows: fieldRowsMax, placeholder };
  return [...textFieldLines({ id: `${id} ${field.name}`, text }, layout), ...below];
}

interface ChoiceLayout {
  readonly title: string;
  readonly text: string;
  readonly columns: number;
  readonly isFocused: boolean;
}

/** On one row where they fit; otherwise a list, or only the chosen one without focus. */
function choiceLines(
  field: FormField,
  { title, text, columns, isFocused }: ChoiceLayout,
): readonly ScreenLine[] {
  const titles = titlesOf(field);
  const label: TextSpan = { text: title, role: "strong" };
  const mayFit = titles.length <= columns;
  const width = mayFit ? titles.reduce((sum, one) => sum + widthOf(one) + 4, widthOf(title)) : 0;
  if (mayFit && width <= columns)
    return [[label, ...titles.flatMap((one) => [choiceSpan(one, one === text), { text: " " }])]];
  if (!isFocused) return [[label, { text }]];

  const first = firstShown(titles.indexOf(text), titles.length, choiceRowsMax);
  const shown = titles.slice(first, first + choiceRowsMax);
  const hidden = titles.length - choiceRowsMax;
  return [
    [label, { text: hidden > 0 ? `${hidden} more choices` : "", role: "quiet" }],
    ...shown.flatMap((one) => choiceRows(one, one === text, columns)),
  ];
}

function choiceSpan(title: string, isChosen: boolean): TextSpan {
  return isChosen ? { text: `(${title})`, role: "selected" } : { text: ` ${title} ` };
}

function choiceRows(title: string, isChosen: boolean, columns: number): readonly ScreenLine[] {
  const sign = { text: isChosen ? "    ● " : "    ○ " };
  const role = isChosen ? "selected" : "plain";
  return hangingLines(sign, { text: title, role }, columns - 2);
}

export interface TextFieldOptions {
  readonly label: string;
  /** Undefined without focus. */
  readonly view: View | undefined;
  readonly columns: number;
  readonly rows: number;
  /** Shown while the field is empty. */
  readonly placeholder: string;
}

/** A text field whose cursor is always visible. */
export function textFieldLines(
  { id, text }: Pick<Editing, "id" | "text">,
  { label, view, columns, rows, placeholder }: TextFieldOptions,
): readonly ScreenLine[] {
  const cursor = view && cursorOf(view, { id, text });
  if (text === "" && placeholder !== "") {
    const space: TextSpan = { text: cursor === undefined ? "" : " ", role: "cursor" };
    return [[{ text: label, role: "strong" }, space, { text: placeholder, role: "quiet" }]];
  }
  const width = Math.max(4, columns - label.length - 1);
  const { lines, cursorLine } = layOut(text, cursor, width);
  const last = (cursorLine ?? lines.length - 1) - rows + 1;
  const first = Math.max(0, Math.min(last, lines.length - rows));
  const indent = " ".repeat(label.length);
  return lines
    .slice(first, first + rows)
    .map(
      (line, index): ScreenLine => [
        { text: index === 0 ? label : indent, role: "strong" },
        ...line,
      ],
    );
}

/** Wraps the text and marks the character at the cursor. */
function layOut(
  text: string,
  cursor: number | undefined,
  width: number,
): { readonly lines: readonly ScreenLine[]; readonly cursorLine: number | undefined } {
  const lines: ScreenLine[] = [];
  let cursorLine: number | undefined;
  let at = 0;
  for (const source of text.split("\n")) {
    let column = 0;
    for (const part of wrap(source, width)) {
      const start = at + source.indexOf(part, column);
      column = start - at + part.length;
      const isHere =
        cursor !== undefined && cursorLine === undefined && cursor <= start + part.length;
      if (isHere) cursorLine = lines.length;
      lines.push(isHere ? withCursor(part, Math.max(0, cursor - start)) : [{ text: part }]);
    }
    at += source.length + 1;
  }
  return { lines, cursorLine };
}

function withCursor(part: string, at: number): ScreenLine {
  const marked = part[at] === undefined ? " " : String.fromCodePoint(part.codePointAt(at) ?? 0x20);
  return [
    { text: part.slice(0, at) },
    { text: marked, role: "cursor" },
    { text: part.slice(at + marked.length) },
  ];
}
