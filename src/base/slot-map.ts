/**
 * A map for entries that live as long as one call. A plain Map with this turnover makes a new table every few calls,
 * and once one of its tables is old, V8 makes all later ones old too: 300 bytes of garbage per call that only a full
 * collection removes. Here numbers, which most ids are, are found in a table that stays.
 */
export class SlotMap<K extends string | number, V> {
  /** Of each place its key, its value, and which entry it was since the beginning. */
  readonly #keys: (K | undefined)[] = [];
  readonly #values: (V | undefined)[] = [];
  readonly #numbers: number[] = [];
  readonly #free: number[] = [];
  /** Places of keys that are numbers, plus one, beginning where the key's hash says; 0 where there is none. */
  #table = new Int32Array(16);
  readonly #texts = new Map<K, number>();
  #size = 0;
  #added = 0;

  get size(): number {
    return this.#size;
  }

  has(key: K): boolean {
    return this.#find(key) !== -1;
  }

  get(key: K): V | undefined {
    const place = this.#find(key);
    return place === -1 ? undefined : this.#values[place];
  }

  set(key: K, value: V): void {
    const known = this.#find(key);
    const place = known === -1 ? (this.#free.pop() ?? this.#values.length) : known;
    this.#values[place] = value;
    if (known !== -1) return;
    this.#keys[place] = key;
    this.#numbers[place] = ++this.#added;
    this.#size++;
    if (typeof key !== "number") this.#texts.set(key, place);
    else if (this.#size * 2 > this.#table.length) this.#grow();
    else this.#enter(key, place);
  }

  /** False if there was no such key. */
  delete(key: K): boolean {
    const place = this.#find(key);
    if (place === -1) return false;
    if (typeof key === "number") this.#remove(key);
    else this.#texts.delete(key);
    this.#keys[place] = undefined;
    this.#values[place] = undefined;
    this.#free.push(place);
    this.#size--;
    return true;
  }

  /** A snapshot, oldest first. */
  keys(): readonly K[] {
    return this.#places().map((place) => this.#keys[place] as K);
  }

  values(): readonly V[] {
    return this.#places().map((place) => this.#values[place] as V);
  }

  entries(): readonly (readonly [K, V])[] {
    return this.#places().map((place) => [this.#keys[place] as K, this.#values[place] as V]);
  }

  #places(): number[] {
    const places = [...this.#keys.keys()].filter((place) => this.#keys[place] !== undefined);
    const numberOf = (place: number): number => this.#numbers[place] ?? 0;
    return places.sort((a, b) => numberOf(a) - numberOf(b));
  }

  #find(key: K): number {
    if (typeof key !== "number") return this.#texts.get(key) ?? -1;
    return (this.#table[this.#search(key)] as number) - 1;
  }

  /** Where a number is in the table, or the empty entry where it would be. */
  #search(key: number): number {
    const mask = this.#table.length - 1;
    let at = hash(key) & mask;
    for (;;) {
      const place = (this.#table[at] as number) - 1;
      if (place === -1 || this.#keys[place] === key) return at;
      at = (at + 1) & mask;
    }
  }

  #enter(key: number, place: number): void {
    this.#table[this.#search(key)] = place + 1;
  }

  /** Moves up later entries that would no longer be found. */
  #remove(key: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let hole = this.#search(key);
    for (let at = (hole + 1) & mask; table[at] !== 0; at = (at + 1) & mask) {
      const home = hash(this.#keys[(table[at] as number) - 1] as number) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      table[hole] = table[at] as number;
      hole = at;
    }
    table[hole] = 0;
  }

  #grow(): void {
    this.#table = new Int32Array(this.#table.length * 2);
    for (const [place, key] of this.#keys.entries())
      if (typeof key === "number") this.#enter(key, place);
  }
}

/** Spreads numbers that follow each other, and those with a common factor. */
function hash(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> 8;
}
