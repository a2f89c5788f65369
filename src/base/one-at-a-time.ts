/**
 * Work that is done again whenever something has changed, one run at a time for each key: an older run cannot overtake a newer
 * one, and a storm of changes costs one more.
 */
export interface OneAtATime<K> {
  /** Resolves when a run that began after this was asked for is over. Rejects as the work does. */
  run(key: K): Promise<void>;
  /** Resolves when nothing runs any more. */
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
