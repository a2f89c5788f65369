/** Hash tables. Entries keep their insertion order. */
import { exceed } from "../budgets.ts";
import {
  defineConstant,
  defineFunction,
  defineSetter,
  defineValues,
  defineVariable,
  nativeFunction,
} from "../define.ts";
import { tableGet, tableRemove, tableSet } from "../equality.ts";
import { Fn } from "../function.ts";
import type { Machine } from "../machine.ts";
import { isNumber, toDouble, wordsOf } from "../numbers.ts";
import { currentStyle, styledText } from "../printer.ts";
import { Str } from "../string.ts";
import { bool, cl, NIL, Sym, T, words } from "../symbol.ts";
import {
  Cons,
  Float,
  Instance,
  integer,
  Opaque,
  Table,
  type TableEntry,
  type TableTest,
  type Value,
  Vec,
} from "../values.ts";

export function defineHashTables(): void {
  defineFunction(
    "MAKE-HASH-TABLE &key test size rehash-size rehash-threshold weakness synchronized",
    (m, test = cl("EQL")) => {
      m.alloc(4);
      return new Table(testNamed(m, test));
    },
  );
  defineValues("GETHASH key table &optional default", (m, key, table, fallback = NIL) => {
    const entry = tableGet(weighed(m, tableOf(m, table), key), key);
    return entry === undefined ? m.values(fallback, NIL) : m.values(entry.value, T);
  });
  defineSetter("GETHASH value key table &optional default", (m, value, key, table) => {
    m.alloc(2);
    tableSet(weighed(m, tableOf(m, table), key), key, value);
    return value;
  });
  defineFunction("REMHASH key table", (m, key, table) =>
    bool(tableRemove(weighed(m, tableOf(m, table), key), key)),
  );
  defineFunction("CLRHASH table", (m, table) => {
    tableOf(m, table).entries.clear();
    return table;
  });
  defineFunction("MAPHASH function table", (m, fn, table) => {
    const visit = m.fn(fn);
    for (const { key, value } of entriesOf(m, table)) {
      m.tick(1);
      m.call2(visit, key, value);
    }
    return NIL;
  });
  defineFunction("HASH-TABLE-COUNT table", (m, table) => tableOf(m, table).entries.size);
  defineFunction("HASH-TABLE-SIZE table", (m, table) =>
    Math.max(14, tableOf(m, table).entries.size),
  );
  defineFunction("HASH-TABLE-TEST table", (m, table) => cl(tableOf(m, table).test));
  for (const [name, answer] of Object.entries({ SIZE: 1.5, THRESHOLD: 1 }))
    defineFunction(`HASH-TABLE-REHASH-${name} table`, (m, table) => {
      tableOf(m, table);
      return new Float(answer);
    });
  defineFunction("SXHASH object", (m, object) => hashOf(hashText(m, object)));
  // `(with-hash-table-iterator (next table) …)`: `(next)` returns T, key and value, at the end NIL.
  defineFunction("%TABLE-ITERATOR table", (m, table) => {
    const entries = entriesOf(m, table);
    let at = 0;
    const next = (inner: Machine) => {
      const entry = entries[at++];
      return entry === undefined ? inner.values(NIL) : inner.values(T, entry.key, entry.value);
    };
    return nativeFunction(cl("WITH-HASH-TABLE-ITERATOR"), "", next, { values: true });
  });
}

/** A copy, because the program may change the table during the iteration. */
function entriesOf(m: Machine, table: Value): TableEntry[] {
  const { entries } = tableOf(m, table);
  m.tick(entries.size);
  return [...entries.values()];
}

function tableOf(m: Machine, value: Value): Table {
  return value instanceof Table ? value : m.typeError(value, "HASH-TABLE");
}

const keyPartsMax = 1_000_000;

/** Counts the steps of hashing a structured key; a circular key ends here. */
function weighed(m: Machine, table: Table, key: Value): Table {
  if (typeof key !== "object" || table.test === "EQ" || table.test === "EQL") return table;
  if (key instanceof Str) m.tick(key.length >> 4);
  else if (!(key instanceof Sym)) weigh(m, key);
  return table;
}

function weigh(m: Machine, key: Value): void {
  const waiting: Value[] = [key];
  let count = 0;
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    m.tick(1);
    count += 1;
    if (count > keyPartsMax) exceed(m, "CELL");
    if (part instanceof Cons) waiting.push(part.cdr, part.car);
    else if (part instanceof Vec) part.items.forEach((item) => void waiting.push(item));
    else if (part instanceof Instance)
      waiting.push(...part.slots.filter((slot) => slot !== undefined));
    else if (part instanceof Str) m.tick(part.length >> 4);
  }
}

function testNamed(m: Machine, test: Value): TableTest {
  const name = test instanceof Fn ? test.code.name : test;
  const text = name instanceof Sym ? name.name : "";
  if (text === "EQ" || text === "EQL" || text === "EQUAL" || text === "EQUALP") return text;
  return m.fail(`${m.show(test)} is not a hash table test; use EQ, EQL, EQUAL or EQUALP`);
}

/** Equal objects print as equal texts, whatever the print variables are; circles are cut. */
function hashText(m: Machine, object: Value): string {
  if (object instanceof Instance) return object.cls.name.name;
  const plain = { base: 10, radix: false, circle: false, pretty: false, readably: false };
  return styledText(m, object, { ...currentStyle(true), ...plain, length: 8, level: 4 });
}

/** FNV-1a over the printed text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
// Time and random numbers, from the clock and seed of the host.

/** Seconds from 1900, the origin of universal time, to 1970. */
const epoch = 2_208_988_800;
const unitsPerSecond = 1_000_000;

export function defineTime(): void {
  defineConstant("INTERNAL-TIME-UNITS-PER-SECOND", unitsPerSecond);
  defineFunction("GET-UNIVERSAL-TIME", (m) => Math.floor(m.host.clock()) + epoch);
  for (const kind of ["REAL", "RUN"])
    defineFunction(`GET-INTERNAL-${kind}-TIME`, (m) =>
      Math.floor((m.host.timer() * unitsPerSecond) / 1000),
    );
  defineFunction("SLEEP seconds", (m, time) => {
    const wanted = isNumber(time) ? toDouble(m, time) : m.typeError(time, "(REAL 0)");
    if (wanted < 0) return m.typeError(time, "(REAL 0)");
    // Bounded by the time budget, which then ends the evaluation.
    m.host.sleep(Math.min(wanted * 1000, Math.max(0, m.deadline - m.host.now()) + 1));
    m.refuel();
    return NIL;
  });
  defineFunction("LISP-IMPLEMENTATION-TYPE", (m) => m.string("Guildhall Lisp"));
  defineFunction("LISP-IMPLEMENTATION-VERSION", (m) => m.string("1"));
  // Programs learn nothing about the machine.
  for (const name of words(`MACHINE-TYPE MACHINE-VERSION MACHINE-INSTANCE SOFTWARE-TYPE SOFTWARE-VERSION
  SHORT-SITE-NAME LONG-SITE-NAME`))
    defineFunction(`${name}`, () => NIL);
}

// `random` over states that can be seeded and copied; the same seed gives the same numbers.

export function defineChance(): void {
  defineVariable("*RANDOM-STATE*", (m) => makeState(m.host.seed()));
  defineFunction("RANDOM limit &optional state", (m, limit, state) =>
    random(m, limit, stateOf(m, state)),
  );
  defineFunction("MAKE-RANDOM-STATE &optional state", (m, state = NIL) => {
    if (state === T) return makeState(m.host.seed());
    const { words } = stateOf(m, state === NIL ? undefined : state);
    return new Opaque("RANDOM-STATE", new Generator(words.slice()));
  });
  defineFunction("RANDOM-STATE-P object", (_, object) =>
    bool(object instanceof Opaque && object.content instanceof Generator),
  );
  // The standard has no seeds; this extension makes random numbers repeatable.
  defineFunction("GUILDHALL:SEED-RANDOM-STATE seed", (m, seed) =>
    makeState(typeof seed === "number" ? seed : m.typeError(seed, "INTEGER")),
  );
}

/** xoshiro128**: small and fast; not for secrets. */
class Generator {
  readonly words: Uint32Array;
  constructor(words: Uint32Array) {
    this.words = words;
  }

  /** 32 bits. */
  next(): number {
    const s = this.words as unknown as [number, number, number, number];
    const result = Math.imul(rotate(Math.imul(s[1], 5), 7), 9) >>> 0;
    const shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 11);
    return result;
  }
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function makeState(seed: number): Opaque {
  const words = new Uint32Array(4);
  let mixed = seed >>> 0 || 1;
  for (let at = 0; at < 4; at += 1) {
    mixed = (mixed + 0x9e3779b9) >>> 0;
    let word = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    words[at] = word ^ (word >>> 16);
  }
  return new Opaque("RANDOM-STATE", new Generator(words));
}

function stateOf(m: Machine, state: Value | undefined): Generator {
  const value = state ?? cl("*RANDOM-STATE*").value ?? NIL;
  return value instanceof Opaque && value.content instanceof Generator
    ? value.content
    : m.typeError(value, "RANDOM-STATE");
}

function random(m: Machine, limit: Value, generator: Generator): Value {
  if (limit instanceof Float && limit.value > 0)
    return new Float(fraction(generator) * limit.value);
  if (typeof limit === "number" && limit > 0) return Math.floor(fraction(generator) * limit);
  if (typeof limit === "bigint" && limit > 0n) return integer(bigRandom(m, limit, generator));
  return m.typeError(limit, "(OR (INTEGER 1) (FLOAT (0.0)))");
}

/** 53 bits, below 1. */
function fraction(generator: Generator): number {
  return ((generator.next() >>> 5) * 67_108_864 + (generator.next() >>> 6)) / 9_007_199_254_740_992;
}

/** Uses 64 bits more than the limit has, so that the bias of the remainder is negligible. */
function bigRandom(m: Machine, limit: bigint, generator: Generator): bigint {
  const words = wordsOf(limit) * 2 + 2;
  m.tick(words);
  let hex = "";
  for (let at = 0; at < words; at += 1) hex += generator.next().toString(16).padStart(8, "0");
  return BigInt(`0x${hex}`) % limit;
}
