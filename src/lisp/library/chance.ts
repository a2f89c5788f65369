/** `random` over states that can be seeded and copied: the same seed gives the same numbers. */
import { defineFunction, defineVariable } from "../define.ts";
import type { Machine } from "../machine.ts";
import { wordsOf } from "../numbers.ts";
import { bool, cl, NIL, T } from "../symbol.ts";
import { Float, integer, Opaque, type Value } from "../values.ts";

export function defineChance(): void {
  defineVariable("*RANDOM-STATE*", (m) => makeState(m.host.seed()));
  defineFunction("RANDOM", "limit &optional state", (m, limit: Value, state?: Value) =>
    random(m, limit, stateOf(m, state)),
  );
  defineFunction("MAKE-RANDOM-STATE", "&optional state", (m, state: Value = NIL) => {
    if (state === T) return makeState(m.host.seed());
    return copyState(stateOf(m, state === NIL ? undefined : state));
  });
  defineFunction("RANDOM-STATE-P", "object", (_, object: Value) =>
    bool(object instanceof Opaque && object.content instanceof Generator),
  );
  // The standard has no seeds; a program that wants the same numbers each time asks for them here.
  defineFunction("GUILDHALL:SEED-RANDOM-STATE", "seed", (m, seed: Value) =>
    makeState(typeof seed === "number" ? seed : m.typeError(seed, "INTEGER")),
  );
}

/** xoshiro128**: small, fast, and good enough for everything but secrets. */
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

/** Sixty-four bits more than the limit has, so that the remainder favours nothing anyone could measure. */
function bigRandom(m: Machine, limit: bigint, generator: Generator): bigint {
  const words = wordsOf(limit) * 2 + 2;
  m.tick(words);
  let hex = "";
  for (let at = 0; at < words; at += 1) hex += generator.next().toString(16).padStart(8, "0");
  return BigInt(`0x${hex}`) % limit;
}
