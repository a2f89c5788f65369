/**
 * Repeats work when something changed, one run at a time per key: an older run cannot overtake a newer one,
 * and many changes during a run cause only one more.
 */
export interface OneAtATime<K> {
  /** Resolves after the first run that started after this request. Rejects if that run does. */
  run(key: K): Promise<void>;
  /** Resolves when no run is active. */
  settled(): Promise<void>;
}

interface Turn {
  readonly done: Promise<void>;
  /** The run after this one, for all who asked during this one. */
  next: Promise<void> | undefined;
}

export function createOneAtATime<K>(work: (key: K) => Promise<void>): OneAtATime<K> {
  const turns = new Map<K, Turn>();

  function start(key: K): Promise<void> {
    const done = Promise.resolve(work(key)).finally(() => {
      if (turn.next === undefined) turns.delete(key);
    });
    const turn: Turn = { done, next: undefined };
    turns.set(key, turn);
    return done;
  }

  return {
    run(key) {
      const turn = turns.get(key);
      if (!turn) return start(key);
      const again = (): Promise<void> => start(key);
      turn.next ??= turn.done.then(again, again);
      return turn.next;
    },
    async settled() {
      while (turns.size > 0) await Promise.all(Array.from(turns.values(), ({ done }) => done));
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
