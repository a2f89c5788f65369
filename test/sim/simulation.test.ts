import { expect, test } from "vitest";
import { createPlan } from "./plan.ts";
import { runSeeds } from "./seeds.ts";
import { simulate } from "./simulation.ts";

/** The simulator's share of `npm test`. `npm run test:long` simulates for an hour. */
const seconds = 60;

test("the same seed gives the same run", async () => {
  const plan = createPlan(2, 60);
  const first = await simulate(2, plan, true);
  expect(await simulate(2, plan, true)).toEqual(first);
  expect(await simulate(2, plan)).toEqual({ ...first, trace: [] });
});

test("no fault makes the hall lose, double or cross an answer, or run an unapproved call", async () => {
  const { calls, executed, crashes } = await runSeeds(seconds);
  expect(executed).toBeGreaterThan(calls / 4);
  expect(crashes).toBeGreaterThan(0);
}, 600_000);
