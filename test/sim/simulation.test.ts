import { expect, test } from "vitest";
import { createPlan } from "./plan.ts";
import { runSeeds } from "./seeds.ts";
import { simulate } from "./simulation.ts";

const seconds = 60;

test("the same seed gives the same run", async () => {
  const plan = createPlan(1, 60);
  expect(await simulate(1, plan)).toEqual(await simulate(1, plan));
});

test("no fault makes the hall lose, double or cross an answer, or run what nobody allowed", async () => {
  const { seeds, calls, executed } = await runSeeds(seconds);
  console.log(`simulated ${calls} calls with ${seeds} seeds; ${executed} reached a server`);
  expect(executed).toBeGreaterThan(calls / 4);
}, 600_000);
