// npm run bench [-- --only
// stdio|cold|slo|http|door|http-relay|relay|growth|peers|lock|sandbox|registry|store|halls|lisp|code|programs|planner|policy|tui|page|workflow|commands|soak]
// [--rounds N] [--json]
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import code from "./code.mjs";
import coldStart from "./cold-start.mjs";
import commands from "./commands.mjs";
import door from "./door.mjs";
import { short } from "./figures.mjs";
import growth from "./growth.mjs";
import halls from "./halls.mjs";
import http from "./http.mjs";
import httpRelay from "./http-relay.mjs";
import lisp from "./lisp.mjs";
import lock from "./lock.mjs";
import page from "./page.mjs";
import peers from "./peers.mjs";
import planner from "./planner.mjs";
import policy from "./policy.mjs";
import programs from "./programs.mjs";
import registry from "./registry.mjs";
import relay from "./relay.mjs";
import sandbox from "./sandbox.mjs";
import slo from "./slo.mjs";
import soak from "./soak.mjs";
import stdio from "./stdio.mjs";
import store from "./store.mjs";
import tui from "./tui.mjs";
import workflow from "./workflow.mjs";

const scenarios = [
  stdio,
  coldStart,
  slo,
  http,
  door,
  httpRelay,
  relay,
  growth,
  peers,
  lock,
  sandbox,
  registry,
  store,
  halls,
  lisp,
  code,
  programs,
  planner,
  policy,
  tui,
  page,
  workflow,
  commands,
  soak,
];

const { values: options } = parseArgs({
  options: { only: { type: "string" }, rounds: { type: "string" }, json: { type: "boolean" } },
});
const chosen = scenarios.filter(({ name, isOnRequest }) =>
  options.only === undefined ? !isOnRequest : options.only === name,
);
if (chosen.length === 0)
  throw new Error(
    `unknown scenario "${options.only}" (expected: ${scenarios.map(({ name }) => name).join(", ")})`,
  );

const report = {
  at: new Date().toISOString(),
  node: process.version,
  cores: cpus().length,
  load: loadavg()[0],
  scenarios: {},
};
for (const { name, run } of chosen) {
  report.scenarios[name] = await run({ rounds: options.rounds && Number(options.rounds) });
  if (!options.json) print(name, report.scenarios[name]);
}
const results = new URL("results/", import.meta.url);
mkdirSync(results, { recursive: true });
writeFileSync(new URL("latest.json", results), `${JSON.stringify(report, undefined, 2)}\n`);
if (options.json) console.log(JSON.stringify(report, undefined, 2));

function print(name, rows) {
  console.log(`\n${name}`);
  const cells = rows.map(({ figure, measured, goal, unit, ok, note }) => [
    ok === null ? " " : ok ? "✓" : "✗",
    figure,
    measured === null ? "—" : `${short(measured)} ${unit}`,
    goal ?? "",
    note,
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...cells.map((line) => line[column].length)),
  );
  for (const line of cells)
    console.log(
      `  ${line.map((cell, column) => cell.padEnd(widths[column])).join("  ")}`.trimEnd(),
    );
}
