import { afterEach, describe, expect, test, vi } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";

afterEach(() => void vi.useRealTimers());

/** A scope whose user is being asked a question. */
function hold(): { readonly scope: Scope; readonly held: Promise<void>; answer(): void } {
  const scope = new Scope(undefined, 60_000);
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return { scope, held: scope.hold(() => answered), answer };
}

describe("a scope that is closed", () => {
  test("has no deadline any more when a question asked in it is answered later", async () => {
    const { scope, held, answer } = hold();
    scope.close();
    answer();
    await held;
    expect(scope.place).toBeUndefined();
  });
});

describe("a scope", () => {
  test("whose clock was held has as much time left as before", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { scope, held, answer } = hold();
    const leftMs = scope.remainingMs;
    vi.advanceTimersByTime(10 * leftMs);
    expect(scope.place).toBeUndefined();
    answer();
    await held;
    expect(scope.place).toBeDefined();
    expect(scope.remainingMs).toBe(leftMs);
    scope.close();
  });

  test("ends with its parent, with the same reason", () => {
    const parent = new Scope();
    const child = new Scope(parent, 60_000);
    const reason = new HallError("CANCELLED", "no longer wanted");
    parent.cancel(reason);
    expect(child.cancelled).toBe(reason);
    expect(child.signal.reason).toBe(reason);
    expect(child.place).toBeUndefined();
  });
});
