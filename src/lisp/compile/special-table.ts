// The special forms, by name. `defineSpecial` is for forms that no macro over others can say.
import { named } from "../define.ts";
import type { Sym } from "../symbol.ts";
import type { Cons, Value } from "../values.ts";
import type { Analyser, Place } from "./analyse.ts";
import type { Node } from "./nodes.ts";
import type { Scope } from "./scope.ts";

/** `operands` is the rest of the form. */
export type AnalyseSpecial = (
  analyser: Analyser,
  operands: Value,
  scope: Scope,
  place: Place,
  form: Cons,
) => Node;

const table = new Map<Sym, AnalyseSpecial>();

export function defineSpecial(name: string, analyse: AnalyseSpecial): void {
  table.set(named(name), analyse);
}

export function findSpecial(name: Sym): AnalyseSpecial | undefined {
  return table.get(name);
}
