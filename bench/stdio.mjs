import { percentile, ratioRow } from "./figures.mjs";
import { echoCall, inTurns, start } from "./processes.mjs";

/** One client on stdin and stdout: the hall beside a hand-written echo process and the official SDK. */
export default { name: "stdio", run };

const depth = 64;
const warmUp = { single: 1_000, pipelined: 20_000 };
// A round is cut into short blocks that take turns: a busy second on the machine then hits all alike.
const single = { blocks: 20, calls: 150 };
const pipelined = { blocks: 10, calls: 2_000 };

async function run({ rounds = 9 } = {}) {
  const figures = { hall: newFigures(), bare: newFigures(), sdk: newFigures() };
  for (let round = 0; round < rounds; round++) await runRound(figures);
  const { hall, bare, sdk } = figures;
  return [
    ratioRow("single call p50, hall ÷ bare", hall.p50, bare.p50, "µs", { atMost: 1.3 }),
    ratioRow("single call p99, hall ÷ bare", hall.p99, bare.p99, "µs"),
    ratioRow(
      `calls/s with ${depth} in flight, hall ÷ bare`,
      hall.perSecond,
      bare.perSecond,
      "calls/s",
      { atLeast: 0.6 },
    ),
    ratioRow("single call p50, SDK ÷ bare", sdk.p50, bare.p50, "µs"),
    ratioRow("single call p99, SDK ÷ bare", sdk.p99, bare.p99, "µs"),
    ratioRow(
      `calls/s with ${depth} in flight, SDK ÷ bare`,
      sdk.perSecond,
      bare.perSecond,
      "calls/s",
    ),
  ];
}

const newFigures = () => ({ p50: [], p99: [], perSecond: [] });

/** New processes, warmed up, measured in turns. One that waits for its turn does nothing. */
async function runRound(figures) {
  const names = Object.keys(figures);
  const clients = Object.fromEntries(names.map((name) => [name, start(name)]));
  for (const client of Object.values(clients)) {
    await client.initialize();
    await client.pipeline(warmUp.pipelined, depth, echoCall);
    await client.sequence(warmUp.single, echoCall);
  }

  const times = Object.fromEntries(names.map((name) => [name, []]));
  await inTurns(single.blocks, names, async (name) => {
    times[name].push(...(await clients[name].sequence(single.calls, echoCall)));
  });
  const rates = Object.fromEntries(names.map((name) => [name, []]));
  await inTurns(pipelined.blocks, names, async (name) => {
    rates[name].push(
      (pipelined.calls / (await clients[name].pipeline(pipelined.calls, depth, echoCall))) * 1_000,
    );
  });

  for (const name of names) {
    await clients[name].stop();
    figures[name].p50.push(percentile(times[name], 0.5) * 1_000);
    figures[name].p99.push(percentile(times[name], 0.99) * 1_000);
    figures[name].perSecond.push(percentile(rates[name], 0.5));
  }
}
