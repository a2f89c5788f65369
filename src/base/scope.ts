import { HallError } from "./errors.ts";

/**
 * Deadline, cancellation and retry budget of one piece of work. Scopes form a tree: cancelling a
 * parent cancels its open children. Not a bare AbortSignal for two reasons: an AbortController
 * costs more than a whole small call, so it is created only for `signal`; and the deadline can be
 * paused while a person is being asked.
 */
export class Scope {
  /** Index in the clock's list; undefined if it is not in the list. */
  place: number | undefined;
  #deadlineAt: number;
  readonly #allowedMs: number;
  readonly #subject: string | undefined;
  #cancelReason: HallError | undefined;
  #controller: AbortController | undefined;
  #parent: Scope | undefined;
  /** Has the retry budget of the whole tree; also known after `close`. */
  readonly #root: Scope;
  /** Cancel listeners. Nearly always two at most; the set is for the third. */
  #first: Listener | undefined;
  #second: Listener | undefined;
  #others: Set<Listener> | undefined;
  #pausedAt: number | undefined;
  #pauseCount = 0;
  #isClosed = false;
  #retriesLeft = retriesMax;
  #isHurried = false;
  #onHurry: Set<() => void> | undefined;

  /** `subject` is named in the timeout error. */
  constructor(parent?: Scope, timeoutMs: number = Number.POSITIVE_INFINITY, subject?: string) {
    this.#subject = subject;
    this.#root = parent ? parent.#root : this;
    const hasDeadline =
      timeoutMs !== Number.POSITIVE_INFINITY ||
      (parent !== undefined && parent.#deadlineAt !== Number.POSITIVE_INFINITY);
    const now = hasDeadline ? performance.now() : 0;
    this.#deadlineAt = parent ? Math.min(parent.#deadlineAt, now + timeoutMs) : now + timeoutMs;
    this.#allowedMs = this.#deadlineAt - now;
    if (hasDeadline) arm(this, now);
    if (!parent) return;
    if (parent.#cancelReason) {
      this.cancel(parent.#cancelReason);
      return;
    }
    this.#parent = parent;
    parent.#addListener(this);
  }

  /** In the time of `performance.now()`; Infinity without a deadline. */
  get deadlineAt(): number {
    return this.#deadlineAt;
  }

  /** Why the work was cancelled, or undefined. */
  get cancelReason(): HallError | undefined {
    return this.#cancelReason;
  }

  /** For APIs that need one: fetch, timers, child processes, toolkits. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#cancelReason) this.#controller.abort(this.#cancelReason);
    }
    return this.#controller.signal;
  }

  /** Milliseconds left; Infinity without a deadline. */
  get remainingMs(): number {
    return Math.max(0, this.#deadlineAt - (this.#pausedAt ?? performance.now()));
  }

  /** Calls back once, immediately if already cancelled. Returns a function that unsubscribes. */
  onCancel(listener: (reason: HallError) => void): () => void {
    this.attach(listener);
    return () => this.#removeListener(listener);
  }

  /** Like `onCancel`, without a function to unsubscribe: that is what `detach` does. */
  attach(listener: Listener): void {
    if (this.#cancelReason) notify(listener, this.#cancelReason);
    else this.#addListener(listener);
  }

  detach(listener: Listener): void {
    this.#removeListener(listener);
  }

  cancel(reason: HallError): void {
    if (this.#cancelReason) return;
    this.#cancelReason = reason;
    this.close();
    const first = this.#first;
    const second = this.#second;
    const others = this.#others;
    this.#first = undefined;
    this.#second = undefined;
    this.#others = undefined;
    this.#controller?.abort(reason);
    if (first) notify(first, reason);
    if (second) notify(second, reason);
    for (const listener of others ?? []) notify(listener, reason);
  }

  /** Called by the clock at the deadline. */
  expire(): void {
    const subject = this.#subject === undefined ? "" : `${this.#subject}: `;
    this.cancel(
      new HallError(
        "TIMEOUT",
        `${subject}no answer within ${(this.#allowedMs / 1000).toFixed(1)} s`,
      ),
    );
  }

  /** True if the work may be retried once more: one budget for the whole tree. */
  takeRetry(): boolean {
    if (this.#root.#retriesLeft === 0) return false;
    this.#root.#retriesLeft--;
    return true;
  }

  /**
   * Asks all work of the tree to finish soon with the results so far, because the caller is about to
   * disconnect.
   */
  hurry(): void {
    this.#root.#isHurried = true;
    for (const listener of this.#root.#onHurry ?? []) listener();
  }

  /** Calls back at every `hurry`, immediately if there was one. Returns a function that unsubscribes. */
  onHurry(listener: () => void): () => void {
    const root = this.#root;
    if (root.#isHurried) listener();
    root.#onHurry ??= new Set();
    root.#onHurry.add(listener);
    return () => void root.#onHurry?.delete(listener);
  }

  /** Settles as the work does, or rejects as soon as the scope is cancelled. */
  race<T>(work: Promise<T>): Promise<T> {
    return this.#watch(work, (reject) => this.#removeListener(reject));
  }

  /** Like `race`, and closes the scope once the work has settled. */
  closeAfter<T>(work: Promise<T>): Promise<T> {
    return this.#watch(work, () => this.close());
  }

  #watch<T>(work: Promise<T>, settled: (reject: Listener) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#cancelReason) reject(this.#cancelReason);
      else this.#addListener(reject);
      work.then(
        (value) => {
          settled(reject);
          resolve(value);
        },
        (error: unknown) => {
          settled(reject);
          reject(error);
        },
      );
    });
  }

  /** Pauses this scope's deadline while `work` runs; a parent can still expire. */
  async pauseWhile<T>(work: () => Promise<T>): Promise<T> {
    this.#pauseCount++;
    this.#pausedAt ??= performance.now();
    disarm(this);
    try {
      return await work();
    } finally {
      // Several may overlap: the last one to end resumes.
      if (--this.#pauseCount === 0) this.#resume(this.#pausedAt);
    }
  }

  /** Ends the deadline and leaves the parent, which can no longer cancel this scope. Idempotent. */
  close(): void {
    this.#isClosed = true;
    if (this.#deadlineAt !== Number.POSITIVE_INFINITY) disarm(this);
    if (this.#parent) this.#parent.#removeListener(this);
    this.#parent = undefined;
  }

  #resume(pausedAt: number): void {
    const now = performance.now();
    this.#deadlineAt += now - pausedAt;
    this.#pausedAt = undefined;
    if (!this.#isClosed && this.#deadlineAt !== Number.POSITIVE_INFINITY) arm(this, now);
  }

  #addListener(listener: Listener): void {
    if (this.#first === undefined) this.#first = listener;
    else if (this.#second === undefined) this.#second = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  #removeListener(listener: Listener): void {
    if (this.#first === listener) this.#first = undefined;
    else if (this.#second === listener) this.#second = undefined;
    else this.#others?.delete(listener);
  }
}

/** Retries of one tree, whichever layer makes them. */
const retriesMax = 3;

type Listener = { cancel(reason: HallError): void } | ((reason: HallError) => void);

function notify(listener: Listener, reason: HallError): void {
  if (typeof listener === "function") listener(reason);
  else listener.cancel(reason);
}

/** Anything with a deadline, see `arm`. */
export interface Timed {
  /** Its index in the list while it is armed. */
  place: number | undefined;
  readonly deadlineAt: number;
  expire(): void;
}

/**
 * One coarse clock for all deadlines. A timer per call costs more than validating its arguments,
 * and nearly all are cleared unused. So all of them are in a list that is checked 20
 * times a second while it is not empty; a deadline may fire 50 ms late. Each knows its index:
 * a Set with this turnover would retain removed entries (see slot-map.ts).
 */
const armed: Timed[] = [];
const tickMs = 50;
let clock: NodeJS.Timeout | undefined;
let tickedAt = 0;

export function arm(timed: Timed, now: number): void {
  if (timed.place === undefined) timed.place = armed.push(timed) - 1;
  // A clock that has not ticked for long was stopped, for example by a test that replaces timers.
  if (clock && now - tickedAt < 20 * tickMs && now >= tickedAt) return;
  clearInterval(clock);
  clock = setInterval(tick, tickMs);
  tickedAt = now;
}

/** Does nothing if it is not armed. */
export function disarm(timed: Timed): void {
  const { place } = timed;
  if (place === undefined) return;
  timed.place = undefined;
  const last = armed.pop();
  if (last === undefined || last === timed) return;
  armed[place] = last;
  last.place = place;
}

function tick(): void {
  tickedAt = performance.now();
  for (const timed of armed.filter(({ deadlineAt }) => deadlineAt <= tickedAt)) {
    // An earlier callback may have disarmed it.
    if (timed.place === undefined) continue;
    disarm(timed);
    timed.expire();
  }
  if (armed.length > 0) return;
  clearInterval(clock);
  clock = undefined;
}
