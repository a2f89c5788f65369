import { HallError } from "./errors.ts";

/**
 * Deadline, cancellation and retry budget of one piece of work. Scopes form a tree: a child never
 * outlives its parent. Not a bare AbortSignal for two reasons: an AbortController costs more than a
 * whole small call, so it is created only for `signal`; and the clock can stand still while a person
 * is being asked.
 */
export class Scope {
  /** Index in the list of the clock; undefined if it is not in the list. */
  place: number | undefined;
  #deadlineAt: number;
  readonly #allowedMs: number;
  readonly #subject: string | undefined;
  #reason: HallError | undefined;
  #controller: AbortController | undefined;
  #parent: Scope | undefined;
  /** Cancel listeners. Nearly always two at most; the set is for the third. */
  #first: Listener | undefined;
  #second: Listener | undefined;
  #others: Set<Listener> | undefined;
  #heldAt: number | undefined;
  #holds = 0;
  #isClosed = false;
  #retriesLeft = retriesMax;

  /** `subject` is named in the timeout error. */
  constructor(parent?: Scope, timeoutMs: number = Number.POSITIVE_INFINITY, subject?: string) {
    this.#subject = subject;
    const hasDeadline =
      timeoutMs !== Number.POSITIVE_INFINITY ||
      (parent !== undefined && parent.#deadlineAt !== Number.POSITIVE_INFINITY);
    const now = hasDeadline ? performance.now() : 0;
    this.#deadlineAt = parent ? Math.min(parent.#deadlineAt, now + timeoutMs) : now + timeoutMs;
    this.#allowedMs = this.#deadlineAt - now;
    if (hasDeadline) arm(this, now);
    if (!parent) return;
    if (parent.#reason) {
      this.cancel(parent.#reason);
      return;
    }
    this.#parent = parent;
    parent.#join(this);
  }

  get deadlineAt(): number {
    return this.#deadlineAt;
  }

  /** Why the work was cancelled, or undefined. */
  get cancelled(): HallError | undefined {
    return this.#reason;
  }

  /** For APIs that need one: fetch, timers, child processes, toolkits. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Milliseconds left; Infinity without a deadline. */
  get remainingMs(): number {
    return Math.max(0, this.#deadlineAt - (this.#heldAt ?? performance.now()));
  }

  /** Calls back once, immediately if already cancelled. Returns a function that unsubscribes. */
  onCancel(listener: (reason: HallError) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => {};
    }
    this.#join(listener);
    return () => this.#leave(listener);
  }

  cancel(reason: HallError): void {
    if (this.#reason) return;
    this.#reason = reason;
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

  /** True if the work may be retried once more: one budget for all layers, shared with the parent. */
  takeRetry(): boolean {
    if (this.#parent) return this.#parent.takeRetry();
    if (this.#retriesLeft === 0) return false;
    this.#retriesLeft--;
    return true;
  }

  /** Settles as the work does, or rejects as soon as the scope is cancelled. */
  race<T>(work: Promise<T>): Promise<T> {
    return this.#watch(work, (reject) => this.#leave(reject));
  }

  /** Like `race`, and closes the scope with the work. */
  finish<T>(work: Promise<T>): Promise<T> {
    return this.#watch(work, () => this.close());
  }

  #watch<T>(work: Promise<T>, settled: (reject: Listener) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#reason) reject(this.#reason);
      else this.#join(reject);
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

  /** Stops the clock while `work` runs, for example while a person is being asked. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#holds++;
    this.#heldAt ??= performance.now();
    disarm(this);
    try {
      return await work();
    } finally {
      // The last of several questions starts the clock again.
      if (--this.#holds === 0) this.#release(this.#heldAt);
    }
  }

  /** Releases clock and parent. Idempotent; the parent can no longer cancel it. */
  close(): void {
    this.#isClosed = true;
    if (this.#deadlineAt !== Number.POSITIVE_INFINITY) disarm(this);
    if (this.#parent) this.#parent.#leave(this);
    this.#parent = undefined;
  }

  #release(heldAt: number): void {
    const now = performance.now();
    this.#deadlineAt += now - heldAt;
    this.#heldAt = undefined;
    if (!this.#isClosed && this.#deadlineAt !== Number.POSITIVE_INFINITY) arm(this, now);
  }

  #join(listener: Listener): void {
    if (this.#first === undefined) this.#first = listener;
    else if (this.#second === undefined) this.#second = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  #leave(listener: Listener): void {
    if (this.#first === listener) this.#first = undefined;
    else if (this.#second === listener) this.#second = undefined;
    else this.#others?.delete(listener);
  }
}

/** Retries of one piece of work, whichever layer makes them. */
const retriesMax = 3;

type Listener = Scope | ((reason: HallError) => void);

function notify(listener: Listener, reason: HallError): void {
  if (listener instanceof Scope) listener.cancel(reason);
  else listener(reason);
}

/**
 * One coarse clock for all deadlines. A timer per call costs more than validating its arguments, and nearly
 * all are cleared unused. So deadlines are in a list that is checked 20 times a second while it is not
 * empty; one may fire 50 ms late. Each knows its index: a Set with this turnover would retain removed
 * entries (see slot-map.ts).
 */
const armed: Scope[] = [];
const tickMs = 50;
let clock: NodeJS.Timeout | undefined;
let tickedAt = 0;

function arm(scope: Scope, now: number): void {
  if (scope.place === undefined) scope.place = armed.push(scope) - 1;
  // A clock that has not ticked for long was stopped, for example by a test that replaced the timers.
  if (clock && now - tickedAt < 20 * tickMs && now >= tickedAt) return;
  clearInterval(clock);
  clock = setInterval(tick, tickMs);
  tickedAt = now;
}

function disarm(scope: Scope): void {
  const { place } = scope;
  if (place === undefined) return;
  scope.place = undefined;
  const last = armed.pop();
  if (last === undefined || last === scope) return;
  armed[place] = last;
  last.place = place;
}

function tick(): void {
  tickedAt = performance.now();
  for (const scope of armed.filter(({ deadlineAt }) => deadlineAt <= tickedAt)) {
    // An earlier callback may have disarmed it.
    if (scope.place === undefined) continue;
    disarm(scope);
    scope.expire();
  }
  if (armed.length > 0) return;
  clearInterval(clock);
  clock = undefined;
}
