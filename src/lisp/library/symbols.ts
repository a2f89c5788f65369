// Symbols and packages: changes and queries. Also equality and documentation.
import { findClass } from "../classes.ts";
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
import { offering } from "../restarts.ts";
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
  defineChanges();
  defineFunction("%PACKAGE-SYMBOLS package kind", (m, pkg, kind: Sym) =>
    m.list(symbolsOf(getPackage(m, pkg), kind.name)),
  );
}

function defineChanges(): void {
  const change = (name: string, apply: (m: Machine, pkg: Package, sym: Sym) => void) => {
    defineFunction(`${name} symbols &optional package`, (m, symbols, pkg) => {
      const target = ownPackage(m, pkg ?? currentPackage(m));
      for (const sym of symbolList(m, symbols)) apply(m, target, sym);
      return T;
    });
  };
  change("EXPORT", exportSymbol);
  change("UNEXPORT", (m, pkg, sym) => {
    if (findSymbol(pkg, sym.name)?.sym !== sym)
      fault(m, pkg, `${sym.name} is not accessible in ${pkg.name}, so it cannot be unexported`);
    pkg.external.delete(sym.name);
  });
  change("IMPORT", importSymbol);
  change("SHADOWING-IMPORT", (_, pkg, sym) => shadowingImport(pkg, sym));
  defineFunction("SHADOW names &optional package", (m, names, pkg) => {
    const target = ownPackage(m, pkg ?? currentPackage(m));
    for (const name of listed(names)) shadowName(m, target, textOf(m, name));
    return T;
  });
  defineFunction("USE-PACKAGE packages &optional package", (m, packages, pkg) => {
    const target = ownPackage(m, pkg ?? currentPackage(m));
    for (const used of listed(packages)) addUse(m, target, getPackage(m, used));
    return T;
  });
  defineFunction("UNUSE-PACKAGE packages &optional package", (m, packages, pkg) => {
    const target = ownPackage(m, pkg ?? currentPackage(m));
    const gone = listed(packages).map((used) => getPackage(m, used));
    target.uses = target.uses.filter((used) => !gone.includes(used));
    return T;
  });
  defineFunction("MAKE-PACKAGE name &key nicknames use", (m, name, nicknames = NIL, use = NIL) =>
    createPackage(
      m,
      textOf(m, name),
      itemsOf(nicknames).map((one) => textOf(m, one)),
      itemsOf(use).map((one) => getPackage(m, one)),
    ),
  );
  defineFunction(
    "RENAME-PACKAGE package name &optional nicknames",
    (m, pkg, name, others = NIL) => {
      const renamed = ownPackage(m, pkg);
      const names = [name, ...itemsOf(others)].map((one) =>
        one instanceof Package ? one.name : textOf(m, one),
      );
      const taken = names.find((one) => (m.packages.get(one) ?? renamed) !== renamed);
      if (taken !== undefined) return fault(m, renamed, `the package ${taken} already exists`);
      for (const [known, found] of m.packages) if (found === renamed) m.packages.delete(known);
      [renamed.name = "", ...renamed.nicknames] = names;
      addPackage(m, renamed);
      return renamed;
    },
  );
  defineFunction("DELETE-PACKAGE package", (m, pkg) => deletePackage(m, ownPackage(m, pkg)));
}

/** A list, or one item. */
const listed = (value: Value): Value[] =>
  value instanceof Cons || value === NIL ? itemsOf(value) : [value];

// Operations on packages. Two symbols of the same name conflict in a package, unless one is shadowing.

/** Signals an error for an unknown package. */
function getPackage(m: Machine, designator: Value): Package {
  const found = findPackage(m, designator);
  if (found !== undefined) return found;
  return m.error("PACKAGE-ERROR", {
    PACKAGE: designator,
    TEXT: `unknown package ${m.show(designator)}`,
  });
}

/** A package that programs may change. */
function ownPackage(m: Machine, designator: Value): Package {
  const found = getPackage(m, designator);
  if (found.locked)
    m.error("GUILDHALL:PACKAGE-LOCK-VIOLATION", {
      PACKAGE: found,
      TEXT: `the package ${found.name} is locked`,
    });
  return found;
}

function createPackage(
  m: Machine,
  name: string,
  nicknames: readonly string[],
  uses: readonly Package[],
): Package {
  const taken = [name, ...nicknames].find((one) => m.packages.has(one));
  const known = taken === undefined ? undefined : m.packages.get(taken);
  if (known !== undefined) {
    offering(m, "CONTINUE", "Use the package that exists.", () =>
      fault(m, known, `the package ${taken} already exists`),
    );
    return known;
  }
  m.alloc(100);
  const made = new Package(name);
  made.nicknames = [...nicknames];
  addPackage(m, made);
  noteDefinition(m, "package", keywordOf(m, name));
  for (const used of uses) addUse(m, made, used);
  return made;
}

/** NIL if it was already deleted. Packages that use it may go on without it. */
function deletePackage(m: Machine, pkg: Package): Value {
  if (!allPackages(m).includes(pkg)) return NIL;
  const users = allPackages(m).filter(({ uses }) => uses.includes(pkg));
  if (users.length > 0) {
    const text = `${pkg.name} is used by ${users.map(({ name }) => name).join(", ")}`;
    offering(m, "CONTINUE", "Delete it anyway.", () => fault(m, pkg, text));
  }
  for (const user of users) user.uses = user.uses.filter((used) => used !== pkg);
  for (const [name, found] of m.packages) if (found === pkg) m.packages.delete(name);
  for (const sym of pkg.symbols.values()) if (sym.pkg === pkg) sym.pkg = null;
  pkg.uses = [];
  return T;
}

function addUse(m: Machine, pkg: Package, used: Package): void {
  if (pkg === used || pkg.uses.includes(used)) return;
  for (const name of used.external) {
    const here = findSymbol(pkg, name)?.sym;
    if (here !== undefined && here !== used.symbols.get(name) && !pkg.shadowing.has(name))
      conflict(m, pkg, name, used);
  }
  pkg.uses = [...pkg.uses, used];
}

function exportSymbol(m: Machine, pkg: Package, sym: Sym): void {
  const found = findSymbol(pkg, sym.name);
  if (found?.sym !== sym)
    fault(m, pkg, `${sym.name} is not accessible in ${pkg.name}, so it cannot be exported`);
  for (const user of m.packages.values()) {
    const theirs = user.uses.includes(pkg) ? findSymbol(user, sym.name)?.sym : undefined;
    if (theirs !== undefined && theirs !== sym && !user.shadowing.has(sym.name))
      conflict(m, user, sym.name, pkg);
  }
  pkg.symbols.set(sym.name, sym);
  pkg.external.add(sym.name);
}

function importSymbol(m: Machine, pkg: Package, sym: Sym): void {
  const found = findSymbol(pkg, sym.name)?.sym;
  if (found !== undefined && found !== sym && !pkg.shadowing.has(sym.name))
    fault(
      m,
      pkg,
      `${pkg.name} already has another symbol ${sym.name}; use SHADOWING-IMPORT to replace it`,
    );
  pkg.symbols.set(sym.name, sym);
  sym.pkg ??= pkg;
}

function shadowingImport(pkg: Package, sym: Sym): void {
  pkg.symbols.set(sym.name, sym);
  pkg.shadowing.add(sym.name);
}

function shadowName(m: Machine, pkg: Package, name: string): void {
  if (!pkg.symbols.has(name)) {
    m.alloc(4);
    pkg.symbols.set(name, new Sym(name, pkg));
  }
  pkg.shadowing.add(name);
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

function symbolList(m: Machine, symbols: Value): Sym[] {
  return listed(symbols).map((item) => symbolOf(m, item));
}

function conflict(m: Machine, pkg: Package, name: string, other: Package): never {
  return fault(
    m,
    pkg,
    `${name} would mean two symbols in ${pkg.name}: its own and that of ${other.name}; shadow one of them first`,
  );
}

function fault(m: Machine, pkg: Package, text: string): never {
  return m.error("PACKAGE-ERROR", { PACKAGE: pkg, TEXT: text });
}

// Queries about symbols and packages.

export function defineSymbols(): void {
  defineFunction("SYMBOL-NAME symbol", (m, sym) => m.string(symbolOf(m, sym).name));
  defineFunction("SYMBOL-PACKAGE symbol", (m, sym) => homeOf(m, symbolOf(m, sym)));
  defineFunction("MAKE-SYMBOL name", (m, name) => {
    m.alloc(4);
    return new Sym(name instanceof Str ? name.toString() : m.typeError(name, "STRING"), null);
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
    const text = nameText(m, name);
    const home = packageOf(m, pkg);
    const found = findSymbol(home, text);
    return found === undefined
      ? m.values(intern(m, home, text), NIL)
      : m.values(found.sym, keyword(found.status));
  });
  defineValues("FIND-SYMBOL name &optional package", (m, name, pkg) => {
    const text = nameText(m, name);
    const found = findSymbol(packageOf(m, pkg), text);
    return found === undefined ? m.values(NIL, NIL) : m.values(found.sym, keyword(found.status));
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
  if (object instanceof Cons) return setterOf(object)?.code.documentation ?? null;
  if (!(object instanceof Sym)) return null;
  if (kind === "FUNCTION")
    return object.macro?.documentation ?? object.fn?.code.documentation ?? null;
  if (kind === "VARIABLE") return m.documentation.get(object) ?? null;
  if (kind === "TYPE" || kind === "STRUCTURE") return findClass(m, object)?.documentation ?? null;
  return kind === "SETF" ? (object.setter?.code.documentation ?? null) : null;
}

function setterOf(name: Cons): Fn | null {
  return name.cdr instanceof Cons && name.cdr.car instanceof Sym ? name.cdr.car.setter : null;
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
