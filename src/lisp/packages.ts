// Packages of a session (the shared locked ones, its own KEYWORD and COMMON-LISP-USER, and the program's), and the
// global values and functions of symbols.
import { extrasPackage, named, sharedPackages } from "./define.ts";
import type { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import { Char, Str } from "./string.ts";
import { commonLisp, Package, Sym, sessionKeyword, sharedKeywords } from "./symbol.ts";
import { Cons, type Value } from "./values.ts";

export type SymbolStatus = "INTERNAL" | "EXTERNAL" | "INHERITED";

export const packageVariable = named("*PACKAGE*");

const definers = new Set(
  "DEFUN DEFMACRO DEFGENERIC DEFMETHOD DEFVAR DEFPARAMETER DEFCONSTANT DEFSTRUCT DEFCLASS DEFTYPE DEFINE-CONDITION DEFINE-SYMBOL-MACRO".split(
    " ",
  ),
);

/** If a form of the program defines one of our extensions, its package gets a symbol of its own for it. */
export function shadowExtras(m: Machine, form: Value): void {
  const pkg = currentPackage(m);
  if (!pkg.uses.includes(extrasPackage)) return;
  const conses = consesOf(form);
  const own = new Map<Value, Sym>();
  for (const { car: operator, cdr } of conses) {
    if (!(operator instanceof Sym) || !definers.has(operator.name) || !(cdr instanceof Cons))
      continue;
    const name = cdr.car instanceof Cons ? cdr.car.car : cdr.car;
    if (!(name instanceof Sym) || name.pkg !== extrasPackage || pkg.symbols.has(name.name))
      continue;
    own.set(name, new Sym(name.name, pkg));
    pkg.symbols.set(name.name, own.get(name) as Sym);
    pkg.shadowing.add(name.name);
  }
  if (own.size > 0)
    for (const cell of conses) {
      cell.car = own.get(cell.car) ?? cell.car;
      cell.cdr = own.get(cell.cdr) ?? cell.cdr;
    }
}

function consesOf(form: Value): Set<Cons> {
  const found = new Set<Cons>();
  const waiting = [form];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (!(value instanceof Cons) || found.has(value)) continue;
    found.add(value);
    waiting.push(value.cdr, value.car);
  }
  return found;
}

/** Called once per machine. */
export function openPackages(m: Machine): void {
  const keywords = new Package("KEYWORD");
  keywords.shared = sharedKeywords;
  keywords.locked = true;
  const user = new Package("COMMON-LISP-USER");
  user.nicknames = ["CL-USER", "USER"];
  user.uses = [commonLisp, extrasPackage];
  for (const pkg of [...sharedPackages, keywords, user]) addPackage(m, pkg);
}

export function addPackage(m: Machine, pkg: Package): void {
  for (const name of [pkg.name, ...pkg.nicknames]) m.packages.set(name, pkg);
}

/** Without nicknames. */
export function allPackages(m: Machine): Package[] {
  return [...new Set(m.packages.values())];
}

/** By a package, a symbol or a string. */
export function findPackage(m: Machine, designator: Value): Package | undefined {
  if (designator instanceof Package) return designator;
  if (designator instanceof Sym) return m.packages.get(designator.name);
  if (designator instanceof Str) return m.packages.get(designator.toString());
  return designator instanceof Char
    ? m.packages.get(String.fromCodePoint(designator.code))
    : m.typeError(designator, "(OR PACKAGE STRING SYMBOL CHARACTER)");
}

export function symbolOf(m: Machine, value: Value): Sym {
  return value instanceof Sym ? value : m.typeError(value, "SYMBOL");
}

export function currentPackage(m: Machine): Package {
  const { value } = packageVariable;
  return value instanceof Package ? value : (m.packages.get("COMMON-LISP-USER") as Package);
}

export interface FoundSymbol {
  readonly sym: Sym;
  readonly status: SymbolStatus;
}

/** Undefined if the name is not accessible in the package. */
export function findSymbol(pkg: Package, name: string): FoundSymbol | undefined {
  const present = pkg.symbols.get(name);
  if (present !== undefined)
    return { sym: present, status: pkg.external.has(name) ? "EXTERNAL" : "INTERNAL" };
  const shared = pkg.shared?.symbols.get(name);
  if (shared !== undefined) return { sym: shared, status: "EXTERNAL" };
  for (const used of pkg.uses) {
    const sym = used.external.has(name) ? used.symbols.get(name) : undefined;
    if (sym !== undefined) return { sym, status: "INHERITED" };
  }
  return undefined;
}

/** Finds or makes a symbol. Locked packages refuse new ones; KEYWORD makes constants. */
export function intern(m: Machine, pkg: Package, name: string): Sym {
  const found = findSymbol(pkg, name);
  if (found !== undefined) return found.sym;
  if (pkg.shared !== null) return internKeyword(m, pkg, name);
  if (pkg.locked) {
    const text = `the package ${pkg.name} is locked and has no symbol ${name}`;
    m.error("GUILDHALL:PACKAGE-LOCK-VIOLATION", { PACKAGE: pkg, TEXT: text });
  }
  m.alloc(4);
  const made = new Sym(name, pkg);
  pkg.symbols.set(name, made);
  return made;
}

function internKeyword(m: Machine, pkg: Package, name: string): Sym {
  m.alloc(4);
  const made = sessionKeyword(name);
  pkg.symbols.set(name, made);
  pkg.external.add(name);
  return made;
}

export function keywordOf(m: Machine, name: string): Sym {
  return intern(m, m.packages.get("KEYWORD") as Package, name);
}

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
  m.error("GUILDHALL:PACKAGE-LOCK-VIOLATION", { PACKAGE: sym.pkg, TEXT: text });
}
