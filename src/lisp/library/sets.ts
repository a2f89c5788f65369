/** Lists as sets and as trees: union, subst, sublis, tree-equal and others. */
import { defineFunction } from "../define.ts";
import { eql } from "../equality.ts";
import type { Machine } from "../machine.ts";
import { listItems } from "../sequences.ts";
import { bool, NIL } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";
import { keyOf, type Match, matchItem, matchPredicate, type Test, testOf } from "./designators.ts";

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
  defineTrees();
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

function defineTrees(): void {
  for (const prefix of ["", "N"]) {
    defineFunction(
      `${prefix}SUBST new old tree ${keywords}`,
      (m, replacement, old, tree, key, test, testNot) =>
        substitute(m, replacement, matchItem(m, old, test, testNot, key), tree),
    );
    defineFunction(
      `${prefix}SUBST-IF new predicate tree &key key`,
      (m, replacement, predicate, tree, key) =>
        substitute(m, replacement, matchPredicate(m, predicate, key), tree),
    );
    defineFunction(
      `${prefix}SUBST-IF-NOT new predicate tree &key key`,
      (m, replacement, predicate, tree, key) =>
        substitute(m, replacement, matchPredicate(m, predicate, key, false), tree),
    );
    defineFunction(
      `${prefix}SUBLIS alist tree ${keywords}`,
      (m, alist, tree, key, test, testNot) => {
        const part = keyOf(m, key);
        const holds = testOf(m, test, testNot);
        const pairs = listItems(m, alist).filter((pair) => pair instanceof Cons);
        return replaceByPairs(m, tree, (subtree) => {
          const wanted = part(subtree);
          return pairs.find((pair) => holds(wanted, pair.car));
        });
      },
    );
  }
  defineFunction("TREE-EQUAL tree1 tree2 &key test test-not", (m, a, b, test, testNot) =>
    bool(treeEqual(m, a, b, testOf(m, test, testNot))),
  );
}

function substitute(m: Machine, replacement: Value, matches: Match, tree: Value): Value {
  if (matches(tree)) return replacement;
  if (!(tree instanceof Cons)) return tree;
  m.tick(1);
  const first = substitute(m, replacement, matches, tree.car);
  const rest = substitute(m, replacement, matches, tree.cdr);
  return first === tree.car && rest === tree.cdr ? tree : m.cons(first, rest);
}

function replaceByPairs(
  m: Machine,
  tree: Value,
  find: (subtree: Value) => Cons | undefined,
): Value {
  const found = find(tree);
  if (found !== undefined) return found.cdr;
  if (!(tree instanceof Cons)) return tree;
  m.tick(1);
  const first = replaceByPairs(m, tree.car, find);
  const rest = replaceByPairs(m, tree.cdr, find);
  return first === tree.car && rest === tree.cdr ? tree : m.cons(first, rest);
}

function treeEqual(m: Machine, a: Value, b: Value, holds: Test): boolean {
  let x = a;
  let y = b;
  for (; x instanceof Cons && y instanceof Cons; x = x.cdr, y = y.cdr) {
    m.tick(1);
    if (!treeEqual(m, x.car, y.car, holds)) return false;
  }
  return !(x instanceof Cons) && !(y instanceof Cons) && holds(x, y);
}
