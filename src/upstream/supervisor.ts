import type { Advice } from "../base/advice.ts";
import { HallError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Scope } from "../base/scope.ts";
import { backoffMs } from "../base/timing.ts";
import type { ServerConnection } from "../client/connection.ts";

export type SupervisorState =
  | { readonly kind: "stopped" }
  | {
      readonly kind: "starting";
      readonly since: number;
      /** Why it was down before; it is not up again until it has started. */
      readonly after?: string | undefined;
    }
  | { readonly kind: "ready"; readonly since: number }
  | {
      readonly kind: "down";
      readonly code: "UNAVAILABLE" | "DENIED";
      readonly reason: string;
      readonly retryAt: number;
      readonly failures: number;
      /** The step that a person must take first, such as approve the server or log in. */
      readonly next?: readonly Advice[] | undefined;
    }
  | { readonly kind: "closed" };

export interface SupervisorOptions {
  readonly name: string;
  /** Opens a connection; calls `lost` with the reason if it goes away by itself. */
  open(scope: Scope, lost: (reason: string) => void): Promise<ServerConnection>;
  /** Details for the error while it is down, such as the end of its log. */
  evidence(): readonly string[];
  /** Removes secrets from a reason. */
  scrub?(text: string): string;
  readonly startMs: number;
  /** 0 for never. */
  readonly idleMs: number;
  /** Reopen after a failure without waiting for a call. */
  readonly isEager: boolean;
  /** True while a client waits for notifications, although nothing is called. */
  isNeeded?(): boolean;
  changed(state: SupervisorState): void;
  readonly random?: () => number;
}

/** After this many failed starts in a row the longest pause applies; then one call tries again. */
const failuresToRest = 5;
const backoff = { firstMs: 500, maxMs: 30_000 };
/** How long after the loss of a connection its reason may arrive. */
const reasonMsMax = 500;
/** An open connection that fails this many calls in a row pauses; then one call tries again. */
const refusalsToTrip = 5;
const tripMs = 5_000;

/** A start under way, or the one that led to the open connection. */
interface Start {
  readonly scope: Scope;
  readonly done: Promise<ServerConnection>;
}

/**
 * Keeps one connection to an upstream: opened on first use, by one start for all waiting calls;
 * closed when idle; reopened after a failure, with growing pauses. It is the upstream's only
 * circuit breaker.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #name: string;
  #state: SupervisorState = { kind: "stopped" };
  #connection: ServerConnection | undefined;
  #start: Start | undefined;
  #isStarting = false;
  #failures = 0;
  #refusals = 0;
  #users = 0;
  /** Both by the clock that is never set. */
  #usedAt = 0;
  #retryAt = 0;
  /** Calls on each connection: one that was replaced closes when its last call is answered. */
  readonly #calls = new Map<ServerConnection, number>();
  #idleTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  readonly #stateWaiters = new Set<() => void>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#name = options.name;
  }

  state(): SupervisorState {
    return this.#state;
  }

  /** How long a server that is down still rests. */
  get retryInMs(): number {
    return this.#state.kind === "down" ? Math.max(0, this.#retryAt - performance.now()) : 0;
  }

  /** The open connection, if there is one. */
  connection(): ServerConnection | undefined {
    return this.#connection;
  }

  /** The open connection or the one being opened; undefined if it does not open. */
  async opened(): Promise<ServerConnection | undefined> {
    if (this.#connection || !this.#isStarting) return this.#connection;
    return this.#start?.done.catch(() => undefined);
  }

  /** Runs work on the open connection, opening it if needed. Throws UNAVAILABLE at once while down. */
  use<T>(scope: Scope, work: (connection: ServerConnection) => Promise<T>): Promise<T> {
    const ready = this.#state.kind === "ready" ? this.#connection : undefined;
    this.#users++;
    if (!ready) return this.#repeatExpired(this.#attempt(scope, work), scope, work);
    // Nearly every call comes this way: one continuation, and no async function.
    return this.#begin(ready, work).then(
      (result) => {
        this.#succeeded(ready);
        this.#left();
        return result;
      },
      (error: unknown) => this.#repeatExpired(this.#failed(ready, error), scope, work),
    );
  }

  /** Closes the connection and forgets failures; the next use opens a new one. */
  async restart(): Promise<void> {
    this.#failures = 0;
    this.#refusals = 0;
    await this.#stop({ kind: "stopped" });
  }

  close(): Promise<void> {
    return this.#stop({ kind: "closed" });
  }

  async #attempt<T>(scope: Scope, work: (connection: ServerConnection) => Promise<T>): Promise<T> {
    const used = await scope.race(this.#connect());
    try {
      const result = await this.#begin(used, work);
      this.#succeeded(used);
      return result;
    } catch (error) {
      return this.#failed(used, error);
    }
  }

  #begin<T>(
    used: ServerConnection,
    work: (connection: ServerConnection) => Promise<T>,
  ): Promise<T> {
    this.#calls.set(used, (this.#calls.get(used) ?? 0) + 1);
    try {
      return work(used);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #succeeded(used: ServerConnection): void {
    this.#failures = 0;
    this.#refusals = 0;
    this.#release(used);
  }

  async #failed(used: ServerConnection, error: unknown): Promise<never> {
    // The connection went away under the call; the reason arrives in a moment.
    const isLost = error instanceof HallError && error.code === "UNAVAILABLE" && used.isLost;
    if (isLost && this.#connection === used) await this.#nextState();
    if (this.#connection === used) this.#judge(error);
    this.#release(used);
    throw error;
  }

  /** An expired session was refused before the call began: repeats it on a new connection. */
  async #repeatExpired<T>(
    attempt: Promise<T>,
    scope: Scope,
    work: (connection: ServerConnection) => Promise<T>,
  ): Promise<T> {
    try {
      return await attempt;
    } catch (error) {
      if (hasExpired(error) && scope.takeRetry())
        return await this.#attempt(scope, work).catch((failure) => this.#explain(failure));
      return this.#explain(error);
    } finally {
      this.#left();
    }
  }

  #left(): void {
    this.#users--;
    this.#usedAt = performance.now();
    this.#watchIdle();
  }

  /** A lost connection does not know why the server went down; the state does. */
  #explain(error: unknown): never {
    const isDown = this.#state.kind === "down";
    throw isDown && error instanceof HallError && error.code === "UNAVAILABLE"
      ? this.#unavailable()
      : error;
  }

  #connect(): Promise<ServerConnection> {
    const state = this.#state;
    switch (state.kind) {
      case "ready":
        return this.#connection ? Promise.resolve(this.#connection) : this.#open();
      case "starting":
        return this.#isStarting && this.#start ? this.#start.done : this.#open();
      case "stopped":
        return this.#open();
      case "down":
        return this.retryInMs > 0 ? Promise.reject(this.#unavailable()) : this.#open();
      case "closed":
        return Promise.reject(new HallError("UNAVAILABLE", `server "${this.#name}" was closed`));
    }
  }

  #open(): Promise<ServerConnection> {
    clearTimeout(this.#retryTimer);
    const after = reasonOf(this.#state);
    this.#become({
      kind: "starting",
      since: Date.now(),
      ...(after === undefined ? {} : { after }),
    });
    const scope = new Scope(undefined, this.#options.startMs);
    const opening = this.#options.open(scope, (reason) => this.#lost(scope, reason));
    const done = scope
      .race(opening)
      .then((opened) => this.#opened(scope, opened))
      .catch((error: unknown) => this.#startFailed(scope, error))
      .finally(() => {
        // After a stop the next start may be under way.
        if (this.#start?.scope === scope) this.#isStarting = false;
        scope.close();
      });
    this.#start = { scope, done };
    this.#isStarting = true;
    return done;
  }

  #opened(scope: Scope, opened: ServerConnection): ServerConnection {
    // It was stopped or lost at the moment it opened.
    if (scope.cancelReason) throw scope.cancelReason;
    this.#connection = opened;
    this.#become({ kind: "ready", since: Date.now() });
    this.#usedAt = performance.now();
    this.#watchIdle();
    return opened;
  }

  #startFailed(scope: Scope, error: unknown): never {
    const code = error instanceof HallError ? error.code : undefined;
    const reason =
      code === "TIMEOUT"
        ? `did not start within ${this.#options.startMs / 1000} s`
        : messageOf(error);
    // `open` releases its resources when its scope is cancelled.
    scope.cancel(new HallError("UNAVAILABLE", reason));
    if (this.#start?.scope === scope && this.#state.kind === "starting")
      this.#fail(reason, code === "DENIED" ? (error as HallError) : undefined);
    throw this.#unavailable();
  }

  #lost(scope: Scope, reason: string): void {
    if (this.#state.kind === "ready" && this.#start?.scope === scope) this.#fail(reason);
    else if (this.#state.kind === "starting") scope.cancel(new HallError("UNAVAILABLE", reason));
  }

  #fail(reason: string, denied?: HallError): void {
    this.#failures++;
    const delayMs =
      this.#failures >= failuresToRest
        ? backoff.maxMs
        : backoffMs(this.#failures, backoff, this.#options.random);
    this.#pause(reason, delayMs, denied);
  }

  #pause(reason: string, delayMs: number, denied?: HallError): void {
    if (this.#state.kind === "closed") return;
    this.#connection = undefined;
    this.#stopIdleTimer();
    this.#retryAt = performance.now() + delayMs;
    this.#become({
      kind: "down",
      code: denied ? "DENIED" : "UNAVAILABLE",
      reason: this.#options.scrub?.(reason) ?? reason,
      retryAt: Date.now() + delayMs,
      failures: this.#failures,
      next: denied?.next,
    });
    if (!this.#options.isEager && !this.#options.isNeeded?.()) return;
    this.#retryTimer = setTimeout(() => void this.#open().catch(() => {}), delayMs);
    this.#retryTimer.unref();
  }

  /** Updates the state by the outcome of a failed call. */
  #judge(error: unknown): void {
    if (error instanceof HallError && error.relayed) {
      // An error of the server's own is an answer: it is alive.
      this.#failures = 0;
      this.#refusals = 0;
    } else if (hasExpired(error)) {
      this.#connection = undefined;
      this.#become({ kind: "stopped" });
    } else if (isRefusal(error) && ++this.#refusals >= refusalsToTrip) {
      // The next call is the probe and decides alone.
      this.#refusals = refusalsToTrip - 1;
      this.#pause(error.message, tripMs);
    }
  }

  #unavailable(): HallError {
    const name = this.#name;
    const state = this.#state;
    if (state.kind !== "down")
      return new HallError("UNAVAILABLE", `server "${name}" is not running`);
    const { code, reason, next } = state;
    if (code === "DENIED")
      return new HallError("DENIED", `server "${name}" ${reason}`, {
        next,
        details: { upstream: name, reason },
      });

    const seconds = Number((this.retryInMs / 1000).toFixed(1));
    const stderr = this.#options.evidence().slice(-5);
    return new HallError("UNAVAILABLE", `server "${name}" is down: ${reason}`, {
      next: [
        { do: "retry-after", seconds },
        { do: "run-command", command: `logs ${name}` },
      ],
      details: {
        upstream: name,
        reason,
        retryAfterSeconds: seconds,
        ...(stderr.length > 0 ? { stderr } : {}),
      },
    });
  }

  #become(next: SupervisorState): void {
    this.#state = next;
    for (const resolve of this.#stateWaiters) resolve();
    this.#options.changed(next);
  }

  /** Resolves at the next change of state, or when the reason takes too long. */
  #nextState(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#stateWaiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, reasonMsMax);
      this.#stateWaiters.add(done);
    });
  }

  /** One timer serves many calls: when it fires, it checks the time since the last use and waits for the rest. */
  #watchIdle(waitMs: number = this.#options.idleMs): void {
    const { idleMs, isEager, isNeeded } = this.#options;
    if (this.#idleTimer || idleMs === 0 || isEager) return;
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      if (this.#state.kind !== "ready") return;
      const isUsed = this.#users > 0 || isNeeded?.();
      const leftMs = isUsed ? idleMs : this.#usedAt + idleMs - performance.now();
      if (leftMs > 0) this.#watchIdle(leftMs);
      else void this.#stop({ kind: "stopped" });
    }, waitMs);
    this.#idleTimer.unref();
  }

  #stopIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  #release(used: ServerConnection): void {
    const left = (this.#calls.get(used) ?? 1) - 1;
    if (left > 0) this.#calls.set(used, left);
    else this.#calls.delete(used);
    if (left === 0 && used !== this.#connection) void used.close();
  }

  async #stop(next: SupervisorState): Promise<void> {
    if (this.#state.kind === "closed") return;
    this.#stopIdleTimer();
    clearTimeout(this.#retryTimer);
    const open = new Set([...this.#calls.keys(), ...(this.#connection ? [this.#connection] : [])]);
    const start = this.#isStarting ? this.#start : undefined;
    this.#connection = undefined;
    this.#become(next);
    this.#start?.scope.cancel(new HallError("UNAVAILABLE", `server "${this.#name}" was stopped`));
    // The calls that wait for this start receive its error themselves.
    await start?.done.catch(() => {});
    await Promise.all([...open].map((used) => used.close()));
  }
}

/** Why a server cannot be used, also while it is tried again. */
export function reasonOf(state: SupervisorState): string | undefined {
  if (state.kind === "starting") return state.after;
  return state.kind === "down" ? state.reason : undefined;
}

function hasExpired(error: unknown): boolean {
  return error instanceof HallError && error.details?.expired === true;
}

/** The connection is open, but the server is in trouble or out of reach. */
function isRefusal(error: unknown): error is HallError {
  if (!(error instanceof HallError) || error.code !== "UNAVAILABLE") return false;
  return error.details?.status !== undefined || error.details?.unreachable === true;
}

/** Logs changes of state; a server that stays down for the same reason is logged once. */
export function createStateLog(
  log: Log,
  { printed, changed }: { printed?(line: string): void; changed?(): void },
): (state: SupervisorState) => void {
  let last = "";
  return (state) => {
    changed?.();
    const news = state.kind === "down" ? `down: ${state.reason}` : state.kind;
    if (news === last || (state.kind === "starting" && last.startsWith("down"))) return;
    last = news;
    log.info({ state }, "upstream state");
    if (state.kind === "down") printed?.(`guildhall: ${state.reason}`);
  };
}
