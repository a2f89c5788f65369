/** Time and random numbers, from the clock and seed of the host. */
import { defineConstant, defineFunction, defineValues, defineVariable } from "../define.ts";
import type { Machine } from "../machine.ts";
import { isNumber, toDouble, wordsOf } from "../numbers.ts";
import { bool, cl, NIL, T } from "../symbol.ts";
import { Float, integer, Opaque, type Value } from "../values.ts";

/** Seconds from 1900, the origin of universal time, to 1970. */
const epoch = 2_208_988_800;
const unitsPerSecond = 1_000_000;

export function defineTime(): void {
  defineConstant("INTERNAL-TIME-UNITS-PER-SECOND", unitsPerSecond);
  defineFunction("GET-UNIVERSAL-TIME", (m) => Math.floor(m.host.clock()) + epoch);
  defineFunction("GET-INTERNAL-REAL-TIME", (m) =>
    Math.floor((m.host.timer() * unitsPerSecond) / 1000),
  );
  defineFunction("GET-INTERNAL-RUN-TIME", (m) =>
    Math.floor((m.host.timer() * unitsPerSecond) / 1000),
  );
  defineValues("DECODE-UNIVERSAL-TIME universal-time &optional time-zone", (m, time, zone) =>
    decode(m, seconds(m, time), zone),
  );
  defineValues("GET-DECODED-TIME", (m) => decode(m, Math.floor(m.host.clock()) + epoch, undefined));
  defineFunction(
    "ENCODE-UNIVERSAL-TIME second minute hour date month year &optional time-zone",
    (m, second, minute, hour, date, month, year, zone) => {
      const [s, min, h, d, mon, y] = [second, minute, hour, date, month, year].map((part) =>
        seconds(m, part),
      ) as [number, number, number, number, number, number];
      const days = Date.UTC(y, mon - 1, d) / 86_400_000;
      return days * 86_400 + h * 3600 + min * 60 + s + zoneSeconds(m, zone) + epoch;
    },
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
  for (const name of [
    "MACHINE-TYPE",
    "MACHINE-VERSION",
    "MACHINE-INSTANCE",
    "SOFTWARE-TYPE",
    "SOFTWARE-VERSION",
    "SHORT-SITE-NAME",
    "LONG-SITE-NAME",
  ])
    defineFunction(`${name}`, () => NIL);
}

function seconds(m: Machine, value: Value): number {
  return typeof value === "number" && value >= 0 ? value : m.typeError(value, "UNSIGNED-BYTE");
}

/** Hours west of Greenwich. Default 0, because programs must not learn where they run. */
function zoneSeconds(m: Machine, zone: Value | undefined): number {
  if (zone === undefined || zone === NIL) return 0;
  return isNumber(zone) ? Math.round(toDouble(m, zone) * 3600) : m.typeError(zone, "RATIONAL");
}

function decode(m: Machine, time: number, zone: Value | undefined): Value {
  const date = new Date((time - epoch - zoneSeconds(m, zone)) * 1000);
  const weekday = (date.getUTCDay() + 6) % 7;
  const clock = [date.getUTCSeconds(), date.getUTCMinutes(), date.getUTCHours()];
  return m.values(
    ...clock,
    date.getUTCDate(),
    date.getUTCMonth() + 1,
    date.getUTCFullYear(),
    weekday,
    NIL,
    zone ?? 0,
  );
}

// `random` over states that can be seeded and copied; the same seed gives the same numbers.

export function defineChance(): void {
  defineVariable("*RANDOM-STATE*", (m) => makeState(m.host.seed()));
  defineFunction("RANDOM limit &optional state", (m, limit, state) =>
    random(m, limit, stateOf(m, state)),
  );
  defineFunction("MAKE-RANDOM-STATE &optional state", (m, state = NIL) => {
    if (state === T) return makeState(m.host.seed());
    return copyState(stateOf(m, state === NIL ? undefined : state));
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

function copyState(generator: Generator): Opaque {
  return new Opaque("RANDOM-STATE", new Generator(generator.words.slice()));
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
