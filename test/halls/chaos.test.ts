import { expect, test } from "vitest";
import { startCluster } from "../store/cluster.ts";
import { runChaos } from "./chaos.ts";
import { startTeam } from "./team.ts";

test("halls that are killed, stopped and cut off lose, repeat and confuse nothing", async () => {
  await using cluster = await startCluster();
  await using team = await startTeam(cluster);
  const report = await runChaos(team, cluster, {
    seconds: 6,
    clients: 8,
    seed: 7,
    pauseMs: 500,
  });
  expect(report.broken).toEqual([]);
  expect(report.faults.length).toBeGreaterThan(0);
  expect(report.answered).toBeGreaterThan(0);
  const verified = await team.run(0, "audit", "verify");
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
});
