import { HallError } from "./errors.ts";

/**
 * Deadline and cancellation of one piece of work. Scopes form a tree: a child never outlives its parent.
 * Two reasons not to pass a bare AbortSignal around: an AbortController costs more than a whole small call,
 * so it is made only when somebody asks for `signal`; and a person who is being asked must not use up the
 * time of the tool, so the clock can be held.
 */
export class Scope {
  #deadlineAt: number;
  #reason: HallError | undefined;
  #controller: AbortController | undefined;
  #listeners: Set<(reason: HallError) => void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #leaveParent: (() => void) | undefined;
  #heldAt: number | undefined;
  #holds = 0;

  constructor(parent?: Scope, timeoutMs: number = Number.POSITIVE_INFINITY) {
    const ownDeadline = performance.now() + timeoutMs;
    this.#deadlineAt = parent ? Math.min(parent.#deadlineAt, ownDeadline) : ownDeadline;
    if (parent) this.#leaveParent = parent.onCancel((reason) => this.cancel(reason));
    this.#arm();
  }

  /** Why the work was called off, or undefined while it may go on. */
  get cancelled(): HallError | undefined {
    return this.#reason;
  }

  /** For APIs that want one: fetch, timers, child processes, toolkits. */
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

  /** Calls back once, at once when already cancelled. Returns the way to leave. */
  onCancel(listener: (reason: HallError) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => {};
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }

  cancel(reason: HallError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.close();
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#controller?.abort(reason);
    for (const listener of listeners ?? []) listener(reason);
  }

  /** Settles as the work does, or rejects as soon as the scope is cancelled. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = this.onCancel(reject);
      work.then(
        (value) => {
          leave();
          resolve(value);
        },
        (error: unknown) => {
          leave();
          reject(error);
        },
      );
    });
  }

  /** Stops the clock while `work` runs: used while a person is being asked. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#holds++;
    this.#heldAt ??= performance.now();
    clearTimeout(this.#timer);
    try {
      return await work();
    } finally {
      // The last of several questions starts the clock again.
      if (--this.#holds === 0) this.#release(this.#heldAt);
    }
  }

  #release(heldAt: number): void {
    this.#deadlineAt += performance.now() - heldAt;
    this.#heldAt = undefined;
    if (!this.#reason) this.#arm();
  }

  /** Lets go of timer and parent. Idempotent; the scope can no longer be cancelled from above. */
  close(): void {
    clearTimeout(this.#timer);
    this.#leaveParent?.();
    this.#leaveParent = undefined;
  }

  #arm(): void {
    if (this.#deadlineAt === Number.POSITIVE_INFINITY) return;
    const startedWith = this.remainingMs;
    this.#timer = setTimeout(() => {
      this.cancel(new HallError("TIMEOUT", `no answer within ${(startedWith / 1000).toFixed(1)} s`));
    }, startedWith);
  }
}
