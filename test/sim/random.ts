/** A seeded generator (mulberry32): the same seed gives the same run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1. */
  next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number from 0 up to, but not including, `below`. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  isTrue(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the names, by weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const { entries, sum } = readWeights(weights);
    let left = this.next() * sum;
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name as Name;
    }
    return entries[entries.length - 1]?.[0] as Name;
  }
}

type Weights = Readonly<Record<string, number>>;
const known = new WeakMap<
  Weights,
  { readonly entries: readonly [string, number][]; readonly sum: number }
>();

function readWeights(weights: Weights) {
  let read = known.get(weights);
  if (!read) {
    const entries = Object.entries(weights);
    read = { entries, sum: entries.reduce((sum, [, weight]) => sum + weight, 0) };
    known.set(weights, read);
  }
  return read;
}
