import { median, percentile, ratioRow, row } from "./figures.mjs";
import { startClient } from "./line-client.mjs";
import { memoryOf } from "./listeners.mjs";
import { echoCall, inTurns, pathOf } from "./processes.mjs";
import { createProject, upstreamCommand } from "./projects.mjs";
import { countPerCall, cpuPerCall } from "./work.mjs";

/**
 * Client, hall and upstream over stdio, beside a process that only passes the bytes; and through a
 * second hall process.
 */
export default { name: "relay", run };

const depth = 64;
const warmUp = { single: 500, pipelined: 10_000, large: 20 };
const single = { blocks: 20, calls: 100 };
const pipelined = { blocks: 10, calls: 2_000 };
const large = { blocks: 10, calls: 3 };
const largeBytes = 1024 * 1024;

async function run({ rounds = 5 } = {}) {
  const [command, ...args] = upstreamCommand;
  const project = createProject({ upstream: { command, args } });
  const figures = Object.fromEntries(
    ["relay", "json", "alone", "first", "attached"].map((name) => [
      name,
      { p50: [], perSecond: [], large: [] },
    ]),
  );
  const memory = [];
  const cpu = [];
  const made = {};
  try {
    project.command("build", "--yes");
    for (let round = 0; round < rounds; round++) {
      const [relay, json] = ["byte", "json"].map((name) =>
        startClient(process.execPath, [pathOf(`servers/${name}-relay.mjs`), ...upstreamCommand]),
      );
      const alone = project.start("--alone");
      await measure({ relay, json, alone }, figures, ["p50", "perSecond", "large"], async () =>
        cpu.push(await cpuPerCall(alone, { calls: pipelined.calls * pipelined.blocks, depth })),
      );
      const first = project.start();
      // The one that answers first is the hall.
      await first.initialize();
      const attached = project.start();
      await measure({ first, attached }, figures, ["p50"], () =>
        memory.push(memoryOf(attached.pid)),
      );
    }
    for (const what of ["promises", "bytes"])
      made[what] = await countPerCall(project, what, { calls: pipelined.calls, depth });
  } finally {
    project.remove();
  }
  const { relay, json, alone, first, attached } = figures;
  return [
    ratioRow("single call p50, hall ÷ byte relay", alone.p50, relay.p50, "µs", { atMost: 1.25 }),
    ratioRow(
      `calls/s with ${depth} in flight, hall ÷ byte relay`,
      alone.perSecond,
      relay.perSecond,
      "calls/s",
      { atLeast: 0.7 },
    ),
    ratioRow("result of 1 MB, hall ÷ byte relay", alone.large, relay.large, "ms", { atMost: 1.5 }),
    ratioRow("single call p50, JSON relay ÷ byte relay", json.p50, relay.p50, "µs"),
    ratioRow(
      `calls/s with ${depth} in flight, JSON relay ÷ byte relay`,
      json.perSecond,
      relay.perSecond,
      "calls/s",
    ),
    ratioRow("result of 1 MB, JSON relay ÷ byte relay", json.large, relay.large, "ms"),
    ratioRow(
      "single call p50, attached mcp ÷ the hall's own client",
      attached.p50,
      first.p50,
      "µs",
      { below: 1.3 },
    ),
    row(
      `main thread per relayed call, ${depth} in flight`,
      median(cpu.map(({ main }) => main)),
      "µs of CPU",
      { atMost: 12 },
    ),
    row(
      "the writer's thread per relayed call",
      median(cpu.map(({ writer }) => writer)),
      "µs of CPU",
      { atMost: 6 },
      "on the other core",
    ),
    row("promises per relayed call", made.promises, "promises", { atMost: 6 }),
    row("memory allocated per relayed call", made.bytes, "bytes", {}, "nearly all short-lived"),
    row(
      "memory of an attached mcp",
      median(memory),
      "MB",
      { below: 60 },
      "after its calls, shared pages included",
    ),
  ];
}

/** Warms both up, measures them in turns, and ends them, the last one first. */
async function measure(clients, figures, wanted, finished = () => {}) {
  const names = Object.keys(clients);
  for (const client of Object.values(clients)) {
    if (!client.isInitialized) await client.initialize();
    await client.pipeline(warmUp.pipelined, depth, echoCall);
    await client.sequence(warmUp.single, echoCall);
    if (wanted.includes("large")) await client.sequence(warmUp.large, textCall);
  }
  const measured = Object.fromEntries(
    names.map((name) => [name, { p50: [], perSecond: [], large: [] }]),
  );
  const blocks = {
    p50: [
      single,
      async (name) =>
        measured[name].p50.push(
          ...(await clients[name].sequence(single.calls, echoCall)).map((ms) => ms * 1_000),
        ),
    ],
    perSecond: [
      pipelined,
      async (name) =>
        measured[name].perSecond.push(
          (pipelined.calls / (await clients[name].pipeline(pipelined.calls, depth, echoCall))) *
            1_000,
        ),
    ],
    large: [
      large,
      async (name) =>
        measured[name].large.push(...(await clients[name].sequence(large.calls, textCall))),
    ],
  };
  for (const figure of wanted) {
    const [{ blocks: count }, block] = blocks[figure];
    await inTurns(count, names, block);
    for (const name of names) figures[name][figure].push(percentile(measured[name][figure], 0.5));
  }
  await finished();
  for (const name of names.reverse()) await clients[name].stop();
}

/** A call of the tool that gives a long text, and how to know its answer. */
function textCall(number) {
  const start = `text ${number}: `;
  const expected = start.padEnd(largeBytes, "0123456789 and so on, ");
  return {
    method: "tools/call",
    params: { name: "text", arguments: { start, length: largeBytes } },
    accept: ({ content, isError }) =>
      !isError && content.length === 1 && content[0].text === expected,
  };
}
