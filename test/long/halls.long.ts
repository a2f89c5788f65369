import { expect, test } from "vitest";
import { runChaos } from "../halls/chaos.ts";
import { ask, said, startTeam } from "../halls/team.ts";
import { until } from "../servers/until.ts";
import { startCluster } from "../store/cluster.ts";

const minutes = Number(process.env.GUILDHALL_CHAOS_MINUTES ?? 20);
const seed = Number(process.env.GUILDHALL_CHAOS_SEED ?? Date.now() % 1_000_000);

test("sixty clients of both eras, three halls and a database that fail at random", {
  timeout: (minutes + 10) * 60_000,
}, async () => {
  await using cluster = await startCluster();
  await using team = await startTeam(cluster, { fronts: true });
  const options = { seconds: minutes * 60, clients: 60, seed, pauseMs: 3_000 };
  const { broken, faults, acknowledged, ...counts } = await runChaos(team, cluster, options);
  const lengths = { changes: acknowledged.length, faults: faults.length };
  console.log(JSON.stringify({ seed, ...counts, ...lengths }));
  expect(broken).toEqual([]);
});

test("a promoted standby behind the same address is picked up, and nothing that was answered is lost", {
  timeout: 300_000,
}, async () => {
  await using cluster = await startCluster();
  await using team = await startTeam(cluster, { count: 2 });
  expect((await team.run(0, "trust", "work.change")).stderr).toBe("");
  const change = (hall: number, id: string) =>
    ask(team.halls[hall]?.url ?? "", "tools/call", { name: "work__change", arguments: { id } });
  for (const hall of [0, 1]) expect(said(await change(hall, `before${hall}`))).toHaveProperty("id");

  const standby = await cluster.createStandby();
  expect(said(await change(0, "replicated"))).toMatchObject({ id: "replicated" });
  await cluster.stop();
  expect(said(await change(1, "refused"))).toHaveProperty("failed");
  await standby.promote();
  for (const { proxy } of team.halls) proxy.target = standby;

  for (const hall of [0, 1])
    await until(async () => "id" in said(await change(hall, `after${hall}`)), "changes run again");
  // The board works, too: what one hall revokes, the other obeys.
  expect((await team.run(1, "revoke", "work.change")).stderr).toBe("");
  expect((await change(0, "revoked")).body.result).toMatchObject({ resultType: "input_required" });
  const verified = await team.run(0, "audit", "verify");
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
  const { stdout } = await team.run(0, "audit", "--export", "jsonl", "--tool", "work.change");
  const rows = stdout.split("\n").filter((line) => line.includes("destructive call"));
  expect(rows.length).toBeGreaterThanOrEqual(team.done().length);
  expect(team.done()).not.toContain("change refused");
});
