// What can be done to packages. A name must not come to mean two symbols in one package, unless it is shadowed there.
import { noteDefinition } from "../global.ts";
import type { Machine } from "../machine.ts";
import { addPackage, findPackage, findSymbol, intern, keywordOf } from "../packages.ts";
import { Str } from "../string.ts";
import { NIL, Package, Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

/** Refuses what names no package. */
export function getPackage(m: Machine, designator: Value): Package {
  const found = findPackage(m, designator);
  if (found !== undefined) return found;
  return m.error("PACKAGE-ERROR", {
    PACKAGE: designator,
    TEXT: new Str(`there is no package ${m.show(designator)}`),
  });
}

/** A package a program may change. */
export function ownPackage(m: Machine, designator: Value): Package {
  const found = getPackage(m, designator);
  if (found.locked)
    m.error("GUILDHALL:PACKAGE-LOCK-VIOLATION", {
      PACKAGE: found,
      TEXT: new Str(`the package ${found.name} is locked`),
    });
  return found;
}

export function createPackage(
  m: Machine,
  name: string,
  nicknames: readonly string[],
  uses: readonly Package[],
): Package {
  const taken = [name, ...nicknames].find((one) => m.packages.has(one));
  if (taken !== undefined)
    return fault(m, m.packages.get(taken) as Package, `there is a package ${taken} already`);
  m.alloc(100);
  const made = new Package(name);
  made.nicknames = [...nicknames];
  addPackage(m, made);
  noteDefinition(m, "package", keywordOf(m, name));
  for (const used of uses) addUse(m, made, used);
  return made;
}

export function deletePackage(m: Machine, pkg: Package): void {
  for (const [name, found] of m.packages) if (found === pkg) m.packages.delete(name);
  for (const sym of pkg.symbols.values()) if (sym.pkg === pkg) sym.pkg = null;
}

export function addUse(m: Machine, pkg: Package, used: Package): void {
  if (pkg === used || pkg.uses.includes(used)) return;
  for (const name of used.external) {
    const here = findSymbol(pkg, name)?.sym;
    if (here !== undefined && here !== used.symbols.get(name) && !pkg.shadowing.has(name))
      conflict(m, pkg, name, used);
  }
  pkg.uses = [...pkg.uses, used];
}

export function exportSymbol(m: Machine, pkg: Package, sym: Sym): void {
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

export function importSymbol(m: Machine, pkg: Package, sym: Sym): void {
  const found = findSymbol(pkg, sym.name)?.sym;
  if (found !== undefined && found !== sym && !pkg.shadowing.has(sym.name))
    fault(
      m,
      pkg,
      `${pkg.name} has another symbol ${sym.name} already; use SHADOWING-IMPORT to replace it`,
    );
  pkg.symbols.set(sym.name, sym);
  sym.pkg ??= pkg;
}

export function shadowingImport(pkg: Package, sym: Sym): void {
  pkg.symbols.set(sym.name, sym);
  pkg.shadowing.add(sym.name);
}

export function shadowName(m: Machine, pkg: Package, name: string): void {
  if (!pkg.symbols.has(name)) {
    m.alloc(4);
    pkg.symbols.set(name, new Sym(name, pkg));
  }
  pkg.shadowing.add(name);
}

/** The symbol a name means in a package it is imported from. */
export function symbolIn(m: Machine, pkg: Package, name: string): Sym {
  return findSymbol(pkg, name)?.sym ?? intern(m, pkg, name);
}

/** `accessible`, `present` or `external` symbols. */
export function symbolsOf(pkg: Package, kind: string): Sym[] {
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

/** A list of symbols, or one. */
export function symbolList(m: Machine, symbols: Value): Sym[] {
  const items = symbols instanceof Cons || symbols === NIL ? itemsOf(symbols) : [symbols];
  return items.map((item) => (item instanceof Sym ? item : m.typeError(item, "SYMBOL")));
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
