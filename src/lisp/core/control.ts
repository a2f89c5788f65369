// catch and throw, unwind-protect, progv, funcall, apply, multiple values; values and functions of symbols.
import { dearSteps, Ended } from "../budgets.ts";
import { setterName } from "../compile/analyse.ts";
import { macroOf } from "../compile/compile.ts";
import { findSpecial } from "../compile/nodes.ts";
import {
  defineFunction,
  defineMacro,
  defineSetter,
  defineValues,
  form,
  lisp,
  named,
  nativeFunction,
} from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { add, isInteger } from "../numbers.ts";
import { refuseLocked, setFunction, setGlobal, symbolOf } from "../packages.ts";
import {
  catching,
  dynamicState,
  restoreState,
  Transfer,
  unboundVariable,
  undefinedFunction,
  undefinedSetter,
} from "../restarts.ts";
import { takeItems } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, NIL, Sym } from "../symbol.ts";
import { itemsOf, type Value } from "../values.ts";

interface CatchTag {
  readonly tag: Value;
}

export function defineControl(): void {
  defineValues("%CATCH tag thunk", (m, tag, body: Fn) => {
    const entry: CatchTag = { tag };
    m.catchTags.push(entry);
    const mark = m.catchTags.length - 1;
    try {
      return catching(m, entry, () => m.call0(body));
    } finally {
      m.catchTags.length = mark;
    }
  });
  defineFunction("%THROW tag values", (m, tag, values) => {
    const entry = (m.catchTags as CatchTag[]).findLast((one) => one.tag === tag);
    if (entry === undefined)
      return m.error("CONTROL-ERROR", { TEXT: `no catch for the tag ${m.show(tag)}` });
    const all = itemsOf(values);
    throw new Transfer(entry, all[0] ?? NIL, all.length === 1 ? null : all);
  });
  defineValues("%UNWIND-PROTECT thunk cleanup", unwindProtect);
  defineValues("%PROGV names values thunk", (m, names, values, body: Fn) => {
    const mark = m.bindings.length;
    try {
      bindAll(m, names, values);
      return m.call0(body);
    } finally {
      m.unbindTo(mark);
    }
  });
  defineMacro("CATCH", (whole) => {
    const [tag, ...body] = itemsOf(whole.cdr);
    return lisp`(%catch ${tag} ${thunk(body)})`;
  });
  defineMacro("THROW", (whole) => {
    const [tag, value] = itemsOf(whole.cdr);
    return lisp`(%throw ${tag} (multiple-value-list ${value}))`;
  });
  defineMacro("UNWIND-PROTECT", (whole) => {
    const [first, ...cleanup] = itemsOf(whole.cdr);
    return lisp`(%unwind-protect ${thunk([first ?? NIL])} ${thunk(cleanup)})`;
  });
  defineMacro("PROGV", (whole) => {
    const [names, values, ...body] = itemsOf(whole.cdr);
    return lisp`(%progv ${names} ${values} ${thunk(body)})`;
  });
}

export const thunk = (body: readonly Value[]): Value => lisp`(lambda () (progn @${body}))`;

function unwindProtect(m: Machine, body: Fn, cleanup: Fn): Value {
  const state = dynamicState(m);
  let value: Value;
  try {
    value = m.call0(body);
  } catch (thrown) {
    // Once the grace of a budget is used up, no cleanup can run.
    if (thrown instanceof Ended) throw thrown;
    restoreState(m, state);
    m.tick(dearSteps);
    m.call0(cleanup);
    throw thrown;
  }
  const { mv } = m;
  m.call0(cleanup);
  m.mv = mv;
  return value;
}

/** Names without a value are unbound. */
function bindAll(m: Machine, names: Value, values: Value): void {
  const given = itemsOf(values);
  for (const [at, name] of itemsOf(names).entries()) {
    if (!(name instanceof Sym)) m.typeError(name, "symbol");
    if (name.kind === "constant")
      m.programError(`${m.show(name)} is a constant and cannot be bound`);
    if (name.kind === "lexical") refuseLocked(m, name, "bind");
    m.bind(name, given[at]);
  }
}

export function defineCalling(): void {
  defineValues("VALUES &rest values", (m, values) => m.values(...values));
  defineValues("VALUES-LIST list", (m, list) => m.values(...spread(m, list)));
  defineValues("FUNCALL function &rest arguments", (m, fn, args) => m.apply(m.fn(fn), args));
  defineValues("APPLY function &rest arguments", (m, fn, args) => {
    const last = args.pop();
    if (last === undefined)
      return m.programError("apply takes a function and at least a list of arguments");
    return m.apply(m.fn(fn), [...args, ...spread(m, last)]);
  });
}

function spread(m: Machine, list: Value): Value[] {
  const { items, tail } = takeItems(m, list, 100_001);
  if (items.length > 100_000) m.programError("more than 100,000 arguments in one call");
  return tail === NIL ? items : m.typeError(list, "LIST");
}

// Values and functions of symbols.

export function defineNames(): void {
  defineFunction("BOUNDP symbol", (m, name) => bool(symbolOf(m, name).value !== undefined));
  defineFunction(
    "SYMBOL-VALUE symbol",
    (m, name) => symbolOf(m, name).value ?? unboundVariable(m, symbolOf(m, name)),
  );
  defineFunction("SET symbol value", (m, name, value) => setValue(m, name, value));
  defineSetter("SYMBOL-VALUE value symbol", (m, value, name) => setValue(m, name, value));
  defineFunction("MAKUNBOUND symbol", (m, name) => {
    const sym = symbolOf(m, name);
    if (sym.kind === "constant") m.programError(`${m.show(sym)} is a constant`);
    refuseLocked(m, sym, "unbind");
    sym.value = undefined;
    return name;
  });
  defineFunction("FBOUNDP name", (m, name) => {
    const setter = setterName(name);
    if (setter !== null) return bool(setter.setter !== null);
    const sym = symbolOf(m, name);
    return bool(sym.fn !== null || sym.macro !== null || findSpecial(sym) !== undefined);
  });
  defineFunction("FDEFINITION name", functionNamed);
  defineFunction("SYMBOL-FUNCTION symbol", (m, name) => functionNamed(m, symbolOf(m, name)));
  for (const place of ["FDEFINITION", "SYMBOL-FUNCTION"]) {
    defineSetter(`${place} value name`, (m, value, name) => {
      setFunction(m, name, value instanceof Fn ? value : m.typeError(value, "FUNCTION"));
      return value;
    });
  }
  defineSetter("MACRO-FUNCTION value symbol &optional environment", (m, value, name) => {
    const sym = symbolOf(m, name);
    refuseLocked(m, sym, "define");
    sym.macro = macroOf(m.fn(value), null);
    sym.fn = null;
    return value;
  });
  defineFunction("FMAKUNBOUND name", (m, name) => {
    const setter = setterName(name);
    const sym = setter ?? symbolOf(m, name);
    refuseLocked(m, sym, "undefine");
    if (setter !== null) setter.setter = null;
    else Object.assign(sym, { fn: null, macro: null });
    return name;
  });
  defineFunction("GENSYM &optional prefix", gensym);
  defineValues("FUNCTION-LAMBDA-EXPRESSION function", (m, fn) =>
    fn instanceof Fn
      ? m.values(NIL, bool(fn.env.length > 0), fn.code.name)
      : m.typeError(fn, "FUNCTION"),
  );
  // For `trace` of the prelude.
  defineFunction("%TRACEABLE name", (m, name) => {
    refuseLocked(m, setterName(name) ?? symbolOf(m, name), "trace");
    return m.fn(name);
  });
  // Methods can still be added.
  defineFunction("%AS-GENERIC original wrapper", (_, original: Fn, wrapper: Fn) => {
    wrapper.code.generic = original.code.generic;
    return wrapper;
  });
  defineMacro("WITH-COMPILATION-UNIT", (whole) => form(["PROGN", ...itemsOf(whole.cdr).slice(1)]));
  defineMacro("STEP", (whole) => form(["PROGN", ...itemsOf(whole.cdr)]));
  defineMacro("DEFINE-COMPILER-MACRO", (whole) => form(["QUOTE", itemsOf(whole.cdr)[0] ?? NIL]));
  defineFunction("COMPILER-MACRO-FUNCTION name &optional environment", () => NIL);
}

function setValue(m: Machine, name: Value, value: Value): Value {
  setGlobal(m, symbolOf(m, name), value);
  return value;
}

function functionNamed(m: Machine, name: Value): Value {
  const setter = setterName(name);
  if (setter !== null) return setter.setter ?? undefinedSetter(m, setter);
  const sym = symbolOf(m, name);
  if (sym.macro === null && findSpecial(sym) === undefined)
    return sym.fn ?? undefinedFunction(m, sym);
  return nativeFunction(sym, "&rest arguments", (inner) => undefinedFunction(inner, sym));
}

function gensym(m: Machine, prefix?: Value): Value {
  m.alloc(4);
  if (typeof prefix === "number" || typeof prefix === "bigint") return new Sym(`G${prefix}`, null);
  const counter = named("*GENSYM-COUNTER*");
  const number = counter.value;
  if (number === undefined || !isInteger(number) || number < 0)
    return m.typeError(number ?? NIL, "(INTEGER 0)");
  counter.value = add(m, number, 1);
  if (prefix !== undefined && !(prefix instanceof Str)) m.typeError(prefix, "STRING");
  return new Sym(`${prefix ?? "G"}${number}`, null);
}
