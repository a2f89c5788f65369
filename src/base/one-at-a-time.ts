/**
 * Repeats work when something changed, one run at a time per key: an older run cannot overtake a newer one,
 * and many changes during a run cause only one more.
 */
export interface OneAtATime<K> {
  /** Resolves after a run that started after this request. Rejects if the work does. */
  run(key: K): Promise<void>;
  /** Resolves when no run is active. */
  settled(): Promise<void>;
}

export function createOneAtATime<K>(work: (key: K) => Promise<void>): OneAtATime<K> {
  const running = new Map<K, { isStale: boolean; done: Promise<void> }>();

  async function repeat(key: K, state: { isStale: boolean }): Promise<void> {
    try {
      do {
        state.isStale = false;
        await work(key);
      } while (state.isStale);
    } finally {
      running.delete(key);
    }
  }

  return {
    run(key) {
      const known = running.get(key);
      if (known) {
        known.isStale = true;
        return known.done;
      }
      const state = { isStale: false, done: Promise.resolve() };
      running.set(key, state);
      state.done = repeat(key, state);
      return state.done;
    },
    async settled() {
      await Promise.all(Array.from(running.values(), ({ done }) => done));
    },
  };
}

/** Returns a function that runs work in the order of the calls, one at a time. A failure does not stop the next. */
export function createInOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}

/** Admits at most `count` at once, in the order of the calls. */
export interface Slots {
  /** Resolves with the function that gives the slot back. */
  take(): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isTaken = true;
      return () => {
        if (isTaken) release();
        isTaken = false;
      };
    },
  };
}
