// Lambda lists, taken apart once. Macros may nest patterns where functions have names.
import { named } from "./define.ts";
import type { Machine } from "./machine.ts";
import { keywordOf } from "./packages.ts";
import { NIL, Sym } from "./symbol.ts";
import { Cons, type Value } from "./values.ts";

/** What is longer goes round. */
const parametersMax = 4_096;

export interface Parameter {
  /** A symbol; in a macro's lambda list also a pattern. */
  readonly name: Value;
  readonly init: Value;
  readonly supplied: Sym | null;
}

export interface LambdaList {
  readonly whole: Value | null;
  readonly environment: Sym | null;
  readonly required: readonly Value[];
  readonly optional: readonly Parameter[];
  readonly rest: Value | null;
  readonly hasKeys: boolean;
  readonly keys: readonly (Parameter & { readonly key: Sym })[];
  readonly allowOtherKeys: boolean;
  readonly aux: readonly Parameter[];
}

type Section = "required" | "optional" | "rest" | "key" | "aux" | "whole" | "environment" | "after";

const sections = new Map<Sym, Section>([
  [named("&OPTIONAL"), "optional"],
  [named("&REST"), "rest"],
  [named("&BODY"), "rest"],
  [named("&KEY"), "key"],
  [named("&AUX"), "aux"],
  [named("&WHOLE"), "whole"],
  [named("&ENVIRONMENT"), "environment"],
]);
const allowOther = named("&ALLOW-OTHER-KEYS");
const order: readonly Section[] = ["required", "optional", "rest", "after", "key", "aux"];

/** `patterns` for macros and `destructuring-bind`: nested lists, `&whole`, `&body`, `&environment` and a dotted end. */
export function parseLambdaList(m: Machine, lambdaList: Value, patterns: boolean): LambdaList {
  const made = {
    whole: null as Value | null,
    environment: null as Sym | null,
    rest: null as Value | null,
    hasKeys: false,
    allowOtherKeys: false,
  };
  const required: Value[] = [];
  const optional: Parameter[] = [];
  const keys: (Parameter & { key: Sym })[] = [];
  const aux: Parameter[] = [];
  let section: Section = "required";
  const fault = (): never => m.programError(`${m.show(lambdaList)} is no valid lambda list`);
  let at = lambdaList;
  let count = 0;
  for (; at instanceof Cons; at = at.cdr) {
    if (++count > parametersMax)
      m.programError(`a lambda list has more than ${parametersMax} parts`);
    const item: Value = at.car;
    const next: Section | undefined = item instanceof Sym ? sections.get(item) : undefined;
    if (item === allowOther) made.allowOtherKeys = true;
    else if (next !== undefined) {
      if (!patterns && (next === "whole" || next === "environment")) fault();
      if (
        order.includes(next) &&
        order.indexOf(next) <= order.indexOf(section) &&
        section !== "required"
      )
        fault();
      if (next === "whole" || next === "environment") {
        const name: Value = at.cdr instanceof Cons ? at.cdr.car : fault();
        if (next === "whole") made.whole = name;
        else made.environment = name instanceof Sym ? name : fault();
        at = at.cdr as Cons;
      } else {
        section = next;
        if (next === "key") made.hasKeys = true;
      }
    } else if (section === "required") required.push(checkedName(m, item, patterns));
    else if (section === "optional") optional.push(parameter(m, item, patterns));
    else if (section === "rest") {
      made.rest = checkedName(m, item, patterns);
      section = "after";
    } else if (section === "key") keys.push(keyParameter(m, item, patterns));
    else if (section === "aux") aux.push(parameter(m, item, patterns));
    else fault();
  }
  if (section === "rest") fault();
  if (at !== NIL) {
    if (!patterns || made.rest !== null) fault();
    made.rest = checkedName(m, at, patterns);
  }
  return { ...made, required, optional, keys, aux };
}

function checkedName(m: Machine, name: Value, patterns: boolean): Value {
  if (name instanceof Sym && name.kind !== "constant") return name;
  if (patterns && (name instanceof Cons || name === NIL)) return name;
  return m.programError(`${m.show(name)} cannot be the name of a variable`);
}

function parameter(m: Machine, item: Value, patterns: boolean): Parameter {
  if (!(item instanceof Cons))
    return { name: checkedName(m, item, patterns), init: NIL, supplied: null };
  const init = item.cdr instanceof Cons ? item.cdr.car : NIL;
  const more = item.cdr instanceof Cons ? item.cdr.cdr : NIL;
  const supplied = more instanceof Cons ? checkedName(m, more.car, false) : null;
  return { name: checkedName(m, item.car, patterns), init, supplied: supplied as Sym | null };
}

function keyParameter(m: Machine, item: Value, patterns: boolean): Parameter & { key: Sym } {
  const head = item instanceof Cons ? item.car : item;
  if (item instanceof Cons && head instanceof Cons) {
    const [key, name] = [head.car, head.cdr instanceof Cons ? head.cdr.car : NIL];
    if (!(key instanceof Sym)) m.programError(`${m.show(key)} cannot be a keyword`);
    return { ...parameter(m, new Cons(name, item.cdr), patterns), key };
  }
  const plain = parameter(m, item, patterns);
  const { name } = plain.name as Sym;
  return { ...plain, key: keywordOf(m, name) };
}
