import { HallError } from "../base/errors.ts";
import { Scope } from "../base/scope.ts";
import type { Line } from "./line.ts";

/**
 * Keeps one line to an upstream: opened at the first use, by one start for all who wait; closed when nobody has used it
 * for a while; opened again after a failure, later each time. It knows nothing of what the line is made of.
 */
export interface Supervisor {
  /** Runs work on the open line, opening it first if need be. Throws UNAVAILABLE at once while it is down. */
  use<T>(scope: Scope, work: (line: Line) => Promise<T>): Promise<T>;
  state(): SupervisorState;
  /** The open line, if there is one. */
  line(): Line | undefined;
  /** Closes the line and forgets past failures; the next use opens a new one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export type SupervisorState =
  | { readonly kind: "stopped" }
  | { readonly kind: "starting"; readonly since: number }
  | { readonly kind: "ready"; readonly since: number }
  | { readonly kind: "down"; readonly reason: string; readonly retryAt: number; readonly failures: number }
  | { readonly kind: "closed" };

export interface SupervisorOptions {
  readonly name: string;
  /** Opens a line; `lost` must be called when it goes away by itself, with the reason. */
  open(scope: Scope, lost: (reason: string) => void): Promise<Line>;
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

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { name, random = Math.random } = options;
  let state: SupervisorState = { kind: "stopped" };
  let line: Line | undefined;
  let opening: Promise<Line> | undefined;
  let openingScope: Scope | undefined;
  let failures = 0;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;

  function become(next: SupervisorState): void {
    state = next;
    options.changed(next);
  }

  function fail(reason: string): void {
    if (state.kind === "closed") return;
    line = undefined;
    clearTimeout(idle);
    failures++;
    // Full jitter: servers that died together must not come back together.
    const delayMs = failures >= failuresToRest ? backoffMsMax : random() * Math.min(backoffMsMax, backoffMsMin * 2 ** (failures - 1));
    become({ kind: "down", reason, retryAt: Date.now() + delayMs, failures });
    if (!options.isEager) return;
    retry = setTimeout(() => void start().catch(() => {}), delayMs);
    retry.unref();
  }

  function start(): Promise<Line> {
    clearTimeout(retry);
    become({ kind: "starting", since: Date.now() });
    const scope = new Scope(undefined, options.startMs);
    openingScope = scope;
    opening = scope
      .race(options.open(scope, (reason) => lost(scope, reason)))
      .then((opened) => {
        if (state.kind === "closed") throw new HallError("UNAVAILABLE", `${name} was closed`);
        line = opened;
        become({ kind: "ready", since: Date.now() });
        rest();
        return opened;
      })
      .catch((error: unknown) => {
        const reason = error instanceof HallError && error.code === "TIMEOUT" ? `did not start within ${options.startMs / 1000} s` : messageOf(error);
        // `open` gives up what it holds when its scope is cancelled.
        scope.cancel(new HallError("UNAVAILABLE", reason));
        if (state.kind === "starting") fail(reason);
        throw unavailable();
      })
      .finally(() => {
        opening = undefined;
        scope.close();
      });
    return opening;
  }

  function lost(scope: Scope, reason: string): void {
    if (state.kind === "ready" && openingScope === scope) fail(reason);
    else if (state.kind === "starting") scope.cancel(new HallError("UNAVAILABLE", reason));
  }

  function connect(): Promise<Line> {
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
    const evidence = options.evidence().slice(-5);
    return new HallError("UNAVAILABLE", `${name} is down: ${state.reason}`, {
      hint: `It is tried again in ${seconds.toFixed(1)} s; see \`guildhall logs ${name}\`.`,
      details: { upstream: name, reason: state.reason, retryAfterSeconds: Number(seconds.toFixed(1)), ...(evidence.length > 0 ? { stderr: evidence } : {}) },
    });
  }

  /** Starts the clock towards an idle stop, when nobody uses the line. */
  function rest(): void {
    clearTimeout(idle);
    if (users > 0 || options.idleMs === 0 || state.kind !== "ready" || options.isEager) return;
    idle = setTimeout(() => (options.isNeeded?.() ? rest() : void stop({ kind: "stopped" })), options.idleMs);
    idle.unref();
  }

  async function stop(next: SupervisorState): Promise<void> {
    if (state.kind === "closed") return;
    clearTimeout(idle);
    clearTimeout(retry);
    const open = line;
    const starting = opening;
    line = undefined;
    become(next);
    openingScope?.cancel(new HallError("UNAVAILABLE", `${name} was stopped`));
    // What the start says when it is called off was said by whoever waits for it.
    await starting?.catch(() => {});
    await open?.close();
  }

  return {
    async use(scope, work) {
      users++;
      clearTimeout(idle);
      try {
        const open = await scope.race(connect());
        const result = await work(open);
        failures = 0;
        return result;
      } catch (error) {
        // The line went away under the call: say why, which the line itself does not know.
        if (error instanceof HallError && error.code === "UNAVAILABLE" && state.kind === "down") throw unavailable();
        throw error;
      } finally {
        users--;
        rest();
      }
    },
    state: () => state,
    line: () => line,
    async restart() {
      failures = 0;
      await stop({ kind: "stopped" });
    },
    close: () => stop({ kind: "closed" }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
