import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { Scope } from "./scope.ts";

/**
 * The wait before attempt `attempt` (1 is the first retry): doubles from `firstMs` up to `maxMs`.
 * Full jitter, so that clients that failed together do not come back together.
 */
export function backoffMs(
  attempt: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
  random: () => number = Math.random,
): number {
  return random() * Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, attempt - 1)));
}

/**
 * Calls `beat` regularly with the elapsed seconds while work may be silent for long, so that a client does
 * not time out. Returns a function that stops it.
 */
export function startHeartbeat(
  beat: (seconds: number) => void,
  everyMs: number = heartbeatMsUsual,
): () => void {
  const startedAt = performance.now();
  const timer = setInterval(() => beat((performance.now() - startedAt) / 1_000), everyMs).unref();
  return () => clearInterval(timer);
}

/** Half of the shortest client timeout we expect. */
const heartbeatMsUsual = 2_000;

/** A promise that is settled from outside: `Promise.withResolvers`, which Node has from version 22 on. */
export function withResolvers<T>(): {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
} {
  let resolve = (_value: T): void => {};
  let reject = (_reason: unknown): void => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    [resolve, reject] = [onResolve, onReject];
  });
  return { promise, resolve, reject };
}

const sliceMs = 8;

/**
 * Runs a generator in slices of a few milliseconds, so that the event loop stays responsive. Throws
 * the scope's reason if cancelled.
 */
export async function runInSlices<T>(work: Generator<void, T>, scope: Scope): Promise<T> {
  for (;;) {
    if (scope.cancelReason) throw scope.cancelReason;
    const sliceEnd = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < sliceEnd);
    await setImmediate();
  }
}

/** Milliseconds on a clock that is never set, the same in every thread of this process. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** Time since the machine was started: a clock that is never set. */
export interface BootTime {
  /** Another value after each start of the machine; "" where the system does not say. */
  readonly boot: string;
  readonly ms: number;
}

let boot: string | undefined;

export function bootTime(): BootTime {
  boot ??= readBoot();
  return { boot, ms: uptime() * 1000 };
}

function readBoot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
