// setf and other macros over places.

import {
  defineFunction,
  defineMacro,
  defineValues,
  form,
  fresh,
  lisp,
  type Template,
} from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { refuseLocked, symbolOf } from "../packages.ts";
import { expandOnce, expandPlace, modifyForm, sessionPlaces, setfForm } from "../places.ts";
import { NIL, Sym } from "../symbol.ts";
import { type Cons, itemsOf, listOf, type Opaque, type Value } from "../values.ts";
import { progn } from "./macros.ts";

export function defineSetf(): void {
  defineMacro("SETF", (whole, env, m) =>
    pairs(m, whole, (place, value) => setfForm(m, place, value, env)),
  );
  defineMacro("INCF", (whole, env, m) => {
    const [place, delta] = itemsOf(whole.cdr);
    // The delta is evaluated before the variable is read, so a sum needs no temporary variable.
    if (place instanceof Sym && delta !== undefined && expandOnce(m, place, env) === undefined)
      return lisp`(setq ${place} (+ ${delta} ${place}))`;
    return modify(m, whole, env, (old, [by]) => ["+", old, by ?? 1]);
  });
  defineMacro("DECF", (whole, env, m) =>
    modify(m, whole, env, (old, [delta]) => ["-", old, delta ?? 1]),
  );
  defineMacro("PUSH", (whole, env, m) => pushed(m, whole, env, "CONS", []));
  defineMacro("PUSHNEW", (whole, env, m) =>
    pushed(m, whole, env, "ADJOIN", itemsOf(whole.cdr).slice(2)),
  );
  defineMacro("POP", expandPop);
  defineFunction("%DEFINE-SETF-EXPANDER name expander", (m, name, expander: Fn) => {
    refuseLocked(m, symbolOf(m, name), "define a place for");
    sessionPlaces(m).set(symbolOf(m, name), expander);
    return name;
  });
  defineValues("GET-SETF-EXPANSION place &optional environment", (m, place, env = NIL) => {
    const { temps, stores, store, access } = expandPlace(m, place, env as Opaque);
    const names = listOf(temps.map(([name]) => name));
    const forms = listOf(temps.map(([, init]) => init));
    return m.values(names, forms, listOf(stores), store, access);
  });
  defineFunction("%MODIFY-PLACE place function arguments environment", (m, place, fn, args, env) =>
    modifyForm(m, { place, args: itemsOf(args), env: env as Opaque }, (old, held) =>
      form([fn, old, ...held]),
    ),
  );
}

function pairs(m: Machine, whole: Cons, make: (place: Value, value: Value) => Value): Value {
  const items = itemsOf(whole.cdr);
  if (items.length % 2 === 1)
    return m.programError(`${m.show(whole.car)} takes places and values in pairs`);
  const forms: Value[] = [];
  for (let at = 0; at < items.length; at += 2)
    forms.push(make(items[at] as Value, items[at + 1] as Value));
  return progn(forms);
}

/** For a macro `(name place argument…)`. */
function modify(
  m: Machine,
  whole: Cons,
  env: Opaque,
  change: (old: Value, args: Value[]) => Template,
): Value {
  const [place, ...args] = itemsOf(whole.cdr);
  if (place === undefined) return m.programError(`${m.show(whole.car)} needs a place`);
  return modifyForm(m, { place, args, env }, change);
}

function pushed(m: Machine, whole: Cons, env: Opaque, adder: string, options: Value[]): Value {
  const [item, place] = itemsOf(whole.cdr);
  if (item === undefined || place === undefined)
    return m.programError(`${m.show(whole.car)} takes an item and a place`);
  const push = (added: Value): Value =>
    modifyForm(m, { place, env }, (old) => [adder, added, old, ...options]);
  if (place instanceof Sym) return push(item);
  // The item is written first, so it is evaluated first.
  const held = fresh("ITEM");
  return lisp`(let ((${held} ${item})) ${push(held)})`;
}

function expandPop(whole: Cons, env: Opaque, m: Machine): Value {
  const place = itemsOf(whole.cdr)[0] ?? m.programError("pop needs a place");
  const { temps, stores, store, access } = expandPlace(m, place, env);
  const bound = temps.map(([name, init]) => [name, init]);
  return lisp`(let* (@${bound} (%old ${access}) (${stores[0]} (cdr %old))) ${store} (car %old))`;
}
