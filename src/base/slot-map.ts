/**
 * A map for entries that live as long as one call. A plain Map with this turnover is rehashed often, and V8
 * links each old table to the next with its contents: old tables keep new ones alive, and many calls are
 * promoted to the old generation. Here the Map holds only indexes into an array of values.
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

  /** False if there was no such key. */
  delete(key: K): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  /** A snapshot, oldest first. */
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
