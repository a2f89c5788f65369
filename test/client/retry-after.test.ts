import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import { createRetryAfterGate } from "../../src/client/retry-after.ts";

test("a server that asks for a pause gets it from every caller", async () => {
  const gate = createRetryAfterGate();
  const sent: string[] = [];
  const send = (name: string) => async (): Promise<string> => {
    sent.push(name);
    if (sent.length > 1) return name;
    throw new HallError("RATE_LIMITED", "slow down", { details: { retryAfterSeconds: 1 } });
  };
  const first = gate(new Scope(), send("first"));
  await nextTurn();
  const second = gate(new Scope(), send("second"));
  await nextTurn();
  expect(sent).toEqual(["first"]);
  expect(await Promise.all([first, second])).toEqual(["first", "second"]);
  expect(sent).toEqual(["first", "first", "second"]);
});
