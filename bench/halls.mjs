import { execFile } from "node:child_process";
import { Agent } from "node:http";
import { promisify } from "node:util";
import { bundle } from "./bundle.mjs";
import { median, row, short } from "./figures.mjs";

/** Halls that share a database: calls that it records, and calls through one, two and three halls behind a balancer. */
export default { name: "halls", run, isOnRequest: true };

const clients = 24;
const turnMs = 2_000;

async function run({ rounds = 5 } = {}) {
  const { startCluster, startTeam, ask } = await import(await bundle("halls-work"));
  const cluster = await startCluster();
  try {
    const recorded = await measureRecords(cluster, rounds);
    const team = await startTeam(cluster);
    try {
      return [...recorded.rows, ...(await measureHalls(team, ask, rounds, recorded.least))];
    } finally {
      await team[Symbol.asyncDispose]();
    }
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
}

/** Nothing but rows: from one process, and from three at once. */
async function measureRecords(cluster, rounds) {
  const program = await bundle("store-work");
  const sustain = async (url) => {
    const args = [program, "sustain", url, "40000"];
    return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout).perSecond;
  };
  const found = { 1: [], 3: [] };
  for (let round = 0; round < rounds; round++)
    for (const count of [1, 3]) {
      const url = cluster.url();
      const all = await Promise.all(Array.from({ length: count }, () => sustain(url)));
      found[count].push(all.reduce((sum, perSecond) => sum + perSecond));
    }
  const [one, three] = [median(found[1]), median(found[3])];
  const note = (rates) => `${short(Math.min(...rates))} to ${short(Math.max(...rates))}`;
  const goal = { atLeast: 10_000 };
  return {
    least: Math.min(one, three),
    rows: [
      row(
        "calls recorded in PostgreSQL, durable, by one hall",
        one,
        "calls/s",
        goal,
        note(found[1]),
      ),
      row("the same by three halls, together", three, "calls/s", goal, note(found[3])),
    ],
  };
}

/** In turns, so that whatever else runs on the machine slows all of them alike. */
async function measureHalls(team, ask, rounds, recordedPerSecond) {
  const rates = [[], [], []];
  for (let round = 0; round <= rounds; round++)
    for (const [at, found] of rates.entries()) {
      for (const [index, hall] of team.halls.entries()) hall.isOpen = index <= at;
      const rate = await callsPerSecond(team, ask);
      // The first round starts the servers and compiles.
      if (round > 0) found.push(rate);
    }
  const [one] = rates;
  const ratio = (found) => median(found.map((rate, round) => rate / one[round]));
  const fastest = Math.max(...rates.map(median));
  return [
    row(
      "calls through one hall, connections kept",
      median(one),
      "calls/s",
      {},
      `${clients} clients`,
    ),
    row("two halls ÷ one", ratio(rates[1]), "×", {}, `${short(median(rates[1]))} calls/s`),
    row("three halls ÷ one", ratio(rates[2]), "×", {}, `${short(median(rates[2]))} calls/s`),
    row("rows that the database takes ÷ calls through halls", recordedPerSecond / fastest, "×", {
      atLeast: 1,
    }),
  ];
}

async function callsPerSecond(team, ask) {
  const params = { name: "work__read", arguments: { id: "x" } };
  const startedAt = performance.now();
  let count = 0;
  const client = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (performance.now() - startedAt < turnMs) {
      const { body } = await ask(team.url, "tools/call", params, { agent });
      if (body.result?.isError || body.error) throw new Error(JSON.stringify(body));
      count++;
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (count * 1_000) / (performance.now() - startedAt);
}
