// Lisp values. Integers are safe JS numbers or bigints, always normalised; all others are instances of the
// classes here and in `string.ts`, `symbol.ts` and `function.ts`. JS strings, booleans, null and plain objects
// are never values, so a program cannot get hold of them.
import type { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import type { Pretty } from "./printer-layout.ts";
import type { Char, Str } from "./string.ts";
import { keyword, NIL, type Package, type Sym, T } from "./symbol.ts";

export type Value =
  | number
  | bigint
  | Float
  | Ratio
  | Char
  | Str
  | Sym
  | Cons
  | Vec
  | Table
  | Instance
  | LispClass
  | Fn
  | Package
  | Stream
  | Opaque;

/** A double, boxed so that `1` and `1.0` differ. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** Always in lowest terms, denominator above 1. */
export class Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
  constructor(numerator: bigint, denominator: bigint) {
    this.numerator = numerator;
    this.denominator = denominator;
  }
}

export class Cons {
  car: Value;
  cdr: Value;
  constructor(car: Value, cdr: Value) {
    this.car = car;
    this.cdr = cdr;
  }
}

/** An array that is not a string. `dims` is null for vectors; others keep their items in row-major order. */
export class Vec {
  items: Value[];
  /** -1 without a fill pointer. */
  fill = -1;
  adjustable = false;
  dims: number[] | null = null;
  /** The upgraded element type, `T` or `BIT` mostly. */
  elementType: Sym = T;
  displacement: Displacement | null = null;
  constructor(items: Value[]) {
    this.items = items;
  }
  /** Up to the fill pointer. */
  get length(): number {
    return this.fill >= 0 ? this.fill : this.items.length;
  }
}

/** The array that a displaced one shows a part of. */
export interface Displacement {
  readonly target: Vec | Str;
  readonly offset: number;
}

/** An array whose elements are kept elsewhere. */
export function viewOf<Item>(
  length: number,
  get: (index: number) => Item,
  set: (index: number, item: Item) => void,
): Item[] {
  const indexOf = (key: string | symbol): number => (typeof key === "string" ? Number(key) : -1);
  return new Proxy([] as Item[], {
    get: (own, key) => {
      const index = indexOf(key);
      if (index >= 0) return index < length ? get(index) : undefined;
      return key === "length" ? length : Reflect.get(own, key);
    },
    set: (_, key, item: Item) => {
      if (indexOf(key) >= 0) set(indexOf(key), item);
      return true;
    },
    has: (own, key) => (indexOf(key) >= 0 ? indexOf(key) < length : Reflect.has(own, key)),
  });
}

export type TableTest = "EQ" | "EQL" | "EQUAL" | "EQUALP";

/** A hash table in insertion order; `equality.ts` computes the keys of the map. */
export class Table {
  readonly test: TableTest;
  readonly entries = new Map<unknown, TableEntry>();
  /** Numbers for objects inside structured keys. */
  readonly ids = new WeakMap<object, number>();
  nextId = 0;
  constructor(test: TableTest) {
    this.test = test;
  }
}

export interface TableEntry {
  readonly key: Value;
  value: Value;
}

export type StreamKind =
  | `${"STRING" | "BROADCAST" | "CONCATENATED" | "ECHO" | "SYNONYM" | "TWO-WAY"}-STREAM`
  | "STREAM";

/** A character stream with a source, a sink, or both; or one that reads from `parts`. */
export class Stream {
  readonly kind: StreamKind;
  /** The streams that this one is made of; the variable of a synonym stream. */
  parts: readonly Value[] = [];
  /** Characters that were unread from an echo stream, which echoes them only once. */
  unread = 0;
  /** Null for an output stream. Input is held as code points. */
  source: string[] | null = null;
  at = 0;
  /** Null for an input stream. Called through the machine, which counts the output. */
  sink: ((text: string) => void) | null = null;
  /** Column of the next character, for `fresh-line` and `~t`. */
  column = 0;
  /** The text that a string stream has collected. */
  gathered = "";
  closed = false;
  /** Collects a logical block of the pretty printer. */
  pretty: Pretty | null = null;
  /** True if writing counts as output of the session; otherwise it counts as memory. */
  isOutput = false;
  constructor(sink: Stream["sink"] = null, kind: StreamKind = "STREAM") {
    this.sink = sink;
    this.kind = kind;
  }
}

/** A stream that collects its text in `gathered`. */
export function gatheringStream(): Stream {
  const made: Stream = new Stream((text) => {
    made.gathered += text;
  }, "STRING-STREAM");
  return made;
}

/** An internal object that a program can hold but not inspect: a restart, an environment, a random state. */
export class Opaque {
  readonly label: string;
  readonly content: unknown;
  /** How `princ` shows it; null for `#<LABEL>`. */
  readonly report: ((m: Machine) => string) | null;
  constructor(label: string, content: unknown, report: ((m: Machine) => string) | null = null) {
    this.label = label;
    this.content = content;
    this.report = report;
  }
}

/** A proper list, or a dotted one with `tail`. Counts no cells: `Machine.list` does. */
export function list(...items: readonly Value[]): Value {
  return listOf(items, NIL);
}

export function listOf(items: readonly Value[], tail: Value = NIL): Value {
  let made = tail;
  for (let at = items.length - 1; at >= 0; at--) made = new Cons(items[at] as Value, made);
  return made;
}

/** Longer than any list within the cell budget: a longer one is circular. */
const listLengthMax = 4_000_000;

/**
 * The items of a list without an improper tail. A circular list throws a RangeError, like a list
 * too large for the memory.
 */
export function itemsOf(value: Value): Value[] {
  const items: Value[] = [];
  for (let at = value; at instanceof Cons; at = at.cdr) {
    if (items.length === listLengthMax) throw new RangeError("circular list");
    items.push(at.car);
  }
  return items;
}

/** The index of a keyword among keywords and values, or -1. */
export function findKeyword(args: readonly Value[], from: number, key: Value): number {
  for (let at = from; at + 1 < args.length; at += 2) if (args[at] === key) return at;
  return -1;
}

/** The first keyword that is not known, unless `:allow-other-keys` allows it. */
export function unknownKeyword(
  args: readonly Value[],
  from: number,
  isKnown: (key: Value) => boolean,
): Value | undefined {
  const allow = findKeyword(args, from, allowOtherKeys);
  if (allow >= 0 && args[allow + 1] !== NIL) return undefined;
  for (let at = from; at < args.length; at += 2)
    if (args[at] !== allowOtherKeys && !isKnown(args[at] as Value)) return args[at];
  return undefined;
}

export const allowOtherKeys = keyword("ALLOW-OTHER-KEYS");

/** Normalises an integer: a number if it is safe. */
export function integer(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

// Objects with slots (structures, conditions, instances of `defclass`) and their classes.

/** A class: built-in, of a structure, of conditions, or made by `defclass`. */
export class LispClass {
  name: Sym;
  readonly kind: "built-in" | "structure" | "condition" | "standard";
  supers: LispClass[];
  /** The class precedence list, this class first. */
  precedence: LispClass[];
  /** Effective slots in the order of `Instance.slots`. */
  slots: Slot[] = [];
  readonly slotIndex = new Map<Sym, number>();
  defaultInitargs: { readonly key: Sym; readonly init: (m: Machine) => Value }[] = [];
  /** The report of a condition; inherited if null. */
  report: ((m: Machine, condition: Instance) => string) | null = null;
  documentation: string | null = null;
  /** Extra data of the defining module, such as structure options. */
  readonly notes = new Map<string, unknown>();
  constructor(name: Sym, kind: LispClass["kind"], supers: LispClass[]) {
    this.name = name;
    this.kind = kind;
    this.supers = supers;
    this.precedence = [this];
  }
}

export interface Slot {
  readonly name: Sym;
  readonly initargs: readonly Sym[];
  /** Null without an initform. */
  readonly init: ((m: Machine) => Value) | null;
  /** The value of a slot with class allocation. */
  readonly shared: { value: Value | undefined } | null;
  readonly type: Value;
  readonly documentation: string | null;
  readonly readOnly: boolean;
}

/** A structure, a condition or an object of a `defclass`. An unbound slot is undefined. */
export class Instance {
  cls: LispClass;
  slots: (Value | undefined)[];
  constructor(cls: LispClass, slots: (Value | undefined)[]) {
    this.cls = cls;
    this.slots = slots;
  }
}
