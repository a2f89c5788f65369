import { afterEach, describe, expect, test, vi } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";

afterEach(() => void vi.useRealTimers());

/** A scope whose user is being asked a question. */
function pause(): { readonly scope: Scope; readonly paused: Promise<void>; answer(): void } {
  const scope = new Scope(undefined, 60_000);
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return { scope, paused: scope.pauseWhile(() => answered), answer };
}

describe("a scope that is closed", () => {
  test("has no deadline any more when a question asked in it is answered later", async () => {
    const { scope, paused, answer } = pause();
    scope.close();
    answer();
    await paused;
    expect(scope.place).toBeUndefined();
  });

  test("still shares the retries of its parent", () => {
    const parent = new Scope();
    const child = new Scope(parent);
    while (parent.takeRetry());
    child.close();
    expect(child.takeRetry()).toBe(false);
  });
});

describe("a scope", () => {
  test("whose deadline was paused has as much time left as before", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { scope, paused, answer } = pause();
    const leftMs = scope.remainingMs;
    vi.advanceTimersByTime(10 * leftMs);
    expect(scope.place).toBeUndefined();
    answer();
    await paused;
    expect(scope.place).toBeDefined();
    expect(scope.remainingMs).toBe(leftMs);
    scope.close();
  });

  test("expires with its parent even while it is paused", () => {
    const parent = new Scope();
    const child = new Scope(parent, 60_000);
    void child.pauseWhile(() => new Promise(() => {}));
    parent.expire();
    expect(child.cancelReason).toMatchObject({ code: "TIMEOUT" });
  });

  test("ends with its parent, with the same reason", () => {
    const parent = new Scope();
    const child = new Scope(parent, 60_000);
    const reason = new HallError("CANCELLED", "no longer wanted");
    parent.cancel(reason);
    expect(child.cancelReason).toBe(reason);
    expect(child.signal.reason).toBe(reason);
    expect(child.place).toBeUndefined();
  });
});
