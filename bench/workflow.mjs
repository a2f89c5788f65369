import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median, row, short } from "./figures.mjs";
import { startClient } from "./line-client.mjs";
import { pathOf, processes } from "./processes.mjs";
import { createProject } from "./projects.mjs";

/**
 * The workflow over stdio in the largest repository a step reads: the time of each step, how long
 * it blocks other requests, and the cost of loading its code.
 */
export default { name: "workflow", run };

const files = 5_000;
const steps = [
  "constitution",
  "specify",
  "clarify",
  "plan",
  "tasks",
  "checklist",
  "analyze",
  "implement",
  "status",
];

async function run({ rounds = 5 } = {}) {
  const project = createProject();
  try {
    fillProject(project.folder);
    // There is no person to approve work on tasks.
    project.command("trust", "speckit.implement");
    const first = newFigures();
    const later = newFigures();
    // The first start reads from disk.
    await measureOnce(project, newFigures(), newFigures());
    for (let round = 0; round < rounds; round++) await measureOnce(project, first, later);
    const note = `p50 of ${later.blocks.length}, no model, over stdio`;
    const loads = steps
      .map((step) => [step, median(first.ms[step]) - median(later.ms[step])])
      .sort((a, b) => b[1] - a[1]);
    const named = loads.map(([step, ms]) => `${step} ${short(Math.max(0, ms))}`).join(", ");
    return [
      ...steps.map((step) =>
        row(`${step}, ${short(files)} files`, median(later.ms[step]), "ms", { atMost: 500 }, note),
      ),
      row(
        "longest block of the event loop in all steps of a feature, of the processor",
        blockOf(later, "processor"),
        "ms",
        { atMost: 50 },
        blockNote(later),
      ),
      row(
        "the same, while each step's code is loaded",
        blockOf(first, "processor"),
        "ms",
        {},
        blockNote(first),
      ),
      row("a step's code from the bundle, the first time, at most", loads[0][1], "ms", {}, named),
    ];
  } finally {
    project.remove();
  }
}

const newFigures = () => ({ ms: Object.fromEntries(steps.map((step) => [step, []])), blocks: [] });
const blockOf = ({ blocks }, by) => median(blocks.map((block) => block[by]));
const blockNote = ({ blocks }) =>
  `p50 of ${blocks.length}; at most ${short(Math.max(...blocks.map(({ processor }) => processor)))} ms; by the clock ${short(blockOf({ blocks }, "clock"))} ms`;

function fillProject(folder) {
  const manifest = {
    name: "shop",
    scripts: { build: "tsc", test: "vitest run" },
    dependencies: { fastify: "5.2.0" },
    devDependencies: { typescript: "5.9.2" },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  for (let part = 0; part < 100; part++) {
    mkdirSync(join(folder, "src", `part-${part}`), { recursive: true });
    for (let file = 0; file < files / 100; file++)
      writeFileSync(join(folder, "src", `part-${part}`, `file-${file}.ts`), "");
  }
}

/** Two features in one process: code is loaded for the first, and only run for the second. */
async function measureOnce({ folder, env }, ...both) {
  const delays = join(folder, "..", "delays");
  const nodeArguments = ["--import", pathOf("servers/loop-delay.mjs"), ...processes.cli, "--alone"];
  const client = startClient(process.execPath, nodeArguments, {
    cwd: folder,
    env: { ...env, GUILDHALL_BENCH_DELAYS: delays },
  });
  // Code that the first call of any tool loads, such as argument validation, is not counted for a step.
  await client.ask({
    method: "tools/call",
    params: { name: "speckit.status", arguments: {}, _meta },
    accept: ({ isError }) => !isError,
  });
  await readBlock(client.pid, delays);
  for (const figures of both) {
    await measureFeature(client, folder, figures.ms);
    figures.blocks.push(await readBlock(client.pid, delays));
  }
  await client.stop();
}

async function measureFeature(client, folder, times) {
  let spec_directory = join(folder, "specs");
  for (const step of steps) {
    const { result, ms } = await client.ask({
      method: "tools/call",
      params: { name: `speckit.${step}`, arguments: argumentsOf(step, spec_directory), _meta },
      accept: ({ isError }) => !isError,
    });
    times[step].push(ms);
    if (step === "specify") spec_directory = result.structuredContent.directory;
  }
}

function argumentsOf(step, spec_directory) {
  switch (step) {
    case "constitution":
      return { principles: ["Simplicity: every part has one reason to be there"] };
    case "specify":
      return { spec_directory, feature_description: description };
    case "clarify":
      return { spec_directory, answers: ["yes", "yes", "yes", "yes", "yes"] };
    case "implement":
      return { spec_directory, force: true };
    default:
      return { spec_directory };
  }
}

const description =
  "Users can upload photos and organize them into albums. Albums are grouped by date. Admins must approve shared albums within 24 hours. Only the owner sees a photo until then.";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

/** The longest block since it was last read. */
async function readBlock(pid, delays) {
  const count = () => (existsSync(delays) ? readFileSync(delays, "utf8").split("\n").length : 1);
  const before = count();
  process.kill(pid, "SIGUSR2");
  for (const giveUpAt = performance.now() + 5_000; count() === before; await sleep(5)) {
    if (performance.now() > giveUpAt)
      throw new Error("the hall did not say how long its event loop stood still");
  }
  return JSON.parse(readFileSync(delays, "utf8").trim().split("\n").at(-1));
}
