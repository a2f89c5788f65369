import { ratioRow } from "./figures.mjs";
import { measureHttp, openCalls, perSecond } from "./http.mjs";
import { openHttp } from "./http-client.mjs";
import { startListener } from "./listeners.mjs";
import { inTurns } from "./processes.mjs";

/** The cost of finding out whose program calls: the listener as it is beside one with `listen.open`. */
export default { name: "door", run };

const connections = 20;
const fresh = { blocks: 12, openings: 10 };

async function run({ rounds = 5 } = {}) {
  const figures = { checked: newFigures(), open: newFigures() };
  for (let round = 0; round < rounds; round++) await runRound(figures);
  const { checked, open } = figures;
  return [
    ratioRow(
      `requests/s on ${connections} connections that stay open, checked ÷ open`,
      checked.perSecond,
      open.perSecond,
      "requests/s",
      { atLeast: 0.97 },
    ),
    ratioRow("POST p50, checked ÷ open", checked.p50, open.p50, "µs", { atMost: 1.03 }),
    ratioRow(
      `requests/s with ${connections} new connections for every ${connections} requests, checked ÷ open`,
      checked.fresh,
      open.fresh,
      "requests/s",
    ),
  ];
}

const newFigures = () => ({ p50: [], perSecond: [], fresh: [] });

async function runRound(figures) {
  const names = Object.keys(figures);
  const servers = {};
  const lines = {};
  for (const name of names) {
    servers[name] = await startListener("http-hall", { words: [name], isBundled: true });
    const http = await openHttp(servers[name].port, connections);
    lines[name] = { http, calls: await openCalls(http, "modern") };
  }
  await measureHttp(lines, figures);

  const times = Object.fromEntries(names.map((name) => [name, 0]));
  await inTurns(fresh.blocks, names, async (name) => {
    const began = performance.now();
    for (let opening = 0; opening < fresh.openings; opening++) {
      const http = await openHttp(servers[name].port, connections);
      await http.flood(lines[name].calls(connections));
      http.close();
    }
    times[name] += performance.now() - began;
  });
  for (const name of names) {
    figures[name].fresh.push(perSecond(fresh.blocks * fresh.openings * connections, times[name]));
    lines[name].http.close();
    await servers[name].stop();
  }
}
