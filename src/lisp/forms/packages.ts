// `in-package`, and the functions that change packages.
import { defineFunction, defineMacro, form } from "../define.ts";
import type { Machine } from "../machine.ts";
import {
  addPackage,
  allPackages,
  currentPackage,
  findPackage,
  findSymbol,
  keywordOf,
  noteDefinition,
  packageVariable,
} from "../packages.ts";
import { offering } from "../restarts.ts";
import { textOf } from "../sequences.ts";
import { Str } from "../string.ts";
import { NIL, Package, Sym, T } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

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
export function getPackage(m: Machine, designator: Value): Package {
  const found = findPackage(m, designator);
  if (found !== undefined) return found;
  return m.error("PACKAGE-ERROR", {
    PACKAGE: designator,
    TEXT: new Str(`unknown package ${m.show(designator)}`),
  });
}

/** A package that programs may change. */
function ownPackage(m: Machine, designator: Value): Package {
  const found = getPackage(m, designator);
  if (found.locked)
    m.error("GUILDHALL:PACKAGE-LOCK-VIOLATION", {
      PACKAGE: found,
      TEXT: new Str(`the package ${found.name} is locked`),
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
  return listed(symbols).map((item) => (item instanceof Sym ? item : m.typeError(item, "SYMBOL")));
}

function conflict(m: Machine, pkg: Package, name: string, other: Package): never {
  return fault(
    m,
    pkg,
    `${name} would mean two symbols in ${pkg.name}: its own and that of ${other.name}; shadow one of them first`,
  );
}

function fault(m: Machine, pkg: Package, text: string): never {
  return m.error("PACKAGE-ERROR", { PACKAGE: pkg, TEXT: new Str(text) });
}
