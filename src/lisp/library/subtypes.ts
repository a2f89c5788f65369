// `subtypep`: A is a subtype of B if nothing is in A and not in B. A type becomes a list of alternatives, each with
// the kinds of objects that it allows and what they must and must not be; then each alternative is shown to be
// empty or not. An undecidable question is "unknown".
import { classNamed, classOf, findClass } from "../classes.ts";
import type { Machine } from "../machine.ts";
import { isNumber } from "../numbers.ts";
import { Char, Str } from "../string.ts";
import { cl, NIL, Sym, T, words } from "../symbol.ts";
import { expandType, isAtomicType, typep, unknownType, upgradedType } from "../types.ts";
import { Cons, itemsOf, LispClass, type Value, Vec } from "../values.ts";
import { isRangeEmpty } from "./intervals.ts";

export type Answer = "yes" | "no" | "unknown";

export function isSubtype(m: Machine, type1: Value, type2: Value): Answer {
  const left = parse(m, type1);
  const right = parse(m, type2);
  return isEmpty(m, both(m, left, negated(m, right)));
}

// ---- kinds: disjoint sets that make up all objects

const elementTypes = ["T", "CHARACTER", "BIT"];
const numberKinds = ["INTEGER", "RATIO", "DOUBLE-FLOAT"];
const characterKinds = ["STANDARD-CHAR", "BASE-CHAR", "EXTENDED-CHAR"];
/** Classes that a program can extend. */
const openKinds = ["STANDARD-OBJECT", "STRUCTURE-OBJECT", "CONDITION"];
const classKinds = [
  ...words("SYMBOL KEYWORD NULL CONS COMPLEX HASH-TABLE FUNCTION PACKAGE STREAM"),
  ...["STANDARD-GENERIC-FUNCTION", "RANDOM-STATE", "RESTART", "READTABLE", "PATHNAME", "METHOD"],
  ...["STANDARD-METHOD", "BUILT-IN-CLASS", "STANDARD-CLASS", "STRUCTURE-CLASS", ...openKinds],
];
const kinds = [
  ...numberKinds,
  ...characterKinds,
  ...elementTypes.flatMap((type) => [`simple ${type}`, `other ${type}`]),
  ...classKinds,
];

/** Something that an object is or is not, within its kinds. */
export type Trait =
  | { readonly kind: "range"; readonly bounds: readonly [Value, Value] }
  | { readonly kind: "dims"; readonly dims: readonly Value[] }
  | { readonly kind: "cons"; readonly car: Value; readonly cdr: Value }
  | { readonly kind: "object"; readonly object: Value }
  | { readonly kind: "class"; readonly cls: LispClass }
  /** Decided only by calling a predicate, or too large to decide. */
  | { readonly kind: "test" | "open" };

interface Alternative {
  readonly kinds: ReadonlySet<string>;
  readonly is: readonly { readonly trait: Trait; readonly type: Value }[];
  readonly isNot: Alternative["is"];
}

const only = (names: readonly string[], trait: Trait, type: Value): Alternative[] => [
  { kinds: new Set(names), is: [{ trait, type }], isNot: [] },
];
const plain = (...names: readonly string[]): Alternative[] => [
  { kinds: new Set(names), is: [], isNot: [] },
];
const anything: Alternative = { kinds: new Set(kinds), is: [], isNot: [] };
const alternativesMax = 2_000;

function both(
  m: Machine,
  left: readonly Alternative[],
  right: readonly Alternative[],
): Alternative[] {
  m.tick(left.length * right.length);
  if (left.length * right.length > alternativesMax) return only(kinds, { kind: "open" }, T);
  return left.flatMap((a) =>
    right.flatMap((b) => {
      const common = [...a.kinds].filter((kind) => b.kinds.has(kind));
      if (common.length === 0) return [];
      return [{ kinds: new Set(common), is: [...a.is, ...b.is], isNot: [...a.isNot, ...b.isNot] }];
    }),
  );
}

function negated(m: Machine, alternatives: readonly Alternative[]): Alternative[] {
  return alternatives.reduce<Alternative[]>(
    (rest, { kinds: allowed, is, isNot }) =>
      both(m, rest, [
        ...plain(...kinds.filter((kind) => !allowed.has(kind))),
        ...is.map((one) => ({ ...anything, kinds: allowed, isNot: [one] })),
        ...isNot.map((one) => ({ ...anything, kinds: allowed, is: [one] })),
      ]),
    [anything],
  );
}

// ---- types to alternatives

function parse(m: Machine, specifier: Value): Alternative[] {
  const type = expandType(m, specifier);
  m.tick(4);
  if (type instanceof LispClass)
    return type.kind === "built-in" ? parse(m, type.name) : ofClass(type);
  if (type === T || type === cl("*")) return [anything];
  if (type === NIL) return [];
  const head = type instanceof Cons ? type.car : type;
  if (!(head instanceof Sym)) return unknownType(m, type);
  const args = type instanceof Cons ? itemsOf(type.cdr) : [];
  const known = combined(m, head.name, args, type) ?? named(m, head.name, args, type);
  if (known !== undefined) return known;
  const cls = findClass(m, head);
  if (cls !== undefined) return ofClass(cls);
  return only(kinds, { kind: isAtomicType(head) ? "test" : "open" }, type);
}

function combined(
  m: Machine,
  name: string,
  args: readonly Value[],
  type: Value,
): Alternative[] | undefined {
  switch (name) {
    case "OR":
      return args.flatMap((one) => parse(m, one));
    case "AND":
      return args.reduce<Alternative[]>((rest, one) => both(m, rest, parse(m, one)), [anything]);
    case "NOT":
      return negated(m, parse(m, args[0] ?? NIL));
    case "MEMBER":
    case "EQL":
      return args.flatMap((object) => ofObject(m, object));
    case "BOOLEAN":
      return [NIL, T].flatMap((object) => ofObject(m, object));
    case "ATOM":
      return plain(...kinds.filter((kind) => kind !== "CONS"));
    case "SATISFIES":
      return only(kinds, { kind: "test" }, type);
    case "SEQUENCE":
      return [...plain("CONS", "NULL"), ...parse(m, cl("VECTOR"))];
    default:
      return undefined;
  }
}

function named(
  m: Machine,
  name: string,
  args: readonly Value[],
  type: Value,
): Alternative[] | undefined {
  const integers = (low: Value, high: Value) => ranged(["INTEGER"], [low, high], type);
  const [size] = args;
  const bits =
    typeof size === "number" && size >= 0 ? 2n ** BigInt(Math.min(size, 10_000)) : undefined;
  const any = cl("*");
  switch (name) {
    case "BIT":
      return integers(0, 1);
    case "MOD":
      return integers(0, m.list([args[0] ?? 0]));
    case "UNSIGNED-BYTE":
      return integers(0, bits === undefined ? any : bits - 1n);
    case "SIGNED-BYTE":
      return bits === undefined ? plain("INTEGER") : integers(-bits / 2n, bits / 2n - 1n);
    case "FIXNUM":
      return integers(-(2n ** 62n), 2n ** 62n - 1n);
    case "BIGNUM":
      return both(m, plain("INTEGER"), negated(m, parse(m, cl("FIXNUM"))));
    case "INTEGER":
      return ranged(["INTEGER"], args, type);
    case "RATIONAL":
      return ranged(["INTEGER", "RATIO"], args, type);
    case "REAL":
      return ranged(numberKinds, args, type);
    case "NUMBER":
      return plain(...numberKinds, "COMPLEX");
    case "FLOAT":
    case "DOUBLE-FLOAT":
    case "SINGLE-FLOAT":
    case "SHORT-FLOAT":
    case "LONG-FLOAT":
      return ranged(["DOUBLE-FLOAT"], args, type);
    case "CHARACTER":
      return plain(...characterKinds);
    case "BASE-CHAR":
      return plain("STANDARD-CHAR", "BASE-CHAR");
    case "CONS": {
      const [car = any, cdr = any] = args;
      if (car === any && cdr === any) return plain("CONS");
      return only(["CONS"], { kind: "cons", car, cdr }, type);
    }
    case "COMPILED-FUNCTION":
      return plain("FUNCTION", "STANDARD-GENERIC-FUNCTION");
    default:
      return characterKinds.includes(name) ? plain(name) : arrays(m, name, args, type);
  }
}

function ranged(names: readonly string[], args: readonly Value[], type: Value): Alternative[] {
  const [low = cl("*"), high = cl("*")] = args;
  if (low === cl("*") && high === cl("*")) return plain(...names);
  return only(names, { kind: "range", bounds: [low, high] }, type);
}

const vectorNames: Readonly<Record<string, string>> = {
  VECTOR: "",
  "SIMPLE-VECTOR": "T",
  STRING: "CHARACTER",
  "SIMPLE-STRING": "CHARACTER",
  "BASE-STRING": "CHARACTER",
  "SIMPLE-BASE-STRING": "CHARACTER",
  "BIT-VECTOR": "BIT",
  "SIMPLE-BIT-VECTOR": "BIT",
};

function arrays(
  m: Machine,
  name: string,
  args: readonly Value[],
  type: Value,
): Alternative[] | undefined {
  const element = vectorNames[name];
  const isArray = name === "ARRAY" || name === "SIMPLE-ARRAY";
  if (element === undefined && !isArray) return undefined;
  const any = cl("*");
  const isOpen = isArray || element === "";
  const [first = any, second = any] = isOpen ? args : [any, args[0]];
  const elements = isOpen ? elementsOf(m, first) : [element];
  const forms = name.startsWith("SIMPLE") ? ["simple"] : ["simple", "other"];
  const allowed = elements.flatMap((one) => forms.map((form) => `${form} ${one}`));
  const size = isArray ? second : m.list([second]);
  if (size === any) return plain(...allowed);
  const dims = typeof size === "number" ? new Array<Value>(size).fill(any) : itemsOf(size);
  return only(allowed, { kind: "dims", dims }, type);
}

const elementsOf = (m: Machine, type: Value): readonly string[] =>
  type === cl("*") ? elementTypes : [upgradedType(m, type).name];

function ofClass(cls: LispClass): Alternative[] {
  const within = classKinds.filter((kind) => classNamed(kind).precedence.includes(cls));
  if (within.length > 0) return plain(...within);
  const home = cls.precedence.find(({ name }) => openKinds.includes(name.name));
  return only([home?.name.name ?? "STANDARD-OBJECT"], { kind: "class", cls }, cls);
}

function ofObject(m: Machine, object: Value): Alternative[] {
  const trait = { kind: "object", object } as const;
  const type = m.list([cl("EQL"), object]);
  if (isNumber(object)) {
    const isWhole = typeof object === "number" || typeof object === "bigint";
    return only([isWhole ? "INTEGER" : classOf(object).name.name], trait, type);
  }
  if (object instanceof Char)
    return only([characterKinds.find((kind) => typep(m, object, cl(kind))) ?? ""], trait, type);
  if (object instanceof Vec || object instanceof Str) {
    const element = object instanceof Str ? "CHARACTER" : object.elementType.name;
    const isSimple = typep(m, object, cl("SIMPLE-ARRAY"));
    return only([`${isSimple ? "simple" : "other"} ${element}`], trait, type);
  }
  const name = classOf(object).name.name;
  if (classKinds.includes(name)) return only([name], trait, type);
  return ofClass(classOf(object)).map((one) => ({ ...one, is: [{ trait, type }] }));
}

// ---- is there anything?

function isEmpty(m: Machine, alternatives: readonly Alternative[]): Answer {
  const answers = alternatives.flatMap((one) =>
    [...one.kinds].map((kind) => isKindEmpty(m, kind, one)),
  );
  if (answers.includes("no")) return "no";
  return answers.includes("unknown") ? "unknown" : "yes";
}

function isKindEmpty(m: Machine, kind: string, { is, isNot }: Alternative): Answer {
  m.tick(4);
  const all = [...is, ...isNot];
  if (all.some(({ trait }) => trait.kind === "open")) return "unknown";
  const object = is.find(({ trait }) => trait.kind === "object")?.trait;
  if (object?.kind === "object") {
    const holds = ({ type }: { type: Value }): boolean => typep(m, object.object, type);
    return is.every(holds) && !isNot.some(holds) ? "no" : "yes";
  }
  const traits = is.map(({ trait }) => trait);
  const refused = isNot.map(({ trait }) => trait);
  const answer = isPartEmpty(m, kind, traits, refused);
  return answer === "no" && all.some(({ trait }) => trait.kind === "test") ? "unknown" : answer;
}

function isPartEmpty(
  m: Machine,
  kind: string,
  is: readonly Trait[],
  isNot: readonly Trait[],
): Answer {
  if (numberKinds.includes(kind)) return isRangeEmpty(m, kind, is, isNot);
  if (kind === "CONS") return isConsEmpty(m, is, isNot);
  if (kind === "NULL")
    return isNot.some((trait) => trait.kind === "object" && trait.object === NIL) ? "yes" : "no";
  if (openKinds.includes(kind)) return isClassEmpty(kind, is, isNot);
  const wanted = is.flatMap((trait) => (trait.kind === "dims" ? [trait.dims] : []));
  const dims = wanted.reduce<readonly Value[] | null | undefined>(commonDims, undefined);
  if (dims === null) return "yes";
  const isCovered = (trait: Trait): boolean =>
    trait.kind === "dims" && dims !== undefined && areDimsWithin(dims, trait.dims);
  return isNot.some(isCovered) ? "yes" : "no";
}

/** Null if no array has both. */
function commonDims(
  a: readonly Value[] | null | undefined,
  b: readonly Value[],
): readonly Value[] | null {
  if (a === undefined) return b;
  if (a === null || a.length !== b.length) return null;
  const any = cl("*");
  if (a.some((size, at) => size !== any && b[at] !== any && size !== b[at])) return null;
  return a.map((size, at) => (size === any ? (b[at] as Value) : size));
}

const areDimsWithin = (inner: readonly Value[], outer: readonly Value[]): boolean =>
  inner.length === outer.length &&
  outer.every((size, at) => size === cl("*") || size === inner[at]);

/** A product without products is empty if, however they are shared out, one side is empty. */
function isConsEmpty(m: Machine, is: readonly Trait[], isNot: readonly Trait[]): Answer {
  const pairs = (traits: readonly Trait[]) =>
    traits.flatMap((trait) =>
      trait.kind === "cons" ? [{ car: parse(m, trait.car), cdr: parse(m, trait.cdr) }] : [],
    );
  const [wanted, refused] = [pairs(is), pairs(isNot)];
  if (wanted.length + refused.length === 0) return "no";
  if (refused.length > 6) return "unknown";
  const without = (side: "car" | "cdr", isOnSide: (at: number) => boolean): Answer =>
    isEmpty(m, [
      ...refused
        .filter((_, at) => isOnSide(at))
        .reduce(
          (rest, one) => both(m, rest, negated(m, one[side])),
          wanted.reduce<Alternative[]>((rest, one) => both(m, rest, one[side]), [anything]),
        ),
    ]);
  let answer: Answer = "yes";
  for (let shares = 0; shares < 2 ** refused.length; shares++) {
    const isCar = (at: number): boolean => (shares & (1 << at)) !== 0;
    const sides = [without("car", isCar), without("cdr", (at) => !isCar(at))];
    if (sides.includes("yes")) continue;
    if (!sides.includes("unknown")) return "no";
    answer = "unknown";
  }
  return answer;
}

function isClassEmpty(kind: string, is: readonly Trait[], isNot: readonly Trait[]): Answer {
  const classesIn = (traits: readonly Trait[]) =>
    traits.flatMap((trait) => (trait.kind === "class" ? [trait.cls] : []));
  const wanted = classesIn(is);
  const isBelow = (a: LispClass, b: LispClass): boolean => a.precedence.includes(b);
  if (wanted.some((cls) => classesIn(isNot).some((other) => isBelow(cls, other)))) return "yes";
  const isRelated = wanted.every((a) => wanted.every((b) => isBelow(a, b) || isBelow(b, a)));
  if (isRelated) return "no";
  // Objects of both may be defined later, except of structures, which include only one other.
  return kind === "STRUCTURE-OBJECT" ? "yes" : "unknown";
}
