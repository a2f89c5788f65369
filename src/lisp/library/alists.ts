/** member, association lists and property lists. */
import { defineFunction, defineSetter, defineValues } from "../define.ts";
import { eql } from "../equality.ts";
import type { Machine } from "../machine.ts";
import { keyOf, listItems, type Match, matchItem, matchPredicate, testOf } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, cl, NIL, Sym } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";

export function defineAlists(): void {
  defineFunction("MEMBER item list &key key test test-not", (m, item, list, key, test, testNot) =>
    findTail(m, list, matchItem(m, item, test, testNot, key)),
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
  definePropertyLists();
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
  const tail = findTail(m, alist, (pair) => {
    if (pair instanceof Cons) return matches(part(pair));
    return pair === NIL ? false : m.typeError(pair, "LIST");
  });
  return tail instanceof Cons ? tail.car : NIL;
}

function definePropertyLists(): void {
  defineFunction(
    "GETF plist indicator &optional default",
    (m, plist, indicator, fallback = NIL) => findProperty(m, plist, indicator)?.car ?? fallback,
  );
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
  let at = plist;
  while (at instanceof Cons) {
    const next = valueCell(m, at, plist);
    if (at.car === indicator) return next;
    at = next.cdr;
    m.tick(1);
  }
  return at === NIL ? undefined : m.typeError(at, "LIST");
}

function valueCell(m: Machine, cell: Cons, plist: Value): Cons {
  if (cell.cdr instanceof Cons) return cell.cdr;
  if (cell.cdr !== NIL) m.typeError(cell.cdr, "LIST");
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
// Lists as sets.

const keywords = "&key key test test-not";

export function defineSets(): void {
  defineFunction(`ADJOIN item list ${keywords}`, (m, item, list, key, test, testNot) => {
    const part = keyOf(m, key);
    const holds = testOf(m, test, testNot);
    const wanted = part(item);
    return listItems(m, list).some((element) => holds(wanted, part(element)))
      ? list
      : m.cons(item, list);
  });
  // The same order of results as SBCL: new elements are pushed in front.
  for (const prefix of ["", "N"]) {
    defineSetFunction(`${prefix}UNION`, (a, b, has) =>
      a.length < b.length ? addMissing(b, a, has) : addMissing(a, b, has),
    );
    defineSetFunction(`${prefix}INTERSECTION`, (a, b, has) =>
      a.filter((item) => has(item, b)).reverse(),
    );
    defineSetFunction(`${prefix}SET-DIFFERENCE`, (a, b, has) =>
      b.length === 0 ? a : a.filter((item) => !has(item, b)).reverse(),
    );
  }
  const differing = (a: Value[], b: Value[], has: Has, back: Has) => [
    ...a.filter((item) => !has(item, b)),
    ...b.filter((item) => !back(item, a)),
  ];
  defineSetFunction("SET-EXCLUSIVE-OR", (a, b, has, back) => differing(a, b, has, back).reverse());
  defineSetFunction("NSET-EXCLUSIVE-OR", differing);
  defineFunction(`SUBSETP list1 list2 ${keywords}`, (m, list1, list2, key, test, testNot) => {
    const has = membership(m, key, test, testNot, false);
    const b = listItems(m, list2);
    return bool(listItems(m, list1).every((item) => has(item, b)));
  });
}

type Has = (item: Value, items: readonly Value[]) => boolean;

function defineSetFunction(
  name: string,
  combine: (a: Value[], b: Value[], has: Has, back: Has) => Value[],
): void {
  defineFunction(`${name} list1 list2 ${keywords}`, (m, list1, list2, key, test, testNot) => {
    const has = membership(m, key, test, testNot, false);
    const back = membership(m, key, test, testNot, true);
    return m.list(combine(listItems(m, list1), listItems(m, list2), has, back));
  });
}

function addMissing(long: readonly Value[], short: readonly Value[], has: Has): Value[] {
  return [...long.filter((item) => !has(item, short)).reverse(), ...short];
}

/** The test gets the element of the first list first; `isBack`: the item is from the second list. */
function membership(
  m: Machine,
  key: Value | undefined,
  test: Value | undefined,
  testNot: Value | undefined,
  isBack: boolean,
): Has {
  const holds = testOf(m, test, testNot);
  const part = keyOf(m, key);
  if (holds === eql && (key === undefined || key === NIL)) return plainMembership(m);
  return (item, items) => {
    const wanted = part(item);
    m.tick(items.length);
    return items.some((element) =>
      isBack ? holds(part(element), wanted) : holds(wanted, part(element)),
    );
  };
}

/** With `eql`, a long list becomes a JS set, except for values that identity does not cover. */
function plainMembership(m: Machine): Has {
  let known: { items: readonly Value[]; set: Set<Value> } | undefined;
  return (item, items) => {
    if (items.length < 16 || (typeof item === "object" && !(item instanceof Cons))) {
      m.tick(items.length);
      return items.some((element) => eql(item, element));
    }
    if (known?.items !== items) known = { items, set: new Set(items) };
    m.tick(1);
    return known.set.has(item);
  };
}
