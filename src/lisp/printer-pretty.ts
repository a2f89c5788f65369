/**
 * Pretty printing: a value that does not fit on the line is broken between its elements. Forms with a body
 * indent it by two, calls align their arguments, other lists are filled. Also finds shared parts.
 */
import type { Machine } from "./machine.ts";
import type { PrintStyle } from "./printer.ts";
import { NIL, Sym, words } from "./symbol.ts";
import { Cons, Instance, Table, type Value, Vec } from "./values.ts";

/** A value on one line; `depth` is its nesting level. */
type Flat = (value: Value, depth: number) => string;

export function prettyText(m: Machine, value: Value, style: PrintStyle, flat: Flat): string {
  const line = flat(value, 0);
  // Labels are numbered in the order of printing, so a text with labels is printed only once.
  if (style.circle || line.length <= style.rightMargin) return line;
  return new Layout(m, style, flat).text(value, 0, 0, 0);
}

/** The number of elements that stay beside the operator; the rest is the body. */
const bodies = new Map([
  ...["DEFUN", "DEFMACRO", "DEFMETHOD", "DEFGENERIC"].map((name) => [name, 2] as const),
  ...words(
    "LET LET* LAMBDA WHEN UNLESS FLET LABELS MACROLET DOLIST DOTIMES BLOCK HANDLER-CASE",
  ).map((name) => [name, 1] as const),
  ...["DESTRUCTURING-BIND", "MULTIPLE-VALUE-BIND", "DO", "DO*"].map((name) => [name, 2] as const),
  ["PROGN", 0] as const,
]);

/** Formatted like calls. */
const aligned = new Set(
  words("IF COND AND OR CASE ECASE TYPECASE RETURN-FROM MULTIPLE-VALUE-LIST INCF PUSH"),
);

class Layout {
  readonly #m: Machine;
  readonly #style: PrintStyle;
  readonly #flat: Flat;

  constructor(m: Machine, style: PrintStyle, flat: Flat) {
    this.#m = m;
    this.#style = style;
    this.#flat = flat;
  }

  /** `column` is the start of the text, `closing` the number of characters after it on its last line. */
  text(value: Value, column: number, depth: number, closing: number): string {
    this.#m.tick(1);
    const flat = this.#flat(value, depth);
    if (column + flat.length + closing <= this.#style.rightMargin || depth >= this.#style.level)
      return flat;
    if (value instanceof Vec && value.dims === null && value.elementType.name !== "BIT") {
      return `#(${this.#fill(value.items.slice(0, value.length), column + 2, depth, closing + 1)})`;
    }
    if (!(value instanceof Cons)) return flat;
    const mark = /^(?:'|#')/.exec(flat)?.[0];
    if (mark !== undefined)
      return mark + this.text((value.cdr as Cons).car, column + mark.length, depth, closing);
    const { items, isProper } = this.#properItems(value);
    return isProper ? this.#list(items, column, depth, closing) : flat;
  }

  #properItems(list: Cons): { items: Value[]; isProper: boolean } {
    const items: Value[] = [];
    let at: Value = list;
    for (; at instanceof Cons; at = at.cdr) items.push(at.car);
    return { items, isProper: at === NIL };
  }

  #list(items: Value[], column: number, depth: number, closing: number): string {
    const [head] = items;
    if (items.length > this.#style.length) return this.#filled(items, column, depth, closing);
    const beside = head instanceof Sym ? bodies.get(head.name) : undefined;
    if (beside !== undefined && items.length > beside + 1)
      return this.#body(items, beside, column, depth, closing);
    if (head instanceof Sym && items.length > 1 && (head.fn !== null || aligned.has(head.name)))
      return this.#call(items, column, depth, closing);
    return this.#filled(items, column, depth, closing);
  }

  #filled(items: Value[], column: number, depth: number, closing: number): string {
    return `(${this.#fill(items, column + 1, depth, closing + 1)})`;
  }

  #body(items: Value[], beside: number, column: number, depth: number, closing: number): string {
    const first = items.slice(0, beside + 1);
    let line = "(";
    for (const [index, item] of first.entries()) {
      if (index > 0) line += " ";
      line += this.text(item, lastLine(line, column), depth + 1, 0);
    }
    const indent = column + (beside === 0 ? 1 : 2);
    const lines = items.slice(beside + 1).map((item, index, rest) => {
      return `\n${" ".repeat(indent)}${this.text(item, indent, depth + 1, index === rest.length - 1 ? closing + 1 : 0)}`;
    });
    return `${line}${lines.join("")})`;
  }

  #call(items: Value[], column: number, depth: number, closing: number): string {
    const operator = this.#flat(items[0] as Value, depth + 1);
    const indent = column + operator.length + 2;
    const args = items
      .slice(1)
      .map((item, index, rest) =>
        this.text(item, indent, depth + 1, index === rest.length - 1 ? closing + 1 : 0),
      );
    return `(${operator} ${args.join(`\n${" ".repeat(indent)}`)})`;
  }

  /** As many elements on a line as fit. */
  #fill(items: readonly Value[], indent: number, depth: number, closing: number): string {
    let text = "";
    let column = indent;
    const shown = items.slice(0, Math.min(items.length, this.#style.length));
    for (const [index, item] of shown.entries()) {
      const isLast = index === shown.length - 1;
      const flat = this.#flat(item, depth + 1);
      // The space after an element must fit, too, unless it is the last.
      const room = this.#style.rightMargin - (isLast ? closing : 1);
      if (index > 0 && column + 1 + flat.length <= room) text += " ";
      else if (index > 0) text += `\n${" ".repeat(indent)}`;
      column = lastLine(text, indent);
      text += this.text(item, column, depth + 1, isLast ? closing : 0);
      column = lastLine(text, indent);
    }
    return shown.length < items.length ? `${text} ...` : text;
  }
}

/** The column after `text`, which began at `start`. */
function lastLine(text: string, start: number): number {
  const newline = text.lastIndexOf("\n");
  return newline < 0 ? start + text.length : text.length - newline - 1;
}

// Finds parts that occur more than once, for `*print-circle*`: `#1=(a . #1#)`.

export interface Shared {
  /** The label to define at the first occurrence, or to refer to later; undefined for unshared parts. */
  mark(value: object): { readonly kind: "first" | "again"; readonly number: number } | undefined;
  isShared(value: object): boolean;
}

export function findShared(m: Machine, root: Value): Shared {
  const seen = new Set<object>();
  const repeated = new Set<object>();
  const waiting: Value[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (!isCompound(value)) continue;
    m.tick(1);
    if (seen.has(value)) {
      repeated.add(value);
      continue;
    }
    seen.add(value);
    for (const part of partsOf(value)) waiting.push(part);
  }
  return labelling(repeated);
}

/** Finds only the parts that contain themselves, as far as they are printed. */
export function findCycles(root: Value, { length, level }: PrintStyle): Shared {
  const around = new Set<object>();
  const repeated = new Set<object>();
  const done = new Set<object>();
  const walk = (value: Value, depth: number): void => {
    const inside: object[] = [];
    let at: Value | undefined = value;
    for (let count = 0; count <= length && at !== undefined && isCompound(at); count++) {
      if (around.has(at)) repeated.add(at);
      if (around.has(at) || done.has(at) || depth > level) break;
      around.add(at);
      inside.push(at);
      const parts: Value[] = at instanceof Cons ? [at.car] : partsOf(at).slice(0, 2 * length);
      for (const part of parts) walk(part, depth + 1);
      at = at instanceof Cons ? at.cdr : undefined;
    }
    for (const one of inside) {
      around.delete(one);
      done.add(one);
    }
  };
  walk(root, 0);
  return labelling(repeated);
}

function labelling(repeated: ReadonlySet<object>): Shared {
  const labels = new Map<object, number>();
  return {
    isShared: (value) => repeated.has(value),
    mark(value) {
      if (!repeated.has(value)) return undefined;
      const known = labels.get(value);
      if (known !== undefined) return { kind: "again", number: known };
      labels.set(value, labels.size + 1);
      return { kind: "first", number: labels.size };
    },
  };
}

type Compound = Cons | Vec | Table | Instance;

function isCompound(value: Value): value is Compound {
  return (
    value instanceof Cons ||
    value instanceof Vec ||
    value instanceof Table ||
    (value instanceof Instance && value.cls.kind === "structure")
  );
}

function partsOf(value: Compound): Value[] {
  if (value instanceof Cons) return [value.car, value.cdr];
  if (value instanceof Vec) return value.items;
  if (value instanceof Table)
    return [...value.entries.values()].flatMap(({ key, value: held }) => [key, held]);
  return value.slots.filter((slot) => slot !== undefined);
}
