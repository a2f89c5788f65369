import { createRequire, syncBuiltinESMExports } from "node:module";

/**
 * The clock and the only scheduler of a simulation. It replaces the timers and clocks of this process; every delivery
 * of a message is a timer too, so that the seed alone decides what happens in which order.
 */
export class VirtualTime {
  now = 0;
  /** How far the wall clock is off. */
  #skew = 0;
  readonly #timers = new Map<number, Timer>();
  readonly #restores: (() => void)[] = [];
  readonly #priority: () => number;
  readonly #realImmediate = setImmediate;
  #lastId = 0;

  /** `priority` breaks ties between timers that are due at the same time. */
  constructor(priority: () => number) {
    this.#priority = priority;
  }

  /** Timers that are set now. */
  get size(): number {
    return this.#timers.size;
  }

  after(ms: number, run: () => void): number {
    const id = ++this.#lastId;
    const at = this.now + Math.max(0, Number.isFinite(ms) ? ms : 0);
    this.#timers.set(id, { at, priority: this.#priority(), run });
    return id;
  }

  cancel(id: number | undefined): void {
    if (id !== undefined) this.#timers.delete(id);
  }

  /** Runs the next timer and everything that follows from it. False if there is none before `until`. */
  async step(until = Number.POSITIVE_INFINITY): Promise<boolean> {
    let next: [number, Timer] | undefined;
    for (const entry of this.#timers) if (!next || isEarlier(entry[1], next[1])) next = entry;
    if (!next || next[1].at > until) return false;

    const [id, timer] = next;
    this.#timers.delete(id);
    this.now = Math.max(this.now, timer.at);
    timer.run();
    await this.settle();
    return true;
  }

  /** Waits until no promise can continue without time passing. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 2; turn++)
      await new Promise<void>((resolve) => this.#realImmediate(resolve));
  }

  /** Sets the wall clock forward or back; timers are not affected. */
  jump(ms: number): void {
    this.#skew += ms;
  }

  install(): void {
    const timeout = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): Handle =>
      new Handle(
        this,
        this.after(ms, () => run(...args)),
      );
    const interval = (run: () => void, ms = 0): Handle => {
      const repeat = (): number =>
        this.after(ms, () => {
          handle.id = repeat();
          run();
        });
      const handle = new Handle(this, 0);
      handle.id = repeat();
      return handle;
    };
    const clear = (handle: unknown): void => {
      if (handle instanceof Handle) this.cancel(handle.id);
    };
    this.#replace(globalThis, {
      setTimeout: timeout,
      setInterval: interval,
      clearTimeout: clear,
      clearInterval: clear,
    });
    this.#replace(Date, { now: () => startOfTime + this.now + this.#skew });
    this.#replace(performance, { now: () => this.now });
    const sleep = <T>(ms?: number, value?: T): Promise<T | undefined> =>
      new Promise((resolve) => void this.after(ms ?? 0, () => resolve(value)));
    this.#replace(require("node:timers/promises"), { setTimeout: sleep });
    syncBuiltinESMExports();
  }

  restore(): void {
    for (const restore of this.#restores.splice(0).reverse()) restore();
    syncBuiltinESMExports();
    this.#timers.clear();
  }

  #replace(target: object, parts: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(parts)) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { value, configurable: true, writable: true });
      this.#restores.push(() => {
        if (before) Object.defineProperty(target, name, before);
        else Reflect.deleteProperty(target, name);
      });
    }
  }
}

const require = createRequire(import.meta.url);
const startOfTime = Date.UTC(2026, 0, 1);

interface Timer {
  readonly at: number;
  readonly priority: number;
  readonly run: () => void;
}

function isEarlier(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.priority < other.priority);
}

/** The handle that `setTimeout` returns. */
class Handle {
  readonly #time: VirtualTime;
  id: number;

  constructor(time: VirtualTime, id: number) {
    this.#time = time;
    this.id = id;
  }

  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  [Symbol.dispose](): void {
    this.#time.cancel(this.id);
  }
}
