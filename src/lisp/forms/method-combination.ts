// Method combination: the standard one with qualifiers and next methods, and the short forms, which combine
// the results of all methods with an operator.
import { named } from "../define.ts";
import type { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { isKeyword, NIL, type Sym } from "../symbol.ts";
import { Opaque, type Value } from "../values.ts";
import type { Generic, Method } from "./generics.ts";

export interface Combination {
  /** Null for the standard combination. */
  readonly operator: Sym | null;
  readonly isReversed: boolean;
}

export const standardCombination: Combination = { operator: null, isReversed: false };

export const shortCombinations: ReadonlySet<string> = new Set([
  "+",
  "AND",
  "APPEND",
  "LIST",
  "MAX",
  "MIN",
  "NCONC",
  "OR",
  "PROGN",
]);

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
  const { operator } = generic.combination;
  const around = applicable.filter((method) => isQualified(method, "AROUND"));
  const main =
    operator === null ? standard(generic, applicable) : short(m, generic, applicable, operator);
  const single =
    around.length === 0 && main.fn !== null && !checksKeys(generic, applicable) ? main.fn : null;
  const run = around.length === 0 ? main.run : chain(generic, around, main.run);
  return { fn: single, run: withKeyCheck(generic, applicable, run), isKept: true };
}

const isQualified = ({ qualifiers }: Method, name: string): boolean =>
  qualifiers.length === 1 && isKeyword(qualifiers[0], name);

function standard(generic: Generic, applicable: readonly Method[]): { fn: Fn | null; run: Run } {
  const before = applicable.filter((method) => isQualified(method, "BEFORE"));
  const after = applicable.filter((method) => isQualified(method, "AFTER")).reverse();
  const primary = applicable.filter(({ qualifiers }) => qualifiers.length === 0);
  const [first] = primary;
  if (first === undefined) return { fn: null, run: noMethod(generic, "primary") };
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

function short(
  m: Machine,
  generic: Generic,
  applicable: readonly Method[],
  operator: Sym,
): { fn: Fn | null; run: Run } {
  const methods = applicable.filter(
    ({ qualifiers }) =>
      qualifiers.length === 1 &&
      qualifiers[0] instanceof Object &&
      (qualifiers[0] as Sym).name === operator.name,
  );
  if (methods.length === 0) return { fn: null, run: noMethod(generic, "primary") };
  if (generic.combination.isReversed) methods.reverse();
  const runs = methods.map((method) => chain(generic, [method], null));
  switch (operator.name) {
    case "PROGN":
      return { fn: null, run: (mm, args) => runs.reduce<Value>((_, run) => run(mm, args), NIL) };
    case "AND":
      return { fn: null, run: (mm, args) => until(mm, runs, args, (answer) => answer === NIL) };
    case "OR":
      return { fn: null, run: (mm, args) => until(mm, runs, args, (answer) => answer !== NIL) };
    default: {
      const join = m.fn(named(operator.name));
      return {
        fn: null,
        run: (mm, args) =>
          mm.apply(
            join,
            runs.map((run) => run(mm, args)),
          ),
      };
    }
  }
}

function until(
  m: Machine,
  runs: readonly Run[],
  args: Value[],
  isEnough: (answer: Value) => boolean,
): Value {
  let answer: Value = NIL;
  for (const run of runs) {
    answer = run(m, args);
    if (isEnough(answer)) break;
  }
  return answer;
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
  const known = new Set([generic, ...applicable].flatMap(({ shape }) => shape.keys ?? []));
  const from = generic.shape.required + generic.shape.optional;
  return (m, args) => {
    refuseUnknownKeys(m, generic, known, args, from);
    return run(m, args);
  };
}

function refuseUnknownKeys(
  m: Machine,
  generic: Generic,
  known: ReadonlySet<Value>,
  args: readonly Value[],
  from: number,
): void {
  for (let at = from; at < args.length; at += 2)
    if (isKeyword(args[at], "ALLOW-OTHER-KEYS") && (args[at + 1] ?? NIL) !== NIL) return;
  for (let at = from; at < args.length; at += 2) {
    const key = args[at] as Value;
    if (!known.has(key) && !isKeyword(key, "ALLOW-OTHER-KEYS"))
      m.programError(
        `no method of ${m.show(generic.name)} takes the keyword argument ${m.show(key)}`,
      );
  }
}
