/**
 * Pretty printing: a value that does not fit on the line is broken between its elements. Forms with a body
 * indent it by two, calls align their arguments, other lists are filled. Also finds shared parts,
 * and collects logical blocks.
 */
import { write } from "./budgets.ts";
import type { Machine } from "./machine.ts";
import type { PrintStyle } from "./printer.ts";
import { type BlockText, Pretty } from "./printer-layout.ts";
import { cl, NIL, Sym, words } from "./symbol.ts";
import { Cons, Instance, itemsOf, Stream, Table, type Value, Vec } from "./values.ts";

/** A value on one line; `depth` is its nesting level. */
type Flat = (value: Value, depth: number) => string;

export function prettyText(m: Machine, value: Value, style: PrintStyle, flat: Flat): string {
  const line = flat(value, 0);
  // Labels are numbered in the order of printing, so a text with labels is printed only once.
  if (style.circle || style.dispatch.length > 0 || line.length <= style.rightMargin) return line;
  const pretty = new Pretty();
  prettyInto(pretty, value, style, flat);
  return pretty.layout(m, 0);
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

/** Puts a value and the places where its lines may break into a logical block. */
export function prettyInto(
  pretty: Pretty,
  value: Value,
  style: PrintStyle,
  flat: Flat,
  depth = 0,
): void {
  const inner = (item: Value): void => prettyInto(pretty, item, style, flat, depth + 1);
  const isVector =
    value instanceof Vec && value.dims === null && value.elementType.name !== "BIT" && style.array;
  const isList = value instanceof Cons && isProper(value);
  if (depth >= style.level || style.circle || style.dispatch.length > 0 || !(isVector || isList)) {
    pretty.text(flat(value, depth));
    return;
  }
  const mark = isList ? /^(?:'|#')/.exec(flat(value, depth))?.[0] : undefined;
  if (mark !== undefined) {
    pretty.text(mark);
    prettyInto(pretty, ((value as Cons).cdr as Cons).car, style, flat, depth);
    return;
  }
  const items = isVector ? value.items.slice(0, value.length) : itemsOf(value);
  const shown = items.slice(0, Math.min(items.length, style.length));
  const { beside, how, isCall } = isVector ? plain : styleOf(items, style);
  pretty.start({ prefix: isVector ? "#(" : "(", isPerLine: false, suffix: ")" });
  shown.forEach((item, index) => {
    if (index > 0) pretty.text(" ");
    if (index > 0 && index === (isCall ? 1 : beside + 1))
      pretty.indent(isCall, isCall || beside === 0 ? 0 : 1);
    if (index > beside) pretty.newline(how);
    inner(item);
  });
  if (shown.length < items.length) pretty.text(" ...");
  pretty.end();
}

interface ListStyle {
  /** The number of elements that stay beside the first. */
  readonly beside: number;
  readonly how: "LINEAR" | "FILL";
  readonly isCall: boolean;
}

const plain: ListStyle = { beside: 0, how: "FILL", isCall: false };

function styleOf(items: readonly Value[], style: PrintStyle): ListStyle {
  const [head] = items;
  if (!(head instanceof Sym) || items.length > style.length) return plain;
  const beside = bodies.get(head.name);
  if (beside !== undefined && items.length > beside + 1)
    return { beside, how: "LINEAR", isCall: false };
  const isCall = items.length > 1 && (head.fn !== null || aligned.has(head.name));
  return isCall ? { beside: 1, how: "LINEAR", isCall } : plain;
}

function isProper(list: Cons): boolean {
  let at: Value = list;
  while (at instanceof Cons) at = at.cdr;
  return at === NIL;
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
    if (!isCompound(value) && !(value instanceof Sym && value.pkg === null)) continue;
    m.tick(1);
    if (seen.has(value)) {
      repeated.add(value);
      continue;
    }
    seen.add(value);
    if (isCompound(value)) for (const part of partsOf(value)) waiting.push(part);
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

/** Runs `body` with a stream that collects a logical block; without `*print-pretty*` there is no layout. */
export function inBlock(
  m: Machine,
  stream: Stream,
  block: BlockText,
  body: (stream: Stream) => void,
): void {
  if (cl("*PRINT-PRETTY*").value === NIL) {
    write(m, stream, block.prefix);
    body(stream);
    write(m, stream, block.suffix);
    return;
  }
  const pretty = stream.pretty ?? new Pretty();
  const inner = stream.pretty === null ? prettyStream(pretty, stream.column) : stream;
  pretty.start(block);
  body(inner);
  pretty.end();
  if (inner !== stream) write(m, stream, pretty.layout(m, stream.column));
}

function prettyStream(pretty: Pretty, column: number): Stream {
  const made = new Stream((text) => pretty.text(text));
  made.pretty = pretty;
  made.column = column;
  return made;
}
