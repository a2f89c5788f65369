/** Timers by the time they are due; of those due at once, the lowest priority is first. */
export class Timers {
  /** Cancelled ones stay until they are first. */
  readonly #heap: Timer[] = [];

  /** When the next one is due. */
  get nextAt(): number {
    return this.#first()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Of these, the ones that the hall has set. */
  ofHall(): readonly Timer[] {
    return this.#heap.filter(({ isOfHall, isCancelled }) => isOfHall && !isCancelled);
  }

  add(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Timer;
      if (!isEarlier(timer, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = timer;
  }

  /** These also leave the heap at once: they would keep a hall that has ended in memory. */
  cancelAll(which: (timer: Timer) => boolean): void {
    for (const timer of this.#heap.splice(0)) {
      if (which(timer)) timer.isCancelled = true;
      if (!timer.isCancelled) this.add(timer);
    }
  }

  /** Removes and returns the next one that is due by `until`. */
  take(until: number): Timer | undefined {
    const first = this.#first();
    if (!first || first.at > until) return undefined;
    this.#removeFirst();
    return first;
  }

  #first(): Timer | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (!first?.isCancelled) return first;
      this.#removeFirst();
    }
  }

  /** The last one sinks from the top to its place. */
  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Timer;
    const { length } = heap;
    if (length === 0) return;
    let at = 0;
    for (let child = 1; child < length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < length && isEarlier(heap[right] as Timer, heap[child] as Timer)) child = right;
      const below = heap[child] as Timer;
      if (!isEarlier(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

function isEarlier(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.priority < other.priority);
}

export interface Timer {
  readonly at: number;
  readonly priority: number;
  /** Set by the code under test; a crash takes it along. */
  readonly isOfHall: boolean;
  /** The simulated thread that set it; undefined is the main one. */
  readonly thread: object | undefined;
  readonly run: () => void;
  isCancelled: boolean;
}
