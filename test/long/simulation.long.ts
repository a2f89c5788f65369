import { expect, test } from "vitest";
import { runSeeds } from "../sim/seeds.ts";

const seconds = 3_600;

test("an hour of simulated faults breaks no rule", async () => {
  const { calls, executed } = await runSeeds(seconds);
  expect(executed).toBeGreaterThan(calls / 4);
}, 3_900_000);
