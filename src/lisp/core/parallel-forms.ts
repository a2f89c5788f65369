// pmap and in-parallel.

import { stepCall } from "../compile/stepping.ts";
import { defineFunction, defineMacro, form, nativeFunction } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { runParallel } from "../parallel.ts";
import { elements } from "../sequences.ts";
import { NIL } from "../symbol.ts";
import { itemsOf, type Value } from "../values.ts";

export function defineParallel(): void {
  defineFunction("GUILDHALL:PMAP", "function list &rest more-lists", pmap, {
    documentation:
      "Like mapcar, but up to 8 tool calls wait at the same time. Takes lists and vectors; answers a list.",
  });
  defineFunction("%IN-PARALLEL", "&rest thunks", (m: Machine, thunks: Value[]) =>
    m.list(runParallel(m, thunks as Fn[])),
  );
  defineMacro(
    "GUILDHALL:IN-PARALLEL",
    (whole) => form(["%IN-PARALLEL", ...itemsOf(whole.cdr).map((one) => ["LAMBDA", [], one])]),
    "Evaluates the forms with their tool calls side by side; answers the list of their values.",
  );
}

function pmap(m: Machine, designator: Value, first: Value, more: Value[]): Value {
  const fn = m.fn(designator);
  const columns = [first, ...more].map((sequence) => elements(m, sequence, undefined, undefined));
  const count = Math.min(...columns.map((column) => column.length));
  m.alloc(count * 4);
  const branches: Fn[] = [];
  for (let at = 0; at < count; at++) {
    const args = columns.map((column) => column[at] ?? NIL);
    branches.push(
      nativeFunction(fn.code.name, "", (inner: Machine) => inner.apply(fn, [...args]), {
        values: true,
        step: (inner) => stepCall(inner, fn, [...args]),
      }),
    );
  }
  return m.list(runParallel(m, branches));
}
