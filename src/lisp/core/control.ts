// catch and throw, unwind-protect, progv, funcall, apply and multiple values.
import { Ended } from "../budgets.ts";
import { defineFunction, defineMacro, defineValues, lisp } from "../define.ts";
import type { Fn } from "../function.ts";
import { dearSteps, type Machine } from "../machine.ts";
import { refuseLocked } from "../packages.ts";
import { catching, dynamicState, restoreState, Transfer } from "../restarts.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, itemsOf, type Value } from "../values.ts";

interface CatchTag {
  readonly tag: Value;
}

export function defineControl(): void {
  defineValues("%CATCH tag thunk", catchTag);
  defineFunction("%THROW tag values", throwTag);
  defineValues("%UNWIND-PROTECT thunk cleanup", unwindProtect);
  defineValues("%PROGV names values thunk", withDynamic);
  defineMacro("CATCH", (whole) => {
    const [tag, ...body] = itemsOf(whole.cdr);
    return lisp`(%catch ${tag} ${thunk(body)})`;
  });
  defineMacro("THROW", (whole) => {
    const [tag, value] = itemsOf(whole.cdr);
    return lisp`(%throw ${tag} (multiple-value-list ${value}))`;
  });
  defineMacro("UNWIND-PROTECT", (whole) => {
    const [first, ...cleanup] = itemsOf(whole.cdr);
    return lisp`(%unwind-protect ${thunk([first ?? NIL])} ${thunk(cleanup)})`;
  });
  defineMacro("PROGV", (whole) => {
    const [names, values, ...body] = itemsOf(whole.cdr);
    return lisp`(%progv ${names} ${values} ${thunk(body)})`;
  });
}

export const thunk = (body: readonly Value[]): Value => lisp`(lambda () (progn @${body}))`;

function catchTag(m: Machine, tag: Value, body: Fn): Value {
  const entry: CatchTag = { tag };
  m.catchTags.push(entry);
  const mark = m.catchTags.length - 1;
  try {
    return catching(m, entry, () => m.call0(body));
  } finally {
    m.catchTags.length = mark;
  }
}

function throwTag(m: Machine, tag: Value, values: Value): Value {
  const entry = (m.catchTags as CatchTag[]).findLast((one) => one.tag === tag);
  if (entry === undefined)
    return m.error("CONTROL-ERROR", { TEXT: m.string(`no catch for the tag ${m.show(tag)}`) });
  const all = itemsOf(values);
  throw new Transfer(entry, all[0] ?? NIL, all.length === 1 ? null : all);
}

function unwindProtect(m: Machine, body: Fn, cleanup: Fn): Value {
  const state = dynamicState(m);
  let value: Value;
  try {
    value = m.call0(body);
  } catch (thrown) {
    // Once the grace of a budget is used up, no cleanup can run.
    if (thrown instanceof Ended) throw thrown;
    restoreState(m, state);
    m.tick(dearSteps);
    m.call0(cleanup);
    throw thrown;
  }
  const { mv } = m;
  m.call0(cleanup);
  m.mv = mv;
  return value;
}

function withDynamic(m: Machine, names: Value, values: Value, body: Fn): Value {
  const mark = m.bindings.length;
  try {
    bindAll(m, names, values);
    return m.call0(body);
  } finally {
    m.unbindTo(mark);
  }
}

/** Names without a value are unbound. */
function bindAll(m: Machine, names: Value, values: Value): void {
  let value = values;
  for (const name of itemsOf(names)) {
    if (!(name instanceof Sym)) m.typeError(name, "symbol");
    if (name.kind === "constant")
      m.programError(`${m.show(name)} is a constant and cannot be bound`);
    if (name.kind === "lexical") refuseLocked(m, name, "bind");
    m.bind(name, value instanceof Cons ? value.car : undefined);
    value = value instanceof Cons ? value.cdr : NIL;
  }
}

export function defineCalling(): void {
  defineValues("VALUES &rest values", (m, values) => m.values(...values));
  defineValues("VALUES-LIST list", (m, list) => m.values(...spread(m, list)));
  defineValues("FUNCALL function &rest arguments", (m, fn, args) => m.apply(m.fn(fn), args));
  defineValues("APPLY function &rest arguments", applyTo);
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
