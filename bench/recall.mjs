// GUILDHALL_DATA=<folder of tools.*.jsonl and tasks.*.jsonl> node --expose-gc bench/recall.mjs
// [--only <set>] [--speed <tools>] [--json | --table] How often `find_tools` finds what a task
// needs, with plain BM25 beside it, and how good the groups are. `--table` prints the tables of
// docs/figures.md.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { measureGroups, shuffled } from "./recall/groups.mjs";
import { measure, noteOwners } from "./recall/measure.mjs";
import { createPlainRanker } from "./recall/plain.mjs";
import { print, printTables } from "./recall/print.mjs";
import { readLines, readSets, toolkitsOf } from "./recall/sets.mjs";
import { load } from "./recall/source.mjs";
import { measureSpeed } from "./recall/speed.mjs";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    speed: { type: "string" },
    json: { type: "boolean" },
    table: { type: "boolean" },
  },
});
const folder = process.env.GUILDHALL_DATA;
if (!folder)
  throw new Error("set GUILDHALL_DATA to a folder with tools.<set>.jsonl and tasks.<set>.jsonl");

const { createRanker, groupTools, parseVectors, wordsOf } = await load(
  "ranking/ranker.ts",
  "agents/grouping/grouping.ts",
  "ranking/vectors.ts",
  "ranking/words.ts",
);
const vectors = parseVectors(readFileSync(new URL("../src/ranking/vectors.bin", import.meta.url)));

if (options.speed) {
  // Any tools, asked the shortest and the longest of tasks there are.
  const queries = readSets(folder).flatMap(({ tasks }) =>
    tasks.slice(0, 40).map(({ task }) => task),
  );
  console.log(
    measureSpeed(toolkitsOf(readLines(folder, `tools.${options.speed}.jsonl`)), queries, {
      createRanker,
      vectors,
    }),
  );
  process.exit();
}

const report = readSets(folder)
  .filter(({ name }) => options.only === undefined || options.only === name)
  .map(measureSet);
if (options.json) console.log(JSON.stringify(report, undefined, 2));
else if (options.table) printTables(report);
else print(report);

function measureSet({ name, use, toolkits, tasks }) {
  noteOwners(toolkits);
  const ranker = createRanker({ vectors });
  for (const toolkit of toolkits) ranker.set(toolkit);
  const ours = measure(tasks, (task) =>
    ranker.rank(task, { limit: 20 }).items.map(({ fullName, alike }) => [fullName, ...alike]),
  );
  const plain = measure(tasks, createPlainRanker(toolkits, wordsOf));
  return {
    name,
    use,
    tools: ranker.size,
    servers: toolkits.length,
    tasks: tasks.length,
    ours,
    plain,
    groups: measureGroupings(toolkits, tasks, ranker),
  };
}

/**
 * Sets of many servers are grouped into eight, the others into five; next to it a random grouping
 * of the same sizes, described the same way.
 */
function measureGroupings(toolkits, tasks, ranker) {
  if (toolkits.length < 6 || toolkits.length > 200) return [];
  const started = performance.now();
  const groups = groupTools(toolkits, { vectors, count: toolkits.length > 20 ? 8 : 5 });
  const ms = performance.now() - started;
  const random = shuffled(groups, (previous) => groupTools(toolkits, { vectors, previous }));
  const figures = (grouping) => measureGroups(grouping, tasks, { ranker, createRanker, vectors });
  return [
    { grouping: "ours", ms, ...figures(groups) },
    { grouping: "random", ...figures(random) },
  ];
}
