import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Simulated } from "../sim/seeds.ts";

const seconds = 3_600;
/** Far enough apart that no two processes simulate the same seed. */
const seedsOfProcess = 10_000_000;
const root = fileURLToPath(new URL("../..", import.meta.url));
// Below our own node_modules, where packages are found.
const folder = mkdtempSync(join(root, "node_modules/.guildhall-sim-"));

beforeAll(async () => {
  await build({
    absWorkingDir: root,
    entryPoints: { seeds: "test/sim/seeds.ts" },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    logLevel: "error",
  });
  const run = `process.send(await runSeeds(${seconds}), () => process.exit());`;
  writeFileSync(join(folder, "run.mjs"), `import { runSeeds } from "./seeds.mjs";\n${run}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Simulates in a process of its own. Fails with what it said of a broken rule. */
function simulate(index: number): Promise<Simulated> {
  const first = Number(process.env.GUILDHALL_SIM_SEED ?? 1) + index * seedsOfProcess;
  const env = { ...process.env, GUILDHALL_SIM_SEED: String(first) };
  // Nothing of a seed outlives it: with more room for young objects few are looked at twice.
  const execArgv = ["--max-semi-space-size=64"];
  const child = fork(join(folder, "run.mjs"), { env, execArgv, silent: true });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (bytes: Buffer) => {
      said += bytes;
    });
  return new Promise((resolve, reject) => {
    child.once("message", (sum) => resolve(sum as Simulated));
    child.once("close", () => reject(new Error(said)));
  });
}

test("an hour of simulated faults on every core breaks no rule", async () => {
  const sums = await Promise.all(
    Array.from({ length: availableParallelism() }, (_, n) => simulate(n)),
  );
  const total = (part: keyof Simulated): number => sums.reduce((sum, each) => sum + each[part], 0);
  console.log(
    `simulated ${total("calls")} calls with ${total("seeds")} seeds and ${total("crashes")} crashes in ${sums.length} processes`,
  );
  expect(total("executed")).toBeGreaterThan(total("calls") / 4);
}, 3_900_000);
