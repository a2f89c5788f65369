/** Timers by the time they are due; of those due at once, the lowest priority is first. */
export class Timers {
  readonly #heap: Timer[] = [];
  readonly #set = new Map<number, Timer>();
  #lastId = 0;

  /** When the next one is due. */
  get nextAt(): number {
    return this.#first()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Of these, the ones that the hall has set. */
  ofHall(): readonly Timer[] {
    return [...this.#set.values()].filter(({ isOfHall }) => isOfHall);
  }

  add(given: Omit<Timer, "id">): number {
    const id = ++this.#lastId;
    const timer = { ...given, id };
    this.#set.set(id, timer);
    this.#heap.push(timer);
    this.#rise(this.#heap.length - 1);
    return id;
  }

  cancel(id: number): void {
    this.#set.delete(id);
  }

  cancelAll(which: (timer: Timer) => boolean): void {
    for (const timer of this.#set.values()) if (which(timer)) this.#set.delete(timer.id);
  }

  /** Removes and returns the next one that is due by `until`. */
  take(until: number): Timer | undefined {
    const first = this.#first();
    if (!first || first.at > until) return undefined;
    this.#removeFirst(first);
    this.#set.delete(first.id);
    return first;
  }

  /** Cancelled ones leave the heap here. */
  #first(): Timer | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (!first || this.#set.has(first.id)) return first;
      this.#removeFirst(first);
    }
  }

  #removeFirst(first: Timer): void {
    const last = this.#heap.pop() as Timer;
    if (last === first) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfEarlier(at, parent)) return;
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = this.#isEarlier(right, left) ? right : left;
      if (!this.#swapIfEarlier(child, at)) return;
      at = child;
    }
  }

  #swapIfEarlier(one: number, other: number): boolean {
    if (!this.#isEarlier(one, other)) return false;
    const moved = this.#heap[one] as Timer;
    this.#heap[one] = this.#heap[other] as Timer;
    this.#heap[other] = moved;
    return true;
  }

  #isEarlier(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (!a || !b) return a !== undefined;
    return a.at < b.at || (a.at === b.at && a.priority < b.priority);
  }
}

export interface Timer {
  readonly id: number;
  readonly at: number;
  readonly priority: number;
  /** Set by the code under test; a crash takes it along. */
  readonly isOfHall: boolean;
  /** The simulated thread that set it; undefined is the main one. */
  readonly thread: object | undefined;
  run(): void;
}
