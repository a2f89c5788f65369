// Values and functions of symbols.

import { setterName } from "../compile/analyse.ts";
import { macroOf } from "../compile/compile.ts";
import { findSpecial } from "../compile/nodes.ts";
import {
  defineFunction,
  defineMacro,
  defineSetter,
  defineValues,
  form,
  named,
  nativeFunction,
} from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { add, isInteger } from "../numbers.ts";
import { refuseLocked, setFunction, setGlobal } from "../packages.ts";
import { unboundVariable, undefinedFunction, undefinedSetter } from "../restarts.ts";
import { Str } from "../string.ts";
import { bool, NIL, Sym } from "../symbol.ts";
import { itemsOf, type Value } from "../values.ts";

export function defineNames(): void {
  defineFunction("BOUNDP symbol", (m, name) => bool(symbol(m, name).value !== undefined));
  defineFunction(
    "SYMBOL-VALUE symbol",
    (m, name) => symbol(m, name).value ?? unboundVariable(m, symbol(m, name)),
  );
  defineFunction("SET symbol value", (m, name, value) => setValue(m, name, value));
  defineSetter("SYMBOL-VALUE value symbol", (m, value, name) => setValue(m, name, value));
  defineFunction("MAKUNBOUND symbol", makeUnbound);
  defineFunction("FBOUNDP name", (m, name) => bool(isFunctionName(m, name)));
  defineFunction("FDEFINITION name", functionNamed);
  defineFunction("SYMBOL-FUNCTION symbol", (m, name) => functionNamed(m, symbol(m, name)));
  for (const place of ["FDEFINITION", "SYMBOL-FUNCTION"]) {
    defineSetter(`${place} value name`, (m, value, name) => {
      setFunction(m, name, value instanceof Fn ? value : m.typeError(value, "FUNCTION"));
      return value;
    });
  }
  defineSetter("MACRO-FUNCTION value symbol &optional environment", setMacroFunction);
  defineFunction("FMAKUNBOUND name", makeUndefined);
  defineFunction("GENSYM &optional prefix", gensym);
  defineValues("FUNCTION-LAMBDA-EXPRESSION function", (m, fn) =>
    fn instanceof Fn
      ? m.values(NIL, bool(fn.env.length > 0), fn.code.name)
      : m.typeError(fn, "FUNCTION"),
  );
  // For `trace` of the prelude.
  defineFunction("%TRACEABLE name", (m, name) => {
    refuseLocked(m, setterName(name) ?? symbol(m, name), "trace");
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

function symbol(m: Machine, name: Value): Sym {
  return name instanceof Sym ? name : m.typeError(name, "SYMBOL");
}

function setValue(m: Machine, name: Value, value: Value): Value {
  setGlobal(m, symbol(m, name), value);
  return value;
}

function makeUnbound(m: Machine, name: Value): Value {
  const sym = symbol(m, name);
  if (sym.kind === "constant") m.programError(`${m.show(sym)} is a constant`);
  refuseLocked(m, sym, "unbind");
  sym.value = undefined;
  return name;
}

function isFunctionName(m: Machine, name: Value): boolean {
  const setter = setterName(name);
  if (setter !== null) return setter.setter !== null;
  const sym = symbol(m, name);
  return sym.fn !== null || sym.macro !== null || findSpecial(sym) !== undefined;
}

function functionNamed(m: Machine, name: Value): Value {
  const setter = setterName(name);
  if (setter !== null) return setter.setter ?? undefinedSetter(m, setter);
  const sym = symbol(m, name);
  if (sym.macro === null && findSpecial(sym) === undefined)
    return sym.fn ?? undefinedFunction(m, sym);
  return nativeFunction(sym, "&rest arguments", (inner) => undefinedFunction(inner, sym));
}

function makeUndefined(m: Machine, name: Value): Value {
  const setter = setterName(name);
  const sym = setter ?? symbol(m, name);
  refuseLocked(m, sym, "undefine");
  if (setter === null) {
    sym.fn = null;
    sym.macro = null;
  } else sym.setter = null;
  return name;
}

function setMacroFunction(m: Machine, value: Value, name: Value): Value {
  const sym = symbol(m, name);
  refuseLocked(m, sym, "define");
  const fn = m.fn(value);
  sym.macro = macroOf(fn, null);
  sym.fn = null;
  return value;
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
