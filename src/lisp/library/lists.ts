/** Conses and lists: parts, copies, tails, joining; association lists, property lists, sets. */
import { defineFunction, defineSetter, defineValues } from "../define.ts";
import { eql } from "../equality.ts";
import type { Machine } from "../machine.ts";
import { symbolOf } from "../packages.ts";
import {
  keyOf,
  listItems,
  type Match,
  matchItem,
  matchPredicate,
  notProper,
  takeItems,
  testOf,
} from "../sequences.ts";
import { bool, NIL, type Sym, words } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";

export function defineLists(): void {
  defineParts();
  defineMaking();
  defineTails();
  defineJoining();
}

function defineParts(): void {
  for (const path of partPaths()) {
    // "ADD" is the path of CADDR; the last letter is applied first.
    const isFirst = path.startsWith("A");
    const way = [...path.slice(1)].reverse().map((letter) => letter === "A");
    const reach = (m: Machine, value: Value): Value =>
      way.reduce((at, isCar) => (isCar ? car(m, at) : cdr(m, at)), value);
    const last = isFirst ? car : cdr;
    const read = way.length === 0 ? last : (m: Machine, list: Value) => last(m, reach(m, list));
    const set = isFirst ? setCar : setCdr;
    defineFunction(`C${path}R list`, read);
    defineSetter(`C${path}R value list`, (m, value, list) => set(m, reach(m, list), value));
  }
  const ordinals = words("FIRST SECOND THIRD FOURTH FIFTH SIXTH SEVENTH EIGHTH NINTH TENTH");
  for (const [index, name] of ordinals.entries()) {
    defineFunction(`${name} list`, (m, list) => car(m, tailAt(m, index, list)));
    defineSetter(`${name} value list`, (m, value, list) =>
      setCar(m, tailAt(m, index, list), value),
    );
  }
  defineFunction("REST list", cdr);
  defineSetter("REST value list", (m, value, list) => setCdr(m, list, value));
  defineFunction("NTH n list", (m, n, list) => car(m, tailAt(m, count(m, n), list)));
  defineSetter("NTH value n list", (m, value, n, list) =>
    setCar(m, tailAt(m, count(m, n), list), value),
  );
  defineFunction("NTHCDR n list", (m, n, list) => tailAt(m, count(m, n), list));
  defineFunction("RPLACA cons object", (m, cell, value) => {
    setCar(m, cell, value);
    return cell;
  });
  defineFunction("RPLACD cons object", (m, cell, value) => {
    setCdr(m, cell, value);
    return cell;
  });
}

/** A, D, AA, AD … up to four letters. */
function partPaths(): string[] {
  const paths = ["A", "D"];
  for (let at = 0; at < 14; at += 1) paths.push(`A${paths[at]}`, `D${paths[at]}`);
  return paths;
}

function car(m: Machine, value: Value): Value {
  if (value instanceof Cons) return value.car;
  return value === NIL ? NIL : m.typeError(value, "LIST");
}

function cdr(m: Machine, value: Value): Value {
  if (value instanceof Cons) return value.cdr;
  return value === NIL ? NIL : m.typeError(value, "LIST");
}

const cellOf = (m: Machine, value: Value): Cons =>
  value instanceof Cons ? value : m.typeError(value, "CONS");

function setCar(m: Machine, cell: Value, value: Value): Value {
  cellOf(m, cell).car = value;
  return value;
}

function setCdr(m: Machine, cell: Value, value: Value): Value {
  cellOf(m, cell).cdr = value;
  return value;
}

/** A count for walking lists; a bignum is as good as the largest number. */
function count(m: Machine, value: Value): number {
  if (typeof value === "number" && value >= 0) return value;
  return typeof value === "bigint" && value >= 0n
    ? Number.MAX_SAFE_INTEGER
    : m.typeError(value, "UNSIGNED-BYTE");
}

function tailAt(m: Machine, index: number, list: Value): Value {
  let at = list;
  for (let left = index; left > 0; left -= 1) {
    if (!(at instanceof Cons)) return cdr(m, at);
    at = at.cdr;
    if (left % 1024 === 0) m.tick(1024);
  }
  return at;
}

function defineMaking(): void {
  defineFunction("CONS object1 object2", (m, first, rest) => m.cons(first, rest));
  defineFunction("LIST &rest items", (m, items) => m.list(items));
  defineFunction("LIST* item &rest more", (m, item, more) => {
    const all = [item, ...more];
    const last = all.pop() as Value;
    return m.list(all, last);
  });
  defineFunction("MAKE-LIST size &key initial-element", (m, size, initial = NIL) => {
    const length = count(m, size);
    m.alloc(length);
    let made: Value = NIL;
    for (let at = 0; at < length; at += 1) made = new Cons(initial, made);
    return made;
  });
  defineFunction("COPY-LIST list", (m, list) => {
    if (!(list instanceof Cons)) return list === NIL ? NIL : m.typeError(list, "LIST");
    const { items, tail } = takeItems(m, list);
    return m.list(items, tail);
  });
  defineFunction("COPY-ALIST alist", (m, alist) =>
    m.list(
      listItems(m, alist).map((pair) => (pair instanceof Cons ? m.cons(pair.car, pair.cdr) : pair)),
    ),
  );
  defineFunction("COPY-TREE tree", copyTree);
  defineFunction("ACONS key datum alist", (m, key, datum, alist) =>
    m.cons(m.cons(key, datum), alist),
  );
}

function copyTree(m: Machine, tree: Value): Value {
  if (!(tree instanceof Cons)) return tree;
  const { items, tail } = takeItems(m, tree);
  return m.list(
    items.map((item) => copyTree(m, item)),
    tail,
  );
}

function defineTails(): void {
  defineFunction("LAST list &optional n", (m, list, n = 1) => lastTail(m, list, count(m, n)));
  defineFunction("BUTLAST list &optional n", (m, list, n = 1) => {
    const { items } = takeItems(m, isList(m, list));
    return m.list(items.slice(0, Math.max(0, items.length - count(m, n))));
  });
  defineFunction("NBUTLAST list &optional n", (m, list, n = 1) => {
    const rest = lastTail(m, list, count(m, n) + 1);
    const kept = lastTail(m, list, count(m, n));
    if (kept === list || !(rest instanceof Cons)) return NIL;
    rest.cdr = NIL;
    return list;
  });
  defineFunction("ENDP list", (m, list) => bool(isList(m, list) === NIL));
}

function isList(m: Machine, value: Value): Value {
  return value instanceof Cons || value === NIL ? value : m.typeError(value, "LIST");
}

function lastTail(m: Machine, list: Value, n: number): Value {
  isList(m, list);
  let ahead: Value = list;
  for (let left = n; left > 0 && ahead instanceof Cons; left -= 1) ahead = ahead.cdr;
  let at = list;
  let mark: Value = NIL;
  for (let steps = 1; ahead instanceof Cons; steps += 1) {
    ahead = ahead.cdr;
    at = (at as Cons).cdr;
    if (ahead === mark && ahead !== NIL) notProper(m, list);
    if ((steps & (steps - 1)) === 0) mark = ahead;
    m.tick(1);
  }
  return at;
}

function defineJoining(): void {
  defineFunction("APPEND &rest lists", (m, lists) => {
    let joined: Value = lists.at(-1) ?? NIL;
    for (let at = lists.length - 2; at >= 0; at -= 1)
      joined = m.list(listItems(m, lists[at] as Value), joined);
    return joined;
  });
  defineFunction("NCONC &rest lists", nconc);
  for (const name of ["REVAPPEND", "NRECONC"])
    defineFunction(`${name} list tail`, (m, list, tail) =>
      m.list(listItems(m, list).reverse(), tail),
    );
}

export function nconc(m: Machine, lists: readonly Value[]): Value {
  let joined: Value = NIL;
  let end: Cons | undefined;
  for (const [index, list] of lists.entries()) {
    if (list === NIL) continue;
    if (end === undefined) joined = list;
    else end.cdr = list;
    // The last list is not walked: it may be circular now.
    if (index === lists.length - 1) break;
    end = list instanceof Cons ? (lastTail(m, list, 1) as Cons) : m.typeError(list, "LIST");
  }
  return joined;
}

// member, association lists, property lists and sets.

export function defineAlists(): void {
  defineLookup("MEMBER", findTail);
  defineLookup("ASSOC", (m, alist, matches) => findPair(m, alist, (pair) => pair.car, matches));
  defineLookup("RASSOC", (m, alist, matches) => findPair(m, alist, (pair) => pair.cdr, matches));
  definePropertyLists();
}

/** Defines NAME, NAME-IF and NAME-IF-NOT. */
function defineLookup(
  name: string,
  find: (m: Machine, list: Value, matches: Match) => Value,
): void {
  defineFunction(`${name} item list ${keywords}`, (m, item, list, key, test, testNot) =>
    find(m, list, matchItem(m, item, test, testNot, key)),
  );
  for (const wanted of [true, false])
    defineFunction(
      `${name}-IF${wanted ? "" : "-NOT"} predicate list &key key`,
      (m, predicate, list, key) => find(m, list, matchPredicate(m, predicate, key, wanted)),
    );
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
  const get = (m: Machine, plist: Value, indicator: Value, fallback: Value = NIL): Value =>
    findProperty(m, plist, indicator)?.car ?? fallback;
  defineFunction("GETF plist indicator &optional default", get);
  defineFunction("GET symbol indicator &optional default", (m, name, ...how) =>
    get(m, plistOf(m, name), ...how),
  );
  defineSetter("GET value symbol indicator &optional default", (m, value, name, indicator) => {
    m.plists.set(name as Sym, withProperty(m, plistOf(m, name), indicator, value));
    return value;
  });
  defineFunction("REMPROP symbol indicator", (m, name, indicator) => {
    const { plist, found } = withoutProperty(m, plistOf(m, name), indicator);
    if (found !== NIL) m.plists.set(name as Sym, plist);
    return found;
  });
  defineFunction("SYMBOL-PLIST symbol", plistOf);
  defineSetter("SYMBOL-PLIST value symbol", (m, value, name) => {
    m.plists.set(symbolOf(m, name), value);
    return value;
  });
  // The expansions of `remf` and `(setf getf)`; the place gets the first value.
  defineFunction("%PUTF plist indicator value", withProperty);
  defineValues("%REMF plist indicator", (m, plist, indicator) => {
    const { plist: rest, found } = withoutProperty(m, plist, indicator);
    return m.values(rest, bool(found !== NIL));
  });
}

function plistOf(m: Machine, name: Value): Value {
  return m.plists.get(symbolOf(m, name)) ?? NIL;
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

function withProperty(m: Machine, plist: Value, indicator: Value, value: Value): Value {
  const found = findProperty(m, plist, indicator);
  if (found === undefined) return m.list([indicator, value], plist);
  found.car = value;
  return plist;
}

function valueCell(m: Machine, cell: Cons, plist: Value): Cons {
  if (cell.cdr instanceof Cons) return cell.cdr;
  if (cell.cdr !== NIL) m.typeError(cell.cdr, "LIST");
  return m.typeError(plist, "LIST", "malformed property list: ~s", plist);
}

/** The rest of the list, and the first cell of what was removed. */
function withoutProperty(m: Machine, plist: Value, indicator: Value) {
  let previous: Cons | undefined;
  for (let at = plist; at instanceof Cons; m.tick(1)) {
    const next = valueCell(m, at, plist);
    if (at.car === indicator) {
      if (previous === undefined) return { plist: next.cdr, found: at };
      previous.cdr = next.cdr;
      return { plist, found: at };
    }
    previous = next;
    at = next.cdr;
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
  defineFunction(`SUBSETP list1 list2 ${keywords}`, (m, list1, list2, ...how) => {
    const has = membership(m, how);
    const b = listItems(m, list2);
    return bool(listItems(m, list1).every((item) => has(item, b)));
  });
}

type Has = (item: Value, items: readonly Value[]) => boolean;

function defineSetFunction(
  name: string,
  combine: (a: Value[], b: Value[], has: Has, back: Has) => Value[],
): void {
  defineFunction(`${name} list1 list2 ${keywords}`, (m, list1, list2, ...how) => {
    const [has, back] = [membership(m, how), membership(m, how, true)];
    return m.list(combine(listItems(m, list1), listItems(m, list2), has, back));
  });
}

function addMissing(long: readonly Value[], short: readonly Value[], has: Has): Value[] {
  return [...long.filter((item) => !has(item, short)).reverse(), ...short];
}

/** The test gets the element of the first list first; `isBack`: the item is from the second list. */
function membership(
  m: Machine,
  [key = NIL, test, testNot]: readonly (Value | undefined)[],
  isBack = false,
): Has {
  const holds = testOf(m, test, testNot);
  const part = keyOf(m, key);
  if (holds === eql && key === NIL) return plainMembership(m);
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
