import type { Health, Toolkit } from "../tool.ts";

/** Health of every toolkit, updated by calls and probes. Its circuit breaker refuses calls to failing ones. */
export interface HealthBook {
  record(toolkit: Toolkit): HealthRecord;
  /** Without a probe: the problem that the toolkit reports, else the result of calls and probes. */
  read(toolkit: Toolkit): Promise<Health>;
  /** Calls back when a toolkit's state changes. Returns a function that stops listening. */
  onChange(listener: (change: HealthChange) => void): () => void;
}

/** The states as services report them. */
export const healthStatuses: Readonly<Record<Health["state"], string>> = {
  available: "healthy",
  degraded: "degraded",
  unavailable: "unhealthy",
  maintenance: "maintenance",
};

export interface HealthChange {
  readonly toolkit: Toolkit;
  readonly from: Health["state"];
  readonly to: Health;
}

export interface HealthOptions {
  /** A monotonic clock in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

export function createHealthBook({
  now = () => performance.now(),
}: HealthOptions = {}): HealthBook {
  const records = new WeakMap<Toolkit, HealthRecord>();
  const listeners = new Set<(change: HealthChange) => void>();
  function findRecord(toolkit: Toolkit): HealthRecord {
    let record = records.get(toolkit);
    if (!record) {
      record = new HealthRecord(now, (from, to) =>
        listeners.forEach((listener) => void listener({ toolkit, from, to })),
      );
      records.set(toolkit, record);
    }
    return record;
  }
  return {
    record: findRecord,
    async read(toolkit) {
      const own = await toolkit.health();
      return own.state === "available" ? findRecord(toolkit).health : own;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Consecutive failures after which the breaker opens. */
const callFailuresMax = 5;
/** Lower, because a probe does no work and should always succeed. */
const probeFailuresMax = 2;
const restMs = 30_000;
const successesToClose = 2;

type Breaker =
  | { readonly kind: "closed" }
  | { readonly kind: "open"; readonly untilMs: number }
  /** One call at a time tests whether it has recovered. */
  | { readonly kind: "trying"; isBusy: boolean; successes: number };

const closed: Breaker = { kind: "closed" };

export class HealthRecord {
  readonly #now: () => number;
  readonly #changed: (from: Health["state"], to: Health) => void;
  #health: Health = { state: "available" };
  #breaker: Breaker = closed;
  #callFailures = 0;
  #probeFailures = 0;
  /** The last error since it was available; a recovery clears it. */
  lastError: string | undefined;
  responseMs: number | undefined;

  constructor(now: () => number, changed: (from: Health["state"], to: Health) => void) {
    this.#now = now;
    this.#changed = changed;
  }

  get health(): Health {
    return this.#health;
  }

  /** 0 if a call may start, else the wait in ms. Each admitted call ends with `succeeded`, `failed` or `abandoned`. */
  admit(): number {
    const breaker = this.#breaker;
    switch (breaker.kind) {
      case "closed":
        return this.#health.state === "maintenance" ? restMs : 0;
      case "open": {
        const waitMs = breaker.untilMs - this.#now();
        if (waitMs > 0) return waitMs;
        this.#breaker = { kind: "trying", isBusy: true, successes: 0 };
        return 0;
      }
      case "trying":
        if (breaker.isBusy) return retrySoonMs;
        breaker.isBusy = true;
        return 0;
    }
  }

  succeeded(): void {
    this.#callFailures = 0;
    this.#probeFailures = 0;
    if (this.#breaker.kind === "closed") {
      if (this.#health.state !== "available") this.#become({ state: "available" });
    } else this.#recover();
  }

  failed(reason: string): void {
    this.lastError = reason;
    this.#callFailures++;
    this.#weaken(reason, this.#callFailures >= callFailuresMax);
  }

  /** The caller cancelled, which proves nothing. */
  abandoned(): void {
    if (this.#breaker.kind === "trying") this.#breaker.isBusy = false;
  }

  /** Records a probe's result; `ms` is its response time. */
  probed(found: Health, ms: number): void {
    this.responseMs = ms;
    if ("reason" in found) this.lastError = found.reason;
    if (found.state === "available" || found.state === "degraded") {
      this.#probeFailures = 0;
      if (this.#breaker.kind !== "closed") {
        this.#breaker = closed;
        this.#callFailures = 0;
      }
      if (found.state === "degraded" || this.#callFailures === 0) this.#become(found);
      return;
    }
    this.#become(found);
  }

  probeFailed(reason: string): void {
    this.lastError = reason;
    this.#probeFailures++;
    this.#weaken(reason, this.#probeFailures >= probeFailuresMax);
  }

  /** The toolkit itself reports that it cannot be reached. */
  lost(reason: string): void {
    this.lastError = reason;
    this.#become({ state: "unavailable", reason });
  }

  /** Another hall found that it fails. */
  openedElsewhere(reason: string): void {
    this.lastError = reason;
    this.#breaker = { kind: "open", untilMs: this.#now() + restMs };
    this.#become({ state: "unavailable", reason });
  }

  /** A service is attached again. */
  reset(): void {
    this.#breaker = closed;
    this.#callFailures = 0;
    this.#probeFailures = 0;
    this.#become({ state: "available" });
  }

  #weaken(reason: string, isOver: boolean): void {
    if (isOver || this.#breaker.kind === "trying") {
      this.#breaker = { kind: "open", untilMs: this.#now() + restMs };
      this.#become({ state: "unavailable", reason });
    } else if (this.#breaker.kind === "closed" && this.#health.state === "available")
      this.#become({ state: "degraded", reason });
  }

  #recover(): void {
    if (this.#breaker.kind !== "trying") return;
    this.#breaker.isBusy = false;
    if (++this.#breaker.successes < successesToClose) return;
    this.#breaker = closed;
    this.#callFailures = 0;
    this.#become({ state: "available" });
  }

  #become(health: Health): void {
    const { state } = this.#health;
    const hasChanged = state !== health.state;
    this.#health = health;
    if (health.state === "available") this.lastError = undefined;
    if (hasChanged) this.#changed(state, health);
  }
}

/** Wait while the test call is running. */
const retrySoonMs = 1_000;
