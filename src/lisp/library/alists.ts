/** member, association lists and property lists. */
import { defineFunction, defineSetter, defineValues } from "../define.ts";
import { eql } from "../equality.ts";
import type { Machine } from "../machine.ts";
import { listItems } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, cl, NIL, Sym } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";
import { type Match, matchItem, matchPredicate } from "./designators.ts";

export function defineAlists(): void {
  defineFunction("MEMBER item list &key key test test-not", (m, item, list, key, test, testNot) =>
    key === undefined && test === undefined && testNot === undefined
      ? memberEql(m, item, list)
      : findTail(m, list, matchItem(m, item, test, testNot, key)),
  );
  defineFunction("MEMBER-IF predicate list &key key", (m, predicate, list, key) =>
    findTail(m, list, matchPredicate(m, predicate, key)),
  );
  defineFunction("MEMBER-IF-NOT predicate list &key key", (m, predicate, list, key) =>
    findTail(m, list, matchPredicate(m, predicate, key, false)),
  );
  for (const [name, part] of [
    ["ASSOC", (pair: Cons) => pair.car],
    ["RASSOC", (pair: Cons) => pair.cdr],
  ] as const) {
    defineFunction(
      `${name} item alist &key key test test-not`,
      (m, item, alist, key, test, testNot) =>
        findPair(m, alist, part, matchItem(m, item, test, testNot, key)),
    );
    defineFunction(`${name}-IF predicate alist &key key`, (m, predicate, alist, key) =>
      findPair(m, alist, part, matchPredicate(m, predicate, key)),
    );
    defineFunction(`${name}-IF-NOT predicate alist &key key`, (m, predicate, alist, key) =>
      findPair(m, alist, part, matchPredicate(m, predicate, key, false)),
    );
  }
  defineFunction("PAIRLIS keys data &optional alist", (m, keys, data, alist = NIL) => {
    const names = listItems(m, keys);
    const values = listItems(m, data);
    if (names.length !== values.length)
      m.fail("PAIRLIS: the lists of keys and data are of unequal length");
    return names.reduce(
      (made: Value, name, at) => m.cons(m.cons(name, values[at] as Value), made),
      alist,
    );
  });
  definePropertyLists();
}

function memberEql(m: Machine, item: Value, list: Value): Value {
  let at = list;
  for (let steps = 1; at instanceof Cons; at = at.cdr, steps += 1) {
    if (at.car === item || eql(at.car, item)) return at;
    if (steps % 1024 === 0) m.tick(1024);
  }
  return at === NIL ? NIL : m.typeError(at, "LIST");
}

function findTail(m: Machine, list: Value, matches: Match): Value {
  let at = list;
  for (let steps = 1; at instanceof Cons; at = at.cdr, steps += 1) {
    if (matches(at.car)) return at;
    if (steps % 1024 === 0) m.tick(1024);
  }
  return at === NIL ? NIL : m.typeError(at, "LIST");
}

function findPair(m: Machine, alist: Value, part: (pair: Cons) => Value, matches: Match): Value {
  let at = alist;
  for (let steps = 1; at instanceof Cons; at = at.cdr, steps += 1) {
    const pair = at.car;
    if (pair instanceof Cons) {
      if (matches(part(pair))) return pair;
    } else if (pair !== NIL) m.typeError(pair, "LIST");
    if (steps % 1024 === 0) m.tick(1024);
  }
  return at === NIL ? NIL : m.typeError(at, "LIST");
}

function definePropertyLists(): void {
  defineFunction(
    "GETF plist indicator &optional default",
    (m, plist, indicator, fallback = NIL) => findProperty(m, plist, indicator)?.car ?? fallback,
  );
  defineValues("GET-PROPERTIES plist indicators", (m, plist, indicators) => {
    const wanted = listItems(m, indicators);
    for (let at = plist; at instanceof Cons; at = (at.cdr as Cons).cdr) {
      const next = valueCell(m, at, plist);
      if (wanted.includes(at.car)) return m.values(at.car, next.car, at);
      m.tick(1);
    }
    return m.values(NIL, NIL, NIL);
  });
  defineFunction(
    "GET symbol indicator &optional default",
    (m, name, indicator, fallback = NIL) =>
      findProperty(m, plistOf(m, name), indicator)?.car ?? fallback,
  );
  defineSetter("GET value symbol indicator &optional default", (m, value, name, indicator) => {
    const plist = plistOf(m, name);
    const found = findProperty(m, plist, indicator);
    if (found !== undefined) found.car = value;
    else m.plists.set(name as Sym, m.list([indicator, value], plist));
    return value;
  });
  defineFunction("REMPROP symbol indicator", (m, name, indicator) => {
    const { plist, found } = withoutProperty(m, plistOf(m, name), indicator);
    if (found === NIL) return NIL;
    m.plists.set(name as Sym, plist);
    return found;
  });
  defineFunction("SYMBOL-PLIST symbol", (m, name) => plistOf(m, name));
  defineSetter("SYMBOL-PLIST value symbol", (m, value, name) => {
    plistOf(m, name);
    m.plists.set(name as Sym, value);
    return value;
  });
  // The expansions of `remf` and `(setf getf)`; the place gets the first value.
  defineFunction("%PUTF plist indicator value", (m, plist, indicator, value) => {
    const found = findProperty(m, plist, indicator);
    if (found === undefined) return m.list([indicator, value], plist);
    found.car = value;
    return plist;
  });
  defineValues("%REMF plist indicator", (m, plist, indicator) => {
    const { plist: rest, found } = withoutProperty(m, plist, indicator);
    return m.values(rest, bool(found !== NIL));
  });
}

function plistOf(m: Machine, name: Value): Value {
  return name instanceof Sym ? (m.plists.get(name) ?? NIL) : m.typeError(name, "SYMBOL");
}

function findProperty(m: Machine, plist: Value, indicator: Value): Cons | undefined {
  for (let at = plist; at instanceof Cons; ) {
    const next = valueCell(m, at, plist);
    if (at.car === indicator) return next;
    at = next.cdr;
    m.tick(1);
  }
  if (!(plist instanceof Cons) && plist !== NIL) m.typeError(plist, "LIST");
  return undefined;
}

function valueCell(m: Machine, cell: Cons, plist: Value): Cons {
  if (cell.cdr instanceof Cons) return cell.cdr;
  return m.error("SIMPLE-TYPE-ERROR", {
    DATUM: plist,
    "EXPECTED-TYPE": cl("LIST"),
    "FORMAT-CONTROL": new Str("malformed property list: ~s"),
    "FORMAT-ARGUMENTS": m.list([plist]),
  });
}

function withoutProperty(
  m: Machine,
  plist: Value,
  indicator: Value,
): { plist: Value; found: Value } {
  let previous: Cons | undefined;
  for (let at = plist; at instanceof Cons; ) {
    const next = valueCell(m, at, plist);
    if (at.car === indicator) {
      if (previous === undefined) return { plist: next.cdr, found: at };
      previous.cdr = next.cdr;
      return { plist, found: at };
    }
    previous = next;
    at = next.cdr;
    m.tick(1);
  }
  return { plist, found: NIL };
}
