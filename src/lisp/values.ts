// What a Lisp value is. Integers are JS numbers while they are safe and bigints beyond, always normalised; everything else is
// an object of one of the classes here, in `string.ts`, `symbol.ts`, `object.ts` and `function.ts`. JS strings, booleans, null and plain objects are never values, so a program can hold none.
import type { Fn } from "./function.ts";
import type { Machine } from "./machine.ts";
import type { Char, Str } from "./string.ts";
import { NIL, type Package, type Sym, T } from "./symbol.ts";

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
  constructor(items: Value[]) {
    this.items = items;
  }
  /** As far as the fill pointer. */
  get length(): number {
    return this.fill >= 0 ? this.fill : this.items.length;
  }
}

export type TableTest = "EQ" | "EQL" | "EQUAL" | "EQUALP";

/** A hash table; `src/lisp/tables.ts` turns keys into the keys of the map. Insertion order is kept. */
export class Table {
  readonly test: TableTest;
  readonly entries = new Map<unknown, TableEntry>();
  /** Identities of objects inside structured keys. */
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

/** A stream of text: a source to read from, or a sink to write to (or both, for `*standard-input*` and friends). */
export class Stream {
  /** Null for an output stream. Input is held as code points. */
  source: string[] | null = null;
  at = 0;
  /** Null for an input stream. Called through the machine, which counts the output. */
  sink: ((text: string) => void) | null = null;
  /** Column of the next character, for `fresh-line` and `~t`. */
  column = 0;
  /** What a string stream has taken in since it was last asked. */
  gathered = "";
  closed = false;
  /** Leads out of the session, so what is written counts as output; elsewhere it counts as memory. */
  isOutput = false;
}

/** Something of the machine that a program may hold and hand back, but not look into: a restart, an environment, a random state. */
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

/** Far beyond any list a program can make within its cells: what is longer goes round. */
const listLengthMax = 4_000_000;

/** The items of a list; an improper tail is left out. A ring is refused as the memory it would take: the host throws, and `trouble.ts` tells. */
export function itemsOf(value: Value): Value[] {
  const items: Value[] = [];
  for (let at = value; at instanceof Cons; at = at.cdr) {
    if (items.length === listLengthMax) throw new RangeError("a list has no end");
    items.push(at.car);
  }
  return items;
}

/** Integers leave here as numbers when they are safe. */
export function integer(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

// Objects with slots: structures, conditions, instances of `defclass`; and their classes.

/** A class as `find-class` answers it: built in, of a structure, of conditions, or made by `defclass`. */
export class LispClass {
  readonly name: Sym;
  readonly kind: "built-in" | "structure" | "condition" | "standard";
  supers: LispClass[];
  /** The class precedence list, this class first. */
  precedence: LispClass[];
  /** Effective slots in the order of `Instance.slots`. */
  slots: Slot[] = [];
  readonly slotIndex = new Map<Sym, number>();
  defaultInitargs: { readonly key: Sym; readonly init: (m: Machine) => Value }[] = [];
  /** Of a condition: says what happened. Inherited when null. */
  report: ((m: Machine, condition: Instance) => string) | null = null;
  documentation: string | null = null;
  /** What a definition module wants to remember with the class (structure options, for one). */
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
  /** Null where there is no initform. */
  readonly init: ((m: Machine) => Value) | null;
  /** The one place of a slot allocated in the class. */
  readonly shared: { value: Value | undefined } | null;
  readonly type: Value;
  readonly documentation: string | null;
  readonly readOnly: boolean;
}

/** A structure, a condition or an object of a `defclass`: its class says which. An unbound slot is undefined. */
export class Instance {
  cls: LispClass;
  slots: (Value | undefined)[];
  constructor(cls: LispClass, slots: (Value | undefined)[]) {
    this.cls = cls;
    this.slots = slots;
  }
}
