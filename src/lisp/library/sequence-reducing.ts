/** Sequences as a whole: reduce, quantifiers, comparison of two, sorting and merging. */
import { defineFunction } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { elements, isSequence, keyOf, lengthOf, spanOf, type Test, testOf } from "../sequences.ts";
import { cl, NIL, T } from "../symbol.ts";
import type { Value } from "../values.ts";
import { callAt } from "./sequence-building.ts";
import { overwrite } from "./sequences.ts";

export function defineSequenceReducing(): void {
  defineFunction("REDUCE function sequence &key key from-end start end initial-value", reduce);
  const isFalse = (answer: Value) => answer === NIL;
  const isTrue = (answer: Value) => answer !== NIL;
  defineQuantifier("EVERY", isFalse, () => NIL, T);
  defineQuantifier("SOME", isTrue, (answer) => answer, NIL);
  defineQuantifier("NOTANY", isTrue, () => NIL, T);
  defineQuantifier("NOTEVERY", isFalse, () => T, NIL);
  defineFunction(
    "SEARCH sequence1 sequence2 &key from-end test test-not key start1 start2 end1 end2",
    search,
  );
  for (const name of ["SORT", "STABLE-SORT"]) {
    defineFunction(`${name} sequence predicate &key key`, (m, sequence, predicate, key) => {
      if (!isSequence(sequence)) return m.typeError(sequence, "SEQUENCE");
      overwrite(
        sequence,
        sorted(m, elements(m, sequence, undefined, undefined), m.fn(predicate), key),
      );
      return sequence;
    });
  }
}

function reduce(
  m: Machine,
  fn: Value,
  sequence: Value,
  key?: Value,
  fromEnd?: Value,
  start?: Value,
  end?: Value,
  initial?: Value,
): Value {
  const combine = m.fn(fn);
  const part = keyOf(m, key);
  const items = elements(m, sequence, start, end);
  const isBackwards = fromEnd !== undefined && fromEnd !== NIL;
  if (items.length === 0) return initial ?? m.call0(combine);
  const ordered = isBackwards ? items.toReversed() : items;
  let result = initial ?? part(ordered[0] as Value);
  for (let at = initial === undefined ? 1 : 0; at < ordered.length; at += 1) {
    m.tick(1);
    const item = part(ordered[at] as Value);
    result = isBackwards ? m.call2(combine, item, result) : m.call2(combine, result, item);
  }
  return result;
}

function defineQuantifier(
  name: string,
  isDecided: (answer: Value) => boolean,
  result: (answer: Value) => Value,
  otherwise: Value,
): void {
  defineFunction(`${name} predicate sequence &rest more`, (m, predicate, sequence, more) => {
    const columns = [sequence, ...more].map((one) =>
      isSequence(one) ? elements(m, one, undefined, undefined) : m.typeError(one, "SEQUENCE"),
    );
    const length = Math.min(...columns.map((column) => column.length));
    if (length === 0) return otherwise;
    const fn = m.fn(predicate);
    for (let at = 0; at < length; at += 1) {
      m.tick(1);
      const answer = callAt(m, fn, columns, at);
      if (isDecided(answer)) return result(answer);
    }
    return otherwise;
  });
}

type Pair = [
  m: Machine,
  a: Value,
  b: Value,
  fromEnd?: Value,
  test?: Value,
  testNot?: Value,
  key?: Value,
  start1?: Value,
  start2?: Value,
  end1?: Value,
  end2?: Value,
];

interface Compared {
  readonly left: readonly Value[];
  readonly right: readonly Value[];
  readonly offset1: number;
  readonly offset2: number;
  readonly holds: Test;
  readonly isBackwards: boolean;
}

function compared(
  ...[m, a, b, fromEnd, test, testNot, key, start1, start2, end1, end2]: Pair
): Compared {
  const part = keyOf(m, key);
  const mapped = (items: readonly Value[]) =>
    key === undefined || key === NIL ? items : items.map(part);
  return {
    left: mapped(elements(m, a, start1, end1)),
    right: mapped(elements(m, b, start2, end2)),
    offset1: spanOf(m, start1, end1, lengthOf(m, a), a).start,
    offset2: spanOf(m, start2, end2, lengthOf(m, b), b).start,
    holds: testOf(m, test, testNot),
    isBackwards: fromEnd !== undefined && fromEnd !== NIL,
  };
}

function search(...args: Pair): Value {
  const { left, right, offset2, holds, isBackwards } = compared(...args);
  const last = right.length - left.length;
  for (let step = 0; step <= last; step += 1) {
    const at = isBackwards ? last - step : step;
    let same = 0;
    while (same < left.length && holds(left[same] as Value, right[at + same] as Value)) same += 1;
    args[0].tick(same + 1);
    if (same === left.length) return at + offset2;
  }
  return NIL;
}

type Precedes = (a: Value, b: Value) => boolean;

function precedes(m: Machine, fn: Fn): Precedes {
  return (a, b) => {
    m.tick(1);
    return m.call2(fn, a, b) !== NIL;
  };
}

function sorted(
  m: Machine,
  items: readonly Value[],
  predicate: Fn,
  key: Value | undefined,
): Value[] {
  const quick =
    (key === undefined || key === NIL) && items.every((item) => typeof item === "number")
      ? numberOrder(predicate)
      : undefined;
  m.tick(items.length);
  if (quick !== undefined) return [...(items as readonly number[])].sort(quick);
  const before = precedes(m, predicate);
  const part = keyOf(m, key);
  const pairs = items.map((item) => ({ item, key: part(item) }));
  return mergeSort(pairs, (a, b) => before(a.key, b.key)).map((pair) => pair.item);
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
