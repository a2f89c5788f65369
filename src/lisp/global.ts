// Global values and functions of symbols, and the protection of the language's names.
import { named } from "./define.ts";
import type { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { Str } from "./string.ts";
import { Sym } from "./symbol.ts";
import { Cons, type Value } from "./values.ts";

export type DefinitionKind =
  | "function"
  | "macro"
  | "variable"
  | "class"
  | "structure"
  | "condition"
  | "generic"
  | "type"
  | "package";

/** Sets a variable's global value; refuses constants and names of locked packages. */
export function setGlobal(m: Machine, sym: Sym, value: Value): void {
  if (sym.kind === "constant") m.programError(`${m.show(sym)} is a constant and cannot be set`);
  if (sym.kind === "lexical" && sym.pkg?.locked) refuseLocked(m, sym, "set");
  sym.value = value;
}

/** Sets the global function of a symbol or of `(setf symbol)`. */
export function setFunction(m: Machine, name: Value, fn: Fn): void {
  if (name instanceof Sym) {
    refuseLocked(m, name, "define");
    name.fn = fn;
    name.macro = null;
  } else if (
    name instanceof Cons &&
    name.car === named("SETF") &&
    name.cdr instanceof Cons &&
    name.cdr.car instanceof Sym
  ) {
    refuseLocked(m, name.cdr.car, "define");
    name.cdr.car.setter = fn;
  } else m.typeError(name, "(OR SYMBOL CONS)");
}

/** Records a definition. */
export function noteDefinition(m: Machine, kind: DefinitionKind, name: Value): void {
  m.definitions.set(`${kind} ${m.show(name)}`, { kind, name });
}

/** All sessions share the names of the language, so no program can redefine them. */
export function refuseLocked(m: Machine, sym: Sym, action: string): void {
  if (!sym.pkg?.locked) return;
  const text = `cannot ${action} ${m.show(sym)}: it belongs to the locked package ${sym.pkg.name}; choose another name, or shadow it in a package of your own`;
  m.error("GUILDHALL:PACKAGE-LOCK-VIOLATION", { PACKAGE: sym.pkg, TEXT: new Str(text) });
}
