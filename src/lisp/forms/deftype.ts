// `deftype`: a name for a type, perhaps with arguments.

import { defineFunction, defineMacro, form, type Template } from "../define.ts";
import type { Fn } from "../function.ts";
import { noteDefinition, refuseLocked } from "../global.ts";
import type { Machine } from "../machine.ts";
import { NIL, Sym } from "../symbol.ts";
import { sessionTypes } from "../types.ts";
import { Cons, itemsOf, listOf, type Value } from "../values.ts";

export function defineDeftype(): void {
  defineMacro("DEFTYPE", (whole) => {
    const [name = NIL, lambdaList = NIL, ...body] = itemsOf(whole.cdr);
    const args = new Sym("ARGUMENTS", null);
    const parts: Template = [
      "DESTRUCTURING-BIND",
      withStars(lambdaList),
      args,
      ["BLOCK", name, ...body],
    ];
    return form(["%DEFINE-TYPE", ["QUOTE", name], ["FUNCTION", ["LAMBDA", [args], parts]]]);
  });
  defineFunction("%DEFINE-TYPE", "name expander", (m, name: Sym, expander: Fn) => {
    refuseLocked(m, name, "define");
    sessionTypes(m).set(name, (inner: Machine, specifier: Value) =>
      inner.call1(expander, specifier instanceof Cons ? specifier.cdr : NIL),
    );
    noteDefinition(m, "type", name);
    return name;
  });
}

/** An argument that is left out means `*`, not NIL. */
function withStars(lambdaList: Value): Value {
  let isOptional = false;
  return listOf(
    itemsOf(lambdaList).map((item) => {
      if (item instanceof Sym && item.name.startsWith("&"))
        isOptional = item.name === "&OPTIONAL" || item.name === "&KEY";
      else if (isOptional && item instanceof Sym) return form([item, ["QUOTE", "*"]]);
      return item;
    }),
  );
}
