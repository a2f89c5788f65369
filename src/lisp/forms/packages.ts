// `defpackage`, `in-package`, and the functions that change packages.
import { defineFunction, defineMacro, form, named, type Template } from "../define.ts";
import { textOf } from "../library/designators.ts";
import type { Machine } from "../machine.ts";
import { currentPackage, findPackage, packageVariable } from "../packages.ts";
import { Str } from "../string.ts";
import { NIL, type Package, type Sym, T } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";
import { isKeyword } from "./keywords.ts";
import {
  addUse,
  createPackage,
  deletePackage,
  exportSymbol,
  getPackage,
  importSymbol,
  ownPackage,
  shadowingImport,
  shadowName,
  symbolIn,
  symbolList,
  symbolsOf,
} from "./package-operations.ts";

export function definePackages(): void {
  defineMacro("DEFPACKAGE", (whole) => form(["%DEFINE-PACKAGE", ["QUOTE", whole.cdr]]));
  defineFunction("%DEFINE-PACKAGE", "definition", (m, definition: Value) =>
    definePackage(m, itemsOf(definition)),
  );
  defineMacro("IN-PACKAGE", (whole) =>
    form(["%IN-PACKAGE", ["QUOTE", whole.cdr instanceof Cons ? whole.cdr.car : NIL]]),
  );
  defineFunction("%IN-PACKAGE", "name", (m, name: Value) => {
    packageVariable.value = getPackage(m, name);
    return packageVariable.value;
  });
  defineChanges();
  defineFunction("%PACKAGE-SYMBOLS", "package kind", (m, pkg: Value, kind: Sym) =>
    m.list(symbolsOf(getPackage(m, pkg), kind.name)),
  );
  for (const [name, kind] of [
    ["DO-SYMBOLS", ":ACCESSIBLE"],
    ["DO-EXTERNAL-SYMBOLS", ":EXTERNAL"],
  ] as const) {
    defineMacro(name, (whole) =>
      overSymbols(itemsOf(whole.cdr), (pkg) => ["%PACKAGE-SYMBOLS", pkg, kind]),
    );
  }
}

function defineChanges(): void {
  const change = (name: string, apply: (m: Machine, pkg: Package, sym: Sym) => void) => {
    defineFunction(name, "symbols &optional package", (m, symbols: Value, pkg?: Value) => {
      const target = pkg === undefined ? ownPackage(m, currentPackage(m)) : ownPackage(m, pkg);
      for (const sym of symbolList(m, symbols)) apply(m, target, sym);
      return T;
    });
  };
  change("EXPORT", exportSymbol);
  change("UNEXPORT", (_, pkg, sym) => void pkg.external.delete(sym.name));
  change("IMPORT", importSymbol);
  change("SHADOWING-IMPORT", (_, pkg, sym) => shadowingImport(pkg, sym));
  defineFunction("SHADOW", "names &optional package", (m, names: Value, pkg?: Value) => {
    const target = ownPackage(m, pkg ?? currentPackage(m));
    for (const name of listed(names)) shadowName(m, target, textOf(m, name));
    return T;
  });
  defineFunction("USE-PACKAGE", "packages &optional package", (m, packages: Value, pkg?: Value) => {
    const target = ownPackage(m, pkg ?? currentPackage(m));
    for (const used of listed(packages)) addUse(m, target, getPackage(m, used));
    return T;
  });
  defineFunction(
    "UNUSE-PACKAGE",
    "packages &optional package",
    (m, packages: Value, pkg?: Value) => {
      const target = ownPackage(m, pkg ?? currentPackage(m));
      const gone = listed(packages).map((used) => getPackage(m, used));
      target.uses = target.uses.filter((used) => !gone.includes(used));
      return T;
    },
  );
  defineFunction(
    "MAKE-PACKAGE",
    "name &key nicknames use",
    (m, name: Value, nicknames: Value = NIL, use: Value = NIL) =>
      createPackage(
        m,
        textOf(m, name),
        itemsOf(nicknames).map((one) => textOf(m, one)),
        itemsOf(use).map((one) => getPackage(m, one)),
      ),
  );
  defineFunction("DELETE-PACKAGE", "package", (m, pkg: Value) => {
    deletePackage(m, ownPackage(m, pkg));
    return T;
  });
}

const listed = (value: Value): Value[] =>
  value instanceof Cons || value === NIL ? itemsOf(value) : [value];

/** Defining a package again adds to it; what it had stays. */
function definePackage(m: Machine, [name = NIL, ...options]: readonly Value[]): Value {
  const given = options.map((option): [Sym, Value[]] => [
    (option as Cons).car as Sym,
    itemsOf((option as Cons).cdr),
  ]);
  const all = (key: string): Value[] =>
    given.flatMap(([option, args]) => (isKeyword(option, key) ? args : []));
  const texts = (key: string): string[] => all(key).map((one) => textOf(m, one));
  const known = findPackage(m, new Str(textOf(m, name)));
  const pkg =
    known === undefined
      ? createPackage(m, textOf(m, name), texts("NICKNAMES"), [])
      : ownPackage(m, known);
  const [documentation] = all("DOCUMENTATION");
  if (documentation instanceof Str) pkg.documentation = documentation.toString();
  for (const one of texts("SHADOW")) shadowName(m, pkg, one);
  for (const [source, ...names] of from(given, "SHADOWING-IMPORT-FROM"))
    for (const one of names)
      shadowingImport(pkg, symbolIn(m, getPackage(m, source as Value), textOf(m, one)));
  for (const used of all("USE")) addUse(m, pkg, getPackage(m, used));
  for (const [source, ...names] of from(given, "IMPORT-FROM"))
    for (const one of names)
      importSymbol(m, pkg, symbolIn(m, getPackage(m, source as Value), textOf(m, one)));
  for (const one of texts("INTERN")) symbolIn(m, pkg, one);
  for (const one of texts("EXPORT")) exportSymbol(m, pkg, symbolIn(m, pkg, one));
  return pkg;
}

const from = (given: readonly [Sym, Value[]][], key: string): Value[][] =>
  given.flatMap(([option, args]) => (isKeyword(option, key) ? [args] : []));

/** `(do-symbols (variable package result) body)`. */
function overSymbols(
  [head = NIL, ...body]: readonly Value[],
  symbols: (pkg: Template) => Template,
): Value {
  const [variable = NIL, pkg = named("*PACKAGE*"), result = NIL] = itemsOf(head);
  return form(["DOLIST", [variable, symbols(pkg), result], ...body]);
}
