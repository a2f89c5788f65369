// Definitions of functions, macros and variables, and queries about them.
import { macroLambda, macroOf } from "../compile/compile.ts";
import { makeCondition } from "../conditions.ts";
import {
  defineConstant,
  defineFunction,
  defineMacro,
  defineSetter,
  defineValues,
  defineVariable,
  form,
  fresh,
  lisp,
  named,
  nativeFunction,
} from "../define.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { noteDefinition, refuseLocked, setFunction, symbolOf } from "../packages.ts";
import { checkKeys, checkPattern, destructure, expandOnce, findKey, macroFor } from "../places.ts";
import type { ReadCase, Readtable } from "../reader.ts";
import { featureList } from "../reader-macros.ts";
import { listItems } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, NIL, type Package, Sym, words } from "../symbol.ts";
import { Cons, itemsOf, listOf, Opaque, type Value } from "../values.ts";
import { warn } from "./signalling.ts";

export function defineDefinitions(): void {
  defineFunction("%CHECK-PATTERN list min max what", checkPattern);
  defineFunction("%CHECK-KEYS list known allow what", checkKeys);
  defineFunction("%FIND-KEY list key", findKey);
  defineParts();
  defineMacro("LAMBDA", (whole) => lisp`#'${whole}`);
  defineMacro("DEFUN", (whole, _, m) => {
    const [name, lambdaList, ...body] = itemsOf(whole.cdr) as [Value, Value, ...Value[]];
    if (name === undefined || lambdaList === undefined)
      return m.programError("defun takes a name, a lambda list and a body");
    return lisp`(%defun '${name} #'(%named-lambda ${name} ${lambdaList} @${body}))`;
  });
  defineMacro("DEFMACRO", (whole, _, m) => {
    const [name, lambdaList, ...body] = itemsOf(whole.cdr);
    if (name === undefined || lambdaList === undefined)
      return m.programError("defmacro takes a name, a lambda list and a body");
    const { lambda, documentation } = macroLambda(m, name, lambdaList, listOf(body));
    const text = documentation === null ? NIL : m.string(documentation);
    return lisp`(%defmacro '${name} #'${lambda} ${text})`;
  });
  defineMacro("DEFVAR", (whole) => {
    const [name, init, documentation] = itemsOf(whole.cdr);
    const thunk = init === undefined ? NIL : lisp`(lambda () ${init})`;
    return lisp`(%defvar '${name} ${thunk} ${documentation})`;
  });
  for (const kind of ["DEFPARAMETER", "DEFCONSTANT"])
    defineMacro(kind, (whole) => {
      const [name, init, documentation] = itemsOf(whole.cdr);
      return lisp`(${`%${kind}`} '${name} ${init} ${documentation})`;
    });
  defineMacro("DEFINE-SYMBOL-MACRO", (whole) => {
    const [name, expansion] = itemsOf(whole.cdr);
    return lisp`(%define-symbol-macro '${name} '${expansion})`;
  });
  defineMacro("DECLAIM", (whole) => {
    const proclaimed = itemsOf(whole.cdr).map((specifier) => lisp`(proclaim '${specifier})`);
    return lisp`(progn @${proclaimed})`;
  });
  defineMacro("DESTRUCTURING-BIND", expandDestructuring);
  defineValues("MACROEXPAND-1 form &optional environment", (m, whole, env) =>
    macroexpand(m, whole, env, true),
  );
  defineValues("MACROEXPAND form &optional environment", (m, whole, env) =>
    macroexpand(m, whole, env, false),
  );
  defineFunction("MACRO-FUNCTION symbol &optional environment", (m, name, env) => {
    const macro = macroFor(env, symbolOf(m, name));
    if (macro === null) return NIL;
    return nativeFunction(name, "form environment", (inner, whole: Cons, environment: Opaque) =>
      macro.expand(whole, environment, inner),
    );
  });
  defineFunction("SPECIAL-OPERATOR-P symbol", (m, value) => {
    const { pkg, name } = symbolOf(m, value);
    return bool(pkg?.name === "COMMON-LISP" && specialNames.has(name));
  });
  defineFunction("CONSTANTP form &optional environment", (_: Machine, whole) =>
    bool(
      whole instanceof Sym
        ? whole.kind === "constant"
        : !(whole instanceof Cons) || whole.car === named("QUOTE"),
    ),
  );
  defineValues("COMPILE name &optional definition", (m, name, definition) =>
    m.values(definition === undefined ? name : m.fn(definition), NIL, NIL),
  );
  defineValues("EVAL form", (m, whole) => m.services.evaluate(m, whole));
}

const specialNames = new Set(
  words(`BLOCK CATCH EVAL-WHEN FLET FUNCTION GO IF LABELS LET LET* LOAD-TIME-VALUE LOCALLY MACROLET
  MULTIPLE-VALUE-CALL MULTIPLE-VALUE-PROG1 PROGN PROGV QUOTE RETURN-FROM SETQ SYMBOL-MACROLET
  TAGBODY THE THROW UNWIND-PROTECT`),
);

/** The natives of the defining macros. */
function defineParts(): void {
  defineFunction("%DEFUN name function", (m, name, fn: Fn) => {
    const sym = name instanceof Sym ? name : null;
    if (sym !== null && !sym.pkg?.locked && (sym.fn !== null || sym.macro !== null))
      noteRedefinition(m, sym);
    setFunction(m, name, fn);
    noteDefinition(m, "function", name);
    return name;
  });
  defineFunction("%DEFMACRO name expander documentation", (m, name, expander: Fn, text) => {
    const sym = definable(m, name);
    sym.macro = macroOf(expander, text === NIL ? null : String(text));
    sym.fn = null;
    noteDefinition(m, "macro", sym);
    return sym;
  });
  defineFunction("%DEFVAR name thunk documentation", (m, name, thunk, documentation) => {
    const sym = makeSpecial(m, name);
    if (sym.value === undefined && thunk instanceof Fn) sym.value = m.call0(thunk);
    return noteVariable(m, sym, documentation);
  });
  defineFunction("%DEFPARAMETER name value documentation", (m, name, value, documentation) => {
    const sym = makeSpecial(m, name);
    sym.value = value;
    return noteVariable(m, sym, documentation);
  });
  defineFunction("%DEFCONSTANT name value documentation", (m, name, value, documentation) => {
    const sym = definable(m, name);
    sym.kind = "constant";
    sym.value = value;
    return noteVariable(m, sym, documentation);
  });
  defineFunction("%DEFINE-SYMBOL-MACRO name expansion", (m, name, expansion) => {
    m.symbolMacros.set(definable(m, name), expansion);
    return name;
  });
  defineFunction("PROCLAIM specifier", (m, specifier) => {
    const [kind, ...names] = listItems(m, specifier);
    if (kind === named("SPECIAL")) for (const name of names) makeSpecial(m, name);
    return NIL;
  });
}

/** A style warning. */
function noteRedefinition(m: Machine, name: Sym): void {
  const [control, args] = [m.string("redefining ~s"), m.list([name])];
  const slots = { "FORMAT-CONTROL": control, "FORMAT-ARGUMENTS": args };
  warn(m, makeCondition("%SIMPLE-STYLE-WARNING", slots));
}

function definable(m: Machine, name: Value): Sym {
  const sym = symbolOf(m, name);
  refuseLocked(m, sym, "define");
  return sym;
}

function makeSpecial(m: Machine, name: Value): Sym {
  const sym = symbolOf(m, name);
  if (sym.kind === "constant") return m.programError(`${m.show(name)} is a constant`);
  definable(m, sym).kind = "special";
  return sym;
}

function noteVariable(m: Machine, sym: Sym, documentation: Value): Sym {
  if (documentation instanceof Str) m.documentation.set(sym, documentation.toString());
  noteDefinition(m, "variable", sym);
  return sym;
}

function expandDestructuring(whole: Cons, _: Opaque, m: Machine): Value {
  const [pattern, list, ...body] = itemsOf(whole.cdr) as [Value, Value, ...Value[]];
  if (pattern === undefined || list === undefined)
    return m.programError("destructuring-bind takes a pattern, a form and a body");
  const value = fresh("LIST");
  const source = { whole: value, operands: value, env: null, what: named("DESTRUCTURING-BIND") };
  return lisp`(let* ((${value} ${list}) @${destructure(m, pattern, source)}) @${body})`;
}

function macroexpand(m: Machine, whole: Value, env: Value | undefined, once: boolean): Value {
  let expanded = whole;
  for (let count = 0; ; count++) {
    const next = once && count > 0 ? undefined : expandOnce(m, expanded, env);
    if (next === undefined) return m.values(expanded, bool(count > 0));
    expanded = next;
    m.tick(10);
  }
}

// Variables of the language that belong to no part of the library.

const readtable = (letterCase: ReadCase): Opaque =>
  new Opaque("READTABLE", { letterCase } satisfies Readtable);

function readtableOf(m: Machine, value: Value): Readtable {
  return value instanceof Opaque && value.label === "READTABLE"
    ? (value.content as Readtable)
    : m.typeError(value, "READTABLE");
}

function defineReadtables(): void {
  defineFunction(
    "COPY-READTABLE &optional from to",
    (m, from = named("*READTABLE*").value, to = NIL) => {
      const letterCase =
        from === undefined || from === NIL ? "UPCASE" : readtableOf(m, from).letterCase;
      if (to === NIL) return readtable(letterCase);
      readtableOf(m, to).letterCase = letterCase;
      return to;
    },
  );
  defineFunction("READTABLEP object", (_: Machine, value) =>
    bool(value instanceof Opaque && value.label === "READTABLE"),
  );
  defineFunction("READTABLE-CASE readtable", (m, value) =>
    named(`:${readtableOf(m, value).letterCase}`),
  );
  defineSetter("READTABLE-CASE case readtable", (m, mode, value) => {
    if (!(mode instanceof Sym) || !/^(UPCASE|DOWNCASE|PRESERVE|INVERT)$/.test(mode.name))
      return m.typeError(mode, "(member :upcase :downcase :preserve :invert)");
    readtableOf(m, value).letterCase = mode.name as ReadCase;
    return mode;
  });
}

const lambdaListKeywords = words(
  "&ALLOW-OTHER-KEYS &AUX &BODY &ENVIRONMENT &KEY &OPTIONAL &REST &WHOLE",
);

export function defineVariables(): void {
  defineReadtables();
  // The last three forms and their values.
  for (const name of ["*", "**", "***", "+", "++", "+++", "-", "/", "//", "///"])
    defineVariable(name, NIL);
  defineVariable("*PACKAGE*", (m) => m.packages.get("COMMON-LISP-USER") as Package);
  defineVariable("*READ-BASE*", 10);
  defineVariable("*READ-DEFAULT-FLOAT-FORMAT*", named("DOUBLE-FLOAT"));
  defineVariable("*READ-EVAL*", NIL);
  defineVariable("*READ-SUPPRESS*", NIL);
  defineVariable("*READTABLE*", () => readtable("UPCASE"));
  defineVariable("*FEATURES*", () => featureList());
  defineVariable("*MODULES*", NIL);
  defineVariable("*GENSYM-COUNTER*", 1);
  defineVariable("*BREAK-ON-SIGNALS*", NIL);
  defineVariable("*DEBUGGER-HOOK*", NIL);
  defineVariable("*MACROEXPAND-HOOK*", named("FUNCALL"));
  for (const name of words(
    "COMPILE-PRINT COMPILE-VERBOSE COMPILE-FILE-PATHNAME COMPILE-FILE-TRUENAME LOAD-PRINT LOAD-VERBOSE LOAD-PATHNAME LOAD-TRUENAME",
  ))
    defineVariable(`*${name}*`, NIL);
  defineFunction("PATHNAMEP object", () => NIL);
  defineConstant("CALL-ARGUMENTS-LIMIT", 100_000);
  defineConstant("LAMBDA-PARAMETERS-LIMIT", 100_000);
  defineConstant("MULTIPLE-VALUES-LIMIT", 100_000);
  defineConstant("LAMBDA-LIST-KEYWORDS", form(lambdaListKeywords));
}
