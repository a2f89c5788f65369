/** The map family, and functions that make functions. */
import { defineFunction, nativeFunction } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { cl, NIL, T } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";
import { nconc } from "./lists.ts";

export function defineMapping(): void {
  defineFunction("MAPCAR", "function list &rest more", (m, fn: Value, list: Value, more: Value[]) =>
    m.list(collect(m, m.fn(fn), [list, ...more], true)),
  );
  defineFunction(
    "MAPLIST",
    "function list &rest more",
    (m, fn: Value, list: Value, more: Value[]) =>
      m.list(collect(m, m.fn(fn), [list, ...more], false)),
  );
  defineFunction("MAPCAN", "function list &rest more", (m, fn: Value, list: Value, more: Value[]) =>
    nconc(m, collect(m, m.fn(fn), [list, ...more], true)),
  );
  defineFunction("MAPCON", "function list &rest more", (m, fn: Value, list: Value, more: Value[]) =>
    nconc(m, collect(m, m.fn(fn), [list, ...more], false)),
  );
  defineFunction("MAPC", "function list &rest more", (m, fn: Value, list: Value, more: Value[]) => {
    collect(m, m.fn(fn), [list, ...more], true);
    return list;
  });
  defineFunction("MAPL", "function list &rest more", (m, fn: Value, list: Value, more: Value[]) => {
    collect(m, m.fn(fn), [list, ...more], false);
    return list;
  });
  defineFunction("IDENTITY", "object", (_, object: Value) => object);
  defineFunction("CONSTANTLY", "value", (_, value: Value) =>
    nativeFunction(cl("CONSTANTLY"), "&rest arguments", () => value),
  );
  defineFunction("COMPLEMENT", "function", (m, fn: Value) => {
    const opposite = m.fn(fn);
    return nativeFunction(cl("COMPLEMENT"), "&rest arguments", (inner, args: Value[]) =>
      inner.apply(opposite, args) === NIL ? T : NIL,
    );
  });
}

/** Calls with the elements (or with the tails) until the shortest list ends. */
function collect(m: Machine, fn: Fn, lists: Value[], byElement: boolean): Value[] {
  const results: Value[] = [];
  if (lists.length === 1) {
    let at = lists[0] as Value;
    for (; at instanceof Cons; at = at.cdr) {
      m.tick(1);
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
