/** Queries about symbols and packages; `forms/packages.ts` changes packages. */

import { write } from "../budgets.ts";
import { classOf, findClass } from "../classes.ts";
import { defineFunction, defineSetter, defineValues, named } from "../define.ts";
import { eql, equal, equalp } from "../equality.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import {
  allPackages,
  currentPackage,
  findPackage,
  findSymbol,
  intern,
  refuseLocked,
} from "../packages.ts";
import { printText } from "../printer.ts";
import { textOf } from "../sequences.ts";
import { Str } from "../string.ts";
import { bool, keyword, NIL, Package, Sym, T } from "../symbol.ts";
import { Cons, Instance, LispClass, Table, type Value, Vec } from "../values.ts";
import { outputOf } from "./streams.ts";

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

function packageOf(m: Machine, designator: Value | undefined): Package {
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
// Introspection: documentation, describe, apropos.

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
  defineFunction("%DESCRIBE object stream", (m, object, stream) => {
    write(m, outputOf(m, stream), `${describeLines(m, object).join("\n")}\n`);
    return NIL;
  });
  defineFunction("%SLOT-NAMES object", (m, object) =>
    object instanceof Instance ? m.list(object.cls.slots.map(({ name }) => name)) : NIL,
  );
  defineFunction("APROPOS-LIST string &optional package", (m, text, pkg) =>
    m.list(symbolsLike(m, text, pkg)),
  );
  defineValues("APROPOS string &optional package", (m, text, pkg) => {
    const lines = symbolsLike(m, text, pkg).map((sym) =>
      [printText(m, sym, true), ...meanings(m, sym)].join(" "),
    );
    write(m, outputOf(m, undefined), lines.map((line) => `${line}\n`).join(""));
    return m.values();
  });
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
  } else if (object instanceof Fn && !object.code.native) object.code.documentation = text;
}

function symbolsLike(m: Machine, text: Value, pkg: Value | undefined): Sym[] {
  const wanted = textOf(m, text).toUpperCase();
  const packages = pkg === undefined || pkg === NIL ? allPackages(m) : [packageOf(m, pkg)];
  const found = new Set<Sym>();
  for (const one of packages.filter(({ name }) => name !== "LISP-SYSTEM")) {
    m.tick(one.symbols.size);
    for (const sym of one.symbols.values())
      if (sym.name.toUpperCase().includes(wanted) && isInUse(sym)) found.add(sym);
  }
  return [...found].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Leaves out names that are only mentioned by the library. */
function isInUse(sym: Sym): boolean {
  return (
    !sym.pkg?.locked ||
    sym.fn !== null ||
    sym.macro !== null ||
    sym.value !== undefined ||
    sym.kind !== "lexical"
  );
}

function meanings(m: Machine, sym: Sym): string[] {
  const found: string[] = [];
  if (sym.macro !== null) found.push("(macro)");
  else if (sym.fn !== null) found.push("(fbound)");
  if (sym.value !== undefined) found.push("(bound)");
  if (findClass(m, sym) !== undefined) found.push("(class)");
  return found;
}

function describeLines(m: Machine, object: Value): string[] {
  const shown = printText(m, object, true);
  if (object instanceof Sym) return [`${shown}`, `  [symbol]`, ...describeSymbol(m, object)];
  if (object instanceof Fn) return [shown, "  [function]", ...describeFunction(object)];
  if (object instanceof Instance)
    return [shown, `  [${kindOf(object.cls)}]`, "", "Slots:", ...slotLines(m, object)];
  if (object instanceof Table)
    return [shown, "  [hash-table]", `  Count: ${object.entries.size}`, `  Test: ${object.test}`];
  if (object instanceof Str || object instanceof Vec)
    return [
      shown,
      `  [${object instanceof Str ? "string" : "vector"}]`,
      `  Length: ${object.length}`,
    ];
  return [shown, `  [${classOf(object).name.name.toLowerCase()}]`];
}

function kindOf(cls: LispClass): string {
  if (cls.kind === "structure") return "structure-object";
  return cls.kind === "condition" ? "condition" : "standard-object";
}

function variableKind(sym: Sym): string {
  if (sym.kind === "constant") return "a constant variable";
  return sym.kind === "special" ? "a special variable" : "an undeclared variable";
}

function slotLines(m: Machine, object: Instance): string[] {
  const width = Math.max(...object.cls.slots.map((slot) => slot.name.name.length), 0);
  return object.cls.slots.map((slot, at) => {
    const value = object.slots[at] ?? slot.shared?.value;
    return `  ${slot.name.name.padEnd(width)} = ${value === undefined ? "#<unbound slot>" : printText(m, value, true)}`;
  });
}

function describeSymbol(m: Machine, sym: Sym): string[] {
  const lines: string[] = [];
  const name = printText(m, sym, true);
  if (sym.value !== undefined) {
    lines.push(
      "",
      `${name} names ${variableKind(sym)}:`,
      `  Value: ${printText(m, sym.value, true)}`,
      ...noteLines(m.documentation.get(sym) ?? null),
    );
  }
  if (sym.macro !== null)
    lines.push("", `${name} names a macro:`, ...noteLines(sym.macro.documentation));
  else if (sym.fn !== null)
    lines.push("", `${name} names a function:`, ...describeFunction(sym.fn));
  const cls = findClass(m, sym);
  if (cls !== undefined)
    lines.push(
      "",
      `${name} names a class:`,
      `  Precedence: ${cls.precedence.map((one) => one.name.name).join(", ")}`,
      ...noteLines(cls.documentation),
    );
  return lines;
}

function describeFunction(fn: Fn): string[] {
  return [
    `  Lambda-list: (${fn.code.lambdaList.toUpperCase()})`,
    ...noteLines(fn.code.documentation),
  ];
}

function noteLines(text: string | null): string[] {
  return text === null
    ? []
    : ["  Documentation:", ...text.split("\n").map((line) => `    ${line}`)];
}
