// What a Lisp value is. Integers are JS numbers while they are safe and bigints beyond, always normalised; everything else is
// an object of one of these classes. JS strings, booleans, null and plain objects are never values, so a program can hold none.
import type { Machine } from "./machine.ts";

export type Value = number | bigint | Float | Ratio | Char | Str | Sym | Cons | Vec | Table | Instance | LispClass | Fn | Package | Stream | Opaque;

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

/** Made by `char`, which interns: two characters with the same code are the same object. */
export class Char {
  readonly code: number;
  constructor(code: number) {
    this.code = code;
  }
}

const chars = new Map<number, Char>();

export function char(code: number): Char {
  let found = chars.get(code);
  if (found === undefined) {
    found = new Char(code);
    // Only the characters below the surrogates are kept for good; eql compares the rest by code.
    if (code < 0x3000) chars.set(code, found);
  }
  return found;
}

const surrogate = /[\ud800-\udfff]/;

/**
 * A mutable string. Cheap while nobody writes to it: then it is the JS string it was made of. The first write, a fill pointer, or
 * a character beyond the basic plane turns it into an array of code points, so that indexes always count characters.
 */
export class Str {
  #text: string | null;
  #codes: number[] | null = null;
  #checked = false;
  /** -1 without a fill pointer. */
  fill = -1;
  adjustable = false;

  constructor(text: string) {
    this.#text = text;
  }

  static ofCodes(codes: number[]): Str {
    const made = new Str("");
    made.#text = null;
    made.#codes = codes;
    return made;
  }

  /** The text as far as the fill pointer. */
  toString(): string {
    if (this.#text !== null) return this.#text;
    const codes = this.#codes ?? [];
    const length = this.length;
    let text = "";
    for (let at = 0; at < length; at += 4096) text += String.fromCodePoint(...codes.slice(at, Math.min(at + 4096, length)));
    // A string with a fill pointer stays an array: it is there to be pushed to.
    if (this.fill < 0 && text.length === codes.length) {
      this.#text = text;
      this.#codes = null;
      this.#checked = true;
    }
    return text;
  }

  /** As far as the fill pointer. */
  get length(): number {
    if (this.fill >= 0) return this.fill;
    return this.capacity;
  }

  /** What `array-dimension` says, whatever the fill pointer. */
  get capacity(): number {
    if (this.#text !== null && this.#isPlain(this.#text)) return this.#text.length;
    return this.codes().length;
  }

  codeAt(index: number): number {
    if (this.#text !== null && this.#isPlain(this.#text)) return this.#text.charCodeAt(index);
    return this.codes()[index] ?? 0;
  }

  setCode(index: number, code: number): void {
    this.codes()[index] = code;
  }

  /** The code points to write to; from here on the string is an array until it is read as text. */
  codes(): number[] {
    if (this.#codes === null) {
      const text = this.#text ?? "";
      const codes: number[] = [];
      for (const character of text) codes.push(character.codePointAt(0) ?? 0);
      this.#codes = codes;
    }
    this.#text = null;
    return this.#codes;
  }

  #isPlain(text: string): boolean {
    if (this.#checked) return true;
    if (surrogate.test(text)) {
      this.codes();
      return false;
    }
    this.#checked = true;
    return true;
  }
}

/**
 * A symbol. `value` is the current dynamic value (shallow binding), `fn` the global function, `macro` the global macro. Symbols of
 * locked packages are shared by all sessions of the process: only their `value` changes, and the machine swaps it on entry.
 */
export class Sym {
  readonly name: string;
  pkg: Package | null;
  /** Undefined while unbound. */
  value: Value | undefined = undefined;
  fn: Fn | null = null;
  /** Expands a form; the second argument is the lexical environment. */
  macro: Macro | null = null;
  /** `lexical` until declaimed otherwise. */
  kind: "lexical" | "special" | "constant" = "lexical";
  /** What `(setf (name …) …)` calls when there is a function `(setf name)`. */
  setter: Fn | null = null;
  constructor(name: string, pkg: Package | null) {
    this.name = name;
    this.pkg = pkg;
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

/** A function: code and, for a closure, what it captured. */
export class Fn {
  readonly code: Code;
  readonly env: Value[];
  constructor(code: Code, env: Value[]) {
    this.code = code;
    this.env = env;
  }
}

/**
 * The entry points of a function, by number of arguments; `cn` takes any number. An entry may answer `TAIL`: the machine then has
 * the next call in its registers. Only `Machine.call…` and compiled code call these directly; the rest goes through the machine.
 */
export class Code {
  name: Value;
  c0: (m: Machine, fn: Fn) => Value;
  c1: (m: Machine, fn: Fn, a: Value) => Value;
  c2: (m: Machine, fn: Fn, a: Value, b: Value) => Value;
  c3: (m: Machine, fn: Fn, a: Value, b: Value, c: Value) => Value;
  cn: (m: Machine, fn: Fn, args: Value[]) => Value;
  /** True for functions written in TypeScript: they never answer TAIL. */
  readonly native: boolean;
  /** True when the function always answers one value and may leave `m.mv` stale. */
  readonly single: boolean;
  /** As text, for `describe` and error messages. */
  lambdaList = "";
  documentation: string | null = null;
  /** For a native of fixed arity: the plain implementation, which compiled code calls without a detour. */
  direct: ((m: Machine, ...args: Value[]) => Value) | null = null;
  /** How many arguments `direct` takes. */
  min = 0;
  max = 0;
  /** For natives that call back and must not block parallel branches: the same as a generator. */
  step: ((m: Machine, args: Value[]) => Generator<Pending, Value, void>) | null = null;
  /** For a power: begins the call and lets the branch wait without holding up the others. */
  start: ((m: Machine, args: Value[]) => Pending) | null = null;
  /** What a generic function keeps; null for any other. */
  generic: unknown = null;
  /** The analysed lambda of a compiled function. */
  lambda: unknown = null;
  constructor(name: Value, native: boolean, single: boolean) {
    this.name = name;
    this.native = native;
    this.single = single;
    this.cn = refuse;
    this.c0 = viaArray0;
    this.c1 = viaArray1;
    this.c2 = viaArray2;
    this.c3 = viaArray3;
  }
}

const refuse: Code["cn"] = () => {
  throw new TypeError("a function without code was called");
};
const viaArray0: Code["c0"] = (m, fn) => fn.code.cn(m, fn, []);
const viaArray1: Code["c1"] = (m, fn, a) => fn.code.cn(m, fn, [a]);
const viaArray2: Code["c2"] = (m, fn, a, b) => fn.code.cn(m, fn, [a, b]);
const viaArray3: Code["c3"] = (m, fn, a, b, c) => fn.code.cn(m, fn, [a, b, c]);

/** A call under way outside. `take` answers its value or signals its error, once it is done. */
export interface Pending {
  readonly done: boolean;
  take(m: Machine): Value;
  cancel(): void;
}

export interface Macro {
  readonly expand: (form: Cons, env: Opaque, m: Machine) => Value;
  documentation: string | null;
}

export class Package {
  readonly name: string;
  nicknames: string[] = [];
  /** Symbols present here, by name. */
  readonly symbols = new Map<string, Sym>();
  /** Names that `pkg:name` may reach. */
  readonly external = new Set<string>();
  readonly shadowing = new Set<string>();
  uses: Package[] = [];
  /** Locked packages take no definitions and no new symbols, and belong to all sessions. */
  locked = false;
  /** For KEYWORD of a session: the keywords all sessions share. */
  shared: Package | null = null;
  documentation: string | null = null;
  constructor(name: string) {
    this.name = name;
  }
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

/** `COMMON-LISP`, shared by every session of the process. */
export const commonLisp = new Package("COMMON-LISP");
commonLisp.nicknames = ["CL"];
commonLisp.locked = true;
/** The keywords the standard library knows; a session keeps its own beside them. */
export const sharedKeywords = new Package("KEYWORD");
sharedKeywords.locked = true;

/** A symbol of COMMON-LISP, for host code. */
export function cl(name: string): Sym {
  return internShared(commonLisp, name);
}

/** A keyword the library knows, for host code. Kept for good. */
export function keyword(name: string): Sym {
  const found = sharedKeywords.symbols.get(name) ?? sessionKeyword(name);
  sharedKeywords.symbols.set(name, found);
  sharedKeywords.external.add(name);
  return found;
}

const keywordsInUse = new Map<string, WeakRef<Sym>>();
const forgotten = new FinalizationRegistry<string>((name) => {
  if (keywordsInUse.get(name)?.deref() === undefined) keywordsInUse.delete(name);
});

/**
 * A keyword is the same symbol for host and sessions, whoever names it first; it lasts as long as someone holds it. Nothing can be
 * stored in it, so sessions do not meet through it.
 */
export function sessionKeyword(name: string): Sym {
  const found = sharedKeywords.symbols.get(name) ?? keywordsInUse.get(name)?.deref();
  if (found !== undefined) return found;
  const made = new Sym(name, sharedKeywords);
  made.value = made;
  made.kind = "constant";
  keywordsInUse.set(name, new WeakRef(made));
  forgotten.register(made, name);
  return made;
}

/** A symbol of a package that all sessions share, made where it is missing. */
export function internShared(pkg: Package, name: string): Sym {
  let found = pkg.symbols.get(name);
  if (found === undefined) {
    found = new Sym(name, pkg);
    pkg.symbols.set(name, found);
    pkg.external.add(name);
  }
  return found;
}

export const NIL = cl("NIL");
NIL.value = NIL;
NIL.kind = "constant";
export const T = cl("T");
T.value = T;
T.kind = "constant";

/** Answers of compiled code that are no values: the next call is in the registers; a local exit is under way. */
export const TAIL = new Sym("tail", null);
export const EXIT = new Sym("exit", null);
export const AGAIN = new Sym("again", null);

export const bool = (truth: boolean): Sym => (truth ? T : NIL);

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

/** The place of a variable that closures share and someone assigns. Lives in frames only; never a value. */
export class Box {
  value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** The variables of one call: the function first, then its parameters and locals. */
export type Frame = Value[];
