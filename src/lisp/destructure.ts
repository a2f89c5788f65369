// Patterns of `destructuring-bind` and macros, as bindings for `let*`.
import { form, named, type Template } from "./define.ts";
import { parseLambdaList } from "./lambda-list.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";
import { NIL, Sym } from "./symbol.ts";
import { Cons, type Value } from "./values.ts";

interface Source {
  /** The whole form, for `&whole`. */
  readonly whole: Value;
  /** A form for the list to take apart. */
  readonly operands: Value;
  readonly env: Sym | null;
  /** What is taken apart, for messages. */
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

/** Natives that the bindings call. */
export function checkPattern(m: Machine, value: Value, min: Value, max: Value, what: Value): Value {
  let count = 0;
  let at = value;
  const limit = max === NIL ? Number.POSITIVE_INFINITY : (max as number);
  for (
    ;
    at instanceof Cons && count <= limit && (max !== NIL || count < (min as number));
    at = at.cdr
  )
    count++;
  if (count < (min as number) || count > limit || (max !== NIL && at !== NIL)) {
    mismatch(
      m,
      what,
      `${m.show(value)} does not fit the lambda list of ${m.show(what)}: it needs ${max === NIL ? `at least ${min}` : min === max ? `exactly ${min}` : `${min} to ${max}`} element(s)`,
    );
  }
  return value;
}

/** A macro call that does not fit is a wrong program; a list that does not fit is only an error. */
function mismatch(m: Machine, what: Value, text: string): never {
  if (what === named("DESTRUCTURING-BIND")) m.error("%PATTERN-MISMATCH", { TEXT: new Str(text) });
  m.programError(text);
}

export function checkKeys(
  m: Machine,
  value: Value,
  known: Value,
  allow: Value,
  what: Value,
): Value {
  let allowed = allow !== NIL;
  let unknown: Value | null = null;
  for (let at = value; at instanceof Cons; at = at.cdr.cdr) {
    if (!(at.cdr instanceof Cons))
      return mismatch(m, what, `odd number of keyword arguments for ${m.show(what)}`);
    if (at.car === named(":ALLOW-OTHER-KEYS")) allowed ||= at.cdr.car !== NIL;
    else if (!contains(known, at.car)) unknown ??= at.car;
  }
  if (unknown !== null && !allowed)
    mismatch(m, what, `${m.show(what)} knows no keyword argument ${m.show(unknown)}`);
  return value;
}

function contains(items: Value, item: Value): boolean {
  for (let at = items; at instanceof Cons; at = at.cdr) if (at.car === item) return true;
  return false;
}

/** The list whose first element is the value for `key`, or NIL. */
export function findKey(_: Machine, value: Value, key: Value): Value {
  for (let at = value; at instanceof Cons && at.cdr instanceof Cons; at = at.cdr.cdr)
    if (at.car === key) return at.cdr;
  return NIL;
}
