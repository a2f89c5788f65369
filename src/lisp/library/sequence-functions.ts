/** Functions on whole sequences: subsequences, copies, concatenation, mapping, reduce, search, sorting. */
import { defineFunction, defineSetter, nativeFunction } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import {
  elementAt,
  elements,
  keyOf,
  lengthOf,
  sequenceLike,
  setElementAt,
  sizeOf,
  sliceText,
  spanOf,
  testOf,
} from "../sequences.ts";
import { Str } from "../string.ts";
import { cl, isTrue, NIL, T } from "../symbol.ts";
import { Cons, type Value, Vec } from "../values.ts";
import { nconc } from "./lists.ts";
import { overwrite } from "./sequences.ts";
import { sequenceOfType } from "./types.ts";

export function defineSequenceBuilding(): void {
  defineFunction("LENGTH sequence", lengthOf);
  defineFunction("ELT sequence index", elementAt);
  defineSetter("ELT value sequence index", (m, value, sequence, index) => {
    setElementAt(m, sequence, index, value);
    return value;
  });
  defineFunction("SUBSEQ sequence start &optional end", subsequence);
  defineSetter("SUBSEQ value sequence start &optional end", (m, value, sequence, start, end) => {
    replace(m, sequence, value, [start, end]);
    return value;
  });
  defineFunction("COPY-SEQ sequence", (m, sequence) => subsequence(m, sequence, 0, undefined));
  defineFunction("REVERSE sequence", (m, sequence) =>
    sequenceLike(m, sequence, elements(m, sequence).toReversed()),
  );
  defineFunction("NREVERSE sequence", (m, sequence) => {
    const items = elements(m, sequence).toReversed();
    if (sequence instanceof Cons) return reverseInPlace(sequence);
    overwrite(sequence, items);
    return sequence;
  });
  defineFunction("FILL sequence item &key start end", (m, sequence, item, start, end) => {
    const span = spanOf(m, start, end, lengthOf(m, sequence), sequence);
    m.tick(span.end - span.start);
    if (sequence instanceof Cons || sequence === NIL) {
      overwrite(sequence, [...elements(m, sequence)].fill(item, span.start, span.end));
    } else for (let at = span.start; at < span.end; at += 1) setElementAt(m, sequence, at, item);
    return sequence;
  });
  defineFunction(
    "REPLACE sequence1 sequence2 &key start1 end1 start2 end2",
    (m, target, source, ...spans) => {
      replace(m, target, source, spans);
      return target;
    },
  );
  defineFunction("MAKE-SEQUENCE type size &key initial-element", (m, type, size, initial) => {
    const length = sizeOf(m, size);
    m.alloc(length);
    const items = new Array<Value>(length).fill(initial ?? NIL);
    return sequenceOfType(m, type, items, initial === undefined);
  });
  defineFunction("CONCATENATE type &rest sequences", (m, type, sequences) => {
    if (type === cl("STRING") && sequences.every((sequence) => sequence instanceof Str))
      return joined(m, sequences);
    const items: Value[] = [];
    for (const sequence of sequences) {
      const more = elements(m, sequence);
      m.alloc(more.length >> 1);
      for (const item of more) items.push(item);
    }
    return sequenceOfType(m, type, items);
  });
  defineFunction("MAP type function sequence &rest more", (m, type, fn, sequence, more) => {
    const results = callAcross(m, fn, [sequence, ...more]);
    return type === NIL ? NIL : sequenceOfType(m, type, results);
  });
  defineFunction("MAP-INTO target function &rest sequences", (m, target, fn, sequences) => {
    const length = target instanceof Str ? target.capacity : lengthOf(m, target);
    const room = target instanceof Vec ? target.items.length : length;
    const results = callAcross(m, fn, sequences, room);
    if ((target instanceof Vec || target instanceof Str) && target.fill >= 0)
      target.fill = results.length;
    results.forEach((item, at) => {
      if (!(target instanceof Cons)) setElementAt(m, target, at, item);
    });
    if (target instanceof Cons) overwrite(target, results);
    return target;
  });
}

/** The fast path for strings, the most common case. */
function joined(m: Machine, strings: readonly Str[]): Str {
  m.alloc(strings.reduce((sum, string) => sum + string.length, 8) >> 3);
  return new Str(strings.map(String).join(""));
}

function subsequence(m: Machine, sequence: Value, start: Value, end: Value | undefined): Value {
  if (sequence instanceof Str) {
    const span = spanOf(m, start, end, sequence.length, sequence);
    return m.string(sliceText(sequence, span.start, span.end));
  }
  return sequenceLike(m, sequence, elements(m, sequence, start, end));
}

function reverseInPlace(list: Cons): Value {
  let reversed: Value = NIL;
  for (let at: Value = list; at instanceof Cons; ) {
    const next: Value = at.cdr;
    at.cdr = reversed;
    reversed = at;
    at = next;
  }
  return reversed;
}

function replace(
  m: Machine,
  target: Value,
  source: Value,
  [start1, end1, start2, end2]: readonly (Value | undefined)[],
): void {
  const span = spanOf(m, start1, end1, lengthOf(m, target), target);
  // A copy, because the two may be the same sequence.
  const items = elements(m, source, start2, end2).slice(0, span.end - span.start);
  if (target instanceof Cons) {
    const all = [...elements(m, target)];
    all.splice(span.start, items.length, ...items);
    overwrite(target, all);
  } else for (const [at, item] of items.entries()) setElementAt(m, target, span.start + at, item);
}

/** Calls with the elements at 0, 1, 2 … until the shortest sequence ends, at most `limit` times. */
function callAcross(
  m: Machine,
  designator: Value,
  sequences: readonly Value[],
  limit = Number.POSITIVE_INFINITY,
): Value[] {
  const fn = m.fn(designator);
  const columns = sequences.map((sequence) => elements(m, sequence));
  const length = Math.min(limit, ...columns.map((column) => column.length));
  const results: Value[] = [];
  for (let at = 0; at < length; at += 1) {
    m.tick(1);
    if (at % 256 === 255) m.alloc(256);
    results.push(callAt(m, fn, columns, at));
  }
  return results;
}

function callAt(m: Machine, fn: Fn, columns: readonly (readonly Value[])[], at: number): Value {
  if (columns.length === 1) return m.call1(fn, columns[0]?.[at] as Value);
  return m.apply(
    fn,
    columns.map((column) => column[at] as Value),
  );
}

// mapcar and its variants, and functions that make functions.

export function defineMapping(): void {
  for (const [name, byElement, result] of [
    ["MAPCAR", true, (m, results) => m.list(results)],
    ["MAPLIST", false, (m, results) => m.list(results)],
    ["MAPCAN", true, nconc],
    ["MAPCON", false, nconc],
    ["MAPC", true, (_, _results, list) => list],
    ["MAPL", false, (_, _results, list) => list],
  ] satisfies [string, boolean, (m: Machine, results: Value[], list: Value) => Value][])
    defineFunction(`${name} function list &rest more`, (m, fn, list, more) =>
      result(m, collect(m, m.fn(fn), [list, ...more], byElement), list),
    );
  defineFunction("IDENTITY object", (_, object) => object);
  defineFunction("CONSTANTLY value", (_, value) =>
    nativeFunction(cl("CONSTANTLY"), "&rest arguments", () => value),
  );
  defineFunction("COMPLEMENT function", (m, fn) => {
    const opposite = m.fn(fn);
    return nativeFunction(cl("COMPLEMENT"), "&rest arguments", (inner, args: Value[]) =>
      inner.apply(opposite, args) === NIL ? T : NIL,
    );
  });
}

/** Calls with the elements (or the tails) until the shortest list ends. */
function collect(m: Machine, fn: Fn, lists: Value[], byElement: boolean): Value[] {
  const results: Value[] = [];
  if (lists.length === 1) {
    let at = lists[0] as Value;
    for (; at instanceof Cons; at = at.cdr) {
      if (--m.fuel < 0) m.refuel();
      if (results.length % 256 === 255) m.alloc(256);
      results.push(m.call1(fn, byElement ? at.car : at));
    }
    return at === NIL ? results : m.typeError(at, "LIST");
  }
  for (;;) {
    m.tick(1);
    if (results.length % 256 === 255) m.alloc(256);
    const args: Value[] = [];
    for (const [index, list] of lists.entries()) {
      if (!(list instanceof Cons)) return list === NIL ? results : m.typeError(list, "LIST");
      args.push(byElement ? list.car : list);
      lists[index] = list.cdr;
    }
    results.push(
      args.length === 2 ? m.call2(fn, args[0] as Value, args[1] as Value) : m.apply(fn, args),
    );
  }
}

// reduce, quantifiers, search and sorting.

export function defineSequenceReducing(): void {
  defineFunction(
    "REDUCE function sequence &key key from-end start end initial-value",
    (m, fn, sequence, key, fromEnd, start, end, initial) => {
      const combine = m.fn(fn);
      const part = keyOf(m, key);
      const items = elements(m, sequence, start, end);
      const isBackwards = isTrue(fromEnd);
      if (items.length === 0) return initial ?? m.call0(combine);
      const ordered = isBackwards ? items.toReversed() : items;
      let result = initial ?? part(ordered[0] as Value);
      for (let at = initial === undefined ? 1 : 0; at < ordered.length; at += 1) {
        m.tick(1);
        const item = part(ordered[at] as Value);
        result = isBackwards ? m.call2(combine, item, result) : m.call2(combine, result, item);
      }
      return result;
    },
  );
  defineQuantifier("EVERY", false, () => NIL, T);
  defineQuantifier("SOME", true, (answer) => answer, NIL);
  defineQuantifier("NOTANY", true, () => NIL, T);
  defineQuantifier("NOTEVERY", false, () => T, NIL);
  defineFunction(
    "SEARCH sequence1 sequence2 &key from-end test test-not key start1 start2 end1 end2",
    (m, wanted, sequence, fromEnd, test, testNot, key, start1, start2, end1, end2) => {
      const part = keyOf(m, key);
      const left = elements(m, wanted, start1, end1).map(part);
      const right = elements(m, sequence, start2, end2).map(part);
      const holds = testOf(m, test, testNot);
      const isBackwards = isTrue(fromEnd);
      const last = right.length - left.length;
      for (let step = 0; step <= last; step += 1) {
        const at = isBackwards ? last - step : step;
        let same = 0;
        while (same < left.length && holds(left[same] as Value, right[at + same] as Value))
          same += 1;
        m.tick(same + 1);
        if (same === left.length)
          return at + spanOf(m, start2, end2, lengthOf(m, sequence), sequence).start;
      }
      return NIL;
    },
  );
  for (const name of ["SORT", "STABLE-SORT"])
    defineFunction(`${name} sequence predicate &key key`, (m, sequence, predicate, key) => {
      overwrite(sequence, sorted(m, elements(m, sequence), m.fn(predicate), key));
      return sequence;
    });
}

function defineQuantifier(
  name: string,
  decides: boolean,
  result: (answer: Value) => Value,
  otherwise: Value,
): void {
  defineFunction(`${name} predicate sequence &rest more`, (m, predicate, sequence, more) => {
    const columns = [sequence, ...more].map((one) => elements(m, one));
    const length = Math.min(...columns.map((column) => column.length));
    if (length === 0) return otherwise;
    const fn = m.fn(predicate);
    for (let at = 0; at < length; at += 1) {
      m.tick(1);
      const answer = callAt(m, fn, columns, at);
      if ((answer !== NIL) === decides) return result(answer);
    }
    return otherwise;
  });
}

function sorted(m: Machine, items: readonly Value[], predicate: Fn, key: Value = NIL): Value[] {
  const quick =
    key === NIL && items.every((item) => typeof item === "number")
      ? numberOrder(predicate)
      : undefined;
  m.tick(items.length);
  if (quick !== undefined) return [...(items as readonly number[])].sort(quick);
  const part = keyOf(m, key);
  const pairs = items.map((item) => ({ item, key: part(item) }));
  const before = (a: { key: Value }, b: { key: Value }): boolean => {
    m.tick(1);
    return m.call2(predicate, a.key, b.key) !== NIL;
  };
  return mergeSort(pairs, before).map((pair) => pair.item);
}

function numberOrder(predicate: Fn): ((a: number, b: number) => number) | undefined {
  if (predicate === cl("<").fn || predicate === cl("<=").fn) return (a, b) => a - b;
  return predicate === cl(">").fn || predicate === cl(">=").fn ? (a, b) => b - a : undefined;
}

/** Stable; terminates even with an inconsistent predicate. */
function mergeSort<Item>(items: readonly Item[], before: (a: Item, b: Item) => boolean): Item[] {
  let runs = items.slice();
  for (let width = 1; width < runs.length; width *= 2) {
    const next: Item[] = [];
    for (let low = 0; low < runs.length; low += 2 * width) {
      let [left, right] = [low, Math.min(low + width, runs.length)];
      const [middle, high] = [right, Math.min(low + 2 * width, runs.length)];
      while (left < middle || right < high) {
        const takesRight =
          left >= middle || (right < high && before(runs[right] as Item, runs[left] as Item));
        next.push(runs[takesRight ? right++ : left++] as Item);
      }
    }
    runs = next;
  }
  return runs;
}
