// A hall of an earlier program and one of this program share a database, as during a rolling
// upgrade. The earlier program is built from the history of this repository; a copy without history
// cannot run this test, and it says so.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ask, said, startTeam } from "../halls/team.ts";
import { startCluster } from "../store/cluster.ts";

/** The first state in which several halls share a database. */
const earlier = process.env.GUILDHALL_EARLIER ?? "49249b40";
const root = new URL("../..", import.meta.url).pathname;

test("an earlier program and this one act as one on the same database", {
  timeout: 900_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-earlier-"));
  try {
    const source = join(folder, "source");
    const git = (...args: string[]): Buffer => execFileSync("git", ["-C", root, ...args]);
    try {
      git("rev-parse", "--verify", `${earlier}^{commit}`);
    } catch {
      throw new Error(`this copy has no commit ${earlier}: fetch the whole history first`);
    }
    execFileSync("git", ["clone", "--quiet", "--shared", "--no-checkout", root, source]);
    execFileSync("git", ["-C", source, "checkout", "--quiet", earlier]);
    execFileSync("npm", ["ci", "--silent"], { cwd: source });
    execFileSync(process.execPath, ["scripts/build.mjs", "--quiet"], { cwd: source });

    await using cluster = await startCluster();
    // The first hall made the tables, and runs while the second changes them.
    const programs = [join(source, "dist/cli.js")];
    await using team = await startTeam(cluster, { count: 2, programs });
    const call = (hall: number, name: string, id: string) =>
      ask(team.halls[hall]?.url ?? "", "tools/call", { name, arguments: { id } });
    for (const id of ["a", "b", "c"])
      for (const hall of [0, 1])
        expect(said(await call(hall, "work__read", id))).toHaveProperty("id");

    // Each obeys what the other decided.
    for (const [by, other] of [
      [1, 0],
      [0, 1],
    ] as const) {
      expect((await team.run(by, "trust", "work.change")).stderr).toBe("");
      expect(said(await call(other, "work__change", `by${by}`))).toMatchObject({ id: `by${by}` });
      expect((await team.run(by, "revoke", "work.change")).stderr).toBe("");
      const asked = await call(other, "work__change", `revoked by ${by}`);
      expect(asked.body.result).toMatchObject({ resultType: "input_required" });
    }

    // One chain, and the calls of both, for both programs.
    for (const hall of [0, 1]) {
      const verified = await team.run(hall, "audit", "verify");
      expect([verified.code, verified.stderr]).toEqual([0, ""]);
      const { stdout } = await team.run(hall, "audit", "--export", "jsonl", "--tool", "work.read");
      expect(stdout.split("\n").filter((line) => line.includes('"call"'))).toHaveLength(6);
    }
    // The earlier one leaves, the other goes on.
    await team.halls[0]?.process[Symbol.asyncDispose]();
    expect(said(await call(1, "work__read", "after"))).toMatchObject({ id: "after" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
