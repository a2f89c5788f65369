// Places of setf. An expansion evaluates the parts of a place once, and reads and stores it. Places that are
// functions need none: `(setf (f a b) v)` calls the function `(setf f)` with v, a and b.
import { LexicalScope } from "./compile/nodes.ts";
import { form, fresh, lisp, named, type Template } from "./define.ts";
import type { Fn, Macro } from "./function.ts";
import type { Machine } from "./machine.ts";
import { keywordOf } from "./packages.ts";
import { NIL, Sym, words } from "./symbol.ts";
import { Cons, itemsOf, Opaque, unknownKeyword, type Value } from "./values.ts";

export interface Expansion {
  /** Temporary variables and the forms for them, in order. */
  readonly temps: readonly (readonly [Sym, Value])[];
  /** Variables for the new values; several only for `(values …)`. */
  readonly stores: readonly Sym[];
  readonly store: Value;
  readonly access: Value;
}

/** Places of the language that are not functions; the prelude has their expanders. */
const expanders = new Map(
  words("THE VALUES GETF LDB MASK-FIELD APPLY").map((name) => [named(name), `%PLACE-${name}`]),
);

/** The session's definitions by `defsetf` and `define-setf-expander`: functions of a place and an environment. */
export const sessionPlaces = (m: Machine) => m.keep("places", () => new Map<Sym, Fn>());

function expanderOf(m: Machine, head: Sym): Fn | undefined {
  const own = sessionPlaces(m).get(head);
  if (own !== undefined) return own;
  const name = expanders.get(head);
  return name === undefined ? undefined : m.fn(named(name));
}

export function expandPlace(m: Machine, place: Value, env: Opaque): Expansion {
  // A missing macro argument arrives as undefined.
  if ((place as Value | undefined) === undefined) return m.programError("missing place");
  if (place instanceof Sym) return expandName(m, place, env);
  if (!(place instanceof Cons) || !(place.car instanceof Sym))
    return m.programError(`${m.show(place)} is not a place`);
  const head = place.car;
  const expander = expanderOf(m, head);
  if (expander !== undefined) return expandBy(m, expander, place, env);
  if (head.setter === null) {
    const expanded = expandOnce(m, place, env);
    if (expanded !== undefined) return expandPlace(m, expanded, env);
  }
  return callExpansion(place, head);
}

/** The values of an expander as an expansion. */
function expandBy(m: Machine, expander: Fn, place: Value, env: Opaque): Expansion {
  const parts = m.allValues(m.call2(expander, place, env));
  const [temps = NIL, values = NIL, stores = NIL, store = NIL, access = NIL] = parts;
  const inits = itemsOf(values);
  return {
    temps: itemsOf(temps).map((temp, index) => [temp as Sym, inits[index] ?? NIL]),
    stores: itemsOf(stores) as Sym[],
    store,
    access,
  };
}

function expandName(m: Machine, name: Sym, env: Opaque): Expansion {
  const expanded = expandOnce(m, name, env);
  if (expanded !== undefined) return expandPlace(m, expanded, env);
  const store = fresh("NEW");
  return { temps: [], stores: [store], store: form(["SETQ", name, store]), access: name };
}

/** For a place that is a call: binds its operands, except constants. */
function callExpansion(place: Cons, head: Sym): Expansion {
  const temps: [Sym, Value][] = [];
  const names = itemsOf(place.cdr).map((operand) => hold(operand, temps));
  const value = fresh("NEW");
  return {
    temps,
    stores: [value],
    store: lisp`(funcall #'(setf ${head}) ${value} @${names})`,
    access: form([head, ...names]),
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

function scopeIn(env: Value | undefined): LexicalScope | null {
  return env instanceof Opaque && env.content instanceof LexicalScope ? env.content : null;
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
// Parses lambda lists. Those of macros may contain nested patterns.

/** A longer list is circular. */
const parametersMax = 4_096;

export interface PlaceParameter {
  /** A symbol, or a pattern in a macro's lambda list. */
  readonly name: Value;
  readonly init: Value;
  readonly supplied: Sym | null;
}

export interface LambdaList {
  readonly whole: Value | null;
  readonly environment: Sym | null;
  readonly required: readonly Value[];
  readonly optional: readonly PlaceParameter[];
  readonly rest: Value | null;
  readonly hasKeys: boolean;
  readonly keys: readonly (PlaceParameter & { readonly key: Sym })[];
  readonly allowOtherKeys: boolean;
  readonly aux: readonly PlaceParameter[];
}

type Section = "required" | "optional" | "rest" | "key" | "aux" | "whole" | "environment" | "after";

const sections = new Map<Sym, Section>([
  [named("&OPTIONAL"), "optional"],
  [named("&REST"), "rest"],
  [named("&BODY"), "rest"],
  [named("&KEY"), "key"],
  [named("&AUX"), "aux"],
  [named("&WHOLE"), "whole"],
  [named("&ENVIRONMENT"), "environment"],
]);
const allowOther = named("&ALLOW-OTHER-KEYS");
const order: readonly Section[] = ["required", "optional", "rest", "after", "key", "aux"];

/** `patterns` allows nested lists, `&whole`, `&body`, `&environment` and a dotted end, as in macros. */
export function parseLambdaList(m: Machine, lambdaList: Value, patterns: boolean): LambdaList {
  const made = {
    whole: null as Value | null,
    environment: null as Sym | null,
    rest: null as Value | null,
    hasKeys: false,
    allowOtherKeys: false,
  };
  const required: Value[] = [];
  const optional: PlaceParameter[] = [];
  const keys: (PlaceParameter & { key: Sym })[] = [];
  const aux: PlaceParameter[] = [];
  let section: Section = "required";
  const fault = (): never => m.programError(`${m.show(lambdaList)} is not a valid lambda list`);
  let at = lambdaList;
  let count = 0;
  for (; at instanceof Cons; at = at.cdr) {
    if (++count > parametersMax)
      m.programError(`a lambda list has more than ${parametersMax} parts`);
    const item: Value = at.car;
    const next: Section | undefined = item instanceof Sym ? sections.get(item) : undefined;
    if (item === allowOther) made.allowOtherKeys = true;
    else if (next !== undefined) {
      if (!patterns && (next === "whole" || next === "environment")) fault();
      if (
        order.includes(next) &&
        order.indexOf(next) <= order.indexOf(section) &&
        section !== "required"
      )
        fault();
      if (next === "whole" || next === "environment") {
        const name: Value = at.cdr instanceof Cons ? at.cdr.car : fault();
        if (next === "whole") made.whole = name;
        else made.environment = name instanceof Sym ? name : fault();
        at = at.cdr as Cons;
      } else {
        section = next;
        if (next === "key") made.hasKeys = true;
      }
    } else if (section === "required") required.push(checkedName(m, item, patterns));
    else if (section === "optional") optional.push(parameter(m, item, patterns));
    else if (section === "rest") {
      made.rest = checkedName(m, item, patterns);
      section = "after";
    } else if (section === "key") keys.push(keyParameter(m, item, patterns));
    else if (section === "aux") aux.push(parameter(m, item, patterns));
    else fault();
  }
  if (section === "rest") fault();
  if (at !== NIL) {
    if (!patterns || made.rest !== null) fault();
    made.rest = checkedName(m, at, patterns);
  }
  return { ...made, required, optional, keys, aux };
}

function checkedName(m: Machine, name: Value, patterns: boolean): Value {
  if (name instanceof Sym && name.kind !== "constant") return name;
  if (patterns && (name instanceof Cons || name === NIL)) return name;
  return m.programError(`${m.show(name)} cannot be the name of a variable`);
}

function parameter(m: Machine, item: Value, patterns: boolean): PlaceParameter {
  const [name = NIL, init = NIL, supplied] = item instanceof Cons ? itemsOf(item) : [item];
  return {
    name: checkedName(m, name, patterns),
    init,
    supplied: supplied === undefined ? null : (checkedName(m, supplied, false) as Sym),
  };
}

function keyParameter(m: Machine, item: Value, patterns: boolean): PlaceParameter & { key: Sym } {
  if (item instanceof Cons && item.car instanceof Cons) {
    const [key, name = NIL] = itemsOf(item.car);
    if (!(key instanceof Sym)) return m.programError(`${m.show(key as Value)} cannot be a keyword`);
    return { ...parameter(m, new Cons(name, item.cdr), patterns), key };
  }
  const plain = parameter(m, item, patterns);
  return { ...plain, key: keywordOf(m, (plain.name as Sym).name) };
}

// Converts patterns of `destructuring-bind` and macros to bindings for `let*`.

interface Source {
  /** The whole form, for `&whole`. */
  readonly whole: Value;
  /** A form whose value is the list to destructure. */
  readonly operands: Value;
  readonly env: Sym | null;
  /** The subject of error messages. */
  readonly what: Value;
}

/** `(name form)` pairs, in order. */
export function destructure(m: Machine, pattern: Value, source: Source): Value[] {
  const made: Value[] = [];
  take(m, pattern, source, made);
  return made;
}

const bind = (made: Value[], name: Value, init: Template): void => {
  made.push(form([name, init]));
};

function take(m: Machine, pattern: Value, source: Source, made: Value[]): void {
  const list = parseLambdaList(m, pattern, true);
  if (list.whole !== null) bindPattern(m, list.whole, source.whole, source, made);
  if (list.environment !== null) bind(made, list.environment, source.env ?? NIL);
  const rest = new Sym("REST", null);
  const max =
    list.rest !== null || list.hasKeys ? NIL : list.required.length + list.optional.length;
  const what = form(["QUOTE", source.what]);
  bind(made, rest, ["%CHECK-PATTERN", source.operands, list.required.length, max, what]);
  for (const name of list.required) {
    bindPattern(m, name, form(["CAR", rest]), source, made);
    bind(made, rest, ["CDR", rest]);
  }
  for (const { name, init, supplied } of list.optional) {
    if (supplied !== null) bind(made, supplied, ["IF", rest, "T", "NIL"]);
    bindPattern(m, name, form(["IF", rest, ["CAR", rest], init]), source, made);
    bind(made, rest, ["CDR", rest]);
  }
  if (list.rest !== null) bindPattern(m, list.rest, rest, source, made);
  if (list.hasKeys) takeKeys(m, list, rest, what, source, made);
  for (const { name, init } of list.aux) bindPattern(m, name, init, source, made);
}

function takeKeys(
  m: Machine,
  list: ReturnType<typeof parseLambdaList>,
  rest: Sym,
  what: Value,
  source: Source,
  made: Value[],
): void {
  const known = form(["QUOTE", form(list.keys.map(({ key }) => key))]);
  bind(made, rest, ["%CHECK-KEYS", rest, known, list.allowOtherKeys ? "T" : "NIL", what]);
  for (const { key, name, init, supplied } of list.keys) {
    const found = new Sym("FOUND", null);
    bind(made, found, ["%FIND-KEY", rest, ["QUOTE", key]]);
    if (supplied !== null) bind(made, supplied, ["IF", found, "T", "NIL"]);
    bindPattern(m, name, form(["IF", found, ["CAR", found], init]), source, made);
  }
}

function bindPattern(m: Machine, name: Value, init: Value, source: Source, made: Value[]): void {
  if (name instanceof Sym && name !== NIL) {
    bind(made, name, init);
    return;
  }
  const part = new Sym("PART", null);
  bind(made, part, init);
  if (name === NIL || name instanceof Cons)
    take(m, name, { ...source, whole: part, operands: part, env: null }, made);
}

/** The natives that the bindings call. */
export function checkPattern(m: Machine, value: Value, min: Value, max: Value, what: Value): Value {
  const least = min as number;
  const most = max === NIL ? Number.POSITIVE_INFINITY : (max as number);
  let count = 0;
  let at = value;
  // Without a limit, it is enough to see the least.
  for (; at instanceof Cons && count <= (max === NIL ? least - 1 : most); at = at.cdr) count++;
  if (count < least || count > most || (max !== NIL && at !== NIL)) {
    const exact = min === max ? `exactly ${min}` : `${min} to ${max}`;
    const needed = max === NIL ? `at least ${min}` : exact;
    const text = `${m.show(value)} does not fit the lambda list of ${m.show(what)}`;
    mismatch(m, what, `${text}: it needs ${needed} element(s)`);
  }
  return value;
}

/** A PROGRAM-ERROR for a macro call, an ERROR for `destructuring-bind`. */
function mismatch(m: Machine, what: Value, text: string): never {
  if (what === named("DESTRUCTURING-BIND")) m.error("%PATTERN-MISMATCH", { TEXT: text });
  m.programError(text);
}

export function checkKeys(
  m: Machine,
  value: Value,
  known: Value,
  allow: Value,
  what: Value,
): Value {
  const args = itemsOf(value);
  if (args.length % 2 === 1)
    return mismatch(m, what, `odd number of keyword arguments for ${m.show(what)}`);
  const keys = itemsOf(known);
  const unknown = allow === NIL ? unknownKeyword(args, 0, (key) => keys.includes(key)) : undefined;
  if (unknown !== undefined)
    mismatch(m, what, `${m.show(what)} does not accept the keyword argument ${m.show(unknown)}`);
  return value;
}

/** The list whose first element is the value for `key`, or NIL. */
export function findKey(_: Machine, value: Value, key: Value): Value {
  for (let at = value; at instanceof Cons && at.cdr instanceof Cons; at = at.cdr.cdr)
    if (at.car === key) return at.cdr;
  return NIL;
}
