import { setImmediate } from "node:timers/promises";
import type { Scope } from "./scope.ts";

const sliceMs = 8;

/** Runs work that yields often; others have their turn every few milliseconds. Throws the scope's reason when it is cancelled. */
export async function runInSlices<T>(work: Generator<void, T>, scope: Scope): Promise<T> {
  for (;;) {
    if (scope.cancelled) throw scope.cancelled;
    const sliceEnd = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < sliceEnd);
    await setImmediate();
  }
}
