// setf and other macros over places.

import {
  defineFunction,
  defineMacro,
  defineValues,
  form,
  fresh,
  lisp,
  named,
  type Template,
} from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { refuseLocked, symbolOf } from "../packages.ts";
import {
  callExpansion,
  definePlace,
  type Expansion,
  expandPlace,
  modifyForm,
  sessionPlaces,
  setfForm,
} from "../places.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, itemsOf, listOf, type Opaque, type Value } from "../values.ts";
import { progn } from "./macros.ts";

export function defineSetf(): void {
  defineMacro("SETF", (whole, env, m) =>
    pairs(m, whole, (place, value) => setfForm(m, place, value, env)),
  );
  defineMacro("INCF", (whole, env, m) =>
    modify(m, whole, env, (old, [delta]) => ["+", old, delta ?? 1]),
  );
  defineMacro("DECF", (whole, env, m) =>
    modify(m, whole, env, (old, [delta]) => ["-", old, delta ?? 1]),
  );
  defineMacro("PUSH", (whole, env, m) => pushed(m, whole, env, "CONS", []));
  defineMacro("PUSHNEW", (whole, env, m) =>
    pushed(m, whole, env, "ADJOIN", itemsOf(whole.cdr).slice(2)),
  );
  defineMacro("POP", expandPop);
  defineFunction("%DEFSETF-SHORT name updater", defsetfShort);
  defineFunction("%DEFSETF-LONG name stores expander", defsetfLong);
  defineFunction("%DEFINE-SETF-EXPANDER name expander", defineExpander);
  defineValues("GET-SETF-EXPANSION place &optional environment", getExpansion);
  definePlaces();
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
  const expansion = expandPlace(m, place, env);
  const { stores, store, access } = expansion;
  return lisp`(let* (@${bound(expansion)} (%old ${access}) (${stores[0]} (cdr %old)))
    ${store}
    (car %old))`;
}

const bound = ({ temps }: Expansion): Value[] => temps.map(([name, init]) => form([name, init]));

function placeName(m: Machine, name: Value): Sym {
  const sym = symbolOf(m, name);
  refuseLocked(m, sym, "define a place for");
  return sym;
}

function defsetfShort(m: Machine, name: Value, updater: Value): Value {
  sessionPlaces(m).set(placeName(m, name), (_, place) =>
    callExpansion(place, (temps, store) => [updater, ...temps, store]),
  );
  return name;
}

function defsetfLong(m: Machine, name: Value, count: Value, expander: Value): Value {
  sessionPlaces(m).set(placeName(m, name), (machine, place, env) => {
    const plain = callExpansion(place, () => NIL);
    const operands = itemsOf(plain.access).slice(1);
    const stores = Array.from({ length: count as number }, () => fresh("NEW"));
    return {
      ...plain,
      stores,
      store: machine.apply(expander as Fn, [env, ...stores, ...operands]),
    };
  });
  return name;
}

function defineExpander(m: Machine, name: Value, expander: Value): Value {
  sessionPlaces(m).set(placeName(m, name), (machine, place, env) => {
    const first = machine.call2(expander as Fn, place, env);
    const [temps = NIL, values = NIL, stores = NIL, store = NIL, access = NIL] =
      machine.allValues(first);
    const inits = itemsOf(values);
    return {
      temps: itemsOf(temps).map((temp, index) => [temp as Sym, inits[index] ?? NIL]),
      stores: itemsOf(stores) as Sym[],
      store,
      access,
    };
  });
  return name;
}

function getExpansion(m: Machine, place: Value, env?: Value): Value {
  const { temps, stores, store, access } = expandPlace(m, place, (env ?? NIL) as Opaque);
  return m.values(
    listOf(temps.map(([name]) => name)),
    listOf(temps.map(([, init]) => init)),
    listOf(stores),
    store,
    access,
  );
}

function definePlaces(): void {
  defineFunction("%MODIFY-PLACE place function arguments environment", (m, place, fn, args, env) =>
    modifyForm(m, { place, args: itemsOf(args), env: env as Opaque }, (old, held) => [
      fn,
      old,
      ...held,
    ]),
  );
  definePlace("THE", (m, place, env) => {
    const [type, inner] = itemsOf(place.cdr) as [Value, Value];
    const expansion = expandPlace(m, inner, env);
    return { ...expansion, access: lisp`(the ${type} ${expansion.access})` };
  });
  definePlace("VALUES", expandValues);
  definePlace("GETF", expandGetf);
  definePlace("LDB", (m, place, env) => expandBits(m, place, env, "DPB"));
  definePlace("MASK-FIELD", (m, place, env) => expandBits(m, place, env, "DEPOSIT-FIELD"));
  definePlace("APPLY", expandApply);
}

function expandValues(m: Machine, place: Cons, env: Opaque): Expansion {
  const parts = itemsOf(place.cdr).map((inner) => expandPlace(m, inner, env));
  return {
    // A part with several variables, an inner VALUES, gets one value.
    temps: parts.flatMap(({ temps, stores }) => [
      ...temps,
      ...stores.slice(1).map((store) => [store, NIL] as const),
    ]),
    stores: parts.map(({ stores }) => stores[0] as Sym),
    store: lisp`(values @${parts.map(({ store }) => store)})`,
    access: lisp`(values @${parts.map(({ access }) => access)})`,
  };
}

function expandGetf(m: Machine, place: Cons, env: Opaque): Expansion {
  const [inner, indicator, missing] = itemsOf(place.cdr) as [Value, Value, Value?];
  const list = expandPlace(m, inner, env);
  const [key, other, value] = [fresh("KEY"), fresh("DEFAULT"), fresh("NEW")];
  const temps: [Sym, Value][] = [
    ...list.temps.map(([name, init]): [Sym, Value] => [name, init]),
    [key, indicator],
  ];
  if (missing !== undefined) temps.push([other, missing]);
  return {
    temps,
    stores: [value],
    store: lisp`(let ((${list.stores[0]} (%putf ${list.access} ${key} ${value}))) ${list.store} ${value})`,
    access: form(["GETF", list.access, key, ...(missing === undefined ? [] : [other])]),
  };
}

function expandBits(m: Machine, place: Cons, env: Opaque, depositor: string): Expansion {
  const [specifier, inner] = itemsOf(place.cdr) as [Value, Value];
  const integer = expandPlace(m, inner, env);
  const [bytes, value] = [fresh("BYTE"), fresh("NEW")];
  const [integral] = integer.stores;
  const changed = lisp`(${depositor} ${value} ${bytes} ${integer.access})`;
  return {
    temps: [[bytes, specifier], ...integer.temps],
    stores: [value],
    store: lisp`(let ((${integral} ${changed})) ${integer.store} ${value})`,
    access: lisp`(${place.car} ${bytes} ${integer.access})`,
  };
}

/** `(setf (apply #'f a … list) v)` applies `(setf f)`. */
function expandApply(m: Machine, place: Cons): Expansion {
  const [fn, ...operands] = itemsOf(place.cdr) as [Value, ...Value[]];
  const name =
    fn instanceof Cons && fn.car === named("FUNCTION") && fn.cdr instanceof Cons
      ? fn.cdr.car
      : m.programError("setf of apply needs #'name");
  const plain = callExpansion(new Cons(named("LIST*"), listOf(operands)), () => NIL);
  const temps = itemsOf(plain.access).slice(1);
  const value = plain.stores[0] as Sym;
  return {
    ...plain,
    store: lisp`(apply #'(setf ${name}) ${value} @${temps})`,
    access: lisp`(apply ${fn} @${temps})`,
  };
}
