import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import { createPace } from "../../src/client/retry-after.ts";

test("a server that asks for a pause gets it from every caller", async () => {
  const pace = createPace();
  const sent: string[] = [];
  const send = (name: string) => async (): Promise<string> => {
    sent.push(name);
    if (sent.length > 1) return name;
    throw new HallError("RATE_LIMITED", "slow down", { details: { retryAfterSeconds: 1 } });
  };
  const first = pace(new Scope(), send("first"));
  await nextTurn();
  const second = pace(new Scope(), send("second"));
  await nextTurn();
  expect(sent).toEqual(["first"]);
  expect(await Promise.all([first, second])).toEqual(["first", "second"]);
  expect(sent).toEqual(["first", "first", "second"]);
});
