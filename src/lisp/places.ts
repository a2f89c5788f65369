// Places of setf. An expansion evaluates the parts of a place once, and reads and stores it. Places that are
// functions need none: `(setf (f a b) v)` calls the function `(setf f)` with v, a and b.

import { Scope } from "./compile/scope.ts";
import { form, fresh, lisp, named, type Template } from "./define.ts";
import type { Macro } from "./function.ts";
import type { Machine } from "./machine.ts";
import { Sym } from "./symbol.ts";
import { Cons, itemsOf, Opaque, type Value } from "./values.ts";

export interface Expansion {
  /** Temporary variables and the forms for them, in order. */
  readonly temps: readonly (readonly [Sym, Value])[];
  /** Variables for the new values; several only for `(values …)`. */
  readonly stores: readonly Sym[];
  readonly store: Value;
  readonly access: Value;
}

export type PlaceExpander = (m: Machine, place: Cons, env: Opaque) => Expansion;

const shared = new Map<Sym, PlaceExpander>();

/** Defines a place of the language that is not a function. */
export function definePlace(name: string, expand: PlaceExpander): void {
  shared.set(named(name), expand);
}

/** The session's definitions by `defsetf` and `define-setf-expander`. */
export function sessionPlaces(m: Machine): Map<Sym, PlaceExpander> {
  let places = m.kept.get("places") as Map<Sym, PlaceExpander> | undefined;
  if (places === undefined) {
    places = new Map();
    m.kept.set("places", places);
  }
  return places;
}

export function expandPlace(m: Machine, place: Value, env: Opaque): Expansion {
  // A missing macro argument arrives as undefined.
  if ((place as Value | undefined) === undefined) return m.programError("missing place");
  if (place instanceof Sym) return expandName(m, place, env);
  if (!(place instanceof Cons) || !(place.car instanceof Sym))
    return m.programError(`${m.show(place)} is not a place`);
  const head = place.car;
  const expander = sessionPlaces(m).get(head) ?? shared.get(head);
  if (expander !== undefined) return expander(m, place, env);
  if (head.setter === null) {
    const expanded = expandOnce(m, place, env);
    if (expanded !== undefined) return expandPlace(m, expanded, env);
  }
  return callExpansion(place, (temps, store) => [
    "FUNCALL",
    ["FUNCTION", ["SETF", head]],
    store,
    ...temps,
  ]);
}

function expandName(m: Machine, name: Sym, env: Opaque): Expansion {
  const expanded = expandOnce(m, name, env);
  if (expanded !== undefined) return expandPlace(m, expanded, env);
  const store = fresh("NEW");
  return { temps: [], stores: [store], store: form(["SETQ", name, store]), access: name };
}

/** For a place that is a call: binds its operands, except constants. */
export function callExpansion(
  place: Cons,
  store: (temps: Template[], store: Sym) => Template,
): Expansion {
  const operands = itemsOf(place.cdr);
  const temps: [Sym, Value][] = [];
  const names = operands.map((operand) => hold(operand, temps));
  const value = fresh("NEW");
  return {
    temps,
    stores: [value],
    store: form(store(names, value)),
    access: form([place.car, ...names]),
  };
}

function isConstant(value: Value): boolean {
  if (value instanceof Sym) return value.kind === "constant";
  return (
    !(value instanceof Cons) || value.car === named("QUOTE") || value.car === named("FUNCTION")
  );
}

/** `(let* (temps…) (let ((new value)) store))`, or with several new values. */
function storeForm({ temps, stores, store }: Expansion, value: Template): Value {
  const bound = temps.map(([name, init]) => [name, init]);
  if (stores.length === 1) return lisp`(let* (@${bound} (${stores[0]} ${value})) ${store})`;
  return lisp`(let* ${bound} (multiple-value-bind ${stores} ${value} ${store}))`;
}

/** Stores a new value computed from the old one. The arguments are evaluated before the place is read. */
export function modifyForm(
  m: Machine,
  { place, args = [], env }: { place: Value; args?: readonly Value[]; env: Opaque },
  change: (old: Value, args: Value[]) => Template,
): Value {
  const expansion = expandPlace(m, place, env);
  const temps = [...expansion.temps];
  const held = args.map((arg) => hold(arg, temps));
  return storeForm({ ...expansion, temps }, change(expansion.access, held));
}

/** A constant as it is, or a new temporary variable for the form. */
function hold(operand: Value, temps: (readonly [Sym, Value])[]): Value {
  if (isConstant(operand)) return operand;
  const name = fresh("PART");
  temps.push([name, operand]);
  return name;
}

/** `(setf place value)`, one pair. */
export function setfForm(m: Machine, place: Value, value: Value, env: Opaque): Value {
  if (place instanceof Sym) return form(["SETQ", place, value]);
  return storeForm(expandPlace(m, place, env), value);
}

// One step of macro expansion, in the scope of an environment or in the global one.

function scopeIn(env: Value | undefined): Scope | null {
  return env instanceof Opaque && env.content instanceof Scope ? env.content : null;
}

export function macroFor(env: Value | undefined, name: Sym): Macro | null {
  const local = scopeIn(env)?.findFunction(name);
  if (local?.kind === "function") return null;
  return local?.macro ?? name.macro;
}

/** Undefined if the form is neither a macro call nor a symbol macro. */
export function expandOnce(m: Machine, whole: Value, env: Value | undefined): Value | undefined {
  if (whole instanceof Sym) {
    const local = scopeIn(env)?.findVariable(whole);
    if (local !== undefined) return local.kind === "symbol-macro" ? local.expansion : undefined;
    return m.symbolMacros.get(whole);
  }
  if (!(whole instanceof Cons) || !(whole.car instanceof Sym)) return undefined;
  const macro = macroFor(env, whole.car);
  return macro === null
    ? undefined
    : macro.expand(whole, env instanceof Opaque ? env : new Opaque("ENVIRONMENT", null), m);
}
