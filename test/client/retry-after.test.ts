import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import { createRetryAfterGate } from "../../src/client/retry-after.ts";

const limited = (retryAfterSeconds: number): HallError =>
  new HallError("RATE_LIMITED", "slow down", { details: { retryAfterSeconds } });

test("a server that asks for a pause gets it from every caller", async () => {
  const gate = createRetryAfterGate();
  const sent: string[] = [];
  const send = (name: string) => async (): Promise<string> => {
    sent.push(name);
    throw limited(600);
  };
  // Neither has the time to wait.
  for (const name of ["first", "second"]) {
    const scope = new Scope(undefined, 60_000);
    await expect(gate(scope, send(name))).rejects.toMatchObject({
      code: "RATE_LIMITED",
      details: { retryAfterSeconds: expect.any(Number) },
    });
    scope.close();
  }
  expect(sent).toEqual(["first"]);
});

test("a call that has the time waits and is sent again", async () => {
  const gate = createRetryAfterGate();
  let sent = 0;
  const send = async (): Promise<string> => {
    if (++sent === 1) throw limited(0.02);
    return "answered";
  };
  expect(await gate(new Scope(), send)).toBe("answered");
  expect(sent).toBe(2);
});
