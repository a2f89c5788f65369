// Generic functions and dispatch. The effective method for given classes is cached until a method or a class
// changes.
import { classOf } from "../classes.ts";
import { form, named } from "../define.ts";
import { Code, Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { noteDefinition, setFunction } from "../packages.ts";
import { Char } from "../string.ts";
import { isKeyword, NIL, Sym, words } from "../symbol.ts";
import { Cons, Float, type LispClass, Opaque, type Value } from "../values.ts";

export type Specializer =
  | { readonly kind: "class"; readonly name: Sym }
  | { readonly kind: "eql"; readonly value: Value };

/** The part of a lambda list that must agree between methods. `keys` is null without `&key`. */
export interface Shape {
  readonly required: number;
  readonly optional: number;
  readonly rest: boolean;
  readonly keys: readonly Sym[] | null;
  readonly allowOthers: boolean;
}

export interface Method {
  readonly qualifiers: readonly Value[];
  /** One for each required parameter. */
  readonly specializers: readonly Specializer[];
  readonly shape: Shape;
  /** With `usesNext` it gets the next method as its first argument. */
  readonly fn: Fn;
  readonly usesNext: boolean;
  /** The object for programs. */
  readonly handle: Opaque;
}

export class Generic {
  readonly name: Value;
  readonly fn: Fn;
  shape: Shape;
  combination: Combination = standardCombination;
  /** The arguments in the order in which they decide; empty for from left to right. */
  order: readonly number[] = [];
  methods: Method[] = [];
  /** The largest number of arguments. */
  max = Number.POSITIVE_INFINITY;
  /** The number of leading arguments used for dispatch, and the values of `eql` specializers. */
  #width = 0;
  #wanted: (Set<unknown> | null)[] = [];
  #only: Effective | null = null;
  #kept = new Map<unknown, Effective | Map<unknown, unknown>>();
  // An inline cache: most calls have the same class as the last one.
  #lastKey: unknown = null;
  #last: Effective | null = null;

  constructor(name: Value, shape: Shape, documentation: string | null = null) {
    this.name = name;
    this.shape = shape;
    this.fn = new Fn(codeFor(this, name), []);
    this.fn.code.documentation = documentation;
  }

  add(method: Method): void {
    const same = this.methods.findIndex((other) => areAlike(other, method));
    if (same >= 0) this.methods.splice(same, 1, method);
    else this.methods.push(method);
    this.forget();
  }

  remove(method: Method): void {
    this.methods = this.methods.filter((other) => other !== method);
    this.forget();
  }

  forget(): void {
    const { required, optional, rest, keys } = this.shape;
    this.max = rest || keys !== null ? Number.POSITIVE_INFINITY : required + optional;
    const decides = (index: number) =>
      this.methods.some(({ specializers }) => !isAny(specializers[index]));
    this.#width = 0;
    for (let index = 0; index < required; index++) if (decides(index)) this.#width = index + 1;
    this.#wanted = Array.from({ length: this.#width }, (_, index) => {
      const values = this.methods.flatMap(({ specializers }) => eqlKeys(specializers[index]));
      return values.length === 0 ? null : new Set(values);
    });
    this.#only = null;
    this.#kept = new Map();
    this.#lastKey = null;
    this.#last = null;
  }

  /** The effective method for this first argument; `args` supplies the others if needed. */
  find(m: Machine, first: Value, args: () => Value[]): Effective {
    if (this.#width === 0) {
      this.#only ??= this.#compute(m, args());
      return this.#only;
    }
    if (this.#width > 1) return this.#findByMany(m, args());
    const key = this.#keyOf(first, 0);
    if (key === this.#lastKey && this.#last !== null) return this.#last;
    const found = (this.#kept.get(key) as Effective | undefined) ?? this.#compute(m, args());
    if (found.isKept) this.#kept.set(key, found);
    if (found.isKept) [this.#lastKey, this.#last] = [key, found];
    return found;
  }

  #findByMany(m: Machine, args: Value[]): Effective {
    let level = this.#kept as Map<unknown, unknown>;
    for (let index = 0; index < this.#width - 1; index++) {
      const key = this.#keyOf(args[index] as Value, index);
      let next = level.get(key) as Map<unknown, unknown> | undefined;
      if (next === undefined) {
        next = new Map();
        level.set(key, next);
      }
      level = next;
    }
    const key = this.#keyOf(args[this.#width - 1] as Value, this.#width - 1);
    const known = level.get(key) as Effective | undefined;
    if (known !== undefined) return known;
    const found = this.#compute(m, args);
    if (found.isKept) level.set(key, found);
    return found;
  }

  #keyOf(value: Value, index: number): unknown {
    const wanted = this.#wanted[index];
    if (wanted) {
      const key = eqlKey(value);
      if (wanted.has(key)) return key;
    }
    return classOf(value);
  }

  #compute(m: Machine, args: Value[]): Effective {
    return combine(m, this, applicableMethods(this, args));
  }
}

/** The applicable methods, most specific first. */
export function applicableMethods(generic: Generic, args: readonly Value[]): Method[] {
  const orders = args.slice(0, generic.shape.required).map((arg) => classOf(arg).precedence);
  const ranked = generic.methods.flatMap((method) => {
    const ranks = method.specializers.map((specializer, index) =>
      rankOf(specializer, args[index] as Value, orders[index] ?? []),
    );
    return ranks.some((rank) => rank < 0) ? [] : [{ method, ranks }];
  });
  const indexes = generic.order.length > 0 ? generic.order : [...orders.keys()];
  ranked.sort(
    (a, b) =>
      indexes
        .map((index) => (a.ranks[index] ?? 0) - (b.ranks[index] ?? 0))
        .find((difference) => difference !== 0) ?? 0,
  );
  return ranked.map(({ method }) => method);
}

/** 0 for `eql`, then the distance of the class; -1 if not applicable. */
function rankOf(specializer: Specializer, arg: Value, order: readonly LispClass[]): number {
  if (specializer.kind === "eql") return eqlKey(specializer.value) === eqlKey(arg) ? 0 : -1;
  const at = order.findIndex(({ name }) => name === specializer.name);
  return at < 0 ? -1 : at + 1;
}

const any = named("T");
const isAny = (specializer: Specializer | undefined): boolean =>
  specializer === undefined || (specializer.kind === "class" && specializer.name === any);

const eqlKeys = (specializer: Specializer | undefined): unknown[] =>
  specializer?.kind === "eql" ? [eqlKey(specializer.value)] : [];

/** The same key for `eql` values. */
function eqlKey(value: Value): unknown {
  if (value instanceof Float) return `float ${Object.is(value.value, -0) ? "-0" : value.value}`;
  return value instanceof Char ? `char ${value.code}` : value;
}

function areAlike(a: Method, b: Method): boolean {
  if (
    a.qualifiers.length !== b.qualifiers.length ||
    a.qualifiers.some((qualifier, index) => qualifier !== b.qualifiers[index])
  )
    return false;
  return a.specializers.every((one, index) => isSame(one, b.specializers[index]));
}

export function isSame(a: Specializer, b: Specializer | undefined): boolean {
  if (a.kind === "class") return b?.kind === "class" && a.name === b.name;
  return b?.kind === "eql" && eqlKey(a.value) === eqlKey(b.value);
}

/** The entry points of a generic function. They return the method's result as it is, so tail calls are preserved. */
function codeFor(generic: Generic, name: Value): Code {
  const code = new Code(name, false, false);
  code.generic = generic;
  code.c0 = (m, fn) => code.cn(m, fn, []);
  code.c1 = (m, fn, a) => {
    if (generic.shape.required > 1) return m.wrongCount(fn, 1);
    const { fn: method, run } = generic.find(m, a, () => [a]);
    if (method === null) return run(m, [a]);
    return settle(m, method, method.code.c1(m, method, a));
  };
  code.c2 = (m, fn, a, b) => {
    if (generic.shape.required > 2 || generic.max < 2) return m.wrongCount(fn, 2);
    const { fn: method, run } = generic.find(m, a, () => [a, b]);
    if (method === null) return run(m, [a, b]);
    return settle(m, method, method.code.c2(m, method, a, b));
  };
  code.c3 = (m, fn, a, b, c) => {
    if (generic.shape.required > 3 || generic.max < 3) return m.wrongCount(fn, 3);
    const { fn: method, run } = generic.find(m, a, () => [a, b, c]);
    if (method === null) return run(m, [a, b, c]);
    return settle(m, method, method.code.c3(m, method, a, b, c));
  };
  code.cn = (m, fn, args) => {
    if (args.length < generic.shape.required || args.length > generic.max)
      return m.wrongCount(fn, args.length);
    return generic.find(m, args[0] ?? NIL, () => args).run(m, args);
  };
  return code;
}

/** Natives with one value may leave `mv` stale. */
function settle(m: Machine, method: Fn, answer: Value): Value {
  if (method.code.single) m.mv = null;
  return answer;
}

/** The session's generic functions, including its versions of standard ones. */
interface Registry {
  readonly all: Set<Generic>;
  readonly standard: Map<Sym, Generic>;
}

const registryOf = (m: Machine): Registry =>
  m.keep("generics", () => ({ all: new Set(), standard: new Map() }));

export const allGenerics = (m: Machine): Generic[] => [...registryOf(m).all];

export function forgetDispatch(m: Machine): void {
  for (const generic of registryOf(m).all) generic.forget();
}

/** The generic function of a name, also a standard one to which this session has added methods. */
export function findGeneric(m: Machine, name: Value): Generic | undefined {
  if (name instanceof Sym)
    return (
      registryOf(m).standard.get(name) ??
      (name.fn?.code.generic instanceof Generic ? name.fn.code.generic : undefined)
    );
  const setter =
    name instanceof Cons && name.cdr instanceof Cons && name.cdr.car instanceof Sym
      ? name.cdr.car.setter
      : null;
  return (setter?.code.generic as Generic | null | undefined) ?? undefined;
}

/** Installs a generic function; a standard one is unchanged in other sessions. */
export function registerGeneric(m: Machine, generic: Generic, isStandard = false): void {
  const registry = registryOf(m);
  registry.all.add(generic);
  if (isStandard) registry.standard.set(generic.name as Sym, generic);
  else {
    setFunction(m, generic.name, generic.fn);
    noteDefinition(m, "generic", generic.name);
  }
}
// Method combination: the standard one with qualifiers and next methods, and the short forms, which combine
// the results of all methods with an operator.

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

function combine(m: Machine, generic: Generic, applicable: readonly Method[]): Effective {
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
  const runs = methods.map((method) => chain(generic, [method], null));
  switch (operator.name) {
    case "PROGN":
      return { fn: null, run: (mm, args) => runs.reduce<Value>((_, run) => run(mm, args), NIL) };
    case "AND":
      return { fn: null, run: (mm, args) => until(mm, runs, args, (answer) => answer === NIL) };
    case "OR":
      return { fn: null, run: (mm, args) => until(mm, runs, args, (answer) => answer !== NIL) };
    default: {
      if (operator.macro !== null || operator.pkg?.name !== "COMMON-LISP") {
        const { isIdentity } = generic.combination;
        if (isIdentity && methods.length === 1) return { fn: null, run: runs[0] as Run };
        const calls = methods.map(({ handle }) => [named("CALL-METHOD"), handle]);
        return { fn: null, run: effective(m, form([operator, ...calls])) };
      }
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
