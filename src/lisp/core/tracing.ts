// trace and untrace: calls and answers of chosen functions, on the trace output. The global function is wrapped, so calls through
// its name are seen and calls a compiled function makes to itself as well.

import { defineFunction, defineMacro, form, nativeFunction } from "../define.ts";
import type { Fn } from "../function.ts";
import { refuseLocked } from "../global.ts";
import type { Machine } from "../machine.ts";
import { trace } from "../output.ts";
import { NIL, Sym } from "../symbol.ts";
import { itemsOf, listOf, type Value } from "../values.ts";

interface Traced {
  readonly original: Fn;
  readonly wrapper: Fn;
}

export function defineTracing(): void {
  defineMacro("TRACE", (whole) => form(["%TRACE", ["QUOTE", form(itemsOf(whole.cdr))]]));
  defineMacro("UNTRACE", (whole) => form(["%UNTRACE", ["QUOTE", form(itemsOf(whole.cdr))]]));
  defineFunction("%TRACE", "names", (m: Machine, names: Value) => {
    const wanted = itemsOf(names);
    for (const name of wanted) traceOne(m, name);
    return wanted.length === 0 ? listOf([...tracedIn(m).keys()]) : names;
  });
  defineFunction("%UNTRACE", "names", (m: Machine, names: Value) => {
    const wanted = names === NIL ? [...tracedIn(m).keys()] : itemsOf(names);
    for (const name of wanted) untraceOne(m, name as Sym);
    return listOf(wanted);
  });
}

function tracedIn(m: Machine): Map<Sym, Traced> {
  let traced = m.kept.get("traced") as Map<Sym, Traced> | undefined;
  if (traced === undefined) {
    traced = new Map();
    m.kept.set("traced", traced);
  }
  return traced;
}

function traceOne(m: Machine, name: Value): void {
  if (!(name instanceof Sym)) m.typeError(name, "SYMBOL");
  refuseLocked(m, name, "trace");
  const original = m.fn(name);
  if (tracedIn(m).get(name)?.wrapper === original) return;
  let level = 0;
  const wrapper = nativeFunction(
    name,
    "&rest arguments",
    (inner: Machine, args: Value[]) => {
      const indent = "  ".repeat(level);
      trace(
        inner,
        `${indent}${level}: (${[name, ...args].map((value) => inner.show(value)).join(" ")})\n`,
      );
      level++;
      try {
        const value = inner.apply(original, args);
        const { mv } = inner;
        const shown = (mv ?? [value]).map((one) => inner.show(one)).join(", ");
        trace(inner, `${indent}${level - 1}: ${name.name} returned ${shown}\n`);
        inner.mv = mv;
        return value;
      } finally {
        level--;
      }
    },
    { values: true },
  );
  name.fn = wrapper;
  tracedIn(m).set(name, { original, wrapper });
}

function untraceOne(m: Machine, name: Sym): void {
  const traced = tracedIn(m).get(name);
  if (traced !== undefined && name.fn === traced.wrapper) name.fn = traced.original;
  tracedIn(m).delete(name);
}
