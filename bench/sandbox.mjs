import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "./bundle.mjs";
import { median, row, short } from "./figures.mjs";
import { inTurns, pathOf } from "./processes.mjs";

/** From the start of a server by the hall's own code to its answer to `initialize`, without a sandbox and in one. */
export default { name: "sandbox", run };

const hosts = { "no network": [], "one host": ["api.example.com"] };

async function run({ rounds = 21 } = {}) {
  const data = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
  process.env.XDG_DATA_HOME = data;
  const hall = await import(await bundle("sandboxes"));
  const runtime = hall.createRuntime();
  const { reason } = await runtime();
  if (reason !== undefined) return [row(`a sandbox: ${reason}`, undefined, "ms")];
  const guard = hall.createGuard();

  const measured = { open: [], "no network": [], "one host": [] };
  const startOnce = async (name) => {
    const decision = { kind: "box", learned: { ...hall.noRights, hosts: hosts[name] } };
    const config = {
      type: "stdio",
      command: process.execPath,
      args: [pathOf("servers/bare-echo.mjs")],
      env: {},
    };
    const startedAt = performance.now();
    const box =
      hosts[name] && (await hall.planBox(name, config, { decide: () => decision, runtime }));
    const options = { limits: hall.defaultLimits, guard, box };
    const child = await hall.startProcess(config, options, new hall.Scope());
    await answered(child.channel);
    const ms = performance.now() - startedAt;
    await child.stop();
    return ms;
  };
  try {
    // The first start reads from disk.
    for (const name of Object.keys(measured)) await startOnce(name);
    await inTurns(rounds, Object.keys(measured), async (name) => {
      measured[name].push(await startOnce(name));
    });
  } finally {
    guard.close();
    rmSync(data, { recursive: true, force: true });
  }
  return Object.keys(hosts).map((name) => {
    const above = measured[name].map((ms, round) => ms - measured.open[round]);
    const range = `${short(Math.min(...above))}–${short(Math.max(...above))} over ${rounds} rounds`;
    const medians = `medians ${short(median(measured[name]))} and ${short(median(measured.open))} ms`;
    const note = `${range}; ${medians}; load ${short(loadavg()[0])}`;
    return row(
      `start in a sandbox, ${name}, above a plain start`,
      median(above),
      "ms",
      { atMost: 60 },
      note,
    );
  });
}

const request = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench" } },
};

function answered(channel) {
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Error("the server ended before it answered"));
    channel.start({ frame: resolve, oversize: failed, drained() {}, ended: failed, closed() {} });
    channel.send(JSON.stringify(request));
  });
}
