/** Designators of strings and functions, and the keywords for comparing elements. */
import { eql, equal } from "../equality.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { Char, Str } from "../string.ts";
import { cl, NIL, Sym } from "../symbol.ts";
import type { Value } from "../values.ts";

/** The text of a string designator: a string, a symbol or a character. */
export function textOf(m: Machine, value: Value): string {
  if (value instanceof Str) return value.toString();
  if (value instanceof Sym) return value.name;
  if (value instanceof Char) return String.fromCodePoint(value.code);
  return m.typeError(value, "(OR STRING SYMBOL CHARACTER)");
}

export type Key = (value: Value) => Value;
export type Test = (a: Value, b: Value) => boolean;
export type Match = (element: Value) => boolean;

const identity: Key = (value) => value;

/** `:key`; absent and NIL mean the element itself. */
export function keyOf(m: Machine, key: Value | undefined): Key {
  if (key === undefined || key === NIL) return identity;
  const fn = m.fn(key);
  return (value) => {
    m.tick(1);
    return m.call1(fn, value);
  };
}

/** `:test` and `:test-not`; `eql` when neither is given. */
export function testOf(m: Machine, test: Value | undefined, testNot: Value | undefined): Test {
  if (testNot !== undefined && testNot !== NIL) {
    if (test !== undefined && test !== NIL) m.fail("both :TEST and :TEST-NOT are given");
    const holds = testFunction(m, m.fn(testNot));
    return (a, b) => !holds(a, b);
  }
  if (test === undefined || test === NIL) return eql;
  return testFunction(m, m.fn(test));
}

function testFunction(m: Machine, fn: Fn): Test {
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
  test: Value | undefined,
  testNot: Value | undefined,
  key: Value | undefined,
): Match {
  const holds = testOf(m, test, testNot);
  if (key === undefined || key === NIL) return (element) => holds(item, element);
  const part = keyOf(m, key);
  return (element) => holds(item, part(element));
}

/** Matches a predicate, for functions that end in -IF, or (`wanted` false) in -IF-NOT. */
export function matchPredicate(
  m: Machine,
  predicate: Value,
  key: Value | undefined,
  wanted = true,
): Match {
  const fn = m.fn(predicate);
  if (key === undefined || key === NIL) {
    return (element) => {
      m.tick(1);
      return (m.call1(fn, element) !== NIL) === wanted;
    };
  }
  const part = keyOf(m, key);
  return (element) => (m.call1(fn, part(element)) !== NIL) === wanted;
}
