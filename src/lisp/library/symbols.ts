// Symbols and packages: changes and queries. Also equality and documentation.
import { findClass } from "../classes.ts";
import { setterName } from "../compile/analyse.ts";
import { defineFunction, defineMacro, defineSetter, defineValues, form, named } from "../define.ts";
import { eql, equal, equalp } from "../equality.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import {
  addPackage,
  allPackages,
  currentPackage,
  findPackage,
  findSymbol,
  intern,
  keywordOf,
  noteDefinition,
  packageVariable,
  refuseLocked,
  symbolOf,
} from "../packages.ts";
import { textOf } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, keyword, NIL, Package, Sym, T } from "../symbol.ts";
import { Cons, Instance, itemsOf, LispClass, type Value } from "../values.ts";
import { outputOf } from "./streams.ts";

export function definePackages(): void {
  defineMacro("IN-PACKAGE", (whole) =>
    form(["%IN-PACKAGE", ["QUOTE", whole.cdr instanceof Cons ? whole.cdr.car : NIL]]),
  );
  defineFunction("%IN-PACKAGE name", (m, name) => {
    packageVariable.value = getPackage(m, name);
    return packageVariable.value;
  });
  definePackageParts();
  defineFunction("%PACKAGE-SYMBOLS package kind", (m, pkg, kind: Sym) =>
    m.list(symbolsOf(getPackage(m, pkg), kind.name)),
  );
}

/** Natives with which the prelude changes a package. */
function definePackageParts(): void {
  defineFunction("%OWN-PACKAGE package", ownPackage);
  defineFunction("%PACKAGE name", getPackage);
  defineFunction("%HOLD package symbol kind", (_, pkg: Package, sym: Sym, kind: Sym) => {
    pkg.symbols.set(sym.name, sym);
    if (kind.name === "PRESENT") sym.pkg ??= pkg;
    if (kind.name === "EXTERNAL") pkg.external.add(sym.name);
    if (kind.name === "SHADOWING") pkg.shadowing.add(sym.name);
    return T;
  });
  defineFunction("%UNEXPORT package symbol", (_, pkg: Package, sym: Sym) =>
    bool(pkg.external.delete(sym.name)),
  );
  defineFunction("%SHADOW package name", (m, pkg: Package, name) => {
    const text = textOf(m, name);
    if (!pkg.symbols.has(text)) {
      m.alloc(4);
      pkg.symbols.set(text, new Sym(text, pkg));
    }
    pkg.shadowing.add(text);
    return T;
  });
  // The name of a symbol that would conflict; a loop over all names of COMMON-LISP must be fast.
  defineFunction("%CLASH package used", (m, pkg: Package, used: Package) => {
    const isOther = (name: string): boolean =>
      (findSymbol(pkg, name)?.sym ?? used.symbols.get(name)) !== used.symbols.get(name);
    const name = [...used.external].find((one) => isOther(one) && !pkg.shadowing.has(one));
    return name === undefined ? NIL : m.string(name);
  });
  defineFunction("%SET-USES package packages", (_, pkg: Package, packages) => {
    pkg.uses = itemsOf(packages) as Package[];
    return T;
  });
  // Registers a package under new names: of a new package, of a renamed one, or none of a deleted one.
  defineFunction("%NAME-PACKAGE package names", (m, known, names) => {
    const pkg = known === NIL ? new Package("") : (known as Package);
    for (const [name, found] of m.packages) if (found === pkg) m.packages.delete(name);
    const texts = itemsOf(names).map(String);
    if (texts.length === 0) {
      for (const sym of pkg.symbols.values()) if (sym.pkg === pkg) sym.pkg = null;
      return pkg;
    }
    [pkg.name = "", ...pkg.nicknames] = texts;
    addPackage(m, pkg);
    if (known !== NIL) return pkg;
    m.alloc(100);
    noteDefinition(m, "package", keywordOf(m, pkg.name));
    return pkg;
  });
}

/** Signals an error for an unknown package. */
function getPackage(m: Machine, designator: Value): Package {
  const found = findPackage(m, designator);
  if (found !== undefined) return found;
  const text = `unknown package ${m.show(designator)}`;
  return m.error("PACKAGE-ERROR", { PACKAGE: designator, TEXT: text });
}

/** A package that programs may change. */
function ownPackage(m: Machine, designator: Value): Package {
  const found = getPackage(m, designator);
  if (!found.locked) return found;
  const text = `the package ${found.name} is locked`;
  return m.error("GUILDHALL:PACKAGE-LOCK-VIOLATION", { PACKAGE: found, TEXT: text });
}

/** Accessible, present or external symbols. */
function symbolsOf(pkg: Package, kind: string): Sym[] {
  const present = [...pkg.symbols.values(), ...(pkg.shared?.symbols.values() ?? [])];
  if (kind === "EXTERNAL")
    return present.filter(
      (sym) => pkg.external.has(sym.name) || pkg.shared?.external.has(sym.name),
    );
  if (kind === "PRESENT") return present;
  const inherited = pkg.uses.flatMap((used) =>
    [...used.external].flatMap((name) => used.symbols.get(name) ?? []),
  );
  return [...new Set([...present, ...inherited.filter((sym) => !pkg.symbols.has(sym.name))])];
}

// Queries about symbols and packages.

export function defineSymbols(): void {
  defineFunction("SYMBOL-NAME symbol", (m, sym) => m.string(symbolOf(m, sym).name));
  defineFunction("SYMBOL-PACKAGE symbol", (m, sym) => homeOf(m, symbolOf(m, sym)));
  defineFunction("MAKE-SYMBOL name", (m, name) => {
    m.alloc(4);
    return new Sym(nameText(m, name), null);
  });
  defineInterning();
  definePackageQuestions();
}

/** Keywords share one home package; a session sees its own KEYWORD. */
function homeOf(m: Machine, sym: Sym): Value {
  return sym.pkg === null ? NIL : (m.packages.get(sym.pkg.name) ?? sym.pkg);
}

function packageOf(m: Machine, designator: Value | undefined): Package {
  return designator === undefined ? currentPackage(m) : getPackage(m, designator);
}

function nameText(m: Machine, name: Value): string {
  return name instanceof Str ? name.toString() : m.typeError(name, "STRING");
}

function defineInterning(): void {
  defineValues("INTERN name &optional package", (m, name, pkg) => {
    const [text, home] = [nameText(m, name), packageOf(m, pkg)];
    const found = findSymbol(home, text);
    return m.values(found?.sym ?? intern(m, home, text), found ? keyword(found.status) : NIL);
  });
  defineValues("FIND-SYMBOL name &optional package", (m, name, pkg) => {
    const [text, home] = [nameText(m, name), packageOf(m, pkg)];
    const found = findSymbol(home, text);
    return m.values(found?.sym ?? NIL, found ? keyword(found.status) : NIL);
  });
  defineFunction("UNINTERN symbol &optional package", (m, value, pkg) => {
    const sym = symbolOf(m, value);
    const home = packageOf(m, pkg);
    if (home.symbols.get(sym.name) !== sym) return NIL;
    refuseLocked(m, sym, "unintern");
    home.symbols.delete(sym.name);
    home.external.delete(sym.name);
    home.shadowing.delete(sym.name);
    if (sym.pkg === home) sym.pkg = null;
    return T;
  });
  defineFunction("FIND-ALL-SYMBOLS name", (m, name) => {
    const text = textOf(m, name);
    const found = allPackages(m).flatMap(
      (pkg) => pkg.symbols.get(text) ?? pkg.shared?.symbols.get(text) ?? [],
    );
    return m.list([...new Set(found)]);
  });
}

function definePackageQuestions(): void {
  defineFunction(
    "FIND-PACKAGE name",
    (m, name) => findPackage(m, name instanceof Package ? name : m.string(textOf(m, name))) ?? NIL,
  );
  // A deleted package has no name.
  defineFunction("PACKAGE-NAME package", (m, pkg) =>
    allPackages(m).includes(packageOf(m, pkg)) ? m.string(packageOf(m, pkg).name) : NIL,
  );
  defineFunction("PACKAGE-NICKNAMES package", (m, pkg) =>
    m.list(packageOf(m, pkg).nicknames.map((name) => m.string(name))),
  );
  defineFunction("PACKAGE-USE-LIST package", (m, pkg) => m.list(packageOf(m, pkg).uses));
  defineFunction("PACKAGE-USED-BY-LIST package", (m, pkg) => {
    const used = packageOf(m, pkg);
    return m.list(allPackages(m).filter((user) => user.uses.includes(used)));
  });
  defineFunction("PACKAGE-SHADOWING-SYMBOLS package", (m, pkg) => {
    const home = packageOf(m, pkg);
    return m.list([...home.shadowing].flatMap((name) => home.symbols.get(name) ?? []));
  });
  defineFunction("LIST-ALL-PACKAGES", (m) => m.list(allPackages(m)));
  defineFunction("SYMBOLP object", (_, object) => bool(object instanceof Sym));
}

// The equality functions, and `not`.

export function defineEquality(): void {
  defineFunction("EQ x y", (_, x, y) => bool(x === y));
  defineFunction("EQL x y", (_, x, y) => bool(eql(x, y)));
  defineFunction("EQUAL x y", (m, x, y) => bool(equal(m, x, y)));
  defineFunction("EQUALP x y", (m, x, y) => bool(equalp(m, x, y)));
  defineFunction("NOT x", (_, x) => bool(x === NIL));
}
// Introspection.

export function defineHelp(): void {
  defineFunction("DOCUMENTATION object kind", (m, object, kind) => {
    const text = documentationOf(m, object, kindName(kind));
    return text === null ? NIL : m.string(text);
  });
  defineSetter("DOCUMENTATION value object kind", (m, value, object, kind) => {
    setDocumentation(m, object, kindName(kind), value === NIL ? null : textOf(m, value));
    return value;
  });
  defineValues("DESCRIBE object &optional stream", (m, object, stream) => {
    m.call2(m.fn(named("DESCRIBE-OBJECT")), object, outputOf(m, stream));
    return m.values();
  });
  defineFunction("%SLOT-NAMES object", (m, object) =>
    object instanceof Instance ? m.list(object.cls.slots.map(({ name }) => name)) : NIL,
  );
  // For `describe` and `apropos` of the prelude.
  defineFunction("%LAMBDA-LIST function", (m, fn: Fn) => m.string(fn.code.lambdaList));
  defineFunction("%PRECEDENCE class", (m, cls: LispClass) => m.list(cls.precedence));
  defineFunction("%SPECIAL-P symbol", (_, sym: Sym) => bool(sym.kind === "special"));
  defineFunction("%LOCKED-P symbol", (_, sym: Sym) => bool(sym.pkg?.locked === true));
}

function kindName(kind: Value): string {
  if (kind instanceof Sym) return kind.name;
  return kind === NIL ? "" : "T";
}

function documentationOf(m: Machine, object: Value, kind: string): string | null {
  if (object instanceof Fn) return object.code.documentation;
  if (object instanceof LispClass || object instanceof Package) return object.documentation;
  if (object instanceof Cons) return setterName(object)?.setter?.code.documentation ?? null;
  if (!(object instanceof Sym)) return null;
  if (kind === "FUNCTION")
    return object.macro?.documentation ?? object.fn?.code.documentation ?? null;
  if (kind === "VARIABLE") return m.documentation.get(object) ?? null;
  if (kind === "TYPE" || kind === "STRUCTURE") return findClass(m, object)?.documentation ?? null;
  return kind === "SETF" ? (object.setter?.code.documentation ?? null) : null;
}

function setDocumentation(m: Machine, object: Value, kind: string, text: string | null): void {
  if (object instanceof Sym) {
    refuseLocked(m, object, "document");
    if (kind === "VARIABLE" && text !== null) m.documentation.set(object, text);
    const cls = kind === "TYPE" || kind === "STRUCTURE" ? findClass(m, object) : undefined;
    if (cls !== undefined) cls.documentation = text;
    if (kind === "FUNCTION" && object.macro !== null) object.macro.documentation = text;
    else if (kind === "FUNCTION" && object.fn !== null) object.fn.code.documentation = text;
  } else if (object instanceof Package && !object.locked) object.documentation = text;
  else if (object instanceof Fn && !object.code.native) object.code.documentation = text;
}
