// case and typecase with their e- and c- variants.
import { defineFunction, defineMacro, form, named, type Template } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { transferOut, withRestarts } from "../restarts.ts";
import { NIL, Sym, T } from "../symbol.ts";
import { Cons, itemsOf, listOf, type Value } from "../values.ts";
import { fresh, progn } from "./macros.ts";

type Strictness = "plain" | "error" | "correctable";

export function defineCases(): void {
  defineMacro("CASE", (whole, _, m) => expandCase(m, whole, "plain"));
  defineMacro("ECASE", (whole, _, m) => expandCase(m, whole, "error"));
  defineMacro("CCASE", (whole, _, m) => expandCase(m, whole, "correctable"));
  defineMacro("TYPECASE", (whole, _, m) => expandTypecase(m, whole, "plain"));
  defineMacro("ETYPECASE", (whole, _, m) => expandTypecase(m, whole, "error"));
  defineMacro("CTYPECASE", (whole, _, m) => expandTypecase(m, whole, "correctable"));
  defineFunction(
    "%CASE-FAILED name datum expected possibilities",
    (m, name, datum, expected, possibilities) =>
      m.error("%CASE-FAILURE", {
        NAME: name,
        DATUM: datum,
        "EXPECTED-TYPE": expected,
        POSSIBILITIES: possibilities,
      }),
  );
  defineFunction("%WITH-STORE-VALUE signaller", withStoreValue);
}

interface Clause {
  readonly keys: Value;
  readonly body: Value[];
}

function clausesOf(m: Machine, items: readonly Value[]): Clause[] {
  return items.map((item) =>
    item instanceof Cons
      ? { keys: item.car, body: itemsOf(item.cdr) }
      : m.programError(`${m.show(item)} is not a clause`),
  );
}

const isOtherwise = (keys: Value): boolean =>
  keys === T ||
  (keys instanceof Sym && keys.name === "OTHERWISE" && keys.pkg?.name === "COMMON-LISP");

function expandCase(m: Machine, whole: Cons, strictness: Strictness): Value {
  const [key, ...items] = itemsOf(whole.cdr) as [Value, ...Value[]];
  const clauses = clausesOf(m, items);
  const value = fresh("KEY");
  const wanted = clauses.flatMap(({ keys }) => {
    if (keys instanceof Cons) return itemsOf(keys);
    return keys === NIL ? [] : [keys];
  });
  const failure = () =>
    failed(whole, strictness, key, value, form(["QUOTE", form(["MEMBER", ...wanted])]), wanted);
  const chosen = clauses.reduceRight<Template>(
    (rest, { keys, body }, index) => {
      if (strictness === "plain" && isOtherwise(keys) && index === clauses.length - 1)
        return progn(body.length === 0 ? [NIL] : body);
      return ["IF", keyTest(value, keys), progn(body.length === 0 ? [NIL] : body), rest];
    },
    strictness === "plain" ? NIL : failure(),
  );
  return wrapped(strictness, key, value, chosen);
}

function keyTest(value: Sym, keys: Value): Template {
  if (keys === NIL) return "NIL";
  if (!(keys instanceof Cons)) return ["EQL", value, ["QUOTE", keys]];
  return ["OR", ...itemsOf(keys).map((key) => ["EQL", value, ["QUOTE", key]])];
}

function expandTypecase(m: Machine, whole: Cons, strictness: Strictness): Value {
  const [key, ...items] = itemsOf(whole.cdr) as [Value, ...Value[]];
  const clauses = clausesOf(m, items);
  const value = fresh("KEY");
  const types = clauses.map(({ keys }) => keys);
  const chosen = clauses.reduceRight<Template>(
    (rest, { keys, body }) => {
      const result = progn(body.length === 0 ? [NIL] : body);
      return isOtherwise(keys) && strictness === "plain"
        ? result
        : ["IF", ["TYPEP", value, ["QUOTE", keys]], result, rest];
    },
    strictness === "plain"
      ? NIL
      : failed(whole, strictness, key, value, form(["QUOTE", form(["OR", ...types])]), types),
  );
  return wrapped(strictness, key, value, chosen);
}

function wrapped(strictness: Strictness, key: Value, value: Sym, chosen: Template): Value {
  if (strictness !== "correctable") return form(["LET", [[value, key]], chosen]);
  const [again, answer] = [fresh("AGAIN"), fresh("ANSWER")];
  return form([
    "BLOCK",
    answer,
    [
      "TAGBODY",
      again,
      ["LET", [[value, key]], ["RETURN-FROM", answer, substituteAgain(chosen, again)]],
    ],
  ]);
}

/** A correctable case stores the new key and starts again. */
function substituteAgain(chosen: Template, again: Sym): Template {
  if (chosen === againMark) return again;
  return Array.isArray(chosen)
    ? chosen.map((part: Template) => substituteAgain(part, again))
    : chosen;
}

const againMark = new Sym("AGAIN-MARK", null);

function failed(
  whole: Cons,
  strictness: Strictness,
  key: Value,
  value: Sym,
  expected: Value,
  wanted: readonly Value[],
): Template {
  const signal: Template = [
    "%CASE-FAILED",
    ["QUOTE", whole.car],
    value,
    expected,
    ["QUOTE", listOf(wanted)],
  ];
  if (strictness === "error") return signal;
  return ["PROGN", ["SETF", key, ["%WITH-STORE-VALUE", ["LAMBDA", [], signal]]], ["GO", againMark]];
}

/** Offers STORE-VALUE while `signaller` runs, and returns the stored value. */
function withStoreValue(m: Machine, signaller: Value): Value {
  return transferOut(m, (leave) =>
    withRestarts(
      m,
      [
        {
          name: named("STORE-VALUE"),
          report: () => "Supply a new value.",
          invoke: (_, args) => leave(args[0] ?? NIL),
        },
      ],
      () => m.call0(signaller as Fn),
    ),
  );
}
