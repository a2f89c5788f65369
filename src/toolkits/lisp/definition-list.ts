import type { Machine } from "../../lisp/machine.ts";
import { allPackages } from "../../lisp/packages.ts";
import type { Package, Sym } from "../../lisp/values.ts";
import { isToolPackage } from "./powers.ts";
import type { Definition, DefinitionType } from "./protocol.ts";

/** A definition, and the object it is: another one under the same name is a new definition. */
export interface Defined extends Definition {
  readonly object: object | undefined;
}

const types: Readonly<Record<DefinitionType, readonly Definition["type"][]>> = {
  all: ["function", "macro", "variable", "class"],
  functions: ["function"],
  variables: ["variable"],
  macros: ["macro"],
  classes: ["class"],
};

/** What programs have defined in a session so far, by name. */
export function listDefined(m: Machine): readonly Defined[] {
  const own = allPackages(m).filter((pkg) => !pkg.locked && !isToolPackage(pkg));
  const found = own.flatMap((pkg) => [...pkg.symbols.values()].filter((symbol) => symbol.pkg === pkg).flatMap((symbol) => definedBy(m, symbol, pkg)));
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function definedBy(m: Machine, symbol: Sym, pkg: Package): Defined[] {
  const name = pkg.name === "COMMON-LISP-USER" ? symbol.name : `${pkg.name}::${symbol.name}`;
  const cls = m.classes.get(symbol);
  const defined: Defined[] = [];
  const add = (type: Definition["type"], object: object | undefined, documentation: string | null | undefined): void => {
    defined.push({ type, name, object, ...(documentation ? { documentation } : {}) });
  };
  if (symbol.fn) add("function", symbol.fn, symbol.fn.code.documentation);
  if (symbol.macro) add("macro", symbol.macro, symbol.macro.documentation);
  if (symbol.kind !== "lexical") add("variable", undefined, undefined);
  if (cls) add("class", cls, cls.documentation);
  return defined;
}

/** As an answer tells of them. */
export function tellDefined(defined: readonly Defined[], type: DefinitionType = "all"): readonly Definition[] {
  return defined.filter((one) => types[type].includes(one.type)).map(({ object: _object, ...definition }) => definition);
}

/** What was not there before, or is another object now. */
export function newlyDefined(before: readonly Defined[], after: readonly Defined[]): readonly Defined[] {
  const known = new Map(before.map((one) => [`${one.type} ${one.name}`, one.object]));
  return after.filter((one) => !known.has(`${one.type} ${one.name}`) || known.get(`${one.type} ${one.name}`) !== one.object);
}
