import { setImmediate } from "node:timers/promises";
import type { Scope } from "./scope.ts";

const sliceMs = 8;

/** Runs a generator in slices of a few milliseconds, so that the event loop stays responsive. Throws the scope's reason if cancelled. */
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
