// The dispatching macro characters: `#` and the character after it.
import { form, named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { keywordOf, packageVariable } from "./packages.ts";
import { readNumber } from "./rationals.ts";
import type { Reader } from "./reader.ts";
import { textOf } from "./sequences.ts";
import { char, characterNamed, Str } from "./string.ts";
import { keyword, NIL, Sym } from "./symbol.ts";
import { Cons, itemsOf, list, type Value, Vec } from "./values.ts";

type DispatchMacro = (reader: Reader, argument: number | null, from: number) => Value | undefined;

export const dispatchMacros: ReadonlyMap<string, DispatchMacro> = new Map<string, DispatchMacro>([
  ["'", (reader, _, from) => form(["FUNCTION", reader.need("#'", from)])],
  ["\\", readCharacter],
  ["(", readVector],
  [":", readUninterned],
  ...Object.entries({ B: 2, O: 8, X: 16 }).map(([name, radix]): [string, DispatchMacro] => [
    name,
    (reader, _, from) => readInRadix(reader, radix, from),
  ]),
  [
    "R",
    (reader, radix, from) =>
      radix !== null && radix >= 2 && radix <= 36
        ? readInRadix(reader, radix, from)
        : reader.fault(`#R at ${reader.where(from)} needs a radix from 2 to 36`),
  ],
  ["*", readBits],
  ["A", readArray],
  ["+", (reader, _, from) => readIf(reader, true, from)],
  ["-", (reader, _, from) => readIf(reader, false, from)],
  ["=", readLabelled],
  ["#", readLabel],
  ["S", readStructure],
  [".", refusing("#.", " is not available: the reader does not evaluate; write the form itself")],
  ["P", refusing("#P", " is not available: files are not supported")],
  ["C", refusing("#C", " is not available: complex numbers are not supported")],
  ["T", refusing("#t", ": this is Common Lisp, true is T")],
  ["F", refusing("#f", ": this is Common Lisp, false is NIL")],
]);

function refusing(token: string, why: string): DispatchMacro {
  return (reader, _, from) => reader.fault(`${token} at ${reader.where(from)}${why}`);
}

function readUninterned(reader: Reader, _: number | null, from: number): Value {
  const { text, escaped } = reader.token();
  if ([...text].some((character, at) => character === ":" && !escaped[at]))
    return reader.fault(`#:${text} at ${reader.where(from)} names a package`);
  return new Sym(text, null);
}

function readCharacter(reader: Reader, _: number | null, from: number): Value {
  const first = reader.text.codePointAt(reader.at);
  if (first === undefined) reader.endOfText(`the text ends after #\\ at ${reader.where(from)}`);
  const width = first > 0xffff ? 2 : 1;
  let end = reader.at + width;
  while (end < reader.text.length && /[^\s()'";`,]/.test(reader.text[end] as string)) end++;
  const name = reader.text.slice(reader.at, end);
  // The first character is part of the token, whatever it is: #\(.
  reader.at = end;
  if (name.length === width) return char(first);
  const known = characterNamed(name);
  if (known !== undefined) return char(known);
  if (reader.suppress) return NIL;
  return reader.fault(`unknown character name ${name} (at ${reader.where(from)})`);
}

function readVector(reader: Reader, length: number | null, from: number): Value {
  const items = itemsOf(reader.list(")", from));
  if (length !== null && items.length > length)
    reader.fault(`more than ${length} elements in the vector at ${reader.where(from)}`);
  reader.m.alloc(length ?? 0);
  while (items.length < (length ?? 0)) items.push(items.at(-1) ?? NIL);
  reader.m.alloc(items.length);
  return new Vec(items);
}

function readInRadix(reader: Reader, radix: number, from: number): Value {
  const { text } = reader.token();
  if (reader.suppress) return NIL;
  return (
    readNumber(reader.m, text, radix) ??
    reader.fault(`${text} at ${reader.where(from)} is not a number in radix ${radix}`)
  );
}

function readBits(reader: Reader, length: number | null, from: number): Value {
  const { text } = reader.token();
  if (/[^01]/.test(text)) reader.fault(`a bit vector at ${reader.where(from)} holds 0 and 1 only`);
  const items: Value[] = [...text].map(Number);
  if (length !== null && (items.length > length || (items.length === 0 && length > 0)))
    reader.fault(`the bits at ${reader.where(from)} do not fit the length ${length}`);
  reader.m.alloc(length ?? 0);
  while (items.length < (length ?? 0)) items.push(items.at(-1) ?? 0);
  const made = new Vec(items);
  made.elementType = named("BIT");
  return made;
}

function readArray(reader: Reader, rank: number | null, from: number): Value {
  if (rank === null || rank > 128)
    reader.fault(`#A at ${reader.where(from)} needs its rank, as in #2A((1 2) (3 4))`);
  const contents = reader.need("#A", from);
  const dims: number[] = [];
  const items: Value[] = [];
  let level: Value = contents;
  for (let at = 0; at < rank; at++) {
    const row = rowOf(level);
    dims.push(row.length);
    level = row[0] ?? NIL;
  }
  const gather = (value: Value, depth: number): void => {
    if (depth === rank) {
      items.push(value);
      return;
    }
    const row = rowOf(value);
    if (row.length !== dims[depth])
      reader.fault(`the rows of the array at ${reader.where(from)} differ in length`);
    for (const item of row) gather(item, depth + 1);
  };
  gather(contents, 0);
  reader.m.alloc(items.length);
  const made = new Vec(items);
  if (rank !== 1) made.dims = dims;
  return made;
}

function rowOf(value: Value): Value[] {
  if (value instanceof Str) return value.codes().map((code) => char(code));
  return value instanceof Vec ? value.items : itemsOf(value);
}

function readIf(reader: Reader, wanted: boolean, from: number): Value | undefined {
  const outside = reader.suppress;
  reader.suppress = false;
  const mark = reader.m.bindings.length;
  reader.m.bind(packageVariable, reader.m.packages.get("KEYWORD"));
  const feature = reader.need("#+", from);
  reader.m.unbindTo(mark);
  reader.suppress = outside;
  if (hasFeature(feature) === wanted) return undefined;
  reader.suppress = true;
  try {
    reader.need("#+", from);
  } finally {
    reader.suppress = outside;
  }
  return undefined;
}

function hasFeature(feature: Value): boolean {
  if (feature instanceof Sym) return itemsOf(named("*FEATURES*").value ?? NIL).includes(feature);
  const [operator, ...parts] = itemsOf(feature);
  const name = operator instanceof Sym ? operator.name : "";
  if (name === "OR") return parts.some(hasFeature);
  if (name === "NOT") return !hasFeature(parts[0] ?? NIL);
  return name === "AND" && parts.every(hasFeature);
}

function readLabelled(reader: Reader, label: number | null, from: number): Value {
  if (label === null || reader.labels.has(label))
    reader.fault(`#= at ${reader.where(from)} needs a number that is not in use`);
  const entry = { value: null as Value | null, placeholder: new Sym(`#${label}#`, null) };
  reader.labels.set(label, entry);
  const value = reader.need("#=", from);
  if (value === entry.placeholder)
    reader.fault(`#${label}# at ${reader.where(from)} refers to itself`);
  entry.value = value;
  patch(reader.m, value, { placeholder: entry.placeholder, actual: value, seen: new Set() });
  return value;
}

function readLabel(reader: Reader, label: number | null, from: number): Value {
  const entry = label === null ? undefined : reader.labels.get(label);
  if (entry === undefined)
    return reader.fault(`#${label ?? ""}# at ${reader.where(from)} refers to no earlier form`);
  return entry.value ?? entry.placeholder;
}

interface Patching {
  readonly placeholder: Sym;
  readonly actual: Value;
  readonly seen: Set<Value>;
}

/** Replaces references to a label by its object. Walks the whole object, so it counts steps. */
function patch(m: Machine, value: Value, patching: Patching): void {
  const { placeholder, actual, seen } = patching;
  for (let at = value; ; at = at.cdr) {
    m.tick(1);
    if (at instanceof Vec && !seen.has(at)) {
      seen.add(at);
      at.items = at.items.map((item) => (item === placeholder ? actual : item));
      for (const item of at.items) patch(m, item, patching);
    }
    if (!(at instanceof Cons) || seen.has(at)) return;
    seen.add(at);
    if (at.car === placeholder) at.car = actual;
    else patch(m, at.car, patching);
    if (at.cdr === placeholder) at.cdr = actual;
  }
}

function readStructure(reader: Reader, _: number | null, from: number): Value {
  const read = reader.need("#S", from);
  if (reader.suppress) return NIL;
  const [name, ...slots] = itemsOf(read);
  if (!(name instanceof Sym))
    return reader.fault(`#S at ${reader.where(from)} needs the name of a structure`);
  const maker = name.pkg?.symbols.get(`MAKE-${name.name}`)?.fn;
  if (!maker) return reader.fault(`no structure is called ${name.name} (at ${reader.where(from)})`);
  return reader.m.apply(
    maker,
    slots.map((slot, index) =>
      index % 2 === 0 ? keywordOf(reader.m, textOf(reader.m, slot)) : slot,
    ),
  );
}

/** `*features*`. */
export const featureList = (): Value =>
  form(["GUILDHALL", "COMMON-LISP", "ANSI-CL-SUBSET"].map((name) => keyword(name)));
// Backquote is expanded into list, append and vector when it is read. Inner ones are expanded first, so that
// no levels need counting: a comma of an outer one is still a marker in the inner expansion.

export const unquote = named("%UNQUOTE");
export const splice = named("%SPLICE");

export function expandBackquote(template: Value): Value {
  if (template instanceof Vec)
    return form(["APPLY", ["FUNCTION", "VECTOR"], expandBackquote(list(...template.items))]);
  if (!(template instanceof Cons))
    return isSelfEvaluating(template) ? template : form(["QUOTE", template]);
  if (template.car === unquote) return (template.cdr as Cons).car;
  return joined(partsOf(template));
}

/** A longer template is circular. */
const partsMax = 1_000_000;

type Part = { readonly kind: "constant" | "item" | "splice" | "tail"; readonly form: Value };

function partsOf(template: Cons): Part[] {
  const parts: Part[] = [];
  let at: Value = template;
  while (at instanceof Cons) {
    if (at.car === unquote) {
      parts.push({ kind: "tail", form: (at.cdr as Cons).car });
      return parts;
    }
    if (parts.length === partsMax) throw new RangeError("circular template");
    parts.push(partOf(at.car));
    at = at.cdr;
  }
  if (at !== NIL) parts.push({ kind: "tail", form: expandBackquote(at) });
  return parts;
}

function partOf(item: Value): Part {
  if (item instanceof Cons && item.car === splice)
    return { kind: "splice", form: (item.cdr as Cons).car };
  const expanded = expandBackquote(item);
  return { kind: isConstant(expanded) ? "constant" : "item", form: expanded };
}

function joined(parts: readonly Part[]): Value {
  if (parts.every((part) => part.kind === "constant"))
    return form(["QUOTE", list(...parts.map((part) => constantOf(part.form)))]);
  const groups: Value[] = [];
  let run: Value[] = [];
  const endRun = (): void => {
    if (run.length > 0) groups.push(form(["LIST", ...run]));
    run = [];
  };
  for (const part of parts) {
    if (part.kind === "constant" || part.kind === "item") run.push(part.form);
    else {
      endRun();
      groups.push(part.form);
    }
  }
  endRun();
  const isWhole = groups.length === 1 && parts.at(-1)?.kind !== "splice";
  return isWhole ? (groups[0] as Value) : form(["APPEND", ...groups]);
}

function isConstant(expanded: Value): boolean {
  return (
    isSelfEvaluating(expanded) || (expanded instanceof Cons && expanded.car === named("QUOTE"))
  );
}

function constantOf(expanded: Value): Value {
  return expanded instanceof Cons ? ((expanded.cdr as Cons).car as Value) : expanded;
}

function isSelfEvaluating(value: Value): boolean {
  return (!(value instanceof Cons) && !(value instanceof Sym)) || value === NIL;
}
