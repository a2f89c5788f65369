/** Queries about symbols and packages; `forms/packages.ts` changes packages. */
import { defineFunction, defineValues } from "../define.ts";
import { eql, equal, equalp } from "../equality.ts";
import type { Machine } from "../machine.ts";
import {
  allPackages,
  currentPackage,
  findPackage,
  findSymbol,
  intern,
  refuseLocked,
} from "../packages.ts";
import { Str } from "../string.ts";
import { bool, keyword, NIL, Package, Sym, T } from "../symbol.ts";
import type { Value } from "../values.ts";
import { textOf } from "./designators.ts";

export function defineSymbols(): void {
  defineFunction("SYMBOL-NAME symbol", (m, sym) => m.string(symbolOf(m, sym).name));
  defineFunction("SYMBOL-PACKAGE symbol", (m, sym) => homeOf(m, symbolOf(m, sym)));
  defineFunction("MAKE-SYMBOL name", (m, name) => {
    m.alloc(4);
    return new Sym(name instanceof Str ? name.toString() : m.typeError(name, "STRING"), null);
  });
  defineFunction("COPY-SYMBOL symbol &optional copy-properties", (m, sym, isFull = NIL) =>
    copySymbol(m, symbolOf(m, sym), isFull !== NIL),
  );
  defineFunction("GENTEMP &optional prefix package", (m, prefix, pkg) => {
    const home = packageOf(m, pkg);
    const text = prefix === undefined ? "T" : textOf(m, prefix);
    for (let count = 1; ; count += 1) {
      m.tick(1);
      if (findSymbol(home, `${text}${count}`) === undefined)
        return intern(m, home, `${text}${count}`);
    }
  });
  defineInterning();
  definePackageQuestions();
}

function symbolOf(m: Machine, value: Value): Sym {
  return value instanceof Sym ? value : m.typeError(value, "SYMBOL");
}

/** Keywords share one home package; a session sees its own KEYWORD. */
function homeOf(m: Machine, sym: Sym): Value {
  return sym.pkg === null ? NIL : (m.packages.get(sym.pkg.name) ?? sym.pkg);
}

function copySymbol(m: Machine, sym: Sym, isFull: boolean): Sym {
  m.alloc(4);
  const made = new Sym(sym.name, null);
  if (!isFull) return made;
  made.value = sym.value;
  made.fn = sym.fn;
  const plist = m.plists.get(sym);
  if (plist !== undefined) m.plists.set(made, plist);
  return made;
}

export function packageOf(m: Machine, designator: Value | undefined): Package {
  if (designator === undefined) return currentPackage(m);
  const found = findPackage(m, designator);
  return (
    found ??
    m.error("PACKAGE-ERROR", {
      PACKAGE: designator,
      TEXT: new Str(`unknown package ${m.show(designator)}`),
    })
  );
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
