// Method combination: the standard one with qualifiers and next methods, and the short forms, which combine
// the results of all methods with an operator.

import { form, named } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { isKeyword, NIL, type Sym, words } from "../symbol.ts";
import { Opaque, unknownKeyword, type Value } from "../values.ts";
import type { Generic, Method } from "./generics.ts";

export interface Combination {
  /** The qualifiers of methods; null for the standard combination. */
  readonly name: Sym | null;
  readonly operator: Sym | null;
  readonly isReversed: boolean;
  /** True if the operator returns its only argument. */
  readonly isIdentity: boolean;
  /** Of the long form: makes a form from the methods and the options. */
  readonly expander: Fn | null;
  readonly options: readonly Value[];
}

export const standardCombination: Combination = {
  name: null,
  operator: null,
  isReversed: false,
  isIdentity: false,
  expander: null,
  options: [],
};

/** Those of `define-method-combination`. */
export const sessionCombinations = (m: Machine): Map<Sym, Combination> =>
  m.keep("combinations", () => new Map<Sym, Combination>());

export const shortCombinations: ReadonlySet<string> = new Set(
  words("+ AND APPEND LIST MAX MIN NCONC OR PROGN"),
);

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

export function combine(m: Machine, generic: Generic, applicable: readonly Method[]): Effective {
  if (applicable.length === 0)
    return { fn: null, run: noMethod(generic, "applicable"), isKept: false };
  const { operator, expander } = generic.combination;
  if (expander !== null) return long(m, generic, applicable, expander);
  const around = applicable.filter((method) => isQualified(method, "AROUND"));
  const main =
    operator === null ? standard(generic, applicable) : short(m, generic, applicable, operator);
  if (main.isMissing) return { fn: null, run: main.run, isKept: false };
  const single =
    around.length === 0 && main.fn !== null && !checksKeys(generic, applicable) ? main.fn : null;
  const run = around.length === 0 ? main.run : chain(generic, around, main.run);
  return { fn: single, run: withKeyCheck(generic, applicable, run), isKept: true };
}

const isQualified = ({ qualifiers }: Method, name: string): boolean =>
  qualifiers.length === 1 && isKeyword(qualifiers[0], name);

/** The methods without those around them. */
interface Main {
  readonly fn: Fn | null;
  readonly run: Run;
  readonly isMissing?: boolean;
}

function standard(generic: Generic, applicable: readonly Method[]): Main {
  const before = applicable.filter((method) => isQualified(method, "BEFORE"));
  const after = applicable.filter((method) => isQualified(method, "AFTER")).reverse();
  const primary = applicable.filter(({ qualifiers }) => qualifiers.length === 0);
  const [first] = primary;
  if (first === undefined) return { fn: null, run: noMethod(generic, "primary"), isMissing: true };
  const main = chain(generic, primary, null);
  if (before.length === 0 && after.length === 0)
    return { fn: first.usesNext ? null : first.fn, run: main };
  const run: Run = (m, args) => {
    for (const method of before) chain(generic, [method], null)(m, args);
    const answer = main(m, args);
    const values = m.mv;
    for (const method of after) chain(generic, [method], null)(m, args);
    m.mv = values;
    return answer;
  };
  return { fn: null, run };
}

/** Runs the first method; the others are its next methods, and `last` follows them. */
function chain(generic: Generic, [method, ...others]: readonly Method[], last: Run | null): Run {
  if (method === undefined) return last ?? noMethod(generic, "primary");
  const { fn } = method;
  if (!method.usesNext) return (m, args) => m.apply(fn, args);
  const next = others.length === 0 ? last : chain(generic, others, last);
  return (m, args) =>
    m.apply(fn, [
      new Opaque("NEXT-METHOD", { run: next, args, generic } satisfies NextMethod),
      ...args,
    ]);
}

function short(m: Machine, generic: Generic, applicable: readonly Method[], operator: Sym): Main {
  const { name } = generic.combination;
  const isOwn = ({ qualifiers }: Method) =>
    qualifiers.length === 1 && (qualifiers[0] as Sym).name === name?.name;
  const stray = applicable.find((method) => !isOwn(method) && !isQualified(method, "AROUND"));
  if (stray !== undefined)
    m.fail(
      `a method of ${m.show(generic.name)} is qualified with ${m.show(m.list(stray.qualifiers))}, not with ${m.show(name ?? NIL)}`,
    );
  const methods = applicable.filter(isOwn);
  if (methods.length === 0) return { fn: null, run: noMethod(generic, "primary"), isMissing: true };
  if (generic.combination.isReversed) methods.reverse();
  if (generic.combination.isIdentity && methods.length === 1)
    return { fn: null, run: chain(generic, methods, null) };
  const calls = methods.map(({ handle }) => [named("CALL-METHOD"), handle]);
  return { fn: null, run: effective(m, form([operator, ...calls])) };
}

/** The long form of `define-method-combination`. */
function long(
  m: Machine,
  generic: Generic,
  applicable: readonly Method[],
  expander: Fn,
): Effective {
  const methods = m.list(applicable.map(({ handle }) => handle));
  const body = m.apply(expander, [generic.fn, methods, ...generic.combination.options]);
  const run = withKeyCheck(generic, applicable, effective(m, body));
  return { fn: null, run, isKept: true };
}

/** Compiles a form that calls methods with `call-method`. */
function effective(m: Machine, body: Value): Run {
  const lambda = m.call1(m.fn(named("%EFFECTIVE-METHOD")), body);
  const fn = m.services.compile(m, lambda);
  return (inner, args) => inner.call1(fn, inner.list(args));
}

const noMethod =
  (generic: Generic, kind: "applicable" | "primary"): Run =>
  (m, args) =>
    m.apply(m.fn(named(kind === "applicable" ? "NO-APPLICABLE-METHOD" : "%NO-PRIMARY-METHOD")), [
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
