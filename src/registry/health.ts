import type { Health, Toolkit } from "../tool.ts";

/** How every toolkit is doing: one record each, fed by real calls and by probes. Its breaker answers for toolkits that only fail. */
export interface HealthBook {
  record(toolkit: Toolkit): HealthRecord;
  /** How it is, as far as can be told without asking whoever runs it: its own word where it is not well, else what calls and probes have shown. */
  read(toolkit: Toolkit): Promise<Health>;
  /** Calls back whenever a toolkit's state changes. Returns the way to stop listening. */
  onChange(listener: (change: HealthChange) => void): () => void;
}

export interface HealthChange {
  readonly toolkit: Toolkit;
  readonly from: Health["state"];
  readonly to: Health;
}

export interface HealthOptions {
  /** Milliseconds that only grow. Default `performance.now`. */
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

/** Failures in a row after which calls are no longer tried. */
const callFailuresMax = 5;
/** A probe waits for nothing but the answer, so fewer of them prove more. */
const probeFailuresMax = 2;
const restMs = 30_000;
const successesToClose = 2;

type Breaker =
  | { readonly kind: "closed" }
  | { readonly kind: "open"; readonly untilMs: number }
  /** One call at a time finds out whether it is well again. */
  | { readonly kind: "trying"; isBusy: boolean; successes: number };

const closed: Breaker = { kind: "closed" };

export class HealthRecord {
  readonly #now: () => number;
  readonly #changed: (from: Health["state"], to: Health) => void;
  #health: Health = { state: "available" };
  #breaker: Breaker = closed;
  #callFailures = 0;
  #probeFailures = 0;
  /** What last went wrong, for as long as the record lives. */
  lastError: string | undefined;
  responseMs: number | undefined;

  constructor(now: () => number, changed: (from: Health["state"], to: Health) => void) {
    this.#now = now;
    this.#changed = changed;
  }

  get health(): Health {
    return this.#health;
  }

  /** 0 when a call may go, else how long to wait. Whoever goes says how it went: `succeeded`, `failed` or `abandoned`. */
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

  /** The caller withdrew: nothing was learnt. */
  abandoned(): void {
    if (this.#breaker.kind === "trying") this.#breaker.isBusy = false;
  }

  /** What a probe found; `ms` is how long the answer took. */
  probed(found: Health, ms: number): void {
    this.responseMs = ms;
    if ("reason" in found) this.lastError = found.reason;
    if (found.state === "available" || found.state === "degraded") {
      this.#probeFailures = 0;
      if (this.#breaker.kind === "open")
        this.#breaker = { kind: "trying", isBusy: false, successes: 0 };
      if (this.#breaker.kind === "trying") this.#recover();
      else if (found.state === "degraded" || this.#callFailures === 0) this.#become(found);
      return;
    }
    this.#become(found);
  }

  probeFailed(reason: string): void {
    this.lastError = reason;
    this.#probeFailures++;
    this.#weaken(reason, this.#probeFailures >= probeFailuresMax);
  }

  /** It says itself that it cannot be reached, so nothing has to be counted. */
  lost(reason: string): void {
    this.lastError = reason;
    this.#become({ state: "unavailable", reason });
  }

  /** Somebody serves it again. */
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
    if (hasChanged) this.#changed(state, health);
  }
}

/** While the one call that tries is under way. */
const retrySoonMs = 1_000;
