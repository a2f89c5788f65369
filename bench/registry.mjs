import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createHall, get_tool_schema, list_registered_tools } from "../dist/index.js";
import { bundle } from "./bundle.mjs";
import { median, p99Row, row, short } from "./figures.mjs";

/** Registering, listing and finding tools, what the limits cost a call, and loading modules. */
export default { name: "registry", run };

const manyTools = 1_000;
const modules = 200;
const silent = {
  level: "silent",
  child: () => silent,
  info() {},
  warn() {},
  error() {},
  debug() {},
};

async function run({ rounds = 15 } = {}) {
  const inside = await import(pathToFileURL(await bundle("registry-work")).href);
  const stages = await inside.measureStages(rounds, 20_000);
  return [
    ...(await measureRegistrations()),
    p99Row("validation after warm-up", await inside.measureValidation(20_000), { below: 0.1 }),
    stageRow(stages),
    await measureScan(Math.min(rounds, 5)),
  ];
}

function createRegistration(i) {
  const parameters = {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1 },
      max_results: { type: "integer", default: 5, minimum: 1, maximum: 20 },
    },
    required: ["query"],
  };
  return {
    tool: {
      name: `tool${i}x`,
      description: `Tool number ${i}`,
      category: "BENCH",
      functions: [{ name: "search", description: "Searches", parameters }],
    },
  };
}

async function measureRegistrations() {
  const hall = await createHall({ toolkits: [], log: silent });
  const register = async (i) => {
    const began = performance.now();
    await hall.registrations.register(createRegistration(i));
    return performance.now() - began;
  };
  for (let i = 0; i < manyTools; i++) await register(i);
  for (const { id } of hall.registrations.all()) await hall.registrations.unregister(id);
  const registered = [];
  for (let i = 0; i < manyTools; i++) registered.push(await register(i));
  if (hall.registry.tools().length !== manyTools) throw new Error("not every tool was registered");
  const listed = repeat(2_000, () => list_registered_tools(hall));
  const found = repeat(5_000, (i) => get_tool_schema(hall, `tool${i % manyTools}x.search`));
  await hall.close();
  return [
    p99Row("registration, schema checked, beside up to 1,000", registered, { below: 1 }),
    p99Row(`list of ${short(manyTools)} registered tools`, listed, { below: 5 }),
    p99Row(`schema lookup among ${short(manyTools)}`, found, { below: 1 }),
  ];
}

function repeat(count, work) {
  const times = [];
  for (let i = 0; i < count + 100; i++) {
    const began = performance.now();
    work(i);
    if (i >= 100) times.push(performance.now() - began);
  }
  return times;
}

function stageRow({ bare, limited }) {
  const differences = limited.map((us, round) => us - bare[round]);
  const range = `${short(Math.min(...differences))}–${short(Math.max(...differences))} over ${differences.length} rounds`;
  return row(
    "rate limits, breaker, concurrency and retries together, a call",
    median(differences),
    "µs",
    { below: 3 },
    range,
  );
}

async function measureScan(rounds) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    // A new folder each time: Node loads a module once.
    const folder = mkdtempSync(join(tmpdir(), "guildhall-bench-modules-"));
    for (let i = 0; i < modules; i++) {
      const tools = `[{ name: "run", description: "Runs", inputSchema: { type: "object" } }]`;
      writeFileSync(
        join(folder, `m${i}.mjs`),
        `export default { id: "mod${i}x", list: async () => ${tools}, call: async () => ({ content: [] }) };`,
      );
    }
    const began = performance.now();
    const hall = await createHall({
      toolkits: [],
      log: silent,
      modules: { patterns: ["*.mjs"], folder },
    });
    times.push(performance.now() - began);
    const { length } = hall.registry.tools();
    await hall.close();
    rmSync(folder, { recursive: true });
    if (length !== modules) throw new Error(`${length} of ${modules} modules were loaded`);
  }
  return row(
    `scan of ${modules} modules, hall included`,
    median(times) / 1_000,
    "s",
    { below: 2 },
    `${rounds} rounds`,
  );
}
