/**
 * A map for what comes and goes with every call. A plain Map with such a turnover is renewed again and again, and V8 lets
 * each table it leaves behind point to the next, with all that was in it: old ones keep new ones alive, and a good part of
 * all calls is copied into the old space until a full collection. Here the map holds numbers only, and what they stand
 * for is in a list, where what is taken out is gone.
 */
export class SlotMap<K, V> {
  readonly #places = new Map<K, number>();
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  has(key: K): boolean {
    return this.#places.has(key);
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  set(key: K, value: V): void {
    const place = this.#places.get(key) ?? this.#free.pop() ?? this.#values.length;
    this.#places.set(key, place);
    this.#values[place] = value;
  }

  /** False when it was not there. */
  delete(key: K): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  /** As of now, oldest first. */
  keys(): readonly K[] {
    return [...this.#places.keys()];
  }

  values(): readonly V[] {
    return Array.from(this.#places.values(), (place) => this.#values[place] as V);
  }

  entries(): readonly (readonly [K, V])[] {
    return Array.from(this.#places, ([key, place]) => [key, this.#values[place] as V]);
  }
}
