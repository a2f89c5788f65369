import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ratioRow } from "./figures.mjs";
import { inTurns, start } from "./processes.mjs";

/** From spawning the process to its answer to `initialize`. */
export default { name: "cold", run };

async function run({ rounds = 21 } = {}) {
  const measured = { cli: [], bare: [], sdk: [] };
  // A folder without a config or anything else to find.
  const cwd = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
  const startOnce = async (name) => {
    const client = start(name, { cwd });
    const { arrivedAt } = await client.initialize();
    await client.stop();
    return arrivedAt - client.startedAt;
  };
  try {
    // The first spawn reads from disk.
    for (const name of Object.keys(measured)) await startOnce(name);
    await inTurns(rounds, Object.keys(measured), async (name) => {
      measured[name].push(await startOnce(name));
    });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
  const { cli, bare, sdk } = measured;
  return [
    ratioRow("cold start to initialize, guildhall mcp ÷ bare", cli, bare, "ms", { atMost: 2.5 }),
    ratioRow("cold start to initialize, SDK ÷ bare", sdk, bare, "ms"),
  ];
}
