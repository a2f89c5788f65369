import { expect, test } from "vitest";
import { startCluster } from "../store/cluster.ts";
import { runChaos } from "./chaos.ts";
import { nameOf, planFaults } from "./faults.ts";
import { startTeam } from "./team.ts";

test("halls that are killed, stopped and cut off lose, repeat and confuse nothing", async () => {
  await using cluster = await startCluster();
  await using team = await startTeam(cluster, { fronts: true });
  const seed = 7;
  const report = await runChaos(team, cluster, { seconds: 6, clients: 8, seed, pauseMs: 500 });
  expect(report.broken).toEqual([]);
  expect(report.answered).toBeGreaterThan(0);
  // The seed alone decides what fails, in which order.
  expect(report.faults.length).toBeGreaterThan(0);
  const plan = planFaults(seed, team.halls.length);
  expect(report.faults).toEqual(report.faults.map(() => nameOf(plan.next().value)));
});
