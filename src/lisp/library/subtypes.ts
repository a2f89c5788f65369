// `subtypep`: A is a subtype of B if nothing is in A and not in B. A type becomes a list of alternatives, each with
// the kinds of objects that it allows and what they must and must not be; then each alternative is shown to be
// empty or not. An undecidable question is "unknown".
import { divideRounded } from "../arithmetic.ts";
import { classNamed, classOf, findClass } from "../classes.ts";
import { form, lisp } from "../define.ts";
import type { Machine } from "../machine.ts";
import { add, compare, isNumber } from "../numbers.ts";
import { Char, Str } from "../string.ts";
import { cl, NIL, Sym, T, words } from "../symbol.ts";
import { expandType, isAtomicType, typep, unknownType, upgradedType } from "../types.ts";
import { Cons, Float, itemsOf, LispClass, Ratio, type Value, Vec } from "../values.ts";

type Answer = "yes" | "no" | "unknown";

export function isSubtype(m: Machine, type1: Value, type2: Value): Answer {
  const [below, above] = [expandType(m, type1), expandType(m, type2)];
  // The usual question is about two classes.
  const classes = [below, above].map((type) => (type instanceof Sym ? findClass(m, type) : null));
  if (classes[1] && classes[0]?.precedence.includes(classes[1])) return "yes";
  return isEmpty(m, both(m, parse(m, below), negated(m, parse(m, above))));
}

// ---- kinds: disjoint sets that make up all objects

const numberKinds = ["INTEGER", "RATIO", "DOUBLE-FLOAT"];
const characterKinds = ["STANDARD-CHAR", "BASE-CHAR", "EXTENDED-CHAR"];
const elementTypes = ["T", "CHARACTER", "BIT"];
/** Classes that a program can extend. */
const openKinds = ["STANDARD-OBJECT", "STRUCTURE-OBJECT", "CONDITION"];
const classKinds = [
  ...words(`SYMBOL KEYWORD NULL CONS COMPLEX HASH-TABLE FUNCTION PACKAGE STREAM
    STANDARD-GENERIC-FUNCTION RANDOM-STATE RESTART READTABLE PATHNAME METHOD STANDARD-METHOD
    BUILT-IN-CLASS STANDARD-CLASS STRUCTURE-CLASS`),
  ...openKinds,
];
const kinds = [
  ...numberKinds,
  ...characterKinds,
  ...elementTypes.flatMap((type) => [`simple ${type}`, `other ${type}`]),
  ...classKinds,
];

/** Something that an object is or is not, within its kinds. */
type Trait = { readonly type: Value } & (
  | { readonly kind: "range"; readonly low: Value; readonly high: Value }
  | { readonly kind: "dims"; readonly dims: readonly Value[] }
  | { readonly kind: "cons"; readonly car: Value; readonly cdr: Value }
  | { readonly kind: "object"; readonly object: Value }
  | { readonly kind: "class"; readonly cls: LispClass }
  /** Decided only by calling a predicate, or too large to decide. */
  | { readonly kind: "test" | "open" }
);

type Traits = readonly Trait[];

interface Alternative {
  readonly kinds: ReadonlySet<string>;
  readonly is: Traits;
  readonly isNot: Traits;
}

/** The meaning of a type: the union of its alternatives. */
type Sum = readonly Alternative[];

const only = (names: readonly string[], trait: Trait): Sum => [
  { kinds: new Set(names), is: [trait], isNot: [] },
];
const plain = (names: readonly string[]): Sum => [{ kinds: new Set(names), is: [], isNot: [] }];
const anything: Alternative = { kinds: new Set(kinds), is: [], isNot: [] };
const alternativesMax = 2_000;

function both(m: Machine, left: Sum, right: Sum): Sum {
  m.tick(left.length * right.length);
  if (left.length * right.length > alternativesMax) return only(kinds, { kind: "open", type: T });
  return left.flatMap((a) =>
    right.flatMap((b) => {
      const common = [...a.kinds].filter((kind) => b.kinds.has(kind));
      if (common.length === 0) return [];
      return [{ kinds: new Set(common), is: [...a.is, ...b.is], isNot: [...a.isNot, ...b.isNot] }];
    }),
  );
}

const allOf = (m: Machine, types: readonly Sum[]): Sum =>
  types.reduce((rest, one) => both(m, rest, one), [anything]);

const negated = (m: Machine, alternatives: Sum): Sum =>
  allOf(
    m,
    alternatives.map(({ kinds: allowed, is, isNot }) => [
      ...plain(kinds.filter((kind) => !allowed.has(kind))),
      ...is.map((one) => ({ ...anything, kinds: allowed, isNot: [one] })),
      ...isNot.map((one) => ({ ...anything, kinds: allowed, is: [one] })),
    ]),
  );

// ---- types to alternatives

const any = cl("*");

function parse(m: Machine, specifier: Value): Sum {
  const type = expandType(m, specifier);
  m.tick(4);
  if (type instanceof LispClass)
    return type.kind === "built-in" ? parse(m, type.name) : ofClass(type);
  if (type === T || type === any) return [anything];
  if (type === NIL) return [];
  const head = type instanceof Cons ? type.car : type;
  if (!(head instanceof Sym)) return unknownType(m, type);
  const args = type instanceof Cons ? itemsOf(type.cdr) : [];
  const alias = aliases[head.name]?.(args[0] ?? any, args[1] ?? any);
  const known = alias === undefined ? combined(m, head.name, args, type) : parse(m, alias);
  if (known !== undefined) return known;
  const cls = findClass(m, head);
  if (cls !== undefined) return ofClass(cls);
  return only(kinds, { kind: isAtomicType(head) ? "test" : "open", type });
}

/** The number of integers of so many bits, or `*`. */
const powerOf = (bits: Value, divisor = 1n): bigint | Sym =>
  typeof bits === "number" && bits >= 0 ? 2n ** BigInt(Math.min(bits, 10_000)) / divisor : any;
const below = (limit: bigint | Sym): bigint | Sym => (limit instanceof Sym ? limit : limit - 1n);

const arrayOf =
  (kind: string, element: string) =>
  (length: Value): Value =>
    form([kind, element, [length]]);

/** Types that are others by another name; arguments that are not given are `*`. */
const aliases: Readonly<Record<string, (first: Value, second: Value) => Value>> = {
  SEQUENCE: () => lisp`(or cons null vector)`,
  BOOLEAN: () => lisp`(member nil t)`,
  ATOM: () => lisp`(not cons)`,
  BIT: () => lisp`(integer 0 1)`,
  FIXNUM: () => lisp`(integer ${-(2n ** 62n)} ${2n ** 62n - 1n})`,
  BIGNUM: () => lisp`(and integer (not fixnum))`,
  MOD: (limit) => lisp`(integer 0 (${limit}))`,
  "UNSIGNED-BYTE": (bits) => lisp`(integer 0 ${below(powerOf(bits))})`,
  "SIGNED-BYTE": (bits) => {
    const half = powerOf(bits, 2n);
    return lisp`(integer ${half instanceof Sym ? half : -half} ${below(half)})`;
  },
  VECTOR: (element, length) => lisp`(array ${element} (${length}))`,
  STRING: arrayOf("ARRAY", "CHARACTER"),
  "BASE-STRING": arrayOf("ARRAY", "CHARACTER"),
  "SIMPLE-STRING": arrayOf("SIMPLE-ARRAY", "CHARACTER"),
  "SIMPLE-BASE-STRING": arrayOf("SIMPLE-ARRAY", "CHARACTER"),
  "SIMPLE-VECTOR": arrayOf("SIMPLE-ARRAY", "T"),
  "BIT-VECTOR": arrayOf("ARRAY", "BIT"),
  "SIMPLE-BIT-VECTOR": arrayOf("SIMPLE-ARRAY", "BIT"),
};

/** Types that are several kinds. */
const groups: Readonly<Record<string, readonly string[]>> = {
  NUMBER: [...numberKinds, "COMPLEX"],
  CHARACTER: characterKinds,
  "STANDARD-CHAR": ["STANDARD-CHAR"],
  "BASE-CHAR": ["STANDARD-CHAR", "BASE-CHAR"],
  "EXTENDED-CHAR": ["EXTENDED-CHAR"],
  "COMPILED-FUNCTION": ["FUNCTION", "STANDARD-GENERIC-FUNCTION"],
};

/** Types of numbers that take limits. */
const ranges: Readonly<Record<string, readonly string[]>> = {
  INTEGER: ["INTEGER"],
  RATIONAL: ["INTEGER", "RATIO"],
  REAL: numberKinds,
  ...Object.fromEntries(
    ["", "DOUBLE-", "SINGLE-", "SHORT-", "LONG-"].map((size) => [`${size}FLOAT`, ["DOUBLE-FLOAT"]]),
  ),
};

function combined(m: Machine, name: string, args: readonly Value[], type: Value): Sum | undefined {
  const [first = any, second = any] = args;
  const isOpen = first === any && second === any;
  switch (name) {
    case "OR":
      return args.flatMap((one) => parse(m, one));
    case "AND":
      return allOf(
        m,
        args.map((one) => parse(m, one)),
      );
    case "NOT":
      return negated(m, parse(m, first));
    case "MEMBER":
    case "EQL":
      return args.flatMap((object) => ofObject(m, object));
    case "SATISFIES":
      return only(kinds, { kind: "test", type });
    case "CONS":
      if (isOpen) return plain(["CONS"]);
      return only(["CONS"], { kind: "cons", type, car: first, cdr: second });
    case "ARRAY":
    case "SIMPLE-ARRAY": {
      const elements = first === any ? elementTypes : [upgradedType(m, first).name];
      const forms = name === "ARRAY" ? ["simple", "other"] : ["simple"];
      const allowed = elements.flatMap((one) => forms.map((shape) => `${shape} ${one}`));
      const dims = dimensions(second);
      return dims === null ? plain(allowed) : only(allowed, { kind: "dims", type, dims });
    }
    default: {
      const range = ranges[name];
      if (range === undefined) return groups[name] && plain(groups[name]);
      return isOpen ? plain(range) : only(range, { kind: "range", type, low: first, high: second });
    }
  }
}

function dimensions(sizes: Value): readonly Value[] | null {
  if (sizes === any) return null;
  return typeof sizes === "number" ? new Array<Value>(sizes).fill(any) : itemsOf(sizes);
}

function ofClass(cls: LispClass): Sum {
  const within = classKinds.filter((kind) => classNamed(kind).precedence.includes(cls));
  if (within.length > 0) return plain(within);
  const home = cls.precedence.find(({ name }) => openKinds.includes(name.name));
  return only([home?.name.name ?? "STANDARD-OBJECT"], { kind: "class", type: cls, cls });
}

function ofObject(m: Machine, object: Value): Sum {
  const trait = { kind: "object", type: m.list([cl("EQL"), object]), object } as const;
  if (typeof object === "number" || typeof object === "bigint") return only(["INTEGER"], trait);
  if (object instanceof Char)
    return only([characterKinds.find((kind) => typep(m, object, cl(kind))) ?? ""], trait);
  if (object instanceof Vec || object instanceof Str) {
    const element = object instanceof Str ? "CHARACTER" : object.elementType.name;
    const isSimple = typep(m, object, cl("SIMPLE-ARRAY"));
    return only([`${isSimple ? "simple" : "other"} ${element}`], trait);
  }
  const cls = classOf(object);
  if (isNumber(object) || classKinds.includes(cls.name.name)) return only([cls.name.name], trait);
  return ofClass(cls).map((one) => ({ ...one, is: [trait] }));
}

// ---- is there anything?

function isEmpty(m: Machine, alternatives: Sum): Answer {
  let answer: Answer = "yes";
  for (const { kinds: allowed, is, isNot } of alternatives)
    for (const kind of allowed) {
      const one = isKindEmpty(m, kind, is, isNot);
      if (one === "no") return "no";
      if (one === "unknown") answer = "unknown";
    }
  return answer;
}

function isKindEmpty(m: Machine, kind: string, is: Traits, isNot: Traits): Answer {
  m.tick(4);
  const has = (wanted: Trait["kind"]) => [...is, ...isNot].some((one) => one.kind === wanted);
  if (has("open")) return "unknown";
  const [one] = traits(is, "object");
  if (one !== undefined) {
    const holds = ({ type }: Trait): boolean => typep(m, one.object, type);
    return is.every(holds) && !isNot.some(holds) ? "no" : "yes";
  }
  const answer = isPartEmpty(m, kind, is, isNot);
  return answer === "no" && has("test") ? "unknown" : answer;
}

const traits = <Kind extends Trait["kind"]>(all: Traits, kind: Kind) =>
  all.filter((one): one is Trait & { kind: Kind } => one.kind === kind);

const yesIf = (isTrue: boolean): Answer => (isTrue ? "yes" : "no");

function isPartEmpty(m: Machine, kind: string, is: Traits, isNot: Traits): Answer {
  if (numberKinds.includes(kind)) return isRangeEmpty(m, kind, is, isNot);
  if (kind === "CONS") return isConsEmpty(m, is, isNot);
  if (kind === "NULL") return yesIf(traits(isNot, "object").some(({ object }) => object === NIL));
  if (openKinds.includes(kind)) return isClassEmpty(kind, is, isNot);
  const [first, ...others] = traits(is, "dims").map(({ dims }) => dims);
  if (first === undefined) return "no";
  const common = others.reduce<readonly Value[] | null>(commonDims, first);
  return yesIf(
    common === null || traits(isNot, "dims").some(({ dims }) => areDimsWithin(common, dims)),
  );
}

/** Null if no array has both. */
function commonDims(a: readonly Value[] | null, b: readonly Value[]): readonly Value[] | null {
  if (a === null || a.length !== b.length) return null;
  if (a.some((size, at) => size !== any && b[at] !== any && size !== b[at])) return null;
  return a.map((size, at) => (size === any ? (b[at] as Value) : size));
}

const areDimsWithin = (inner: readonly Value[], outer: readonly Value[]): boolean =>
  inner.length === outer.length && outer.every((size, at) => size === any || size === inner[at]);

/** A product without products is empty if, however they are shared out, one side is empty. */
function isConsEmpty(m: Machine, is: Traits, isNot: Traits): Answer {
  const pairs = (all: Traits) =>
    traits(all, "cons").map(({ car, cdr }) => ({ car: parse(m, car), cdr: parse(m, cdr) }));
  const [wanted, refused] = [pairs(is), pairs(isNot)];
  if (wanted.length + refused.length === 0) return "no";
  if (refused.length > 6) return "unknown";
  const isSideEmpty = (side: "car" | "cdr", shares: number): Answer =>
    isEmpty(
      m,
      allOf(m, [
        ...wanted.map((one) => one[side]),
        ...refused
          .filter((_, at) => (shares & (1 << at)) !== 0)
          .map((one) => negated(m, one[side])),
      ]),
    );
  let answer: Answer = "yes";
  for (let shares = 0; shares < 2 ** refused.length; shares++) {
    const sides = [isSideEmpty("car", shares), isSideEmpty("cdr", ~shares)];
    if (sides.includes("yes")) continue;
    if (!sides.includes("unknown")) return "no";
    answer = "unknown";
  }
  return answer;
}

function isClassEmpty(kind: string, is: Traits, isNot: Traits): Answer {
  const [wanted, refused] = [traits(is, "class"), traits(isNot, "class")];
  const isBelow = (a: { cls: LispClass }, b: { cls: LispClass }): boolean =>
    a.cls.precedence.includes(b.cls);
  if (wanted.some((a) => refused.some((b) => isBelow(a, b)))) return "yes";
  if (wanted.every((a) => wanted.every((b) => isBelow(a, b) || isBelow(b, a)))) return "no";
  // Objects of both may be defined later, except of structures, which include only one other.
  return kind === "STRUCTURE-OBJECT" ? "yes" : "unknown";
}

// ---- intervals of numbers

/** As in a type: `(n)` excludes n, `*` is infinite. */
type Interval = readonly [low: Value, high: Value];

const numberOf = (bound: Value): Value => (bound instanceof Cons ? bound.car : bound);

function isRangeEmpty(m: Machine, kind: string, is: Traits, isNot: Traits): Answer {
  const isZero = ({ object }: { object: Value }) => object instanceof Float && object.value === 0;
  // Zero and minus zero are the same in a range, but not the same object.
  if (kind === "DOUBLE-FLOAT" && traits(isNot, "object").some(isZero)) return "unknown";
  const all: Interval = [any, any];
  const allowed = is.reduce((rest, one) => common(m, rest, intervalOf(m, kind, one) ?? all), all);
  const left = isNot.reduce<Interval[]>(
    (rest, trait) => rest.flatMap((one) => without(m, kind, one, trait)),
    [allowed],
  );
  return yesIf(!left.some((one) => isInhabited(m, kind, one)));
}

function intervalOf(m: Machine, kind: string, trait: Trait): Interval | undefined {
  if (trait.kind === "range")
    return [inwards(m, kind, trait.low, 1), inwards(m, kind, trait.high, -1)];
  return trait.kind === "object" && isNumber(trait.object)
    ? [trait.object, trait.object]
    : undefined;
}

/** Bounds of integers are closed and whole; `inward` is 1 for the low one. */
function inwards(m: Machine, kind: string, bound: Value, inward: 1 | -1): Value {
  if (bound === any || kind !== "INTEGER") return bound;
  const rounding = inward === 1 ? "ceiling" : "floor";
  const { quotient, remainder } = divideRounded(m, rounding, numberOf(bound), 1);
  const isExcluded = bound instanceof Cons && compare(m, remainder, 0) === 0;
  return isExcluded ? add(m, quotient, inward) : quotient;
}

/** The bound that is further inside. */
function inner(m: Machine, a: Value, b: Value, inward: 1 | -1): Value {
  if (a === any || b === any) return a === any ? b : a;
  const order = compare(m, numberOf(a), numberOf(b)) * inward;
  return order > 0 || (order === 0 && a instanceof Cons) ? a : b;
}

const common = (m: Machine, a: Interval, b: Interval): Interval => [
  inner(m, a[0], b[0], 1),
  inner(m, a[1], b[1], -1),
];

/** The parts left below and above. */
function without(m: Machine, kind: string, from: Interval, trait: Trait): Interval[] {
  const taken = intervalOf(m, kind, trait);
  if (taken === undefined) return [from];
  const beyond = (bound: Value, inward: 1 | -1): Value =>
    inwards(m, kind, bound instanceof Cons ? bound.car : m.list([bound]), inward);
  const [low, high] = taken;
  return [
    ...(low === any ? [] : [common(m, from, [any, beyond(low, -1)])]),
    ...(high === any ? [] : [common(m, from, [beyond(high, 1), any])]),
  ];
}

function isInhabited(m: Machine, kind: string, [low, high]: Interval): boolean {
  if (low === any || high === any) return true;
  const order = compare(m, numberOf(low), numberOf(high));
  if (order !== 0 || low instanceof Cons || high instanceof Cons) return order < 0;
  if (kind === "RATIO") return low instanceof Ratio;
  return kind !== "DOUBLE-FLOAT" || low instanceof Float;
}
