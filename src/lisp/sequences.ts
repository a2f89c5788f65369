/** Conversion between sequences (lists, vectors, strings) and arrays of elements. */

import { eql, equal } from "./equality.ts";
import type { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { Char, char, Str } from "./string.ts";
import { cl, NIL, Sym, T } from "./symbol.ts";
import { Cons, type Value, Vec } from "./values.ts";

export type Sequence = Cons | Sym | Vec | Str;

export function isSequence(value: Value): value is Sequence {
  return (
    value instanceof Cons ||
    value === NIL ||
    value instanceof Str ||
    (value instanceof Vec && value.dims === null)
  );
}

export function lengthOf(m: Machine, sequence: Value): number {
  if (sequence instanceof Str) return sequence.length;
  if (sequence instanceof Vec && sequence.dims === null) return sequence.length;
  if (sequence instanceof Cons || sequence === NIL) return listLength(m, sequence);
  return m.typeError(sequence, "SEQUENCE");
}

function listLength(m: Machine, list: Value): number {
  let length = 0;
  let at = list;
  let mark: Value = NIL;
  while (at instanceof Cons) {
    length += 1;
    at = at.cdr;
    if (length % 1024 === 0) m.tick(1024);
    if (at === mark && at !== NIL) return notProper(m, list);
    // A circular list comes back to the mark, which moves on at every power of two.
    if ((length & (length - 1)) === 0) mark = at;
  }
  return at === NIL ? length : m.typeError(at, "LIST");
}

export function notProper(m: Machine, list: Value): never {
  m.typeError(list, "(AND LIST (SATISFIES LIST-LENGTH))");
}

/** The elements from `start` to `end`. Read-only: it may be the sequence's own array. */
export function elements(
  m: Machine,
  sequence: Value,
  start?: Value,
  end?: Value,
): readonly Value[] {
  if (sequence instanceof Vec && sequence.dims === null) {
    const { length } = sequence;
    m.tick(length >> 2);
    const span = spanOf(m, start, end, length, sequence);
    return span.start === 0 && span.end === sequence.items.length
      ? sequence.items
      : sequence.items.slice(span.start, span.end);
  }
  if (sequence instanceof Str) {
    const span = spanOf(m, start, end, sequence.length, sequence);
    m.tick((span.end - span.start) >> 2);
    const items: Value[] = [];
    for (let at = span.start; at < span.end; at += 1) items.push(char(sequence.codeAt(at)));
    return items;
  }
  if (isWhole(start, end)) return listItems(m, sequence, "SEQUENCE");
  const { items, tail } = takeItems(m, sequence, typeof end === "number" ? end : undefined);
  if (!(tail instanceof Cons) && tail !== NIL) m.typeError(tail, "LIST");
  const span = spanOf(m, start, end, items.length, sequence);
  return items.slice(span.start, span.end);
}

/** The elements of a proper list. */
export function listItems(m: Machine, list: Value, expected = "LIST"): Value[] {
  const { items, tail } = takeItems(m, list);
  return tail === NIL ? items : m.typeError(tail, tail === list ? expected : "LIST");
}

/** The elements of a possibly dotted list, at most `max`, and the tail after them. */
export function takeItems(
  m: Machine,
  list: Value,
  max = Number.POSITIVE_INFINITY,
): { items: Value[]; tail: Value } {
  const items: Value[] = [];
  let at = list;
  let mark: Value = NIL;
  while (at instanceof Cons && items.length < max) {
    items.push(at.car);
    at = at.cdr;
    const { length } = items;
    if (length % 1024 === 0) m.alloc(1024);
    if (at === mark && at !== NIL && max === Number.POSITIVE_INFINITY) notProper(m, list);
    if ((length & (length - 1)) === 0) mark = at;
  }
  return { items, tail: at };
}

const isWhole = (start?: Value, end?: Value): boolean =>
  (start === undefined || start === 0) && (end === undefined || end === NIL);

export interface SequenceSpan {
  readonly start: number;
  readonly end: number;
}

/** Checks `:start` and `:end` against a length. */
export function spanOf(
  m: Machine,
  start: Value | undefined,
  end: Value | undefined,
  length: number,
  sequence: Value,
): SequenceSpan {
  const from = sizeOf(m, start ?? 0);
  const to = end === undefined || end === NIL ? length : end;
  if (typeof to !== "number" || to < 0) return m.typeError(to, "(OR NULL UNSIGNED-BYTE)");
  if (to <= length && from <= to) return { start: from, end: to };
  return badIndex(
    m,
    to > length ? to : from,
    `the bounds ${from} and ${end === undefined ? "NIL" : to} do not fit ${m.show(sequence)}, which has ${length} elements`,
    length,
  );
}

export function badIndex(m: Machine, index: Value, text: string, length: number): never {
  m.error("%INDEX-ERROR", {
    DATUM: index,
    "EXPECTED-TYPE": m.list([cl("INTEGER"), 0, m.list([length])]),
    TEXT: text,
  });
}

/** A new sequence of the same kind as `model`. */
export function sequenceLike(m: Machine, model: Value, items: readonly Value[]): Value {
  if (model instanceof Str) return stringOf(m, items);
  if (model instanceof Vec) return vectorOf(m, items, model.elementType);
  return m.list(items);
}

export function vectorOf(m: Machine, items: readonly Value[], elementType: Sym = T): Vec {
  m.alloc(items.length + 1);
  const made = new Vec(items.slice());
  made.elementType = elementType;
  return made;
}

export function stringOf(m: Machine, items: readonly Value[]): Str {
  m.alloc((items.length >> 3) + 1);
  return Str.ofCodes(
    items.map((item) => (item instanceof Char ? item.code : m.typeError(item, "CHARACTER"))),
  );
}

/** The characters from `start` up to `end` as text. */
export function sliceText(string: Str, start: number, end: number): string {
  const text = string.toString();
  if (text.length === string.length) return text.slice(start, end);
  return Array.from(text).slice(start, end).join("");
}

/** Checks an index into a sequence; that into a list only for its sign. */
function indexIn(m: Machine, sequence: Value, index: Value): number {
  const at = sizeOf(m, index);
  if (sequence instanceof Str || (sequence instanceof Vec && sequence.dims === null))
    return at < sequence.length ? at : indexBeyond(m, sequence, at, sequence.length);
  return at;
}

/** A number of elements. */
export function sizeOf(m: Machine, value: Value): number {
  return typeof value === "number" && value >= 0 ? value : m.typeError(value, "UNSIGNED-BYTE");
}

export function elementAt(m: Machine, sequence: Value, index: Value): Value {
  const at = indexIn(m, sequence, index);
  if (sequence instanceof Str) return char(sequence.codeAt(at));
  if (sequence instanceof Vec && sequence.dims === null) return sequence.items[at] as Value;
  return cellAt(m, sequence, at).car;
}

export function setElementAt(m: Machine, sequence: Value, index: Value, value: Value): void {
  const at = indexIn(m, sequence, index);
  if (sequence instanceof Str)
    sequence.setCode(at, value instanceof Char ? value.code : m.typeError(value, "CHARACTER"));
  else if (sequence instanceof Vec && sequence.dims === null)
    sequence.items[at] = fitting(m, sequence, value);
  else cellAt(m, sequence, at).car = value;
}

/** Checks that the array can hold the value. */
export function fitting(m: Machine, array: Vec, value: Value): Value {
  if (array.elementType.name === "BIT" && value !== 0 && value !== 1)
    return m.typeError(value, "BIT");
  return value;
}

function cellAt(m: Machine, list: Value, index: number): Cons {
  if (!(list instanceof Cons) && list !== NIL) return m.typeError(list, "SEQUENCE");
  m.tick(index >> 3);
  let at: Value = list;
  for (let count = index; count > 0 && at instanceof Cons; count -= 1) at = at.cdr;
  if (at instanceof Cons) return at;
  return at === NIL ? indexBeyond(m, list, index, listLength(m, list)) : m.typeError(at, "LIST");
}

export function indexBeyond(m: Machine, sequence: Value, index: number, length: number): never {
  badIndex(
    m,
    index,
    `the index ${index} is too large for ${m.show(sequence)}, which has ${length} elements`,
    length,
  );
}
// Designators of strings and functions, and the keywords for comparing elements.

/** The text of a string designator: a string, a symbol or a character. */
export function textOf(m: Machine, value: Value): string {
  if (value instanceof Str) return value.toString();
  if (value instanceof Sym) return value.name;
  if (value instanceof Char) return String.fromCodePoint(value.code);
  return m.typeError(value, "(OR STRING SYMBOL CHARACTER)");
}

export type Key = (value: Value) => Value;
export type SequenceTest = (a: Value, b: Value) => boolean;
export type Match = (element: Value) => boolean;

const identity: Key = (value) => value;

/** `:key`; absent and NIL mean the element itself. */
export function keyOf(m: Machine, key?: Value): Key {
  if (key === undefined || key === NIL) return identity;
  const fn = m.fn(key);
  return (value) => {
    m.tick(1);
    return m.call1(fn, value);
  };
}

/** `:test` and `:test-not`; `eql` when neither is given. */
export function testOf(m: Machine, test: Value = NIL, testNot: Value = NIL): SequenceTest {
  if (testNot !== NIL) {
    if (test !== NIL) m.fail("both :TEST and :TEST-NOT are given");
    const holds = testFunction(m, m.fn(testNot));
    return (a, b) => !holds(a, b);
  }
  return test === NIL ? eql : testFunction(m, m.fn(test));
}

function testFunction(m: Machine, fn: Fn): SequenceTest {
  if (fn === cl("EQL").fn) return eql;
  if (fn === cl("EQ").fn) return (a, b) => a === b;
  if (fn === cl("EQUAL").fn) return (a, b) => equal(m, a, b);
  return (a, b) => {
    m.tick(1);
    return m.call2(fn, a, b) !== NIL;
  };
}

/** Matches `item`: `(test item (key element))`. */
export function matchItem(
  m: Machine,
  item: Value,
  test?: Value,
  testNot?: Value,
  key: Value = NIL,
): Match {
  const holds = testOf(m, test, testNot);
  if (key === NIL) return (element) => holds(item, element);
  const part = keyOf(m, key);
  return (element) => holds(item, part(element));
}

/** Matches a predicate, for functions that end in -IF, or (`wanted` false) in -IF-NOT. */
export function matchPredicate(m: Machine, predicate: Value, key?: Value, wanted = true): Match {
  const fn = m.fn(predicate);
  const part = keyOf(m, key);
  return (element) => {
    m.tick(1);
    return (m.call1(fn, part(element)) !== NIL) === wanted;
  };
}
