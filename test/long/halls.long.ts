import { expect, test } from "vitest";
import { runChaos } from "../halls/chaos.ts";
import { ask, startTeam, type Team } from "../halls/team.ts";
import { startCluster } from "../store/cluster.ts";

const minutes = Number(process.env.GUILDHALL_CHAOS_MINUTES ?? 20);
const seed = Number(process.env.GUILDHALL_CHAOS_SEED ?? Date.now() % 1_000_000);

test("sixty clients of both eras, three halls and a database that fail at random", {
  timeout: (minutes + 10) * 60_000,
}, async () => {
  await using cluster = await startCluster();
  await using team = await startTeam(cluster);
  const options = { seconds: minutes * 60, clients: 60, seed, pauseMs: 3_000 };
  const report = await runChaos(team, cluster, options);
  const { requests, answered, cut, grants, revocations, faults, broken } = report;
  console.log(
    JSON.stringify({ seed, requests, answered, cut, grants, revocations, faults: faults.length }),
  );
  expect(broken).toEqual([]);
  const verified = await team.run(0, "audit", "verify");
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
  await expectRows(team, report.acknowledged);
});

/** Every change that was answered as done has its row. */
async function expectRows(team: Team, acknowledged: readonly string[]): Promise<void> {
  const { stdout } = await team.run(0, "audit", "--export", "jsonl", "--tool", "work.change");
  const rows = stdout.split("\n").filter((line) => line.includes("destructive call"));
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged.length);
}

test("prints the calls a second of one, two and three halls", { timeout: 300_000 }, async () => {
  await using cluster = await startCluster();
  await using team = await startTeam(cluster);
  const rates: number[] = [];
  for (const count of [1, 2, 3]) {
    for (const [index, hall] of team.halls.entries()) hall.isOpen = index < count;
    const endsAt = performance.now() + 10_000;
    let calls = 0;
    const client = async (): Promise<void> => {
      for (; performance.now() < endsAt; calls++)
        await ask(team.url, "tools/call", { name: "work__read", arguments: { id: "x" } });
    };
    await Promise.all(Array.from({ length: 24 }, client));
    rates.push(calls / 10);
  }
  const [one = 1] = rates;
  console.log(JSON.stringify({ rates, ratios: rates.map((rate) => rate / one) }));
  expect(Math.min(...rates)).toBeGreaterThan(0);
});
