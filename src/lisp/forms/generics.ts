// Generic functions and dispatch. The effective method for given classes is cached until a method or a class
// changes.
import { enter1, enter2, enter3 } from "../calls.ts";
import { classOf } from "../classes.ts";
import { named, type Shape } from "../define.ts";
import { eqlKey } from "../equality.ts";
import { Code, Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { noteDefinition, setFunction } from "../packages.ts";
import { NIL, Sym } from "../symbol.ts";
import { Cons, Instance, type LispClass, type Opaque, type Value } from "../values.ts";
import {
  type Combination,
  combine,
  type Effective,
  standardCombination,
} from "./method-combination.ts";

export type Specializer =
  | { readonly kind: "class"; readonly name: Sym }
  | { readonly kind: "eql"; readonly value: Value };

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
  /** Those of the last DEFGENERIC. */
  own: readonly Method[] = [];
  /** The largest number of arguments. */
  max = Number.POSITIVE_INFINITY;
  /** The number of leading arguments used for dispatch, and the values of `eql` specializers. */
  #width = 0;
  #wanted: (Set<unknown> | null)[] = [];
  #only: Effective | null = null;
  #kept = new Map<unknown, Effective | Map<unknown, unknown>>();
  /** True if the class of the first argument alone decides. */
  #isByClass = false;
  // An inline cache: most calls have the class of one of the last two.
  #lastKey: unknown = null;
  #last: Effective | null = null;
  #otherKey: unknown = null;
  #other: Effective | null = null;

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
    this.#isByClass = this.#width === 1 && this.#wanted[0] === null;
    this.#only = null;
    this.#kept = new Map();
    this.#lastKey = null;
    this.#otherKey = null;
  }

  /** The effective method, if it is known from the first argument alone. */
  known(first: Value): Effective | null {
    if (this.#isByClass && first instanceof Instance) {
      if (first.cls === this.#lastKey) return this.#last;
      if (first.cls === this.#otherKey) return this.#other;
    }
    if (this.#width > 1) return null;
    if (this.#width === 0) return this.#only;
    const key = this.#wanted[0] === null ? classOf(first) : this.#keyOf(first, 0);
    if (key === this.#lastKey) return this.#last;
    if (key === this.#otherKey) return this.#other;
    const found = (this.#kept.get(key) as Effective | undefined) ?? null;
    if (found === null) return null;
    this.#otherKey = this.#lastKey;
    this.#other = this.#last;
    this.#lastKey = key;
    this.#last = found;
    return found;
  }

  /** The effective method for these arguments. */
  find(m: Machine, args: Value[]): Effective {
    const known = this.known(args[0] ?? NIL);
    if (known !== null) return known;
    if (this.#width > 1) return this.#findByMany(m, args);
    const found = this.#compute(m, args);
    if (this.#width === 0) this.#only = found;
    else if (found.isKept) this.#kept.set(this.#keyOf(args[0] as Value, 0), found);
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

type Signature = Pick<Method, "qualifiers" | "specializers">;

export const areAlike = (a: Signature, b: Signature): boolean =>
  a.qualifiers.length === b.qualifiers.length &&
  a.qualifiers.every((qualifier, index) => qualifier === b.qualifiers[index]) &&
  a.specializers.every((one, index) => isSame(one, b.specializers[index]));

function isSame(a: Specializer, b: Specializer | undefined): boolean {
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
    const { fn: method, run } = generic.known(a) ?? generic.find(m, [a]);
    if (method === null) return run(m, [a]);
    return settle(m, method, enter1(m, method, a));
  };
  code.c2 = (m, fn, a, b) => {
    if (generic.shape.required > 2 || generic.max < 2) return m.wrongCount(fn, 2);
    const { fn: method, run } = generic.known(a) ?? generic.find(m, [a, b]);
    if (method === null) return run(m, [a, b]);
    return settle(m, method, enter2(m, method, a, b));
  };
  code.c3 = (m, fn, a, b, c) => {
    if (generic.shape.required > 3 || generic.max < 3) return m.wrongCount(fn, 3);
    const { fn: method, run } = generic.known(a) ?? generic.find(m, [a, b, c]);
    if (method === null) return run(m, [a, b, c]);
    return settle(m, method, enter3(m, method, a, b, c));
  };
  code.cn = (m, fn, args) => {
    if (args.length < generic.shape.required || args.length > generic.max)
      return m.wrongCount(fn, args.length);
    return generic.find(m, args).run(m, args);
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
