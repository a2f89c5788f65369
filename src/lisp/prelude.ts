// The part of the library that is written in Lisp: `prelude/*.lisp`, by way of `prelude.json`, where all macros are
// expanded. A session compiles each definition when it first uses it.
import { enter0, enter1, enter2, enter3 } from "./calls.ts";
import { Analyser, outermost } from "./compile/analyse.ts";
import { compileMacro } from "./compile/compile.ts";
import { makeCode } from "./compile/function-entry.ts";
import { analyseLambda, emptyLambda } from "./compile/lambda.ts";
import { named, systemPackage } from "./define.ts";
import { Code, Fn, type Macro } from "./function.ts";
import type { Machine } from "./machine.ts";
import { packageVariable } from "./packages.ts";
import definitions from "./prelude.json" with { type: "json" };
import { Reader } from "./reader.ts";
import { commonLisp, NIL, type Sym } from "./symbol.ts";
import type { Cons, Value } from "./values.ts";

export function definePrelude(): void {
  systemPackage.uses = [commonLisp];
  for (const [head, body] of Object.entries(definitions)) {
    const [, kind, setf, name = "", lambdaList = ""] =
      /^(\S+) (\(setf )?([^\s)]+)\)? (.*)$/s.exec(head) ?? [];
    const sym = named(name.toUpperCase());
    const read = (m: Machine): Cons => readDefinition(m, `(${lambdaList} ${body})`);
    if (kind === "defmacro") sym.macro = lazyMacro(sym, read);
    else if (setf === undefined) sym.fn = lazyFunction(sym, lambdaList, read);
    else sym.setter = lazyFunction(sym, lambdaList, read);
  }
}

function lazyMacro(sym: Sym, read: (m: Machine) => Cons): Macro {
  const compiled = onFirstUse((m) => {
    const { car: lambdaList, cdr: body } = read(m);
    return compileMacro(m, sym, lambdaList, body, outermost(emptyLambda(null, sym)));
  });
  return {
    expand: (form, env, m) => compiled(m).expand(form, env, m),
    documentation: null,
  };
}

function lazyFunction(sym: Sym, lambdaList: string, read: (m: Machine) => Cons): Fn {
  const compiled = onFirstUse((m) => {
    const { car: parameters, cdr: body } = read(m);
    const scope = outermost(emptyLambda(null, sym));
    const how = { name: sym, block: sym };
    return new Fn(makeCode(m, analyseLambda(new Analyser(m), parameters, body, scope, how)), []);
  });
  const code = new Code(sym, false, false);
  code.lambdaList = lambdaList.slice(1, -1);
  code.c0 = (m) => after(m, compiled(m), (fn) => enter0(m, fn));
  code.c1 = (m, _, a) => after(m, compiled(m), (fn) => enter1(m, fn, a));
  code.c2 = (m, _, a, b) => after(m, compiled(m), (fn) => enter2(m, fn, a, b));
  code.c3 = (m, _, a, b, c) => after(m, compiled(m), (fn) => enter3(m, fn, a, b, c));
  code.cn = (m, _, args) => after(m, compiled(m), (fn) => fn.code.cn(m, fn, args));
  return new Fn(code, []);
}

/** The caller takes the values of this function from `mv`. */
function after(m: Machine, fn: Fn, call: (fn: Fn) => Value): Value {
  const answer = call(fn);
  if (fn.code.single) m.mv = null;
  return answer;
}

function onFirstUse<Made>(make: (m: Machine) => Made): (m: Machine) => Made {
  const made = new WeakMap<Machine, Made>();
  return (m) => {
    const found = made.get(m);
    if (found !== undefined) return found;
    const fresh = make(m);
    made.set(m, fresh);
    return fresh;
  };
}

/** Reads in the package of the library, whatever the program has bound. */
function readDefinition(m: Machine, text: string): Cons {
  const mark = m.bindings.length;
  m.bind(packageVariable, systemPackage);
  m.bind(named("*READ-BASE*"), 10);
  m.bind(named("*READ-SUPPRESS*"), NIL);
  // Without a readtable, names are read in upper case.
  m.bind(named("*READTABLE*"), NIL);
  systemPackage.locked = false;
  try {
    const reader = new Reader(m, text);
    reader.notesPositions = false;
    return reader.next() as Cons;
  } finally {
    systemPackage.locked = true;
    m.unbindTo(mark);
  }
}
