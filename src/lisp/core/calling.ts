// funcall, apply and multiple values as functions.
import { stepCall } from "../compile/stepping.ts";
import { defineFunction } from "../define.ts";
import type { Machine } from "../machine.ts";
import { NIL } from "../symbol.ts";
import { Cons, type Value } from "../values.ts";

export function defineCalling(): void {
  defineFunction("VALUES", "&rest values", (m: Machine, values: Value[]) => m.values(...values), {
    values: true,
  });
  defineFunction("VALUES-LIST", "list", (m: Machine, list: Value) => m.values(...spread(m, list)), {
    values: true,
  });
  defineFunction(
    "FUNCALL",
    "function &rest arguments",
    (m: Machine, fn: Value, args: Value[]) => m.apply(m.fn(fn), args),
    {
      values: true,
      step: (m, [fn, ...args]) => stepCall(m, m.fn(fn as Value), args),
    },
  );
  defineFunction("APPLY", "function &rest arguments", applyTo, {
    values: true,
    step: (m, [fn, ...args]) => stepCall(m, m.fn(fn as Value), spreadLast(m, args)),
  });
}

function applyTo(m: Machine, fn: Value, args: Value[]): Value {
  return m.apply(m.fn(fn), spreadLast(m, args));
}

function spreadLast(m: Machine, args: Value[]): Value[] {
  const last = args.pop();
  if (last === undefined)
    return m.programError("apply takes a function and at least a list of arguments");
  return [...args, ...spread(m, last)];
}

function spread(m: Machine, list: Value): Value[] {
  const items: Value[] = [];
  let at = list;
  for (; at instanceof Cons; at = at.cdr) {
    items.push(at.car);
    if (items.length % 1024 === 0) m.tick(1024);
    if (items.length > 100_000) m.programError("more than 100,000 arguments in one call");
  }
  if (at !== NIL) m.typeError(list, "LIST");
  return items;
}
