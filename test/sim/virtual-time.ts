import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { type Timer, Timers } from "./timers.ts";

/**
 * The clock and the only scheduler of a simulation. It replaces the timers and clocks of this process; every delivery
 * of a message is a timer too, so that the seed alone decides what happens in which order.
 */
export class VirtualTime {
  now = 0;
  /** How far the wall clock is off. */
  #skew = 0;
  readonly #timers = new Timers();
  readonly #restores: (() => void)[] = [];
  readonly #priority: () => number;
  readonly #realImmediate = setImmediate;
  /** The clock of the hall's deadlines. It ticks so often that the heap would have little else. */
  #clock: { at: number; readonly run: () => void } | undefined;
  /** The simulated thread that runs until the end of this step; undefined is the main one. */
  #thread: object | undefined;
  readonly #ended = new WeakSet();
  /** Of a hall that ends in this step. */
  #ending: { readonly now: number; readonly done: () => void } | undefined;
  #afterStep: (() => void) | undefined;

  /** `priority` breaks ties between timers that are due at the same time. */
  constructor(priority: () => number) {
    this.#priority = priority;
  }

  /**
   * Timers that the hall has set, without the clock of its deadlines: that is the process's own, and a
   * hall that crashed in it may have left deadlines behind.
   */
  get hallTimers(): number {
    return this.#timers.ofHall().length;
  }

  after(ms: number, run: () => void, isOfHall = false): Timer {
    return this.#add(ms, run, isOfHall, this.#thread);
  }

  /** In a step of that simulated thread, or of the main one. The timers that it sets end with the thread. */
  afterIn(thread: object | undefined, ms: number, run: () => void): void {
    this.#add(ms, run, false, thread);
  }

  /** Continues in a step of the thread that runs now. */
  resumes(run: () => void): () => void {
    const thread = this.#thread;
    return () => this.afterIn(thread, 0, run);
  }

  /** Nothing of it runs any more. */
  endThread(thread: object): void {
    this.#ended.add(thread);
    this.#timers.cancelAll((timer) => timer.thread === thread);
  }

  /** Runs before any other step. */
  afterStep(run: () => void): void {
    this.#afterStep = run;
  }

  /** Resolves after this long. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /**
   * The hall's process has ended: nothing of it runs any more. Its modules live on in this process and
   * know its deadlines, so all of them pass now, when nothing hears what follows from them.
   */
  endHall(): Promise<void> {
    const { now } = this;
    this.now = Number.POSITIVE_INFINITY;
    for (const timer of this.#timers.ofHall()) timer.run();
    this.#clock?.run();
    return new Promise((done) => {
      this.#ending = { now, done };
    });
  }

  /** Runs the timers that are due by `until`, each with everything that follows from it, until `isDone`. */
  async run(until: number, isDone: () => boolean = () => false): Promise<void> {
    for (let isOver = false; !isOver; )
      await new Promise<void>((resolve, reject) => {
        // Promises continue only below a stack of the event loop itself.
        this.#realImmediate(() => {
          try {
            isOver = this.#runSome(until, isDone);
            resolve();
          } catch (error) {
            reject(error as Error);
          }
        });
      });
  }

  /** True if no timer is left, or `isDone`. */
  #runSome(until: number, isDone: () => boolean): boolean {
    continuePromises();
    for (let count = 0; count < stepsPerTurn; count++) {
      if (isDone()) return true;
      if (!this.#tick(until)) {
        const timer = this.#timers.take(until);
        if (!timer) return true;
        this.now = Math.max(this.now, timer.at);
        this.#thread = timer.thread;
        timer.run();
      }
      continuePromises();
      if (this.#afterStep) this.#finishStep(this.#afterStep);
      if (this.#ending) this.#finishEnding(this.#ending);
    }
    return false;
  }

  /** True if the clock was next. */
  #tick(until: number): boolean {
    const clock = this.#clock;
    if (!clock || clock.at > until || clock.at >= this.#timers.nextAt) return false;
    this.now = Math.max(this.now, clock.at);
    this.#thread = undefined;
    clock.at = this.now + clockMs;
    clock.run();
    return true;
  }

  #finishStep(run: () => void): void {
    this.#afterStep = undefined;
    this.#thread = undefined;
    run();
    continuePromises();
  }

  #finishEnding({ now, done }: { readonly now: number; readonly done: () => void }): void {
    this.#ending = undefined;
    this.now = now;
    this.#timers.cancelAll(({ isOfHall }) => isOfHall);
    this.#clock = undefined;
    done();
    continuePromises();
  }

  #add(ms: number, run: () => void, isOfHall: boolean, thread: object | undefined): Timer {
    const at = this.now + Math.max(0, Number.isFinite(ms) ? ms : 0);
    const isCancelled = thread !== undefined && this.#ended.has(thread);
    const timer = { at, priority: this.#priority(), isOfHall, thread, run, isCancelled };
    if (!isCancelled) this.#timers.add(timer);
    return timer;
  }

  /** The rest of this work is a step of its own, so that a crash may come between. */
  readonly #nextStep = (): Promise<void> =>
    new Promise((resolve) => void this.#add(0, resolve, true, this.#thread));

  /** Sets the wall clock forward or back; timers are not affected. */
  jump(ms: number): void {
    this.#skew += ms;
  }

  install(): void {
    const timeout = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): Handle =>
      new Handle(this.after(ms, () => run(...args), true));
    const immediate = (run: (...args: unknown[]) => void, ...args: unknown[]): Handle =>
      timeout(run, 0, ...args);
    const interval = (run: () => void, ms = 0): object => {
      if (ms === clockMs) {
        this.#clock = { at: this.now + ms, run };
        return this.#clock;
      }
      const repeat = (): Timer =>
        this.after(
          ms,
          () => {
            handle.timer = repeat();
            run();
          },
          true,
        );
      const handle = new Handle(repeat());
      return handle;
    };
    const clear = (handle: unknown): void => {
      if (handle instanceof Handle) handle.cancel();
      else if (handle !== undefined && handle === this.#clock) this.#clock = undefined;
    };
    this.replace(globalThis, {
      setTimeout: timeout,
      setInterval: interval,
      setImmediate: immediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    });
    this.replace(Date, { now: () => startOfTime + this.now + this.#skew });
    this.replace(performance, { now: () => this.now });
    this.replace(process, {
      hrtime: () => [this.now / 1_000, 0],
      // Node asks the system for each variable, and the hall reads all of them whenever it starts a server.
      env: { ...process.env },
    });
    const sleep = <T>(ms?: number, value?: T): Promise<T | undefined> =>
      new Promise((resolve) => void this.after(ms ?? 0, () => resolve(value), true));
    const turn = <T>(value?: T): Promise<T | undefined> => sleep(0, value);
    this.replace(require("node:timers/promises"), { setTimeout: sleep, setImmediate: turn });
    // Threads of the pool would answer in an order of their own.
    this.replace(require("node:fs/promises"), filesInSteps(this.#nextStep));
    syncBuiltinESMExports();
  }

  /** Replaces parts of a module or global until `restore`; call `syncBuiltinESMExports` after the last. */
  replace(target: object, parts: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(parts)) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { value, configurable: true, writable: true });
      this.#restores.push(() => {
        if (before) Object.defineProperty(target, name, before);
        else Reflect.deleteProperty(target, name);
      });
    }
  }

  restore(): void {
    for (const restore of this.#restores.splice(0).reverse()) restore();
    syncBuiltinESMExports();
  }
}

const require = createRequire(import.meta.url);
const startOfTime = Date.UTC(2026, 0, 1);
/** As in src/base/timing.ts. */
const clockMs = 50;
/** The event loop turns now and then: modules may be loading. */
const stepsPerTurn = 100;

/**
 * Runs all promises and `process.nextTick` callbacks that can continue without time passing, as Node does between two
 * callbacks. Waiting for a turn of the event loop does the same and takes ten times as long.
 */
function continuePromises(): void {
  (process as unknown as { _tickCallback(): void })._tickCallback();
}

/** The functions of `fs/promises` that the store and its seal use, each at once in a step of its own. */
function filesInSteps(nextStep: () => Promise<void>): Readonly<Record<string, unknown>> {
  const { mkdirSync, writeFileSync, renameSync, rmSync, linkSync, readFileSync, statSync } = fs;
  const works = {
    mkdir: mkdirSync,
    writeFile: writeFileSync,
    rename: renameSync,
    rm: rmSync,
    link: linkSync,
    readFile: readFileSync,
    stat: statSync,
  };
  const inStep =
    (work: (...args: never[]) => unknown) =>
    async (...args: never[]) => {
      await nextStep();
      return work(...args);
    };
  return Object.fromEntries(Object.entries(works).map(([name, work]) => [name, inStep(work)]));
}

/** The handle that `setTimeout` returns. */
class Handle {
  /** An interval has a new one each time. */
  timer: Timer;

  constructor(timer: Timer) {
    this.timer = timer;
  }

  cancel(): void {
    this.timer.isCancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}
