import { backoffMs } from "../base/backoff.ts";
import { HallError, messageOf } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import type { ServerConnection } from "../client/connection.ts";

/**
 * Keeps one line to an upstream: opened at the first use, by one start for all who wait; closed when nobody has used it
 * for a while; opened again after a failure, later each time. It knows nothing of what the line is made of.
 */
export interface Supervisor {
  /** Runs work on the open line, opening it first if need be. Throws UNAVAILABLE at once while it is down. */
  use<T>(scope: Scope, work: (line: ServerConnection) => Promise<T>): Promise<T>;
  state(): SupervisorState;
  /** The open line, if there is one. */
  line(): ServerConnection | undefined;
  /** The same, or the one that is being opened; undefined as well when it does not open. */
  opened(): Promise<ServerConnection | undefined>;
  /** Closes the line and forgets past failures; the next use opens a new one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export type SupervisorState =
  | { readonly kind: "stopped" }
  | { readonly kind: "starting"; readonly since: number }
  | { readonly kind: "ready"; readonly since: number }
  | {
      readonly kind: "down";
      readonly code: "UNAVAILABLE" | "DENIED";
      readonly reason: string;
      readonly retryAt: number;
      readonly failures: number;
    }
  | { readonly kind: "closed" };

export interface SupervisorOptions {
  readonly name: string;
  /** Opens a line; `lost` must be called when it goes away by itself, with the reason. */
  open(scope: Scope, lost: (reason: string) => void): Promise<ServerConnection>;
  /** What else to say when it is down, such as the end of its log. */
  evidence(): readonly string[];
  readonly startMs: number;
  /** 0 for never. */
  readonly idleMs: number;
  /** Open again by itself after a failure, without waiting for a call. */
  readonly isEager: boolean;
  /** True while somebody waits for news, although nothing is called. */
  isNeeded?(): boolean;
  changed(state: SupervisorState): void;
  readonly random?: () => number;
}

/** After this many failures in a row it rests for the longest time; one call then tries again. */
const failuresToRest = 5;
const backoffMsMin = 500;
const backoffMsMax = 30_000;
/** How long after the loss of a line its reason may be heard of. */
const reasonMsMax = 500;
/** A line that is open but fails this many calls in a row is as good as down: it rests, and one call then tries again. */
const refusalsToTrip = 5;
const tripMs = 5_000;

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { name, random = Math.random } = options;
  let state: SupervisorState = { kind: "stopped" };
  let line: ServerConnection | undefined;
  let opening: Promise<ServerConnection> | undefined;
  let openingScope: Scope | undefined;
  let failures = 0;
  let refusals = 0;
  let users = 0;
  let usedAt = 0;
  /** Calls on each line: one that is given up is closed when the last of them has its answer. */
  const calls = new Map<ServerConnection, number>();
  let idle: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  const waiting = new Set<() => void>();

  function become(next: SupervisorState): void {
    state = next;
    for (const go of waiting) go();
    options.changed(next);
  }

  /** Resolves at the next change of state, or when the reason takes too long. */
  function untilExplained(): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, reasonMsMax);
      waiting.add(go);
    });
  }

  function fail(reason: string, code: "UNAVAILABLE" | "DENIED" = "UNAVAILABLE"): void {
    failures++;
    const delayMs =
      failures >= failuresToRest
        ? backoffMsMax
        : backoffMs(failures, { firstMs: backoffMsMin, maxMs: backoffMsMax }, random);
    rest(reason, code, delayMs);
  }

  function rest(reason: string, code: "UNAVAILABLE" | "DENIED", delayMs: number): void {
    if (state.kind === "closed") return;
    line = undefined;
    stopWatching();
    become({ kind: "down", code, reason, retryAt: Date.now() + delayMs, failures });
    if (!options.isEager && !options.isNeeded?.()) return;
    retry = setTimeout(() => void start().catch(() => {}), delayMs);
    retry.unref();
  }

  function start(): Promise<ServerConnection> {
    clearTimeout(retry);
    become({ kind: "starting", since: Date.now() });
    const scope = new Scope(undefined, options.startMs);
    openingScope = scope;
    const started = scope
      .race(options.open(scope, (reason) => lost(scope, reason)))
      .then((opened) => {
        // It was stopped, or lost, in the moment it was open.
        if (scope.cancelled) throw scope.cancelled;
        line = opened;
        become({ kind: "ready", since: Date.now() });
        usedAt = Date.now();
        watchIdle();
        return opened;
      })
      .catch((error: unknown) => {
        const reason =
          error instanceof HallError && error.code === "TIMEOUT"
            ? `did not start within ${options.startMs / 1000} s`
            : messageOf(error);
        // `open` gives up what it holds when its scope is cancelled.
        scope.cancel(new HallError("UNAVAILABLE", reason));
        if (openingScope === scope && state.kind === "starting")
          fail(
            reason,
            error instanceof HallError && error.code === "DENIED" ? "DENIED" : "UNAVAILABLE",
          );
        throw unavailable();
      })
      .finally(() => {
        // After a stop the next start may be under way.
        if (opening === started) opening = undefined;
        scope.close();
      });
    opening = started;
    return started;
  }

  function lost(scope: Scope, reason: string): void {
    if (state.kind === "ready" && openingScope === scope) fail(reason);
    else if (state.kind === "starting") scope.cancel(new HallError("UNAVAILABLE", reason));
  }

  function connect(): Promise<ServerConnection> {
    switch (state.kind) {
      case "ready":
        return line ? Promise.resolve(line) : start();
      case "starting":
        return opening ?? start();
      case "stopped":
        return start();
      case "down":
        return Date.now() >= state.retryAt ? start() : Promise.reject(unavailable());
      case "closed":
        return Promise.reject(new HallError("UNAVAILABLE", `${name} was closed`));
    }
  }

  function unavailable(): HallError {
    if (state.kind !== "down") return new HallError("UNAVAILABLE", `${name} is not running`);
    const seconds = Math.max(0, (state.retryAt - Date.now()) / 1000);
    if (state.code === "DENIED")
      return new HallError("DENIED", `${name} ${state.reason}`, {
        hint: "Call again after that.",
        details: { upstream: name, reason: state.reason },
      });
    const evidence = options.evidence().slice(-5);
    return new HallError("UNAVAILABLE", `${name} is down: ${state.reason}`, {
      hint: `It is tried again in ${seconds.toFixed(1)} s; see \`guildhall logs ${name}\`.`,
      details: {
        upstream: name,
        reason: state.reason,
        retryAfterSeconds: Number(seconds.toFixed(1)),
        ...(evidence.length > 0 ? { stderr: evidence } : {}),
      },
    });
  }

  /** Towards an idle stop. One timer serves many calls: when it fires it looks how long the line has not been used, and waits for the rest. */
  function watchIdle(waitMs: number = options.idleMs): void {
    if (idle || options.idleMs === 0 || options.isEager) return;
    idle = setTimeout(() => {
      idle = undefined;
      if (state.kind !== "ready") return;
      const restMs =
        users > 0 || options.isNeeded?.() ? options.idleMs : usedAt + options.idleMs - Date.now();
      if (restMs > 0) watchIdle(restMs);
      else void stop({ kind: "stopped" });
    }, waitMs);
    idle.unref();
  }

  function stopWatching(): void {
    clearTimeout(idle);
    idle = undefined;
  }

  async function attempt<T>(
    scope: Scope,
    work: (line: ServerConnection) => Promise<T>,
  ): Promise<T> {
    const open = state.kind === "ready" && line ? line : await scope.race(connect());
    calls.set(open, (calls.get(open) ?? 0) + 1);
    try {
      const result = await work(open);
      failures = 0;
      refusals = 0;
      return result;
    } catch (error) {
      // The line went away under the call; why is known in a moment.
      const isLost = error instanceof HallError && error.code === "UNAVAILABLE" && open.isLost;
      if (isLost && line === open) await untilExplained();
      if (line === open) judge(error);
      throw error;
    } finally {
      release(open);
    }
  }

  /** After a failure: once more where nothing can have happened, else the failure with what is known of it. */
  async function again<T>(
    error: unknown,
    scope: Scope,
    work: (line: ServerConnection) => Promise<T>,
  ): Promise<T> {
    try {
      // It has forgotten us, and has said so instead of beginning: the same again on a new connection.
      if (hasExpired(error)) return await attempt(scope, work);
      throw error;
    } catch (failure) {
      // The line went away under the call: say why, which the line itself does not know.
      if (failure instanceof HallError && failure.code === "UNAVAILABLE" && state.kind === "down")
        throw unavailable();
      throw failure;
    }
  }

  /** What a failed call says about the line it was made on. */
  function judge(error: unknown): void {
    if (error instanceof HallError && error.relayed) {
      // An error of its own is an answer too: it is alive.
      failures = 0;
      refusals = 0;
    } else if (hasExpired(error)) {
      line = undefined;
      become({ kind: "stopped" });
    } else if (error instanceof HallError && isRefusal(error) && ++refusals >= refusalsToTrip) {
      // The next call is the probe: it decides alone.
      refusals = refusalsToTrip - 1;
      rest(error.message, "UNAVAILABLE", tripMs);
    }
  }

  function release(open: ServerConnection): void {
    const left = (calls.get(open) ?? 1) - 1;
    if (left > 0) calls.set(open, left);
    else calls.delete(open);
    if (left === 0 && open !== line) void open.close();
  }

  async function stop(next: SupervisorState): Promise<void> {
    if (state.kind === "closed") return;
    stopWatching();
    clearTimeout(retry);
    const open = new Set([...calls.keys(), ...(line ? [line] : [])]);
    const starting = opening;
    line = undefined;
    become(next);
    openingScope?.cancel(new HallError("UNAVAILABLE", `${name} was stopped`));
    // What the start says when it is called off was said by whoever waits for it.
    await starting?.catch(() => {});
    await Promise.all([...open].map((used) => used.close()));
  }

  return {
    async use(scope, work) {
      users++;
      try {
        return await attempt(scope, work);
      } catch (error) {
        return await again(error, scope, work);
      } finally {
        users--;
        usedAt = Date.now();
        watchIdle();
      }
    },
    state: () => state,
    line: () => line,
    opened: async () => line ?? opening?.catch(() => undefined),
    async restart() {
      failures = 0;
      refusals = 0;
      await stop({ kind: "stopped" });
    },
    close: () => stop({ kind: "closed" }),
  };
}

function hasExpired(error: unknown): boolean {
  return error instanceof HallError && error.details?.expired === true;
}

/** The line is there, and nothing comes of it: a server in trouble, or out of reach. A line that is gone says so itself. */
function isRefusal({ code, details }: HallError): boolean {
  return code === "UNAVAILABLE" && (details?.status !== undefined || details?.unreachable === true);
}
