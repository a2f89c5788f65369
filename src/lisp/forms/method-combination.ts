// Method combination: the standard one with qualifiers and next methods, and those of `define-method-combination`.

import { named } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { isKeyword, type Sym } from "../symbol.ts";
import { Opaque, unknownKeyword, type Value } from "../values.ts";
import type { Generic, Method } from "./generics.ts";

export interface Combination {
  /** Makes a form from the generic function, the methods and the options; null for the standard combination. */
  readonly expander: Fn | null;
  readonly options: readonly Value[];
}

export const standardCombination: Combination = { expander: null, options: [] };

/** The expanders of `define-method-combination`. */
export const sessionCombinations = (m: Machine): Map<Sym, Fn> =>
  m.keep("combinations", () => new Map<Sym, Fn>());

type Run = (m: Machine, args: Value[]) => Value;

/** The effective method. `fn` is set if it is just one function. */
export interface Effective {
  readonly fn: Fn | null;
  readonly run: Run;
  /** False if the result must not be cached. */
  readonly isKept: boolean;
}

export interface NextMethod {
  /** Null if there is none. */
  readonly run: Run | null;
  readonly args: Value[];
  readonly generic: Generic;
}

/** Calls a method that gets the next one, and makes that first. */
export function callWithNext(m: Machine, fn: Fn, next: NextMethod): Value {
  return m.apply(fn, [new Opaque("NEXT-METHOD", next), ...next.args]);
}

export function combine(m: Machine, generic: Generic, applicable: readonly Method[]): Effective {
  const { expander, options } = generic.combination;
  if (applicable.length > 0 && expander !== null) {
    const methods = m.list(applicable.map(({ handle }) => handle));
    const body = m.apply(expander, [generic.fn, methods, ...options]);
    return { fn: null, run: withKeyCheck(generic, applicable, compiled(m, body)), isKept: true };
  }
  const qualified = (name: string): Method[] =>
    applicable.filter(
      ({ qualifiers }) => qualifiers.length === 1 && isKeyword(qualifiers[0], name),
    );
  const primary = applicable.filter(({ qualifiers }) => qualifiers.length === 0);
  const [first] = primary;
  if (first === undefined)
    return { fn: null, run: noMethod(generic, applicable.length > 0), isKept: false };
  const [around, before, after] = [qualified("AROUND"), qualified("BEFORE"), qualified("AFTER")];
  const main = withAuxiliary(generic, before, chain(generic, primary, null), after.reverse());
  const isSingle = around.length + before.length + after.length === 0 && !first.usesNext;
  const run = around.length === 0 ? main : chain(generic, around, main);
  return {
    fn: isSingle && !checksKeys(generic, applicable) ? first.fn : null,
    run: withKeyCheck(generic, applicable, run),
    isKept: true,
  };
}

function withAuxiliary(
  generic: Generic,
  before: readonly Method[],
  main: Run,
  after: readonly Method[],
): Run {
  if (before.length + after.length === 0) return main;
  return (m, args) => {
    for (const method of before) chain(generic, [method], null)(m, args);
    const answer = main(m, args);
    const values = m.mv;
    for (const method of after) chain(generic, [method], null)(m, args);
    m.mv = values;
    return answer;
  };
}

/** Runs the first method; the others are its next methods, and `last` follows them. */
function chain(generic: Generic, [method, ...others]: readonly Method[], last: Run | null): Run {
  if (method === undefined) return last ?? noMethod(generic, true);
  const { fn } = method;
  if (!method.usesNext) return (m, args) => m.apply(fn, args);
  const run = others.length === 0 ? last : chain(generic, others, last);
  return (m, args) => callWithNext(m, fn, { run, args, generic });
}

/** Compiles a form that calls methods with `call-method`. */
function compiled(m: Machine, body: Value): Run {
  const lambda = m.call1(m.fn(named("%EFFECTIVE-METHOD")), body);
  const fn = m.services.compile(m, lambda);
  return (inner, args) => inner.call1(fn, inner.list(args));
}

const noMethod =
  (generic: Generic, isApplicable: boolean): Run =>
  (m, args) =>
    m.apply(m.fn(named(isApplicable ? "%NO-PRIMARY-METHOD" : "NO-APPLICABLE-METHOD")), [
      generic.fn,
      ...args,
    ]);

// ---- keyword arguments: a call may use those of all applicable methods

const checksKeys = (generic: Generic, applicable: readonly Method[]): boolean =>
  applicable.some(({ shape }) => shape.keys !== null) &&
  ![generic, ...applicable].some(
    ({ shape }) => shape.allowOthers || (shape.rest && shape.keys === null),
  );

function withKeyCheck(generic: Generic, applicable: readonly Method[], run: Run): Run {
  if (!checksKeys(generic, applicable)) return run;
  const known = new Set<Value>([generic, ...applicable].flatMap(({ shape }) => shape.keys ?? []));
  const from = generic.shape.required + generic.shape.optional;
  return (m, args) => {
    const unknown = unknownKeyword(args, from, (key) => known.has(key));
    if (unknown !== undefined)
      m.programError(
        `no method of ${m.show(generic.name)} takes the keyword argument ${m.show(unknown)}`,
      );
    return run(m, args);
  };
}
