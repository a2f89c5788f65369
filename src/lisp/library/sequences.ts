/** find, position, count, remove, substitute and their -IF forms, with all keywords. */
import { defineFunction, type Native } from "../define.ts";
import { eql, eqlKey } from "../equality.ts";
import type { Machine } from "../machine.ts";
import {
  elements,
  isSequence,
  keyOf,
  lengthOf,
  type Match,
  matchItem,
  matchPredicate,
  sequenceLike,
  spanOf,
  testOf,
} from "../sequences.ts";
import { type Char, Str } from "../string.ts";
import { isTrue, NIL } from "../symbol.ts";
import { Cons, type Value, Vec } from "../values.ts";

export function defineSequences(): void {
  defineMatching("FIND", "", part, (m, matches, sequence, [fromEnd, start, end]) => {
    const items = elements(m, sequence, start, end);
    const at = locate(items, matches, isTrue(fromEnd));
    return at < 0 ? NIL : (items[at] as Value);
  });
  defineMatching("POSITION", "", part, (m, matches, sequence, [fromEnd, start, end]) => {
    const at = locate(elements(m, sequence, start, end), matches, isTrue(fromEnd));
    return at < 0 ? NIL : at + ((start as number | undefined) ?? 0);
  });
  defineMatching("COUNT", "", part, (m, matches, sequence, [fromEnd, start, end]) => {
    let count = 0;
    const note = (item: Value): boolean => {
      if (matches(item)) count += 1;
      return false;
    };
    locate(elements(m, sequence, start, end), note, isTrue(fromEnd));
    return count;
  });
  for (const name of ["REMOVE", "DELETE"])
    defineMatching(name, "", `${part} count`, (m, matches, sequence, options) => {
      const { items, hits } = marked(m, matches, sequence, options);
      const kept: Value[] = [];
      for (let at = 0; at < items.length; at += 1)
        if (hits[at] === 0) kept.push(items[at] as Value);
      return kept.length === items.length ? sequence : sequenceLike(m, sequence, kept);
    });
  for (const name of ["SUBSTITUTE", "NSUBSTITUTE"])
    defineMatching(name, "new ", `${part} count`, (m, matches, sequence, options, replacement) => {
      const { items, hits } = marked(m, matches, sequence, options);
      const changed = items.map((item, at) => (hits[at] === 1 ? replacement : item));
      if (name === "SUBSTITUTE") return sequenceLike(m, sequence, changed);
      overwrite(sequence, changed);
      return sequence;
    });
  defineDuplicates();
}

const part = "from-end start end";

type Options = readonly (Value | undefined)[];

/** Defines NAME, NAME-IF and NAME-IF-NOT; `before` is a leading parameter, passed last. */
function defineMatching(
  name: string,
  before: string,
  keys: string,
  work: (m: Machine, matches: Match, items: Value, options: Options, first: Value) => Value,
): void {
  const extra = before === "" ? 0 : 1;
  const keyCount = keys.split(" ").length;
  const run = (m: Machine, matches: (key?: Value) => Match, args: Options): Value => {
    const sequence = args[1 + extra] as Value;
    if (!isSequence(sequence)) return m.typeError(sequence, "SEQUENCE");
    const options = args.slice(2 + extra, 2 + extra + keyCount);
    return work(m, matches(args[2 + extra + keyCount]), sequence, options, args[0] as Value);
  };
  const plain = (m: Machine, ...args: Options) => {
    const [test, testNot] = args.slice(3 + extra + keyCount);
    return run(m, (key) => matchItem(m, args[extra] as Value, test, testNot, key), args);
  };
  defineFunction(`${name} ${before}item sequence &key ${keys} key test test-not`, plain as Native);
  for (const wanted of [true, false]) {
    const byPredicate = (m: Machine, ...args: Options) =>
      run(m, (key) => matchPredicate(m, args[extra] as Value, key, wanted), args);
    defineFunction(
      `${name}-IF${wanted ? "" : "-NOT"} ${before}predicate sequence &key ${keys} key`,
      byPredicate as Native,
    );
  }
}

const locate = (items: readonly Value[], matches: Match, isBackwards: boolean): number =>
  isBackwards
    ? items.findLastIndex((item) => matches(item))
    : items.findIndex((item) => matches(item));

/** All items, with 1 for those that match: at most `count`, counted from the end if `fromEnd`. */
function marked(
  m: Machine,
  matches: Match,
  sequence: Value,
  [fromEnd, start, end, count]: Options,
): { items: readonly Value[]; hits: Uint8Array } {
  const items = elements(m, sequence);
  const span = spanOf(m, start, end, items.length, sequence);
  const hits = new Uint8Array(items.length);
  let left = countLimit(m, count);
  const [step, first] = isTrue(fromEnd) ? [-1, span.end - 1] : [1, span.start];
  for (let at = first; at >= span.start && at < span.end && left > 0; at += step) {
    if (!matches(items[at] as Value)) continue;
    hits[at] = 1;
    left -= 1;
  }
  return { items, hits };
}

function countLimit(m: Machine, count: Value | undefined): number {
  if (count === undefined || count === NIL) return Number.POSITIVE_INFINITY;
  if (typeof count === "number") return count;
  return typeof count === "bigint" ? Number(count) : m.typeError(count, "(OR NULL INTEGER)");
}

/** Puts the items back into a list, vector or string of the same length. */
export function overwrite(sequence: Value, items: readonly Value[]): void {
  let cell: Value = sequence;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as Value;
    if (sequence instanceof Vec) sequence.items[at] = item;
    else if (sequence instanceof Str) sequence.setCode(at, (item as Char).code);
    else if (cell instanceof Cons) {
      cell.car = item;
      cell = cell.cdr;
    }
  }
}

function defineDuplicates(): void {
  for (const name of ["REMOVE-DUPLICATES", "DELETE-DUPLICATES"]) {
    defineFunction(
      `${name} sequence &key key test test-not start end from-end`,
      (m, sequence, key, test, testNot, start, end, fromEnd) => {
        const span = spanOf(m, start, end, lengthOf(m, sequence), sequence);
        const items = elements(m, sequence);
        const keys = items.slice(span.start, span.end).map(keyOf(m, key));
        const holds = testOf(m, test, testNot);
        const dropped =
          holds === eql
            ? repeatedEql(keys, isTrue(fromEnd))
            : repeated(m, keys, holds, isTrue(fromEnd));
        const kept = items.filter((_, at) => !dropped.has(at - span.start));
        return sequenceLike(m, sequence, kept);
      },
    );
  }
}

/** Keeps the later of two equal elements, or with `fromEnd` the earlier. */
function repeated(
  m: Machine,
  keys: readonly Value[],
  holds: (a: Value, b: Value) => boolean,
  fromEnd: boolean,
): Set<number> {
  const dropped = new Set<number>();
  for (let a = 0; a < keys.length; a += 1) {
    if (dropped.has(a)) continue;
    m.tick(keys.length - a);
    for (let b = a + 1; b < keys.length; b += 1) {
      if (dropped.has(b) || !holds(keys[a] as Value, keys[b] as Value)) continue;
      dropped.add(fromEnd ? b : a);
      if (!fromEnd) break;
    }
  }
  return dropped;
}

function repeatedEql(keys: readonly Value[], fromEnd: boolean): Set<number> {
  const dropped = new Set<number>();
  const seen = new Map<unknown, number>();
  keys.forEach((key, at) => {
    const identity = eqlKey(key);
    const earlier = seen.get(identity);
    if (earlier !== undefined) dropped.add(fromEnd ? at : earlier);
    if (earlier === undefined || !fromEnd) seen.set(identity, at);
  });
  return dropped;
}
